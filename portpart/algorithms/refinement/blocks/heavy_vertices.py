"""Vertices that are heavy for a block stay while others move around them.

A block has barely ever room for such a vertex, a macro among the cells of a circuit, say.  Where it
gains, propagation would move it all the same, and rebalancing would move it on: of the partitions
in between none is balanced.  Other vertices are placed around it instead.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.rows import Csr
from portpart.graphs.structure import Structure
from portpart.primitives.reduce import max_of

SHARE = 16
"""A heavy vertex weighs more than 1 / SHARE of what a block may weigh,"""

MANY_MEANS = 2
"""and more than this many mean vertices."""

NONE = -1


def has_heavy(graph: Structure, balance: Balance) -> bool:
    """Whether a vertex may be heavy for some block.  Waits for the device."""
    if graph.vertex_weights is None:
        return False
    return SHARE * max_of(graph.space, graph.vertex_weights) > int(balance.limits.min())


def heavy_weights(graph: Structure, min_limit: int) -> Array:
    """The weight of each vertex that is heavy for a block of this limit; 0 for others."""
    heavy = graph.space.empty(graph.num_vertices, np.int64)
    graph.space.parallel_for(graph.num_vertices, weigh_heavy, graph.csr,
                             max_light(graph, min_limit), heavy)
    return heavy


def max_light(graph: Structure, min_limit: int) -> int:
    """Most that a vertex weighs which is not heavy for a block of this limit."""
    whole = graph.whole
    mean = MANY_MEANS * whole.total_vertex_weight // max(1, whole.num_vertices)
    return max(mean, min_limit // SHARE)


def with_heavy(graph: Structure, part: Array, limits: Array, min_limit: int,
               fixed: Array | None) -> Array:
    """The block of each vertex that is fixed, or heavy if those of its block fit there; else -1.

    Parameters
    ----------
    part : array of int32
    limits : array of int64, shape (k,)
    min_limit : int
        The lowest of them.
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more are fixed.
    """
    space, n = graph.space, graph.num_vertices
    light, weights = max_light(graph, min_limit), space.zeros(len(limits), np.int64)
    space.parallel_for(n, add_heavy, graph.csr, light, part, weights)
    held = space.empty(n, np.int32)
    space.parallel_for(n, hold_vertex, graph.csr, light, part, weights, limits, fixed, held)
    return held


@kl.kernel
def weigh_heavy(v, graph: Csr, light, heavy):
    """heavy[v] = the weight of v, if it is more than that of a light vertex."""
    weight = kl.value_or(graph.vertex_weights, v, 1)
    heavy[v] = weight if weight > light else kl.int64(0)


@kl.kernel
def add_heavy(v, graph: Csr, light, part, block_weights):
    """Add a heavy vertex, of which there are few, to what its block has of those; independent of
    order.
    """
    weight = kl.value_or(graph.vertex_weights, v, 1)
    if weight > light:
        kl.atomic_add(block_weights, part[v], weight)


@kl.kernel
def hold_vertex(v, graph: Csr, light, part, block_weights, limits, fixed, held):
    """held[v] = the block in which v stays, if it does."""
    block = part[v]
    heavy = kl.value_or(graph.vertex_weights, v, 1) > light
    stays = heavy and block_weights[block] <= limits[block]
    held[v] = block if stays or kl.value_or(fixed, v, NONE) != NONE else kl.int32(NONE)
