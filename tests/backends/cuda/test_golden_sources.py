"""The generated source of a few kernels, word for word.

After a wanted change of the translator: ``PORTPART_WRITE_GOLDEN=1 pytest`` writes the files anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from portpart.backends import cuda
from tests.backends import golden_kernels as kernels

GOLDEN = Path(__file__).parent / "golden"

CASES = [
    (kernels.count_internal_arcs, ("*int32", "*int32", "*int32", "*int64"), 1),
    (kernels.keep_paying_moves,
     ("*int64", "*int32", "absent", "*int32", "*int32", "*int64", "*bool", "*int32"), 8),
    (kernels.odds_and_ends, ("*float64", "int32", "*float32"), 1),
    (kernels.turn_around, ("*float64",), 32),
]


@pytest.mark.parametrize(("kernel", "types", "team"), CASES, ids=lambda case: str(case)[:40])
def test_the_generated_source_is_the_one_kept(kernel, types, team):
    path = GOLDEN / f"{kernel.name}.cu"
    text = cuda.source(kernel, *types, team=team)
    if os.environ.get("PORTPART_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def test_the_source_names_no_folder_of_this_machine():
    kernel, types, team = CASES[1]
    assert str(Path(__file__).parent) not in cuda.source(kernel, *types, team=team)
