"""Second readers of the formats, slow and plain: what a file says, if it is one.

Each gives the weight between every pair of vertices, or None for a file whose reading is none of
its business.  A file that the library takes must say the same here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction

Pairs = dict[tuple[int, int], int]

GAP = re.compile(rb"[\t\v\f\r ,;]+")
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
BOM = b"\xef\xbb\xbf"


class Malformed(ValueError):
    """The file does not follow its format."""


def metis(data: bytes) -> tuple[int, Pairs, list[int] | None]:
    """Number of vertices, arcs with their weights, and weights of the vertices."""
    rows = [_numbers(line) for line in _lines(data, b"%")]
    n, flags = rows[0][0], (rows[0][2:3] or [0])[0]
    sizes, masses, weights = flags // 100 % 10, flags // 10 % 10, flags % 10
    if len(rows) <= n or any(rows[n + 1 :]) or max(sizes, masses, weights) > 1:
        raise Malformed("lines")
    arcs: Pairs = defaultdict(int)
    for vertex, row in enumerate(rows[1 : n + 1]):
        step = 1 + weights
        if len(row) < sizes + masses or (len(row) - sizes - masses) % step:
            raise Malformed("words of a line")
        for at in range(sizes + masses, len(row), step):
            if not 1 <= row[at] <= n:
                raise Malformed("neighbour")
            if row[at] - 1 != vertex:
                arcs[vertex, row[at] - 1] += row[at + 1] if weights else 1
    if any(arcs.get((v, u)) != weight for (u, v), weight in arcs.items()):
        raise Malformed("not symmetric")
    held = [row[sizes] for row in rows[1 : n + 1]] if masses else None
    return n, dict(arcs), None if held is None or set(held) == {1} else held


def hmetis(data: bytes) -> tuple[list[list[int]], list[int], list[int]]:
    """The pins of each net, ascending, and the weights of nets and of vertices."""
    rows = [_numbers(line) for line in _lines(data, b"%")]
    while not rows[0]:
        del rows[0]
    m, n, flags = (*rows[0], 0)[:3]
    if len(rows[0]) not in (2, 3) or flags not in (0, 1, 10, 11):
        raise Malformed("header")
    net_weights, masses = flags % 10, flags // 10
    wanted = m + masses * n
    filled = [row for row in rows if row]
    rows = rows if len(filled) <= wanted else filled
    if len(rows) <= wanted or any(rows[wanted + 1 :]):
        raise Malformed("lines")
    nets = rows[1 : m + 1]
    if net_weights and not all(nets):
        raise Malformed("a net without weight")
    pins = [sorted({pin - 1 for pin in row[net_weights:]}) for row in nets]
    if any(not 0 <= pin < n for row in pins for pin in row):
        raise Malformed("pin")
    if any(len(row) != 1 for row in rows[m + 1 : wanted + 1]):
        raise Malformed("weights of vertices")
    return (pins, [row[0] for row in nets] if net_weights else [1] * m,
            [row[0] for row in rows[m + 1 : wanted + 1]] if masses else [1] * n)


def edge_list(data: bytes) -> Pairs | None:
    """Edges between the numbers in the file; None for names, titles and other columns."""
    rows = [_words(line) for line in _lines(data, b"#%") if _words(line)]
    if not rows or not all(NUMBER.fullmatch(word) for word in rows[0]):
        return None
    if len({len(row) for row in rows}) > 1:
        raise Malformed("columns")
    if any(not NUMBER.fullmatch(word) for row in rows for word in row) or len(rows[0]) > 3:
        return None
    return _undirected([_entry(row) for row in rows])


def matrix_market(data: bytes) -> tuple[int, Pairs] | None:
    """Rows of the matrix and its pattern, with the weights of integers; None for other fields."""
    lines = [line for line in _lines(data.split(b"\n", 1)[1], b"%") if _words(line)]
    banner = data.split(b"\n", 1)[0].lower().split()
    if banner[2:4] not in ([b"coordinate", b"pattern"], [b"coordinate", b"integer"]):
        return None
    rows = [_words(line) for line in lines]
    n, columns, entries = map(int, rows[0])
    if n != columns or entries != len(rows) - 1:
        raise Malformed("size")
    if {len(row) for row in rows[1:]} - {2 + (banner[3] == b"integer")}:
        raise Malformed("columns")
    made = [_entry(row) for row in rows[1:]]
    if any(not 1 <= end <= n for u, v, _ in made for end in (u, v)):
        raise Malformed("no row")
    return n, _undirected([(u - 1, v - 1, weight) for u, v, weight in made])


def _entry(row: list[bytes]) -> tuple[int, int, int | None]:
    return _integer(row[0]), _integer(row[1]), _integer(row[2]) if len(row) > 2 else None


def _undirected(entries: list[tuple[int, int, int | None]]) -> Pairs:
    """Pairs in both directions.

    Repeated entries add up (without values they count once); two directions must agree.
    """
    arcs: Pairs = defaultdict(int)
    for u, v, weight in entries:
        if weight is None:
            arcs[u, v] = 1
        else:
            arcs[u, v] += weight
    pairs: Pairs = {}
    for (u, v), weight in arcs.items():
        if arcs.get((v, u), weight) != weight:
            raise Malformed("directions differ")
        if u != v:
            pairs[u, v] = pairs[v, u] = weight
    return pairs


def _lines(data: bytes, comments: bytes) -> list[bytes]:
    """Lines that are no comments."""
    lines = data.removeprefix(BOM).split(b"\n")
    return [line for line in lines if (_words(line) or [b"0"])[0][:1] not in
            [bytes([letter]) for letter in comments]]


def _words(line: bytes) -> list[bytes]:
    return list(filter(None, GAP.split(line)))


def _numbers(line: bytes) -> list[int]:
    return [_integer(word) for word in _words(line)]


def _integer(word: bytes) -> int:
    if not NUMBER.fullmatch(word):
        raise Malformed("number")
    # Python reads no integers of thousands of digits
    value = Fraction((re.sub(rb"^([+-]?)0+(?=\d)", rb"\1", word)).decode())
    if value.denominator != 1:
        raise Malformed("fraction")
    return int(value)
