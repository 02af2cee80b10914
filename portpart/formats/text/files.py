"""Whole files in and out: compression, standard streams, and no incomplete files."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from portpart.errors import GraphFormatError, InputError, errors_about, reading, writing
from portpart.formats.text.packed import COMPRESSIONS, unpacked
from portpart.formats.text.tokens import LineSyntax

PathLike = str | os.PathLike[str]

STREAM = "-"
"""The name of standard input or standard output."""

UTF8_MARK, UTF16_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""Marks of encodings that editors write before text."""

FIRST_WORD = re.compile(rb"\S")

LINES_PIECE = 1 << 20
"""Number of bytes that are searched for a line at once."""

SEPARATORS = re.compile(rb"[\s,;]+")
WORD = re.compile(rb"[^\s,;]+")

UNCHECKED_VERTICES = 1 << 22
VERTICES_PER_BYTE = 16
"""A file may have this many vertices whatever its size, and this many for each byte of its text."""

MAX_DIGITS = 19
"""Maximum digits of a number in a header: Python does not convert thousands."""

TEMPORARY = ".portpart-"
"""Prefix of the names of temporary files."""

ABANDONED_AFTER = 60.0
"""Seconds without a change after which such a file may be from a killed process."""

NEW_FILE_MODE = 0o666
"""Permissions of a new file, before the user's mask."""


@dataclass(frozen=True)
class Source:
    """The bytes of a file and its name in error messages.

    Parameters
    ----------
    name : str
    data : bytes
    max_vertices : int, optional
        Maximum number of vertices of a graph in this file; default: `UNCHECKED_VERTICES`, and
        `VERTICES_PER_BYTE` for each byte.
    """

    name: str
    data: bytes
    max_vertices: int | None = None

    def refuse(self, line: int, problem: str) -> NoReturn:
        """Raise a `GraphFormatError` with file and line."""
        raise GraphFormatError(f"{self.name}:{line}: {problem}")

    def refuse_at(self, line: int, word: int, problem: str) -> NoReturn:
        """Raise a `GraphFormatError` with file, line and column of a word of that line."""
        text = self.data.split(b"\n", line)[line - 1]
        words = [match.start() for match in WORD.finditer(text)]
        raise GraphFormatError(f"{self.name}:{line}:{words[word] + 1}: {problem}")

    def refuse_size(self, line: int | None, num_vertices: int, size: int | None = None) -> None:
        """Raise an error if a file of this size is unlikely to have this many vertices."""
        size = len(self.data) if size is None else size
        limit = self.max_vertices
        if limit is None:
            limit = max(UNCHECKED_VERTICES, VERTICES_PER_BYTE * size)
        if num_vertices > limit:
            place = self.name if line is None else f"{self.name}:{line}"
            raise GraphFormatError(f"{place}: {num_vertices} vertices in {size} bytes; if that is "
                                   f"right, pass max_vertices={num_vertices} (--max-vertices)")

    @contextlib.contextmanager
    def errors_at(self, line_of: Callable[[int], int],
                  what: str = "vertices numbered from 0") -> Iterator[None]:
        """Context in which errors name the file, and the line of their vertex if they have one."""
        with errors_about(self.name):
            try:
                yield
            except InputError as problem:
                if problem.vertex is None:
                    raise
                self.refuse(line_of(problem.vertex), f"{problem} ({what})")

    def line_at(self, position: int) -> int:
        """Return the number of the line of a byte."""
        return self.data.count(b"\n", 0, position) + 1

    def word_at(self, position: int) -> str:
        """Return the word that begins at a byte, as messages show it."""
        word = self.data[position : position + 40].split(None, 1)[0]
        return re.split(rb"[,;]", word)[0].decode("utf-8", "replace")

    def words_at(self, position: int) -> list[bytes]:
        """Return the words of the line that begins at a byte."""
        line = self.data[position : self._line_end(position)]
        return [word for word in SEPARATORS.split(line) if word]

    def line_of_row(self, syntax: LineSyntax, begin: int, row: int) -> int:
        """Return the line of the file with the `row`-th line of numbers after byte `begin`."""
        comment = rb"[" + re.escape(syntax.comments) + rb"].*"
        skipped = re.compile(rb"^[^\S\n]*" + (comment if syntax.keep_blank else rb"(%b)?" % comment)
                             + rb"$", re.MULTILINE)
        number = self.data.count(b"\n", 0, begin)
        while begin < len(self.data):  # in pieces: a Python loop over all lines is slow
            end = self._line_end(begin + LINES_PIECE)
            piece = self.data[begin:end]
            lines = piece.count(b"\n") + 1
            rows = lines - sum(1 for _ in skipped.finditer(piece))
            if row < rows:
                kept = (place for place, line in enumerate(piece.split(b"\n"), 1)
                        if not skipped.fullmatch(line))
                return number + next(itertools.islice(kept, row, None))
            begin, row, number = end + 1, row - rows, number + lines
        return max(1, number)

    def lines(self, begin: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, position of the following line and stripped text of each line that is not
        blank.
        """
        number = 1 + self.data.count(b"\n", 0, begin)
        while word := FIRST_WORD.search(self.data, begin):
            number += self.data.count(b"\n", begin, word.start())
            end = self._line_end(word.start())
            begin = min(end + 1, len(self.data))
            yield number, begin, self.data[word.start() : end].strip()
            number += 1

    def _line_end(self, position: int) -> int:
        """Return the position of the next newline, or the end."""
        end = self.data.find(b"\n", position)
        return len(self.data) if end < 0 else end


def is_count(word: bytes) -> bool:
    """Whether a word of a header is a number that fits 64 bits."""
    return word.isdigit() and len(word) < MAX_DIGITS


def read_source(path: PathLike, max_vertices: int | None = None,
                suffixes: tuple[str, ...] = ()) -> Source:
    """Return the unpacked bytes of a file, or of standard input for ``-``.

    Parameters
    ----------
    path : str or PathLike
    max_vertices : int, optional
        See `Source`.
    suffixes : tuple of str
        In an archive, the file whose name ends in one of these is read.
    """
    name = os.fspath(path)
    if name == STREAM:
        if sys.stdin is None:
            raise InputError("standard input is closed")
        name, data = "<stdin>", sys.stdin.buffer.read()
    else:
        with reading(name), open(name, "rb") as file:
            data = file.read()
    name, data = unpacked(name, data, max_vertices, suffixes)
    if data.startswith(UTF16_MARKS):
        raise GraphFormatError(f"{name}: is UTF-16 text; save it as UTF-8 "
                               "(iconv -f utf-16 -t utf-8)")
    return Source(name, data.removeprefix(UTF8_MARK), max_vertices)


def write_chunks(path: PathLike, chunks: Iterable[Any]) -> None:
    """Write pieces of bytes to a file, compressed as its suffix says, or to standard output.

    The bytes are written to a temporary file in the same folder, which is renamed at the end: a
    file of that name is either the old one or complete. Temporary files of killed processes in the
    folder are deleted. Links are followed; a file that is not regular (a device, a named pipe) is
    written to, not replaced.
    """
    name = os.fspath(path)
    if name == STREAM:
        _write_stream(chunks)
        return
    suffix = os.path.splitext(name)[1].lower()
    with writing(name):
        if os.path.exists(name) and not os.path.isfile(name):
            _write(os.open(name, os.O_WRONLY), suffix, chunks)
        else:
            _replace(os.path.realpath(name), suffix, chunks)


def write_together(path: PathLike, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files, by their names, to the folder of the file `path`: all of them, or none.

    They are complete, in a temporary folder there, before the first is renamed.
    """
    folder, name = os.path.dirname(os.path.realpath(path)), os.path.basename(path)
    names = []
    try:
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=folder) as made:
            for name, data in files:
                names.append(name)
                with open(os.path.join(made, name), "wb") as file:
                    file.write(data)
            for name in names:
                if os.path.isdir(os.path.join(folder, name)):
                    raise IsADirectoryError(errno.EISDIR, "a folder has this name")
            for name in names:
                move_into_place(os.path.join(made, name), os.path.join(folder, name))
    except OSError as problem:
        raise InputError(f"{os.path.join(folder, name)} cannot be written: "
                         f"{problem.strerror or problem}") from problem


def _write_stream(chunks: Iterable[Any]) -> None:
    if sys.stdout is None:
        raise InputError("standard output is closed")
    with writing("standard output", BrokenPipeError):  # the reader has ended, which is not an error
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()


def _replace(name: str, suffix: str, chunks: Iterable[Any]) -> None:
    """Replace the file `name` by a complete file with its permissions."""
    handle, temporary = new_temporary(name)
    try:
        _write(handle, suffix, chunks)
        move_into_place(temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def move_into_place(temporary: str, name: str) -> None:
    """Rename a file to `name`, and give it that file's permissions."""
    mode = os.stat(name).st_mode & 0o777 if os.path.exists(name) else NEW_FILE_MODE & ~_mask()
    os.chmod(temporary, mode)
    os.replace(temporary, name)


def new_temporary(name: str) -> tuple[int, str]:
    """Make an empty file next to the file `name`, locked while this process has it open."""
    folder = os.path.dirname(name)
    try:
        handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)
    except PermissionError as problem:
        raise InputError(
            f"{name} cannot be written: no new file may be made in {folder}, and a file is never "
            "overwritten in place; write it elsewhere, or to standard output (-)") from problem
    _is_locked(handle)
    remove_abandoned(folder)
    return handle, temporary


def remove_abandoned(folder: str) -> None:
    """Delete the temporary files of killed processes in a folder.

    A file in use is locked by its process; a new file may not be locked yet.
    """
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if (entry.name.startswith(TEMPORARY) and entry.is_file(follow_symlinks=False)
                    and time.time() - entry.stat().st_mtime > ABANDONED_AFTER):
                handle = os.open(entry.path, os.O_RDWR)
                try:
                    if _is_locked(handle):
                        os.unlink(entry.path)
                finally:
                    os.close(handle)


def _is_locked(handle: int) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it or locks
    fail.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _write(handle: int, suffix: str, chunks: Iterable[Any]) -> None:
    with os.fdopen(handle, "wb") as file:
        packed = COMPRESSIONS[suffix][1](file, "wb") if suffix in COMPRESSIONS else None
        with packed or contextlib.nullcontext(file) as stream:
            for chunk in chunks:
                stream.write(chunk)


def _mask() -> int:
    """Return the user's file mask (it can only be set, so set and restore it)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
