"""docs/architecture.md is true: its picture is that of the code, its walk is what a call does."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.recipes.nearby_owners import MoveRule
from portpart.algorithms.recipes.portpart import PRESETS
from portpart.algorithms.recipes.portpart_ranks import partition_ranks
from portpart.api.bounds import bounds_for
from portpart.backends.communication import Local
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d, netlist
from portpart.graphs.ranks.distribution import distributed
from tests.docs.architecture_picture import PICTURE, box_of, lines_between_boxes, picture
from tests.helpers.ranks.cut_rows import rows_of
from tests.test_layers import PACKAGE

PAGE = PICTURE.with_suffix(".md")


def steps_of(title: str) -> list[tuple[str, str]]:
    """File and function of each step of a section."""
    section = PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\d+\. `(\S+\.py)`: `(\w+)`", section, re.M)


*WALK, MOVING = steps_of("A walk")

Calls = dict[tuple[str, str], None]


lines_of_the_picture = cache(lines_between_boxes)


def test_picture_is_that_of_the_code() -> None:
    assert PICTURE.read_text() == picture(), "run make docs-picture"


@pytest.mark.parametrize("file", re.findall(r"`([\w/]+\.py)`", PAGE.read_text()))
def test_files_of_the_page_are_there_and_in_the_picture(file: str) -> None:
    root = PACKAGE if (PACKAGE / file).exists() else PACKAGE.parent
    assert (root / file).exists()
    assert root != PACKAGE or box_of(PACKAGE / file) in lines_of_the_picture()


def calls_of(work: Callable[[], Any]) -> tuple[Calls, Calls]:
    """Return (file, name) of functions in the order of first calls, and of recorded kernels."""
    functions: Calls = {}
    kernels: Calls = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if event == "call" and file.startswith(str(PACKAGE)):
            functions.setdefault((file[len(str(PACKAGE)) + 1:], name))
            if file.endswith("backends/programs/program.py") and name == "parallel_for":
                kernel = frame.f_locals["kernel"]
                kernels[kernel.filename[len(str(PACKAGE)) + 1:], kernel.name] = None

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return functions, kernels


@pytest.fixture(autouse=True)
def record_programs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever other tests have left."""
    monkeypatch.setattr(ExecutionSpace, "cached_executable",
                        lambda self, _, record: self.executable(record()))


def assert_steps(title: str, functions: Calls) -> None:
    """A call comes to the steps of a section, in their order."""
    steps = steps_of(title)
    assert set(steps) <= functions.keys()
    assert [step for step in functions if step in steps] == steps


def test_walk_is_what_a_call_does() -> None:
    matrix = grid_2d(120, 120).to_scipy()
    part = np.arange(14400) % 4
    functions, kernels = calls_of(lambda: portpart.partition(matrix, 4, initial=part, threads=1))
    assert set(WALK) <= functions.keys()
    assert [step for step in functions if step in WALK] == WALK
    assert MOVING in kernels


def test_a_hypergraph_takes_the_steps_of_the_page() -> None:
    nets = netlist(5000)
    assert_steps("A hypergraph", calls_of(lambda: portpart.partition(nets, 4, threads=1))[0])


def test_a_session_takes_the_steps_of_the_page() -> None:
    session = portpart.Session(grid_2d(40, 40), 4, threads=1)
    batch = session.batch()
    batch.insert_edges([0], [500])
    assert_steps("A session", calls_of(lambda: session.apply(batch))[0])


def test_ranks_take_the_steps_of_the_page() -> None:
    graph = delaunay(3000)
    balance = bounds_for(graph, 4, 0.03, None, None, 0).balance
    found: list[Calls] = []

    def main(comm: Any) -> None:
        rows = distributed(comm, rows_of(graph, 1500 * comm.rank, 1500 * (comm.rank + 1)))

        def work() -> None:
            partition_ranks(rows, balance, PRESETS["default"], 0, Trace(rows.space, rows, None),
                            Fold(500, 2**62), rule=MoveRule(min_ghosts=0.1, max_left=0.9))

        if comm.rank:  # the last rank exchanges the messages of all
            found.append(calls_of(work)[0])
        else:
            work()

    Local(2).run(main)
    assert_steps("Several ranks", found[0])
