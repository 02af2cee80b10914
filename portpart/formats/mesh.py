"""METIS mesh files: a header ``elements [weights]``, then one line of nodes per element.

The header's second number is the number of weights at the beginning of a line: 0 or 1. Nodes are
counted from 1; ``%`` begins a comment line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portpart.errors import InputError, shown
from portpart.formats import text
from portpart.formats.number_lines import NumberLines, without_first
from portpart.graphs import Graph, Mesh, first_true, mesh_from

SYNTAX = text.LineSyntax(comments=b"%", keep_blank=True)

GRAPHS = ("dual", "nodal")


def parse(source: text.Source, mesh: str = "dual", common_nodes: int | str | None = None) -> Graph:
    """Return the dual or the nodal graph of a mesh file.

    Raises
    ------
    GraphFormatError
        With file and line of the first deviation from the format.
    InputError
        If there is no such graph.
    """
    return graph_of_mesh(mesh_of(source), mesh, common_nodes)


def graph_of_mesh(mesh: Mesh, kind: str, common_nodes: int | str | None) -> Graph:
    """Return the dual or the nodal graph of a mesh, as named by the options of readers."""
    if kind not in GRAPHS:
        raise InputError(f"mesh is {shown(kind)}; it must be 'dual' (vertices are elements) or "
                         "'nodal' (vertices are nodes)")
    if kind == "nodal" and common_nodes is not None:
        raise InputError("common_nodes applies to dual graphs only (mesh='dual')")
    return mesh.nodal_graph() if kind == "nodal" else mesh.dual_graph(common_nodes)


def mesh_of(source: text.Source) -> Mesh:
    """Return the mesh of a file."""
    text.refuse_foreign(source)
    lines = NumberLines.of(source, SYNTAX, f"METIS mesh {text.TO_SCALE}")
    count, weighted = _header(lines)
    if len(lines) < count:
        lines.refuse_end(f"{len(lines)} of {count} elements")
    lines.refuse_after(count, f"line of the last of {count} elements")
    starts, values = lines.numbers(1, 1 + count)
    weights = None
    if weighted:
        if (element := first_true(starts[1:] == starts[:-1])) is not None:
            lines.refuse(1 + element, f"no numbers for element {element + 1}; a weight and its "
                         "nodes are expected")
        weights, values = values[starts[:-1]], without_first(starts, values)
        starts -= np.arange(count + 1)
    if (place := first_true(values < 1)) is not None:
        element = int(np.searchsorted(starts, place, side="right")) - 1
        lines.refuse(1 + element, f"node {values[place]}; nodes count from 1")
    source.refuse_size(None, int(values.max(initial=0)))
    with source.errors_at(lambda element: lines.line_of(1 + element), "numbered from 0"):
        return mesh_from((starts, values - 1), None, weights)


def _header(lines: NumberLines) -> tuple[int, bool]:
    """Return the number of elements, and whether they have weights."""
    source, first, line = lines.source, lines.header(), lines.line_of(0)
    if not 1 <= len(first) <= 2 or min(first) < 0:
        source.refuse(line, "a METIS mesh begins with 'elements [weights]': the number of elements "
                            "and, if they have weights, 1")
    if len(first) == 2 and first[1] > 1:
        source.refuse(line, f"{first[1]} weights per element: several constraints are not "
                            "supported; METIS 4 meant a kind of element by it: leave it out")
    return first[0], first[1:] == [1]


def mesh_text(mesh: Mesh) -> Iterator[Any]:
    """Yield the METIS file of a mesh, in pieces."""
    nodes, starts, weights = mesh.nodes.astype(np.int64) + 1, mesh.offsets, mesh.element_weights
    if weights is not None:
        nodes = np.insert(nodes, starts[:-1], weights)
        starts = starts + np.arange(mesh.num_elements + 1)
    yield f"{mesh.num_elements}{'' if weights is None else ' 1'}\n".encode()
    yield text.rendered_rows(nodes, starts)
