"""Places of blocks: pairwise swaps that lower the cost of traffic between them (a QAP search).

A table holds what each block would cost on each element, so a swap's gain is a few loads; a swap
changes the rows of the blocks that the two talk to.  In each round every block proposes its best
swap.  Of proposals for the same or for talking blocks the best one is applied, so the gains of
a round add up and the cost falls until no swap of two gains or many rounds are over
(C. Heider 1972; B. Brandfass, T. Alrutz, T. Gerhold 2013, with one swap at a time).
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.objectives.objective import Objective, Rules
from portpart.algorithms.placement.swap_rounds import (
    BlockPlaces,
    Proposals,
    SwapRounds,
    apply_swap,
    choose_swap,
    claim_both,
    end_round,
    fill_table,
    propose_swap,
    update_table,
)
from portpart.backends.interface import Array
from portpart.backends.language import Record, Words
from portpart.backends.program import Program
from portpart.graphs.graph import Graph

MAX_SWAPPED = 4096
"""Blocks for which there is a table: 8 bytes for each pair."""

ROUNDS = 1000


def swapped_places(traffic: Graph, objective: Objective, seed: int,
                   first: Array | None = None, group: Array | None = None) -> Array:
    """The element for each block after swaps.

    Parameters
    ----------
    traffic : Graph
        The blocks and the weights between them, with weights and sorted rows; at most
        `MAX_SWAPPED` blocks.
    first : array of int32, shape (k,), optional
        The element for each block before; by default block b is on element b.
    group : array of int32, shape (k,), optional
        Blocks change places within groups of elements only.

    Returns
    -------
    array of int32, shape (k,)
        A permutation.  No swap of two blocks that may swap lowers the cost any further, unless
        `ROUNDS` are over before, as with a thousand blocks that all talk to each other.
    """
    space, k = traffic.space, traffic.num_vertices
    place = space.asarray(np.arange(k), np.int32) if first is None else space.copy(first)
    max_gain = 2 * traffic.total_arc_weight * objective.tables.max_distance
    records: dict[str, Record | Words] = {
        "graph": traffic.csr,
        "tables": objective.tables,
        "places": BlockPlaces(place, group),
        "proposals": Proposals(),
        "rounds": SwapRounds.of(blocks=k, pairs=k * k, left=ROUNDS, running=1, seed=seed,
                                shift=max(0, max_gain.bit_length() - 31)),
    }
    key = ("swaps", *traffic.type_key, objective.rules, group is None)
    executable = space.cached_executable(key, lambda: _record(records, objective.rules))
    executable.run(records, k * k, k)
    return place


def _record(records: dict[str, Record | Words], rules: Rules) -> Program:
    program = Program("swaps")
    rounds: SwapRounds = program.declare(records)["rounds"]
    blocks = rounds.blocks
    program.launch(rounds.pairs, fill_table, distance=rules.distance)
    with program.while_loop(rounds.running):
        program.launch(blocks, propose_swap, team=32, distance=rules.distance)
        program.launch(blocks, claim_both)
        program.launch(blocks, choose_swap)
        program.launch(blocks, update_table, team=256, distance=rules.distance)
        program.launch(blocks, apply_swap)
        program.launch(1, end_round)
    return program
