"""docs/architecture.md is true: its picture is that of the code, its walk is what a call does."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.backends.interface import ExecutionSpace
from portpart.generators import grid_2d
from tests.architecture_picture import PICTURE, box_of, lines_between_boxes, picture
from tests.test_layers import PACKAGE

PAGE = PICTURE.with_suffix(".md")
*WALK, MOVING = re.findall(r"^\d+\. `(\S+\.py)`: `(\w+)`", PAGE.read_text(), re.M)

Calls = dict[tuple[str, str], None]


def test_picture_is_that_of_the_code() -> None:
    assert PICTURE.read_text() == picture(), "run make docs-picture"


@pytest.mark.parametrize("file", re.findall(r"`([\w/]+\.py)`", PAGE.read_text()))
def test_files_of_the_page_are_there_and_in_the_picture(file: str) -> None:
    root = PACKAGE if (PACKAGE / file).exists() else PACKAGE.parent
    assert (root / file).exists()
    assert root != PACKAGE or box_of(PACKAGE / file) in lines_between_boxes()


def calls_of(work: Callable[[], Any]) -> tuple[Calls, Calls]:
    """Return (file, name) of functions in the order of first calls, and of recorded kernels."""
    functions: Calls = {}
    kernels: Calls = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if event == "call" and file.startswith(str(PACKAGE)):
            functions.setdefault((file[len(str(PACKAGE)) + 1:], name))
            if file.endswith("backends/program.py") and name == "parallel_for":
                kernel = frame.f_locals["kernel"]
                kernels[kernel.filename[len(str(PACKAGE)) + 1:], kernel.name] = None

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return functions, kernels


def test_walk_is_what_a_call_does(monkeypatch: pytest.MonkeyPatch) -> None:
    # programs are recorded anew, whatever other tests have left
    monkeypatch.setattr(ExecutionSpace, "cached_executable",
                        lambda self, _, record: self.executable(record()))
    matrix = grid_2d(60, 60).to_scipy()
    part = np.arange(3600) % 4
    functions, kernels = calls_of(lambda: portpart.partition(matrix, 4, initial=part, threads=1))
    assert set(WALK) <= functions.keys()
    assert [step for step in functions if step in WALK] == WALK
    assert MOVING in kernels
