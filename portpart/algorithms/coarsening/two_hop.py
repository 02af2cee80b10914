"""Two-hop matching: twins and relatives (LaSalle et al. 2015; Jet, section 3.1).

Twins share all neighbours, so leaves of one vertex are twins.  Relatives share the neighbour of
least degree, their matchmaker.  A key has a hash of the matchmaker, and below it a few bits of a
digest of all neighbours; a vertex without a matchmaker has the whole digest.  Unmatched vertices
are sorted by key and then by id.  Consecutive vertices of equal key become pairs if they may; then
consecutive unmatched vertices of one matchmaker do.  Lists of neighbours are not compared, so one
in 16 pairs of relatives is taken for twins.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.clusters import Numbering, first_alike
from portpart.algorithms.coarsening.proposals import Proposals, cluster_capacity, may_join
from portpart.backends import language as kl
from portpart.backends.programs import AnySlot, Array, Program
from portpart.graphs import Csr, degree_of
from portpart.primitives import (
    HIGHEST,
    SortArrays,
    SortSlots,
    hash_of,
    record_scan,
    record_sort,
    set_keys,
    wrapped_sum,
)

UNMATCHED = -1

MAX_TWIN_DEGREE = 128
"""Vertices of higher degree have no twins."""

TWIN_BITS = 4
"""The number of low bits of a key that distinguish twins from other relatives."""

UNMATCHED_SHARE = 0.25
"""Two-hop matching continues while more than this share of the vertices is unmatched."""

SPARE_BITS = 8
"""Keys are sorted by this number of bits more than the number of unmatched vertices has, rounded up
to whole bytes.  Different keys rarely agree in these bits; if they do, some pairs may be missed."""


class TwoHop(kl.Record):
    """The unmatched ones of n vertices, in the order of their keys.

    Attributes
    ----------
    max_degree : int
        Vertices of higher degree match no relatives.
    sorting : SortArrays
    mate : array of int32, shape (n,)
        The partner of each vertex, or -1.
    listed, other_list : array of int32, shape (n,) or longer
        The unmatched vertices; scratch.
    keys, other_keys : array of int64, shape (n,)
        Their keys, in 0 ... 2^63-1; scratch.
    """

    max_degree: int
    sorting: SortArrays
    mate: Array = kl.absent()
    listed: Array = kl.absent()
    other_list: Array = kl.absent()
    keys: Array = kl.work(np.int64, "vertices")
    other_keys: Array = kl.work(np.int64, "vertices")

    unmatched: int = kl.word()  # unmatched vertices; at first the number of all vertices
    too_many: int = kl.word()  # whether these are too many
    sorted_bits: int = kl.word()  # a mask: the bits of keys that are sorted by


def record_two_hop(program: Program, team: int) -> None:
    """Record that twins, then relatives are paired, while too many are unmatched.

    Parameters
    ----------
    program : Program
        With the records ``graph``, ``matching``, ``numbering`` and ``two_hop``.  It checks before
        each kind whether too many vertices are unmatched.
    """
    two_hop = program.find("two_hop", TwoHop)
    _count_unmatched(program, None)
    with program.if_nonzero(two_hop.too_many):
        program.launch(program.find("numbering", Numbering).vertices, list_unmatched, listed=None,
                       keys=None, next_list=two_hop.listed, next_keys=two_hop.keys)
        program.launch(two_hop.unmatched, find_key, team=team)
        record_pairing(program)


def record_pairing(program: Program) -> None:
    """Record that listed vertices are paired by their keys; words have their number."""
    two_hop = program.find("two_hop", TwoHop)
    record_sort(program, two_hop.sorting, SortSlots(two_hop.keys, two_hop.listed,
                                                    two_hop.other_keys, two_hop.other_list))
    program.launch(two_hop.unmatched, pair_in_row, listed=two_hop.listed, keys=two_hop.keys,
                   ignored=0)
    _count_unmatched(program, two_hop.listed)
    with program.if_nonzero(two_hop.too_many):
        program.launch(program.find("numbering", Numbering).vertices, list_unmatched,
                       listed=two_hop.listed, keys=two_hop.keys, next_list=two_hop.other_list,
                       next_keys=two_hop.other_keys)
        program.launch(two_hop.unmatched, pair_in_row, listed=two_hop.other_list,
                       keys=two_hop.other_keys, ignored=TWIN_BITS)


def _count_unmatched(program: Program, listed: AnySlot | None) -> None:
    """Record that unmatched vertices of a list, or of all, are flagged and numbered."""
    found = program.find("numbering", Numbering)
    program.launch(found.vertices, flag_unmatched, listed=listed)
    record_scan(program, found.flags, found.number, found.tile_sums, found.vertices, found.tiles)
    program.launch(1, check_unmatched_share)


@kl.kernel
def flag_unmatched(i, numbering: Numbering, two_hop: TwoHop, listed):
    """flags[i] = whether there is an i-th vertex of the list, or of all, and it is unmatched."""
    numbering.flags[i] = False
    if i < two_hop.unmatched:
        numbering.flags[i] = two_hop.mate[kl.value_or(listed, i, i)] == UNMATCHED


@kl.kernel
def check_unmatched_share(_, numbering: Numbering, two_hop: TwoHop):
    """Store whether more than a quarter of the vertices is unmatched."""
    two_hop.unmatched = numbering.number[numbering.vertices]
    two_hop.too_many = two_hop.unmatched > UNMATCHED_SHARE * numbering.vertices


@kl.kernel
def list_unmatched(i, numbering: Numbering, listed, keys, next_list, next_keys):
    """Put the i-th vertex of the list, or of all, on the next one if it is flagged, and its key."""
    if numbering.flags[i] != 0:
        next_list[numbering.number[i]] = kl.int32(kl.value_or(listed, i, i))
        next_keys[numbering.number[i]] = kl.value_or(keys, i, 0)


@kl.kernel
def find_key(i, graph: Csr, matching: Proposals, two_hop: TwoHop):
    """Store the key of a listed vertex, which also depends on its label.

    The first one also sets the bits that keys are sorted by; they do not change after that, since
    pairs of relatives rely on the same order.
    """
    v = two_hop.listed[i]
    digest = digest_of(v, graph, matching.seed)
    shared = matchmaker_hash(v, graph, matching.seed, two_hop.max_degree, digest)
    shared ^= hash_of(kl.value_or(matching.label, v, 0), matching.seed)
    if kl.lane() == 0 and i == 0:
        bits = kl.int64(2 * SPARE_BITS)
        while two_hop.unmatched >> (bits - SPARE_BITS) > 0:
            bits += 8
        two_hop.sorted_bits = (kl.int64(1) << bits) - 1
        set_keys(two_hop.unmatched, two_hop.sorted_bits, two_hop.sorting.words)
    if kl.lane() == 0:
        two_hop.keys[i] = ((shared << TWIN_BITS) | (digest & ((1 << TWIN_BITS) - 1))) & HIGHEST


@kl.kernel
def pair_in_row(i, graph: Csr, matching: Proposals, two_hop: TwoHop, listed, keys, ignored):
    """Pair the first, third, ... vertex of a key with the next one, if they may form a pair.

    The lowest `ignored` bits of keys make no difference.
    """
    place = i - first_alike(i, keys, (two_hop.sorted_bits >> ignored) << ignored)
    if (place & 1 == 0 and i + 1 < two_hop.unmatched
            and keys[i + 1] >> ignored == keys[i] >> ignored):
        v = listed[i]
        u = listed[i + 1]
        if may_join(v, u, v, cluster_capacity(v, graph, matching), graph, matching):
            two_hop.mate[v] = u
            two_hop.mate[u] = v


@kl.device
def digest_of(v, graph: Csr, seed):
    """Return a digest of v's neighbours that does not depend on their order, or a hash of v."""
    digest = kl.int64(0)
    is_short = degree_of(v, graph) <= MAX_TWIN_DEGREE
    if is_short:
        for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            digest = wrapped_sum(digest, hash_of(graph.targets[arc], seed))
    digest = kl.team_sum(digest)
    return digest if is_short else hash_of(v, seed)


@kl.device
def matchmaker_hash(v, graph: Csr, seed, max_degree, digest):
    """Return a hash of v's matchmaker, the neighbour of least degree, or v's digest if none."""
    min_key = kl.int64(HIGHEST)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        degree = degree_of(u, graph)
        if degree <= max_degree:
            min_key = min(min_key, (degree << 32) | kl.int64(u))
    min_key = kl.team_min(min_key)
    return digest if min_key == HIGHEST else hash_of(min_key, seed)
