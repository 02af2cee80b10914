"""Two-hop matching: twins and relatives (LaSalle et al. 2015; Jet, section 3.1).

Each kind has a key for unmatched vertices.  Twins share all neighbours, so leaves of one vertex are
twins.  Relatives share the neighbour of least degree, their matchmaker.  Unmatched vertices are
sorted by hashed keys and then by id, and consecutive vertices of equal key become pairs if they
may.  The key of twins is a digest of 63 bits; lists of neighbours are not compared.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.clusters import Numbering, first_alike
from portpart.algorithms.coarsening.proposals import Proposals, cluster_capacity, may_join
from portpart.backends import language as kl
from portpart.backends.programs import Array, Program
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
NO_KEY = -1

MAX_TWIN_DEGREE = 128
"""Vertices of higher degree have no twins."""

UNMATCHED_SHARE = 0.25
"""Two-hop matching continues while more than this share of the vertices is unmatched."""

FEW, BITS_OF_FEW, BITS = 2**16, 2**24 - 1, 2**32 - 1
"""Keys of few vertices are sorted by 24 bits, others by 32.  Different keys rarely agree in these
bits; if they do, some pairs may be missed."""


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
        Their keys: a hash in 0 ... 2^63-1, or -1 for a vertex without a key; scratch.
    """

    max_degree: int
    sorting: SortArrays
    mate: Array = kl.absent()
    listed: Array = kl.absent()
    other_list: Array = kl.absent()
    keys: Array = kl.work(np.int64, "vertices")
    other_keys: Array = kl.work(np.int64, "vertices")

    unmatched: int = kl.word()  # unmatched vertices
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
    _number_unmatched(program)
    for key in (twin, relative):
        with program.if_nonzero(two_hop.too_many):
            program.launch(program.find("numbering", Numbering).vertices, list_unmatched)
            program.launch(two_hop.unmatched, find_key, team=team, key_of=key)
            record_pairing(program)
            _number_unmatched(program)


def record_pairing(program: Program) -> None:
    """Record that listed vertices of equal keys are paired; words have their number."""
    two_hop = program.find("two_hop", TwoHop)
    record_sort(program, two_hop.sorting, SortSlots(two_hop.keys, two_hop.listed,
                                                    two_hop.other_keys, two_hop.other_list))
    program.launch(two_hop.unmatched, pair_in_row)


def _number_unmatched(program: Program) -> None:
    found = program.find("numbering", Numbering)
    program.launch(found.vertices, flag_unmatched)
    record_scan(program, found.flags, found.number, found.tile_sums, found.vertices, found.tiles)
    program.launch(1, check_unmatched_share)


@kl.kernel
def flag_unmatched(v, numbering: Numbering, two_hop: TwoHop):
    """flags[v] = whether v is unmatched."""
    numbering.flags[v] = two_hop.mate[v] == UNMATCHED


@kl.kernel
def check_unmatched_share(_, numbering: Numbering, two_hop: TwoHop):
    """Store whether more than a quarter of the vertices is unmatched; prepare sorting them."""
    two_hop.unmatched = numbering.number[numbering.vertices]
    two_hop.too_many = two_hop.unmatched > UNMATCHED_SHARE * numbering.vertices
    two_hop.sorted_bits = BITS_OF_FEW if two_hop.unmatched < FEW else BITS
    set_keys(two_hop.unmatched, two_hop.sorted_bits, two_hop.sorting.words)


@kl.kernel
def list_unmatched(v, numbering: Numbering, two_hop: TwoHop):
    """List v if it is unmatched; the list is in the order of ids."""
    if numbering.flags[v] != 0:
        two_hop.listed[numbering.number[v]] = kl.int32(v)


@kl.kernel
def find_key(i, graph: Csr, matching: Proposals, two_hop: TwoHop, key_of: kl.StaticValue):
    """Store the key of a listed vertex, which also depends on its label."""
    v = two_hop.listed[i]
    key = key_of(v, graph, matching.seed, two_hop.max_degree)
    if key != NO_KEY:
        key = (key ^ (kl.int64(kl.value_or(matching.label, v, 0)) << 31)) & HIGHEST
    if kl.lane() == 0:
        two_hop.keys[i] = key


@kl.kernel
def pair_in_row(i, graph: Csr, matching: Proposals, two_hop: TwoHop):
    """Pair the first, third, ... vertex of a key with the next one, if they may form a pair."""
    key = two_hop.keys[i]
    place = i - first_alike(i, two_hop.keys, two_hop.sorted_bits)
    if place & 1 == 0 and key != NO_KEY and i + 1 < two_hop.unmatched:
        if two_hop.keys[i + 1] == key:
            v = two_hop.listed[i]
            u = two_hop.listed[i + 1]
            if may_join(v, u, v, cluster_capacity(v, graph, matching), graph, matching):
                two_hop.mate[v] = u
                two_hop.mate[u] = v


@kl.device
def twin(v, graph: Csr, seed, max_degree):
    """Return a digest of v's neighbours that does not depend on their order."""
    digest = kl.int64(0)
    is_short = degree_of(v, graph) <= MAX_TWIN_DEGREE
    if is_short:
        for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            digest = wrapped_sum(digest, hash_of(graph.targets[arc], seed))
    digest = kl.team_sum(digest)
    return digest & HIGHEST if is_short else kl.int64(NO_KEY)


@kl.device
def relative(v, graph: Csr, seed, max_degree):
    """Return a hash of v's matchmaker, the neighbour of least degree."""
    min_key = kl.int64(HIGHEST)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        degree = degree_of(u, graph)
        if degree <= max_degree:
            min_key = min(min_key, (degree << 32) | kl.int64(u))
    min_key = kl.team_min(min_key)
    return kl.int64(NO_KEY) if min_key == HIGHEST else hash_of(min_key, seed) & HIGHEST
