"""What the documentation shows works: its Python blocks, its shell commands and its links."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")),
         *sorted((ROOT / "bench").rglob("*.md"))]
CODE = ("portpart", "tests", "bench", "examples")
SHOWN = re.compile("^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")


def blocks(page: Path, language: str) -> str:
    """The blocks of one language on a page, one after the other."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python_blocks_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    # in a file, because kernels are read from their file
    script = tmp_path / "page.py"
    script.write_text(blocks(page, "python"))
    run([sys.executable, "-W", "error::UserWarning", str(script)], tmp_path)


@pytest.mark.parametrize("page", pages_with("text"), ids=name_of)
def test_python_blocks_print_what_the_text_below_shows(page: Path, tmp_path: Path) -> None:
    shown = SHOWN.findall(page.read_text())
    assert len(shown) == page.read_text().count("```text")
    for block, text in shown:
        assert run([sys.executable, "-c", block], tmp_path) == text


@pytest.mark.parametrize("page", pages_with("sh"), ids=name_of)
def test_shell_blocks_run(page: Path, tmp_path: Path) -> None:
    command = f'portpart() {{ {shlex.quote(sys.executable)} -m portpart.cli "$@"; }}\n'
    run(["bash", "-euo", "pipefail", "-c", command + blocks(page, "sh")], tmp_path)


def anchors(page: Path) -> set[str]:
    """What links may name on a page: its headings in small letters, with hyphens for blanks."""
    text = re.sub("^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall("^#+ (.*)", text, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for file, anchor in LINK.findall(page.read_text()):
        target = page.parent / file if file else page
        assert target.exists(), file
        assert not anchor or anchor in anchors(target), f"{file}#{anchor}"


@pytest.mark.parametrize("page", [each for each in PAGES if "records" not in each.parts],
                         ids=name_of)
def test_files_and_commands_that_a_page_names_are_there(page: Path) -> None:
    files = [file.as_posix() for folder in CODE for file in (ROOT / folder).rglob("*.py")]
    for name in re.findall(r"`([\w/]+\.py)`", page.read_text()):
        assert any(f"/{file}".endswith(f"/{name}") for file in files), name
    for module in re.findall(r"python -m ((?:bench|tests)[.\w]*)", page.read_text()):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module
