"""DIMACS ``.gr`` files and similar ones: one edge per line, read without direction.

- 9th DIMACS challenge: ``p sp n m``, then arcs ``a u v w``; older: ``p edge n m``, ``e u v``;
- PACE challenges: ``p tw n m`` (or another word), then ``u v``;
- without a ``p`` line: ``a u v w``, vertices counted from 0 if a 0 occurs, else from 1.

``c`` begins a comment, ``n`` a line about a vertex, which is left out. With a ``p`` line vertices
are counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError
from portpart.formats import text
from portpart.graphs import Graph

COMMENTS, WORDS = b"cpn", b"ae"


def parse(source: text.Source, rules: text.ReadingRules = text.STRICT) -> Graph:
    """Return the graph of a ``.gr`` file; the third number of a line, if any, is the weight."""
    head = _head(source)
    weighted = rules.reads_weights(head.width >= text.WEIGHTED_WIDTH)
    if head.width not in text.WIDTHS or (weighted and head.width < text.WEIGHTED_WIDTH):
        source.refuse(head.line, f"{head.width} numbers, expected "
                      + ("two ends and a weight" if weighted else "two ends, perhaps a weight"))
    syntax = text.LineSyntax(COMMENTS, words=WORDS)
    rows = text.read_rows(source, syntax, 0, head.width, text.BY_PLACE, weighted, rules)
    if head.size is None:
        first = 0 if int(rows.ends.min(initial=1)) <= 0 else 1
        n = 1 - first + rows.largest
        source.refuse_size(head.line, n)
        return text.graph_of_rows(source, rows, n, first, rules)
    n, m = head.size
    if rows.count != m:
        source.refuse(head.problem_line,
                      f"the p line promises {m} lines of edges, {rows.count} follow")
    source.refuse_size(head.problem_line, n)
    return text.graph_of_rows(source, rows, n, 1, rules)


def chunks(graph: Graph) -> Iterator[Any]:
    """Yield a file of the 9th DIMACS challenge (weights: both arcs) or of PACE (edges once)."""
    sources, targets, weights = text.lower_edges(graph, "a .gr file")
    tail, head = targets + 1, sources + 1
    if weights is None:
        yield f"p tw {graph.num_vertices} {len(tail)}\n".encode()
        columns, word = [tail, head], ""
    else:
        yield f"p sp {graph.num_vertices} {2 * len(tail)}\n".encode()
        columns, word = [np.append(tail, head), np.append(head, tail), np.tile(weights, 2)], "a"
    values = np.stack(columns, axis=1).astype(np.int64).reshape(-1)
    yield text.rendered_rows(values, np.arange(len(columns[0]) + 1) * len(columns), word)


@dataclass(frozen=True)
class DimacsHeader:
    """Number of the p line, its n and m, how many numbers the first edge has, and its line."""

    problem_line: int
    size: tuple[int, int] | None
    width: int
    line: int


def _head(source: text.Source) -> DimacsHeader:
    number_of_p, size = 0, None
    for number, _, line in source.lines():
        words = line.split()
        if not words or words[0][:1] in (b"c", b"n"):
            continue
        if words[0] != b"p":
            word = words[0][:1].isalpha()
            if word and words[0] not in (b"a", b"e"):
                shown = words[0][:40].decode("ascii", "replace")
                source.refuse(number, f"{shown!r} begins no line of edges; 'a' and 'e' do")
            return DimacsHeader(number_of_p, size, len(words) - word, number)
        if size is not None:
            source.refuse(number, f"a second p line; the first is line {number_of_p}")
        if len(words) != 4 or not (text.is_count(words[2]) and text.is_count(words[3])):
            source.refuse(number, "expected 'p <word> vertices edges'")
        number_of_p, size = number, (int(words[2]), int(words[3]))
    if size is None:
        raise GraphFormatError(f"{source.name}: holds no edges")
    return DimacsHeader(number_of_p, size, min(text.WIDTHS), number_of_p)
