"""Text files in pieces: a piece is a range of bytes, and the lines that begin in it are its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from portpart.errors import GraphFormatError
from portpart.io.text.files import Source
from portpart.io.text.tokens import LineSyntax

CHUNK = 1 << 20
"""Bytes in which ends of lines are looked for at a time."""


@dataclass(frozen=True)
class PieceSource(Source):
    """The bytes of a piece of a file.

    Attributes
    ----------
    lines_before : callable
        Returns the number of lines of the file before the piece; called for messages only.
    """

    lines_before: Callable[[], int] = int

    def line_at(self, position: int) -> int:
        """Number of the line of the file that holds a byte of the piece."""
        return self.lines_before() + super().line_at(position)

    def line_of_row(self, syntax: LineSyntax, begin: int, row: int) -> int:
        """Line of the file that holds the `row`-th line of numbers after byte `begin`."""
        return self.lines_before() + super().line_of_row(syntax, begin, row)


def piece_of(name: str, file: BinaryIO, body: int, rank: int, size: int,
             limit: int | None = None) -> PieceSource:
    """Read a piece of a file.

    Parameters
    ----------
    name : str
        What the file is called.
    file : binary file
    body : int
        The byte at which the lines begin.
    rank, size : int
        Which of how many pieces; they have about the same number of bytes.
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
    """Where the first line begins that does so at byte `at` or behind it."""
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
    """Lines of a file before a byte that begins a line."""
    count = 0
    with open(name, "rb") as file:
        while begin > 0 and (chunk := file.read(min(CHUNK, begin))):
            count += chunk.count(b"\n")
            begin -= len(chunk)
    return count
