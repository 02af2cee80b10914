"""The measurements of process mapping: resumed, within a time limit, and reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import portpart
from bench import mapping, mapping_report

ALGORITHMS = "identity:jet,hm:fast"


def run(monkeypatch: pytest.MonkeyPatch, output: Path, *more: str) -> list[mapping.Record]:
    arguments = ["--graphs", "cube_20", "--algorithms", ALGORITHMS, "--reference", "hm:fast",
                 "--hierarchies", "2:4", "--distances", "1:10", "--output", str(output),
                 *more]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["bench.mapping", *arguments])
    assert mapping.main() == 0
    return mapping_report.read_records(output)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "mapping.jsonl"
    assert run(monkeypatch, output, "--time-limit", "0") == []
    first = run(monkeypatch, output)
    with output.open("a") as file:
        file.write('{"graph": "cut sh\n')
    second = run(monkeypatch, output, "--hierarchies", "2:4,4:4,2:8000", "--readers", "1")
    tasks = [(machine, name) for machine in ("2:4", "4:4") for name in ALGORITHMS.split(",")]
    assert [(each["hierarchy"], each["algorithm"]) for each in second] == tasks
    assert second[:2] == first
    assert all(each["true"] and each["feasible"] and each["seconds"] > 0 for each in second)


def test_an_error_is_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                              capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(AssertionError):
        run(monkeypatch, tmp_path / "mapping.jsonl", "--algorithms", "im,hm:quick")
    assert "InputError: preset is 'quick'" in capsys.readouterr().out


def test_means_are_of_graphs_that_both_have(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    base = {"class": "road (OSM)", "hierarchy": "4:8:1", "true": True, "feasible": True,
            "seconds": 1.0}  # fmt: skip
    costs = {"hm-ultra": {"a": 10, "b": 20, "c": 0}, "im": {"a": 20, "b": 10, "c": 0, "d": 5}}
    records = [base | {"graph": graph, "algorithm": name, "cost": cost}
               for name, table in costs.items() for graph, cost in table.items()]
    path = tmp_path / "mapping.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    mapping_report.print_means(mapping_report.read_records(path), "hm-ultra")
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert row == ["im", "1.000", "(1.00)", "1.000", "(1.00)", "4", "4.00"]


def test_only_the_first_call_of_a_kind_compiles() -> None:
    space = portpart.space("cpu")
    graph = portpart.generators.grid_2d(20, 20).to(space)
    portpart.map_processes(graph, "2:4", "1:10", seed=1)
    before = space.num_compiled
    assert before > 0
    portpart.map_processes(graph, "2:4", "1:10", seed=1)
    assert space.num_compiled == before
