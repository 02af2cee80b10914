"""Weights and orders of vertices that are computed from hashes and need no memory."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives import hash_of

# Permutations of vertices without memory: a Feistel network with cycle walking -----------------
#
# Four rounds permute the numbers of an even number of bits (Luby, Rackoff, SIAM J. Computing 17
# (1988) 373-386).  A result beyond the vertices is permuted again until it is a vertex (Black,
# Rogaway, CT-RSA 2002), less than four times on average.


ROUNDS = 4
FORWARD, BACK = False, True


class VertexOrder(kl.Record):
    """A permutation of the vertices.

    Attributes
    ----------
    num_vertices : int
    half_bits : int
        Half of the bits of permuted numbers; 0 for the original order.
    seed : int
    """

    num_vertices: int
    half_bits: int
    seed: int


def vertex_order(num_vertices: int, seed: int | None) -> VertexOrder:
    """Return the permutation of a seed; None is the original order."""
    bits = 0 if seed is None else max(0, num_vertices - 1).bit_length()
    return VertexOrder(num_vertices, (bits + 1) // 2, 0 if seed is None else seed)


@kl.device
def permuted(number, order: VertexOrder, back: kl.StaticValue):
    """Return the place of a vertex in the order, or the vertex at a place."""
    result = kl.int64(number)
    if order.half_bits > 0:
        result = mixed(result, order, back)
        while result >= order.num_vertices:
            result = mixed(result, order, back)
    return result


@kl.device
def place_of(v, order: VertexOrder):
    """Return the place of vertex v in the order."""
    return permuted(v, order, FORWARD)


@kl.device
def vertex_at(place, order: VertexOrder):
    """Return the vertex at a place of the order."""
    return permuted(place, order, BACK)


@kl.device
def round_bits(half, step, order: VertexOrder):
    """Return the bits of a round for one half of a number, from the other half."""
    return hash_of(half * ROUNDS + step, order.seed) & ((kl.int64(1) << order.half_bits) - 1)


@kl.device
def mixed(number, order: VertexOrder, back: kl.StaticValue):
    """Return the number after all rounds, or before them."""
    left = number >> order.half_bits
    right = number & ((kl.int64(1) << order.half_bits) - 1)
    for step in range(ROUNDS):
        if back:
            other = right ^ round_bits(left, ROUNDS - 1 - step, order)
            right = left
            left = other
        else:
            other = left ^ round_bits(right, step, order)
            left = right
            right = other
    return (left << order.half_bits) | right


# Weights of arcs and vertices from hashes: equal for both directions of an edge ----------------


def arc_weights(space: ExecutionSpace, first: int, order: VertexOrder, rows: tuple[Array, Array],
                seed: int, max_weight: int) -> Array:
    """Return weights from 1 to `max_weight` of the arcs of rows, given by offsets and targets."""
    offsets, targets = rows
    weights = space.empty(len(targets), np.int32)
    space.parallel_for(len(offsets) - 1, weigh_row, first, order, offsets, targets, seed,
                       max_weight, weights)
    return weights


def weights_of_vertices(space: ExecutionSpace, first: int, last: int, order: VertexOrder, seed: int,
                        max_weight: int) -> Array:
    """Return weights from 1 to `max_weight` of the vertices at places ``first <= place < last``."""
    weights = space.empty(last - first, np.int64)
    space.parallel_for(last - first, weigh_vertex, first, order, seed, max_weight, weights)
    return weights


@kl.device
def weight_of(hashed, max_weight):
    """Return a weight from 1 to max_weight."""
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
