"""Pieces of METIS files, put together, are what reading the whole file gives."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart import io as graph_io
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import GraphFormatError, InputError, PortpartError
from portpart.graphs.graph import Graph
from portpart.graphs.row_range import Rows
from portpart.io import metis_pieces, metis_pieces as pieces, open_metis_piece
from tests import oracles
from tests.formats.test_damaged import damaged
from tests.formats.test_formats import BAD_FILES, METIS
from tests.helpers.data_folder import graph_path
from tests.helpers.glued import glued
from tests.helpers.graphs import graphs, random_graph


def rows_of(path: Path, size: int) -> list[Rows]:
    """Return the rows of all pieces, checked as ranks do with sums over all of them."""
    pieces = [open_metis_piece(path, rank, size) for rank in range(size)]
    lines = np.cumsum([0] + [piece.num_lines for piece in pieces])
    rows = [piece.rows(int(before)) for piece, before in zip(pieces, lines)]
    for piece in pieces:
        piece.check_totals(int(lines[-1]), sum(each.num_words for each in pieces),
                           sum(each.num_arcs for each in rows))
    return rows


def assert_same(pieces: list[Rows], graph: Graph) -> None:
    """Assert that rows are those of a graph, which may have left out weights that are all 1."""
    offsets, targets, weights, vertex_weights = glued(pieces)
    np.testing.assert_array_equal(offsets, graph.offsets)
    np.testing.assert_array_equal(targets, graph.targets)
    assert targets.dtype == np.int32
    if weights is not None:
        np.testing.assert_array_equal(weights, 1 if graph.weights is None else graph.weights)
        assert weights.dtype == np.int64
    assert (vertex_weights is None) == (graph.vertex_weights is None)
    if vertex_weights is not None:
        np.testing.assert_array_equal(vertex_weights, graph.vertex_weights)


@settings(max_examples=60, deadline=None)
@given(graph=graphs(large_weights=True), size=st.integers(1, 12), data=st.data())
def test_pieces_are_those_of_the_whole_file(graph: Graph, size: int, data: st.DataObject) -> None:
    """Comments may stand anywhere, and lines may end with a carriage return."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g.graph"
        graph_io.write(graph, path)
        lines = path.read_text().split("\n")
        for place in data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=3)):
            lines.insert(place, "% a comment 1 2 3")
        end = data.draw(st.sampled_from(["\n", "\r\n"]))
        path.write_bytes(end.join(lines).encode())
        assert_same(rows_of(path, size), graph)


@pytest.mark.parametrize("name", METIS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 40])
def test_every_kind_of_file_is_read(name: str, size: int, tmp_path: Path) -> None:
    """40 pieces are more than there are bytes."""
    path = tmp_path / "g.graph"
    path.write_text(METIS[name][0])
    assert_same(rows_of(path, size), graph_io.read(path))


@pytest.mark.parametrize("name", ["add20", "bips98_606", "3elt"])
def test_real_graphs_are_read_in_pieces(name: str) -> None:
    path = graph_path(name)
    graph = graph_io.read(path)
    for size in (1, 2, 3, 5, 8):
        assert_same(rows_of(path, size), graph)


def test_lines_longer_than_what_is_searched_at_once_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "CHUNK", 3)
    graph = random_graph(50, 400, 1)
    graph_io.write(graph, tmp_path / "g.graph")
    assert_same(rows_of(tmp_path / "g.graph", 9), graph)


def test_a_mark_of_utf_8_and_long_comments_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metis_pieces, "MAX_HEADER", 8)
    path = tmp_path / "g.graph"
    path.write_bytes(b"\xef\xbb\xbf" + b"% long\n" * 9 + b" %" + b"x" * 99 + b"\n3 2\n2\n1 3\n2\n")
    assert_same(rows_of(path, 2), graph_io.read(path))
    for header in (b"1234567890 1\n", b"2 1 0000000\n2\n1\n"):
        path.write_bytes(header)
        with pytest.raises(GraphFormatError, match=r"g.graph:1: a METIS file begins"):
            open_metis_piece(path, 0, 1)


def test_rows_live_where_they_are_wanted(space: ExecutionSpace, tmp_path: Path) -> None:
    graph_io.write(random_graph(30, 60, 2), tmp_path / "g.graph")
    rows = open_metis_piece(tmp_path / "g.graph", 0, 1).rows(0, space)
    assert rows.space is space
    assert oracles.host(rows.offsets)[-1] == rows.num_arcs


def test_the_first_line_may_count_loops(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    path.write_text("2 2\n1 1 2\n1\n")
    assert_same(rows_of(path, 2), graph_io.read(path))


# whether arcs have reverse arcs is not known of a piece, and totals have no line
NOT_OF_PIECES = {"metis one-sided", "metis unequal", "metis promise", "metis short"}


@pytest.mark.parametrize("name", [name for name in BAD_FILES if name.startswith("metis")
                                  and name not in NOT_OF_PIECES])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_messages_are_those_of_the_whole_file(name: str, size: int, tmp_path: Path) -> None:
    """Lines have their numbers in the file, whichever piece they are in."""
    path = tmp_path / "g.graph"
    path.write_text(BAD_FILES[name][1])
    with pytest.raises(GraphFormatError) as whole:
        graph_io.read(path, format="metis")
    with pytest.raises(GraphFormatError) as piece:
        rows_of(path, size)
    assert str(piece.value) == str(whole.value)


@pytest.mark.parametrize(("name", "problem"), [("metis short", "2 of 3 vertices"),
                                               ("metis promise", "promises 5 edges, .* hold 1")])
def test_totals_are_compared_with_the_first_line(name: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    path.write_text(BAD_FILES[name][1])
    with pytest.raises(GraphFormatError, match=f"g.graph: .*{problem}"):
        rows_of(path, 2)


@pytest.mark.parametrize("data", [b"\x1f\x8b 1", b"PK\x03\x04 1", b"\xff\xfe1\0", b"3\0\0\0\0"])
def test_packed_and_binary_files_are_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "g.graph").write_bytes(data)
    with pytest.raises(GraphFormatError, match=r"g.graph: is (packed|no UTF-8)"):
        open_metis_piece(tmp_path / "g.graph", 0, 1)


def test_impossible_arguments_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    path.write_text("3 0\n\n\n\n")
    for call in (lambda: open_metis_piece(path, 2, 2), lambda: open_metis_piece(path, 0, 0),
                 lambda: open_metis_piece(tmp_path / "none", 0, 1),
                 lambda: open_metis_piece(path, 0, 1).rows(-1),
                 lambda: open_metis_piece(path, 0, 1, max_vertices=2)):
        with pytest.raises(InputError):
            call()


def test_a_small_file_of_many_vertices_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g.graph").write_text("10000000000 0\n")
    with pytest.raises(GraphFormatError, match=r"g.graph:1: 10000000000 vertices in 14 bytes"):
        open_metis_piece(tmp_path / "g.graph", 0, 1)


def test_flipped_bits_and_cut_files_give_rows_or_typed_errors(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    graph_io.write(random_graph(12, 20, 1, weighted=True), path)
    read = 0
    for changed in damaged(path.read_bytes()):
        path.write_bytes(changed)
        with suppress(PortpartError):
            for rows in rows_of(path, 3):
                assert rows.offsets[-1] == len(rows.targets)
                assert ((rows.targets >= 0) & (rows.targets < rows.num_vertices)).all()
            read += 1
    assert 0 < read < 130
