"""Distances of a topology inside kernels, and values of blocks by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.objectives import connectivity
from portpart.algorithms.objectives.objective import BestTarget, BlockScore, Tables
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, Topology

# Distances of a topology inside kernels, without k x k memory for hierarchies ------------------
#
# An element of a hierarchy has a code: the digits of its place on each level, innermost lowest,
# each in separate bits.  The highest bit in which two codes differ gives the level that both share.
#
#     4:8:6    element 0   000 000 00     the highest different bit is   0 or 1: level 1 is shared
#              element 5   000 001 01                                    2 to 4: level 2
#                          |   |   bits of level 1                       5 to 7: level 3
#                          |   bits of level 2
#                          bits of level 3


MAX_COUNTED = 4096
"""With more elements, weights into all of them are not counted, and `bounds` is not needed."""


class TreeDistances(Tables):
    """Distances of a hierarchy with l levels and k elements.

    Attributes
    ----------
    codes : array of int64, shape (k,)
        The code of each element.
    apart : array of int64, shape (number of bits + 1,)
        The distance of elements whose codes differ in at most this many lowest bits.
    lengths : array of int64, shape (l + 1,)
        The distance of elements that share a level; 0 for the same element.
    bounds : array of int64, shape (2 (l + 1) k,)
        Level by level, from single elements on, the first element of the group of each element and
        the end of the group; with more than `MAX_COUNTED` elements a single 0.
    """

    codes: Array
    apart: Array
    lengths: Array
    bounds: Array


class MatrixDistances(Tables):
    """Distances of k elements by a matrix.

    Attributes
    ----------
    num_elements : int
    lengths : array of int64, shape (k * k,)
        Row by row.
    """

    num_elements: int
    lengths: Array


@dataclass(frozen=True, eq=False)
class Distances:
    """A topology in the memory of a space.

    Attributes
    ----------
    kind : str
        ``"tree"`` or ``"matrix"``: the function of `DISTANCE` that kernels use.
    tables : TreeDistances or MatrixDistances
        The last argument of that function.
    num_elements : int
    """

    kind: str
    tables: Tables
    num_elements: int


def distances_on(space: ExecutionSpace, topology: Topology) -> Distances:
    """Copy a topology to a space."""
    make = _tree if topology.is_hierarchy else _matrix
    kind = "tree" if topology.is_hierarchy else "matrix"
    return Distances(kind, make(space, topology), topology.num_elements)


def _tree(space: ExecutionSpace, topology: Topology) -> TreeDistances:
    element = np.arange(topology.num_elements)
    codes = np.zeros(len(element), np.int64)
    apart = [0]
    for size, arity, distance in zip(topology.group_sizes, topology.arities,
                                     topology.level_distances):
        codes |= element // size % arity << len(apart) - 1
        apart += (arity - 1).bit_length() * [distance]
    bounds = np.zeros(1, np.int64)
    if len(element) <= MAX_COUNTED:
        bounds = np.concatenate([
            np.stack([element // size * size, element // size * size + size], axis=1).ravel()
            for size in topology.group_sizes])
    lengths = [0, *topology.level_distances]
    return TreeDistances(topology.max_distance, *(
        space.asarray(values, np.int64) for values in (codes, apart, lengths, bounds)))


def _matrix(space: ExecutionSpace, topology: Topology) -> MatrixDistances:
    assert topology.matrix is not None
    return MatrixDistances(topology.max_distance, topology.num_elements,
                           space.asarray(topology.matrix.reshape(-1), np.int64))


@kl.device
def tree_distance(a, b, tables: TreeDistances):
    """Return the distance of elements a and b of a hierarchy."""
    return tables.apart[64 - kl.clz(kl.uint64(tables.codes[a] ^ tables.codes[b]))]


@kl.device
def matrix_distance(a, b, tables: MatrixDistances):
    """Return the distance of elements a and b by the matrix."""
    return tables.lengths[kl.int64(a) * tables.num_elements + kl.int64(b)]


DISTANCE = {"tree": tree_distance, "matrix": matrix_distance}


# Values of blocks by any distance: minus the cost of a vertex there ----------------------------
#
# With very few arcs each candidate visits these; with few, the blocks that they lead to, from a
# hash table; else the arcs again, if there is no faster way for the distance.


MAX_ALONG = 8
"""Maximum number of arcs that each candidate visits."""

FEW_SLOTS = 16
"""Number of slots of a small table, and maximum number of its arcs."""


@kl.device
def far_from_all(found: BestTarget, tables: Tables):
    """Return the value of a block that has the maximum distance from all neighbours."""
    return -(tables.max_distance * found.total)


@kl.device
def value_by_heads(block, count, v, graph: Csr, part, connections: connectivity.ConnectivityTable,
                   tables: Tables, distance: kl.StaticValue):
    """Return minus the cost of v in a block."""
    cost = kl.int64(0)
    for j in range(count):
        cost += connections.weights[j] * distance(block, connections.blocks[j], tables)
    return -cost


@kl.device
def value_by_table(block, count, v, graph: Csr, part, connections: connectivity.ConnectivityTable,
                   tables: Tables, distance: kl.StaticValue):
    """Return minus the cost of v in a block."""
    cost = kl.int64(0)
    for other in range(count):
        slot = kl.int64(connections.order[other])
        cost += connections.weights[slot] * distance(block, connections.blocks[slot], tables)
    return -cost


@kl.device
def value_along_arcs(block, count, v, graph: Csr, part, connections: connectivity.ConnectivityTable,
                     tables: Tables, distance: kl.StaticValue):
    """Return minus the cost of v in a block."""
    cost = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        there = part[graph.targets[arc]]
        cost += kl.value_or(graph.weights, arc, 1) * distance(block, there, tables)
    return -cost


@dataclass(frozen=True)
class LowDegreeByDistance:
    """A function from the maximum degree to the block score for such vertices."""

    distance: kl.DeviceFunction

    def __call__(self, max_degree: int) -> BlockScore:
        if max_degree > MAX_ALONG:
            slots = connectivity.SLOTS if max_degree > FEW_SLOTS else FEW_SLOTS
            return BlockScore(connectivity.in_table(slots),
                              value_by_table.bound(distance=self.distance))
        return BlockScore(connectivity.one_by_one(max(1, max_degree)),
                          value_by_heads.bound(distance=self.distance))


def high_degree_by_distance(distance: kl.DeviceFunction) -> BlockScore:
    """Return the score for vertices with any number of neighbours."""
    return BlockScore(connectivity.ALONG_ARCS, value_along_arcs.bound(distance=distance))
