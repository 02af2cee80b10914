"""Two-hop matching: leaves, twins and relatives (LaSalle et al. 2015; Jet, section 3.1).

Each kind is a key on the unmatched vertices: leaves of one vertex share that vertex, twins share
their neighbours, relatives share the neighbour of least degree (their matchmaker).  Keys are
hashed, and vertices of equal keys are paired (`pairing.py`).
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.pairing import (
    NO_KEY,
    POSITIVE,
    UNMATCHED,
    declare_pairing,
    keep_weight_limit,
    pairing_bindings,
    record_pairing,
)
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    atomic_add,
    device,
    int64,
    kernel,
    lane,
    team_min,
    team_size,
    team_sum,
)
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for
from portpart.primitives.hashing import hash_of, wrapped_sum
from portpart.primitives.scan import TILE, tiles_of

MAX_TWIN_DEGREE = 128
"""Lists longer than this are not compared: no twins there."""

UNMATCHED_SHARE = 0.25
"""Two-hop matching goes on while more than this share of the vertices is unmatched."""

VERTICES, TILES, SINGLE, TOO_MANY = range(4)
"""Words of the array ``sizes``: numbers of vertices, of tiles of them, of unmatched vertices, and
whether these are too many."""


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
    bindings = {
        **graph.arrays,
        **pairing_bindings(n),
        "keys": n,
        "mate": mate,
        "sizes": (n, tiles_of(n), 0, 0),
        "max_weight": max_weight, "max_degree": max_matchmaker_degree, "seed": seed,
    }
    team = team_for(graph.mean_degree)
    key = ("two-hop matching", graph.type_key, team)
    space.cached_executable(key, lambda: _record(graph, team)).run(bindings, n)


def _record(graph: Graph, team: int) -> Program:
    """Pair leaves, then twins, then relatives, as long as too many vertices are unmatched."""
    program = Program("two-hop matching")
    graph.declare(program)
    declare_pairing(program)
    program.scratch("keys", np.int64)
    program.array("mate", np.int32)
    sizes = program.words("sizes", 4)
    for name in ("max_weight", "max_degree", "seed"):
        program.scalar(name)
    _count_unmatched(program)
    for find_key, fit in ((key_of_leaf, keep_weight_limit), (key_of_twin, are_twins),
                          (key_of_relative, keep_weight_limit)):
        with program.if_nonzero(sizes[TOO_MANY]):
            program.launch(sizes[VERTICES], find_key, team=team)
            record_pairing(program, fit)
            _count_unmatched(program)
    return program


def _count_unmatched(program: Program) -> None:
    program.launch(program.slots["sizes"][TILES], count_unmatched, team=256)
    program.launch(1, judge_share)


@kernel
def count_unmatched(tile, mate, sizes):
    """Add the unmatched vertices of the tile to their number; atomic, order-free."""
    count = int64(0)
    for v in range(tile * TILE + lane(), min((tile + 1) * TILE, sizes[VERTICES]), team_size()):
        if mate[v] == UNMATCHED:
            count += 1
    count = team_sum(count)
    if lane() == 0:
        atomic_add(sizes, SINGLE, count)


@kernel
def judge_share(_, sizes):
    """Too many vertices are unmatched if it is more than a quarter; set up the next count."""
    sizes[TOO_MANY] = sizes[SINGLE] > UNMATCHED_SHARE * sizes[VERTICES]
    sizes[SINGLE] = 0


@kernel
def key_of_leaf(v, offsets, targets, mate, seed, keys):
    """Key of an unmatched vertex of degree one: its neighbour; of degree zero: one for all."""
    degree = int64(offsets[v + 1]) - int64(offsets[v])
    if lane() == 0:
        keys[v] = NO_KEY
        if mate[v] == UNMATCHED and degree == 0:
            keys[v] = POSITIVE
        if mate[v] == UNMATCHED and degree == 1:
            keys[v] = hash_of(targets[offsets[v]], seed) & POSITIVE


@kernel
def key_of_twin(v, offsets, targets, mate, seed, keys):
    """Key of an unmatched vertex: an order-free digest of its neighbours."""
    degree = int64(offsets[v + 1]) - int64(offsets[v])
    digest = int64(0)
    if mate[v] == UNMATCHED and degree <= MAX_TWIN_DEGREE:
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            digest = wrapped_sum(digest, hash_of(targets[arc], seed))
    digest = team_sum(digest)
    if lane() == 0:
        keys[v] = NO_KEY
        if mate[v] == UNMATCHED and degree <= MAX_TWIN_DEGREE:
            keys[v] = digest & POSITIVE


@kernel
def key_of_relative(v, offsets, targets, mate, max_degree, seed, keys):
    """Key of an unmatched vertex: its matchmaker, the neighbour of least degree."""
    least = int64(POSITIVE)
    if mate[v] == UNMATCHED:
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            u = targets[arc]
            degree = int64(offsets[u + 1]) - int64(offsets[u])
            if degree <= max_degree:
                least = min(least, (degree << 32) | int64(u))
    least = team_min(least)
    if lane() == 0:
        keys[v] = NO_KEY
        if least != POSITIVE:
            keys[v] = hash_of(least, seed) & POSITIVE


@device
def is_neighbour(w, u, offsets, targets):
    """Whether w is among the neighbours of u."""
    found = False
    for arc in range(offsets[u], offsets[u + 1]):
        if targets[arc] == w:
            found = True
            break
    return found


@device
def are_twins(v, u, offsets, targets, vertex_weights, max_weight):
    """Whether v and u keep the weight limit and their lists of neighbours really are equal."""
    same = keep_weight_limit(v, u, offsets, targets, vertex_weights, max_weight)
    if int64(offsets[v + 1]) - offsets[v] != int64(offsets[u + 1]) - offsets[u]:
        same = False
    if same:
        for arc in range(offsets[v], offsets[v + 1]):
            if not is_neighbour(targets[arc], u, offsets, targets):
                same = False
                break
    return same
