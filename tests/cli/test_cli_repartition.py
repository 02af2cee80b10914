"""``portpart repartition``: files in, blocks out, and what is told of moves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import portpart
from portpart.cli import main


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A grid, and its blocks when it had three of them and a vertex less."""
    grid = portpart.generators.grid_2d(12, 12)
    old = np.arange(144) // 48
    old[143] = -1
    portpart.io.write(grid, tmp_path / "grid.graph")
    (tmp_path / "old.part").write_text("\n".join(map(str, old)) + "\n")
    return str(tmp_path / "grid.graph"), str(tmp_path / "old.part")


def test_blocks_and_moves_are_those_of_the_function(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    graph, old = files
    output = tmp_path / "new.part"
    assert main(["repartition", graph, old, "-k", "4", "--migration", "1/4", "-o", str(output),
                 "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    before = np.loadtxt(old, dtype=int)
    wanted = portpart.repartition(portpart.generators.grid_2d(12, 12), before, 4, migration="1/4")
    assert np.array_equal(np.loadtxt(output, dtype=int), wanted.part)
    expected = {"cut": wanted.cut, "moved": wanted.moved, "migration": wanted.migration, "k": 4,
                "price": 0.25, "requested_migration": "1/4", "old": old}
    assert expected.items() <= report.items()


def test_a_limit_is_a_size_or_a_share(
    files: tuple[str, str], capsys: pytest.CaptureFixture
) -> None:
    graph, old = files
    for limit in ("36", "25%"):
        arguments = ["--max-migration", limit, "--migration", "0.01", "-q"]
        assert main(["repartition", graph, old, "-k", "4", *arguments]) == 0
        moved = next(line for line in capsys.readouterr().out.splitlines()
                     if line.startswith("moved"))
        assert 32 <= int(moved.split()[1]) <= 36


@pytest.mark.parametrize(("arguments", "message"), [
    (["--migration", "-1"], "migration is '-1'; it must be at least 0"),
    (["--max-migration", "some"], "max_migration is 'some'"),
    (["--json", "-o", "-"], "both write to standard output"),
])
def test_refusals(files: tuple[str, str], arguments: list[str], message: str,
                  capsys: pytest.CaptureFixture) -> None:
    graph, old = files
    assert main(["repartition", graph, old, "-k", "4", *arguments]) == 2
    assert message in capsys.readouterr().err
