"""Two-hop matching: leaves, twins and relatives (LaSalle et al. 2015; Jet, section 3.1).

Each kind is a key on the unmatched vertices: leaves of one vertex share that vertex, twins share
their neighbours, relatives share the neighbour of least degree (their matchmaker).  Keys are
hashed, and vertices of equal keys are paired (`pairing_state.py`).
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.coarsening.active_vertices import ActiveVertices
from portpart.algorithms.coarsening.sizes import sizes_of
from portpart.algorithms.coarsening.two_hop_pairing import (
    NO_KEY,
    POSITIVE,
    UNMATCHED,
    TwoHopPairing,
    keep_weight_limit,
    pairing_records,
    record_pairing,
)
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr, degree_of
from portpart.graphs.teams import team_for
from portpart.primitives.hashing import hash_of, wrapped_sum
from portpart.primitives.scan import TILE, tiles_of

MAX_TWIN_DEGREE = 128
"""Lists longer than this are not compared: no twins there."""

UNMATCHED_SHARE = 0.25
"""Two-hop matching goes on while more than this share of the vertices is unmatched."""


class TwoHop(Record):
    """Input and state of two-hop matching.

    Attributes
    ----------
    seed : int
    max_degree : int
        Vertices of higher degree do not make relatives.
    """

    seed: int
    max_degree: int

    tiles: int = kl.word()  # tiles of vertices
    unmatched: int = kl.word()  # unmatched vertices
    too_many: int = kl.word()  # whether these are too many


def two_hop_matching(
    space: ExecutionSpace, graph: Graph, mate: Array, max_weight: int, seed: int,
    max_matchmaker_degree: int,
) -> None:
    """Pair vertices at distance two in `mate` while too many are unmatched.

    Nothing returns to the host: one program asks before each kind whether it is wanted.

    Parameters
    ----------
    mate : array of int32, shape (n,)
        A maximal matching; changed in place.
    max_weight : int
        No pair weighs more than this.
    max_matchmaker_degree : int
        Vertices of higher degree do not make relatives.
    """
    n = graph.num_vertices
    two_hop = TwoHop(seed, max_matchmaker_degree).with_words(tiles=tiles_of(n))
    records = {"graph": graph.csr, "two_hop": two_hop,
               **pairing_records(TwoHopPairing(max_weight, mate=mate), n)}
    team = team_for(graph.mean_degree)
    executable = space.cached_executable(
        ("two-hop matching", graph.type_key, team), lambda: _record(records, team))
    executable.run(records, n, sizes_of(graph))


TWO_HOP_WORK = TwoHopPairing, ActiveVertices
"""What two-hop matching works on, with the mates."""


def _record(records: dict[str, Any], team: int) -> Program:
    """Pair leaves, then twins, then relatives, as long as too many vertices are unmatched."""
    program = Program("two-hop matching")
    slots = program.declare(records)
    two_hop, vertices = slots["two_hop"], slots["active"].vertices
    _count_unmatched(program, two_hop)
    for find_key, fit in ((key_of_leaf, keep_weight_limit), (key_of_twin, are_twins),
                          (key_of_relative, keep_weight_limit)):
        with program.if_nonzero(two_hop.too_many):
            program.launch(vertices, find_key, team=team)
            record_pairing(program, fit)
            _count_unmatched(program, two_hop)
    return program


def _count_unmatched(program: Program, two_hop: TwoHop) -> None:
    program.launch(two_hop.tiles, count_unmatched, team=256)
    program.launch(1, check_unmatched_share)


@kl.kernel
def count_unmatched(tile, pairing_state: TwoHopPairing, active: ActiveVertices, two_hop: TwoHop):
    """Add the unmatched vertices of the tile to their number; atomic, independent of order."""
    count = kl.int64(0)
    for v in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, active.vertices),
                   kl.team_size()):
        if pairing_state.mate[v] == UNMATCHED:
            count += 1
    count = kl.team_sum(count)
    if kl.lane() == 0:
        kl.atomic_add(two_hop, TwoHop.unmatched, count)


@kl.kernel
def check_unmatched_share(_, active: ActiveVertices, two_hop: TwoHop):
    """Too many vertices are unmatched if it is more than a quarter; set up the next count."""
    two_hop.too_many = two_hop.unmatched > UNMATCHED_SHARE * active.vertices
    two_hop.unmatched = 0


@kl.kernel
def key_of_leaf(v, graph: Csr, pairing_state: TwoHopPairing, two_hop: TwoHop):
    """Key of an unmatched vertex of degree one: its neighbour; of degree zero: one for all."""
    degree = degree_of(v, graph)
    if kl.lane() == 0:
        pairing_state.keys[v] = NO_KEY
        if pairing_state.mate[v] == UNMATCHED and degree == 0:
            pairing_state.keys[v] = POSITIVE
        if pairing_state.mate[v] == UNMATCHED and degree == 1:
            pairing_state.keys[v] = hash_of(graph.targets[graph.begin[v]], two_hop.seed) & POSITIVE


@kl.kernel
def key_of_twin(v, graph: Csr, pairing_state: TwoHopPairing, two_hop: TwoHop):
    """Key of an unmatched vertex: an independent of order digest of its neighbours."""
    seeks = pairing_state.mate[v] == UNMATCHED and degree_of(v, graph) <= MAX_TWIN_DEGREE
    digest = kl.int64(0)
    if seeks:
        for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            digest = wrapped_sum(digest, hash_of(graph.targets[arc], two_hop.seed))
    digest = kl.team_sum(digest)
    if kl.lane() == 0:
        pairing_state.keys[v] = NO_KEY
        if seeks:
            pairing_state.keys[v] = digest & POSITIVE


@kl.kernel
def key_of_relative(v, graph: Csr, pairing_state: TwoHopPairing, two_hop: TwoHop):
    """Key of an unmatched vertex: its matchmaker, the neighbour of least degree."""
    min_key = kl.int64(POSITIVE)
    if pairing_state.mate[v] == UNMATCHED:
        for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            u = graph.targets[arc]
            degree = degree_of(u, graph)
            if degree <= two_hop.max_degree:
                min_key = min(min_key, (degree << 32) | kl.int64(u))
    min_key = kl.team_min(min_key)
    if kl.lane() == 0:
        pairing_state.keys[v] = NO_KEY
        if min_key != POSITIVE:
            pairing_state.keys[v] = hash_of(min_key, two_hop.seed) & POSITIVE


@kl.device
def is_neighbour(w, u, graph: Csr):
    """Whether w is among the neighbours of u."""
    found = False
    for arc in range(graph.begin[u], graph.end[u]):
        if graph.targets[arc] == w:
            found = True
            break
    return found


@kl.device
def are_twins(v, u, graph: Csr, max_weight):
    """Whether v and u keep the weight limit and their lists of neighbours really are equal."""
    same = keep_weight_limit(v, u, graph, max_weight)
    if degree_of(v, graph) != degree_of(u, graph):
        same = False
    if same:
        for arc in range(graph.begin[v], graph.end[v]):
            if not is_neighbour(graph.targets[arc], u, graph):
                same = False
                break
    return same
