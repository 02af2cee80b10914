"""What the documentation shows works: its Python blocks, its shell commands and its links."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from portpart.inputs.known import FORMATS
from tests.docs import command_pages
from tests.helpers.ranks.mpi_jobs import ENVIRONMENT, MPIEXEC

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")),
         *sorted((ROOT / "bench").rglob("*.md"))]
CODE = ("portpart", "tests", "bench", "examples", "docs")
PLACES = ("portpart", *(f"portpart.{name}" for name in
                        ("compat.dgl", "compat.networkx", "compat.pyg", "compat.pymetis",
                         "generators", "generators.shares", "io", "metrics", "plot")))
BLOCK = re.compile("^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```)?", re.M | re.S)
SHOWN_BESIDE = re.compile(r"^print\(.*\) +# (.*)$", re.M)
TOCTREE = re.compile("^```{toctree}\n:hidden:\n\n(.*?)^```", re.M | re.S)
END = "end of a block"
FENCE = re.compile("^ *(```|~~~)")
CODE_WIDTH = 84
"""Characters beside both sidebars of the site in a window 1,280 pixels wide: 671 of 7.9 pixels."""
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")


def blocks(page: Path, language: str) -> str:
    """The blocks of one language on a page, one after the other."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def run(command: list[str], folder: Path, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python_blocks_run_one_after_the_other_and_print_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = BLOCK.findall(page.read_text())
    for package in ("torch", "torch_geometric"):
        if re.search(rf"^(?:import|from) {package}\b", blocks(page, "python"), re.M):
            pytest.importorskip(package, reason=f"{package} is not installed")
    assert sum(bool(shown) for _, shown in texts) == page.read_text().count("```text")
    # in a file, because kernels are read from their file
    script = tmp_path / "page.py"
    script.write_text(f"print({END!r})\n".join(f"{block}\n" for block, _ in texts))
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        runpy.run_path(str(script))
    printed = capsys.readouterr().out.split(f"{END}\n")
    for (block, shown), lines in zip(texts, printed, strict=True):
        assert not shown or lines == shown
        for comment in SHOWN_BESIDE.findall(block):
            assert comment in lines.splitlines()


def lines_of_code(page: Path) -> list[str]:
    """Lines of a page that the site shows in a box of code."""
    inside, lines = False, []
    for line in page.read_text().split("\n"):
        if FENCE.match(line):
            inside = not inside
        elif inside or re.match(" {4}", line):
            lines.append(line.removeprefix("" if inside else "    "))
    return lines


@pytest.mark.parametrize("page", [each for each in PAGES if "records" not in each.parts],
                         ids=name_of)
def test_code_needs_no_scrolling(page: Path) -> None:
    assert not [line for line in lines_of_code(page) if len(line) > CODE_WIDTH]


@pytest.mark.parametrize("page", [each for each in PAGES if "records" not in each.parts],
                         ids=name_of)
def test_every_column_of_a_table_has_a_title(page: Path) -> None:
    heads = re.findall(r"^(\|.*\|)\n\|[\s:|-]+\|$", page.read_text(), re.M)
    assert not [head for head in heads if re.search(r"\|\s*\|", head)]


@pytest.mark.parametrize("page", pages_with("sh"), ids=name_of)
def test_shell_blocks_run(page: Path, tmp_path: Path) -> None:
    text, variables = blocks(page, "sh"), {}
    if "mpiexec" in text:
        pytest.importorskip("mpi4py", reason="mpi4py is not installed")
        if MPIEXEC is None:
            pytest.skip("there is no mpiexec")
        variables = ENVIRONMENT
    python = shlex.quote(sys.executable)
    programs = {"portpart": f"{python} -m portpart.cli", "python": python, "mpiexec": MPIEXEC}
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, program in programs.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (folder / name).chmod(0o755)
    run(["bash", "-euo", "pipefail", "-c", text], tmp_path,
        PATH=f"{folder}{os.pathsep}{os.environ['PATH']}", **variables)


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
    files += [file.as_posix() for file in ROOT.glob("*.py")]
    for name in re.findall(r"`([\w/]+\.py)`", page.read_text()):
        assert any(f"/{file}".endswith(f"/{name}") for file in files), name
    for module in re.findall(r"python -m ((?:bench|tests)[.\w]*)", page.read_text()):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


def test_the_page_of_commands_is_that_of_the_command_line() -> None:
    assert command_pages.PAGE.read_text() == command_pages.page(), (
        "run python -m tests.docs.command_pages")


@pytest.mark.parametrize("place", PLACES)
def test_the_reference_has_every_public_name(place: str) -> None:
    module = importlib.import_module(place)
    text = "".join(page.read_text() for page in sorted((ROOT / "docs" / "reference").glob("*.md")))
    blocks = re.findall(rf"currentmodule:: {place}\n(.*?)^```", text, re.M | re.S)
    listed = {name for block in blocks
              for name in re.findall(r"^   (\w+)$", block, re.M)}
    own = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))
           and (getattr(getattr(module, name), "__module__", None) or place).startswith("portpart")}
    assert listed == own - {"version", "version_tuple"}


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {"index.md"}
    for page in (ROOT / "docs").rglob("*.md"):
        for block in TOCTREE.findall(page.read_text()):
            names = (re.sub(r".*<(.*)>", r"\1", line) for line in block.split("\n") if line)
            listed |= {(page.parent / f"{name}.md").relative_to(ROOT / "docs").as_posix()
                       for name in names}
    there = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert listed - {"gallery/index.md"} == there


def test_every_environment_variable_is_listed() -> None:
    page = (ROOT / "docs" / "reference" / "environment.md").read_text()
    named = {name for file in (ROOT / "portpart").rglob("*.py")
             for name in re.findall(r"\bPORTPART_[A-Z_]+\b", file.read_text())}
    assert len(named) > 1
    assert not {name for name in named if f"`{name}`" not in page}


def test_every_format_and_suffix_is_listed() -> None:
    page = (ROOT / "docs" / "reference" / "formats.md").read_text()
    listed = {word for cell in re.findall("`([^`]+)`", page) for word in cell.split()}
    known = {name: each.suffixes for name, each in FORMATS.items()}
    assert not {word for name in known for word in (name, *known[name])} - listed


@pytest.mark.parametrize("command", ["demo", "test"])
def test_the_readme_shows_what_sets_up_everything(command: str) -> None:
    assert re.search(rf"^    make {command}\b", (ROOT / "README.md").read_text(), re.M)
