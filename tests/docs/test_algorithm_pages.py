"""Every algorithm has a page of the same form, whose tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.recipes.catalogue import parameters_of
from portpart.algorithms.recipes.partitioners import ALGORITHMS, OF_NETS, Algorithm
from tests.docs.algorithm_pages import (
    NOT_MEASURED,
    OVERVIEW,
    PARAMETERS,
    PARTITIONERS,
    SECTIONS,
    page_of,
    pages,
)


@pytest.mark.parametrize(("page", "text"), list(pages()),
                         ids=lambda each: getattr(each, "name", ""))
def test_tables_are_those_of_the_code(page: Path, text: str) -> None:
    assert page.read_text() == text, "run python -m tests.docs.algorithm_pages"


@pytest.mark.parametrize("algorithm", PARTITIONERS, ids=lambda each: each.title)
def test_every_page_has_the_same_sections(algorithm: Algorithm) -> None:
    text = page_of(algorithm).read_text()
    assert text.startswith(f"# {algorithm.title}\n")
    assert tuple(re.findall("^## (.*)", text, re.M)) == SECTIONS


@pytest.mark.parametrize("algorithm", PARTITIONERS, ids=lambda each: each.title)
def test_every_parameter_has_a_row(algorithm: Algorithm) -> None:
    table = re.findall(r"^\| (`.+?) \|", PARAMETERS.read_text(), re.M)
    listed = {name for row in table for name in re.findall("`(.+?)`", row)}
    growing = {f"initial.growing.{each.name}" for each in parameters_of(GrowingOptions(), {})}
    assert {name.rpartition(".")[2] for name in growing} <= listed
    assert not {each.name for each in algorithm.parameters()} - listed - growing


def test_every_preset_has_been_measured() -> None:
    rows = [line for line in OVERVIEW.read_text().splitlines() if line.startswith("| [")]
    assert len(rows) >= sum(len(each.presets) for each in ALGORITHMS.values())
    assert not [row for row in rows if row.endswith(f" {NOT_MEASURED} |")]


def test_hyperg_and_ihyperg_share_a_table() -> None:
    assert OF_NETS["hyperg"].parameters() == OF_NETS["ihyperg"].parameters()
