"""Vertices that are heavy for a block stay while others move around them.

A block has hardly ever room for such a vertex, a macro among the cells of a circuit, say.  Where it
gains, propagation would move it all the same, and rebalancing would move it on: of the partitions
in between none is balanced.  Other vertices are placed around it instead.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.backends.interface import Array
from portpart.backends.language import int32, kernel, value_or
from portpart.graphs.rows import Csr
from portpart.graphs.structure import Structure
from portpart.primitives.histogram import histogram
from portpart.primitives.reduce import max_of

SHARE = 16
"""A heavy vertex weighs more than 1 / SHARE of the limit of its block,"""

MANY_MEANS = 2
"""and more than so many mean vertices."""

NONE = -1


def has_heavy(graph: Structure, balance: Balance) -> bool:
    """Whether a vertex may be heavy for some block.  Synchronises."""
    if graph.vertex_weights is None:
        return False
    return SHARE * max_of(graph.space, graph.vertex_weights) > int(balance.limits.min())


def with_heavy(graph: Structure, part: Array, limits: Array, fixed: Array | None) -> Array:
    """The block of each vertex that is fixed or heavy, but where the block is too heavy; else -1.

    Parameters
    ----------
    part : array of int32
    limits : array of int64, shape (k,)
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more are fixed.
    """
    space, n = graph.space, graph.num_vertices
    weights = histogram(space, part[:n], len(limits), graph.vertex_weights)
    held, light = space.empty(n, np.int32), MANY_MEANS * graph.total_vertex_weight // max(1, n)
    space.parallel_for(n, hold_vertex, graph.csr, part, weights, limits, light, fixed, held)
    return held


@kernel
def hold_vertex(v, graph: Csr, part, block_weights, limits, light, fixed, held):
    """held[v] = the block in which v stays, if it does."""
    block = part[v]
    weight = value_or(graph.vertex_weights, v, 1)
    stays = weight > light and SHARE * weight > limits[block]
    if stays:
        stays = block_weights[block] <= limits[block]
    held[v] = block if stays or value_or(fixed, v, NONE) != NONE else int32(NONE)
