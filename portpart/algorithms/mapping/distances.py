"""Distances of a topology inside kernels: a step a level, and no k x k memory for hierarchies.

An element of a hierarchy has a code: the digits of its place on each level, innermost lowest, each
in bits of its own.  The highest bit in which two codes differ tells the level that both share.

    4:8:6    element 0   00 000 000      codes differ from bit   0 on: distance lengths[1]
             element 5   01 001 000                              2      lengths[2]
                         |  |   level 3                          5      lengths[3]
                         |  level 2: bits 2 ... 4
                         level 1: bits 0 and 1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import device, int64
from portpart.graphs.topology import Topology

MOST_COUNTED = 4096
"""With more elements, weights into all of them are not counted, and bounds are not needed."""


@dataclass(frozen=True, eq=False)
class Distances:
    """A topology in the memory of a space.

    Attributes
    ----------
    kind : str
        ``"tree"`` or ``"matrix"``: which function of `DISTANCE` kernels have to be made with.
    arrays : dict of array of int64
        ``codes``, ``shifts`` and ``lengths``, the last arguments of such a function; and
        ``bounds``, of a hierarchy where the group of each element on each level begins and ends,
        if elements are few enough to be counted.
    longest : int
        Largest distance.
    """

    kind: str
    arrays: dict[str, Array]
    longest: int


def distances_on(space: ExecutionSpace, topology: Topology) -> Distances:
    """Bring a topology to a space."""
    make = _tree if topology.is_hierarchy else _matrix
    kind = "tree" if topology.is_hierarchy else "matrix"
    arrays = {name: space.asarray(values, np.int64) for name, values in make(topology).items()}
    return Distances(kind, arrays, topology.max_distance)


def _tree(topology: Topology) -> dict[str, np.ndarray]:
    """Codes of all elements, the bits below each level, the distance of each level, and bounds.

    These are, level by level, the first element of the group of each element and the end of it.
    """
    element = np.arange(topology.num_elements)
    codes = np.zeros(len(element), np.int64)
    shifts = [0]
    for size, arity in zip(topology.group_sizes, topology.arities):
        codes |= element // size % arity << shifts[-1]
        shifts.append(shifts[-1] + (arity - 1).bit_length())
    bounds = np.zeros(1, np.int64)
    if len(element) <= MOST_COUNTED:
        bounds = np.concatenate([
            np.stack([element // size * size, element // size * size + size], axis=1).ravel()
            for size in topology.group_sizes])
    return {"codes": codes, "shifts": np.array(shifts), "bounds": bounds,
            "lengths": np.array([0, *topology.level_distances])}


def _matrix(topology: Topology) -> dict[str, np.ndarray]:
    assert topology.matrix is not None
    return {"codes": np.zeros(1), "shifts": np.array([topology.num_elements]),
            "lengths": topology.matrix.reshape(-1), "bounds": np.zeros(1)}


@device
def tree_distance(a, b, codes, shifts, lengths):
    """Distance of elements a and b of a hierarchy."""
    differing = codes[a] ^ codes[b]
    level = int64(0)
    while (differing >> shifts[level]) != 0:
        level += 1
    return lengths[level]


@device
def matrix_distance(a, b, codes, shifts, lengths):
    """Distance of elements a and b by the matrix."""
    return lengths[int64(a) * shifts[0] + int64(b)]


DISTANCE = {"tree": tree_distance, "matrix": matrix_distance}
