"""Text files in pieces, and METIS files of which each rank parses some of the lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from portpart.backends.programs import ExecutionSpace
from portpart.errors import GraphFormatError, reading, typed_memory_errors
from portpart.formats import SYNTAX, Body, MetisHeader, header_of, lines_of, text
from portpart.graphs import Rows, checked_rows
from portpart.inputs import checked_limit
from portpart.options import checked_integer

# Text files in pieces: a piece is a range of bytes, and owns the lines that begin in it


CHUNK = 1 << 20
"""Number of bytes that are searched for ends of lines at once."""


@dataclass(frozen=True)
class PieceSource(text.Source):
    """The bytes of a piece of a file.

    Attributes
    ----------
    lines_before : callable
        Returns the number of lines of the file before the piece; called for messages only.
    """

    lines_before: Callable[[], int] = int

    def line_at(self, position: int) -> int:
        """Return the number of the file's line that has a byte of the piece."""
        return self.lines_before() + super().line_at(position)

    def line_of_row(self, syntax: text.LineSyntax, begin: int, row: int) -> int:
        """Return the line of the file with the `row`-th line of numbers after byte `begin`."""
        return self.lines_before() + super().line_of_row(syntax, begin, row)


def piece_of(name: str, file: BinaryIO, body: int, rank: int, size: int,
             limit: int | None = None) -> PieceSource:
    """Read a piece of a file.

    Parameters
    ----------
    name : str
        Name of the file.
    file : binary file
    body : int
        The byte where the lines begin.
    rank, size : int
        Number of the piece, and number of pieces, which have about the same number of bytes.
    limit : int, optional
        See `Source`.

    Raises
    ------
    GraphFormatError
        If the file has become shorter.
    """
    length = file.seek(0, os.SEEK_END)
    begin, end = (_line_begin(file, body + (length - body) * part // size, body, length)
                  for part in (rank, rank + 1))
    file.seek(begin)
    data = file.read(end - begin)
    if len(data) < end - begin:
        raise GraphFormatError(f"{name}: the file has become shorter while it was read")
    return PieceSource(name, data, limit, lambda: _lines_before(name, begin))


def _line_begin(file: BinaryIO, at: int, body: int, length: int) -> int:
    """Return where the first line begins at byte `at` or after it."""
    if at <= body:
        return body
    at -= 1
    while at < length:
        file.seek(at)
        chunk = file.read(CHUNK)
        if not chunk:
            break
        newline = chunk.find(b"\n")
        if newline >= 0:
            return at + newline + 1
        at += len(chunk)
    return length


def _lines_before(name: str, begin: int) -> int:
    """Return the number of lines of a file before a byte that begins a line."""
    count = 0
    with open(name, "rb") as file:
        while begin > 0 and (chunk := file.read(min(CHUNK, begin))):
            count += chunk.count(b"\n")
            begin -= len(chunk)
    return count


# METIS files in pieces: each rank parses some of the lines -------------------------------------
#
# A piece is a range of bytes, and owns the lines that begin in it. The vertices of the lines depend
# on the number of lines in the pieces before, so reading has two passes, with a sum over ranks
# between them.


MAX_PIECES = 2**20

MAX_HEADER = 1 << 16
"""Maximum bytes of the line with the numbers of vertices and edges."""

GAPS = b" \t\r\v\f,;"


class MetisPiece:
    """A piece of a METIS file; :func:`open_metis_piece` opens one.

    Attributes
    ----------
    num_vertices, num_edges : int
        Sizes of the whole graph, from the first line.
    num_lines, num_words : int
        Numbers of lines of vertices in this piece, and of words on them.

    Examples
    --------
    >>> import portpart
    >>> portpart.io.write(portpart.generators.grid_2d(30), "grid.graph")
    >>> pieces = [portpart.io.open_metis_piece("grid.graph", rank, 3) for rank in range(3)]
    >>> [piece.num_lines for piece in pieces]
    [319, 287, 294]
    >>> pieces[1].rows(319)
    <Rows: vertices 319 to 606 of 900, 1,128 arcs, on cpu>
    """

    def __init__(self, source: PieceSource, header: MetisHeader) -> None:
        self._source, self._header = source, header
        self.num_vertices, self.num_edges = header.num_vertices, header.num_edges
        self.num_lines, self.num_words = text.count_numbers(source.data, SYNTAX)

    @typed_memory_errors
    def rows(self, lines_before: int, space: ExecutionSpace | str = "cpu") -> Rows:
        """Parse the lines of this piece.

        Parameters
        ----------
        lines_before : int
            Number of lines of all previous pieces, from their `num_lines`.
        space : ExecutionSpace or str
            Space of the rows, or the name of a device.

        Returns
        -------
        Rows
            Without self loops.  Parallel edges are kept.  Weights are of type int64.

        Raises
        ------
        GraphFormatError
            With file and line of the first deviation from the format in this piece. Whether all
            arcs have reverse arcs is not checked.
        """
        n = self.num_vertices
        first = min(checked_integer("lines_before", lines_before, 0, 2**62), n)
        count = min(self.num_lines, n - first)
        lines = lines_of(self._source)
        lines.refuse_after(count - 1, f"line of the last of {n} vertices")
        body = Body(self._source, self._header, first, 0)
        offsets, targets, weights, vertex_weights = body.rows(*lines.numbers(0, count))
        with self._source.errors_at(body.line_of):
            return checked_rows(first, n, offsets, np.ascontiguousarray(targets),
                                None if weights is None else np.ascontiguousarray(weights),
                                vertex_weights, space)

    def check_totals(self, num_lines: int, num_words: int, num_arcs: int) -> None:
        """Compare the totals of all pieces with the first line of the file.

        Parameters
        ----------
        num_lines, num_words : int
            Sums over all pieces.
        num_arcs : int
            Arcs of the rows of all pieces.

        Raises
        ------
        GraphFormatError
            If there are fewer lines than vertices, or other numbers of edges.
        """
        header, name = self._header, self._source.name
        if num_lines < header.num_vertices:
            raise GraphFormatError(
                f"{name}: the file ends after the lines of {num_lines} of {header.num_vertices} "
                "vertices; a vertex without neighbours needs a blank line")
        entries = (num_words - header.leading * header.num_vertices) // header.stride
        if 2 * header.num_edges not in (entries, num_arcs):
            raise GraphFormatError(
                f"{name}: the header promises {header.num_edges} edges, the lines below hold "
                f"{entries / 2:g} (each edge is on two lines)")


@typed_memory_errors
def open_metis_piece(path: text.PathLike, rank: int, size: int,
                     max_vertices: int | None = None) -> MetisPiece:
    r"""Read a piece of a METIS file and count its lines.

    Parameters
    ----------
    path : str or PathLike
        A METIS file that is not compressed.
    rank, size : int
        Number of the piece, and number of pieces; they have about the same number of bytes.
    max_vertices : int, optional
        As in :func:`read`.

    Returns
    -------
    MetisPiece

    Raises
    ------
    GraphFormatError
        If the file is compressed, or its first line is not that of a METIS file.
    InputError
        If the file cannot be read, or has no such piece.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("path.graph").write_text("3 2\n2\n1 3\n2\n")
    >>> first, second = (portpart.io.open_metis_piece("path.graph", rank, 2) for rank in (0, 1))
    >>> first.num_lines, second.num_lines
    (2, 1)
    >>> second.rows(2).targets.tolist()
    [1]
    """
    size = checked_integer("size", size, 1, MAX_PIECES)
    rank = checked_integer("rank", rank, 0, size - 1)
    name, limit = os.fspath(path), checked_limit(max_vertices)
    with reading(name), open(name, "rb") as file:
        return _piece_of(name, file, rank, size, limit)


def _piece_of(name: str, file: BinaryIO, rank: int, size: int, limit: int | None) -> MetisPiece:
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    _refuse_packed(name, file.read(text.FIRST_BYTES))
    line, number, body = _first_line(name, file)
    header = header_of(lines_of(PieceSource(name, line, limit, lambda: number)), length)
    return MetisPiece(piece_of(name, file, body, rank, size, limit), header)


def _refuse_packed(name: str, begin: bytes) -> None:
    """Raise an error unless the file is plain text."""
    if text.is_packed(begin) or begin.startswith((text.ZIP_MEMBER, text.ZIP_EMPTY)):
        raise GraphFormatError(f"{name}: is packed; pieces are read of plain text: unpack it first")
    if begin.startswith(text.UTF16_MARKS) or b"\0" in begin:
        raise GraphFormatError(f"{name}: is no UTF-8 text; pieces are read of METIS files")


def _first_line(name: str, file: BinaryIO) -> tuple[bytes, int, int]:
    """Return the first line that is not a comment, the number of lines before it, and its end."""
    file.seek(0)
    end = len(text.UTF8_MARK) if file.read(len(text.UTF8_MARK)) == text.UTF8_MARK else 0
    file.seek(end)
    number = 0
    while line := file.readline(MAX_HEADER):
        end += len(line)
        is_comment = line.lstrip(GAPS).startswith(SYNTAX.comments)
        while is_comment and line and not line.endswith(b"\n"):
            line = file.readline(MAX_HEADER)
            end += len(line)
        if not is_comment:
            if len(line) == MAX_HEADER:
                raise GraphFormatError(f"{name}:{number + 1}: a METIS file begins with 'n m [fmt "
                                       "[ncon]]': the numbers of vertices and edges")
            return line, number, end
        number += 1
    return b"", number, end
