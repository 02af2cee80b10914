"""The demo of ``make demo`` runs on a small mesh and on a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PNG = b"\x89PNG"


def demo(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "examples/demo.py", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def run_demo(*arguments: str) -> str:
    outcome = demo(*arguments)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_demo_compares_with_metis_and_draws_the_mesh(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "mesh.png"
    text = run_demo("--points", "3000", "-k", "8", "--output", str(picture))
    for word in ("portpart ", "METIS ", "by phase: coarsening", "compiling", "3,000 vertices"):
        assert word in text
    assert picture.read_bytes().startswith(PNG)


def test_demo_takes_a_file_and_draws_its_blocks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    graph, picture = tmp_path / "cycle.graph", tmp_path / "blocks.png"
    lines = [f"{(v - 1) % 40 + 1} {(v + 1) % 40 + 1}" for v in range(40)]
    graph.write_text("\n".join(["40 40", *lines]) + "\n")
    text = run_demo(str(graph), "-k", "4", "--output", str(picture))
    assert "40 vertices, 40 edges" in text
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize(("arguments", "message"), [
    (["missing.graph"], "missing.graph"), (["docs"], "docs"), (["--points", "500", "-k", "0"], "k"),
])
def test_demo_says_in_one_line_what_is_wrong(arguments: list[str], message: str) -> None:
    outcome = demo(*arguments)
    assert outcome.returncode == 2
    (line,) = outcome.stderr.splitlines()
    assert line.startswith("demo: ")
    assert message in line


def test_the_picture_of_the_readme_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "airfoil.png"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "examples/readme_picture.py", str(file)], cwd=ROOT,
                   env=environment, check=True)
    assert file.read_bytes().startswith(PNG)
    assert abs(len(file.read_bytes()) - (ROOT / "docs" / "airfoil.png").stat().st_size) < 20_000
