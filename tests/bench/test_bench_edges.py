"""Partitions of edges: the baseline, the table of the comparison; and that of rounds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import portpart
from bench import rounds
from bench.edge_partitions import hdrf, report


def test_hdrf_takes_the_block_of_the_highest_score() -> None:
    """The paper's formula, edge by edge, with sets of blocks."""
    rng = np.random.default_rng(0)
    ends = np.sort(rng.integers(0, 12, (60, 2)), axis=1)
    part, k = hdrf(ends, 12, 3, seed=1), 3
    degree, size = [0] * 12, [0] * k
    blocks: list[set[int]] = [set() for _ in range(12)]
    for e in np.random.default_rng(1).permutation(60).tolist():
        u, v = ends[e].tolist()
        degree[u] += 1
        degree[v] += 1
        theta = degree[u] / (degree[u] + degree[v])
        scores = [(1 + 1 - theta) * (b in blocks[u]) + (1 + theta) * (b in blocks[v])
                  + 1.1 * (max(size) - size[b]) / (1 + max(size) - min(size)) for b in range(k)]
        assert scores[part[e]] >= max(scores) - 1e-9
        size[part[e]] += 1
        blocks[u].add(int(part[e]))
        blocks[v].add(int(part[e]))


def test_the_table_has_means_over_both_baselines() -> None:
    records = [{"graph": "g", "k": 8, "algorithm": name, "replication": value, "seconds": 1.0}
               for name, value in (("hdrf", 3.0), ("mtkahypar", 2.0), ("portpart-default", 1.5))]
    text = report(records)
    assert "| replication over mtkahypar | 1.500 | 1.000 | 0.750 |" in text
    assert "| replication over hdrf | 1.000 | 0.667 | 0.500 |" in text
    assert report([]) == "no results yet"


def test_rounds_are_run_once_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of files in the data folder, with the ratio to what "best" had found."""
    monkeypatch.setenv("PORTPART_DATA", str(tmp_path))
    for folder in ("graphs", "hypergraphs"):
        (tmp_path / folder).mkdir()
    portpart.io.write(portpart.generators.grid_2d(9), tmp_path / "graphs" / "grid.graph")
    nets, output = portpart.generators.netlist(60), tmp_path / "rounds.jsonl"
    portpart.io.write_hypergraph(nets, tmp_path / "hypergraphs" / "nets.hgr")
    command = ["--files", "grid,nets", "--rounds", "3", "--output", str(output)]
    first, again = (CliRunner().invoke(rounds.main, command, catch_exceptions=False)
                    for _ in range(2))
    records = [json.loads(line) for line in output.read_text().splitlines()]
    assert [record["graph"] for record in records] == ["grid", "nets"]
    assert all(len(record["rounds"]) <= 3 for record in records)
    assert "geometric mean" in first.stdout
    assert first.stdout.endswith(again.stdout)
