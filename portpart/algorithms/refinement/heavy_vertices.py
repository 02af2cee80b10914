"""Vertices that are heavy for a block stay while others move around them.

A block has hardly ever room for such a vertex, a macro among the cells of a circuit, say.  Where it
gains, propagation would move it all the same, and rebalancing would move it on: of the partitions
in between none is balanced.  Other vertices are placed around it instead.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.backends.interface import Array
from portpart.backends.language import int32, int64, kernel, value_or
from portpart.graphs.rows import Csr
from portpart.graphs.structure import Structure
from portpart.primitives.histogram import histogram
from portpart.primitives.reduce import max_of

SHARE = 16
"""A heavy vertex weighs more than 1 / SHARE of what a block may weigh,"""

MANY_MEANS = 2
"""and more than so many mean vertices."""

NONE = -1


def has_heavy(graph: Structure, balance: Balance) -> bool:
    """Whether a vertex may be heavy for some block.  Synchronises."""
    if graph.vertex_weights is None:
        return False
    return SHARE * max_of(graph.space, graph.vertex_weights) > int(balance.limits.min())


def heavy_weights(graph: Structure, limits: np.ndarray) -> Array:
    """The weight of each vertex that is heavy for the block of the lowest limit; 0 for others."""
    space, n = graph.space, graph.num_vertices
    heavy, light = space.empty(n, np.int64), MANY_MEANS * graph.total_vertex_weight // max(1, n)
    space.parallel_for(n, weigh_heavy, graph.csr, max(light, int(limits.min()) // SHARE), heavy)
    return heavy


def with_heavy(graph: Structure, part: Array, limits: np.ndarray, fixed: Array | None) -> Array:
    """The block of each vertex that is fixed, or heavy if those of its block fit there; else -1.

    Parameters
    ----------
    part : array of int32
    limits : numpy.ndarray of int64, shape (k,)
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more are fixed.
    """
    space, n = graph.space, graph.num_vertices
    heavy = heavy_weights(graph, limits)
    weights = histogram(space, part[:n], len(limits), heavy)
    held = space.empty(n, np.int32)
    space.parallel_for(n, hold_vertex, part, heavy, weights, space.asarray(limits), fixed, held)
    return held


@kernel
def weigh_heavy(v, graph: Csr, light, heavy):
    """heavy[v] = the weight of v, if it is more than that of a light vertex."""
    weight = value_or(graph.vertex_weights, v, 1)
    heavy[v] = weight if weight > light else int64(0)


@kernel
def hold_vertex(v, part, heavy, block_weights, limits, fixed, held):
    """held[v] = the block in which v stays, if it does."""
    block = part[v]
    stays = heavy[v] > 0 and block_weights[block] <= limits[block]
    held[v] = block if stays or value_or(fixed, v, NONE) != NONE else int32(NONE)
