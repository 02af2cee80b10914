"""METIS graph files: a header ``n m [fmt [ncon]]``, then one line of neighbours per vertex.

The three digits of ``fmt`` say whether a line begins with a vertex size (ignored here), then has
vertex weights, then neighbours each followed by the weight of the edge. Vertices are counted from
1; ``%`` begins a comment line; a blank line is a vertex without neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.formats.number_lines import NumberLines
from portpart.formats.text import STRICT, TO_SCALE, LineSyntax, ReadingRules, Source, rendered_rows
from portpart.graphs import MAX_INT32, Graph, csr_graph, first_true

SYNTAX = LineSyntax(comments=b"%", keep_blank=True)


@dataclass(frozen=True)
class MetisHeader:
    """First line of a METIS file."""

    num_vertices: int
    num_edges: int
    vertex_sizes: bool
    vertex_weights: bool
    edge_weights: bool

    @property
    def leading(self) -> int:
        """Number of values on a vertex's line before its first neighbour."""
        return self.vertex_sizes + self.vertex_weights

    @property
    def stride(self) -> int:
        """Number of values per neighbour."""
        return 1 + self.edge_weights


@dataclass(frozen=True)
class Body:
    """Lines of vertices of a whole file, or of a piece of it.

    Attributes
    ----------
    source : Source
    header : MetisHeader
    first : int
        The vertex of the first line.
    skipped : int
        Number of lines of numbers before it in `source`.
    """

    source: Source
    header: MetisHeader
    first: int
    skipped: int

    def line_of(self, vertex: int) -> int:
        """Return the number of a vertex's line."""
        return self.source.line_of_row(SYNTAX, 0, self.skipped + vertex - self.first)

    def rows(self, starts: np.ndarray, values: np.ndarray) -> tuple[Any, ...]:
        """Return offsets, targets from 0, weights or None, vertex weights or None.

        Line i holds ``values[starts[i]:starts[i + 1]]``.
        """
        header = self.header
        self._check_line_lengths(np.diff(starts))
        offsets = (starts - np.arange(len(starts)) * header.leading) // header.stride
        vertex_weights = None
        if header.leading:
            neighbours = np.ones(len(values), bool)
            for place in range(header.leading):
                neighbours[starts[:-1] + place] = False
            if header.vertex_weights:
                vertex_weights = values[starts[:-1] + header.vertex_sizes]
            values = values[neighbours]
        targets = values[:: header.stride]
        self._check_targets(offsets, targets)
        targets -= 1
        return offsets, targets, values[1::2] if header.edge_weights else None, vertex_weights

    def _check_line_lengths(self, lengths: np.ndarray) -> None:
        header = self.header
        spare = lengths - header.leading
        place = first_true((spare < 0) | (spare % header.stride != 0))
        if place is not None:
            vertex = self.first + place
            parts = ["a size"] * header.vertex_sizes + ["a weight"] * header.vertex_weights
            parts.append("pairs of neighbour and edge weight" if header.edge_weights
                         else "neighbours")
            self.source.refuse(self.line_of(vertex), f"{lengths[place]} numbers for vertex "
                               f"{vertex + 1}; expected {', '.join(parts)}")

    def _check_targets(self, offsets: np.ndarray, targets: np.ndarray) -> None:
        n = self.header.num_vertices
        if len(targets) == 0 or (int(targets.min()) >= 1 and int(targets.max()) <= n):
            return
        arc = int(((targets < 1) | (targets > n)).argmax())
        vertex = self.first + int(np.searchsorted(offsets, arc, side="right")) - 1
        self.source.refuse(self.line_of(vertex), f"neighbour {targets[arc]} of vertex {vertex + 1} "
                           f"is not a vertex; vertices are 1 ... {n}")


def parse(source: Source, rules: ReadingRules = STRICT) -> Graph:
    """Return the graph of a METIS file.

    Raises
    ------
    GraphFormatError
        With file and line of the first deviation from the format, including an edge on the line of
        one end only (unless the rules symmetrize).
    """
    lines = lines_of(source)
    header = header_of(lines)
    n = header.num_vertices
    if len(lines) < n:
        lines.refuse_end(f"the lines of {len(lines)} of {n} vertices; a vertex without neighbours "
                         "needs a blank line")
    lines.refuse_after(n, f"line of the last of {n} vertices")
    body = Body(source, header, 0, 1)
    offsets, targets, weights, vertex_weights = body.rows(*lines.numbers(1, 1 + n))
    targets, weights = targets.astype(np.int32), _narrowed(weights)
    del lines  # as large as the text, and not needed for the graph
    with source.errors_at(body.line_of):
        graph = csr_graph(offsets, targets, weights, vertex_weights, **rules.of_arcs())
    if not rules.symmetrize and 2 * header.num_edges not in (len(targets), graph.num_arcs):
        line = source.line_of_row(SYNTAX, 0, 0)
        source.refuse(line, f"the header promises {header.num_edges} edges, the lines below hold "
                            f"{len(targets) / 2:g} (each edge is on two lines)")
    return graph


def chunks(graph: Graph) -> Iterator[Any]:
    """Yield the METIS file of a host graph, in pieces."""
    leading, stride = int(graph.vertex_weights is not None), 1 + int(graph.weights is not None)
    host = graph.space.to_host
    starts = graph.offsets.astype(np.int64) * stride
    body = np.empty((graph.num_arcs, stride), np.int64)
    body[:, 0] = host(graph.targets)
    body[:, 0] += 1
    if graph.weights is not None:
        body[:, 1] = host(graph.weights)
    values = body.reshape(-1)
    if graph.vertex_weights is not None:
        values = np.insert(values, starts[:-1], host(graph.vertex_weights))
        starts += np.arange(graph.num_vertices + 1)
    flags = f" {10 * leading + stride - 1}" if leading or stride > 1 else ""
    yield f"{graph.num_vertices} {graph.num_edges}{flags}\n".encode()
    yield rendered_rows(values, starts)


def lines_of(source: Source) -> NumberLines:
    """Return the lines of a file, or of a piece of one."""
    return NumberLines.of(source, SYNTAX, (
        f"METIS {TO_SCALE}, or write an edge list with weights in the third column, "
        "which weights='round' (--weights round) scales and rounds"))


def header_of(lines: NumberLines, size: int | None = None) -> MetisHeader:
    """Return the header in the first line of a file of `size` bytes; by default `lines` is the
    whole file.
    """
    source, first, line = lines.source, lines.header(), lines.line_of(0)
    if not 2 <= len(first) <= 4 or min(first) < 0:
        source.refuse(line, "a METIS file begins with 'n m [fmt [ncon]]': the numbers of vertices "
                            "and edges")
    n, m, flags, constraints = first + [0, 1][len(first) - 2 :]
    source.refuse_size(line, n, size)
    sizes, vertex, edge = flags // 100, flags // 10 % 10, flags % 10
    if max(sizes, vertex, edge) > 1:
        source.refuse(line, f"fmt is {flags:03}; its digits (vertex sizes, vertex weights, edge "
                            "weights) must be 0 or 1")
    if vertex and constraints > 1:
        source.refuse(line, f"{constraints} weights per vertex (ncon): several constraints are "
                            "not yet supported; keep one weight per vertex")
    return MetisHeader(n, m, bool(sizes), bool(vertex), bool(edge))


def _narrowed(weights: np.ndarray | None) -> np.ndarray | None:
    """Return the weights as int32 if their values fit."""
    if weights is None:
        return None
    large = len(weights) and int(weights.max()) > MAX_INT32
    return weights if large else weights.astype(np.int32, copy=False)
