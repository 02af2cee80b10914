"""Partitions of edges on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import portpart
from portpart.cli import main

GRAPH = portpart.generators.grid_2d(6)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    portpart.io.write(GRAPH, "grid.graph")
    Path("names.txt").write_text("ann bob\nbob cy\ncy ann\n")
    Path("nets.hgr").write_text("1 3\n1 2 3\n")
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code
    found = capsys.readouterr()
    return found.err if code > 1 else found.out


def test_a_partition_is_written_described_and_evaluated(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = portpart.partition_edges(GRAPH, 3, seed=5)
    text = answer(capsys, "partition-edges", "grid.graph", "-k", "3", "--seed", "5", "-o", "e.part")
    assert f"replication factor {wanted.replication_factor:.4f}\n" in text
    assert np.array_equal(portpart.io.read_partition("e.part"), wanted.part)
    facts = json.loads(answer(capsys, "evaluate", "grid.graph", "e.part", "--edges", "--json"))
    said = json.loads(answer(capsys, "partition-edges", "grid.graph", "-k", "3", "--seed", "5",
                             "--json"))
    for name in ("replication_factor", "copies", "km1", "block_weights", "imbalance"):
        assert facts[name] == said[name]
    assert "replication factor" in answer(capsys, "evaluate", "grid.graph", "e.part", "--edges")


def test_files_of_blocks_are_counted_in_edges(here: Path,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    Path("short.part").write_text("0\n1\n")
    said = answer(capsys, "evaluate", "grid.graph", "short.part", "--edges", code=2)
    assert f"short.part: 2 lines for {GRAPH.num_edges} edges" in said
    np.savetxt("high.part", np.arange(GRAPH.num_edges) % 3, "%d")
    said = answer(capsys, "evaluate", "grid.graph", "high.part", "--edges", "-k", "2", code=2)
    assert "edge 3 is in block 2; block numbers must lie in 0 ... 1" in said
    Path("pairs.part").write_text("2 1\n61 0\n")
    Path("ends.part").write_text("1 2 0\n" * GRAPH.num_edges)
    few = f"short.part: 2 lines for {GRAPH.num_edges} edges; partition-edges -o writes the block of"
    for option, file, message in (
            ("--fixed", "short.part", few), ("--initial", "short.part", few),
            ("--fixed", "high.part", "high.part: edge 3 is in block 2; block numbers must lie in"),
            ("--initial", "high.part", "high.part: edge 3 is in block 2"),
            ("--fixed", "pairs.part", "pairs.part:2: 61 is not an edge; edges are 1 ... 60"),
            ("--fixed", "ends.part", "or an edge and its block on each; both ends, as --ends")):
        assert message in answer(capsys, "partition-edges", "grid.graph", "-k", "2", option, file,
                                 code=2)


def test_lines_may_begin_with_both_ends(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answer(capsys, "partition-edges", "grid.graph", "-k", "2", "-o", "-", "--ends")
    result = portpart.partition_edges(GRAPH, 2)
    assert rows == "".join(f"{u + 1} {v + 1} {b}\n" for (u, v), b in result.to_dict().items())
    named = answer(capsys, "partition-edges", "names.txt", "--format", "edge-list", "-k", "1",
                   "--names", "-o", "-")
    assert named == "ann bob 0\nann cy 0\nbob cy 0\n"


def test_constraints_are_read_edge_by_edge(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fixed = np.full(GRAPH.num_edges, -1)
    fixed[:4] = 1
    np.savetxt("fixed.part", fixed, "%d")
    answer(capsys, "partition-edges", "grid.graph", "-k", "2", "--fixed", "fixed.part", "--target",
           "1,3", "-o", "e.part")
    part = portpart.io.read_partition("e.part")
    assert (part[:4] == 1).all()
    assert 2 * (part == 0).sum() < (part == 1).sum()
    answer(capsys, "partition-edges", "grid.graph", "-k", "2", "--initial", "e.part")
    Path("pairs.part").write_text("60 0\n1 1\n")
    answer(capsys, "partition-edges", "grid.graph", "-k", "2", "--fixed", "pairs.part", "-o",
           "pairs.out")
    assert portpart.io.read_partition("pairs.out")[[0, 59]].tolist() == [1, 0]


def test_bad_calls_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("few.part").write_text("0\n1\n")
    for arguments, message in (
            (("partition-edges", "nets.hgr", "-k", "2", "--fixed", "few.part"),
             "nets.hgr is a hypergraph, which has no edges to divide"),
            (("partition-edges", "grid.graph"), "-k"),
            (("partition-edges", "grid.graph", "-k", "0"), "k is 0"),
            (("partition-edges", "grid.graph", "-k", "2", "--fixed", "few.part"), "few.part"),
            (("partition-edges", "grid.graph", "-k", "2", "--names"), "do not name"),
            (("partition-edges", "grid.graph", "-k", "2", "--json", "-o", "-"), "--json and -o -"),
            (("evaluate", "nets.hgr", "few.part", "--edges"), "a hypergraph has no edges"),
            (("evaluate", "grid.graph", "few.part", "--edges"), "few.part"),
            (("evaluate", "grid.graph", "few.part", "--edges", "--names"), "--edges goes with")):
        assert message in answer(capsys, *arguments, code=2)
