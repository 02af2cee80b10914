"""The demo of ``make demo`` runs on a small mesh and on a file, and the other examples run."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG"


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_demo_compares_with_metis_and_draws_the_mesh(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "mesh.png"
    command = [sys.executable, "examples/demo.py", "--points", "3000", "-k", "8",
               "--output", str(picture)]  # a fresh process, which says that it compiles
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    for word in ("by phase: coarsening", "compiling", "3,000 vertices"):
        assert word in text
    rows = {name: [float(word.replace(",", "")) for word in line.split()[-3:]]
            for line in text.splitlines() for name in ("portpart fast", "portpart default", "METIS")
            if line.startswith(name)}
    assert len(rows) == 3
    # what each buys follows from the table: cut and time beside METIS, default's beside fast, too
    fast, default, metis = rows["portpart fast"], rows["portpart default"], rows["METIS"]
    wanted = [(fast, metis), (default, metis), (default, fast)]
    said = re.findall(r"cuts ([\d.]+)% (less|more) than (?:METIS|portpart fast)", text)
    assert len(said) == 3
    for (percent, word), (own, other) in zip([each[:2] for each in said], wanted):
        change = (own[0] - other[0]) / other[0]
        assert percent == f"{abs(change):.1%}"[:-1]
        assert word == ("less" if change < 0 else "more")
    assert picture.read_bytes().startswith(PNG)


def demo(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    """The exit code of the demo in this process."""
    monkeypatch.setattr(sys, "argv", ["demo.py", *arguments])
    with pytest.raises(SystemExit) as outcome:
        runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    return outcome.value.code


def test_demo_takes_a_file_and_draws_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("matplotlib")
    graph, picture = tmp_path / "cycle.graph", tmp_path / "blocks.png"
    lines = [f"{(v - 1) % 40 + 1} {(v + 1) % 40 + 1}" for v in range(40)]
    graph.write_text("\n".join(["40 40", *lines]) + "\n")
    assert demo(monkeypatch, str(graph), "-k", "4", "--output", str(picture)) == 0
    assert "40 vertices, 40 edges" in capsys.readouterr().out
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize(("arguments", "message"), [
    (["missing.graph"], "missing.graph"), (["docs"], "docs"), (["--points", "500", "-k", "0"], "k"),
])
def test_demo_says_in_one_line_what_is_wrong(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    assert demo(monkeypatch, *arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("demo: ")
    assert message in line


def shown_by(example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
             *arguments: str) -> str:
    """What an example of hypergraphs prints; it counts itself what it shows, and fails else."""
    monkeypatch.setattr(sys, "argv", [example, *arguments])
    runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")
    return capsys.readouterr().out


def numbers_after(name: str, text: str) -> list[int]:
    line = next(line for line in text.splitlines() if line.startswith(name))
    return [int(word.replace(",", "")) for word in re.findall(r"\d[\d,]*", line[len(name):])]


def test_columns_of_a_matrix_to_processes(monkeypatch: pytest.MonkeyPatch,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    text = shown_by("spmv.py", monkeypatch, capsys, "--size", "20", "-k", "4")
    words, work = numbers_after("by portpart", text)
    assert words < numbers_after("in turn", text)[0] / 4
    entries = numbers_after("matrix of 400 x 400 with", text)[0]
    assert entries / 4 <= work <= 1.03 * (entries // 4 + 1)
    assert numbers_after("km1 of the first", text) == [words]


def test_gates_of_a_circuit_to_chips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    text = shown_by("circuit.py", monkeypatch, capsys, "--bits", "12", "-k", "3",
                    "--folder", str(tmp_path))
    rows = [line.split() for line in (tmp_path / "multiplier.part").read_text().splitlines()]
    assert len(rows) == 12 * 12 + 11 * 12
    chips = [chip for _, chip in rows]
    assert [chips.count(chip) for chip in "012"] == [
        numbers_after(f"chip {chip}: ", text)[0] for chip in range(3)]
    (place,) = [chip for name, chip in rows if name == "adder_r6_c6"]
    assert f"gate adder_r6_c6 is on chip {place}\n" in text


def test_clauses_of_a_formula_to_solvers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    text = shown_by("sat.py", monkeypatch, capsys, "--variables", "240", "-k", "3",
                    "--folder", str(tmp_path))
    assert "960 clauses of 240 variables, 2,880 occurrences" in text
    shared, copies = numbers_after("as divided", text)
    others = numbers_after("in the order of the file", text)
    assert shared <= copies < others[1] / 2


def test_the_picture_of_the_readme_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "airfoil.png"
    shown_by("readme_picture.py", monkeypatch, capsys, str(file))
    assert file.read_bytes().startswith(PNG)
    assert abs(len(file.read_bytes()) - (ROOT / "docs" / "airfoil.png").stat().st_size) < 20_000


def test_partitions_that_follow_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    """Each example counts itself what the library tells, and draws a picture."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "examples")
    folder = ("--folder", str(tmp_path))
    mesh = shown_by("adaptive_mesh.py", monkeypatch, capsys, "--steps", "6", "--levels", "6",
                    "-k", "4", *folder)
    cuts, sent = zip(*(numbers_after(name, mesh)[:2] for name in ("repartitioned", "new each")))
    assert cuts[0] < 1.1 * cuts[1]
    assert sent[0] < sent[1]
    social = shown_by("social_graph.py", monkeypatch, capsys, "--days", "14", "--joins", "12",
                      "-k", "3", *folder)
    own, _, hashed, _ = numbers_after("between servers:", social)
    assert own < hashed / 2
    eco = shown_by("eco_loop.py", monkeypatch, capsys, "--bits", "10", "-k", "2", "--trials", "30",
                   *folder)
    gates, _, before = numbers_after("", eco.splitlines()[0])
    kept, _, _, after, _ = numbers_after("", eco.splitlines()[1])
    assert 0 < kept < 30
    assert after <= before
    blocks = [line.split()[0] for line in (tmp_path / "eco_loop.part").read_text().splitlines()]
    assert len(blocks) == len(set(blocks)) == gates + kept
    for name in ("adaptive_mesh", "social_graph", "eco_loop"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)


DRAWS = """
import vtk
window = vtk.vtkRenderWindow()
window.SetOffScreenRendering(1)
window.AddRenderer(vtk.vtkRenderer())
window.Render()
"""


def test_the_picture_of_a_mesh_is_drawn(tmp_path: Path) -> None:
    """It shows every block that reaches the surface seen, and is small."""
    for package in ("meshio", "vtk", "matplotlib"):
        pytest.importorskip(package)
    if subprocess.run([sys.executable, "-c", DRAWS], capture_output=True).returncode != 0:
        pytest.skip("vtk cannot draw here")
    file = tmp_path / "wing.png"
    subprocess.run([sys.executable, "examples/mesh_picture.py", str(file)], cwd=ROOT,
                   env=ENVIRONMENT, check=True)
    from PIL import Image

    drawn, kept = (Image.open(each).convert("RGB") for each in (file, ROOT / "docs" / "wing.png"))
    assert drawn.size == kept.size
    largest = [colour for count, colour in drawn.getcolors() if count > 300]
    assert len(largest) > 12
    assert (ROOT / "docs" / "wing.png").stat().st_size < 150_000
