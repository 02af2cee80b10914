"""PaToH files: a header ``base cells nets pins [scheme [constraints]]``, a line of pins per net.

``base`` is the number of the first cell, 0 or 1; ``scheme`` is 1 if cells have weights, 2 if nets
have weights, 3 for both. The weight of a net is before its pins, those of the cells are after all
nets; ``%`` begins a comment line.  (Catalyurek and Aykanat, PaToH: A Multilevel Hypergraph
Partitioning Tool, Version 3.x, User's Guide.)

Several weights of a cell (``constraints`` above 1) raise an error. A blank line is a net without
pins if otherwise there would be fewer lines than nets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.formats.number_lines import NumberLines, hypergraph_of, nets_of, rows_of
from portpart.formats.text import Source
from portpart.graphs import Hypergraph, first_true

OF_CELLS, OF_NETS = 1, 2
"""Bits of the scheme of weights."""


class PatohHeader(NamedTuple):
    """First line of a file."""

    base: int
    num_cells: int
    num_nets: int
    num_pins: int
    scheme: int


def parse(source: Source) -> Hypergraph:
    """Return the hypergraph of a file.

    Raises
    ------
    GraphFormatError
        With file, line and column of the first deviation from the format.
    """
    rows = rows_of(source)
    header = _header(rows)
    if len(rows) < header.num_nets + (header.scheme & OF_CELLS and header.num_cells > 0):
        rows = rows_of(source, blank=True)
    if len(rows) < header.num_nets:
        rows.refuse_end(f"{len(rows)} of {header.num_nets} nets")
    cells = range(header.base, header.base + header.num_cells)
    offsets, pins, net_weights = nets_of(rows, header.num_nets, cells,
                                         bool(header.scheme & OF_NETS))
    if len(pins) != header.num_pins:
        source.refuse_at(rows.line_of(0), 3, f"{header.num_pins} pins promised, the lines of the "
                         f"nets hold {len(pins)}; the header is 'base cells nets pins [scheme]'")
    cell_weights = _cell_weights(rows, header)
    del rows  # as large as the text, and not needed for the hypergraph
    return hypergraph_of(source, offsets, pins, header.num_cells, net_weights, cell_weights)


def _header(rows: NumberLines) -> PatohHeader:
    source, first, line = rows.source, rows.header(), rows.line_of(0)
    if not 4 <= len(first) <= 6 or min(first) < 0:
        source.refuse(line, "a PaToH file begins with 'base cells nets pins [scheme]': the number "
                            "of the first cell and how many there are of what")
    base, cells, nets, pins, scheme, constraints = (*first, 0, 1)[:6]
    if base > 1:
        source.refuse_at(line, 0, f"the first cell has number {base}; 0 and 1 are known")
    if scheme > OF_CELLS + OF_NETS:
        source.refuse_at(line, 4, f"the scheme of weights is {scheme}; 1 (of cells), 2 (of nets) "
                                  "and 3 (both) are known")
    if constraints > 1:
        source.refuse_at(line, 5, f"cells have {constraints} weights each; keep one of them")
    source.refuse_size(line, cells)
    return PatohHeader(base, cells, nets, pins, scheme)


def _cell_weights(rows: NumberLines, header: PatohHeader) -> np.ndarray | None:
    """Return the numbers after the nets, on any number of lines."""
    n, m = header.num_cells, header.num_nets
    if not header.scheme & OF_CELLS:
        rows.refuse_after(m, f"last of {m} nets")
        return None
    weights = rows.numbers(1 + m, 1 + len(rows))[1]
    if len(weights) < n:
        rows.refuse_end(f"the weights of {len(weights)} of {n} cells")
    if len(weights) > n:
        line, _ = _line_of_weight(rows, m, n)
        rows.source.refuse(line, f"numbers after the weights of {n} cells")
    if (cell := first_true(weights < 0)) is not None:
        rows.source.refuse_at(*_line_of_weight(rows, m, cell), f"cell {cell + header.base} has "
                              f"weight {weights[cell]}; weights must be >= 0")
    return weights


def _line_of_weight(rows: NumberLines, num_nets: int, cell: int) -> tuple[int, int]:
    """Return line and word of the weight of a cell."""
    starts = rows.numbers(1 + num_nets, 1 + len(rows))[0]
    row = int(np.searchsorted(starts, cell, side="right")) - 1
    return rows.line_of(1 + num_nets + row), cell - int(starts[row])
