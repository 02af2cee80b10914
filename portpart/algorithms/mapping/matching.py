"""Matching by the rating w^2 / (c(u) c(v)) (M. Holtgrewe, P. Sanders, C. Schulz, IPDPS 2010).

Synchronous rounds, to maximality, as in `coarsening/matching.py`: light vertices are matched first,
so vertices of a level weigh about the same.  Ratings are IEEE operations in the same order on every
device; a seeded hash of the edge is the paper's noise that makes all ratings different.
"""

from __future__ import annotations

from portpart.algorithms.coarsening.matching import maximal_matching
from portpart.algorithms.coarsening.pairing import UNMATCHED
from portpart.backends.interface import Array
from portpart.backends.language import (
    device,
    float64,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    value_or,
)
from portpart.graphs.graph import Graph
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import LOWEST, team_winner


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
    return maximal_matching(graph, wish_for_best_rated, max_weight, seed, label)


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
    best = team_winner(best_rating, best_hash, best)
    if lane() == 0:
        wish[v] = best
