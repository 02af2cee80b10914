"""Every algorithm has a page of the same form, whose tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from portpart.algorithms.partitioners import ALGORITHMS, Algorithm
from tests.algorithm_pages import (
    NOT_MEASURED,
    OVERVIEW,
    PARTITIONERS,
    SECTIONS,
    STARTS,
    page_of,
    pages,
    twin_of,
)


@pytest.mark.parametrize(("page", "text"), list(pages()),
                         ids=lambda each: getattr(each, "name", ""))
def test_tables_are_those_of_the_code(page: Path, text: str) -> None:
    assert page.read_text() == text, "run python -m tests.algorithm_pages"


@pytest.mark.parametrize("algorithm", PARTITIONERS, ids=lambda each: each.title)
def test_every_page_has_the_same_sections(algorithm: Algorithm) -> None:
    text = page_of(algorithm).read_text()
    assert text.startswith(f"# {algorithm.title}\n")
    assert tuple(re.findall("^## (.*)", text, re.M)) == SECTIONS


@pytest.mark.parametrize("algorithm", PARTITIONERS, ids=lambda each: each.title)
def test_every_parameter_has_a_row(algorithm: Algorithm) -> None:
    pages = [OVERVIEW, page_of(twin_of(algorithm) or algorithm)]
    rows = [line.split(" | ")[0] for page in pages for line in page.read_text().splitlines()]
    listed = {name for row in rows if row.startswith("| `") for name in re.findall("`(.+?)`", row)}
    starts = set(re.findall(r"^\| (`.+?) \|", STARTS.read_text(), re.M))
    listed |= {f"initial.growing.{name}" for row in starts for name in re.findall("`(.+?)`", row)}
    assert not {each.name for each in algorithm.parameters()} - listed


def test_every_preset_has_been_measured() -> None:
    rows = [line for line in OVERVIEW.read_text().splitlines() if line.startswith("| [")]
    assert len(rows) >= sum(len(each.presets) for each in ALGORITHMS.values())
    assert not [row for row in rows if row.endswith(f" {NOT_MEASURED} |")]
