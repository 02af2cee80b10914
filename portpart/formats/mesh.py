"""METIS mesh files: a header ``elements [weights]``, then one line of nodes per element.

The header's second number says how many weights begin a line: none or one.  Nodes count from 1;
``%`` begins a comment line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats import text
from portpart.graphs import Graph, Mesh, mesh_from

SYNTAX = text.LineSyntax(comments=b"%", keep_blank=True)

GRAPHS = ("dual", "nodal")


def parse(source: text.Source, mesh: str = "dual", common_nodes: int | str | None = None) -> Graph:
    """The dual or the nodal graph of a mesh file.

    Raises
    ------
    GraphFormatError
        Naming file and line of the first deviation from the format.
    InputError
        If there is no such graph.
    """
    return graph_of_mesh(mesh_of(source), mesh, common_nodes)


def graph_of_mesh(mesh: Mesh, kind: str, common_nodes: int | str | None) -> Graph:
    """The dual or the nodal graph of a mesh, as the options of readers name it."""
    if kind not in GRAPHS:
        raise InputError(f"mesh is {shown(kind)}; it must be 'dual' (vertices are elements) or "
                         "'nodal' (vertices are nodes)")
    if kind == "nodal" and common_nodes is not None:
        raise InputError("common_nodes applies to dual graphs only (mesh='dual')")
    return mesh.nodal_graph() if kind == "nodal" else mesh.dual_graph(common_nodes)


def mesh_of(source: text.Source) -> Mesh:
    """The mesh of a file."""
    text.refuse_foreign(source)
    lines = text.read_lines(source.data, SYNTAX)
    if lines.bad_byte is not None:
        text.refuse_number(source, lines.bad_byte, f"METIS mesh {text.TO_SCALE}")
    count, weighted = _header(source, lines)
    starts = _element_starts(source, lines, count)
    values = lines.values[starts[0] : starts[count]]
    starts -= starts[0]
    weights = None
    if weighted:
        _check_lengths(source, starts)
        leading = np.zeros(len(values), bool)
        leading[starts[:-1]] = True
        weights, values = values[leading], values[~leading]
        starts -= np.arange(count + 1)
    _check_nodes(source, starts, values)
    try:
        return mesh_from((starts, values - 1), None, weights)
    except InputError as problem:
        if problem.vertex is None:
            raise GraphFormatError(f"{source.name}: {problem}") from problem
        source.refuse(_line_of(source, problem.vertex), f"{problem} (numbered from 0)")


def _header(source: text.Source, lines: text.Lines) -> tuple[int, bool]:
    """Number of elements, and whether they have weights."""
    first = lines.values[: lines.starts[1]].tolist() if len(lines.starts) > 1 else []
    line = source.line_of_row(SYNTAX, 0, 0)
    if not 1 <= len(first) <= 2 or min(first) < 0:
        source.refuse(line, "a METIS mesh begins with 'elements [weights]': the number of elements "
                            "and, if they have weights, 1")
    if len(first) == 2 and first[1] > 1:
        source.refuse(line, f"{first[1]} weights per element: several constraints are not "
                            "supported; METIS 4 meant a kind of element by it: leave it out")
    return first[0], first[1:] == [1]


def _element_starts(source: text.Source, lines: text.Lines, count: int) -> np.ndarray:
    """Where the numbers of each element begin, and the end of the last."""
    rows = len(lines.starts) - 2
    if rows < count:
        source.refuse(source.data.count(b"\n") + 1,
                      f"the file ends after {rows} of {count} elements")
    if lines.starts[count + 1] < len(lines.values):
        row = int(np.searchsorted(lines.starts, lines.starts[count + 1], side="right")) - 1
        source.refuse(source.line_of_row(SYNTAX, 0, row),
                      f"numbers after the line of the last of {count} elements")
    return lines.starts[1 : count + 2].copy()


def _check_lengths(source: text.Source, starts: np.ndarray) -> None:
    short = starts[1:] == starts[:-1]
    if short.any():
        element = int(short.argmax())
        source.refuse(_line_of(source, element), f"no numbers for element {element + 1}; a weight "
                                                 "and its nodes are expected")


def _check_nodes(source: text.Source, starts: np.ndarray, nodes: np.ndarray) -> None:
    if len(nodes) and int(nodes.min()) < 1:
        place = int((nodes < 1).argmax())
        element = int(np.searchsorted(starts, place, side="right")) - 1
        source.refuse(_line_of(source, element), f"node {nodes[place]}; nodes count from 1")
    source.refuse_size(None, int(nodes.max(initial=0)))


def _line_of(source: text.Source, element: int) -> int:
    return source.line_of_row(SYNTAX, 0, 1 + element)


def mesh_text(mesh: Mesh) -> Iterator[Any]:
    """The METIS file of a mesh, in pieces."""
    nodes, starts, weights = mesh.nodes.astype(np.int64) + 1, mesh.offsets, mesh.element_weights
    if weights is not None:
        nodes = np.insert(nodes, starts[:-1], weights)
        starts = starts + np.arange(mesh.num_elements + 1)
    yield f"{mesh.num_elements}{'' if weights is None else ' 1'}\n".encode()
    yield text.rendered_rows(nodes, starts)
