"""Directions and weights of files, by the rules of `as_graph`; against SciPy and plain Python."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, strategies as st

import portpart
from portpart import io as graph_io
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError
from portpart.formats.text.files import Source
from portpart.formats.text.fractions import fractions_at
from portpart.inputs.convert import as_graph
from tests import oracles
from tests.helpers import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)

MTX = "%%MatrixMarket matrix coordinate "

TRAFFIC = {  # both directions of the edge 1-2, one of 2-3
    "g.mtx": MTX + "integer general\n3 3 3\n1 2 3\n2 1 5\n2 3 4\n",
    "g.gr": "p sp 3 3\na 1 2 3\na 2 1 5\na 2 3 4\n",
    "g.txt": "10 20 3\n20 10 5\n20 30 4\n",
    "g.csv": "source,target,weight\n10,20,3\n20,10,5\n20,30,4\n",
    "h.csv": "0,3,0,0\n5,0,4,0\n0,0,0,0\n0,0,0,0\n",
    "g.graph": "3 3 1\n2 3\n1 5 3 4\n\n",
}


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", TRAFFIC)
@pytest.mark.parametrize(("how", "weights"), [("sum", [8, 4]), ("max", [5, 4])])
def test_directions_add_up_or_the_larger_counts(
    name: str, how: str, weights: list[int], tmp_path: Path
) -> None:
    path = written(tmp_path / name, TRAFFIC[name])
    for graph in (graph_io.read(path, symmetrize=how), as_graph(path, symmetrize=how)):
        assert [w for u, v, w in sorted(oracles.arcs(graph)) if u < v] == weights


@pytest.mark.parametrize("name", TRAFFIC)
@pytest.mark.parametrize("how", [None, True])
def test_directions_that_differ_are_refused_at_their_line(
    name: str, how: bool | None, tmp_path: Path
) -> None:
    path = written(tmp_path / name, TRAFFIC[name])
    with pytest.raises(GraphFormatError) as caught:
        graph_io.read(path, symmetrize=how)
    message = str(caught.value)
    assert "weight 3" in message
    assert "weight 5" in message
    if name in ("g.txt", "g.csv"):
        assert "edge (10, 20)" in message
    if name in ("g.mtx", "g.gr", "g.txt"):
        assert f"{name}:{TRAFFIC[name].count(chr(10)) - 2}:" in message
    if how or name in ("g.mtx", "g.gr", "g.txt", "g.csv"):
        assert 'symmetrize="sum"' in message
        assert '"max"' in message


@pytest.mark.parametrize("name", TRAFFIC)
def test_directions_that_agree_are_one_edge(name: str, tmp_path: Path) -> None:
    text = TRAFFIC[name].replace("5", "3")
    graph = graph_io.read(written(tmp_path / name, text), symmetrize=True)
    assert [w for u, v, w in sorted(oracles.arcs(graph)) if u < v] == [3, 4]
    ignored = graph_io.read(tmp_path / name, symmetrize=True, weights="ignore")
    assert ignored.weights is None
    assert ignored.num_edges == 2


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["integer", "real", "pattern"])
@pytest.mark.parametrize("how", ["sum", "max", True])
@pytest.mark.parametrize("weights", ["abs", "ignore"])
def test_matrix_market_as_scipy_reads_it(
    symmetry: str, field: str, how: Any, weights: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(len(symmetry + field))
    entries = rng.integers(1, 9, (12, 12)) * (rng.random((12, 12)) < 0.3)
    if symmetry != "general" or how is True:
        entries = np.tril(entries, -1)
    if field == "real":
        entries = entries * 0.25
    rows = [f"{u + 1} {v + 1}" + ("" if field == "pattern" else f" {entries[u, v]}")
            for u, v in zip(*np.nonzero(entries))]
    path = written(tmp_path / "g.mtx", f"{MTX}{field} {symmetry}\n12 12 {len(rows)}\n"
                   + "\n".join(rows) + "\n")
    if field == "pattern" and (weights == "abs" or symmetry == "skew-symmetric"):
        return  # no values; SciPy makes signs of a pattern
    matrix = scipy.io.mmread(path)
    expected = as_graph(sp.csr_array(matrix), symmetrize=how, weights=weights)
    graph = graph_io.read(path, symmetrize=how, weights=weights)
    oracles.assert_same_graph(graph, expected)
    assert graph.weight_scale == expected.weight_scale


def test_values_of_both_signs_are_never_taken_silently(tmp_path: Path) -> None:
    path = written(tmp_path / "g.mtx", MTX + "integer skew-symmetric\n2 2 1\n2 1 5\n")
    with pytest.raises(GraphFormatError, match=r'g.mtx:1: a skew-symmetric .*weights="abs"'):
        graph_io.read(path)
    assert graph_io.read(path, weights="abs").total_arc_weight == 10


FRACTIONS = {"g.txt": "1 2 0.25\n2 3 1e-1\n3 1 -0.5\n",
             "g.gr": "a 1 2 0.25\na 2 3 1e-1\na 3 1 -.5\n",
             "g.mtx": MTX + "real general\n3 3 3\n1 2 0.25\n2 3 1e-1\n3 1 -0.5\n",
             "g.csv": "0,.25,-.5,0\n.25,0,1e-1,0\n-.5,0.1,0,0\n0,0,0,0\n"}


@pytest.mark.parametrize("name", FRACTIONS)
def test_fractions_are_scaled_where_asked_for(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / name, FRACTIONS[name])
    graph = graph_io.read(path, weights="abs", weight_scale=100)
    assert sorted(w for u, v, w in oracles.arcs(graph) if u < v) == [10, 25, 50]
    assert graph.weight_scale == 100
    assert graph_io.read(path, weights="abs").weight_scale == 10**9
    with pytest.raises(GraphFormatError, match=r'-0\.5; .*below 0: weights="abs"'):
        graph_io.read(path, weights="round")
    with pytest.raises(GraphFormatError, match=rf'{name}:\d: .*not an integer.*weights="round"'):
        graph_io.read(path, weights="keep")
    assert graph_io.read(path, weights="ignore").num_edges == 3
    path.write_text(FRACTIONS[name].replace("-0.5", "0.5").replace("-.5", ".5"))
    assert graph_io.read(path, weights="round", weight_scale=4).total_arc_weight == 2 * (1 + 0 + 2)


@pytest.mark.parametrize("text", ["3 2 001\n2 1.5\n1 1.5 3 2.25\n2 2.25\n", "1 0 010\n1e-3\n"])
@pytest.mark.parametrize("weights", [None, "round"])
def test_fractions_in_metis_files_are_refused_with_a_remedy(
        text: str, weights: str | None, tmp_path: Path) -> None:
    """No option reads them; words that are not numbers need another remedy."""
    path = written(tmp_path / "g.graph", text)
    with pytest.raises(GraphFormatError, match=r"graph:2: '1.*scale and round .* edge list"):
        graph_io.read(path, weights=weights)
    written(path, "2 1 001\n2 x\n1 x\n")
    with pytest.raises(GraphFormatError, match=r"graph:2: 'x' is not an integer [^;]*$"):
        graph_io.read(path, weights=weights)


def test_words_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    for word in ("nan", "inf", "1e", "1.2.3", "0x1", "1_0", "-", "."):
        path = written(tmp_path / "g.txt", f"1 2 0.5\n2 3 {word}\n")
        with pytest.raises(GraphFormatError, match=r"g.txt:2: .* is not a number"):
            graph_io.read(path, weights="round")
    with pytest.raises(GraphFormatError, match=r"g.txt:2: .*'x' is not an integer"):
        graph_io.read(written(tmp_path / "g.txt", "1 2 0.5\n2 x 1\n"), weights="round")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60),
       st.sampled_from(["{!r}", "{:.17g}", "{:+.3e}", "{:.40f}"]), st.booleans())
def test_fractions_are_read_as_python_reads_them(
    values: list[float], shape: str, newline: bool
) -> None:
    words = [shape.format(value) for value in values]
    data = b"\n".join(word.encode() for word in words) + b"\n" * newline
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])])
    assert fractions_at(Source("x", data), starts).tolist() == [float(word) for word in words]


def test_rounding_is_exact(tmp_path: Path) -> None:
    draw = random.Random(1)
    values = [draw.random() * 10 ** draw.randint(-3, 3) for _ in range(500)]
    path = written(tmp_path / "g.txt", "".join(f"{i} {i + 1} {value!r}\n"
                                              for i, value in enumerate(values)))
    graph = graph_io.read(path, weights="round", weight_scale=1000)
    rounded = [round(Fraction(value * 1000)) for value in values]
    assert [w for u, v, w in sorted(oracles.arcs(graph)) if u < v] == rounded


@pytest.mark.parametrize(("options", "message"), [
    ({"weights": "half"}, "weights is 'half'"),
    ({"weight_scale": 10}, 'goes with weights="round"'),
    ({"weights": "round", "weight_scale": -1}, "positive number"),
    ({"symmetrize": "min"}, "symmetrize is 'min'"),
])
def test_wrong_options_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "g.txt", "1 2 3\n")
    for read in (graph_io.read, graph_io.read_edge_list, as_graph):
        with pytest.raises(InputError, match=message):
            read(path, **options)


@pytest.mark.parametrize("value", ["x", "", 1, 0, []])
def test_what_is_neither_true_nor_false_is_refused(value: Any, tmp_path: Path) -> None:
    """Text counted as true, whatever it said."""
    edges = written(tmp_path / "g.txt", "5 6\n6 7\n")
    matrix = written(tmp_path / "g.mtx", MTX + "pattern general\n2 2 1\n1 2\n")
    netlist = written(tmp_path / "g.blif", ".model m\n.inputs a\n.outputs z\n.names a z\n1 1\n")
    for read, path, option in (
            (graph_io.read, edges, "relabel"), (graph_io.read, edges, "header"),
            (graph_io.read_edge_list, edges, "relabel"), (graph_io.read_named, edges, "header"),
            (graph_io.read_hypergraph, matrix, "diagonal"),
            (graph_io.read_hypergraph, netlist, "ports")):
        with pytest.raises(InputError, match=f"{option} is .*; it must be True or False"):
            read(path, **{option: value})
    assert graph_io.read(edges, relabel=np.False_).num_vertices == 8


def test_metis_and_npz_weights(tmp_path: Path) -> None:
    written(tmp_path / "g.graph", "2 1 11\n5 2 -7\n6 1 -7\n")
    np.savez(tmp_path / "g.npz", offsets=[0, 1, 2], targets=[1, 0], weights=[-7.0, -7.0],
             vertex_weights=[5, 6])
    for name in ("g.graph", "g.npz"):
        graph = graph_io.read(tmp_path / name, weights="abs")
        assert graph.weights.tolist() == [7, 7]
        assert graph.vertex_weights.tolist() == [5, 6]
        assert graph_io.read(tmp_path / name, weights="ignore").weights is None
        with pytest.raises(GraphFormatError, match='weights="abs"'):
            graph_io.read(tmp_path / name)


def described(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["info", "--json", *arguments]) == 0
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


def test_the_command_line_has_all_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(written(tmp_path / "g.txt", TRAFFIC["g.txt"]))
    assert described(capsys, path, "--symmetrize=sum")["edge_weights"]["total"] == 24
    assert described(capsys, "--symmetrize=max", path)["edge_weights"]["total"] == 18
    assert described(capsys, path, "--weights", "ignore")["edge_weights"] is None
    assert described(capsys, path, "--weights=ignore", "--no-relabel")["num_vertices"] == 31
    written(tmp_path / "g.graph", "3 2\n2 3\n\n\n")
    assert described(capsys, "--symmetrize", str(tmp_path / "g.graph"))["num_edges"] == 2
    written(tmp_path / "g.mtx", FRACTIONS["g.mtx"])
    facts = described(capsys, str(tmp_path / "g.mtx"), "--weights", "abs", "--weight-scale", "100")
    assert facts["edge_weights"] == {"min": 10, "max": 50, "total": 170}
    assert main(["info", path]) == 2
    assert main(["info", path, "--symmetrize=both"]) == 2
    assert main(["info", path, "--weights", "round", "--weight-scale", "0"]) == 2
    assert main(["partition", path, "-k", "2", "--symmetrize=sum", "-q"]) == 0
    assert portpart.partition(path, 2, symmetrize="sum").k == 2
