"""The content of a file decides how it is read; what could be read in two ways is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from portpart import generators, io as graph_io
from portpart.errors import GraphFormatError
from portpart.formats.text import tokens
from portpart.formats.text.files import read_source
from portpart.inputs import known as sniff
from portpart.inputs.convert import as_graph
from tests import oracles
from tests.helpers.graphs import drawn_graphs, random_graph

TRAFFIC = np.add.outer(3 * np.arange(8), 3 * np.arange(8)) * (1 - np.eye(8, dtype=int))


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def as_text(table: Any, gap: str = ",") -> str:
    return "".join(gap.join(map(str, row)) + "\n" for row in np.asarray(table).tolist())


METIS_GRAPHS = {"mesh": generators.delaunay(300),
                "weights": random_graph(40, 100, 1, weighted=True),
                **{name: drawn_graphs()[name] for name in ("path", "all_weights", "isolated",
                                                           "heavy_vertex", "weighted")}}


@pytest.mark.parametrize("suffix", ["txt", "csv", "gr", "tsv", "data", "graph"])
@pytest.mark.parametrize("name", METIS_GRAPHS)
def test_a_metis_graph_is_read_under_any_name(suffix: str, name: str, tmp_path: Path) -> None:
    graph_io.write(METIS_GRAPHS[name], tmp_path / f"g.{suffix}", format="metis")
    if name == "heavy_vertex" and suffix in ("txt", "csv", "gr", "tsv"):  # three words a line
        with pytest.raises(GraphFormatError, match="or metis; choose one"):
            graph_io.read(tmp_path / f"g.{suffix}")
        return
    oracles.assert_same_graph(graph_io.read(tmp_path / f"g.{suffix}"), METIS_GRAPHS[name])


def test_a_metis_graph_that_begins_like_an_edge_list_is_read(tmp_path: Path) -> None:
    n = 300
    ring = sp.diags([np.ones(n - 1)] * 2, [-1, 1]).tolil()
    ring[0, n - 1] = ring[n - 1, 0] = ring[n - 3, n - 1] = ring[n - 1, n - 3] = 1
    graph_io.write(ring.tocsr(), tmp_path / "g.txt", format="metis")
    oracles.assert_same_graph(graph_io.read(tmp_path / "g.txt"), as_graph(ring.tocsr()))


def test_a_ring_under_another_name_is_refused_and_the_formats_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "g.txt", "4 4\n2 4\n1 3\n2 4\n1 3\n")
    with pytest.raises(GraphFormatError, match=r"g.txt: may be edge-list or metis; .*--format met"):
        graph_io.read(path)
    assert graph_io.read(path, format="metis").num_edges == 4
    assert graph_io.read(path, format="edge-list").num_edges == 2
    (tmp_path / "g.graph").write_text(path.read_text())
    assert graph_io.read(tmp_path / "g.graph").num_edges == 4


@pytest.mark.parametrize("gap", [",", " ", "\t", ";", ", "])
@pytest.mark.parametrize("suffix", ["csv", "txt", "data", "graph"])
def test_a_traffic_matrix_is_read_as_a_matrix(gap: str, suffix: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"g.{suffix}", as_text(TRAFFIC, gap))
    oracles.assert_same_graph(graph_io.read(path), as_graph(sp.csr_array(TRAFFIC)))


def test_numbers_with_points_and_comments_are_a_matrix_too(tmp_path: Path) -> None:
    path = written(tmp_path / "g.csv", "# bytes\n" + as_text(TRAFFIC.astype(float)))
    oracles.assert_same_graph(graph_io.read(path), as_graph(sp.csr_array(TRAFFIC)))


NAMES = [f"r{i}" for i in range(8)]
TITLED = {
    "names above": (NAMES, "", False),
    "names above and in front": (NAMES, "", True),
    "a corner": (NAMES, "rank", True),
    "numbers above and in front": ([str(i) for i in range(8)], "", True),
}


@pytest.mark.parametrize("name", TITLED)
@pytest.mark.parametrize("gap", [",", "\t", " "])
def test_a_matrix_with_names_is_read_with_them(name: str, gap: str, tmp_path: Path) -> None:
    names, corner, indexed = TITLED[name]
    above = gap.join([corner] * indexed + names)
    rows = [gap.join([names[i]] * indexed + list(map(str, row)))
            for i, row in enumerate(TRAFFIC.tolist())]
    path = written(tmp_path / "g.csv", "\n".join([above, *rows]) + "\n")
    graph = graph_io.read(path)
    oracles.assert_same_graph(graph, as_graph(sp.csr_array(TRAFFIC)))
    assert graph.names == names
    if indexed and gap != " ":
        other = path.read_text().replace(f"\n{names[3]}{gap}", f"\nother{gap}")
        with pytest.raises(GraphFormatError, match=r"g.csv:5: row 'other', where .* have '.*3'"):
            graph_io.read(written(path, other), format="dense")


def test_a_frame_of_pandas_is_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TRAFFIC.astype(int), index=NAMES, columns=NAMES)
    frame.to_csv(tmp_path / "g.csv")
    assert graph_io.read(tmp_path / "g.csv").names == NAMES


def test_an_asymmetric_matrix_is_refused_at_its_line(tmp_path: Path) -> None:
    table = TRAFFIC.copy()
    table[4, 5] += 1
    path = written(tmp_path / "g.csv", "% c\n" + as_text(table))
    with pytest.raises(GraphFormatError, match=r"g.csv:6: .*\(4, 5\)"):
        graph_io.read(path)


@pytest.mark.parametrize("table", [[[0, 3], [3, 0]], [[0, 1, 2], [1, 0, 3], [2, 3, 0]],
                                   [[7, 1, 2], [1, 7, 3], [2, 3, 7]]])
def test_a_tiny_table_is_refused_unless_the_format_is_said(table: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "g.txt", as_text(table))
    with pytest.raises(GraphFormatError, match="may be edge-list or dense; choose one: format="):
        graph_io.read(path)
    graph = graph_io.read(path, format="dense")
    oracles.assert_same_graph(graph, as_graph(sp.csr_array(np.array(table))))


@pytest.mark.parametrize("text", ["0 5\n5 2\n", "0 1\n1 0\n", "0 1 5\n1 2 3\n2 0 4\n", "1 0\n"])
def test_few_edges_are_edges(text: str, tmp_path: Path) -> None:
    assert graph_io.read(written(tmp_path / "g.txt", text)).num_edges == len(
        {frozenset(line.split()[:2]) for line in text.splitlines()})


def test_numpy_arrays_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "g.npy", TRAFFIC)
    oracles.assert_same_graph(graph_io.read(tmp_path / "g.npy"), as_graph(sp.csr_array(TRAFFIC)))
    np.save(tmp_path / "g.npy", np.asfortranarray(np.triu(TRAFFIC)))
    assert graph_io.read(tmp_path / "g.npy", symmetrize=True).total_arc_weight == TRAFFIC.sum()
    np.save(tmp_path / "g.npy", np.ones((5, 2), int))
    with pytest.raises(GraphFormatError, match=r"shape \(5, 2\); a matrix .* is square"):
        graph_io.read(tmp_path / "g.npy")
    np.save(tmp_path / "g.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(GraphFormatError, match=r"array of object; numbers are needed$"):
        graph_io.read(tmp_path / "g.npy")


ODD_ROWS = {
    "adjacency list": ("txt", "0 1\n1 2 3\n2\n", "g.txt:2: 3 words.* one edge a line"),
    "short": ("txt", "1 2\n\n3\n", "g.txt:3: 1 words, expected the two ends"),
    "weight missing": ("csv", "a_id,b_id,w\n1,2,5\n2,3\n", "g.csv:3: 2 words.* and a weight"),
    "far down": ("txt", "1 2\n" * 90_000 + "1 2 3\n", "g.txt:90001: 3 words"),
    "four": ("txt", "1 2 3 4\n2 3 4 5\n", r"g.txt:1: 4 columns; an edge has two ends and"),
    "four names": ("csv", "src,dst,kg,when\n1,2,3,4\n",
                   r"g.csv:2: 4 columns \('src', 'dst', 'kg', 'when'"),
    "partition": ("txt", "1\n0\n1\n1\n", "g.txt:1: 1 columns"),
    "mtx pattern": ("mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2 5\n",
                    "g.mtx:3: 3 words, expected the two ends"),
    "mtx real": ("mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n1 3\n",
                 "g.mtx:4: 2 words, expected two ends and a weight"),
    "mtx complex": ("mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 5\n",
                    "g.mtx:3: 3 words, expected 4 words"),
    "gr": ("gr", "p sp 3 2\na 1 2 5\na 2 3\n", "g.gr:3: 2 words, expected two ends and a weight"),
    "gr flow": ("gr", "p min 3 1\nn 1 4\na 1 2 0 4 7\n", "g.gr:3: 5 numbers, expected two ends"),
    "gr word": ("gr", "p sp 3 1\nx 1 2 5\n", "g.gr:2: 'x' begins no line of edges"),
    "gr p and more": ("gr", "p! 1\n", "g.gr:1: 'p!' begins no line of edges"),
    "gr other letters": ("gr", "p sp 3 1\nm\xd4 1 2\n", "g.gr:2: 'm..' begins no line of edges"),
    "bipartite": ("txt", "% bip unweighted\n1 1\n1 2\n2 3\n", "g.txt:1: a bipartite network"),
    "dense": ("npy", "1 2\n3\n", "g.npy:2: 1 words, where the lines above have 2"),
}


@pytest.mark.parametrize("name", ODD_ROWS)
def test_lines_of_other_lengths_are_refused(name: str, tmp_path: Path) -> None:
    suffix, text, message = ODD_ROWS[name]
    with pytest.raises(GraphFormatError, match=message):
        graph_io.read(written(tmp_path / f"g.{suffix}", text))


def test_the_fourth_column_of_a_known_header_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "out.txt", "% sym weighted\n% 2 3 3\n1 2 5 1190000000\n2 3 6 119\n")
    assert graph_io.read(path).total_arc_weight == 22


def test_an_edge_list_named_as_metis_is_refused_with_the_format_that_reads_it(
    tmp_path: Path
) -> None:
    path = written(tmp_path / "g.graph", "1 2\n2 3\n3 1\n")
    with pytest.raises(GraphFormatError, match=r"g.graph:\d: .*--format edge-list\) reads"):
        graph_io.read(path)
    assert graph_io.read(path, format="edge-list").num_edges == 3


@pytest.mark.parametrize("suffix", ["txt", "csv", "gr", "graph", "mtx", "npy", "npz",
                                    "parhip", "data"])
@pytest.mark.parametrize("text", ["", "\n\n", "# only this\n", "\x1d", "\x1f\n"])
def test_an_empty_file_is_no_graph(suffix: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError):
        graph_io.read(written(tmp_path / f"g.{suffix}", text))


def test_dimacs_and_matrix_market_are_read_under_any_name(tmp_path: Path) -> None:
    graph = random_graph(40, 100, 3, weighted=True)
    for suffix in ("gr", "mtx"):
        for other in ("txt", "graph", "data"):
            graph_io.write(graph, tmp_path / f"g.{suffix}")
            (tmp_path / f"g.{suffix}").rename(tmp_path / f"g.{other}")
            oracles.assert_same_graph(graph_io.read(tmp_path / f"g.{other}"), graph)


def test_an_edge_list_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "g.txt", "".join(f"{i} {i + 1}\n" for i in range(50_000)))
    passes = []
    run = tokens._Passes.run
    monkeypatch.setattr(tokens._Passes, "run", lambda self, fill, *rest: (
        passes.append(fill), run(self, fill, *rest)))
    assert graph_io.read(path).num_edges == 50_000
    assert passes == [False, True]
    assert len(sniff.sample_of(read_source(path)).rows) == sniff.SAMPLE_ROWS
