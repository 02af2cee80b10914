"""Ranges of rows of files, put together, are what reading the whole file gives."""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import io as graph_io
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import GraphFormatError, InputError, PortpartError
from portpart.graphs.graph import Graph
from portpart.io import RowFile, open_rows
from tests import oracles
from tests.formats.test_damaged import damaged
from tests.formats.test_parhip import LONG, packed, with_word
from tests.helpers.data_folder import graph_path
from tests.helpers.glued import Arrays, assert_same_arrays, borders_of, glued
from tests.helpers.graphs import graphs, random_graph


def write_folder(graph: Graph, path: Path) -> None:
    path.mkdir()
    for name, array in graph.arrays.items():
        if array is not None:
            np.save(path / f"{name}.npy", array)


WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    "g.parhip": graph_io.write, "g.npz": graph_io.write, "folder": write_folder}


def in_pieces(file: RowFile, borders: list[int]) -> Arrays:
    return glued([file.rows(first, last) for first, last in pairwise(borders)])


def assert_same(actual: Arrays, graph: Graph) -> None:
    """Assert that rows are those of a graph; weights may have another type."""
    expected = (graph.offsets, graph.targets, graph.weights, graph.vertex_weights)
    for one, other in zip(actual, expected):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=30, deadline=None)
@given(graph=graphs(large_weights=True), data=st.data())
def test_ranges_are_those_of_the_whole_file(name: str, graph: Graph, data: st.DataObject) -> None:
    n = graph.num_vertices
    inner = data.draw(st.lists(st.integers(0, n), max_size=5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        WRITERS[name](graph, path)
        with open_rows(path) as file:
            assert (file.num_vertices, file.num_arcs) == (n, graph.num_arcs)
            assert_same(in_pieces(file, [0, *sorted(inner), n]), graph)


@pytest.mark.parametrize("name", WRITERS)
def test_real_graphs_are_read_for_any_borders(name: str, data_folder: Path, tmp_path: Path) -> None:
    for real in ("add20", "bips98_606", "cage10"):
        graph = graph_io.read(graph_path(real))
        path = tmp_path / f"{real}{name}"
        WRITERS[name](graph, path)
        with open_rows(path) as file:
            for borders in borders_of(graph.num_vertices):
                assert_same(in_pieces(file, borders), graph)


@pytest.mark.parametrize("flags", range(64))
def test_every_width_of_parhip_files_is_read(flags: int, tmp_path: Path) -> None:
    """Types of weights follow from the file, not from the range."""
    (tmp_path / "g.bgf").write_bytes(packed(flags))
    graph = graph_io.read(tmp_path / "g.bgf")
    with open_rows(tmp_path / "g.bgf") as file:
        pieces = [file.rows(first, last) for first, last in pairwise([0, 0, 2, 4, 4])]
    assert_same(glued(pieces), graph)
    for rows in pieces:
        assert rows.targets.dtype == np.int32
        assert (rows.weights is None) == bool(flags & 1)
        if rows.weights is not None:
            assert rows.weights.dtype == (np.int32 if flags & 32 else np.int64)
        assert rows.vertex_weights is None or rows.vertex_weights.dtype == np.int64


@pytest.mark.parametrize("dtype", ["<i4", ">i8", "u2", "<u4", "u8", "i1"])
def test_every_type_of_integers_is_read(dtype: str, tmp_path: Path) -> None:
    graph = random_graph(20, 40, 1, weighted=True)
    arrays = {"indptr": graph.offsets, "indices": graph.targets, "weights": graph.weights % 100}
    np.savez(tmp_path / "g.npz", **{key: array.astype(dtype) for key, array in arrays.items()})
    with open_rows(tmp_path / "g.npz") as file:
        offsets, targets, weights, _ = in_pieces(file, [0, 7, 20])
    for one, other in zip((offsets, targets, weights), arrays.values()):
        np.testing.assert_array_equal(one, other)


def test_rows_live_where_they_are_wanted(space: ExecutionSpace, tmp_path: Path) -> None:
    graph = random_graph(30, 60, 2, weighted=True)
    graph_io.write(graph, tmp_path / "g.parhip")
    with open_rows(tmp_path / "g.parhip") as file:
        rows = file.rows(0, 30, space)
    assert rows.space is space
    np.testing.assert_array_equal(oracles.host(rows.targets), graph.targets)


@pytest.mark.parametrize("name", WRITERS)
def test_loops_are_left_out(name: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"offsets": np.array([0, 2, 3, 4]), "targets": np.array([0, 1, 0, 2]),
                              "weights": np.array([9, 5, 5, 7])}
    if name == "folder":
        (tmp_path / name).mkdir()
        for key, array in arrays.items():
            np.save(tmp_path / name / f"{key}.npy", array)
    elif name == "g.npz":
        np.savez(tmp_path / name, **arrays)
    else:
        (tmp_path / name).write_bytes(packed(2, *(each.tolist() for each in arrays.values())))
    with open_rows(tmp_path / name) as file:
        offsets, targets, weights, _ = in_pieces(file, [0, 1, 3])
    assert (offsets.tolist(), targets.tolist()) == ([0, 1, 2, 2], [1, 0])
    assert weights is not None
    assert weights.tolist() == [5, 5]


@settings(max_examples=50, deadline=None)
@given(graph=graphs(), size=st.integers(1, 9), cost=st.integers(0, 9))
def test_borders_divide_the_cost_to_within_a_row(graph: Graph, size: int, cost: int) -> None:
    degrees = np.diff(graph.offsets)
    with tempfile.TemporaryDirectory() as folder:
        graph_io.write(graph, Path(folder) / "g.npz")
        with open_rows(Path(folder) / "g.npz") as file:
            borders = file.borders(size, cost)
    assert borders == sorted(borders)
    assert (borders[0], borders[-1], len(borders)) == (0, graph.num_vertices, size + 1)
    costs = degrees + cost
    largest = int(costs.max()) if len(costs) else 0
    for first, last in pairwise(borders):
        assert costs[first:last].sum() <= costs.sum() / size + largest


def refused(path: Path, first: int = 0, last: int | None = None) -> str:
    """Return the message with which a file is refused, when it is opened or read."""
    with pytest.raises(GraphFormatError) as problem, open_rows(path) as file:
        file.rows(first, file.num_vertices if last is None else last)
    assert str(problem.value).startswith(str(path))
    return str(problem.value)


@pytest.mark.parametrize(("place", "word", "problem"), [
    (0, 64, "first word is 64"), (1, 2**61, "the file has 96"), (2, 2**64 - 1, r"at most 2\^62"),
    (3, 72, "offset 0 is 1; offsets ascend from 0 to 4"), (4, 73, "row of vertex 1 begins at byte"),
    (5, 64, "row of vertex 1 ends before it begins, at arcs 0 and 1"), (6, 104, "vertex 3 begins"),
    (7, 88, "offset 4 is 3"), (9, 4, "4, a neighbour of vertex 1, is not a vertex"),
    (9, 2**64 - 1, "above the limit")])
def test_lying_parhip_files_are_refused(place: int, word: int, problem: str,
                                        tmp_path: Path) -> None:
    path = tmp_path / "g.parhip"
    path.write_bytes(with_word(LONG, place, word))
    assert re.search(problem, refused(path))


def test_borders_of_files_that_lie_ascend(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", offsets=[0, 9, 9, 0, 0, 9, 1, 9, 9, 9], targets=[1] * 9)
    with open_rows(tmp_path / "g.npz") as file:
        for size in range(1, 9):
            borders = file.borders(size, 0)
            assert borders == sorted(borders)


def test_ids_of_32_bits_are_not_negative(tmp_path: Path) -> None:
    (tmp_path / "g.parhip").write_bytes(packed(11, targets=[1, 0, 2, -1]))
    assert "4294967295, a neighbour of vertex 2" in refused(tmp_path / "g.parhip")


def test_ranges_away_from_the_damage_are_read(tmp_path: Path) -> None:
    """Only what is read is looked at, and vertices have their numbers in messages."""
    path = tmp_path / "g.parhip"
    path.write_bytes(packed(0, weights=[5, 5, 6, -6], masses=[1, 1, 1, -4]))
    with open_rows(path) as file:
        assert file.rows(0, 1).num_arcs == 1
        with pytest.raises(GraphFormatError, match=r"arc \(2, 1\) has weight -6"):
            file.rows(2, 3)
        with pytest.raises(GraphFormatError, match="vertex 3 has weight -4"):
            file.rows(3, 4)


def test_a_file_that_is_cut_while_it_is_open_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.parhip"
    path.write_bytes(LONG)
    with open_rows(path) as file:
        path.write_bytes(LONG[:70])
        with pytest.raises(GraphFormatError, match=r"g.parhip: ends after \d of 4 numbers"):
            file.rows(0, 4)


def saved(**arrays: Any) -> Callable[[Path], None]:
    return lambda path: np.savez(path, **{key: np.array(array) for key, array in arrays.items()})


NPZ = {
    "compressed": (lambda path: np.savez_compressed(path, offsets=[0], targets=[1]),
                   "offsets.npy: is compressed"),
    "nothing": (saved(points=[1]), "holds nothing of a graph"),
    "no targets": (saved(offsets=[0, 0]), "holds offsets of a graph"),
    "floats": (saved(offsets=[0.0, 0.0], targets=[0]), "offsets.npy: holds an array of float64"),
    "table": (saved(offsets=[[0]], targets=[0]), r"of shape \(1, 1\)"),
    "no offset": (saved(offsets=np.zeros(0, int), targets=[0]), "offsets.npy: is empty"),
    "few weights": (saved(offsets=[0, 1], targets=[0], weights=[1, 2]), "2 weights; 1 are needed"),
    "few masses": (saved(offsets=[0, 0], targets=np.zeros(0, int), vertex_weights=[1, 2]),
                   "vertex_weights.npy: holds 2 weights; 1 are needed"),
    "huge offset": (saved(offsets=np.array([0, 2**63], np.uint64), targets=[0]), "above the limit"),
    "offset beyond arcs": (saved(offsets=[0, 9, 2], targets=[1, 0]), "offset 1 is 9; offsets"),
    "descending": (saved(offsets=[0, 2, 1, 2], targets=[1, 0]), "vertex 1 ends before it begins"),
    "total": (saved(offsets=[0, 1, 2], targets=[1, 0], weights=[2**62, 2**62]), "add up to 922"),
    "total of vertices": (saved(offsets=[0, 1, 2], targets=[1, 0], vertex_weights=[2**62, 1]),
                          "vertex weights add up to"),
    "text": (lambda path: path.write_bytes(b"PK nothing"), "no .npz archive"),
}


@pytest.mark.parametrize("name", NPZ)
def test_archives_that_hold_no_graph_are_refused(name: str, tmp_path: Path) -> None:
    write, problem = NPZ[name]
    write(tmp_path / "g.npz")
    assert re.search(problem, refused(tmp_path / "g.npz"))


def test_arrays_that_promise_more_than_there_is_are_refused(tmp_path: Path) -> None:
    """Before anything of that size is allocated."""
    graph_io.write(random_graph(20, 40, 1), tmp_path / "g.npz")
    data = (tmp_path / "g.npz").read_bytes()
    assert data.count(b"'shape': (21,), ") == 1
    (tmp_path / "g.npz").write_bytes(data.replace(b"'shape': (21,), }", b"'shape':(10**9,)}"))
    assert "damaged, or not an array" in refused(tmp_path / "g.npz")
    for shape in (b"99999", b"   22"):
        changed = data.replace(b"'shape': (21,), }", b"'shape':(%b,)}" % shape)
        (tmp_path / "g.npz").write_bytes(changed)
        assert f"promises an array of shape ({int(shape)},)" in refused(tmp_path / "g.npz")


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    assert "open_metis_piece reads METIS" in refused(tmp_path / "g.graph")
    graph_io.write(random_graph(20, 40, 1), tmp_path / "g.parhip.gz")
    assert "is packed" in refused(tmp_path / "g.parhip.gz")
    (tmp_path / "empty").mkdir()
    assert "holds nothing of a graph" in refused(tmp_path / "empty")
    (tmp_path / "g.parhip").write_bytes(b"")
    assert "there are 0 bytes" in refused(tmp_path / "g.parhip")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        open_rows(tmp_path / "none.parhip")


def test_impossible_ranges_and_sizes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "g.parhip").write_bytes(LONG)
    with open_rows(tmp_path / "g.parhip") as file:
        for call in (lambda: file.rows(2, 1), lambda: file.rows(0, 5), lambda: file.rows(-1, 2),
                     lambda: file.borders(0), lambda: file.borders(2, -1)):
            with pytest.raises(InputError):
                call()


@pytest.mark.parametrize("name", ["g.parhip", "g.npz"])
def test_flipped_bits_and_cut_files_give_rows_or_typed_errors(name: str, tmp_path: Path) -> None:
    graph = random_graph(12, 20, 1, weighted=True)
    graph_io.write(portpart.as_graph(graph, vertex_weights=np.arange(12)), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    read = 0
    for changed in damaged(data):
        (tmp_path / name).write_bytes(changed)
        with suppress(PortpartError), open_rows(tmp_path / name) as file:
            for first, last in pairwise(file.borders(3)):
                rows = file.rows(first, last)
                assert rows.offsets[-1] == len(rows.targets)
                assert ((rows.targets >= 0) & (rows.targets < file.num_vertices)).all()
            read += 1
    assert 0 < read < 130


def test_names_of_members_are_not_trusted(tmp_path: Path) -> None:
    """A member whose local header is elsewhere than the directory of the archive says."""
    graph_io.write(random_graph(20, 40, 1), tmp_path / "g.npz")
    data = bytearray((tmp_path / "g.npz").read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + 42 : entry + 46] = struct.pack("<I", 9)
    (tmp_path / "g.npz").write_bytes(bytes(data))
    refused(tmp_path / "g.npz")


def test_pieces_of_both_readers_are_equal(tmp_path: Path) -> None:
    graph = random_graph(200, 900, 4)
    for name in ("g.parhip", "g.npz"):
        graph_io.write(graph, tmp_path / name)
    with open_rows(tmp_path / "g.parhip") as one, open_rows(tmp_path / "g.npz") as other:
        assert one.borders(7) == other.borders(7)
        assert_same_arrays(in_pieces(one, one.borders(7)), in_pieces(other, [0, 200]))
