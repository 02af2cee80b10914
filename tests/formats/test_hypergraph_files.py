"""Hypergraphs in files: hMETIS in all its kinds, matrices by a model, netlists; errors by place."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import assume, example, given, settings, strategies as st

import portpart
from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers.data_folder import DATA, HypergraphEntry, hypergraph_path, hypergraphs, require

WEIGHTED = "% a comment\n4 7 11\n2 1 2\n3 1 7 5 6\n8 5 6 4\n7 2 3 4\n5\n1\n8\n7\n3\n9\n3\n"
"""The example of hMETIS's manual."""


def read(text: str | bytes, folder: Path, name: str = "x.hgr", **options: Any) -> Hypergraph:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return graph_io.read_hypergraph(path, **options)


def nets_of(hypergraph: Hypergraph) -> list[list[int]]:
    return [hypergraph.net_pins[a:b].tolist() for a, b in pairwise(hypergraph.net_offsets)]


def same(one: Hypergraph, other: Hypergraph) -> bool:
    return all((a is None and b is None) or np.array_equal(a, b)
               for a, b in zip(one.arrays.values(), other.arrays.values()))


def test_the_example_of_the_manual(tmp_path: Path) -> None:
    made = read(WEIGHTED, tmp_path)
    assert nets_of(made) == [[0, 1], [0, 4, 5, 6], [3, 4, 5], [1, 2, 3]]
    assert made.net_weights is not None
    assert made.net_weights.tolist() == [2, 3, 8, 7]
    assert made.vertex_weights is not None
    assert made.vertex_weights.tolist() == [5, 1, 8, 7, 3, 9, 3]


@pytest.mark.parametrize("text", [
    "2 3\n1 2\n3 2 3\n", "2 3 0\n2 1\n2 3\n", "2 3 1\n1 1 2\n1 2 3\n",
    "2 3 10\n1 2\n2 3\n1\n1\n1\n",
    "% c\n\n  2,3\r\n%\n1\t2\r\n\n3 2", "\ufeff2 3\n1 2\n2 3\n\n\n",
], ids=["plain", "fmt 0", "fmt 1", "fmt 10", "decorated", "byte order mark"])
def test_ways_to_write_the_same(text: str, tmp_path: Path) -> None:
    made = read(text, tmp_path)
    assert (nets_of(made), made.num_vertices) == ([[0, 1], [1, 2]], 3)


def test_blank_lines_are_nets_where_nets_would_be_missing(tmp_path: Path) -> None:
    assert nets_of(read("\n% c\n4 3\n\n1 2\n% c\n\n3\n", tmp_path)) == [[], [0, 1], [], [2]]
    assert nets_of(read("2 3\n\n\n", tmp_path)) == [[], []]
    assert nets_of(read("2 3 1\n5\n6 3\n", tmp_path)) == [[], [2]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=5), max_size=5), st.booleans(), st.booleans())
@example([[0, 0, 0], [0, 0, 1]], False, False)
def test_what_is_written_is_read(tmp_path_factory: Any, rows: list[list[int]], nets: bool,
                                 vertices: bool) -> None:
    # rows of one length that hold 0 and 1 are refused: they may be an incidence matrix
    assume(len({len(row) for row in rows}) != 1 or {pin for row in rows for pin in row} != {0, 1})
    weights = [net * 2**40 for net in range(len(rows))]
    made = portpart.as_hypergraph(rows, num_vertices=6, net_weights=weights if nets else None,
                                  vertex_weights=range(6) if vertices else None)
    path = tmp_path_factory.mktemp("x") / "x.hgr.gz"
    graph_io.write_hypergraph(made, path)
    assert same(graph_io.read_hypergraph(path), made)


@pytest.mark.parametrize(("text", "message"), [
    ("", r"x.hgr:1: an hMETIS file begins"),
    ("2\n", r"x.hgr:1: an hMETIS file begins"),
    ("1 2 3 4\n", r"begins with 'nets vertices \[fmt\]'"),
    ("% c\n2 3  5\n", r"x.hgr:2:6: fmt is 5; 1 .*10 .*11"),
    ("2 3\n1 2\n", r"x.hgr:3: the file ends after 1 of 2 nets"),
    ("2 3\n1 2\n2 4\n", r"x.hgr:3:3: pin 4 of net 2 is not a vertex; vertices are 1 ... 3"),
    ("2 3\n1 2\n%\n  0 1\n", r"x.hgr:4:3: pin 0 of net 2"),
    ("2 3 1\n7 1 2\n1 3 9\n", r"x.hgr:3:5: pin 9 of net 2"),
    ("2 3 1\n7 1 2\n-1 3\n", r"x.hgr:3:1: net 2 has weight -1"),
    ("2 3 1\n\n7 1 2\n", r"x.hgr:2: net 1 has no weight"),
    ("1 2\n1 2\n2 1\n", r"x.hgr:3: numbers after the last of 1 nets"),
    ("1 2 10\n1 2\n2\n", r"x.hgr:4: the file ends after the weights of 1 of 2 vertices"),
    ("1 2 10\n1 2\n2\n3\n4\n", r"x.hgr:5: numbers after the last weight of 2 vertices"),
    ("1 2 10\n1 2\n2\n3 1\n", r"x.hgr:4: 2 numbers for vertex 2; its weight alone"),
    ("1 2 10\n1 2\n2\n-3\n", r"x.hgr:4:1: vertex 2 has weight -3"),
    ("1 2\n1 x\n", r"x.hgr:2: 'x' is not an integer"),
    ("1 2 1\n0.5 1 2\n", r"x.hgr:2: '0.5' is not an integer .*hMETIS and .* scale and round"),
    ("1 2 10\n1 2\n2\n1e-3\n", r"x.hgr:4: '1e-3' is not an integer .*; .* scale and round"),
    ("1 2 1\n9223372036854775807 1 2\n", r"is not an integer \(or above"),
    ("2 2 1\n4000000000000000000 1\n4000000000000000000 1\n", r"x.hgr: the net weights add up"),
    ("1 99999999\n1 2\n", r"x.hgr:1: 99999999 vertices in 15 bytes"),
])
def test_errors_name_line_and_column(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=message):
        read(text, tmp_path)


def test_max_vertices_allows_more_and_less(tmp_path: Path) -> None:
    assert read("0 9999999\n", tmp_path, max_vertices=10**7).num_vertices == 9_999_999
    with pytest.raises(GraphFormatError, match="3 vertices"):
        read("1 3\n1 2\n", tmp_path, max_vertices=2)


@pytest.mark.parametrize("model", ["row-net", "column-net", "fine-grain"])
def test_matrices_are_read_by_model(model: str, tmp_path: Path) -> None:
    matrix = sp.csr_array(sp.random(6, 9, density=0.3, random_state=3))
    scipy.io.mmwrite(tmp_path / "x.mtx", matrix)
    made = graph_io.read_hypergraph(tmp_path / "x.mtx", model=model)
    assert same(made, portpart.as_hypergraph(matrix, model=model))
    assert same(portpart.as_hypergraph(tmp_path / "x.mtx", model=model), made)


def test_symmetric_matrices_have_both_triangles(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1.5\n3 3 0.5\n3 2 1\n"
    assert nets_of(read(text, tmp_path, "x.mtx")) == [[1], [0, 2], [1, 2]]
    assert nets_of(read(text, tmp_path, "x.mtx", diagonal=True)) == [[0, 1], [0, 1, 2], [1, 2]]


@pytest.mark.parametrize(("text", "message"), [
    ("2 4 1\n3 1\n", r"x.mtx:3: entry \(3, 1\) is outside of the matrix of 2 x 4"),
    ("2 4 2\n1 1\n", r"x.mtx:2: 2 entries promised, 1 found"),
    ("2 4\n1 1\n", r"x.mtx:2: expected 'rows columns entries'"),
])
def test_matrices_that_cannot_be(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=message):
        read("%%MatrixMarket matrix coordinate pattern general\n" + text, tmp_path, "x.mtx")


def test_a_symmetric_matrix_is_square(tmp_path: Path) -> None:
    text = "%%MatrixMarket matrix coordinate pattern symmetric\n6 5 1\n6 1\n"
    with pytest.raises(GraphFormatError, match=r"x.mtx:2: a symmetric matrix is 6 x 5"):
        read(text, tmp_path, "x.mtx")


VERILOG = """module m (input a, output z);
  INV u (.A(a), .ZN(n)); INV v (.A(n), .ZN(z)); BUF w (.A(n), .Z(n2));
endmodule
"""


def test_netlists_name_their_vertices(tmp_path: Path) -> None:
    made = read(VERILOG, tmp_path, "x.v")
    assert (made.names, made.vertex_weights) == (["u", "v", "w"], None)
    assert sorted(map(tuple, nets_of(made))) == [(0,), (0, 1, 2), (1,), (2,)]
    ported = read(VERILOG, tmp_path, "x.v", ports=True, max_fanout=1)
    assert ported.names == ["u", "v", "w", "a", "z"]
    assert ported.vertex_weights is not None
    assert ported.vertex_weights.tolist() == [1, 1, 1, 0, 0]
    assert sorted(map(tuple, nets_of(ported))) == [(), (0, 3), (1, 4), (2,)]


def test_content_decides_and_the_name_helps(tmp_path: Path) -> None:
    matrix = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    assert read(matrix, tmp_path, "x.hgr").num_pins == 1
    assert read(VERILOG, tmp_path, "netlist").num_nets == 4
    assert read("1 2\n1 2\n", tmp_path, "numbers").num_pins == 2
    assert read(gzip.compress(b"1 2\n1 2\n"), tmp_path, "x.hgr.gz").num_pins == 2
    with pytest.raises(GraphFormatError, match="a PDF document"):
        read("%PDF-1.4", tmp_path, "x")


@pytest.mark.parametrize(("options", "message"), [
    ({"format": "metis"}, "unknown format of hypergraphs 'metis'; known are hmetis"),
    ({"model": "row-net"}, "model does not apply to hmetis files"),
    ({"ports": True}, "ports does not apply to hmetis files"),
    ({"max_vertices": -1}, "max_vertices is -1"),
])
def test_options_that_do_not_apply(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read("1 2\n1 2\n", tmp_path, **options)


def test_graphs_are_not_read_from_hypergraph_files(tmp_path: Path) -> None:
    (tmp_path / "x.hgr").write_text("1 2\n1 2\n")
    with pytest.raises(GraphFormatError, match="read_hypergraph reads it"):
        graph_io.read(tmp_path / "x.hgr")


RING = "4 4\n2 4\n1 3\n2 4\n1 3\n"


@pytest.mark.parametrize(("name", "text", "message"), [
    ("x.graph", "1 2\n1 2\n", r"a graph by its name \(metis\)"),
    ("x.csv", "1 2\n1 2\n", r"a graph by its name \(edge-list\)"),
    ("x.graph.gz", gzip.compress(b"1 2\n1 2\n", mtime=0), r"a graph by its name \(metis\)"),
    ("x.npz", b"PK\x03\x04", r"a graph by its name \(npz\)"),
    ("x", RING, r"a graph by its content \(metis\), which portpart.io.read reads"),
    ("x.txt", RING, r"a graph by its content \(metis\), .*--format hmetis")])
def test_graphs_are_not_taken_for_hypergraphs(name: str, text: str | bytes, message: str,
                                              tmp_path: Path) -> None:
    """Nearly every METIS graph could be read as a hypergraph."""
    with pytest.raises(GraphFormatError, match=message):
        read(text, tmp_path, name)
    if name != "x.npz":
        assert read(text, tmp_path, name, format="hmetis").num_pins > 0


def test_the_catalogue_of_hypergraphs_is_complete() -> None:
    require(DATA / "CATALOG.md")
    assert len(hypergraphs()) == 33


@pytest.mark.parametrize("entry", hypergraphs(), ids=lambda entry: entry.name)
def test_real_hypergraphs_have_the_sizes_of_the_catalogue(entry: HypergraphEntry,
                                                          tmp_path: Path) -> None:
    made = graph_io.read_hypergraph(hypergraph_path(entry.name))
    assert (made.num_vertices, made.num_nets, made.num_pins) == (
        entry.num_vertices, entry.num_nets, entry.num_pins)
    assert made.max_net_size == entry.max_net_size
    assert (made.vertex_weights is not None) == entry.weighted
    graph_io.write_hypergraph(made, tmp_path / "x.hgr")
    assert same(graph_io.read_hypergraph(tmp_path / "x.hgr"), made)


def test_a_file_as_found_says_the_same() -> None:
    """ISPD98's ibm01 before it was tidied."""
    found = graph_io.read_hypergraph(require(DATA / "hypergraphs" / "ibm01.original.hgr"))
    assert same(found, graph_io.read_hypergraph(hypergraph_path("ibm01")))


@pytest.mark.parametrize(("text", "first", "expected"), [
    ("-1\n1\n-1\n0\n", 1, [-1, 1, -1, 0]), ("2 1\n4 0\n", 1, [-1, 1, -1, 0]),
    ("% c\n3 0\n1 1\n", 0, [-1, 1, -1, 0]), ("1 -1\n", 1, [-1, -1, -1, -1]),
])
def test_fixed_vertices(text: str, first: int, expected: list[int], tmp_path: Path) -> None:
    (tmp_path / "x.fix").write_text(text)
    found = graph_io.read_partition(tmp_path / "x.fix", 4, free=True, first=first)
    assert found.tolist() == expected


@pytest.mark.parametrize(("text", "message"), [
    ("1 0\n5 0\n", "x.fix:2: 5 is not a vertex; vertices are 1 ... 4"),
    ("0 0\n", "x.fix:1: 0 is not a vertex"),
    ("1 0\n2 1\n1 0\n", "x.fix:3: a second block for vertex 1"),
    ("1 0\n2 -2\n", "x.fix:2: -2 is not a block"),
    ("1 0\n2\n", "x.fix:1: expected one block number"),
])
def test_fixed_vertices_that_cannot_be(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.fix").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        graph_io.read_partition(tmp_path / "x.fix", 4, free=True)
