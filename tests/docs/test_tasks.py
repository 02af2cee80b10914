"""What users of five fields want first is one short example on a page, which runs as it stands."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TASKS = {
    "finite elements": ("meshes.md", "From a mesh file to a mesh for each process", 1),
    "matrices": ("subgraphs.md", "Matrices", 0),
    "circuits": ("netlists.md", "In Python", 1),
    "GNN": ("gnn.md", "PyTorch Geometric", 0),
    "HPC": ("launch.md", "Start MPI ranks where a mapping puts them", 0),
}
"""The page, the section, and how many blocks before the example make a file to try."""

NEEDED = ("meshio", "torch", "torch_geometric")
MOST_LINES = 12


@pytest.mark.parametrize("task", TASKS)
def test_the_task_of_a_field_is_one_example_of_few_lines(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It needs nothing of the blocks before it but their files, and a page of README.md has it."""
    page, heading, before = TASKS[task]
    assert f"docs/howto/{page}" in (ROOT / "README.md").read_text()
    text = (ROOT / "docs" / "howto" / page).read_text()
    section = re.split(f"^#+ {re.escape(heading)}$", text, flags=re.M)[1]
    blocks = re.findall("^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```)?", section, re.M | re.S)
    example, shown = blocks[before]
    lines = [line for line in example.split("\n") if line.strip()]
    assert len(lines) <= MOST_LINES
    assert any(line.startswith(("import portpart", "from portpart")) for line in lines)
    assert shown
    for package in NEEDED:
        if re.search(rf"^(?:import|from) {package}\b", section, re.M):
            pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    for number, (block, _) in enumerate(blocks[: before + 1]):
        script = tmp_path / f"block_{number}.py"
        script.write_text(block)
        capsys.readouterr()
        runpy.run_path(str(script))
    assert capsys.readouterr().out == shown
