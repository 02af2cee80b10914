"""Lines of numbers after a header: of METIS files, and nets of hMETIS and PaToH files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np

from portpart.errors import errors_about
from portpart.formats.text import TO_SCALE, Lines, LineSyntax, Source, read_lines, refuse_number
from portpart.graphs import Hypergraph, first_true, nets_hypergraph

SYNTAX = LineSyntax(comments=b"%")
WITH_BLANK = LineSyntax(comments=b"%", keep_blank=True)


@dataclass(frozen=True)
class NumberLines:
    """The lines of numbers of a file, the header first, with their places in the file.

    Attributes
    ----------
    num_skipped : int
        Number of blank lines before the header.
    """

    source: Source
    syntax: LineSyntax
    lines: Lines
    num_skipped: int = 0

    @classmethod
    def of(cls, source: Source, syntax: LineSyntax, remedy: str = "") -> NumberLines:
        """Return the integers of a file; raise for another word, with `remedy` for numbers."""
        lines = read_lines(source.data, syntax)
        if lines.bad_byte is not None:
            refuse_number(source, lines.bad_byte, remedy)
        return cls(source, syntax, lines)

    def __len__(self) -> int:
        """Return the number of lines after the header."""
        return max(0, len(self.lines.starts) - 2)

    @property
    def lengths(self) -> np.ndarray:
        """Number of values in each row, including the header."""
        return np.diff(self.lines.starts)

    def header(self) -> list[int]:
        """Return the numbers of the first line."""
        return self.numbers(0, 1)[1].tolist() if len(self.lines.starts) > 1 else []

    def numbers(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return starts and numbers of some rows."""
        starts = self.lines.starts[begin : end + 1]
        return starts - starts[0], self.lines.values[starts[0] : starts[-1]]

    def line_of(self, row: int) -> int:
        """Return the number of the line of a row."""
        return self.source.line_of_row(self.syntax, 0, self.num_skipped + row)

    def refuse(self, row: int, problem: str) -> NoReturn:
        """Raise an error for a row."""
        self.source.refuse(self.line_of(row), problem)

    def refuse_end(self, what: str) -> None:
        """Raise an error for a file that ends too early."""
        self.source.refuse(self.source.data.count(b"\n") + 1, f"the file ends after {what}")

    def refuse_after(self, row: int, what: str) -> None:
        """Raise an error if numbers follow `row`, called `what`, which must be the last with
        numbers.
        """
        starts = self.lines.starts
        if starts[row + 1] < len(self.lines.values):
            later = int(np.searchsorted(starts, starts[row + 1], side="right")) - 1
            self.refuse(later, f"numbers after the {what}")


def rows_of(source: Source, blank: bool = False) -> NumberLines:
    """Return the lines of a file; with `blank` also those without numbers after the header."""
    rows = NumberLines.of(source, WITH_BLANK if blank else SYNTAX, f"hMETIS and PaToH {TO_SCALE}")
    if not blank:
        return rows
    lines = rows.lines
    first = int((np.diff(lines.starts) > 0).argmax())
    return replace(rows, lines=replace(lines, starts=lines.starts[first:]), num_skipped=first)


def nets_of(rows: NumberLines, num_nets: int, vertices: range,
            weighted: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return offsets and pins, from 0, of the nets after the header, and their weights or None.

    Pins are numbers of `vertices`; with `weighted`, the line of a net begins with its weight.

    Raises
    ------
    GraphFormatError
        With line and column of the first invalid pin or weight.
    """
    offsets, pins = rows.numbers(1, 1 + num_nets)
    weights = None
    if weighted:
        offsets, pins, weights = _weights_and_pins(rows, offsets, pins)
    first, last = vertices.start, vertices.stop - 1
    if len(pins) and not first <= int(pins.min()) <= int(pins.max()) <= last:
        place = int(((pins < first) | (pins > last)).argmax())
        net = int(np.searchsorted(offsets, place, side="right")) - 1
        word = place - int(offsets[net]) + weighted
        rows.source.refuse_at(rows.line_of(1 + net), word, f"pin {pins[place]} of net {net + 1} is "
                              f"not a vertex; vertices are {first} ... {last}")
    return offsets, pins - first, weights


def hypergraph_of(source: Source, offsets: np.ndarray, pins: np.ndarray, num_vertices: int,
                  net_weights: np.ndarray | None, vertex_weights: np.ndarray | None) -> Hypergraph:
    """Return the hypergraph of a file's contents; errors name the file."""
    with errors_about(source.name):
        return nets_hypergraph(offsets, pins, num_vertices, net_weights, vertex_weights)


def _weights_and_pins(rows: NumberLines, starts: np.ndarray,
                      values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return offsets and pins of the nets, and the weights before them."""
    if (net := first_true(starts[1:] == starts[:-1])) is not None:
        rows.refuse(1 + net, f"net {net + 1} has no weight; a weight and its pins are expected")
    weights = values[starts[:-1]]
    if (net := first_true(weights < 0)) is not None:
        rows.source.refuse_at(rows.line_of(1 + net), 0, f"net {net + 1} has weight {weights[net]}; "
                                                        "net weights must be >= 0")
    return starts - np.arange(len(starts)), without_first(starts, values), weights


def without_first(starts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the numbers of rows without the first number of each row."""
    kept = np.ones(len(values), bool)
    kept[starts[:-1]] = False
    return values[kept]
