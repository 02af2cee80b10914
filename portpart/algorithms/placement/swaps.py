"""Places of blocks: pairwise swaps that lower the cost of traffic (a QAP search)."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.objectives import Objective, Rules, Tables
from portpart.backends import language as kl
from portpart.backends.programs import Array, Program, Records
from portpart.graphs import Csr, Graph
from portpart.primitives import LOWEST, lower_bound, pair_hash, team_winner

# Rounds of swaps: the table of costs, proposals, and the choice among them ---------------------


NONE = -1


class SwapRounds(kl.Words):
    """Sizes and counts of rounds of swaps.

    Attributes
    ----------
    blocks, pairs : int
        Numbers of blocks and of pairs of blocks.
    left, swaps : int
        Remaining rounds, and swaps of this round.
    running : int
        Whether there is another round.
    seed : int
    shift : int
        Gains lose this many bits, so that they fit into a priority.
    """

    blocks: int
    pairs: int
    left: int
    running: int
    swaps: int
    seed: int
    shift: int


def of_blocks(k: int) -> int:
    """Return the number of blocks, the length of arrays with an entry per block."""
    return k


class BlockPlaces(kl.Record):
    """Places of k blocks, and their costs on each element.

    Attributes
    ----------
    place : array of int32, shape (k,)
        The element for each block.
    table : array of int64, shape (k * k,)
        Cost of block a on element p, at a * k + p.
    group : array of int32, shape (k,), or None
        Blocks swap places only within groups of elements.
    """

    place: Array
    group: Array | None
    table: Array = kl.work(np.int64, lambda k: k * k)


class SwapProposals(kl.Record):
    """The proposals of the blocks in a round.

    Attributes
    ----------
    gain : array of int64, shape (k,)
        Gain of the best swap of each block.
    partner : array of int32, shape (k,)
        The other block of that swap, or -1.
    lead : array of int64, shape (k,)
        Highest priority of the proposals that would move a block.
    winner : array of int32, shape (k,)
        The partner of a block whose swap is applied, or -1.
    """

    gain: Array = kl.work(np.int64, of_blocks)
    partner: Array = kl.work(np.int32, of_blocks)
    lead: Array = kl.work(np.int64, of_blocks)
    winner: Array = kl.work(np.int32, of_blocks)


@kl.kernel
def fill_table(i, graph: Csr, tables: Tables, places: BlockPlaces, rounds: SwapRounds,
               distance: kl.StaticValue):
    """table[a * k + p] = cost of block a on element p."""
    a = i // rounds.blocks
    p = i % rounds.blocks
    cost = kl.int64(0)
    for arc in range(graph.begin[a], graph.end[a]):
        there = places.place[graph.targets[arc]]
        cost += kl.value_or(graph.weights, arc, 1) * distance(p, there, tables)
    places.table[i] = cost


@kl.device
def weight_between(a, b, graph: Csr):
    """Weight of the arc from a to b, 0 if there is none; the row is sorted."""
    place = lower_bound(graph.targets, graph.begin[a], graph.end[a], b)
    found = kl.int64(0)
    if place < graph.end[a]:
        if graph.targets[place] == b:
            found = kl.int64(kl.value_or(graph.weights, place, 1))
    return found


@kl.device
def may_swap(here, there, places: BlockPlaces):
    """Whether blocks on the two elements may swap places."""
    return kl.value_or(places.group, here, 0) == kl.value_or(places.group, there, 0)


@kl.kernel
def propose_swap(a, graph: Csr, tables: Tables, places: BlockPlaces, proposals: SwapProposals,
                 rounds: SwapRounds, distance: kl.StaticValue):
    """Find the block with the best swap for block a.

    By the table, the arc between the two would cost nothing after the swap; this is corrected.
    """
    k = rounds.blocks
    here = kl.int64(places.place[a])
    best = kl.int64(0)
    best_hash = kl.int64(LOWEST)
    best_block = kl.int32(NONE)
    for b in range(kl.lane(), k, kl.team_size()):
        there = kl.int64(places.place[b])
        saved = places.table[a * k + here] - places.table[a * k + there]
        saved += places.table[b * k + there] - places.table[b * k + here]
        if saved > 0 and saved >= best and b != a and may_swap(here, there, places):
            saved -= 2 * weight_between(a, b, graph) * distance(here, there, tables)
            hashed = pair_hash(a, b, rounds.seed)
            if saved > best or (saved == best and saved > 0 and hashed > best_hash):
                best = saved
                best_hash = hashed
                best_block = kl.int32(b)
    top = kl.team_max(best)
    best_block = team_winner(best == top, best_hash, best_block)
    if kl.lane() == 0:
        proposals.gain[a] = top
        proposals.partner[a] = best_block
        proposals.lead[a] = kl.int64(NONE)
        proposals.winner[a] = kl.int32(NONE)


@kl.device
def priority_of(a, proposals: SwapProposals, rounds: SwapRounds):
    """Return the priority of a's proposal: larger gains first; all priorities differ."""
    return ((proposals.gain[a] >> rounds.shift) << 32) | kl.int64(a)


@kl.kernel
def claim_both(a, proposals: SwapProposals, rounds: SwapRounds):
    """lead[b] = highest priority of the proposals that would move block b.

    Atomic, independent of order.
    """
    if proposals.partner[a] != NONE:
        kl.atomic_max(proposals.lead, a, priority_of(a, proposals, rounds))
        kl.atomic_max(proposals.lead, proposals.partner[a], priority_of(a, proposals, rounds))


@kl.device
def leads_around(b, priority, graph: Csr, lead):
    """Whether no proposal for b or a block that it communicates with has a higher priority."""
    goes_first = lead[b] <= priority
    for arc in range(graph.begin[b], graph.end[b]):
        goes_first = goes_first and lead[graph.targets[arc]] <= priority
    return goes_first


@kl.kernel
def choose_swap(a, graph: Csr, proposals: SwapProposals, rounds: SwapRounds):
    """winner[a] = partner of a if their swap is applied; count it. Atomic, independent of order."""
    b = proposals.partner[a]
    if b != NONE:
        priority = priority_of(a, proposals, rounds)
        if leads_around(a, priority, graph, proposals.lead):
            if leads_around(b, priority, graph, proposals.lead):
                proposals.winner[a] = b
                kl.atomic_add(rounds, SwapRounds.swaps, 1)


@kl.kernel
def update_table(a, graph: Csr, tables: Tables, places: BlockPlaces, proposals: SwapProposals,
                 rounds: SwapRounds, distance: kl.StaticValue):
    """Update the rows of all blocks that communicate with a swapped pair. Independent of order."""
    k = rounds.blocks
    if proposals.winner[a] != NONE:
        here = places.place[a]
        there = places.place[proposals.winner[a]]
        for p in range(kl.lane(), k, kl.team_size()):
            change = distance(p, there, tables)
            change -= distance(p, here, tables)
            if change != 0:
                for arc in range(graph.begin[a], graph.end[a]):
                    weight = kl.int64(kl.value_or(graph.weights, arc, 1))
                    kl.atomic_add(places.table, graph.targets[arc] * k + p, weight * change)
                b = kl.int64(proposals.winner[a])
                for arc in range(graph.begin[b], graph.end[b]):
                    weight = kl.int64(kl.value_or(graph.weights, arc, 1))
                    kl.atomic_add(places.table, graph.targets[arc] * k + p, -weight * change)


@kl.kernel
def apply_swap(a, proposals: SwapProposals, places: BlockPlaces):
    """Swap the places of a and its partner; no other swap touches either."""
    b = proposals.winner[a]
    if b != NONE:
        here = places.place[a]
        places.place[a] = places.place[b]
        places.place[b] = here


@kl.kernel
def end_round(_, rounds: SwapRounds):
    """Continue while blocks swap."""
    rounds.left -= 1
    rounds.running = kl.int64(rounds.swaps > 0 and rounds.left > 0)
    rounds.swaps = 0


# Places of blocks: pairwise swaps that lower the cost of traffic between them (a QAP search) ----
#
# A table contains the cost of each block on each element, so the gain of a swap takes a few loads.
# A swap changes the rows of the blocks that the two communicate with. In each round every block
# proposes its best swap. Of proposals for the same blocks or for communicating blocks the best one
# is applied, so the gains of a round add up. The cost falls until no swap gains, or the rounds end
# (C. Heider 1972; B. Brandfass, T. Alrutz, T. Gerhold 2013, with one swap at a time).


MAX_SWAPPED = 4096
"""Maximum number of blocks with a table, which takes 8 bytes for each pair."""

ROUNDS = 1000


def swapped_places(traffic: Graph, objective: Objective, seed: int,
                   first: Array | None = None, group: Array | None = None) -> Array:
    """Return the element of each block after swaps.

    Parameters
    ----------
    traffic : Graph
        The blocks and the weights between them, with weights and sorted rows; at most
        `MAX_SWAPPED` blocks.
    first : array of int32, shape (k,), optional
        The initial element of each block; by default block b is on element b.
    group : array of int32, shape (k,), optional
        Blocks swap places only within groups of elements.

    Returns
    -------
    array of int32, shape (k,)
        A permutation. No allowed swap of two blocks lowers the cost, unless `ROUNDS` end before,
        as with a thousand blocks that all communicate.
    """
    space, k = traffic.space, traffic.num_vertices
    place = space.asarray(np.arange(k), np.int32) if first is None else space.copy(first)
    max_gain = 2 * traffic.total_arc_weight * objective.tables.max_distance
    records: dict[str, kl.Record | kl.Words] = {
        "graph": traffic.csr,
        "tables": objective.tables,
        "places": BlockPlaces(place, group),
        "proposals": SwapProposals(),
        "rounds": SwapRounds.of(blocks=k, pairs=k * k, left=ROUNDS, running=1, seed=seed,
                                shift=max(0, max_gain.bit_length() - 31)),
    }
    key = ("swaps", *traffic.type_key, objective.rules, group is None)
    executable = space.cached_executable(key, lambda: _record(records, objective.rules))
    executable.run(records, k * k, k)
    return place


def _record(records: Records, rules: Rules) -> Program:
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
