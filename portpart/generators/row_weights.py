"""Weights of arcs and vertices from hashes: equal for both directions of an edge."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.generators.vertex_order import VertexOrder, vertex_at
from portpart.primitives.hashing import hash_of


def arc_weights(space: ExecutionSpace, first: int, order: VertexOrder, rows: tuple[Array, Array],
                seed: int, max_weight: int) -> Array:
    """Weights from 1 to `max_weight` of the arcs of rows: their offsets and targets."""
    offsets, targets = rows
    weights = space.empty(len(targets), np.int32)
    space.parallel_for(len(offsets) - 1, weigh_row, first, order, offsets, targets, seed,
                       max_weight, weights)
    return weights


def weights_of_vertices(space: ExecutionSpace, first: int, last: int, order: VertexOrder, seed: int,
                        max_weight: int) -> Array:
    """Weights from 1 to `max_weight` of the vertices at places ``first <= place < last``."""
    weights = space.empty(last - first, np.int64)
    space.parallel_for(last - first, weigh_vertex, first, order, seed, max_weight, weights)
    return weights


@kl.device
def weight_of(hashed, max_weight):
    """A weight from 1 to max_weight."""
    return 1 + (hashed & 0x7FFFFFFF) % max_weight


@kl.kernel
def weigh_vertex(i, first, order: VertexOrder, seed, max_weight, weights):
    """weights[i] = weight of the vertex at place first + i."""
    weights[i] = weight_of(hash_of(vertex_at(first + i, order), seed), max_weight)


@kl.kernel
def weigh_row(i, first, order: VertexOrder, offsets, targets, seed, max_weight, weights):
    """Write the weights of the arcs of the vertex at place first + i."""
    v = vertex_at(first + i, order)
    for arc in range(offsets[i], offsets[i + 1]):
        u = vertex_at(targets[arc], order)
        inner = hash_of(min(u, v), seed)
        weights[arc] = weight_of(hash_of(max(u, v), inner), max_weight)
