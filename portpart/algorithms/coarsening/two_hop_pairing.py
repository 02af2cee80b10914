"""Pairs vertices of equal keys, in rounds, without sorting them.

Neighbours in the order of ids go first: what a run of a few vertices can pair it pairs by itself.

Then come rounds.  In each the vertices that are left of a key are strewn over some slots of a hash
table, two or so to a slot.  The one of the largest id leads the slot; the others there propose to
it, and it takes the largest that fits.  From round to round a key has half as many slots, and about
half as many of its vertices are left, until all of them meet in one: a leader that gets no proposal
there has no partner at all and leaves.  So no two vertices that fit are left over, and m vertices
of one key take log2(m) rounds and a few more.

Slots are drawn again each round.  A vertex that finds another key's leader in its slot waits for
the next round.  Nothing depends on the order of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.active_vertices import (
    ActiveVertices,
    begin_next_round,
    place_of,
    stay_active,
)
from portpart.algorithms.coarsening.sizes import of_vertices
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.language import DeviceFunction, StaticValue
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.rows import Csr
from portpart.primitives.hashing import mixed

UNMATCHED = -1
NO_KEY = -1
POSITIVE = 2**63 - 1

RUN = 8
"""Consecutive vertices that are paired among themselves before the rounds."""

LAST_ROUND = 48
"""At most 30 rounds halve the slots of a key; some more let keys that shared a slot find another.
That rounds end can matter only where most vertices of a key fit none of the others."""


class TwoHopPairing(WorkRecord):
    """Arrays for two-hop matching of n vertices: input, result and work arrays.

    Attributes
    ----------
    max_weight : int
        No pair weighs more.
    keys : array of int64, shape (n,)
        The key of each vertex that seeks a partner, a hash in 0 ... 2^63-1, and -1 for the others;
        changed.
    mate : array of int32, shape (n,)
        The partner of each vertex, or -1.
    key_count : array of int32, shape (n,)
        How many vertices have the keys of an entry of the hash table.
    leader : array of int64, shape (n,)
        The leader of a slot: round, then vertex.
    slot : array of int32, shape (n,)
        The slot that a vertex has drawn.
    proposal : array of int32, shape (n,)
        The leader that a vertex proposes to.
    """

    max_weight: int
    keys: Array = work(np.int64, of_vertices)
    mate: Array = work(np.int32, of_vertices)
    key_count: Array = work(np.int32, of_vertices)
    leader: Array = work(np.int64, of_vertices)
    slot: Array = work(np.int32, of_vertices)
    proposal: Array = work(np.int32, of_vertices)

    runs: int = kl.word()  # stretches of vertices that are paired among themselves


def pairing_records(pairing_state: TwoHopPairing, n: int) -> dict[str, WorkRecord]:
    """The records for two-hop matching of n vertices."""
    return {"pairing_state": pairing_state.with_words(runs=-(-n // RUN)),
            "active": ActiveVertices().with_words(vertices=n)}


@kl.device
def keep_weight_limit(v, u, graph: Csr, max_weight):
    """Whether v and u together keep the weight limit."""
    return kl.value_or(graph.vertex_weights, v, 1) + kl.value_or(graph.vertex_weights, u,
                                                                 1) <= max_weight


def record_pairing(program: Program, fit: DeviceFunction = keep_weight_limit) -> None:
    """Record how vertices of equal keys are paired.

    Parameters
    ----------
    program : Program
        With the record ``graph`` and those of `pairing_records`.
    fit : DeviceFunction
        Whether two vertices of one key may be paired: `keep_weight_limit` or one like it.
    """
    records: dict[str, Any] = program.records
    pairing_state, active = records["pairing_state"], records["active"]
    program.launch(1, begin_pairing)
    program.launch(active.vertices, clear_entry)
    program.launch(pairing_state.runs, pair_within_run, fit=fit)
    program.launch(active.vertices, enter_first_slot)
    with program.while_loop(active.count):
        program.launch(active.count, propose_to_leader, fit=fit)
        program.launch(active.count, pair_or_enter_next_slot)
        program.launch(1, begin_next_round, last_round=LAST_ROUND)


@kl.device
def place_in(hashed, size):
    """Place 0 ... size-1 of a hash in a table of less than 2^31 entries."""
    return (((hashed & POSITIVE) >> 32) * size) >> 31


@kl.device
def slots_of_key(key, turn, n, pairing_state: TwoHopPairing):
    """Over how many slots the vertices of `key` are strewn in round `turn`."""
    return max(kl.int64(1), kl.int64(pairing_state.key_count[place_in(key, n)]) >> (turn + 1))


@kl.device
def enter_slot(v, turn, n, pairing_state: TwoHopPairing):
    """Draw a slot for v and round `turn`, and stand for its leader.

    The words of a round exceed those of the rounds before, so none are cleared.
    """
    key = pairing_state.keys[v]
    slots = slots_of_key(key, turn, n, pairing_state)
    salt = turn << 32
    if slots > 1:
        salt |= place_in(mixed(key ^ (salt | kl.int64(v))), slots)
    pairing_state.slot[v] = place_in(mixed(key ^ salt), n)
    kl.atomic_max(pairing_state.leader, pairing_state.slot[v], (turn << 32) | kl.int64(v))


@kl.kernel
def begin_pairing(_, active: ActiveVertices):
    """No vertex is on a list, and the first round is next."""
    active.count = 0
    active.next_count = 0
    active.round = 0


@kl.kernel
def clear_entry(v, pairing_state: TwoHopPairing):
    """Clear entry v of the tables."""
    pairing_state.key_count[v] = kl.int32(0)
    pairing_state.leader[v] = kl.int64(-1)


@kl.kernel
def pair_within_run(stretch, graph: Csr, pairing_state: TwoHopPairing, active: ActiveVertices,
                    fit: StaticValue):
    """Pair vertices of equal keys in the stretch, each with the next that fits; count the rest.

    Keys that share an entry of `key_count` are counted together.  Atomic, independent of order.
    """
    n = active.vertices
    end = min((stretch + 1) * RUN, n)
    for v in range(stretch * RUN, end):
        u = v + 1
        while pairing_state.keys[v] != NO_KEY and u < end:
            if pairing_state.keys[u] == pairing_state.keys[v]:
                if fit(v, u, graph, pairing_state.max_weight):
                    pairing_state.mate[v] = kl.int32(u)
                    pairing_state.mate[u] = kl.int32(v)
                    pairing_state.keys[v] = NO_KEY
                    pairing_state.keys[u] = NO_KEY
            u += 1
        if pairing_state.keys[v] != NO_KEY:
            kl.atomic_add(pairing_state.key_count, place_in(pairing_state.keys[v], n), 1)


@kl.kernel
def enter_first_slot(v, pairing_state: TwoHopPairing, active: ActiveVertices):
    """List v and enter a slot of round 0, unless v has no key or one that is surely its own."""
    if pairing_state.keys[v] != NO_KEY:
        n = active.vertices
        if pairing_state.key_count[place_in(pairing_state.keys[v], n)] > 1:
            enter_slot(v, kl.int64(0), n, pairing_state)
            active.listed[kl.atomic_next(active, ActiveVertices.count)] = kl.int32(v)


@kl.kernel
def propose_to_leader(i, graph: Csr, pairing_state: TwoHopPairing, active: ActiveVertices,
                      fit: StaticValue):
    """proposal[v] = leader of v's slot, -1 if of another key; mate[leader] = largest that proposes.

    A leader leads one slot and proposes to no one, so nothing else touches its mate.
    """
    v = active.listed[place_of(i, active)]
    u = kl.int32(pairing_state.leader[pairing_state.slot[v]] & 0x7FFFFFFF)
    if pairing_state.keys[u] != pairing_state.keys[v]:
        u = kl.int32(UNMATCHED)
    pairing_state.proposal[v] = u
    if u != UNMATCHED and u != v:
        if fit(v, u, graph, pairing_state.max_weight):
            kl.atomic_max(pairing_state.mate, u, v)


@kl.kernel
def pair_or_enter_next_slot(i, pairing_state: TwoHopPairing, active: ActiveVertices):
    """Pair v with its leader if it took v; else enter a slot of the next round.

    A leader enters none if it has a mate, or if there was no other slot for its key.
    """
    v = active.listed[place_of(i, active)]
    n = active.vertices
    turn = active.round
    u = pairing_state.proposal[v]
    stays = True
    if u == v:
        stays = pairing_state.mate[v] == UNMATCHED and (
            slots_of_key(pairing_state.keys[v], turn, n, pairing_state) > 1)
    elif u != UNMATCHED:
        if pairing_state.mate[u] == v:
            pairing_state.mate[v] = u
            stays = False
    if stays:
        enter_slot(v, turn + 1, n, pairing_state)
        stay_active(v, active)
