"""Meshes, their graphs by sets, and METIS's own routines, which the library inside PyMETIS has."""

from __future__ import annotations

import ctypes
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pymetis import _internal, zero_copy_dtype

from portpart.graphs.graph import Graph

Elements = list[list[int]]
Edges = dict[tuple[int, int], int]


def random_elements(seed: int, num_elements: int, num_nodes: int, most: int) -> Elements:
    """Elements of 1 to `most` different nodes; some nodes may be in no element."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, most + 1, num_elements)
    return [draw.choice(num_nodes, size, replace=False).tolist() for size in sizes]


def delaunay(seed: int, num_points: int, dimension: int) -> np.ndarray:
    """Triangles or tetrahedra."""
    from scipy.spatial import Delaunay

    simplices: np.ndarray = Delaunay(
        np.random.default_rng(seed).random((num_points, dimension))).simplices
    return simplices


def bricks(nx: int, ny: int, nz: int) -> np.ndarray:
    """Hexahedra of a regular brick."""
    ids = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    corners = [ids[i : i + nx, j : j + ny, k : k + nz].ravel()
               for i in (0, 1) for j in (0, 1) for k in (0, 1)]  # fmt: skip
    return np.stack(corners, 1)


def dual_edges(elements: Any, common: int) -> Edges:
    """Pairs of elements that share enough nodes, and how many: METIS's rule, by sets."""
    sets = [set(map(int, element)) for element in elements]
    edges = {}
    for a, b in combinations(range(len(sets)), 2):
        shared = len(sets[a] & sets[b])
        if shared >= max(1, min(common, len(sets[a]) - 1, len(sets[b]) - 1)):
            edges[a, b] = shared
    return edges


def nodal_edges(elements: Any) -> Edges:
    """Pairs of nodes that are in one element, and in how many."""
    edges: Edges = {}
    for element in elements:
        for pair in combinations(sorted(map(int, element)), 2):
            edges[pair] = edges.get(pair, 0) + 1
    return edges


def edges_of(graph: Graph) -> Edges:
    """The edges of a graph and their weights; asserts that rows are ascending and symmetric."""
    rows = graph.to_scipy().tocoo()
    arcs = list(zip(rows.row.tolist(), rows.col.tolist(), strict=True))
    assert arcs == sorted(set(arcs))
    weights = dict(zip(arcs, rows.data.tolist(), strict=True))
    assert all(weights[v, u] == weight for (u, v), weight in weights.items())
    return {(u, v): weight for (u, v), weight in weights.items() if u < v}


def metis_rows(elements: Any, num_nodes: int, common: int | None) -> list[list[int]]:
    """Neighbours of each vertex of METIS's dual graph, or nodal graph if `common` is None."""
    library = ctypes.CDLL(_internal.__file__)
    if not hasattr(library, "METIS_MeshToDual"):
        pytest.skip("the library inside PyMETIS hides METIS's routines")
    index = ctypes.c_int64 if zero_copy_dtype() == np.int64 else ctypes.c_int32
    offsets = np.cumsum([0, *map(len, elements)]).astype(zero_copy_dtype())
    nodes = np.concatenate([np.asarray(e) for e in elements]).astype(zero_copy_dtype())
    pointer = ctypes.POINTER(index)
    rows, targets = pointer(), pointer()
    sizes = [ctypes.byref(index(size)) for size in (len(elements), num_nodes)]
    arrays = [array.ctypes.data_as(pointer) for array in (offsets, nodes)]
    found = [ctypes.byref(index(0)), ctypes.byref(rows), ctypes.byref(targets)]
    if common is None:
        assert library.METIS_MeshToNodal(*sizes, *arrays, *found) == 1
    else:
        at_least = ctypes.byref(index(common))
        assert library.METIS_MeshToDual(*sizes, *arrays, at_least, *found) == 1
    n = num_nodes if common is None else len(elements)
    result = [sorted(targets[rows[v] : rows[v + 1]]) for v in range(n)]
    library.METIS_Free(rows)
    library.METIS_Free(targets)
    return result
