"""Two-hop matching: leaves, twins and relatives (LaSalle et al. 2015; Jet, section 3.1).

Each kind is a key on the unmatched vertices: leaves of one vertex share that vertex, twins share
their neighbours, relatives share the neighbour of least degree (their matchmaker).  Keys are
hashed, and vertices of equal keys are paired (`key_matching.py`).  The key of twins is a digest of
63 bits; lists of neighbours are not compared.
"""

from __future__ import annotations

from portpart.algorithms.coarsening.key_matching import (
    NO_KEY,
    POSITIVE,
    UNMATCHED,
    ActiveVertices,
    KeyMatching,
    Matching,
    record_pairing,
)
from portpart.backends import language as kl
from portpart.backends.programs import Program
from portpart.graphs import Csr, degree_of
from portpart.primitives import SCAN_TILE, hash_of, wrapped_sum

MAX_TWIN_DEGREE = 128
"""Lists longer than this are not compared: no twins there."""

UNMATCHED_SHARE = 0.25
"""Two-hop matching goes on while more than this share of the vertices is unmatched."""


def record_two_hop(program: Program, team: int) -> None:
    """Record that leaves, then twins, then relatives are paired, while too many are unmatched.

    Parameters
    ----------
    program : Program
        With the records ``graph``, ``matching``, ``key_matching`` and ``active``.  It asks before
        each kind whether that is wanted.
    """
    key_matching = program.find("key_matching", KeyMatching)
    vertices = program.find("active", ActiveVertices).vertices
    _count_unmatched(program, key_matching)
    for key in (leaf, twin, relative):
        with program.if_nonzero(key_matching.too_many):
            program.launch(vertices, find_key, team=team, key_of=key)
            record_pairing(program)
            _count_unmatched(program, key_matching)


def _count_unmatched(program: Program, key_matching: KeyMatching) -> None:
    program.launch(key_matching.tiles, count_unmatched, team=256)
    program.launch(1, check_unmatched_share)


@kl.kernel
def count_unmatched(tile, matching: Matching, active: ActiveVertices, key_matching: KeyMatching):
    """Add the unmatched vertices of the tile to their number; atomic, independent of order."""
    count = kl.int64(0)
    for v in range(tile * SCAN_TILE + kl.lane(), min((tile + 1) * SCAN_TILE, active.vertices),
                   kl.team_size()):
        if matching.mate[v] == UNMATCHED:
            count += 1
    count = kl.team_sum(count)
    if kl.lane() == 0:
        kl.atomic_add(key_matching, KeyMatching.unmatched, count)


@kl.kernel
def check_unmatched_share(_, active: ActiveVertices, key_matching: KeyMatching):
    """Too many vertices are unmatched if it is more than a quarter; set up the next count."""
    key_matching.too_many = key_matching.unmatched > UNMATCHED_SHARE * active.vertices
    key_matching.unmatched = 0


@kl.kernel
def find_key(v, graph: Csr, matching: Matching, key_matching: KeyMatching, key_of: kl.StaticValue):
    """Key of an unmatched vertex; of those of other labels another one."""
    key = kl.int64(NO_KEY)
    if matching.mate[v] == UNMATCHED:
        key = key_of(v, graph, matching.seed, key_matching.max_degree)
    if key != NO_KEY:
        key = (key ^ (kl.int64(kl.value_or(matching.label, v, 0)) << 31)) & POSITIVE
    if kl.lane() == 0:
        key_matching.keys[v] = key


@kl.device
def leaf(v, graph: Csr, seed, max_degree):
    """Of a vertex of degree one its neighbour; of degree zero one key for all."""
    key = kl.int64(NO_KEY)
    degree = degree_of(v, graph)
    if degree == 0:
        key = kl.int64(POSITIVE)
    elif degree == 1:
        key = hash_of(graph.targets[graph.begin[v]], seed) & POSITIVE
    return key


@kl.device
def twin(v, graph: Csr, seed, max_degree):
    """A digest of v's neighbours that does not depend on their order."""
    digest = kl.int64(0)
    is_short = degree_of(v, graph) <= MAX_TWIN_DEGREE
    if is_short:
        for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            digest = wrapped_sum(digest, hash_of(graph.targets[arc], seed))
    digest = kl.team_sum(digest)
    return digest & POSITIVE if is_short else kl.int64(NO_KEY)


@kl.device
def relative(v, graph: Csr, seed, max_degree):
    """V's matchmaker, the neighbour of least degree."""
    min_key = kl.int64(POSITIVE)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        degree = degree_of(u, graph)
        if degree <= max_degree:
            min_key = min(min_key, (degree << 32) | kl.int64(u))
    min_key = kl.team_min(min_key)
    return kl.int64(NO_KEY) if min_key == POSITIVE else hash_of(min_key, seed) & POSITIVE
