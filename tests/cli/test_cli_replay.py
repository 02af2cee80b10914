"""``portpart replay``: a netlist and a trace in, a line for each round out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import io as graph_io
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.cli import main
from portpart.graphs.graph import Graph
from tests import oracles
from tests.oracles.nets import values

KEYS = ["round", "objective", "value", "imbalance", "feasible", "moved", "migration", "seconds"]
WIDTH, HEIGHT = 12, 10
ROUNDS = 7


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A grid of gates, each of which drives those to the right and below; buffers come and go."""
    folder = tmp_path_factory.mktemp("replay")
    gates = [f"NAND g_{x}_{y} (.A(n_{x}_{y + 1}), .B(n_{x + 1}_{y}), .ZN(n_{x + 1}_{y + 1}));"
             for x in range(WIDTH) for y in range(HEIGHT)]
    random = np.random.default_rng(3)
    lines = []
    for i in range(40):
        x, y = random.integers(WIDTH), random.integers(1, HEIGHT)
        lines += [f"insert_gate b{i} BUF", f"insert_net w{i}", f"connect_pin b{i}:A n_{x}_{y}",
                  f"connect_pin b{i}:Z w{i}", f"connect_pin g_{x}_{(y + 5) % HEIGHT}:A w{i}",
                  f"report_slack b{i}"]
        if i % 4 == 3:
            lines += [f"remove_gate b{i - 2}", f"remove_net w{i - 2}"]
    text = "module grid (n_0_1); input n_0_1;\n" + "\n".join(gates) + "\nendmodule\n"
    (folder / "grid.v").write_text(text)
    (folder / "grid.ops").write_text("\n".join(lines))
    return str(folder / "grid.v"), str(folder / "grid.ops")


def replayed(files: tuple[str, str], capsys: pytest.CaptureFixture, *options: str) -> list[dict]:
    assert main(["replay", *files, "-k", "3", "--preset", "fast", "--json", *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def report_data(graph: Any, part: Any) -> int:
    """The objective by default."""
    if isinstance(graph, Graph):
        return oracles.cut(graph, part)
    return values(graph, part)["km1"]


@pytest.mark.parametrize("model", ["hypergraph", "star"])
def test_a_line_a_round_tells_what_a_session_does(
    model: str, files: tuple[str, str], capsys: pytest.CaptureFixture
) -> None:
    """The same calls made one by one; values are counted on rows that nobody follows."""
    lines = replayed(files, capsys, *(() if model == "hypergraph" else ("--model", model)),
                     "--rounds", str(ROUNDS), "--compare", "3", "--imbalance", "5%", "--seed", "4")
    assert [line["round"] for line in lines] == list(range(1, ROUNDS + 1))
    settings: dict[str, Any] = {"imbalance": "5%", "preset": "fast", "seed": 4}
    players = [graph_io.read_edits(files[1], graph_io.read_netlist(files[0]), model=model)
               for _ in range(2)]
    session = portpart.Session(players[0].graph(), 3, **settings)
    begin: Any = players[1].graph()
    edited: Any = (EditableGraph if model == "star" else EditableHypergraph)(begin)
    for line, some in zip(lines, players[0].rounds(ROUNDS)):
        batches = [session.batch(), edited.batch()]
        for player, batch in zip(players, batches):
            player.play(some, batch)
        found = session.apply(batches[0])
        edited.apply(batches[1])
        graph = edited.graph() if model == "star" else edited.hypergraph()
        part = oracles.host(session.part)[session.ids]
        expected = {"objective": "cut" if model == "star" else "km1",
                    "value": report_data(graph, part),
                    "feasible": True, "moved": found.moved, "migration": found.migration}
        assert expected.items() <= line.items()
        if line["round"] in (3, 6, ROUNDS):
            result = portpart.partition(graph, 3, **settings)
            assert line["from_scratch"] == report_data(graph, result.part)
            assert list(line) == [*KEYS, "from_scratch"]
        else:
            assert list(line) == KEYS


def test_natural_rounds_end_where_the_trace_asks(files: tuple[str, str],
                                                 capsys: pytest.CaptureFixture) -> None:
    lines = replayed(files, capsys, "--model", "star", "--rounds", "natural", "--effort", "none")
    assert len(lines) == 41  # the last gate is removed behind the last report
    assert all(line["moved"] == 0 for line in lines)


def test_a_table_for_people(files: tuple[str, str], capsys: pytest.CaptureFixture) -> None:
    assert main(["replay", *files, "-k", "2", "--model", "star", "--rounds", "4", "--compare", "2",
                 "--preset", "fast"]) == 0
    netlist, trace, before, head, *rows, ratio = capsys.readouterr().out.splitlines()
    assert netlist.startswith("grid.v: Graph: 121 vertices")
    assert trace.startswith("grid.ops: NetlistEdits of grid as star: 220 edits")
    assert before.startswith("cut before: ")
    assert head.split()[:2] == ["round", "value"]
    assert [len(row.split()) for row in rows] == [6, 7, 6, 7]
    values = [float(row.split()[1]) / float(row.split()[6]) for row in rows[1::2]]
    assert ratio == (f"relative to new partitions: {sum(values) / 2:.4f} in the mean, "
                     f"{max(values):.4f} at most")


def test_a_broken_bound_is_told(files: tuple[str, str], tmp_path: Path,
                                capsys: pytest.CaptureFixture) -> None:
    """A corner of the grid is removed, most of it in one block, and nothing is done about it."""
    trace = tmp_path / "corner.ops"
    trace.write_text("\n".join(f"remove_gate g_{x}_{y}" for x in range(6) for y in range(5)))
    arguments = ["replay", files[0], str(trace), "-k", "2", "--imbalance", "0", "--preset", "fast",
                 "--model", "star", "--rounds", "2"]
    assert main([*arguments, "--effort", "none"]) == 1
    assert "NOT BALANCED" in capsys.readouterr().out
    assert main(arguments) == 0


@pytest.mark.parametrize(("arguments", "message"), [
    (["--rounds", "some"], "'some' is neither a number of rounds nor 'natural'"),
    (["--rounds", "0"], "'0' is neither"),
    (["--model", "star", "--objective", "km1"],
     "--objective km1 is not one of --model star, which has cut"),
    (["--migration", "-1"], "migration is '-1'; it must be at least 0"),
])
def test_refusals(files: tuple[str, str], arguments: list[str], message: str,
                  capsys: pytest.CaptureFixture) -> None:
    assert main(["replay", *files, "-k", "3", *arguments]) == 2
    assert message in capsys.readouterr().err
