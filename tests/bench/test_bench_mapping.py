"""The measurements of process mapping: resumed, within a time limit, and reported."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

import portpart
from bench import mapping
from bench.report import read_records

ALGORITHMS = "identity:jet,hm:fast"


def run(output: Path, *more: str) -> tuple[str, list[mapping.Record]]:
    arguments = ["--graphs", "cube_20", "--algorithms", ALGORITHMS, "--reference", "hm:fast",
                 "--hierarchies", "2:4", "--distances", "1:10", "--output", str(output),
                 *more]  # fmt: skip
    done = CliRunner().invoke(mapping.main, arguments, catch_exceptions=False)
    return done.output, read_records(output)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    output = tmp_path / "mapping.jsonl"
    assert run(output, "--time-limit", "0")[1] == []
    _, first = run(output)
    with output.open("a") as file:
        file.write('{"graph": "cut sh\n')
    text, second = run(output, "--hierarchies", "2:4,4:4,2:8000")
    tasks = [(machine, name) for machine in ("2:4", "4:4") for name in ALGORITHMS.split(",")]
    assert [(each["k"], each["algorithm"]) for each in second] == tasks
    assert second[:2] == first
    assert all(each["true"] and each["feasible"] and each["seconds"] > 0 for each in second)
    assert "### J over hm:fast" in text
    assert "lattice, k = 4:4" in text


def test_an_error_is_a_result(tmp_path: Path) -> None:
    done = CliRunner().invoke(mapping.main, ["--graphs", "cube_20", "--algorithms", "hm:quick"])
    assert "InputError: preset is 'quick'" in done.output
    assert done.exit_code == 1


def test_means_are_of_graphs_that_both_have() -> None:
    base = {"family": "road (OSM)", "k": "4:8:1", "seconds": 1.0}
    costs = {"hm-ultra": {"a": 10, "b": 20, "c": 0}, "im": {"a": 20, "b": 10, "c": 0, "d": 5}}
    records = [base | {"graph": graph, "algorithm": name, "cost": cost}
               for name, table in costs.items() for graph, cost in table.items()]
    text = mapping.means(records, "hm-ultra")
    assert "| road, k = 4:8:1 | 1.000 (2) | 1.000 (2) |" in text
    assert "| all | 1.000 (3) | 1.000 (3) |" in text  # times, of all graphs that both have


def test_only_the_first_call_of_a_kind_compiles() -> None:
    space = portpart.space("cpu")
    graph = portpart.generators.grid_2d(20, 20).to(space)
    portpart.map_processes(graph, "2:4", "1:10", seed=1)
    before = space.num_compiled
    assert before > 0
    portpart.map_processes(graph, "2:4", "1:10", seed=1)
    assert space.num_compiled == before
