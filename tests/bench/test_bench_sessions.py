"""Benchmarks of sessions: each table is made, at a small size, of what it says it counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from bench import sessions
from tests.helpers.data_folder import DATA, require


def run(*arguments: str) -> list[dict[str, Any]]:
    outcome = CliRunner().invoke(sessions.main, arguments, catch_exceptions=False)
    assert outcome.exit_code == 0
    return [json.loads(line) for line in outcome.output.splitlines()]


def test_rounds_are_timed_apart_and_together() -> None:
    lines = run("speed", "--vertices", "900", "--k", "2", "--edits", "5,30", "--rounds", "3",
                "--preset", "fast")
    assert [(line["kind"], line["edits"]) for line in lines] == [
        ("graph", 5), ("graph", 30), ("hypergraph", 5), ("hypergraph", 30)]
    for line in lines:
        assert line["feasible"]
        for name in ("apply", "round"):
            assert 0 < line[name]["best"] <= line[name]["median"] <= line[name]["worst"]
        assert sum(line["efforts"].values()) == sessions.WARM + 3


@pytest.mark.parametrize("kind", ["graph", "hypergraph"])
def test_work_of_a_round_does_not_follow_from_the_graph(kind: str) -> None:
    """Ten times the vertices, and no more launches, items or bytes that could be seen."""
    small, large = run("work", "--vertices", "2500,25000", "--k", "2", "--edits", "10", "--kinds",
                       kind, "--rounds", "6")
    for name in ("launches", "items", "bytes", "first_bytes"):
        assert 0 < large[name] < 2 * small[name]


def test_sums_of_rounds_stand_beside_full_partitions() -> None:
    (line,) = run("papers", "--vertices", "900", "--k", "2", "--kinds", "graph", "--rounds", "4",
                  "--every", "2", "--algorithm", "portpart")
    assert line["feasible"]
    total = line["first_seconds"] + line["rounds_seconds"]
    assert line["sum_ratio"] == pytest.approx(4 * line["one_full"] / total)
    assert 0.5 < line["value_ratio"] < 2
    slowest = line["slowest_rounds"].values()
    assert min(slowest) <= line["median_round"] <= max(slowest) < line["rounds_seconds"]


def test_drift_is_told_every_tenth_round() -> None:
    (line,) = run("drift", "--vertices", "900", "--k", "2", "--edits", "20", "--kinds", "graph",
                  "--rounds", "12", "--preset", "fast")
    assert len(line["ratios"]) == 2
    assert sum(line["efforts"].values()) == 12


def test_drift_stands_beside_that_of_sessions_that_only_place_new_vertices() -> None:
    lines = run("drift", "--vertices", "900", "--k", "2", "--edits", "40", "--kinds", "graph",
                "--rounds", "10", "--preset", "fast", "--efforts", "none,auto", "--escalate",
                "never")
    assert [line["effort"] for line in lines] == ["none", "auto"]
    assert lines[0]["moved"] == 0
    assert lines[0]["mean"] > lines[1]["mean"]


def test_traces_are_replayed_beside_new_partitions() -> None:
    require(DATA / "traces" / "c7552.ops.xz")
    (line,) = run("traces", "--designs", "c7552", "--k", "2", "--model", "star", "--rounds", "20",
                  "--seeds", "0", "--preset", "fast")
    assert list(line["scratch"]) == ["10", "20"]
    assert line["mean"] == pytest.approx(sum(
        line["values"][int(number) - 1] / value for number, value in line["scratch"].items()) / 2)
    assert len(line["values"]) == line["feasible"] == 20
    assert line["ends"] > 1147


def test_meshes_are_followed_at_each_price_and_with_a_limit() -> None:
    lines = run("mesh", "--levels", "5", "--k", "4", "--steps", "4", "--prices", "0.05,1",
                "--preset", "fast")
    assert [(line["price"], line["limit"]) for line in lines] == [
        ("0.05", None), ("0.05", "10%"), ("1", None), ("1", "10%")]
    assert all(line["empty"] == line["infeasible"] == 0 for line in lines)
