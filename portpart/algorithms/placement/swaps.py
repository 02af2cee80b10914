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

from portpart.algorithms.mapping.distances import DISTANCE, Distances
from portpart.backends.interface import Array
from portpart.backends.language import (
    Kernel,
    atomic_add,
    atomic_max,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_max,
    team_size,
)
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

MOST_SWAPPED = 4096
"""Blocks for which there is a table: 8 bytes for each pair."""

ROUNDS = 1000

BLOCKS, PAIRS, ROUNDS_LEFT, RUNNING, SWAPS, SEED, SHIFT = range(7)
"""Words of the state: numbers of blocks, of pairs, of rounds and of swaps in this round."""

NONE = -1
LOWEST = -(2**63)


def swapped_places(traffic: Graph, distances: Distances, seed: int,
                   first: Array | None = None) -> Array:
    """The element for each block after swaps.

    Parameters
    ----------
    traffic : Graph
        The blocks and the weights between them, with weights and sorted rows; at most
        `MOST_SWAPPED` blocks.
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
    most_gain = 2 * traffic.total_arc_weight * distances.longest
    bindings = {
        **traffic.arrays, **distances.arrays, "place": place, "table": space.empty(k * k, np.int64),
        "gain": k, "partner": k, "lead": k, "winner": k,
        "state": (k, k * k, ROUNDS, 1, 0, seed, max(0, most_gain.bit_length() - 31)),
    }
    key = ("swaps", *traffic.type_key, distances.kind)
    executable = space.cached_executable(key, lambda: _record(traffic, distances.kind))
    executable.run(bindings, k * k)
    return place


def _record(traffic: Graph, kind: str) -> Program:
    program = Program("swaps")
    traffic.declare(program)
    for name in ("codes", "shifts", "lengths", "bounds", "table"):
        program.array(name, np.int64)
    program.array("place", np.int32)
    for name, dtype in (("gain", np.int64), ("partner", np.int32), ("lead", np.int64),
                        ("winner", np.int32)):
        program.scratch(name, dtype)
    state = program.words("state", 7)
    program.launch(state[PAIRS], fill_table(kind))
    with program.while_loop(state[RUNNING]):
        program.launch(state[BLOCKS], propose_swap(kind), team=32)
        program.launch(state[BLOCKS], claim_both)
        program.launch(state[BLOCKS], choose_swap)
        program.launch(state[BLOCKS], update_table(kind), team=256)
        program.launch(state[BLOCKS], carry_out)
        program.launch(1, end_round)
    return program


@cache
def fill_table(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    distance = DISTANCE[kind]

    @kernel
    def fill_table(i, offsets, targets, weights, place, codes, shifts, lengths, table, state):
        """table[a * k + p] = what block a would cost on element p."""
        a = i // state[BLOCKS]
        p = i % state[BLOCKS]
        cost = int64(0)
        for arc in range(offsets[a], offsets[a + 1]):
            cost += weights[arc] * distance(p, place[targets[arc]], codes, shifts, lengths)
        table[i] = cost

    return fill_table


@device
def weight_between(a, b, offsets, targets, weights):
    """Weight of the arc from a to b, 0 if there is none; the row is sorted."""
    low = int64(offsets[a])
    high = int64(offsets[a + 1])
    while low < high:
        middle = (low + high) >> 1
        if targets[middle] < b:
            low = middle + 1
        else:
            high = middle
    found = int64(0)
    if low < offsets[a + 1]:
        if targets[low] == b:
            found = int64(weights[low])
    return found


@cache
def propose_swap(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    distance = DISTANCE[kind]

    @kernel
    def propose_swap(a, offsets, targets, weights, place, codes, shifts, lengths, table, gain,
                     partner, lead, winner, state):
        """Find the block whose place block a should best take in exchange for its own.

        By the table the arc between the two would vanish: it counts too much in both rows.
        """
        k = state[BLOCKS]
        here = int64(place[a])
        best = int64(0)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        for b in range(lane(), k, team_size()):
            there = int64(place[b])
            saved = table[a * k + here] - table[a * k + there]
            saved += table[b * k + there] - table[b * k + here]
            if saved > 0 and saved >= best and b != a:
                saved -= 2 * weight_between(a, b, offsets, targets, weights) * distance(
                    here, there, codes, shifts, lengths)
                hashed = pair_hash(a, b, state[SEED])
                if saved > best or (saved == best and saved > 0 and hashed > best_hash):
                    best = saved
                    best_hash = hashed
                    best_block = int32(b)
        top = team_max(best)
        best_block = team_winner(best, best_hash, best_block)
        if lane() == 0:
            gain[a] = top
            partner[a] = best_block
            lead[a] = int64(NONE)
            winner[a] = int32(NONE)

    return propose_swap


@device
def priority_of(a, gain, state):
    """Proposals of larger gains go first; no two have the same priority."""
    return ((gain[a] >> state[SHIFT]) << 32) | int64(a)


@kernel
def claim_both(a, gain, partner, lead, state):
    """lead[b] = highest priority of the proposals that would move block b; atomic, order-free."""
    if partner[a] != NONE:
        atomic_max(lead, a, priority_of(a, gain, state))
        atomic_max(lead, partner[a], priority_of(a, gain, state))


@device
def leads_around(b, priority, offsets, targets, lead):
    """Whether no proposal for b or a block that it talks to goes before this one."""
    goes_first = lead[b] <= priority
    for arc in range(offsets[b], offsets[b + 1]):
        goes_first = goes_first and lead[targets[arc]] <= priority
    return goes_first


@kernel
def choose_swap(a, offsets, targets, gain, partner, lead, winner, state):
    """winner[a] = partner of a if their swap is carried out; atomic, order-free."""
    b = partner[a]
    if b != NONE:
        priority = priority_of(a, gain, state)
        if leads_around(a, priority, offsets, targets, lead):
            if leads_around(b, priority, offsets, targets, lead):
                winner[a] = b
                atomic_add(state, SWAPS, 1)


@cache
def update_table(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    distance = DISTANCE[kind]

    @kernel
    def update_table(a, offsets, targets, weights, place, codes, shifts, lengths, winner, table,
                     state):
        """Bring the rows of all blocks that a swapping pair talks to up to date; order-free."""
        k = state[BLOCKS]
        if winner[a] != NONE:
            here = place[a]
            there = place[winner[a]]
            for p in range(lane(), k, team_size()):
                change = distance(p, there, codes, shifts, lengths)
                change -= distance(p, here, codes, shifts, lengths)
                if change != 0:
                    for arc in range(offsets[a], offsets[a + 1]):
                        atomic_add(table, targets[arc] * k + p, weights[arc] * change)
                    b = int64(winner[a])
                    for arc in range(offsets[b], offsets[b + 1]):
                        atomic_add(table, targets[arc] * k + p, -weights[arc] * change)

    return update_table


@kernel
def carry_out(a, winner, place):
    """Swap the places of a and its partner; no other swap touches either."""
    b = winner[a]
    if b != NONE:
        here = place[a]
        place[a] = place[b]
        place[b] = here


@kernel
def end_round(_, state):
    """Go on while blocks swap."""
    state[ROUNDS_LEFT] -= 1
    state[RUNNING] = int64(state[SWAPS] > 0 and state[ROUNDS_LEFT] > 0)
    state[SWAPS] = 0
