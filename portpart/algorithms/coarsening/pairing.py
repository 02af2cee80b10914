"""Pairing vertices of equal keys, in rounds, without sorting them.

Neighbours in the order of ids go first: what a run of a few vertices can pair it pairs by itself.

Then come rounds.  In each the vertices that are left of a key are strewn over some slots of a hash
table, two or so to a slot.  The one of the largest id leads the slot; the others there propose to
it, and it takes the largest that fits.  From round to round a key has half as many slots, and about
half as many of its vertices are left, until all of them meet in one: a leader that gets no proposal
there has no partner at all and leaves.  So no two vertices that fit are left over, and m vertices
of one key take log2(m) rounds and a few more.

Slots are drawn anew each round.  A vertex that finds another key's leader in its slot waits for the
next round.  Nothing depends on the order of threads.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    atomic_add,
    atomic_max,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    value_or,
)
from portpart.backends.program import Program
from portpart.primitives.hashing import mixed

UNMATCHED = -1
NO_KEY = -1
POSITIVE = 2**63 - 1

RUN = 8
"""Consecutive vertices that are paired among themselves before the rounds."""

LAST_ROUND = 48
"""At most 30 rounds halve the slots of a key; some more let keys that shared a slot find another.
That rounds end can matter only where most vertices of a key fit none of the others."""

VERTICES, RUNS, ACTIVE, STAYING, ROUND = range(5)
"""Words of the array ``pairing``: numbers of vertices, of runs of them, of those that seek a
partner in this round and in the next; the number of the round."""


def pairing_bindings(n: int) -> dict[str, Any]:
    """Lengths of work arrays for a program that pairs n vertices, 28 bytes each, and its words."""
    return {"crowd": n, "leader": n, "slot": n, "wish": n, "active": 2 * n,
            "pairing": (n, -(-n // RUN), 0, 0, 0)}


def declare_pairing(program: Program) -> None:
    """Slots of `program` for the :func:`pairing_bindings`."""
    program.scratch("leader", np.int64)
    for name in ("crowd", "slot", "wish", "active"):
        program.scratch(name, np.int32)
    program.words("pairing", 5)


@device
def keep_weight_limit(v, u, offsets, targets, vertex_weights, max_weight):
    """Whether v and u together keep the weight limit."""
    return value_or(vertex_weights, v, 1) + value_or(vertex_weights, u, 1) <= max_weight


def record_pairing(program: Program, fit: DeviceFunction = keep_weight_limit) -> None:
    """Record how vertices of equal keys are paired.

    Parameters
    ----------
    program : Program
        With slots for the :func:`pairing_bindings`, the arrays of a graph, the scalar
        ``max_weight``; ``keys`` of int64; and ``mate``, the partner of each vertex or -1, where
        pairs are entered.  When this part of the program starts, ``keys`` holds the key of each
        vertex that seeks a partner, a hash in 0 ... 2^63-1, and -1 for the others; it is changed.
    fit : DeviceFunction
        Whether two vertices of one key may be paired: `keep_weight_limit` or one like it.
    """
    state = program.slots["pairing"]
    program.launch(1, begin_pairing)
    program.launch(state[VERTICES], clear_entry)
    program.launch(state[RUNS], pair_within_run(fit))
    program.launch(state[VERTICES], enter_first_slot)
    with program.while_loop(state[ACTIVE]):
        program.launch(state[ACTIVE], propose_to_leader(fit))
        program.launch(state[ACTIVE], pair_or_enter_next_slot)
        program.launch(1, begin_next_round)


@device
def place_in(hashed, size):
    """Place 0 ... size-1 of a hash in a table of less than 2^31 entries."""
    return (((hashed & POSITIVE) >> 32) * size) >> 31


@device
def slots_of_key(key, turn, crowd, n):
    """Over how many slots the vertices of `key` are strewn in round `turn`."""
    return max(int64(1), int64(crowd[place_in(key, n)]) >> (turn + 1))


@device
def enter_slot(v, turn, keys, crowd, leader, slot, n):
    """Draw slot[v] for round `turn`, and stand for its leader.

    The words of a round exceed those of the rounds before, so none are cleared.
    """
    key = keys[v]
    slots = slots_of_key(key, turn, crowd, n)
    salt = turn << 32
    if slots > 1:
        salt |= place_in(mixed(key ^ (salt | int64(v))), slots)
    slot[v] = place_in(mixed(key ^ salt), n)
    atomic_max(leader, slot[v], (turn << 32) | int64(v))


@device
def seeker(i, active, pairing):
    """Vertex i of the list of this round; the lists of even and odd rounds lie side by side."""
    return active[(pairing[ROUND] & 1) * pairing[VERTICES] + i]


@kernel
def begin_pairing(_, pairing):
    """Nobody is on a list, and the first round is next."""
    pairing[ACTIVE] = 0
    pairing[STAYING] = 0
    pairing[ROUND] = 0


@kernel
def clear_entry(v, crowd, leader):
    """Clear entry v of the tables."""
    crowd[v] = int32(0)
    leader[v] = int64(-1)


@cache
def pair_within_run(fit: DeviceFunction) -> Kernel:
    """Kernel that pairs the vertices of a run among themselves if they `fit`."""

    @kernel
    def pair_within_run(run, offsets, targets, vertex_weights, max_weight, pairing, keys, crowd,
                        mate):
        """Pair vertices of equal keys in the run, each with the next that fits; count the rest.

        Keys that share an entry of `crowd` are counted together.  Atomic, order-free.
        """
        n = pairing[VERTICES]
        end = min((run + 1) * RUN, n)
        for v in range(run * RUN, end):
            u = v + 1
            while keys[v] != NO_KEY and u < end:
                if keys[u] == keys[v]:
                    if fit(v, u, offsets, targets, vertex_weights, max_weight):
                        mate[v] = int32(u)
                        mate[u] = int32(v)
                        keys[v] = NO_KEY
                        keys[u] = NO_KEY
                u += 1
            if keys[v] != NO_KEY:
                atomic_add(crowd, place_in(keys[v], n), 1)

    return pair_within_run


@kernel
def enter_first_slot(v, keys, crowd, leader, slot, active, pairing):
    """List v and enter a slot of round 0, unless v has no key or one that is surely its own."""
    if keys[v] != NO_KEY:
        n = pairing[VERTICES]
        if crowd[place_in(keys[v], n)] > 1:
            enter_slot(v, int64(0), keys, crowd, leader, slot, n)
            active[atomic_next(pairing, ACTIVE)] = int32(v)


@cache
def propose_to_leader(fit: DeviceFunction) -> Kernel:
    """Kernel by which a vertex proposes to the leader of its slot if they `fit`."""

    @kernel
    def propose_to_leader(i, active, keys, leader, slot, offsets, targets, vertex_weights,
                          max_weight, pairing, wish, mate):
        """wish[v] = leader of v's slot, -1 if of another key; mate[leader] = largest that proposes.

        A leader leads one slot and proposes to no one, so nothing else touches its mate.
        """
        v = seeker(i, active, pairing)
        u = int32(leader[slot[v]] & 0x7FFFFFFF)
        if keys[u] != keys[v]:
            u = int32(UNMATCHED)
        wish[v] = u
        if u != UNMATCHED and u != v:
            if fit(v, u, offsets, targets, vertex_weights, max_weight):
                atomic_max(mate, u, v)

    return propose_to_leader


@kernel
def pair_or_enter_next_slot(i, active, keys, crowd, leader, slot, wish, pairing, mate):
    """Pair v with its leader if it took v; else enter a slot of the next round.

    A leader enters none if it has a mate, or if there was no other slot for its key.  The order
    of the next list depends on the threads; no result depends on that order.
    """
    v = seeker(i, active, pairing)
    n = pairing[VERTICES]
    turn = pairing[ROUND]
    u = wish[v]
    stays = True
    if u == v:
        stays = mate[v] == UNMATCHED and slots_of_key(keys[v], turn, crowd, n) > 1
    elif u != UNMATCHED:
        if mate[u] == v:
            mate[v] = u
            stays = False
    if stays:
        enter_slot(v, turn + 1, keys, crowd, leader, slot, n)
        active[((turn + 1) & 1) * n + atomic_next(pairing, STAYING)] = v


@kernel
def begin_next_round(_, pairing):
    """The vertices that stay are active in the next round, if there is one."""
    pairing[ACTIVE] = pairing[STAYING]
    pairing[STAYING] = 0
    if pairing[ROUND] == LAST_ROUND:
        pairing[ACTIVE] = 0
    pairing[ROUND] += 1
