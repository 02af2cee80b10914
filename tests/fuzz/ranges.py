"""Files that are read in ranges: together these are what reading the whole file gives."""

from __future__ import annotations

import zlib
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from portpart import io as graph_io
from portpart.errors import InputError
from portpart.formats.text.files import UTF8_MARK
from portpart.graphs.row_range import Rows
from tests.fuzz import archives, samples
from tests.fuzz.judge import Wrong, require
from tests.fuzz.mutations import OF_BYTES, OF_TEXT, mutated

MAX_SIZE = 5


def make(random: Random) -> bytes:
    """A damaged file of one of the formats."""
    kind = random.randrange(3)
    if kind == 0:
        return mutated(random, samples.metis(), OF_TEXT)
    if kind == 1:
        return mutated(random, samples.parhip(), OF_BYTES)
    return archives.damaged_archive(random, samples.own_npz())


def check(data: bytes, folder: Path) -> None:
    """Read as many pieces as the bytes say, and the whole."""
    size, path = 1 + zlib.crc32(data) % MAX_SIZE, folder / "case"
    path.write_bytes(data)
    format = "npz" if data.startswith(b"PK") else "parhip" if b"\0" in data[:24] else "metis"
    try:
        graph: Any = graph_io.read(path, format)
    except InputError:
        graph = None
    try:
        pieces = in_pieces(path, size) if format == "metis" else in_ranges(path, size)
    except InputError as problem:
        # archives may be compressed, numbers in them no integers; text may hold zero bytes, and
        # the mark of UTF-8 is left out of whole files of every format
        binary = format == "parhip" and not data.startswith(UTF8_MARK)
        if graph is not None and (binary or (format == "metis" and b"\0" not in data)):
            raise Wrong(f"ranges alone are refused: {problem}") from problem
        raise
    check_pieces(pieces)
    if graph is not None:
        for name in ("targets", "weights", "vertex_weights"):
            parts = [getattr(rows, name) for rows in pieces]
            together = 1 if parts[0] is None else np.concatenate(parts)
            whole = getattr(graph, name)
            require(np.array_equal(np.broadcast_to(together, np.shape(whole)), whole)
                    if whole is not None else np.all(together == 1), f"other {name}")


def check_pieces(pieces: list[Rows]) -> None:
    """Each is one of rows that follow on those before, and holds vertices."""
    require(pieces[0].first == 0 and pieces[-1].last == pieces[0].num_vertices, "ends")
    require(all(one.last == other.first for one, other in pairwise(pieces)), "ranges")
    for rows in pieces:
        require(rows.offsets[0] == 0 and (np.diff(rows.offsets) >= 0).all(), "offsets")
        require(rows.offsets[-1] == len(rows.targets), "arcs")
        require(((rows.targets >= 0) & (rows.targets < rows.num_vertices)).all(), "targets")
        for weights in (rows.weights, rows.vertex_weights):
            require(weights is None or (weights >= 0).all(), "weights")


def in_ranges(path: Path, size: int) -> list[Rows]:
    with graph_io.open_rows(path) as file:
        return [file.rows(first, last) for first, last in pairwise(file.borders(size))]


def in_pieces(path: Path, size: int) -> list[Rows]:
    pieces = [graph_io.open_metis_piece(path, rank, size) for rank in range(size)]
    lines = np.cumsum([0] + [piece.num_lines for piece in pieces]).tolist()
    found = [piece.rows(before) for piece, before in zip(pieces, lines)]
    pieces[0].check_totals(lines[-1], sum(piece.num_words for piece in pieces),
                           sum(rows.num_arcs for rows in found))
    return found
