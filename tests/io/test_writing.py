"""What is written is read again; a failure leaves no file behind."""

from __future__ import annotations

import io
import os
import random
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import portpart
from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.graphs import drawn_graphs, graphs


def round_trip(graph: Graph, suffix: str) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"g.{suffix}"
        graph_io.write(graph, path)
        assert os.listdir(folder) == [path.name]
        return graph_io.read(path)


@given(graphs(large_weights=True))
def test_metis_npz_and_parhip_keep_everything(graph: Graph) -> None:
    for suffix in ("graph", "npz", "parhip", "graph.gz"):
        oracles.assert_same_graph(round_trip(graph, suffix), graph)


@given(graphs(parallel=False))
def test_edge_formats_keep_simple_graphs(graph: Graph) -> None:
    bare = Graph(graph.offsets, graph.targets, graph.weights, None, graph.space)
    for suffix in ("mtx", "txt", "gr", "csv.bz2"):
        oracles.assert_same_graph(round_trip(bare, suffix), bare)


@given(graphs(), st.randoms(use_true_random=False))
def test_every_format_keeps_every_cut(graph: Graph, draw: random.Random) -> None:
    part = np.array([draw.randrange(3) for _ in range(graph.num_vertices)])
    bare = Graph(graph.offsets, graph.targets, graph.weights, None, graph.space)
    for suffix in ("mtx", "txt", "gr", "graph", "npz", "parhip"):
        again = round_trip(round_trip(bare, suffix), "graph")
        assert again.num_vertices == bare.num_vertices
        assert oracles.cut(again, part) == oracles.cut(bare, part)


def test_parallel_edges_without_weights_become_their_number(tmp_path: Path) -> None:
    (tmp_path / "g.graph").write_text("3 4\n2 3 2\n1 3 1\n1 2\n")
    graph_io.write(graph_io.read(tmp_path / "g.graph"), tmp_path / "g.mtx")
    assert (tmp_path / "g.mtx").read_text().split("\n", 1)[1] == "3 3 3\n2 1 2\n3 1 1\n3 2 1\n"
    assert graph_io.read(tmp_path / "g.mtx", weights="ignore").weights is None


@pytest.mark.parametrize("suffix", ["graph.xz", "mtx.gz", "txt.bz2", "gr.xz"])
def test_suffix_packs(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"g.{suffix}"
    graph_io.write(drawn_graphs()["weighted"], path)
    assert path.read_bytes()[:2] in (b"\xfd7", b"\x1f\x8b", b"BZ")
    oracles.assert_same_graph(graph_io.read(path), drawn_graphs()["weighted"])


def test_metis_text_is_as_the_manual_says(tmp_path: Path) -> None:
    graph_io.write(drawn_graphs()["all_weights"], tmp_path / "g.graph")
    assert (tmp_path / "g.graph").read_text() == (
        f"5 3 11\n0 2 3\n{2**41} 3 {2**40} 1 3\n1 2 {2**40}\n1 5 9\n5 4 9\n")
    graph_io.write(drawn_graphs()["isolated"], tmp_path / "g.graph")
    assert (tmp_path / "g.graph").read_text() == "4 1\n\n3\n2\n\n"


@pytest.mark.parametrize("suffix", ["mtx", "txt", "gr"])
def test_vertex_weights_are_not_lost_silently(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"g.{suffix}"
    path.write_text("before")
    with pytest.raises(InputError, match=r"cannot hold vertex weights; write .graph or .npz"):
        graph_io.write(drawn_graphs()["heavy_vertex"], path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == [path.name]


def test_unknown_suffix_and_missing_folder_are_refused(tmp_path: Path) -> None:
    graph = drawn_graphs()["path"]
    with pytest.raises(InputError, match=r"end it with one of .graph, .mtx"):
        graph_io.write(graph, tmp_path / "g.xyz")
    with pytest.raises(InputError, match="cannot be written: No such file"):
        graph_io.write(graph, tmp_path / "none" / "g.graph")
    graph_io.write(graph.to_scipy(), tmp_path / "g.xyz", format="metis")
    assert graph_io.read(tmp_path / "g.xyz").num_edges == 5


def test_hypergraphs_have_a_function_and_a_suffix_of_their_own(tmp_path: Path) -> None:
    nets = portpart.as_hypergraph([[0, 1, 2]])
    with pytest.raises(InputError, match="write_hypergraph writes hypergraphs"):
        graph_io.write(nets, tmp_path / "x.graph")
    for name in ("x.mtx", "x.u", "x.graph.gz"):
        with pytest.raises(InputError, match=f"{name}: its suffix is that of"):
            graph_io.write_hypergraph(nets, tmp_path / name)
    assert not list(tmp_path.iterdir())
    for name in ("x.hgr", "x.hmetis.gz", "x"):
        graph_io.write_hypergraph(nets, tmp_path / name)
        assert graph_io.read_hypergraph(tmp_path / name).num_pins == 3


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=out))
    graph_io.write(drawn_graphs()["one_edge"], "-", format="metis")
    graph_io.write_partition([0, 1], "-")
    assert out.getvalue() == b"2 1\n2\n1\n0\n1\n"


def test_new_files_have_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    graph_io.write_partition([0], tmp_path / "part")
    assert (tmp_path / "part").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("name", ["p", "p.gz", "p.xz"])
def test_partition_round_trip(name: str, tmp_path: Path) -> None:
    part = np.random.default_rng(1).integers(0, 1000, 5000)
    graph_io.write_partition(part, tmp_path / name)
    again = graph_io.read_partition(tmp_path / name, 5000)
    assert again.dtype == np.int32
    assert (again == part).all()


def test_empty_partition(tmp_path: Path) -> None:
    graph_io.write_partition([], tmp_path / "p")
    assert len(graph_io.read_partition(tmp_path / "p")) == 0


@pytest.mark.parametrize(("text", "message"), [
    ("0\n1 2\n", "p:2: expected one block number per line"),
    ("0\n-1\n", "p:2: -1 is not a block number"),
    ("0\nx\n", "p:2: 'x' is not an integer"),
    ("0\n1\n", "p: 2 lines for 3 vertices"),
])
def test_bad_partition_files(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        graph_io.read_partition(tmp_path / "p", 3)


def test_bad_partitions_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one-dimensional array of integers"):
        graph_io.write_partition([0.5], tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_a_result_stands_for_its_blocks(tmp_path: Path) -> None:
    result = portpart.partition(portpart.generators.grid_2d(4), 2)
    graph_io.write_partition(result, tmp_path / "p")
    assert graph_io.read_partition(tmp_path / "p", 16).tolist() == result.part.tolist()
    names = [f"v{i}" for i in range(16)]
    graph_io.write_named_partition(names, result, tmp_path / "p")
    assert graph_io.read_named_partition(tmp_path / "p", names).tolist() == result.part.tolist()


@pytest.mark.parametrize("block", [2**31, -2])
def test_blocks_that_no_reader_takes_are_not_written(block: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"part\[1\] is {block}; blocks are numbers from 0"):
        graph_io.write_partition([0, block], tmp_path / "p")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("names", [[" a", "b "], ["a b", "\tc"]])
def test_blanks_around_names_do_not_count(names: list[str], tmp_path: Path) -> None:
    graph_io.write_named_partition(names, [1, 0], tmp_path / "p")
    assert graph_io.read_named_partition(tmp_path / "p", names).tolist() == [1, 0]


@pytest.mark.parametrize(("names", "message"), [
    (["a", "b", "a"], r"names\[2\] is 'a', names\[0\] is 'a'"),
    ([1, "1", "b"], r"names\[1\] is '1', names\[0\] is 1"),
    (["a", "a ", "b"], r"names\[1\] is 'a '"),
    (["a", "b", "c\nd"], r"names\[2\] is 'c\\nd'; a name must be on one line"),
])
def test_names_that_no_reader_tells_apart_are_not_written(
    names: list[Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        graph_io.write_named_partition(names, [0, 1, 0], tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_a_file_without_a_name_is_no_folder() -> None:
    with pytest.raises(InputError, match=r"^'' cannot be read: No such file or directory$"):
        graph_io.read("")


def test_a_link_is_followed_and_permissions_are_kept(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "part", tmp_path / "link"
    target.write_text("before")
    target.chmod(0o600)
    link.symlink_to(target)
    graph_io.write_partition([0, 1], link)
    assert link.is_symlink()
    assert target.read_text() == "0\n1\n"
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_regular_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        graph_io.write_partition([0, 1], pipe)
        assert os.read(reader, 100) == b"0\n1\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        graph_io.write_partition([0], tmp_path)


def test_a_closed_standard_stream_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(InputError, match="standard input is closed"):
        graph_io.read("-")
    with pytest.raises(InputError, match="standard output is closed"):
        graph_io.write_partition([0], "-")
