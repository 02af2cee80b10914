"""Places of blocks: pairwise swaps that lower the cost of traffic between them (a QAP search).

A table holds what each block would cost on each element, so a swap's gain is a few loads; a swap
changes the rows of the blocks that the two talk to.  In each round every block proposes its best
swap.  Of proposals for the same or for talking blocks the best one is carried out, so the gains of
a round add up and the cost falls until no swap of two gains or many rounds are over
(C. Heider 1972; B. Brandfass, T. Alrutz, T. Gerhold 2013, who do one swap after the other).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from portpart.algorithms.objectives.distances import DISTANCE, Distances, DistanceTables
from portpart.backends.interface import Array
from portpart.backends.language import (
    Kernel,
    Record,
    Words,
    atomic_add,
    atomic_max,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_max,
    team_size,
    value_or,
)
from portpart.backends.program import Program, WorkArray, flat_bindings
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

MAX_SWAPPED = 4096
"""Blocks for which there is a table: 8 bytes for each pair."""

ROUNDS = 1000

NONE = -1
LOWEST = -(2**63)


class Search(Words):
    """What a search counts.

    Attributes
    ----------
    blocks, pairs : int
        Numbers of them.
    rounds_left, swaps : int
        Rounds still to come, and swaps of this round.
    running : int
        Whether there is another round.
    seed : int
    shift : int
        Gains lose so many bits, so that they fit a priority.
    """

    blocks: int
    pairs: int
    rounds_left: int
    running: int
    swaps: int
    seed: int
    shift: int


class Places(Record):
    """Places of k blocks, and what they would cost elsewhere.

    Attributes
    ----------
    place : array of int32, shape (k,)
        The element for each block.
    table : array of int64, shape (k * k,)
        What block a would cost on element p, at a * k + p.
    """

    place: Array
    table: Array


class Proposals(Record):
    """What the blocks propose in a round.

    Attributes
    ----------
    gain : array of int64, shape (k,)
        Of the best swap of each block.
    partner : array of int32, shape (k,)
        The other block of that swap, or -1.
    lead : array of int64, shape (k,)
        Highest priority of the proposals that would move a block.
    winner : array of int32, shape (k,)
        The partner of a block whose swap is carried out, or -1.
    """

    gain: Array
    partner: Array
    lead: Array
    winner: Array

    @classmethod
    def of(cls, k: int) -> Proposals:
        """Those of k blocks."""
        return cls(gain=WorkArray(np.int64, k), partner=WorkArray(np.int32, k),
                   lead=WorkArray(np.int64, k), winner=WorkArray(np.int32, k))


def swapped_places(traffic: Graph, distances: Distances, seed: int,
                   first: Array | None = None) -> Array:
    """The element for each block after swaps.

    Parameters
    ----------
    traffic : Graph
        The blocks and the weights between them, with weights and sorted rows; at most
        `MAX_SWAPPED` blocks.
    first : array of int32, shape (k,), optional
        The element for each block before; by default block b is on element b.

    Returns
    -------
    array of int32, shape (k,)
        A permutation.  No swap of two blocks lowers the cost any further, unless `ROUNDS` are over
        before, as with a thousand blocks that all talk to each other.
    """
    space, k = traffic.space, traffic.num_vertices
    place = space.asarray(np.arange(k), np.int32) if first is None else space.copy(first)
    max_gain = 2 * traffic.total_arc_weight * distances.longest
    records: dict[str, Record | Words] = {
        "graph": traffic.csr,
        "tables": distances.tables,
        "places": Places(place, space.empty(k * k, np.int64)),
        "proposals": Proposals.of(k),
        "search": Search.of(blocks=k, pairs=k * k, rounds_left=ROUNDS, running=1, seed=seed,
                            shift=max(0, max_gain.bit_length() - 31)),
    }
    key = ("swaps", *traffic.type_key, distances.kind)
    executable = space.cached_executable(key, lambda: _record(records, distances.kind))
    executable.run(flat_bindings(records), k * k)
    return place


def _record(records: dict[str, Record | Words], kind: str) -> Program:
    program = Program("swaps")
    for name, like in records.items():
        program.record(name, like)
    search = program.records["search"]
    assert isinstance(search, Search)
    blocks = search[Search.blocks]
    program.launch(search[Search.pairs], fill_table(kind))
    with program.while_loop(search[Search.running]):
        program.launch(blocks, propose_swap(kind), team=32)
        program.launch(blocks, claim_both)
        program.launch(blocks, choose_swap)
        program.launch(blocks, update_table(kind), team=256)
        program.launch(blocks, carry_out)
        program.launch(1, end_round)
    return program


@cache
def fill_table(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    distance = DISTANCE[kind]

    @kernel
    def fill_table(i, graph: Csr, tables: DistanceTables, places: Places, search: Search):
        """table[a * k + p] = what block a would cost on element p."""
        a = i // search.blocks
        p = i % search.blocks
        cost = int64(0)
        for arc in range(graph.begin[a], graph.end[a]):
            there = places.place[graph.targets[arc]]
            cost += value_or(graph.weights, arc, 1) * distance(p, there, tables)
        places.table[i] = cost

    return fill_table


@device
def weight_between(a, b, graph: Csr):
    """Weight of the arc from a to b, 0 if there is none; the row is sorted."""
    low = int64(graph.begin[a])
    high = int64(graph.end[a])
    while low < high:
        middle = (low + high) >> 1
        if graph.targets[middle] < b:
            low = middle + 1
        else:
            high = middle
    found = int64(0)
    if low < graph.end[a]:
        if graph.targets[low] == b:
            found = int64(value_or(graph.weights, low, 1))
    return found


@cache
def propose_swap(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    distance = DISTANCE[kind]

    @kernel
    def propose_swap(a, graph: Csr, tables: DistanceTables, places: Places, proposals: Proposals,
                     search: Search):
        """Find the block whose place block a should best take in exchange for its own.

        By the table the arc between the two would vanish: it counts too much in both rows.
        """
        k = search.blocks
        here = int64(places.place[a])
        best = int64(0)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        for b in range(lane(), k, team_size()):
            there = int64(places.place[b])
            saved = places.table[a * k + here] - places.table[a * k + there]
            saved += places.table[b * k + there] - places.table[b * k + here]
            if saved > 0 and saved >= best and b != a:
                saved -= 2 * weight_between(a, b, graph) * distance(here, there, tables)
                hashed = pair_hash(a, b, search.seed)
                if saved > best or (saved == best and saved > 0 and hashed > best_hash):
                    best = saved
                    best_hash = hashed
                    best_block = int32(b)
        top = team_max(best)
        best_block = team_winner(best, best_hash, best_block)
        if lane() == 0:
            proposals.gain[a] = top
            proposals.partner[a] = best_block
            proposals.lead[a] = int64(NONE)
            proposals.winner[a] = int32(NONE)

    return propose_swap


@device
def priority_of(a, proposals: Proposals, search: Search):
    """Proposals of larger gains go first; no two have the same priority."""
    return ((proposals.gain[a] >> search.shift) << 32) | int64(a)


@kernel
def claim_both(a, proposals: Proposals, search: Search):
    """lead[b] = highest priority of the proposals that would move block b; atomic, order-free."""
    if proposals.partner[a] != NONE:
        atomic_max(proposals.lead, a, priority_of(a, proposals, search))
        atomic_max(proposals.lead, proposals.partner[a], priority_of(a, proposals, search))


@device
def leads_around(b, priority, graph: Csr, lead):
    """Whether no proposal for b or a block that it talks to goes before this one."""
    goes_first = lead[b] <= priority
    for arc in range(graph.begin[b], graph.end[b]):
        goes_first = goes_first and lead[graph.targets[arc]] <= priority
    return goes_first


@kernel
def choose_swap(a, graph: Csr, proposals: Proposals, search: Search):
    """winner[a] = partner of a if their swap is carried out; atomic, order-free."""
    b = proposals.partner[a]
    if b != NONE:
        priority = priority_of(a, proposals, search)
        if leads_around(a, priority, graph, proposals.lead):
            if leads_around(b, priority, graph, proposals.lead):
                proposals.winner[a] = b
                atomic_add(search, Search.swaps, 1)


@cache
def update_table(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    distance = DISTANCE[kind]

    @kernel
    def update_table(a, graph: Csr, tables: DistanceTables, places: Places, proposals: Proposals,
                     search: Search):
        """Bring the rows of all blocks that a swapping pair talks to up to date; order-free."""
        k = search.blocks
        if proposals.winner[a] != NONE:
            here = places.place[a]
            there = places.place[proposals.winner[a]]
            for p in range(lane(), k, team_size()):
                change = distance(p, there, tables)
                change -= distance(p, here, tables)
                if change != 0:
                    for arc in range(graph.begin[a], graph.end[a]):
                        weight = int64(value_or(graph.weights, arc, 1))
                        atomic_add(places.table, graph.targets[arc] * k + p, weight * change)
                    b = int64(proposals.winner[a])
                    for arc in range(graph.begin[b], graph.end[b]):
                        weight = int64(value_or(graph.weights, arc, 1))
                        atomic_add(places.table, graph.targets[arc] * k + p, -weight * change)

    return update_table


@kernel
def carry_out(a, proposals: Proposals, places: Places):
    """Swap the places of a and its partner; no other swap touches either."""
    b = proposals.winner[a]
    if b != NONE:
        here = places.place[a]
        places.place[a] = places.place[b]
        places.place[b] = here


@kernel
def end_round(_, search: Search):
    """Go on while blocks swap."""
    search.rounds_left -= 1
    search.running = int64(search.swaps > 0 and search.rounds_left > 0)
    search.swaps = 0
