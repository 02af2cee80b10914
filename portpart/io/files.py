"""Whole files in and out: compression, standard streams, and never half a file."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from portpart.errors import GraphFormatError, InputError
from portpart.io.tokens import LineSyntax

PathLike = str | os.PathLike[str]

STREAM = "-"
"""The name of standard input or standard output."""

COMPRESSIONS: dict[str, tuple[bytes, Callable[[bytes], bytes], Callable[..., Any]]] = {
    ".gz": (b"\x1f\x8b", gzip.decompress, gzip.open),
    ".xz": (b"\xfd7zXZ\x00", lzma.decompress, lzma.open),
    ".bz2": (b"BZh", bz2.decompress, bz2.open),
}
"""First bytes, unpacker and opener of each compression, by file suffix."""

NEW_FILE_MODE = 0o666
"""Permissions of a new file, before the user's mask."""


@dataclass(frozen=True)
class Source:
    """The bytes of a file and the name that error messages call it by."""

    name: str
    data: bytes

    def refuse(self, line: int, problem: str) -> NoReturn:
        """Raise a `GraphFormatError` that names file and line."""
        raise GraphFormatError(f"{self.name}:{line}: {problem}")

    def refuse_word(self, position: int) -> NoReturn:
        """Raise for a word that was to be an integer."""
        line = self.data.count(b"\n", 0, position) + 1
        word = self.data[position : position + 40].split(None, 1)[0].decode("ascii", "replace")
        self.refuse(line, f"{word!r} is not an integer (or above 2**62)")

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


def read_source(path: PathLike) -> Source:
    """The unpacked bytes of a file, or of standard input for ``-``.

    Compression is recognised by the first bytes, not by the name.
    """
    name = os.fspath(path)
    if name == STREAM:
        if sys.stdin is None:
            raise InputError("standard input is closed")
        return Source("<stdin>", _unpacked("<stdin>", sys.stdin.buffer.read()))
    try:
        data = Path(name).read_bytes()
    except OSError as problem:
        raise InputError(f"{name} cannot be read: {problem.strerror}") from problem
    return Source(name, _unpacked(name, data))


def _unpacked(name: str, data: bytes) -> bytes:
    for suffix, (magic, unpack, _) in COMPRESSIONS.items():
        if data.startswith(magic):
            try:
                return unpack(data)
            except (OSError, EOFError, lzma.LZMAError, ValueError) as problem:
                raise GraphFormatError(
                    f"{name}: damaged {suffix[1:]} data: {problem}") from problem
    return data


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
    return _Closing(COMPRESSIONS[suffix][2](file, "wb"), file)


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
