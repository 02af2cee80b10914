"""Files of the areas of cells: lines of a cell and its area; ``#`` begins a comment."""

from __future__ import annotations

import re

from portpart.graphs.limits import MAX_TOTAL_WEIGHT
from portpart.io.text.amounts import AMOUNT, amount, made_whole
from portpart.io.text.files import PathLike, read_source
from portpart.options import shown

DECIMAL = re.compile(AMOUNT)


def read_areas(path: PathLike) -> dict[str, int]:
    """Return the area of each cell of a file.

    Areas such as 0.798 are multiplied by the smallest power of ten that makes all of them whole.

    Raises
    ------
    GraphFormatError
        Naming file and line of what is no cell and its area.
    InputError
        If the file cannot be read.
    """
    source = read_source(path)
    lines: dict[str, int] = {}
    amounts = []
    for number, _, line in source.lines():
        words = line.partition(b"#")[0].decode("utf-8", "surrogateescape").split()
        if not words:
            continue
        if len(words) != 2 or not DECIMAL.fullmatch(words[1]):
            source.refuse(number, "expected a cell and its area, such as 'NAND2 0.798'")
        if words[0] in lines:
            source.refuse(number, f"a second area of {shown(words[0])}, after line "
                                  f"{lines[words[0]]}")
        lines[words[0]] = number
        amounts.append(amount(words[1]))
    areas, scale = made_whole(amounts)
    for (cell, number), area in zip(lines.items(), areas):
        if area >= MAX_TOTAL_WEIGHT:
            source.refuse(number, f"the area of {shown(cell)}, times {scale}, is above 2**62; "
                                  "round areas to fewer decimals")
    return dict(zip(lines, areas))
