"""hMETIS files: a header ``nets vertices [fmt]``, a line of pins per net, perhaps vertex weights.

``fmt`` is 1 where the line of a net begins with its weight, 10 where the weights of the vertices
follow, one a line, and 11 for both.  Vertices count from 1; ``%`` begins a comment line.  (Karypis
and Kumar, hMETIS 1.5: A Hypergraph Partitioning Package, 1998.)

A blank line is a net without pins where otherwise there would be fewer lines than nets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError, InputError
from portpart.graphs.from_nets import nets_hypergraph
from portpart.graphs.hypergraph import Hypergraph
from portpart.io.text.files import Source
from portpart.io.text.render import rendered_rows
from portpart.io.text.tokens import Lines, LineSyntax, read_lines

SYNTAX = LineSyntax(comments=b"%")
WITH_BLANK = LineSyntax(comments=b"%", keep_blank=True)

FLAGS = (0, 1, 10, 11)


@dataclass(frozen=True)
class Header:
    """First line of a file."""

    num_nets: int
    num_vertices: int
    net_weights: bool
    vertex_weights: bool

    @property
    def num_rows(self) -> int:
        """Lines below it."""
        return self.num_nets + self.vertex_weights * self.num_vertices


@dataclass(frozen=True)
class Rows:
    """The lines of numbers of a file, the header first, and how they are found again.

    Attributes
    ----------
    num_skipped : int
        Blank lines above the header.
    """

    source: Source
    syntax: LineSyntax
    lines: Lines
    num_skipped: int = 0

    def numbers(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Starts and numbers of some rows."""
        starts = self.lines.starts[begin : end + 1]
        return starts - starts[0], self.lines.values[starts[0] : starts[-1]]

    def line_of(self, row: int) -> int:
        """Number of the line that holds a row."""
        return self.source.line_of_row(self.syntax, 0, self.num_skipped + row)


def parse(source: Source) -> Hypergraph:
    """The hypergraph of a file.

    Raises
    ------
    GraphFormatError
        Naming file, line and column of the first deviation from the format.
    """
    rows = _rows(source, SYNTAX)
    header = _header(rows)
    if len(rows.lines.starts) - 2 < header.num_rows:
        rows = _rows(source, WITH_BLANK)
    _check_line_count(rows, header)
    m = header.num_nets
    offsets, pins = rows.numbers(1, 1 + m)
    net_weights = vertex_weights = None
    if header.net_weights:
        offsets, pins, net_weights = _weights_and_pins(rows, offsets, pins)
    _check_pins(rows, header, offsets, pins)
    if header.vertex_weights:
        vertex_weights = _vertex_weights(rows, header)
    pins = pins - 1
    del rows  # as large as the text; the hypergraph is made without it
    try:
        return nets_hypergraph(offsets, pins, header.num_vertices, net_weights, vertex_weights)
    except InputError as problem:
        raise GraphFormatError(f"{source.name}: {problem}") from problem


def text(hypergraph: Hypergraph) -> Iterator[Any]:
    """The file of a hypergraph in host memory, in pieces."""
    h = hypergraph
    starts, values = h.net_offsets.astype(np.int64), h.net_pins.astype(np.int64) + 1
    if h.net_weights is not None:
        values = np.insert(values, starts[:-1], h.net_weights)
        starts += np.arange(h.num_nets + 1)
    flags = (h.net_weights is not None) + 10 * (h.vertex_weights is not None)
    yield f"{h.num_nets} {h.num_vertices}{f' {flags}' if flags else ''}\n".encode()
    yield rendered_rows(values, starts)
    if h.vertex_weights is not None:
        yield rendered_rows(h.vertex_weights, np.arange(h.num_vertices + 1))


def _rows(source: Source, syntax: LineSyntax) -> Rows:
    lines = read_lines(source.data, syntax)
    if lines.bad_byte is not None:
        source.refuse_word(lines.bad_byte)
    if not syntax.keep_blank:
        return Rows(source, syntax, lines)
    first = int((np.diff(lines.starts) > 0).argmax())
    return Rows(source, syntax, Lines(lines.values, lines.starts[first:], None), first)


def _header(rows: Rows) -> Header:
    source = rows.source
    first = rows.numbers(0, 1)[1].tolist() if len(rows.lines.starts) > 1 else []
    line = rows.line_of(0)
    if not 2 <= len(first) <= 3 or min(first) < 0:
        source.refuse(line, "an hMETIS file begins with 'nets vertices [fmt]': the numbers of nets "
                            "and of vertices")
    m, n, flags = first + [0] * (3 - len(first))
    if flags not in FLAGS:
        source.refuse_at(line, 2, f"fmt is {flags}; 1 (weights of nets), 10 (of vertices) and 11 "
                                  "(both) are known")
    source.refuse_size(line, n)
    return Header(m, n, flags % 10 == 1, flags >= 10)


def _check_line_count(rows: Rows, header: Header) -> None:
    source, starts = rows.source, rows.lines.starts
    found, m, n = len(starts) - 2, header.num_nets, header.num_vertices
    if found < header.num_rows:
        what = (f"{found} of {m} nets" if found < m else
                f"the weights of {found - m} of {n} vertices")
        source.refuse(source.data.count(b"\n") + 1, f"the file ends after {what}")
    if starts[header.num_rows + 1] < len(rows.lines.values):
        row = int(np.searchsorted(starts, starts[header.num_rows + 1], side="right")) - 1
        last = f"weight of {n} vertices" if header.vertex_weights else f"of {m} nets"
        source.refuse(rows.line_of(row), f"numbers after the last {last}")


def _weights_and_pins(rows: Rows, starts: np.ndarray,
                      values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets and pins of the nets, and the weights before them."""
    empty = starts[1:] == starts[:-1]
    if empty.any():
        net = int(empty.argmax())
        rows.source.refuse(rows.line_of(1 + net), f"net {net + 1} has no weight; a weight and its "
                                                  "pins are expected")
    weights = values[starts[:-1]]
    if len(weights) and int(weights.min()) < 0:
        net = int((weights < 0).argmax())
        rows.source.refuse_at(rows.line_of(1 + net), 0, f"net {net + 1} has weight {weights[net]}; "
                                                        "net weights must be >= 0")
    is_pin = np.ones(len(values), bool)
    is_pin[starts[:-1]] = False
    return starts - np.arange(len(starts)), values[is_pin], weights


def _check_pins(rows: Rows, header: Header, offsets: np.ndarray, pins: np.ndarray) -> None:
    n = header.num_vertices
    if len(pins) == 0 or (int(pins.min()) >= 1 and int(pins.max()) <= n):
        return
    place = int(((pins < 1) | (pins > n)).argmax())
    net = int(np.searchsorted(offsets, place, side="right")) - 1
    word = place - int(offsets[net]) + header.net_weights
    rows.source.refuse_at(rows.line_of(1 + net), word, f"pin {pins[place]} of net {net + 1} is no "
                                                       f"vertex; vertices are 1 ... {n}")


def _vertex_weights(rows: Rows, header: Header) -> np.ndarray:
    m, n = header.num_nets, header.num_vertices
    starts, weights = rows.numbers(1 + m, 1 + m + n)
    several = np.diff(starts) != 1
    if several.any():
        vertex = int(several.argmax())
        rows.source.refuse(rows.line_of(1 + m + vertex),
                           f"{np.diff(starts)[vertex]} numbers for vertex {vertex + 1}; its weight "
                           "alone is expected")
    if n and int(weights.min()) < 0:
        vertex = int((weights < 0).argmax())
        rows.source.refuse_at(rows.line_of(1 + m + vertex), 0, f"vertex {vertex + 1} has weight "
                              f"{weights[vertex]}; vertex weights must be >= 0")
    return weights
