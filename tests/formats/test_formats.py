"""Each format: what is read, what is refused and how the message points at the line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError
from tests import oracles
from tests.helpers.graphs import random_graph

METIS = {
    "plain": ("% drawn\n4 3\n2\n1 3 4\n2\n2\n", None, None),
    "isolated": ("3 1\n\n3\n2\n", None, None),
    "last vertex isolated": ("3 1\n2\n1\n\n", None, None),
    "comment between": ("3 2\n2\n% here\n1 3\n2", None, None),
    "edge weights": ("2 1 1\n2 7\n1 7\n", None, [7, 7]),
    "edge weights 001": ("2 1 001\n2 7\n1 7\n", None, [7, 7]),
    "vertex weights": ("2 1 10\n5 2\n6 1\n", [5, 6], None),
    "both, ncon": ("2 1 11 1\n5 2 7\n6 1 7\n", [5, 6], [7, 7]),
    "sizes": ("2 1 100\n9 2\n9 1\n", None, None),
    "all": ("2 1 111\n9 5 2 7\n9 6 1 7\n", [5, 6], [7, 7]),
    "no edges": ("2 0\n\n\n", None, None),
    "no vertices": ("0 0\n", None, None),
    "loop": ("2 1\n1 2\n1\n", None, None),
}


@pytest.mark.parametrize("name", METIS)
def test_metis(name: str, tmp_path: Path) -> None:
    text, vertex_weights, weights = METIS[name]
    path = tmp_path / "g.graph"
    path.write_text(text)
    graph = graph_io.read(path)
    header = next(line for line in text.split("\n") if line[:1] != "%").split()
    assert (graph.num_vertices, graph.num_edges) == (int(header[0]), int(header[1]))
    for expected, actual in ((vertex_weights, graph.vertex_weights), (weights, graph.weights)):
        assert (actual is None) == (expected is None)
        assert actual is None or actual.tolist() == expected
    oracles.assert_valid_graph(graph)


MTX = "%%MatrixMarket matrix coordinate "

# name: suffix, text, pieces of the message
BAD_FILES: dict[str, tuple[str, str, list[str]]] = {
    "metis empty": ("graph", "", ["g.graph:1:", "n m [fmt [ncon]]"]),
    "metis word": ("graph", "% c\n3 2\n2\n1 x3\n2\n", ["g.graph:4:", "'x3' is not an integer"]),
    "metis header": ("graph", "3\n\n\n\n", ["g.graph:1:", "n m"]),
    "metis fmt": ("graph", "1 0 020\n\n", ["g.graph:1:", "020", "0 or 1"]),
    "metis ncon": ("graph", "2 1 10 2\n1 1 2\n1 1 1\n", ["g.graph:1:", "2 weights", "not yet"]),
    "metis short": ("graph", "3 1\n2\n1\n", ["g.graph:4:", "2 of 3 vertices", "blank line"]),
    "metis long": ("graph", "2 1\n2\n1\n\n1\n", ["g.graph:5:", "last of 2"]),
    "metis range": ("graph", "3 2\n2\n1 4\n2\n", ["g.graph:3:", "neighbour 4 of vertex 2",
                                                  "1 ... 3"]),
    "metis zero": ("graph", "3 2\n1\n0 2\n1\n", ["g.graph:3:", "neighbour 0 of vertex 2"]),
    "metis pairs": ("graph", "2 1 1\n2 7\n1\n", ["g.graph:3:", "1 numbers for vertex 2",
                                                 "edge weight"]),
    "metis no weight": ("graph", "2 0 10\n5\n\n", ["g.graph:3:", "0 numbers", "a weight"]),
    "metis one-sided": ("graph", "%\n3 2\n2 3\n1\n\n", ["g.graph:3:", "arc (0, 2)",
                                                        "numbered from 0"]),
    "metis unequal": ("graph", "2 1 1\n2 7\n1 8\n", ["g.graph:2:", "weight 7", "weight 8"]),
    "metis negative": ("graph", "2 1 1\n2 -7\n1 -7\n", ["g.graph:2:", "weight -7"]),
    "metis vertex negative": ("graph", "2 1 10\n3 2\n-4 1\n", ["g.graph:3:", "weight -4"]),
    "metis promise": ("graph", "2 5\n2\n1\n", ["g.graph:1:", "5 edges", "hold 1"]),
    "mtx banner": ("mtx", "1 2 3\n", ["g.mtx:1:", "%%MatrixMarket"]),
    "mtx dense": ("mtx", "%%MatrixMarket matrix array real general\n2 2\n", ["g.mtx:1:", "dense"]),
    "mtx field": ("mtx", MTX + "int general\n1 1 0\n", ["g.mtx:1:", "int general", "pattern"]),
    "mtx no size": ("mtx", MTX + "pattern general\n% c\n", ["g.mtx:3:", "rows columns entries"]),
    "mtx size": ("mtx", MTX + "pattern general\n3 3\n", ["g.mtx:2:", "rows columns entries"]),
    "mtx shape": ("mtx", MTX + "pattern general\n3 4 0\n", ["g.mtx:2:", "3 x 4", "square"]),
    "mtx count": ("mtx", MTX + "pattern general\n3 3 2\n1 2\n", ["g.mtx:2:", "2 entries", "1 f"]),
    "mtx range": ("mtx", MTX + "pattern general\n3 3 2\n1 2\n%\n4 1\n", ["g.mtx:5:", "4 is no",
                                                                        "1 ... 3"]),
    "mtx word": ("mtx", MTX + "pattern general\n3 3 1\n1 b\n", ["g.mtx:3:", "'b'"]),
    "mtx columns": ("mtx", MTX + "integer general\n3 3 1\n1 2\n", ["g.mtx:3:", "weight"]),
    "mtx negative": ("mtx", MTX + "integer general\n3 3 1\n1 2 -3\n", ["g.mtx:3:", "-3", ">= 0"]),
    "edges word": ("txt", "# c\n1 2\n2 y\n", ["g.txt:3:", "'y'"]),
    "edges short": ("txt", "1 2\n\n3\n", ["g.txt:3:", "two ends"]),
    "edges fraction": ("txt", "1 2 0.5\n", ["g.txt:1:", "'0.5'"]),
    "edges negative": ("txt", "1 2 1\n1 3 -1\n", ["g.txt:2:",
                       "weight -1", 'weights="abs"', 'weights="ignore"']),
    "gr p": ("gr", "p sp 3\n", ["g.gr:1:", "vertices edges"]),
    "gr two p": ("gr", "p sp 3 0\np sp 3 0\n", ["g.gr:2:", "second p line"]),
    "gr count": ("gr", "c\np sp 3 2\na 1 2 5\n", ["g.gr:2:", "2 lines", "1 follow"]),
    "gr range": ("gr", "p sp 3 1\nc\na 1 5 5\n", ["g.gr:3:", "5 is not a vertex", "1 ... 3"]),
    "gr zero": ("gr", "p sp 3 1\na 0 1 5\n", ["g.gr:2:", "0 is not a vertex"]),
    "gr word": ("gr", "p sp 3 1\na 1 two 5\n", ["g.gr:2:", "'two'"]),
    "npz": ("npz", "PK nothing", ["g.npz:", "no .npz archive"]),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_message_names_file_and_line(name: str, tmp_path: Path) -> None:
    suffix, text, pieces = BAD_FILES[name]
    path = tmp_path / f"g.{suffix}"
    path.write_text(text)
    with pytest.raises(GraphFormatError) as caught:
        graph_io.read(path)
    for piece in pieces:
        assert piece in str(caught.value), str(caught.value)


def test_metis_symmetrize_accepts_one_sided_edges(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    path.write_text("3 2\n2 3\n\n\n")
    assert graph_io.read(path, symmetrize=True).num_edges == 2


@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market_files_of_scipy(field: str, symmetry: str, tmp_path: Path) -> None:
    matrix = random_graph(40, 150, 2, weighted=True).to_scipy().tocoo()
    matrix.data = matrix.data + 1 + (0.5 if field == "real" else 0)
    if symmetry == "general":
        matrix = sp.triu(matrix)
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix, field=field, symmetry=symmetry)
    graph = graph_io.read(tmp_path / "g.mtx")
    expected = (matrix + matrix.T if symmetry == "general" else matrix).tocsr()
    if field != "integer":
        expected.data[:] = 1
    assert (graph.to_scipy() != expected).nnz == 0
    assert (graph.weights is None) == (field != "integer")


def test_matrix_market_values_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    path.write_text(MTX + "real general\n3 3 3\n1 2 5.0\n2 1 5.0e0\n2 3 1e+01\n")
    assert graph_io.read(path, weights=True).total_arc_weight == 30
    path.write_text(MTX + "integer general\n3 3 1\n1 2 4\n")
    assert graph_io.read(path, weights=False).weights is None
    path.write_text(MTX + "pattern general\n3 3 1\n1 2\n")
    with pytest.raises(GraphFormatError, match="no values"):
        graph_io.read(path, weights=True)


def test_edge_list_relabels_what_occurs(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("# SNAP\n# From\tTo\n70\t-5\n-5\t9000000000000\n70 -5\n70 70\n")
    graph, names = graph_io.read_edge_list(path)
    assert names.tolist() == [-5, 70, 9000000000000]
    assert sorted(oracles.arcs(graph)) == [(0, 1, 1), (0, 2, 1), (1, 0, 1), (2, 0, 1)]
    path.write_text("12 10\n10 15\n")
    assert graph_io.read_edge_list(path).names.tolist() == [10, 12, 15]


def test_edge_list_keeps_numbers_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "g.el"
    path.write_text("0 3\n3 1\n")
    assert graph_io.read(path, relabel=False).num_vertices == 4
    assert graph_io.read(path).num_vertices == 3
    path.write_text("# portpart: vertices 0 edges 0\n")
    assert graph_io.read(path).num_vertices == 0


@pytest.mark.parametrize("text", ["id_1,id_2\n0,5\n5,2\n", "0,5\r\n5,2\r\n", "0;5\n5; 2"])
def test_edge_list_with_commas_and_column_names(text: str, tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text(text)
    graph = graph_io.read(path)
    assert (graph.num_vertices, graph.num_edges, graph.weights) == (3, 2, None)


def test_edge_list_third_column(tmp_path: Path) -> None:
    path = tmp_path / "g.tsv"
    path.write_text("1\t2\t5\n2\t3\t6\n")
    assert graph_io.read(path).total_arc_weight == 22
    assert graph_io.read(path, weights=False).weights is None


@pytest.mark.parametrize(("text", "n", "arcs"), [
    ("c x\np sp 4 3\na 1 2 5\na 2 1 5\na 2 3 1\n", 4, [(0, 1, 5), (1, 2, 1)]),
    ("c x\np tw 3 2\n1 2\n2 3\n", 3, [(0, 1, 1), (1, 2, 1)]),
    ("p edge 3 1\ne 1 2\n", 3, [(0, 1, 1)]),
    ("a 0 2 9\n", 3, [(0, 2, 9)]),
    ("a 1 3 9\n", 3, [(0, 2, 9)]),
    ("p tw 2 0\n", 2, []),
    ("p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 4\n", 3, [(0, 1, 5), (1, 2, 4)]),
])
def test_dimacs(text: str, n: int, arcs: list[tuple[int, int, int]], tmp_path: Path) -> None:
    path = tmp_path / "g.gr"
    path.write_text(text)
    graph = graph_io.read(path)
    assert graph.num_vertices == n
    assert [arc for arc in oracles.arcs(graph) if arc[0] < arc[1]] == arcs


def test_npz_layouts(tmp_path: Path) -> None:
    graph = random_graph(30, 80, 5, weighted=True)
    path = tmp_path / "g.npz"
    sp.save_npz(path, graph.to_scipy())
    loaded = graph_io.read(path)
    assert (loaded.to_scipy() != graph.to_scipy()).nnz == 0
    np.savez(path, indptr=graph.offsets, indices=graph.targets)
    assert graph_io.read(path).weights is None
    np.savez(path, something=graph.offsets)
    with pytest.raises(GraphFormatError, match="holds something; expected offsets"):
        graph_io.read(path)
    np.savez(path, indptr=[0, 1, 1], indices=[1])
    with pytest.raises(GraphFormatError, match=r"g.npz: arc \(0, 1\) has no reverse"):
        graph_io.read(path)
    assert graph_io.read(path, symmetrize=True).num_edges == 1


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_packed_files_are_recognised_by_content(pack: Any, tmp_path: Path) -> None:
    for name in ("g.graph", "g.graph.gz"):
        path = tmp_path / name
        path.write_bytes(pack(b"2 1\n2\n1\n"))
        assert graph_io.read(path).num_edges == 1
        path.write_bytes(pack(b"2 1\n2\n1\n" * 999)[:-9])
        with pytest.raises(GraphFormatError, match="damaged"):
            graph_io.read(path)


@pytest.mark.parametrize("text", [
    b"2 1\n2\n1\n", b"# x\n1 2\n", MTX.encode() + b"pattern general\n2 2 1\n1 2\n",
    b"p tw 2 1\n1 2\n", b"a 0 1 3\n"])
def test_standard_input_is_recognised(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    assert graph_io.read("-").num_edges == 1


def test_unusable_arguments_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    with pytest.raises(InputError, match=r"cannot be read: No such file"):
        graph_io.read(path)
    path.write_text("2 1\n2\n1\n")
    with pytest.raises(InputError, match="unknown format 'gexf'; known are metis"):
        graph_io.read(path, format="gexf")
    with pytest.raises(InputError, match="relabel does not apply to metis"):
        graph_io.read(path, relabel=True)
