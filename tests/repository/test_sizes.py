"""Lengths that keep the source readable; CONTRIBUTING.md gives the reasons."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from tests.helpers.each import for_each
from tests.helpers.sources import PACKAGE, ROOT, source_of

FILES = sorted(
    path for folder in ("portpart", "bench", "examples", "tests") for path in
    (ROOT / folder).rglob("*.py")
)
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
LONGEST_KERNEL = 40
# kernels that read better in one piece, each with its reason
LONG_KERNELS = {"best_touched": "what its loop keeps in registers no function can return"}
MEDIAN_FUNCTION = 15
LONG_FUNCTION = 40  # at most a tenth of the functions are longer


@for_each(FILES)
def test_file_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@for_each(FILES)
def test_functions_are_short(path: Path) -> None:
    for function in source_of(path).functions:
        short = function.is_kernel and function.name not in LONG_KERNELS
        limit = LONGEST_KERNEL if short else LONGEST_FUNCTION
        # the signature of a public function may list one documented parameter a line
        length = function.lines - function.signature
        assert length <= limit, f"{path}:{function.lineno}: {function.name} has {length} lines"


def test_most_functions_are_very_short() -> None:
    lengths = [function.lines for path in FILES if path.is_relative_to(PACKAGE)
               for function in source_of(path).functions]
    assert median(lengths) <= MEDIAN_FUNCTION
    assert sum(length > LONG_FUNCTION for length in lengths) <= len(lengths) / 10
