"""Two-hop matching: leaves, twins and relatives (LaSalle et al. 2015; Jet, section 3.1).

Each kind is a key on the unmatched vertices: leaves of one vertex share that vertex, twins share a
digest of their neighbours, relatives share the neighbour of least degree (their matchmaker).
Vertices of one key, in the order of their ids, are paired two by two.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.contraction import Clusters, clusters_of_matching
from portpart.algorithms.teams import team_for
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Kernel,
    device,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_min,
    team_size,
    team_sum,
    value_or,
)
from portpart.graph import Graph
from portpart.primitives.basic import gather
from portpart.primitives.hashing import hash_of, wrapped_sum
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.select import positions_of

UNMATCHED = -1
NO_KEY = -1
POSITIVE = 2**63 - 1
MAX_TWIN_DEGREE = 128
"""Lists longer than this are not compared: no twins there."""

UNMATCHED_SHARE = 0.25
"""Two-hop matching goes on while more than this share of the vertices is unmatched."""


def two_hop_matching(
    space: ExecutionSpace, graph: Graph, mate: Array, max_weight: int, seed: int,
    max_matchmaker_degree: int,
) -> Clusters:
    """Pair vertices at distance two in `mate` while too many are unmatched.

    Parameters
    ----------
    mate : array of int32, shape (n,)
        A maximal matching; changed in place.
    max_weight : int
        No pair weighs more than this.
    max_matchmaker_degree : int
        Vertices of higher degree do not make relatives.

    Returns
    -------
    Clusters
        The clusters of the matching in the end.  Numbering them tells how many vertices are
        single: one synchronisation for each time that is asked.
    """
    clusters = clusters_of_matching(space, mate)
    for find_key in (key_of_leaf, key_of_twin, key_of_relative):
        single = 2 * clusters.count - graph.num_vertices
        if single <= UNMATCHED_SHARE * graph.num_vertices:
            break
        keys = space.empty(graph.num_vertices, np.int64)
        space.parallel_for(
            graph.num_vertices, find_key, graph.offsets, graph.targets, mate,
            max_matchmaker_degree, seed, keys, team=team_for(graph.mean_degree),
        )
        pair = pair_twins if find_key is key_of_twin else pair_neighbours_in_run
        _pair_by_key(space, graph, keys, mate, max_weight, pair)
        clusters = clusters_of_matching(space, mate)
    return clusters


def _pair_by_key(space: ExecutionSpace, graph: Graph, keys: Array, mate: Array, max_weight: int,
                 pair: Kernel) -> None:
    """Sort the vertices that have a key by key, and pair those at even and odd places of a run."""
    flags = space.empty(len(keys), np.int8)
    space.parallel_for(len(keys), flag_keyed, keys, flags)
    vertices = positions_of(space, flags)
    count = len(vertices)
    ordered, order = space.sort_keys(gather(space, keys, vertices))
    vertices = gather(space, vertices, order)
    heads = space.empty(count, np.int8)
    space.parallel_for(count, flag_run_head, ordered, heads)
    runs = offsets_from_counts(space, heads, np.int32)
    starts = space.empty(count, np.int32)
    space.parallel_for(count, write_run_start, heads, runs, starts)
    space.parallel_for(count, pair, vertices, ordered, runs, starts, count, graph.offsets,
                       graph.targets, graph.vertex_weights, max_weight, mate)


@kernel
def flag_keyed(v, keys, flags):
    """flags[v] = v has a key."""
    flags[v] = int8(keys[v] != NO_KEY)


@kernel
def flag_run_head(i, ordered, heads):
    """heads[i] = a new key starts at place i."""
    heads[i] = int8(1)
    if i > 0:
        heads[i] = int8(ordered[i] != ordered[i - 1])


@kernel
def write_run_start(i, heads, runs, starts):
    """starts[r] = place of the head of run r."""
    if heads[i] != 0:
        starts[int64(runs[i])] = int32(i)


@kernel
def key_of_leaf(v, offsets, targets, mate, max_degree, seed, keys):
    """Key of an unmatched vertex of degree one: its neighbour; of degree zero: one for all."""
    degree = int64(offsets[v + 1]) - int64(offsets[v])
    if lane() == 0:
        keys[v] = NO_KEY
        if mate[v] == UNMATCHED and degree == 0:
            keys[v] = POSITIVE
        if mate[v] == UNMATCHED and degree == 1:
            keys[v] = int64(targets[offsets[v]])


@kernel
def key_of_twin(v, offsets, targets, mate, max_degree, seed, keys):
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
            keys[v] = least


@device
def partner_at(i, vertices, ordered, runs, starts, count, vertex_weights, max_weight):
    """Partner of the vertex at place i if i is place 2j of a run: the vertex at 2j + 1, or -1.

    There is none if that place is in another run or if the pair weighs too much.
    """
    partner = int32(UNMATCHED)
    if i + 1 < count:
        run = int64(runs[i + 1]) - 1
        if ordered[i + 1] == ordered[i] and (i - starts[run]) % 2 == 0:
            weight = value_or(vertex_weights, vertices[i], 1)
            if weight + value_or(vertex_weights, vertices[i + 1], 1) <= max_weight:
                partner = vertices[i + 1]
    return partner


@device
def same_neighbours(v, u, offsets, targets):
    """Whether v and u have equally many neighbours, and each one of v's is one of u's."""
    same = int64(offsets[v + 1]) - offsets[v] == int64(offsets[u + 1]) - offsets[u]
    if same:
        for arc in range(offsets[v], offsets[v + 1]):
            found = False
            for other in range(offsets[u], offsets[u + 1]):
                if targets[other] == targets[arc]:
                    found = True
                    break
            if not found:
                same = False
                break
    return same


@kernel
def pair_neighbours_in_run(i, vertices, ordered, runs, starts, count, offsets, targets,
                           vertex_weights, max_weight, mate):
    """Pair the vertices at places 2j and 2j + 1 of a run, within the weight limit."""
    u = partner_at(i, vertices, ordered, runs, starts, count, vertex_weights, max_weight)
    if u != UNMATCHED:
        mate[vertices[i]] = u
        mate[u] = vertices[i]


@kernel
def pair_twins(i, vertices, ordered, runs, starts, count, offsets, targets, vertex_weights,
               max_weight, mate):
    """Pair as `pair_neighbours_in_run` does, if the lists of neighbours really are equal."""
    u = partner_at(i, vertices, ordered, runs, starts, count, vertex_weights, max_weight)
    if u == UNMATCHED:
        return
    if same_neighbours(vertices[i], u, offsets, targets):
        mate[vertices[i]] = u
        mate[u] = vertices[i]
