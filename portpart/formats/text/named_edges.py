"""Edge lists with the names of vertices, as `named_rows` and `edge_list` read them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain

import numpy as np

from portpart.errors import shown
from portpart.formats.text.named_rows import INTEGER, NUMBER
from portpart.graphs import ENDS, WEIGHTS

PLAIN = re.compile(r'[^\s,;"#%][^\s,;"]*')
"""A name that needs no quotes with any separators of words."""

Ends = tuple[np.ndarray, np.ndarray]
"""Both ends of edges."""

LINES_PER_CHUNK = 1 << 16
LARGEST = 2**62


def as_bytes(name: Hashable) -> bytes:
    """Return a name as it was in its file, in any encoding."""
    return str(name).encode("utf-8", "surrogateescape")


def why_unwritable(names: Sequence[Hashable]) -> str | None:
    """Return why an edge list cannot hold the names of vertices; None if it can."""
    first: dict[bytes, int] = {}
    for place, name in enumerate(names):
        try:
            word = as_bytes(name)
        except UnicodeEncodeError:
            return f"names[{place}], {shown(name)}, is no text of UTF-8"
        text = str(name)
        if not text or text != text.strip() or re.search(r"[\n\r\0]", text):
            return f"names[{place}] is {shown(name)}"
        if first.setdefault(word, place) != place:
            return f"names[{first[word]}] and names[{place}] are both written {shown(str(name))}"
    if all(INTEGER.fullmatch(str(name)) for name in names):  # they would be read as numbers
        for place, name in enumerate(names):
            if str(name) != str(number := int(str(name))):
                return f"names[{place}] is {shown(name)}, which is the number {number}"
    return None


def are_integers(names: Sequence[Hashable]) -> bool:
    """Whether all names are integers that an edge list holds as numbers."""
    return all(isinstance(name, (int, np.integer)) and not isinstance(name, bool)
               and 0 <= name <= LARGEST for name in names)


def with_loops(loops: np.ndarray, ends: Ends,
               weights: np.ndarray | None) -> tuple[Ends, np.ndarray | None]:
    """Return edges, and a loop of weight 0 at each of some vertices.

    Readers leave loops out, but number the vertices that occur.
    """
    if weights is not None:
        weights = np.concatenate([weights, np.zeros(len(loops), weights.dtype)])
    return (np.concatenate([ends[0], loops]), np.concatenate([ends[1], loops])), weights


def with_alone(n: int, ends: Ends, weights: np.ndarray | None) -> tuple[Ends, np.ndarray | None]:
    """Return edges, and loops at vertices without edges."""
    alone = np.ones(n, bool)
    alone[ends[0]] = alone[ends[1]] = False
    return with_loops(np.flatnonzero(alone), ends, weights)


def as_they_occur(n: int, ends: Ends, weights: np.ndarray | None) -> tuple[Ends, np.ndarray | None]:
    """Return edges in an order in which vertices 0, 1 ... occur one by one, smaller ends first.

    Edges are sorted by their larger ends. A vertex without a smaller neighbour occurs with the next
    vertex if an edge joins the two, which is then the first one; otherwise it occurs as a loop.
    """
    small, large = ends
    later = np.zeros(n, bool)
    later[large] = True
    leads = (large == small + 1) & ~later[small]
    led = later.copy()
    led[small[leads]] = True
    loops = np.flatnonzero(~led)
    (small, large), weights = with_loops(loops, ends, weights)
    rank = np.where(np.concatenate([leads, np.ones(len(loops), bool)]), -1, small)
    order = np.lexsort((rank, large))
    return (small[order], large[order]), None if weights is None else weights[order]


def named_lines(names: Sequence[Hashable], ends: Ends,
                weights: np.ndarray | None) -> Iterator[bytes]:
    """Yield titles, and lines of edges by the names of their ends, quoted if necessary."""
    plain = _are_plain(list(map(str, names)))
    words = [as_bytes(name) if plain else b'"%b"' % as_bytes(name).replace(b'"', b'""')
             for name in names]
    parted = b" " if plain else b"\t"
    titles = [title.encode() for title in _titles({str(name) for name in names})]
    yield parted.join(titles[: 2 if weights is None else 3]) + b"\n"
    for begin in range(0, len(ends[0]), LINES_PER_CHUNK):
        part = slice(begin, begin + LINES_PER_CHUNK)
        columns = [[words[end] for end in side[part].tolist()] for side in ends]
        if weights is not None:
            columns.append([b"%d" % weight for weight in weights[part].tolist()])
        yield b"".join(parted.join(row) + b"\n" for row in zip(*columns))


def _are_plain(names: list[str]) -> bool:
    """Whether no name needs quotes, as numbers do unless all are integers."""
    return all(map(PLAIN.fullmatch, names)) and (
        all(map(INTEGER.fullmatch, names)) or not any(map(NUMBER.fullmatch, names)))


def _titles(names: set[str]) -> tuple[str, ...]:
    """Return titles of two ends and a weight, none of which is the name of a vertex."""
    pairs = chain.from_iterable((pair, tuple(map(str.upper, pair)), tuple(map(str.title, pair)))
                                for pair in ENDS)
    return *next((pair for pair in pairs if names.isdisjoint(pair)), ENDS[0]), WEIGHTS[0]
