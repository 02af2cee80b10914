"""What the command line answers: JSON that any reader takes, one line for an error, help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.cli import COMMANDS, main
from portpart.cli.output import print_json

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def grid(tmp_path: Path) -> str:
    path = str(tmp_path / "grid.graph")
    portpart.io.write(portpart.generators.grid_2d(6, 6), path)
    return path


def strict(text: str) -> Any:
    """The value of JSON text that holds none of Python's additions to JSON."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_numbers_that_json_cannot_say_are_null(capsys: pytest.CaptureFixture) -> None:
    print_json({"a": float("inf"), "b": [1.5, float("nan")], "c": {"d": np.float64("-inf")},
                "e": np.array([1.0, np.nan]), "f": (np.int64(3), np.bool_(True), None, "text")})
    assert strict(capsys.readouterr().out) == {
        "a": None, "b": [1.5, None], "c": {"d": None}, "e": [1.0, None],
        "f": [3, True, None, "text"]}


@pytest.mark.parametrize("limit", ["inf", "1e400", "60"])
def test_json_is_valid_without_a_limit(
    grid: str, limit: str, capsys: pytest.CaptureFixture
) -> None:
    assert main(["partition", grid, "-k", "2", "--time-limit", limit, "--json"]) == 0
    report = strict(capsys.readouterr().out)
    assert report["time_limit"] == (60 if limit == "60" else None)


@pytest.mark.parametrize(("arguments", "message"), [
    (["partition"], "Missing argument 'GRAPH'"),
    (["partition", "g.graph"], "Missing option '-k'"),
    (["partition", "g.graph", "-k", "0"], "k is 0; it must be between 1 and"),
    (["partition", "g.graph", "-k", "2", "--nothing"], "--nothing"),
    (["partition", "g.graph", "-k", "2", "-o", "-", "--json"], "standard output"),
    (["partition", "g.graph", "-k", "2", "--target", "setup.py"], "whose numbers are @setup.py"),
    (["nothing"], "nothing"),
    (["--nothing"], "--nothing"),
])
def test_wrong_usage_is_one_line_that_says_where_help_is(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    assert main(arguments) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert line.startswith("portpart: error: ")
    assert message in line
    command = "portpart partition" if arguments[0] == "partition" else "portpart"
    assert line.endswith(f" (see {command} --help)")
    assert not printed.out


def test_without_a_command_help_lists_them(capsys: pytest.CaptureFixture) -> None:
    assert main([]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert all(name in printed.err for name in COMMANDS)


@pytest.mark.parametrize("module", ["portpart", "portpart.cli"])
def test_modules_are_the_command(module: str, grid: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, "convert", grid, "-"], capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == Path(grid).read_text()
