"""DIMACS ``.gr`` files and their cousins: one edge per line, read without direction.

- 9th DIMACS challenge: ``p sp n m``, then arcs ``a u v w``; older: ``p edge n m``, ``e u v``;
- PACE challenges: ``p tw n m`` (or another word), then ``u v``;
- without a ``p`` line: ``a u v w``, vertices counted from 0 if a 0 occurs, else from 1.

``c`` begins a comment.  With a ``p`` line vertices count from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graph import Graph
from portpart.io.edge_rows import graph_of_rows, lower_edges, read_rows
from portpart.io.files import Source
from portpart.io.render import rendered_rows
from portpart.io.tokens import LineSyntax

COMMENTS = b"cp"


def parse(source: Source, weights: bool | None = None) -> Graph:
    """The graph of a ``.gr`` file.

    Parameters
    ----------
    source : Source
    weights : bool, optional
        Whether the third number of a line is the edge's weight; default: if there is one.  Of the
        weights of an edge's two arcs the larger counts.
    """
    problem_line, size, columns = _head(source)
    weighted = columns >= 3 if weights is None else weights
    syntax = LineSyntax(COMMENTS, columns=3 if weighted else 2, word_first=True)
    rows = read_rows(source, syntax, 0, weighted)
    if size is None:
        ends = (rows.sources, rows.targets)
        first = 0 if any(side.min(initial=1) <= 0 for side in ends) else 1
        n = 1 - first + max(int(side.max(initial=first - 1)) for side in ends)
        return graph_of_rows(source, rows, n, first)
    n, m = size
    if rows.count != m:
        source.refuse(problem_line, f"the p line promises {m} lines of edges, {rows.count} follow")
    return graph_of_rows(source, rows, n, first=1)


def text(graph: Graph) -> Iterator[Any]:
    """A file of the 9th DIMACS challenge (weights: both arcs) or of PACE (none: edges once)."""
    if graph.vertex_weights is not None:
        raise InputError("a .gr file cannot hold vertex weights; write .graph or .npz")
    sources, targets, weights = lower_edges(graph)
    tail, head = targets + 1, sources + 1
    if weights is None:
        yield f"p tw {graph.num_vertices} {len(tail)}\n".encode()
        columns, word = [tail, head], ""
    else:
        yield f"p sp {graph.num_vertices} {2 * len(tail)}\n".encode()
        columns, word = [np.append(tail, head), np.append(head, tail), np.tile(weights, 2)], "a"
    values = np.stack(columns, axis=1).astype(np.int64).reshape(-1)
    yield rendered_rows(values, np.arange(len(columns[0]) + 1) * len(columns), word)


def _head(source: Source) -> tuple[int, tuple[int, int] | None, int]:
    """Number of the p line, its n and m, and how many numbers the first edge has."""
    number_of_p, size = 0, None
    for number, _, line in source.lines():
        words = line.split()
        if not words or words[0].startswith(b"c"):
            continue
        if words[0] != b"p":
            return number_of_p, size, len(words) - (not words[0].isdigit())
        if size is not None:
            source.refuse(number, f"a second p line; the first is line {number_of_p}")
        if len(words) != 4 or not (words[2].isdigit() and words[3].isdigit()):
            source.refuse(number, "expected 'p <word> vertices edges'")
        number_of_p, size = number, (int(words[2]), int(words[3]))
    return number_of_p, size, 2
