"""Hypergraphs on the command line: told apart from graphs, described, converted, evaluated."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import portpart
from portpart.cli import main

BLIF = ".model m\n.inputs a b\n.outputs z\n.names a b n\n11 1\n.names n z\n0 1\n.end\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.hgr").write_text("5 5 11\n2 1 2 3\n0 3 4\n7 1 1\n1\n4 2 4\n1\n0\n1\n1\n1\n")
    (tmp_path / "x.blif").write_text(BLIF)
    matrix = sp.csr_array(np.array([[0, 1, 1], [0, 1, 0], [1, 0, 0]]))
    scipy.io.mmwrite(tmp_path / "x.mtx", matrix)
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_info_counts_what_is_unusual(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(answer(capsys, "info", "x.hgr", "--json"))
    assert (facts["num_vertices"], facts["num_nets"], facts["num_pins"]) == (5, 5, 8)
    assert (facts["min_net_size"], facts["max_net_size"], facts["max_degree"]) == (0, 3, 2)
    assert facts["irregularities"] == {
        "empty_nets": 1, "single_pin_nets": 1, "weightless_nets": 1, "isolated_vertices": 1,
        "weightless_vertices": 1, "repeated_pins": 1}
    assert facts["net_weights"] == {"min": 0, "max": 7, "total": 14}
    text = answer(capsys, "info", "x.hgr")
    assert "pins            8\nnet sizes       0 to 3, mean 1.60\n" in text
    assert "unusual         1 empty nets, 1 single pin nets" in text


def test_a_matrix_and_a_netlist_are_graphs_unless_the_model_says(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "num_edges" in json.loads(answer(capsys, "info", "x.blif", "--json"))
    for arguments, sizes in (
            (("x.blif", "--model", "hypergraph"), (2, 4, 5)),
            (("x.blif", "--model", "hypergraph", "--ports"), (5, 4, 8)),
            (("x.mtx", "--model", "row-net"), (3, 3, 4)),
            (("x.mtx", "--model", "column-net", "--diagonal"), (3, 3, 6)),
            (("x.mtx", "--model", "fine-grain"), (4, 6, 8))):
        facts = json.loads(answer(capsys, "info", *arguments, "--json"))
        assert (facts["num_vertices"], facts["num_nets"], facts["num_pins"]) == sizes


@pytest.mark.parametrize(("source", "options"), [
    ("x.hgr", ()), ("x.blif", ("--ports",)), ("x.mtx", ()), ("x.mtx", ("--model", "column-net"))])
def test_convert_writes_what_python_reads(here: Path, source: str,
                                          options: tuple[str, ...]) -> None:
    assert main(["convert", source, "y.hgr.gz", *options]) == 0
    keywords = {"ports": True} if "--ports" in options else {}
    if "--model" in options:
        keywords = {"model": options[1]}  # type: ignore[dict-item]
    expected = portpart.io.read_hypergraph(source, **keywords)  # type: ignore[arg-type]
    made = portpart.io.read_hypergraph("y.hgr.gz")
    for name, array in expected.arrays.items():
        assert (array is None) == (made.arrays[name] is None)
        assert array is None or np.array_equal(array, made.arrays[name])


def test_evaluate_tells_every_objective(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "part").write_text("0\n1\n2\n2\n1\n")
    found = json.loads(answer(capsys, "evaluate", "x.hgr", "part", "--json"))
    assert (found["cut"], found["km1"], found["soed"]) == (6, 8, 14)
    assert (found["block_weights"], found["imbalance"]) == ([1, 1, 2], 0)
    assert found["connectivity"] == [1, 2, 1, 1]
    printed = dict(line.split("  ", 1) for line in
                   answer(capsys, "evaluate", "x.hgr", "part").splitlines())
    assert (printed["km1"].strip(), printed["soed"].strip()) == ("8", "14")
    (here / "named").write_text("z 1\nn 0\n")
    arguments = ("evaluate", "x.blif", "named", "--names", "--model", "hypergraph", "--json")
    assert json.loads(answer(capsys, *arguments))["cut"] == 1


@pytest.mark.parametrize("objective", ["km1", "cut", "soed"])
def test_partition_minimises_what_is_asked(here: Path, objective: str,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    portpart.io.write_hypergraph(portpart.generators.netlist(300), "n.hgr")
    arguments = ("partition", "n.hgr", "-k", "3", "--preset", "fast", "--objective", objective)
    found = json.loads(answer(capsys, *arguments, "-o", "part", "--json"))
    expected = portpart.partition(portpart.io.read_hypergraph("n.hgr"), 3, preset="fast",
                                  objective=objective)
    assert (found["cut"], found["km1"], found["soed"]) == (
        expected.cut, expected.km1, expected.soed)
    assert (found["num_nets"], found["objective"]) == (300, objective)
    told = json.loads(answer(capsys, "evaluate", "n.hgr", "part", "--json"))
    assert (told["cut"], told["km1"]) == (found["cut"], found["km1"])
    assert f"\nkm1        {expected.km1}\nsoed" in answer(capsys, *arguments)


def test_fixed_vertices_and_names(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "x.fix").write_text("2 1\n5 0\n")
    answer(capsys, "partition", "x.hgr", "-k", "2", "--fixed", "x.fix", "-o", "part")
    part = (here / "part").read_text().split()
    assert (part[1], part[4]) == ("1", "0")
    as_nets = ("x.blif", "-k", "2", "--model", "hypergraph", "--names")
    answer(capsys, "partition", *as_nets, "-o", "part")
    assert sorted(line.split()[0] for line in (here / "part").read_text().splitlines()) == [
        "n", "z"]


def test_generate_makes_netlists(here: Path) -> None:
    assert main(["generate", "netlist", "300", "--seed", "4", "-o", "y.hgr"]) == 0
    made, expected = (portpart.io.read_hypergraph("y.hgr"),
                      portpart.generators.netlist(300, seed=4))
    assert np.array_equal(made.net_pins, expected.net_pins)


@pytest.mark.parametrize(("arguments", "message"), [
    (("info", "x.hgr", "--symmetrize"), "--symmetrize does not apply to hypergraphs"),
    (("info", "x.mtx", "--diagonal"), "--diagonal is for hypergraphs"),
    (("info", "x.hgr", "--model", "row-net"), "model does not apply to hmetis files"),
    (("convert", "x.hgr", "y.graph"), "hypergraphs are written as .hgr"),
    (("convert", "g.graph", "y.hgr"), "g.graph: a graph by its name (metis)"),
    (("convert", "x.blif", "y.hgr", "--model", "star"), "--model star makes a graph"),
    (("evaluate", "x.hgr", "part", "--names"), "does not name its vertices"),
    (("generate", "netlist", "30", "-o", "y.graph"), "hypergraphs are written as .hgr"),
])
def test_what_does_not_fit_is_refused(here: Path, arguments: tuple[str, ...], message: str,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


WEIGHED = {"vertices": "4 7 10\n1 2\n1 7 5 6\n5 6 4\n2 3 4\n5\n1\n8\n7\n3\n9\n3\n",
           "both": "% nets\n4 7 11\n2 1 2\n3 1 7 5 6\n8 5 6 4\n7 2 3 4\n5\n1\n8\n7\n3\n9\n3\n"}
LIGHT = {"nets": "4 7 1\n2 1 2\n3 1 7 5 6\n8 5 6 4\n7 2 3 4\n",
         "pins": "4 7\n1 2\n1 7 5 6\n5 6 4\n2 3 4\n"}


def given_as_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


@pytest.mark.parametrize("kind", WEIGHED)
def test_standard_input_that_can_be_nothing_else_is_a_hypergraph(
        kind: str, here: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """With weights of vertices there are more lines than any METIS graph may have."""
    for command in (("info", "-", "--json"), ("partition", "-", "-k", "2", "--json")):
        given_as_input(monkeypatch, WEIGHED[kind])
        assert main(command) in (0, 1)
        assert json.loads(capsys.readouterr().out)["num_nets"] == 4
    given_as_input(monkeypatch, WEIGHED[kind])
    assert main(["info", "-", "--weights", "round"]) == 2
    assert "--format hmetis" in capsys.readouterr().err


@pytest.mark.parametrize("kind", LIGHT)
def test_standard_input_that_may_be_a_hypergraph_is_refused_with_a_remedy(
        kind: str, here: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """A METIS graph with an error in it may have as many lines, and all its numbers in range."""
    given_as_input(monkeypatch, LIGHT[kind])
    assert main(["info", "-"]) == 2
    assert "can be read: portpart.io.read_hypergraph (--format hmetis)" in capsys.readouterr().err
    given_as_input(monkeypatch, LIGHT[kind])
    assert main(["info", "-", "--format", "hmetis"]) == 0


ALIKE = {"pairs": "3 4\n1 2\n2 3\n3 4\n", "weights of nets": "3 4 1\n5 1 2\n6 2 3\n7 3 4\n",
         "words of METIS": "3 3\n1 2\n2 3\n3 1\n",
         "wider below": "70 9\n" + 69 * "1 2\n" + "1 2 3\n"}


@pytest.mark.parametrize("kind", ALIKE)
def test_a_hypergraph_like_a_list_of_edges_on_standard_input_is_refused(
        kind: str, here: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    given_as_input(monkeypatch, ALIKE[kind])
    assert main(["info", "-"]) == 2
    assert "--format hmetis" in capsys.readouterr().err
    given_as_input(monkeypatch, ALIKE[kind])
    assert main(["info", "-", "--format", "hmetis"]) == 0


@pytest.mark.parametrize("text", ["3 4\n1 2\n2 3\n3 9\n", "1 2\n2 3\n3 1\n",
                                  "4 4\n2 4\n1 3\n2 4\n1 3\n"])
def test_graphs_on_standard_input_need_no_format(
        text: str, here: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """Of pins that are none, of as many lines as no header says, and of METIS all through."""
    given_as_input(monkeypatch, text)
    assert main(["info", "-"]) == 0
    assert "edges" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["3 2\n2\n1 4\n2\n", "3 2 10\n1 2\n1 1 x\n1 2\n"])
def test_damaged_graphs_are_not_told_to_be_hypergraphs(
        text: str, here: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    given_as_input(monkeypatch, text)
    assert main(["info", "-"]) == 2
    assert "hmetis" not in capsys.readouterr().err
