"""The comparison harness: peers in processes of their own, resumable runs, the tables."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import portpart
from bench import compare, doors, edits, first_call, gpu, report, sweep
from bench.instances import by_name, select
from bench.peers import ALGORITHMS, HostGraph
from bench.worker import Serve, Worker
from portpart.algorithms.recipes import catalogue
from tests.bench import stand_ins
from tests.helpers.data_folder import DATA, require

LISTED = Path(__file__).resolve().parents[2] / "bench" / "records" / "graphs.md"


def listed_graphs() -> dict[str, tuple[int, int]]:
    """Vertices and edges of each graph that the page of real graphs lists."""
    rows = re.findall(r"^\| ([\w-]+) \|[^|]*\| ([\d,]+) \| ([\d,]+) \|", LISTED.read_text(), re.M)
    return {name: (int(n.replace(",", "")), int(m.replace(",", ""))) for name, n, m in rows}


def test_the_sets_of_real_graphs_have_as_many_as_their_names_say() -> None:
    sizes = list(listed_graphs().values())
    assert len(sizes) == 80
    assert sum(m <= 6_000_000 for _, m in sizes) == 78
    assert sum(m <= 1_600_000 and n <= 570_000 for n, m in sizes) == 71
    assert sum(m <= 1_000_000 and 4_000 <= n <= 160_000 for n, m in sizes) == 57
    assert sum(m <= 200_000 for _, m in sizes) == 46
    assert sum(m <= 164_000 for _, m in sizes) == 43


def test_the_listed_graphs_are_those_of_the_data_folder() -> None:
    require(DATA / "CATALOG.md")
    there = {instance.name: instance.num_edges for instance in select(["real"])}
    assert {name: m for name, (_, m) in listed_graphs().items()} == there


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.npz"
    by_name("cube_20").save(path)
    return path


def opened(algorithm: str, graph_file: Path, threads: int = 1) -> Worker:
    worker = Worker(algorithm, threads)
    worker.open(graph_file)
    return worker


def stand_in(serving: Serve, graph_file: Path) -> Worker:
    worker = Worker("pymetis", 1, serving)
    worker.open(graph_file)
    return worker


def test_worker_returns_part_and_times(graph_file: Path) -> None:
    with opened("pymetis", graph_file) as worker:
        answers = [worker.run(8, 0.03, seed, 60) for seed in (1, 1, 2)]
    assert all(answer["seconds"] > 0 and answer["cpu_seconds"] > 0 for answer in answers)
    assert np.array_equal(answers[0]["part"], answers[1]["part"])
    assert set(answers[0]["part"]) == set(range(8))


def test_a_peer_that_survives_one_call_only_gets_a_fresh_process(graph_file: Path) -> None:
    with stand_in(stand_ins.dies_at_the_second_job, graph_file) as worker:
        for seed in (1, 2, 3):
            assert worker.run(2, 0.03, seed, 60)["part"] == [0] * 4


def test_a_peer_that_always_crashes_is_reported_with_its_last_words(graph_file: Path) -> None:
    with stand_in(stand_ins.dies_at_once, graph_file) as worker:
        assert worker.run(2, 0.03, 1, 60) == {"died": "crashed (1) no"}


def test_a_peer_that_hangs_is_ended(graph_file: Path) -> None:
    with stand_in(stand_ins.sleeps, graph_file) as worker:
        assert worker.run(2, 0.03, 1, 0.5) == {"error": "over 0 s"}


def test_a_missing_peer_says_so(graph_file: Path) -> None:
    with stand_in(stand_ins.is_missing, graph_file) as worker:
        assert worker.run(2, 0.03, 1, 60) == {"unavailable": "not installed"}


def run_compare(output: Path, *options: str) -> tuple[str, list[dict[str, Any]]]:
    arguments = ["--graphs", "cube_20", "--algorithms", "pymetis", "--k", "2,4",
                 "--output", str(output), *options]  # fmt: skip
    outcome = CliRunner().invoke(compare.main, arguments, catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome.output, report.read_records(output)


def test_comparison_is_resumed_where_it_stopped(tmp_path: Path) -> None:
    output = tmp_path / "results.jsonl"
    _, first = run_compare(output, "--seeds", "1")
    _, second = run_compare(output, "--seeds", "1,2")
    assert len(first) == 2
    assert second[:2] == first
    assert [(record["k"], record["seed"]) for record in second[2:]] == [(2, 2), (4, 2)]


def test_comparison_side_by_side_gives_the_same_cuts(tmp_path: Path) -> None:
    options = ("--graphs", "cube_20,rmat_2^12", "--algorithms", "pymetis,portpart-gkway",
               "--seeds", "1", "--k", "2")  # fmt: skip
    _, in_turn = run_compare(tmp_path / "a.jsonl", *options)
    _, beside = run_compare(tmp_path / "b.jsonl", *options, "--side-by-side", "2")
    a, b = ({tuple(record[name] for name in ("graph", "k", "algorithm", "cut"))
             for record in records} for records in (in_turn, beside))  # fmt: skip
    assert len(a) == 4
    assert a == b
    done = [record["graph"] for record in in_turn]
    assert done == sorted(done)  # one graph is finished before the next begins


def test_comparison_judges_with_our_metrics(tmp_path: Path) -> None:
    text, records = run_compare(tmp_path / "results.jsonl", "--seeds", "1")
    assert all(record["feasible"] and record["cut"] >= 400 for record in records)
    assert "k = 2: cut / seconds" in text


def test_report_shows_geometric_means_of_ratios_to_metis() -> None:
    base = {"family": "road (OSM)", "k": 2, "seed": 1, "feasible": True, "reached_imbalance": 0.0,
            "first_seconds": None, "seconds": 1.0, "cpu_seconds": 1.0}  # fmt: skip
    cuts = {"a": (10, 5), "b": (10, 20), "c": (100, 25)}
    records = [
        base | {"graph": graph, "algorithm": algorithm, "cut": cut}
        for graph, pair in cuts.items()
        for algorithm, cut in zip(("pymetis", "portpart"), pair)
    ]
    text = report.markdown([*records, base | {"graph": "a", "algorithm": "x", "error": "crashed"}])
    assert f"| road | 1.000 (3) | {(0.5 * 2 * 0.25) ** (1 / 3):.3f} (3) |" in text
    assert "| a | x | 2 | crashed |" in text


def test_report_marks_what_breaks_the_bound() -> None:
    record = {"family": "grid", "graph": "g", "algorithm": "pymetis", "k": 2, "seed": 1, "cut": 5,
              "feasible": False, "reached_imbalance": 0.055, "first_seconds": None,
              "seconds": 1.0, "cpu_seconds": 1.0}  # fmt: skip
    assert "5 / 1 imb 0.055" in report.markdown([record])


def test_the_report_tells_how_levels_shrink() -> None:
    record = {"algorithm": "x", "k": 2, "levels": [100, 40, 8], "repaired": 5}
    other = {"algorithm": "x", "k": 2, "levels": [100, 10], "repaired": 0}
    alone = {"algorithm": "x", "k": 8, "levels": [100], "repaired": 0}
    assert report.shrinking([{"algorithm": "pymetis", "k": 2}]) == ""
    rows = report.shrinking([record, other, alone]).splitlines()[-2:]
    assert rows == ["| x | 2 | 2.5 | 0.20 (2) | 0.025 |", "| x | 8 | 1.0 | nan (0) | 0.000 |"]


def test_our_partitioners_report_their_levels(graph_file: Path) -> None:
    with opened("portpart-gkway-paper", graph_file) as worker:
        answer = worker.run(8, 0.03, 1, 60)
    assert answer["levels"][0] == 20**3 > answer["levels"][1]
    assert answer["repaired"] >= 0


def test_geometric_mean_of_nothing_is_nan() -> None:
    assert math.isnan(report.geometric_mean([]))


def test_classes_of_the_catalogue_map_to_groups() -> None:
    groups = {"FE 3-D dual": "mesh", "road, length weights": "road", "road-like dual": "road",
              "bio/DNA matrix": "bio", "web": "social, web", "unknown sparse real": "other",
              "SAT/CSP primal graph": "SAT, optimisation"}  # fmt: skip
    assert {family: report.group_of(family) for family in groups} == groups


def test_instances_are_selected_by_name_family_and_size() -> None:
    names = [instance.name for instance in select(["grid", "rmat_2^1?"], max_edges=300_000)]
    assert names == ["rmat_2^12", "grid_300x300", "rmat_2^14"]


def test_instances_of_published_sizes_come_only_when_they_are_called() -> None:
    careless = {instance.name for instance in select(["all", "road*", "delaunay*", "*"])}
    assert {"road_2^20", "delaunay_2^20"} <= careless
    assert not {"road_12M", "road_50M", "delaunay_2^24"} & careless
    assert [instance.name for instance in select(["road_12M"])] == ["road_12M"]
    assert [instance.name for instance in select(["published"])] == [
        "points_2d", "points_3d", "road_12M", "delaunay_2^24", "road_50M"]


def test_host_graph_survives_its_file(tmp_path: Path) -> None:
    graph = HostGraph(np.array([0, 1, 2]), np.array([1, 0]), np.array([7, 7]))
    graph.save(tmp_path / "g.npz")
    again = HostGraph.load(tmp_path / "g.npz")
    assert again.vertex_weights is None
    assert again.weights.tolist() == [7, 7]


@pytest.mark.parametrize("peer", ["kaminpar", "mtkahypar", "kahip-eco"])
def test_other_peers_answer_where_they_are_installed(peer: str, graph_file: Path) -> None:
    assert peer in ALGORITHMS
    with opened(peer, graph_file, 2) as worker:
        answer = worker.run(4, 0.03, 1, 60)
    if "unavailable" in answer:
        pytest.skip(answer["unavailable"])
    assert set(answer["part"]) == set(range(4))


def run_gpu_report(folder: Path, *options: str) -> tuple[str, dict[str, Any]]:
    arguments = ["--device", "cpu", "--output", str(folder), *options]
    outcome = CliRunner().invoke(gpu.main, arguments, catch_exceptions=False)
    assert outcome.exit_code == 0
    return (folder / "report.md").read_text(), json.loads((folder / "results.json").read_text())


def test_gpu_report_measures_partitions_on_the_cpu_too(tmp_path: Path) -> None:
    text, saved = run_gpu_report(tmp_path, "--graphs", "cube_20", "--k", "8", "--seeds", "1",
                                 "--presets", "default")  # fmt: skip
    assert "| cube_20 | 8,000 / 22,800 | 8 | default |" in text
    (record,) = saved["table"]
    assert record["feasible"]
    assert record["wrong_cuts"] == 0
    assert record["levels"][0]["refinement"]["launches"] > 0


def test_a_first_call_is_measured_cold_and_warm(tmp_path):
    output = tmp_path / "calls.json"
    done = CliRunner().invoke(first_call.main, [
        "--graphs", "ring", "--rounds", "1", "--warm", "1", "--json", str(output)])
    assert done.exit_code == 0, done.output
    calls = json.loads(output.read_text())
    assert [(call["kind"], call["state"]) for call in calls] == [
        (kind, state) for kind in ("command", "python") for state in ("cold", "warm")]
    assert {call["cut"] for call in calls} == {4}
    for cold, warm in (calls[:2], calls[2:]):
        assert cold["processor"] > warm["processor"] > 0
    assert calls[2]["first"] > calls[2]["second"]
    assert "| ring | cold | here | 1 |" in done.output


def test_a_parameter_is_swept_on_the_cpu_too(tmp_path: Path) -> None:
    arguments = ["--algorithm", "gpmetis", "--parameter", "handoff_vertices", "--values", "10,20",
                 "--graphs", "cube_20", "--k", "4", "--seeds", "1,2",
                 "--output", str(tmp_path / "sweep.json")]  # fmt: skip
    outcome = CliRunner().invoke(sweep.main, arguments, catch_exceptions=False)
    assert "## handoff_vertices of gpmetis" in outcome.output
    assert "| all | 1.000 (1) | 1.000 (1) |" in outcome.output  # too few to hand over
    records = json.loads((tmp_path / "sweep.json").read_text())["records"]
    assert [record["algorithm"] for record in records] == ["10", "20", "10", "20"]


def test_ways_to_run_programs_are_swept_where_there_is_only_one_too(tmp_path: Path) -> None:
    arguments = ["--algorithm", "jet-fast", "--parameter", "program_mode", "--values",
                 "walk,resident", "--graphs", "cube_20", "--k", "4", "--seeds", "1,2"]
    outcome = CliRunner().invoke(sweep.main, arguments, catch_exceptions=False)
    assert "### refinement over that of walk" in outcome.output
    assert "4 of 4 partitions are those of walk." in outcome.output


def test_a_nested_parameter_is_changed_alone() -> None:
    configs = sweep.configurations("gkway-strong", "refinement.tolerance", "1.0,0.99")
    strong = portpart.list_algorithms()["gkway"].preset("strong")
    changed, _ = configs["0.99"]
    assert changed.refinement.tolerance == 0.99
    assert catalogue.differences(strong, changed).keys() <= {"refinement.tolerance"}
    with pytest.raises(click.BadParameter):
        sweep.configurations("gkway", "refinement.nonsense", "1")


def test_edits_are_measured_on_the_cpu_too() -> None:
    arguments = ["--sizes", "2,2000", "--vertices", "400", "--rounds", "3"]
    outcome = CliRunner().invoke(edits.main, arguments, catch_exceptions=False)
    rows = [line.split() for line in outcome.output.splitlines()]
    assert [row[0] for row in rows] == ["edits", "2", "2000"]
    assert all(0 < float(row[2]) <= float(row[1]) <= float(row[3]) for row in rows[1:])


def test_doors_make_what_is_written_by_hand(tmp_path: Path) -> None:
    for package in ("meshio", "networkx", "pymetis"):
        pytest.importorskip(package)
    for name, ours, by_hand, equal in doors.tasks(tmp_path, 300, 5):
        made = ours()
        assert by_hand is None or equal(made, by_hand()), name
