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


Blocks = list[tuple[str, np.ndarray]]

FACES = {
    "triangle": ["01", "12", "20"],
    "quad": ["01", "12", "23", "30"],
    "tetra": ["012", "013", "123", "203"],
    "pyramid": ["0123", "014", "124", "234", "304"],
    "wedge": ["012", "345", "0143", "1254", "2035"],
    "hexahedron": ["0123", "4567", "0154", "1265", "2376", "3047"],
}
"""The corners of the faces of each kind, of cells of the plane of edges, as in VTK's pictures."""

QUADRATIC = {"triangle": "triangle6", "quad": "quad8", "tetra": "tetra10",
             "pyramid": "pyramid13", "wedge": "wedge15", "hexahedron": "hexahedron20"}


def kinds_of(blocks: Blocks) -> list[str]:
    """The kind of each element."""
    return [kind for kind, table in blocks for _ in table]


def elements_of(blocks: Blocks) -> Elements:
    """The nodes of each element."""
    return [row for _, table in blocks for row in np.asarray(table).tolist()]


def face_edges(blocks: Blocks) -> set[tuple[int, int]]:
    """Pairs of elements that have the corners of a face in common."""
    held: dict[frozenset[int], list[int]] = {}
    for element, (kind, row) in enumerate(zip(kinds_of(blocks), elements_of(blocks), strict=True)):
        base = next(base for base in FACES if kind in (base, QUADRATIC[base]))
        for face in FACES[base]:
            held.setdefault(frozenset(row[int(corner)] for corner in face), []).append(element)
    return {pair for elements in held.values() for pair in combinations(elements, 2)}


def mixed_plane(seed: int, nx: int, ny: int) -> tuple[np.ndarray, Blocks]:
    """Points and blocks of squares, of which some are divided into two triangles."""
    draw = np.random.default_rng(seed)
    ids = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    quads = np.stack([ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]], -1).reshape(-1, 4)
    split = draw.random(len(quads)) < 0.5
    triangles = np.concatenate([quads[split][:, [0, 1, 2]], quads[split][:, [0, 2, 3]]])
    points = np.stack(np.meshgrid(np.arange(nx + 1.0), np.arange(ny + 1.0), indexing="ij"), -1)
    return points.reshape(-1, 2), [("quad", quads[~split]), ("triangle", triangles)]


def mixed_space(seed: int, nx: int, ny: int, nz: int) -> tuple[np.ndarray, Blocks]:
    """Points and blocks of hexahedra, wedges and pyramids that meet in whole faces."""
    draw = np.random.default_rng(seed)
    flat, ((_, quads), (_, triangles)) = mixed_plane(seed, nx, ny)
    n, layers = len(flat), range(nz)
    points = np.concatenate([np.column_stack([flat, np.full(n, z)]) for z in range(nz + 1)])
    hexahedra = np.concatenate([np.hstack([quads + z * n, quads + (z + 1) * n]) for z in layers])
    wedges = np.concatenate([np.hstack([triangles + z * n, triangles + (z + 1) * n])
                             for z in layers])
    split = draw.random(len(hexahedra)) < 0.3
    tops = len(points) + np.arange(split.sum())
    faces = np.array([[int(corner) for corner in face] for face in FACES["hexahedron"]])
    pyramids = np.concatenate([hexahedra[split][:, faces].reshape(-1, 4),
                               np.repeat(tops, 6)[:, None]], axis=1)
    points = np.concatenate([points, points[hexahedra[split]].mean(axis=1)])
    return points, [("wedge", wedges), ("hexahedron", hexahedra[~split]), ("pyramid", pyramids)]


def quadratic(points: np.ndarray, blocks: Blocks) -> tuple[np.ndarray, Blocks]:
    """The same with a node in the middle of each edge."""
    middles: dict[frozenset[int], int] = {}
    made = []
    for kind, table in blocks:
        sides = {frozenset(pair) for face in FACES[kind]
                 for pair in (zip(face, face[1:] + face[:1]) if len(face) > 2 else [face])}
        rows = [[*row, *(middles.setdefault(frozenset(row[int(end)] for end in side),
                                            len(points) + len(middles))
                         for side in sorted(map(sorted, sides)))] for row in table.tolist()]
        width = table.shape[1] + len(sides)
        made.append((QUADRATIC[kind], np.array(rows, np.int64).reshape(-1, width)))
    ends = np.array([sorted(side) for side in middles]).reshape(-1, 2)
    return np.concatenate([points, points[ends].mean(axis=1)]), made


def near_elements(elements: Elements, part: list[int], block: int, layers: int) -> set[int]:
    """Elements of other blocks at most so many steps over common nodes from those of a block."""
    own = {element for element, of in enumerate(part) if of == block}
    reached = set(own)
    for _ in range(layers):
        nodes = {node for element in reached for node in elements[element]}
        reached |= {element for element, row in enumerate(elements) if nodes & set(row)}
    return reached - own


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
