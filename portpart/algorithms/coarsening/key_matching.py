"""Pairs: which vertices are active in a round, and those of equal keys paired without sorting.

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

from portpart.algorithms.coarsening.proposals import Proposals, cluster_capacity, may_join
from portpart.backends import language as kl
from portpart.backends.programs import Array, Program
from portpart.graphs import Csr
from portpart.primitives import mixed, tiles_of

NO_LAST_ROUND = 2**62

UNMATCHED = -1
NO_KEY = -1
POSITIVE = 2**63 - 1

RUN = 8
"""Consecutive vertices that are paired among themselves before the rounds."""

LAST_ROUND = 48
"""At most 30 rounds halve the slots of a key; some more let keys that shared a slot find another.
That rounds end can matter only where most vertices of a key fit none of the others."""


class ActiveVertices(kl.Record):
    """Active vertices of n; their order depends on the threads, no result depends on that order.

    Attributes
    ----------
    listed : array of int32, shape (2 n + 1,)
        The lists of even and of odd rounds; the last element is spare.
    """

    listed: Array = kl.work(np.int32, lambda sizes: 2 * sizes.vertices + 1)

    vertices: int = kl.word()  # vertices of the graph
    count: int = kl.word()  # active in this round
    next_count: int = kl.word()  # and in the next one
    round: int = kl.word()


class Matching(Proposals):
    """The proposals and the partners of n vertices.

    Attributes
    ----------
    mate : array of int32, shape (n,)
        The partner of each vertex, or -1; in the end the one of the two that leads.
    """

    mate: Array = kl.absent()
    proposal: Array = kl.work(np.int32, "vertices")


class KeyMatching(kl.Record):
    """What n vertices are paired by.

    Attributes
    ----------
    max_degree : int
        Vertices of higher degree do not make relatives.
    keys : array of int64, shape (n,)
        The key of each vertex that seeks a partner, a hash in 0 ... 2^63-1, and -1 for the others;
        changed.
    key_count : array of int32, shape (n,)
        How many vertices have the keys of an entry of the hash table.
    leader : array of int64, shape (n,)
        The leader of a slot: round, then vertex.
    slot : array of int32, shape (n,)
        The slot that a vertex has drawn.
    """

    max_degree: int
    keys: Array = kl.work(np.int64, "vertices")
    key_count: Array = kl.work(np.int32, "vertices")
    leader: Array = kl.work(np.int64, "vertices")
    slot: Array = kl.work(np.int32, "vertices")

    runs: int = kl.word()  # stretches of vertices that are paired among themselves
    tiles: int = kl.word()  # tiles of vertices
    unmatched: int = kl.word()  # unmatched vertices
    too_many: int = kl.word()  # whether these are too many

    @classmethod
    def of(cls, n: int, max_degree: int = 0, **given: Any) -> KeyMatching:
        """Of this many vertices."""
        return cls(max_degree, **given).with_words(runs=-(-n // RUN), tiles=tiles_of(n))


def record_pairing(program: Program) -> None:
    """Record how vertices of equal keys are paired.

    Parameters
    ----------
    program : Program
        With the records ``graph``, ``matching``, ``key_matching`` and ``active``.
    """
    key_matching = program.find("key_matching", KeyMatching)
    active = program.find("active", ActiveVertices)
    program.launch(1, begin_pairing)
    program.launch(active.vertices, clear_entry)
    program.launch(key_matching.runs, pair_within_run)
    program.launch(active.vertices, enter_first_slot)
    with program.while_loop(active.count):
        program.launch(active.count, propose_to_leader)
        program.launch(active.count, pair_or_enter_next_slot)
        program.launch(1, begin_next_round, last_round=LAST_ROUND)


@kl.device
def place_of(i, active: ActiveVertices):
    """Where active vertex i stands."""
    return (active.round & 1) * active.vertices + i


@kl.device
def stay_active(v, active: ActiveVertices):
    """Put v on the list of the next round."""
    place = kl.atomic_next(active, ActiveVertices.next_count)
    active.listed[((active.round + 1) & 1) * active.vertices + place] = kl.int32(v)


@kl.kernel
def begin_next_round(_, active: ActiveVertices, last_round):
    """The vertices that stay are active in the next round, if there is one."""
    active.count = active.next_count
    active.next_count = 0
    if active.round == last_round:
        active.count = 0
    active.round += 1


@kl.device
def may_pair(v, u, graph: Csr, matching: Matching):
    """Whether v and u together keep the weight limit and are of one label."""
    return may_join(v, u, v, cluster_capacity(v, graph, matching), graph, matching)


@kl.device
def place_in(hashed, size):
    """Place 0 ... size-1 of a hash in a table of less than 2^31 entries."""
    return (((hashed & POSITIVE) >> 32) * size) >> 31


@kl.device
def slots_of_key(key, turn, n, key_matching: KeyMatching):
    """Over how many slots the vertices of `key` are strewn in round `turn`."""
    return max(kl.int64(1), kl.int64(key_matching.key_count[place_in(key, n)]) >> (turn + 1))


@kl.device
def enter_slot(v, turn, n, key_matching: KeyMatching):
    """Draw a slot for v and round `turn`, and stand for its leader.

    The words of a round exceed those of the rounds before, so none are cleared.
    """
    key = key_matching.keys[v]
    slots = slots_of_key(key, turn, n, key_matching)
    salt = turn << 32
    if slots > 1:
        salt |= place_in(mixed(key ^ (salt | kl.int64(v))), slots)
    key_matching.slot[v] = place_in(mixed(key ^ salt), n)
    kl.atomic_max(key_matching.leader, key_matching.slot[v], (turn << 32) | kl.int64(v))


@kl.kernel
def begin_pairing(_, active: ActiveVertices):
    """No vertex is on a list, and the first round is next."""
    active.count = 0
    active.next_count = 0
    active.round = 0


@kl.kernel
def clear_entry(v, key_matching: KeyMatching):
    """Clear entry v of the tables."""
    key_matching.key_count[v] = kl.int32(0)
    key_matching.leader[v] = kl.int64(-1)


@kl.kernel
def pair_within_run(stretch, graph: Csr, matching: Matching, key_matching: KeyMatching,
                    active: ActiveVertices):
    """Pair vertices of equal keys in the stretch, each with the next that fits; count the rest.

    Keys that share an entry of `key_count` are counted together.  Atomic, independent of order.
    """
    n = active.vertices
    end = min((stretch + 1) * RUN, n)
    for v in range(stretch * RUN, end):
        u = v + 1
        while key_matching.keys[v] != NO_KEY and u < end:
            if key_matching.keys[u] == key_matching.keys[v]:
                if may_pair(v, u, graph, matching):
                    matching.mate[v] = kl.int32(u)
                    matching.mate[u] = kl.int32(v)
                    key_matching.keys[v] = NO_KEY
                    key_matching.keys[u] = NO_KEY
            u += 1
        if key_matching.keys[v] != NO_KEY:
            kl.atomic_add(key_matching.key_count, place_in(key_matching.keys[v], n), 1)


@kl.kernel
def enter_first_slot(v, key_matching: KeyMatching, active: ActiveVertices):
    """List v and enter a slot of round 0, unless v has no key or one that is surely its own."""
    if key_matching.keys[v] != NO_KEY:
        n = active.vertices
        if key_matching.key_count[place_in(key_matching.keys[v], n)] > 1:
            enter_slot(v, kl.int64(0), n, key_matching)
            active.listed[kl.atomic_next(active, ActiveVertices.count)] = kl.int32(v)


@kl.kernel
def propose_to_leader(i, graph: Csr, matching: Matching, key_matching: KeyMatching,
                      active: ActiveVertices):
    """proposal[v] = leader of v's slot, -1 if of another key; mate[leader] = largest that proposes.

    A leader leads one slot and proposes to no one, so nothing else touches its mate.
    """
    v = active.listed[place_of(i, active)]
    u = kl.int32(key_matching.leader[key_matching.slot[v]] & 0x7FFFFFFF)
    if key_matching.keys[u] != key_matching.keys[v]:
        u = kl.int32(UNMATCHED)
    matching.proposal[v] = u
    if u != UNMATCHED and u != v:
        if may_pair(v, u, graph, matching):
            kl.atomic_max(matching.mate, u, v)


@kl.kernel
def pair_or_enter_next_slot(i, matching: Matching, key_matching: KeyMatching,
                            active: ActiveVertices):
    """Pair v with its leader if it took v; else enter a slot of the next round.

    A leader enters none if it has a mate, or if there was no other slot for its key.
    """
    v = active.listed[place_of(i, active)]
    n = active.vertices
    turn = active.round
    u = matching.proposal[v]
    stays = True
    if u == v:
        stays = matching.mate[v] == UNMATCHED and (
            slots_of_key(key_matching.keys[v], turn, n, key_matching) > 1)
    elif u != UNMATCHED:
        if matching.mate[u] == v:
            matching.mate[v] = u
            stays = False
    if stays:
        enter_slot(v, turn + 1, n, key_matching)
        stay_active(v, active)
