"""The folder in which compiled kernels are kept, and its files.

It is ``$PORTPART_CACHE_DIR``, else ``portpart`` in the user's cache folder: ``$XDG_CACHE_HOME`` or
``~/.cache``, on Windows ``%LOCALAPPDATA%``.  A file is written once, whole, and never changed; it
begins with the digest of the rest.  Where nothing can be kept, everything works all the same.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

VARIABLE = "PORTPART_CACHE_DIR"

SUFFIX, UNFINISHED = ".kernel", "portpart-"
"""How the name of a file ends, and how it begins while it is written."""

_CHECK = hashlib.sha256().digest_size
"""Bytes before the code, which tell whether it is whole."""

_OURS = re.compile(r".*_[0-9a-f]{24}\.kernel|portpart-.*\.tmp"
                   r"|cpu_driver_[0-9a-f]{24}/.*\.nb[ic]")
"""Names of files in the folder that this library has made, now or in an earlier version."""

_warning = threading.Lock()
_warned: list[str] = []


@cache
def cache_folder() -> Path:
    """The folder, which need not exist.

    Raises
    ------
    OSError
        If no folder is named and the user has no home.
    """
    chosen = os.environ.get(VARIABLE)
    return (_expanded(chosen) if chosen else _user_cache() / "portpart").absolute()


def _user_cache() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else _expanded("~")
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The rules of XDG: a relative path is invalid and ignored.
    return given if given.is_absolute() else _expanded("~") / ".cache"


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise FileNotFoundError("no home folder is known") from None


def file_of(name: str, words: str) -> str:
    """Name of the file of what is called `name` and depends on all the `words` say."""
    return f"{name}_{hashlib.sha256(words.encode()).hexdigest()[:24]}{SUFFIX}"


def read(name: str) -> bytes | None:
    """The content of a file, None if there is none that is whole."""
    try:
        content = (cache_folder() / name).read_bytes()
    except OSError:
        return None
    code = content[_CHECK:]
    return code if hashlib.sha256(code).digest() == content[:_CHECK] else None


def write(name: str, code: bytes) -> None:
    """Keep `code`: written under another name and renamed, so that a reader sees all or nothing.

    Where that fails, as without room on the disk, a warning says so once in the process.
    """
    try:
        folder = cache_folder()
    except OSError as problem:
        warn_once("kernels", VARIABLE, "", problem)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / name, hashlib.sha256(code).digest() + code)
    except OSError as problem:
        warn_once("kernels", VARIABLE, str(folder), problem)


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def files() -> Iterator[Path]:
    """The files of this library in the folder, those of other versions too."""
    folder = cache_folder()
    for path in sorted([*folder.glob("*"), *folder.glob("cpu_driver_*/*/*")]):
        if _OURS.fullmatch(path.relative_to(folder).as_posix()) and path.is_file():
            yield path


def clear() -> tuple[int, int]:
    """Delete these files; returns their number and size in bytes.  Other files stay."""
    count = size = 0
    for path in files():
        size += path.stat().st_size
        path.unlink(missing_ok=True)
        count += 1
    for folder in sorted(cache_folder().glob("cpu_driver_*/**/"), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    return count, size


def warn_once(what: str, variable: str, folder: str, problem: OSError) -> None:
    """Say once that `what` is compiled is not kept, at the line that called the library."""
    with _warning:
        if what in _warned:
            return
        _warned.append(what)
    caller, place = _caller(), f" in {folder}" if folder else ""
    warnings.warn_explicit(
        f"compiled {what} cannot be kept{place} ({problem.strerror or problem}), so every process "
        f"compiles them anew; {variable} names another folder",
        UserWarning, caller.f_code.co_filename, caller.f_lineno,
        caller.f_globals.get("__name__"), caller.f_globals.setdefault("__warningregistry__", {}))


def _caller() -> FrameType:
    """The frame that called into this package, of all calls the first."""
    frame: FrameType | None = sys._getframe()
    outermost = sys._getframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
            outermost = frame
        frame = frame.f_back
    return outermost.f_back or outermost
