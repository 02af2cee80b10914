"""Names of vertices are written where a format has them, and a warning tells where it has not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import portpart
from portpart.cli import main
from portpart.errors import GraphFormatError
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.graphs import graphs

PLAIN = ["ann", "bob", "é", "d#", "x\udce9", "f.1", "g'"]
ODD = ["a b", "c,d", 'e"f', "#g", "%h", "i;j", "source", "target", "7", "\tk"[1:]]


def edges_of(graph: Graph) -> dict[frozenset[str], int]:
    """Weights of the edges by the text of the names of their ends, loops left out."""
    matrix, names = graph.to_scipy().tocoo(), list(map(str, graph.names))
    return {frozenset((names[u], names[v])): int(w)
            for u, v, w in zip(matrix.row, matrix.col, matrix.data)}


def path_of(names: list[Any], weighted: bool = False, alone: tuple[Any, ...] = ()) -> Graph:
    made = networkx.path_graph(names)
    made.add_nodes_from(alone)
    for number, edge in enumerate(made.edges):
        if weighted:
            made.edges[edge]["weight"] = number + 2
    return portpart.as_graph(made)


def again(graph: Graph, path: Path) -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        portpart.io.write(graph, path)
    return portpart.io.read(path)


@pytest.mark.parametrize("suffix", ["txt", "csv", "tsv.gz", "npz"])
@pytest.mark.parametrize("names", [PLAIN, ODD, [(0, 1), (0, 2), (1, 2)], [10, 20, 30, 7, 0],
                                   ["only", "two"], ["1.5", "2e3"], ["source", "target"],
                                   ["SRC", "from", "U"]])
@pytest.mark.parametrize("weighted", [False, True])
def test_names_are_read_as_they_were_written(names: list[Any], weighted: bool, suffix: str,
                                             tmp_path: Path) -> None:
    for alone in ((), ("x alone", "y") if isinstance(names[0], str) else (91, 90)):
        graph = path_of(names, weighted, alone)
        made = again(graph, tmp_path / f"g.{suffix}")
        assert edges_of(made) == edges_of(graph)
        assert set(map(str, made.names)) == set(map(str, graph.names))
        if suffix == "npz" or isinstance(names[0], (str, tuple)):
            assert list(map(str, made.names)) == list(map(str, graph.names))


@given(st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=6, unique=True),
       st.booleans())
def test_any_text_is_a_name_in_an_archive_and_in_an_edge_list_if_it_fits(
        tmp_path_factory: pytest.TempPathFactory, names: list[str], weighted: bool) -> None:
    folder = tmp_path_factory.mktemp("names")
    graph = path_of(names, weighted)
    made = again(graph, folder / "g.npz")
    assert (list(made.names), edges_of(made)) == (names, edges_of(graph))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        portpart.io.write(graph, folder / "g.txt")
    made = portpart.io.read(folder / "g.txt")
    if not caught:
        assert edges_of(made) == edges_of(graph)
        if not all(map(str.isdecimal, names)):
            assert list(made.names) == names
    else:
        assert "an edge list cannot hold them" in str(caught[0].message)
        assert made.num_edges == graph.num_edges


@given(graphs(parallel=False), st.booleans())
def test_vertices_keep_their_order(tmp_path_factory: pytest.TempPathFactory, graph: Graph,
                                   weighted: bool) -> None:
    """As files of blocks go by it: whatever the graph, and whatever order it is numbered in."""
    names = [f"v{vertex}" for vertex in range(graph.num_vertices)]
    bare = Graph(graph.offsets, graph.targets, graph.weights if weighted else None, None,
                 graph.space, names=names)
    made = again(bare, tmp_path_factory.mktemp("order") / "g.txt")
    assert list(made.names or []) == names
    assert sorted(oracles.arcs(made)) == sorted(oracles.arcs(bare))


def test_a_list_that_was_read_needs_no_loops_to_keep_its_order(tmp_path: Path) -> None:
    rows = ["e f", "a b", "b c", "g a", "c f"]
    (tmp_path / "g.txt").write_text("\n".join(["source target", *rows]))
    portpart.io.write(portpart.io.read(tmp_path / "g.txt"), tmp_path / "again.txt")
    written = [line.split() for line in (tmp_path / "again.txt").read_text().splitlines()[2:]]
    assert sorted(map(sorted, written)) == sorted(sorted(row.split()) for row in rows)


def test_names_that_are_numbers_of_vertices_change_nothing(tmp_path: Path) -> None:
    portpart.io.write(portpart.as_graph(networkx.path_graph(3)), tmp_path / "g.txt")
    assert (tmp_path / "g.txt").read_text() == "# portpart: vertices 3 edges 2\n0 1\n1 2\n"
    with np.load(_written(portpart.as_graph(networkx.path_graph(3)), tmp_path / "g.npz")) as held:
        assert set(held) == {"offsets", "targets"}


def _written(graph: Graph, path: Path) -> Path:
    portpart.io.write(graph, path)
    return path


def test_an_archive_is_read_by_programs_that_know_no_names(tmp_path: Path) -> None:
    graph = path_of(PLAIN)
    with np.load(_written(graph, tmp_path / "g.npz")) as held:
        assert held["offsets"].tolist() == graph.offsets.tolist()
        assert held["vertex_names"].tobytes().decode("utf-8", "surrogatepass") == "".join(PLAIN)


@pytest.mark.parametrize("suffix", ["graph", "mtx", "gr"])
def test_a_format_without_names_is_a_warning(suffix: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"the names of 7 vertices are not written, as \S+ files "
                                         r"hold none; \.txt, \.npz files keep names") as caught:
        portpart.io.write(path_of(PLAIN), tmp_path / f"g.{suffix}")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        portpart.io.write(path_of([0, 1, 2]), tmp_path / f"g.{suffix}")


def test_hypergraphs_warn_of_names(tmp_path: Path) -> None:
    nets = portpart.as_hypergraph([["a", "b"], ["b", "c"]])
    with pytest.warns(UserWarning, match="the names of 3 vertices are not written") as caught:
        portpart.io.write_hypergraph(nets, tmp_path / "n.hgr")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("names", [["a", "b\nc"], ["a", " b"], ["a", ""], ["1", 1], ["a", "b\0"],
                                   ["a", "\ud800"]])
def test_names_that_no_edge_list_can_hold_are_a_warning(names: list[Any], tmp_path: Path) -> None:
    graph = path_of(names)
    with pytest.warns(UserWarning, match=r"an edge list cannot hold them: names\[.*; \.npz files"):
        portpart.io.write(graph, tmp_path / "g.txt")
    assert (tmp_path / "g.txt").read_text().endswith("\n0 1\n")


def test_blocks_by_name_follow_a_converted_file(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("names.csv").write_text("source,target\nzoe,adam\nadam,eve\neve,carl\n")
    assert main(["convert", "names.csv", "out.txt"]) == 0
    assert main(["convert", "out.txt", "out.npz"]) == 0
    assert capsys.readouterr().err == ""
    for file in ("names.csv", "out.txt", "out.npz"):
        assert main(["partition", file, "-k", "2", "--names", "-o", f"{file}.part", "-q"]) == 0
        held = dict(line.split() for line in Path(f"{file}.part").read_text().splitlines())
        assert sorted(held) == ["adam", "carl", "eve", "zoe"]
    assert main(["convert", "names.csv", "out.graph"]) == 0
    assert "warning: the names of 4 vertices are not written" in capsys.readouterr().err


@pytest.mark.parametrize(("arrays", "message"), [
    ({"vertex_names": np.array([1.5, 2, 3])}, "integers of shape"),
    ({"vertex_names": np.array([1, 2])}, "integers of shape"),
    ({"vertex_names": np.frombuffer(b"abc", np.uint8), "vertex_name_ends": np.array([1, 2])},
     "is of type|are needed"),
    ({"vertex_names": np.frombuffer(b"abc", np.uint8), "vertex_name_ends": np.array([2, 1, 3])},
     "do not divide 3 bytes"),
    ({"vertex_names": np.frombuffer(b"abc", np.uint8), "vertex_name_ends": np.array([1, 2, 9])},
     "do not divide 3 bytes"),
    ({"vertex_names": np.frombuffer(b"a\xffc", np.uint8), "vertex_name_ends": np.array([1, 2, 3])},
     "are not UTF-8"),
])
def test_damaged_names_of_an_archive_are_refused(arrays: dict[str, np.ndarray], message: str,
                                                 tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", offsets=[0, 1, 3, 4], targets=[1, 0, 2, 1], **arrays)
    with pytest.raises(GraphFormatError, match=message):
        portpart.io.read(tmp_path / "g.npz")
