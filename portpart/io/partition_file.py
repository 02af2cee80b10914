"""Partition files: line i has the block of vertex i, as METIS writes them; or each line has a name
and a block, in any order. Fixed vertices: the same with -1 for free vertices, or a vertex and its
block on each line.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats import NumberLines, text
from portpart.graphs import (
    MAX_INT32,
    PLURALS,
    Blocks,
    did_you_mean,
    first_true,
    held_blocks,
    host_integers,
)

SYNTAX = text.LineSyntax(comments=b"%#")

FREE = -1

WITH_ARTICLE = {"vertex": "a vertex", "edge": "an edge"}

BLOCK = re.compile(rb"-?\d{1,10}")

LINES_PER_CHUNK = 1 << 16


def read_partition(path: text.PathLike, num_vertices: int | None = None, *, free: bool = False,
                   first: int = 1, num_edges: int | None = None) -> np.ndarray:
    r"""Read a partition file.

    Parameters
    ----------
    path : str or PathLike
        Plain, ``.gz``, ``.xz`` or ``.bz2``; ``-`` reads standard input.
    num_vertices : int, optional
        Required number of lines. With it, a compressed file may also expand to more than 1000 times
        its size, as files with few blocks do.
    free : bool, default False
        Accept -1 for a vertex without a block, as in hMETIS's files of fixed vertices. With
        `num_vertices`, lines may also have a vertex and its block, in any order; missing vertices
        have -1.
    first : int, default 1
        Number of the first vertex in such pairs.
    num_edges : int, optional
        The same as `num_vertices` for a partition of edges, which are numbered as by
        :func:`portpart.partition_edges`.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    GraphFormatError
        For an invalid block number or vertex, or a wrong number of lines; with file and line.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("four.part").write_text("0\n0\n1\n-1\n")
    >>> portpart.io.read_partition("four.part", 4, free=True)
    array([ 0,  0,  1, -1], dtype=int32)
    """
    item, count = ("vertex", num_vertices) if num_edges is None else ("edge", num_edges)
    source = text.read_source(path, count)
    lines = NumberLines.of(source, SYNTAX)
    lengths = lines.lengths
    pairs = free and count is not None and len(lengths) > 0 and bool((lengths == 2).all())
    if not pairs:
        check_lengths(lines, 1, free, item)
    part = checked_blocks(lines, pairs, free)
    if count is not None and pairs:
        return _blocks_of_pairs(lines, count, first, item)
    if count is not None and len(part) != count:
        remedy = "" if item == "vertex" else ("; partition-edges -o writes the block of each edge, "
                                              "in the order of the rows of the graph")
        raise GraphFormatError(f"{source.name}: {len(part)} lines for {count} {PLURALS[item]}"
                               + remedy)
    return part.astype(np.int32)


def check_lengths(lines: NumberLines, width: int, free: bool, item: str = "vertex") -> None:
    """Raise an error for a line that does not have this many numbers."""
    row = first_true(lines.lengths != width)
    if row is not None:
        lines.refuse(row, "expected one block number per line"
                     + (f", or {WITH_ARTICLE[item]} and its block on each" if free else "")
                     + ("; both ends, as --ends writes them, are not read"
                        if item == "edge" and lines.lengths[row] == 3 else ""))


def checked_blocks(lines: NumberLines, pairs: bool, free: bool) -> np.ndarray:
    """Return the block on each line, which may have an item before it; -1 is allowed if `free`."""
    blocks = lines.lines.values[1::2] if pairs else lines.lines.values
    row = first_true((blocks < (FREE if free else 0)) | (blocks > MAX_INT32))
    if row is not None:
        lines.refuse(row, f"{blocks[row]} is not a block number")
    return blocks


def checked_items(lines: NumberLines, n: int, first: int = 1, item: str = "vertex") -> np.ndarray:
    """Return the vertex or edge on each line of two, from 0; `first` is the number of the first
    one.
    """
    items = lines.lines.values[::2] - first
    row = first_true((items < 0) | (items >= n))
    if row is not None:
        lines.refuse(row, f"{items[row] + first} is not {WITH_ARTICLE[item]}; {PLURALS[item]} are "
                     f"{first} ... {n - 1 + first}")
    return items


def _blocks_of_pairs(lines: NumberLines, n: int, first: int, item: str) -> np.ndarray:
    """Return the block of each of `n` vertices or edges, `FREE` if it is not listed."""
    items = checked_items(lines, n, first, item)
    part = np.full(n, FREE, np.int32)
    part[items] = lines.lines.values[1::2]
    order = np.argsort(items, kind="stable")
    again = np.flatnonzero(items[order][1:] == items[order][:-1])
    if len(again):
        row = int(order[again + 1].min())
        lines.refuse(row, f"a second block for {item} {items[row] + first}")
    return part


def write_partition(part: Blocks, path: text.PathLike) -> None:
    """Write the block of each vertex, one per line; ``-`` writes to standard output.

    Parameters
    ----------
    part : array_like of int, shape (n,), PartitionResult or Session
        Device arrays are copied to the host.
    path : str or PathLike
        The file is written completely or not at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> portpart.io.write_partition([0, 1, 1], "three.part")
    >>> print(Path("three.part").read_text(), end="")
    0
    1
    1
    """
    blocks = _checked_blocks(part)
    text.write_chunks(path, [text.rendered_rows(blocks, np.arange(len(blocks) + 1))])


def read_named_partition(path: text.PathLike, names: Sequence[Hashable], *,
                         free: bool = False) -> np.ndarray:
    r"""Read a partition file whose lines hold a name and a block.

    Parameters
    ----------
    path : str or PathLike
        As in :func:`read_partition`.
    names : sequence of str or int, shape (n,)
        The name of each vertex. The lines of the file may have another order.
    free : bool, default False
        Accept -1 for a vertex without a block. Missing vertices also get -1.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    GraphFormatError
        For an unknown or repeated name, an invalid block number or a missing vertex; with file and
        line.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("friends.part").write_text("bob 1\nann 0\n")
    >>> portpart.io.read_named_partition("friends.part", ["ann", "bob"])
    array([0, 1], dtype=int32)
    """
    source = text.read_source(path, len(names))
    vertex_of = {text.as_bytes(name).strip(): vertex for vertex, name in enumerate(names)}
    part = np.full(len(names), FREE, np.int32)
    seen = np.zeros(len(names), bool)
    lowest = FREE if free else 0
    for number, _, line in source.lines():
        if not line:
            continue
        *before, block = line.rsplit(None, 1)
        name = b"".join(before)
        vertex = vertex_of.get(name)
        if vertex is None:
            hint = did_you_mean(name.decode("utf-8", "surrogateescape"), names)
            source.refuse(number, f"{_shown(name)} does not name a vertex"
                                  f"{hint or '; expected a name and its block'}")
        if seen[vertex]:
            source.refuse(number, f"a second block for {_shown(name)}")
        seen[vertex] = True
        if not BLOCK.fullmatch(block) or not lowest <= int(block) <= MAX_INT32:
            source.refuse(number, f"{_shown(block)} is not a block number")
        part[vertex] = int(block)
    if not free and not seen.all():
        missing = _shown(text.as_bytes(names[int(seen.argmin())]))
        raise GraphFormatError(f"{source.name}: no block for {missing}")
    return part


def write_named_partition(names: Sequence[Hashable], part: Blocks, path: text.PathLike) -> None:
    """Write a name and a block per line; ``-`` writes to standard output.

    Parameters
    ----------
    names : sequence of str or int, shape (n,)
        The name of each vertex, as in `portpart.io.read_named` or a `Netlist`.
    part : array_like of int, shape (n,), PartitionResult or Session
        Device arrays are copied to the host.
    path : str or PathLike
        The file is written completely or not at all.

    Raises
    ------
    InputError
        If two names are equal without blanks around them, or a name has a line break.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> portpart.io.write_named_partition(["ann", "bob"], [0, 1], "friends.part")
    >>> print(Path("friends.part").read_text(), end="")
    ann 0
    bob 1
    """
    blocks = _checked_blocks(part)
    if len(names) != len(blocks):
        raise InputError(f"{len(names)} names for {len(blocks)} blocks")
    _check_names(names)
    text.write_chunks(path, _named_lines(names, blocks))


def _check_names(names: Sequence[Hashable]) -> None:
    """Raise an error for names that a reader of the file could not distinguish."""
    first: dict[bytes, int] = {}
    for place, name in enumerate(names):
        word = text.as_bytes(name).strip()
        if b"\n" in word:
            raise InputError(f"names[{place}] is {shown(name)}; a name must be on one line")
        if first.setdefault(word, place) != place:
            raise InputError(f"names[{place}] is {shown(name)}, names[{first[word]}] is "
                             f"{shown(names[first[word]])}: in a file both are the same; "
                             "write_partition goes by the order of the vertices")


def _named_lines(names: Sequence[Hashable], blocks: np.ndarray) -> Iterator[bytes]:
    for begin in range(0, len(blocks), LINES_PER_CHUNK):
        end = begin + LINES_PER_CHUNK
        pairs = zip(names[begin:end], blocks[begin:end].tolist())
        yield b"".join(b"%b %d\n" % (text.as_bytes(name), block) for name, block in pairs)


def _shown(word: bytes) -> str:
    return repr(word.decode("utf-8", "replace"))


def _checked_blocks(part: Blocks) -> np.ndarray:
    """Return blocks in host memory as int64."""
    blocks = host_integers(held_blocks(part))
    if blocks.ndim != 1 or (len(blocks) and blocks.dtype.kind not in "iub"):
        raise InputError(f"part is an array of {blocks.dtype} and shape {blocks.shape}; a "
                         "one-dimensional array of integers is needed")
    blocks = blocks.astype(np.int64)
    place = first_true((blocks < FREE) | (blocks > MAX_INT32))
    if place is not None:
        raise InputError(f"part[{place}] is {blocks[place]}; blocks are numbers from 0 to "
                         f"{MAX_INT32}, or {FREE} for a vertex in none")
    return blocks
