"""hMETIS files: a header ``nets vertices [fmt]``, a line of pins per net, optional vertex weights.

``fmt`` is 1 if the line of a net begins with its weight, 10 if the weights of the vertices follow,
one per line, and 11 for both. Vertices are counted from 1; ``%`` begins a comment line. (Karypis
and Kumar, hMETIS 1.5: A Hypergraph Partitioning Package, 1998.)

A blank line is a net without pins if otherwise there would be fewer lines than nets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.formats.number_lines import NumberLines, hypergraph_of, nets_of, rows_of
from portpart.formats.text import Source, rendered_rows
from portpart.graphs import Hypergraph, first_true

FLAGS = (0, 1, 10, 11)


@dataclass(frozen=True)
class HmetisHeader:
    """First line of a file."""

    num_nets: int
    num_vertices: int
    net_weights: bool
    vertex_weights: bool

    @property
    def num_rows(self) -> int:
        """Number of lines after it."""
        return self.num_nets + self.vertex_weights * self.num_vertices


def parse(source: Source) -> Hypergraph:
    """Return the hypergraph of a file.

    Raises
    ------
    GraphFormatError
        With file, line and column of the first deviation from the format.
    """
    rows = rows_of(source)
    header = _header(rows)
    if len(rows) < header.num_rows:
        rows = rows_of(source, blank=True)
    found, m, n = len(rows), header.num_nets, header.num_vertices
    if found < header.num_rows:
        rows.refuse_end(f"{found} of {m} nets" if found < m else
                        f"the weights of {found - m} of {n} vertices")
    rows.refuse_after(header.num_rows, f"last weight of {n} vertices" if header.vertex_weights else
                      f"last of {m} nets")
    offsets, pins, net_weights = nets_of(rows, m, range(1, n + 1), header.net_weights)
    vertex_weights = _vertex_weights(rows, header) if header.vertex_weights else None
    del rows  # as large as the text, and not needed for the hypergraph
    return hypergraph_of(source, offsets, pins, n, net_weights, vertex_weights)


def chunks(hypergraph: Hypergraph) -> Iterator[Any]:
    """Yield the file of a hypergraph in host memory, in pieces."""
    h, host = hypergraph, hypergraph.space.to_host
    starts, values = h.net_offsets.astype(np.int64), h.net_pins.astype(np.int64) + 1
    if h.net_weights is not None:
        values = np.insert(values, starts[:-1], host(h.net_weights))
        starts += np.arange(h.num_nets + 1)
    flags = (h.net_weights is not None) + 10 * (h.vertex_weights is not None)
    yield f"{h.num_nets} {h.num_vertices}{f' {flags}' if flags else ''}\n".encode()
    yield rendered_rows(values, starts)
    if h.vertex_weights is not None:
        yield rendered_rows(host(h.vertex_weights), np.arange(h.num_vertices + 1))


def _header(rows: NumberLines) -> HmetisHeader:
    source, first, line = rows.source, rows.header(), rows.line_of(0)
    if not 2 <= len(first) <= 3 or min(first) < 0:
        source.refuse(line, "an hMETIS file begins with 'nets vertices [fmt]': the numbers of nets "
                            "and of vertices")
    m, n, flags = first + [0] * (3 - len(first))
    if flags not in FLAGS:
        source.refuse_at(line, 2, f"fmt is {flags}; 1 (weights of nets), 10 (of vertices) and 11 "
                                  "(both) are known")
    source.refuse_size(line, n)
    return HmetisHeader(m, n, flags % 10 == 1, flags >= 10)


def _vertex_weights(rows: NumberLines, header: HmetisHeader) -> np.ndarray:
    m, n = header.num_nets, header.num_vertices
    starts, weights = rows.numbers(1 + m, 1 + m + n)
    lengths = np.diff(starts)
    if (vertex := first_true(lengths != 1)) is not None:
        rows.refuse(1 + m + vertex, f"{lengths[vertex]} numbers for vertex {vertex + 1}; its "
                    "weight alone is expected")
    if (vertex := first_true(weights < 0)) is not None:
        rows.source.refuse_at(rows.line_of(1 + m + vertex), 0, f"vertex {vertex + 1} has weight "
                              f"{weights[vertex]}; vertex weights must be >= 0")
    return weights
