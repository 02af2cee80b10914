"""Graphs to measure on: the real ones of a data folder, and generated ones that anyone can make.

Real graphs: METIS files of ``$PORTPART_DATA/graphs`` (default ``../shared/data/graphs`` beside the
repository), classes and sizes from its CATALOG.md.  Generated graphs follow the definitions that
the papers and DIMACS use; the same names stand in every published table of portpart:

    delaunay_2^s   2^s uniform points, default_rng(1), vertices in drawn order
    rgg_2^s        2^s uniform points, default_rng(2), edge when closer than 0.55 sqrt(ln n / n)
    rmat_2^s       16 * 2^s drawn edges, default_rng(3), a = 0.57, b = c = 0.19
    grid_AxB, cube_A    5-point and 7-point stencils, row-major
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from bench.peers import HostGraph

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Instance:
    """A graph by name; `num_edges` is known before the graph is made (0: unknown)."""

    name: str
    family: str
    num_edges: int
    make: Callable[[], HostGraph]


def data_folder() -> Path:
    """Return the folder of real graphs, whether or not it exists."""
    return Path(os.environ.get("PORTPART_DATA") or ROOT.parent / "shared" / "data")


def select(patterns: list[str], max_edges: int | None = None) -> list[Instance]:
    """Return the instances whose name, family or set (real, generated) matches, smallest first."""
    chosen = [
        instance
        for group, instances in (("real", real()), ("generated", generated()))
        for instance in instances
        if any(
            pattern in (group, "all") or fnmatch(instance.name, pattern)
            or fnmatch(instance.family, pattern)
            for pattern in patterns
        )
        and (max_edges is None or instance.num_edges <= max_edges)
    ]  # fmt: skip
    return sorted(chosen, key=lambda instance: instance.num_edges)


def real() -> Iterator[Instance]:
    """Yield the graphs of the data folder; none if there is no such folder."""
    catalogue = _catalogue(data_folder() / "CATALOG.md")
    for path in sorted((data_folder() / "graphs").glob("*.graph*")):
        name = path.name.partition(".")[0]
        family, num_edges = catalogue.get(name, ("real", 0))
        yield Instance(name, family, num_edges, lambda path=path: _read(path))


def generated() -> Iterator[Instance]:
    """Yield the synthetic graphs, from thousands to tens of millions of edges."""
    for s in (13, 15, 17, 20):
        yield Instance(f"delaunay_2^{s}", "delaunay", 3 * 2**s, lambda s=s: delaunay(s))
    for s in (13, 15, 17, 20, 22):
        yield Instance(f"rgg_2^{s}", "rgg", 7 * 2**s, lambda s=s: random_geometric(s))
    for s in (12, 14, 16, 18):
        yield Instance(f"rmat_2^{s}", "rmat", 14 * 2**s, lambda s=s: rmat(s))
    for shape in ((300, 300), (1000, 1000), (2000, 4000), (20, 20, 20), (100,) * 3, (200,) * 3):
        name = f"cube_{shape[0]}" if len(shape) == 3 else f"grid_{shape[0]}x{shape[1]}"
        size = len(shape) * int(np.prod(shape))
        yield Instance(name, name.split("_")[0], size, lambda shape=shape: grid(shape))


def delaunay(s: int) -> HostGraph:
    """Triangulate 2^s uniform points of the unit square."""
    from scipy.spatial import Delaunay

    triangles = Delaunay(np.random.default_rng(1).random((2**s, 2))).simplices
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return from_edges(2**s, edges)


def random_geometric(s: int) -> HostGraph:
    """Join those of 2^s uniform points that are closer than 0.55 sqrt(ln n / n)."""
    from scipy.spatial import cKDTree

    n = 2**s
    tree = cKDTree(np.random.default_rng(2).random((n, 2)))
    return from_edges(n, tree.query_pairs(0.55 * np.sqrt(np.log(n) / n), output_type="ndarray"))


def rmat(s: int) -> HostGraph:
    """Draw 16 * 2^s edges recursively (a = 0.57, b = c = 0.19); loops and duplicates dropped."""
    rng = np.random.default_rng(3)
    count = 16 * 2**s
    ends = np.zeros((count, 2), np.int64)
    for _ in range(s):
        draw = rng.random(count)
        row = draw >= 0.57 + 0.19
        column = ((draw >= 0.57) & (draw < 0.57 + 0.19)) | (draw >= 0.57 + 2 * 0.19)
        ends = 2 * ends + np.stack([row, column], axis=1)
    return from_edges(2**s, ends)


def grid(shape: tuple[int, ...]) -> HostGraph:
    """Join the neighbours along every axis of a row-major lattice."""
    ids = np.arange(int(np.prod(shape))).reshape(shape)
    pairs = [
        (ids.take(range(length - 1), axis).ravel(), ids.take(range(1, length), axis).ravel())
        for axis, length in enumerate(shape)
    ]
    return from_edges(ids.size, np.concatenate(pairs, axis=1).T)


def from_edges(n: int, edges: np.ndarray) -> HostGraph:
    """Make an unweighted graph of undirected pairs; loops and duplicates are dropped."""
    from scipy.sparse import coo_array

    edges = edges[edges[:, 0] != edges[:, 1]]
    ones = np.ones(len(edges), np.int8)
    matrix = coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    matrix = (matrix + matrix.T).tocsr()
    matrix.sort_indices()
    offset_type = np.int32 if matrix.nnz < 2**31 else np.int64
    return HostGraph(matrix.indptr.astype(offset_type), matrix.indices.astype(np.int32))


def _read(path: Path) -> HostGraph:
    import portpart

    graph = portpart.io.read(path)
    return HostGraph(graph.offsets, graph.targets, graph.weights, graph.vertex_weights)


def _catalogue(path: Path) -> dict[str, tuple[str, int]]:
    """Return {name: (class, number of edges)} from the table of graphs in CATALOG.md."""
    if not path.exists():
        return {}
    rows = (line.split("|") for line in path.read_text().splitlines() if line.startswith("| "))
    entries = {}
    for row in rows:
        cells = [cell.strip() for cell in row[1:]]
        if len(cells) > 5 and cells[3].replace(",", "").isdigit():
            entries.setdefault(cells[0], (cells[1], int(cells[3].replace(",", ""))))
    return entries
