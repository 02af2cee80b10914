"""Matching by the rating w^2 / (c(u) c(v)) (M. Holtgrewe, P. Sanders, C. Schulz, IPDPS 2010).

Synchronous rounds, to maximality, as in `coarsening/matching.py`: light vertices are matched first,
so vertices of a level weigh about the same.  Ratings are IEEE operations in the same order on every
device; a seeded hash of the edge is the paper's noise that makes all ratings different.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.matching import begin_matching, match_mutual_wishes, reset_size
from portpart.algorithms.teams import team_for
from portpart.backends.interface import Array
from portpart.backends.language import (
    device,
    float64,
    int32,
    int64,
    kernel,
    lane,
    team_max,
    team_size,
    value_or,
)
from portpart.backends.program import Program
from portpart.graph import Graph
from portpart.primitives.hashing import pair_hash

UNMATCHED = -1
LOWEST = -(2**63)


def rated_matching(graph: Graph, max_weight: int, seed: int, label: Array | None = None) -> Array:
    """Maximal matching that prefers edges of high rating.

    Parameters
    ----------
    graph : Graph
    max_weight : int
        No pair weighs more than this.
    seed : int
        Decides between equal ratings.
    label : array of int32, shape (n,), optional
        Only vertices of equal label are matched.

    Returns
    -------
    array of int32, shape (n,)
        The partner of each vertex, or -1.
    """
    space, n = graph.space, graph.num_vertices
    mate = space.empty(n, np.int32)
    bindings = {
        **graph.arrays,
        "label": label, "mate": mate, "wish": n, "list_a": n, "list_b": n, "sizes": (n, 0, n),
        "max_weight": max_weight, "seed": seed,
    }
    team = team_for(graph.mean_degree)
    labelled = label is not None
    key = ("rated matching", graph.type_key, labelled, team)
    space.cached_executable(key, lambda: _record(graph, labelled, team)).run(bindings, n)
    return mate


def _record(graph: Graph, labelled: bool, team: int) -> Program:
    """Rounds in pairs: the second works on the list that the first has left, and back."""
    program = Program("rated matching")
    csr = graph.declare(program)
    label = program.array("label", np.int32 if labelled else None)
    mate, wish = program.array("mate", np.int32), program.scratch("wish", np.int32)
    lists = program.scratch("list_a", np.int32), program.scratch("list_b", np.int32)
    sizes = program.words("sizes", 3)
    max_weight, seed = program.scalar("max_weight"), program.scalar("seed")
    program.parallel_for(sizes[2], begin_matching, mate, lists[0])
    with program.while_loop(sizes[0]):
        for here in (0, 1):
            there = 1 - here
            program.parallel_for(1, reset_size, sizes, there)
            program.parallel_for(sizes[here], wish_for_best_rated, lists[here], *csr, label, mate,
                                 wish, max_weight, seed, team=team)
            program.parallel_for(sizes[here], match_mutual_wishes, lists[here], wish, mate,
                                 lists[there], sizes, there)
    return program


@device
def rating(weight, own, other):
    """Rating of an edge between vertices of these weights, the same from both ends."""
    heavy = float64(max(int64(1), own)) * float64(max(int64(1), other))
    return float64(weight) * float64(weight) / heavy


@kernel
def wish_for_best_rated(
    i, active, offsets, targets, weights, vertex_weights, label, mate, wish, max_weight, seed
):
    """wish[v] = unmatched neighbour across the best edge that keeps the weight limit."""
    v = active[i]
    own = value_or(vertex_weights, v, 1)
    best_rating = float64(-1)
    best_hash = int64(LOWEST)
    best = int32(UNMATCHED)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        other = value_or(vertex_weights, u, 1)
        if mate[u] == UNMATCHED and own + other <= max_weight:
            if value_or(label, u, 0) == value_or(label, v, 0):
                rated = rating(value_or(weights, arc, 1), own, other)
                hashed = pair_hash(u, v, seed)
                if rated > best_rating or (rated == best_rating and hashed > best_hash):
                    best_rating = rated
                    best_hash = hashed
                    best = u
    top = team_max(best_rating)
    own_hash = int64(LOWEST)
    if best_rating == top:
        own_hash = best_hash
    top_hash = team_max(own_hash)
    if best_rating != top or best_hash != top_hash:
        best = int32(UNMATCHED)
    best = team_max(best)
    if lane() == 0:
        wish[v] = best
