"""Hypergraphs to measure on: those of the data folder, and others made of what is there.

Of each hypergraph also its dual (vertices and nets change places), which for a matrix is the model
of its other side; of each graph with fewer than 200,000 arcs the closed neighbourhoods (a net of
each vertex and its neighbours, the row-net model of a symmetric matrix with a full diagonal); of
matrices both models.  All that is made of one file has its source, and what equals another one is
left out.  Sources in the order of their names: parameters are chosen on odd places, and even ones
report.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

import portpart
from bench.instances import data_folder
from portpart import Hypergraph

MAX_ARCS = 200_000
"""Graphs with fewer arcs than this are taken as hypergraphs of closed neighbourhoods."""

HUGE = 10
"""A net or a vertex is huge that has more than one in this many of the other side."""

CLASSES = {"ISPD98": "circuit", "Titan23": "circuit", "circuit": "circuit", "SAT": "SAT",
           "hitting": "SAT", "social": "social", "LP": "matrix", "LP/MIP": "matrix",
           "SuiteSparse": "matrix", "bio/DNA": "matrix"}


@dataclass(frozen=True)
class NetInstance:
    """A hypergraph by name.

    Attributes
    ----------
    name : str
    source : str
        The file that it is made of.
    kind : {"file", "dual", "closed", "rows", "columns", "drawn"}
        How it is made.
    make : callable
        The hypergraph, on the host.
    """

    name: str
    source: str
    kind: str
    make: Callable[[], Hypergraph]


def shared() -> Iterator[NetInstance]:
    """The hypergraphs of the data folder."""
    for path in _files("hypergraphs", ".hgr"):
        name = path.name.split(".hgr")[0]
        yield NetInstance(name, name, "file", partial(portpart.io.read_hypergraph, path))


def made() -> Iterator[NetInstance]:
    """What is made of hypergraphs, graphs and matrices of the data folder."""
    for each in shared():
        yield NetInstance(f"{each.name}_dual", each.source, "dual", partial(dual_of, each))
    for path in _files("graphs", ".graph"):
        name = path.name.split(".graph")[0]
        if _arcs(path) < MAX_ARCS:
            yield NetInstance(f"{name}_closed", name, "closed",
                              partial(closed_neighbourhoods, path))
    for path in sorted((data_folder() / "graphs" / "original").glob("*.mtx")):
        for side in ("rows", "columns"):
            yield NetInstance(f"{path.stem}_{side}", path.stem, side,
                              partial(matrix_model, path, side))


def wide() -> list[NetInstance]:
    """All of them, without those that equal an earlier one, in the order of their sources."""
    found: dict[str, NetInstance] = {}
    for each in (*shared(), *made()):
        found.setdefault(_digest(each.make()), each)
    return sorted(found.values(), key=lambda each: (each.source, each.name))


def half_of(instances: list[NetInstance], which: str) -> list[NetInstance]:
    """Those whose source is at an odd place ("choose") or at an even one ("report")."""
    sources = sorted({each.source for each in instances})
    first = ("choose", "report").index(which)
    return [each for each in instances if each.source in sources[first::2]]


def dual_of(instance: NetInstance) -> Hypergraph:
    """Vertices become nets and nets become vertices, all of weight 1."""
    hypergraph = instance.make()
    return portpart.as_hypergraph((hypergraph.vertex_offsets, hypergraph.vertex_nets),
                                  num_vertices=hypergraph.num_nets)


def closed_neighbourhoods(path: Path) -> Hypergraph:
    """A net of each vertex of a graph and its neighbours."""
    graph = portpart.io.read(path)
    n = graph.num_vertices
    matrix = scipy.sparse.csr_array((np.ones(len(graph.targets), np.int8), graph.targets,
                                     graph.offsets), shape=(n, n))
    return portpart.as_hypergraph(matrix, diagonal=True)


def matrix_model(path: Path, side: str) -> Hypergraph:
    """A model of the pattern of a matrix: its rows, or its columns, are nets."""
    matrix = scipy.sparse.csr_array(scipy.io.mmread(path))
    return portpart.as_hypergraph(matrix, model="row-net" if side == "rows" else "column-net")


def class_of(instance: NetInstance, hypergraph: Hypergraph) -> str:
    """The class of a table: by huge nets or vertices first, then by how it is made, then by what it
    is of.
    """
    if hypergraph.max_net_size * HUGE > hypergraph.num_vertices:
        return "huge nets"
    if hypergraph.max_degree * HUGE > hypergraph.num_nets:
        return "dense columns"
    if instance.kind == "dual":
        return "duals"
    if instance.kind == "closed":
        return "neighbourhoods"
    return "matrix" if instance.kind in ("rows", "columns") else CLASSES.get(
        _families().get(instance.source, "other").split()[0], "other")


@cache
def _families() -> dict[str, str]:
    path = data_folder() / "CATALOG.md"
    rows = path.read_text().splitlines() if path.exists() else []
    cells = [[cell.strip() for cell in row.split("|")] for row in rows if row.startswith("| ")]
    return {row[1]: row[2] for row in cells if len(row) > 6}


def _files(folder: str, ending: str) -> list[Path]:
    found = (data_folder() / folder).glob(f"*{ending}*")
    return sorted(path for path in found if path.is_file())


def _arcs(path: Path) -> int:
    """The number of arcs, from the header."""
    with (lzma.open(path, "rt") if path.suffix == ".xz" else path.open()) as file:
        line = next(row for row in file if not row.startswith("%"))
    return 2 * int(line.split()[1])


def _digest(hypergraph: Hypergraph) -> str:
    """Equal for hypergraphs with the same nets, whatever the order of pins."""
    offsets, pins = np.asarray(hypergraph.net_offsets), np.asarray(hypergraph.net_pins)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ordered = pins[np.lexsort((pins, owners))]
    return hashlib.sha256(b"".join(np.asarray(each, np.int64).tobytes() for each in (
        [hypergraph.num_vertices], offsets, ordered))).hexdigest()
