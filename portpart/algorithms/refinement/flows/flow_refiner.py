"""Two-way flow refinement of a partition, pair by pair, as one recorded program for a level.

Sanders, Schulz (2011): a minimum cut in a corridor around the cut of two blocks, which may be moved
as a whole where single moves find nothing.  Piercing after Hamann, Strasser (2018), matchings of
the quotient graph after Krause, Gottesbueren, Maas (2025).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement import FlowOptions
from portpart.algorithms.refinement.flows.corridor import find_layer_0, grow_corridor
from portpart.algorithms.refinement.flows.cutter import cut_large, cut_small
from portpart.algorithms.refinement.flows.pairs import (
    add_listed,
    begin_block,
    begin_pair,
    begin_round,
    begin_vertex,
    clear_cut,
    end_round,
    list_neighbours,
    match_blocks,
)
from portpart.algorithms.refinement.flows.state import (
    Corridors,
    FlowLevel,
    FlowSizes,
    Networks,
    NodeMemory,
    QuotientGraph,
)
from portpart.backends.programs import Array, ExecutionSpace, Program, bytes_of
from portpart.graphs import Graph, Structure

MAX_VERTICES, MAX_BLOCKS = 2**22, 1024
"""Graphs of more vertices are not refined, nor partitions into more blocks."""

WIDEST, NARROW = 256, 32
"""Lanes for a pair, and for a row of the quotient graph."""

PAIR_WORK = 2**14
"""Rough work of a pair, in light items."""


class FlowRefiner:
    """Work arrays for the levels of a hierarchy, and refinement of their partitions.

    Parameters
    ----------
    space : ExecutionSpace
    largest : Graph or DistributedGraph
        The largest that will be refined; one of several ranks as a whole.
    balance : Balance
    options : FlowOptions
    seed : int
        Decides between vertices that are equally good.
    """

    def __init__(self, space: ExecutionSpace, largest: Structure, balance: Balance,
                 options: FlowOptions, seed: int) -> None:
        self.space, self.balance, self.options, self.seed = space, balance, options, seed
        whole = largest.whole
        self.sizes = FlowSizes(whole.num_vertices, whole.num_entries, balance.num_blocks,
                               whole.weight_sum_dtype)
        self._quotient = QuotientGraph.allocate(
            space, self.sizes, limits=space.asarray(balance.limits),
            means=space.asarray(balance.means))
        self._corridors = Corridors.allocate(space, self.sizes, part=None, fixed=None,
                                             extra=float(options.alpha) - 1.0)
        self._networks = Networks.allocate(space, self.sizes)

    def refine(self, graph: Graph, part: Array, fixed: Array | None, slack: int) -> int:
        """Refine a partition in place.  Waits for the device.

        Parameters
        ----------
        graph : Graph
        part : array of int32, shape (n,)
        fixed : array of int32, shape (n,), optional
            Vertices with an entry of 0 or more stay where they are.
        slack : int
            What blocks may weigh above their limits.

        Returns
        -------
        int
            By how much the cut has become smaller.
        """
        n, k, options = graph.num_vertices, self.balance.num_blocks, self.options
        words = FlowLevel.of(vertices=n, blocks=k, block_pairs=k * k, seed=self.seed, slack=slack,
                             max_depth=options.depth, max_degree=options.max_degree,
                             round_limit=options.round_limit, running=1)
        level = FlowLevel(self.space.asarray(np.array(words.array)))
        records: dict[str, Any] = {
            "graph": graph.csr, "quotient": self._quotient, "level": level,
            "corridors": self._corridors.replaced(part=part, fixed=fixed),
            "networks": self._networks}

        def record() -> Program:
            program = Program("flow refinement")
            program.statics["memory"] = NodeMemory.of(self.sizes.counter)
            record_flows(program, program.declare(records)["level"])
            return program

        key = "flow refinement", *graph.type_key, fixed is None, self.sizes.counter
        self.space.cached_executable(key, record).run(records, max(n, k * k))
        return int(FlowLevel(self.space.to_host(level.array)).total_gain)


def flow_bytes(sizes: FlowSizes) -> int:
    """Bytes of the work arrays."""
    return bytes_of((QuotientGraph, Corridors, Networks), sizes)


def record_flows(program: Program, level: Any) -> None:
    """Record the refinement of a level."""
    program.launch(level.blocks, begin_block)
    program.launch(level.block_pairs, begin_pair)
    program.launch(level.vertices, begin_vertex)
    with program.while_loop(level.running):
        with program.side_by_side():
            program.launch(1, begin_round, team=WIDEST)
            program.launch(level.blocks, list_neighbours, team=NARROW)
        program.launch(1, match_blocks, team=WIDEST)
        with program.while_loop(level.matched):
            program.launch(level.boundary, find_layer_0)
            program.launch(level.matched, grow_corridor, team=WIDEST, work=PAIR_WORK)
            program.launch(level.matched, cut_small, team=WIDEST, work=PAIR_WORK)
            with program.if_nonzero(level.large):
                program.launch(level.matched, cut_large, team=WIDEST, work=PAIR_WORK)
            program.launch(1, match_blocks, team=WIDEST)
        program.launch(1, end_round)
        with program.if_nonzero(level.running):
            program.launch(level.block_pairs, clear_cut)
            program.launch(level.boundary, add_listed)
