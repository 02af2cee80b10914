"""ParHIP's binary files: a header, byte positions of rows, targets, and optional weights.

The header is three words of 64 bits: flags, vertices, arcs. A flag that is *not* set means that
something exists or has 64 bits: 1 edge weights, 2 vertex weights, 4 wide positions, 8 wide targets,
16 wide vertex weights, 32 wide edge weights. Row v begins at the byte of the file given by position
v; there is one more position than there are vertices. All numbers are little-endian.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError, errors_about
from portpart.formats.text import STRICT, ReadingRules, Source
from portpart.graphs import MAX_INT32, MAX_ROWS, Graph, csr_graph, first_true

HEADER_BYTES = 24

NO_EDGE_WEIGHTS, NO_VERTEX_WEIGHTS, SHORT_POSITIONS, SHORT_TARGETS = 1, 2, 4, 8
SHORT_VERTEX_WEIGHTS, SHORT_EDGE_WEIGHTS = 16, 32
ALL_FLAGS = 63

MAX_SHORT = 2**32 - 1
"""Largest position or target of 32 bits."""


@dataclass(frozen=True)
class Section:
    """Consecutive numbers in a file.

    Attributes
    ----------
    begin : int
        Byte of the first number.
    count : int
    dtype : dtype
    """

    begin: int
    count: int
    dtype: np.dtype

    @property
    def end(self) -> int:
        """Return the byte after the last number."""
        return self.begin + self.count * self.dtype.itemsize

    def of(self, data: bytes) -> np.ndarray:
        """Return the numbers, from the bytes of the file."""
        return np.frombuffer(data, self.dtype, self.count, self.begin)


@dataclass(frozen=True)
class ParhipLayout:
    """Places of the arrays of a file.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    num_vertices, num_arcs : int
    positions, targets : Section
    vertex_weights, weights : Section or None
    """

    name: str
    num_vertices: int
    num_arcs: int
    positions: Section
    targets: Section
    vertex_weights: Section | None
    weights: Section | None

    def offsets_of(self, positions: np.ndarray, first: int = 0) -> np.ndarray:
        """Return the offsets of the rows from vertex `first` on, from their positions.

        Raises
        ------
        GraphFormatError
            If a position is not that of a target.
        """
        begin, width = self.targets.begin, self.targets.dtype.itemsize
        wrong = (positions < begin) | (positions > self.targets.end)
        wrong |= (positions % np.uint64(width)).astype(np.int64) != begin % width
        if (at := first_true(wrong)) is not None:
            raise GraphFormatError(
                f"{self.name}: the row of vertex {first + at} begins at byte {positions[at]}; rows "
                f"are in bytes {begin} to {self.targets.end}, {width} for each target")
        return (positions.astype(np.int64) - begin) // width


def parse(source: Source, rules: ReadingRules = STRICT) -> Graph:
    """Return the graph of a ParHIP file.

    Raises
    ------
    GraphFormatError
        If the file does not match its header, or its contents are not a graph.
    """
    layout = layout_of(source.name, source.data[:HEADER_BYTES], len(source.data))
    offsets = layout.offsets_of(layout.positions.of(source.data))
    ids = layout.targets.of(source.data)
    if (arc := first_true(ids >= layout.num_vertices)) is not None:
        raise GraphFormatError(f"{source.name}: the target of arc {arc} is {ids[arc]}; vertices "
                               f"are 0 to {layout.num_vertices - 1}")
    weights, vertex_weights = (
        None if section is None else section.of(source.data).astype(section.dtype.newbyteorder("="))
        for section in (layout.weights, layout.vertex_weights))
    with errors_about(source.name):
        return csr_graph(offsets, ids.astype(np.int32), weights, vertex_weights, **rules.of_arcs())


def chunks(graph: Graph) -> Iterator[Any]:
    """Yield the file of a host graph, in pieces; numbers have 32 bits if these suffice."""
    n, arcs = graph.num_vertices, graph.num_arcs
    flags = SHORT_TARGETS
    short_end = HEADER_BYTES + 4 * (n + 1 + arcs)
    flags |= SHORT_POSITIONS * (short_end <= MAX_SHORT)
    for weights, absent, short in (
            (graph.weights, NO_EDGE_WEIGHTS, SHORT_EDGE_WEIGHTS),
            (graph.vertex_weights, NO_VERTEX_WEIGHTS, SHORT_VERTEX_WEIGHTS)):
        flags |= absent * (weights is None)
        flags |= short * (weights is None or not len(weights) or int(weights.max()) <= MAX_INT32)
    yield np.array([flags, n, arcs], "<u8").tobytes()
    layout = _layout("", flags, n, arcs)
    positions = graph.offsets.astype(layout.positions.dtype)
    positions *= layout.targets.dtype.type(layout.targets.dtype.itemsize)
    positions += positions.dtype.type(layout.targets.begin)
    for section, values in ((layout.positions, positions), (layout.targets, graph.targets),
                            (layout.vertex_weights, graph.vertex_weights),
                            (layout.weights, graph.weights)):
        if section is not None and values is not None:
            yield values.astype(section.dtype, copy=False).view(np.uint8)


def layout_of(name: str, header: bytes, size: int) -> ParhipLayout:
    """Return the places of the arrays of a file of `size` bytes.

    Raises
    ------
    GraphFormatError
        If the header implies another size.
    """
    if len(header) < HEADER_BYTES:
        raise GraphFormatError(f"{name}: a ParHIP file begins with {HEADER_BYTES} bytes of flags, "
                               f"vertices and arcs; there are {len(header)} bytes")
    flags, n, arcs = (int(word) for word in np.frombuffer(header, "<u8", 3))
    if flags > ALL_FLAGS:
        raise GraphFormatError(f"{name}: the first word is {flags}; the flags of a ParHIP file are "
                               f"0 to {ALL_FLAGS}")
    if max(n, arcs) > MAX_ROWS:
        raise GraphFormatError(f"{name}: the header says {n} vertices and {arcs} arcs; at most "
                               "2^62 are possible")
    layout = _layout(name, flags, n, arcs)
    sections = (layout.targets, layout.vertex_weights, layout.weights)
    end = max(section.end for section in sections if section is not None)
    if end != size:
        raise GraphFormatError(f"{name}: {n} vertices and {arcs} arcs with flags {flags} take "
                               f"{end} bytes; the file has {size}")
    return layout


def fits(data: bytes) -> bool:
    """Whether a file has the size that its header implies, if it is a ParHIP file."""
    try:
        layout_of("", data[:HEADER_BYTES], len(data))
    except GraphFormatError:
        return False
    return True


def _layout(name: str, flags: int, n: int, arcs: int) -> ParhipLayout:
    """Return the places of the arrays of a file with this header."""
    kinds = ((n + 1, "u", SHORT_POSITIONS, 0), (arcs, "u", SHORT_TARGETS, 0),
             (n, "i", SHORT_VERTEX_WEIGHTS, NO_VERTEX_WEIGHTS),
             (arcs, "i", SHORT_EDGE_WEIGHTS, NO_EDGE_WEIGHTS))
    begin, sections = HEADER_BYTES, []
    for count, kind, short, absent in kinds:
        dtype = np.dtype(f"<{kind}{4 if flags & short else 8}")
        there = 0 if flags & absent else count
        sections.append(Section(begin, there, dtype))
        begin = sections[-1].end
    positions, targets, vertex_weights, weights = sections
    return ParhipLayout(name, n, arcs, positions, targets,
                        None if flags & NO_VERTEX_WEIGHTS else vertex_weights,
                        None if flags & NO_EDGE_WEIGHTS else weights)
