"""Whole files in and out: compression, standard streams, and never half a file."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from portpart.errors import GraphFormatError, InputError
from portpart.io.packed import COMPRESSIONS, unpacked
from portpart.io.tokens import LineSyntax

PathLike = str | os.PathLike[str]

STREAM = "-"
"""The name of standard input or standard output."""

UTF8_MARK, UTF16_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""What editors put before text to tell its encoding."""

SEPARATORS = re.compile(rb"[\s,;]+")

UNCHECKED_VERTICES = 1 << 22
VERTICES_PER_BYTE = 16
"""So many vertices a file may have, whatever its size, and for each byte of its text."""

MAX_DIGITS = 19
"""So many digits of a number in a header are too many: Python refuses to convert thousands."""

NEW_FILE_MODE = 0o666
"""Permissions of a new file, before the user's mask."""


@dataclass(frozen=True)
class Source:
    """The bytes of a file and the name that error messages call it by.

    Parameters
    ----------
    name : str
    data : bytes
    max_vertices : int, optional
        Most vertices that a graph of this file may have; default: `UNCHECKED_VERTICES`, and
        `VERTICES_PER_BYTE` for each byte.
    """

    name: str
    data: bytes
    max_vertices: int | None = None

    def refuse(self, line: int, problem: str) -> NoReturn:
        """Raise a `GraphFormatError` that names file and line."""
        raise GraphFormatError(f"{self.name}:{line}: {problem}")

    def refuse_word(self, position: int) -> NoReturn:
        """Raise for a word that was to be an integer."""
        word = self.word_at(position)
        self.refuse(self.line_at(position), f"{word!r} is not an integer (or above 2**62)")

    def refuse_size(self, line: int | None, num_vertices: int, size: int | None = None) -> None:
        """Raise if by all appearance a file of this size does not hold so many vertices."""
        size = len(self.data) if size is None else size
        most = self.max_vertices
        if most is None:
            most = max(UNCHECKED_VERTICES, VERTICES_PER_BYTE * size)
        if num_vertices > most:
            place = self.name if line is None else f"{self.name}:{line}"
            raise GraphFormatError(f"{place}: {num_vertices} vertices in {size} bytes; if that is "
                                   f"right, say max_vertices={num_vertices} (--max-vertices)")

    def line_at(self, position: int) -> int:
        """Number of the line that holds a byte."""
        return self.data.count(b"\n", 0, position) + 1

    def word_at(self, position: int) -> str:
        """The word that begins at a byte, as messages show it."""
        word = self.data[position : position + 40].split(None, 1)[0]
        return re.split(rb"[,;]", word)[0].decode("utf-8", "replace")

    def words_at(self, position: int) -> list[bytes]:
        """Words of the line that begins at a byte."""
        end = self.data.find(b"\n", position)
        line = self.data[position : len(self.data) if end < 0 else end]
        return [word for word in SEPARATORS.split(line) if word]

    def line_of_row(self, syntax: LineSyntax, begin: int, row: int) -> int:
        """Line of the file that holds the `row`-th line of numbers after byte `begin`."""
        last = 1
        for number, _, words in self.lines(begin):
            last = number
            comment = bool(words) and words[:1] in syntax.comments
            if not comment and (words or syntax.keep_blank):
                row -= 1
                if row < 0:
                    break
        return last

    def lines(self, begin: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """Line number, position of the following line and stripped text of each line."""
        number = self.data.count(b"\n", 0, begin)
        while begin < len(self.data):
            end = self.data.find(b"\n", begin)
            end = len(self.data) if end < 0 else end
            number += 1
            yield number, min(end + 1, len(self.data)), self.data[begin:end].strip()
            begin = end + 1


def is_count(word: bytes) -> bool:
    """Whether a word of a header is a number that fits 64 bits."""
    return word.isdigit() and len(word) < MAX_DIGITS


def read_source(path: PathLike, max_vertices: int | None = None,
                suffixes: tuple[str, ...] = ()) -> Source:
    """The unpacked bytes of a file, or of standard input for ``-``.

    Parameters
    ----------
    path : str or PathLike
    max_vertices : int, optional
        See `Source`.
    suffixes : tuple of str
        Of an archive the file that ends in one of these is taken.
    """
    name = os.fspath(path)
    if name == STREAM:
        if sys.stdin is None:
            raise InputError("standard input is closed")
        name, data = "<stdin>", sys.stdin.buffer.read()
    else:
        try:
            data = Path(name).read_bytes()
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise InputError(f"{name} cannot be read: {reason}") from problem
    name, data = unpacked(name, data, max_vertices, suffixes)
    if data.startswith(UTF16_MARKS):
        raise GraphFormatError(f"{name}: is UTF-16 text; save it as UTF-8 "
                               "(iconv -f utf-16 -t utf-8)")
    return Source(name, data.removeprefix(UTF8_MARK), max_vertices)


def write_chunks(path: PathLike, chunks: Iterable[Any]) -> None:
    """Write pieces of bytes to a file, compressed as its suffix says, or to standard output.

    The bytes go to a temporary file in the same folder that is renamed at the end: a file of
    that name is either the old one or complete.  Links are followed; what is no regular file (a
    device, a named pipe) is never replaced but written to.
    """
    name = os.fspath(path)
    if name == STREAM:
        _write_stream(chunks)
        return
    suffix = os.path.splitext(name)[1]
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            _write(os.open(name, os.O_WRONLY), suffix, chunks)
        else:
            _replace(os.path.realpath(name), suffix, chunks)
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"{name} cannot be written: {reason}") from problem


def _write_stream(chunks: Iterable[Any]) -> None:
    if sys.stdout is None:
        raise InputError("standard output is closed")
    for chunk in chunks:
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _replace(name: str, suffix: str, chunks: Iterable[Any]) -> None:
    """Put a complete file in the place of the file `name`, with its permissions."""
    handle, temporary = tempfile.mkstemp(prefix=".portpart-", dir=os.path.dirname(name))
    try:
        _write(handle, suffix, chunks)
        mode = os.stat(name).st_mode & 0o777 if os.path.exists(name) else NEW_FILE_MODE & ~_mask()
        os.chmod(temporary, mode)
        os.replace(temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _write(handle: int, suffix: str, chunks: Iterable[Any]) -> None:
    with contextlib.closing(_packer(handle, suffix)) as file:
        for chunk in chunks:
            file.write(chunk)


def _packer(handle: int, suffix: str) -> Any:
    file = os.fdopen(handle, "wb")
    if suffix not in COMPRESSIONS:
        return file
    return _Closing(COMPRESSIONS[suffix][1](file, "wb"), file)


class _Closing:
    """A compressed stream that also closes the file under it."""

    def __init__(self, stream: Any, file: Any) -> None:
        self.write = stream.write
        self._both = (stream, file)

    def close(self) -> None:
        for part in self._both:
            part.close()


def _mask() -> int:
    """The user's file mask (only settable, so set and restored)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
