"""Tables of numbers from files: distances of a machine, coordinates of points."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from portpart.errors import GraphFormatError
from portpart.options import shown

if TYPE_CHECKING:
    from portpart.io.text.files import Source


def read_table(name: str) -> np.ndarray:
    """Read a table of numbers, a row a line, parted by blanks or by commas.

    Raises
    ------
    GraphFormatError
        Naming file and line of what is not a number, or of a row of another length.
    """
    from portpart.io.text.files import read_source

    return _table_of(read_source(name))


def read_points(name: str) -> np.ndarray:
    """Read coordinates, those of a point a line, or an .npy file."""
    from portpart.io.formats.arrays import ARRAY_BEGINS, read_array
    from portpart.io.text.files import read_source
    from portpart.io.text.packed import bare_name

    source = read_source(name)
    if source.data.startswith(ARRAY_BEGINS) or bare_name(name).endswith(".npy"):
        return read_array(source.name, io.BytesIO(source.data), len(source.data))
    return _table_of(source)


def _table_of(source: Source) -> np.ndarray:
    lines = source.data.decode(errors="replace").splitlines()
    rows = {number: row for number, line in enumerate(lines, 1)
            if (row := line.partition("#")[0].strip())}
    if not rows:
        raise GraphFormatError(f"{source.name}: holds no numbers; each line must be a row of them")
    delimiter = "," if any("," in row for row in rows.values()) else None
    try:
        return np.loadtxt(list(rows.values()), ndmin=2, delimiter=delimiter)
    except ValueError as problem:
        _refuse_row(source, rows, delimiter)
        raise GraphFormatError(f"{source.name}: {problem}") from problem


def _refuse_row(source: Source, rows: dict[int, str], delimiter: str | None) -> None:
    """Raise for the first line that is not a row of the table."""
    width = len(next(iter(rows.values())).split(delimiter))
    for number, row in rows.items():
        words = row.split(delimiter)
        if len(words) != width:
            source.refuse(number, f"{len(words)} numbers; the lines before have {width} each")
        for word in words:
            try:
                float(word)
            except ValueError:
                source.refuse(number, f"{shown(word.strip())} is not a number")
