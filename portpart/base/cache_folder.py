"""The folders of compiled kernels, their files, and the owners whose files are trusted."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import FrameType

# Trusted files: compiled code is executed as it is read, with all rights of the user -----------
#
# Files must be written by that user or by root, as ssh requires of keys. The owner of a folder
# decides which users can put files there, but not the contents of a file that only its owner can
# write.


ROOT = 0


def own_id() -> int | None:
    """Return the number of the user; None if files have no such owners, as on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def fault_of(status: os.stat_result) -> str:
    """Return why another user may have made a file of this status; empty if none can have."""
    me = own_id()
    if me is None:
        return ""
    if status.st_uid not in (me, ROOT):
        return "belongs to another user"
    if stat.S_ISREG(status.st_mode) and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by other users"
    return ""


def fault_of_folder(folder: Path) -> str:
    """Return the same for a folder, and for the link that leads to it, if it is one."""
    try:
        return fault_of(folder.lstat()) or fault_of(folder.stat())
    except OSError:  # it does not exist, or cannot be read
        return ""


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, for this user alone.

    Raises
    ------
    OSError
        If it cannot be made, or belongs to another user.
    """
    missing = [*takewhile(lambda each: not each.exists(), (folder, *folder.parents))]
    for each in reversed(missing):
        each.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    if fault := fault_of_folder(folder):
        raise PermissionError(f"it {fault}")


# The folders of compiled kernels, and their files ----------------------------------------------
#
# ``$PORTPART_CACHE_DIR`` lists them, as ``PATH`` lists folders; by default there is one,
# ``portpart`` in the user's cache folder: ``$XDG_CACHE_HOME`` or ``~/.cache``, on Windows
# ``%LOCALAPPDATA%``.  Files are searched in all of them, in their order, and new files are written
# to the first writable one, so that a list may begin or end with read-only folders. A file is
# written once, completely, and never changed; it begins with the digest of its name and the rest.
# Folders and files of users other than this one and root are ignored. If no folder can be written,
# everything works without it.


VARIABLE = "PORTPART_CACHE_DIR"

SUFFIX, UNFINISHED = ".kernel", "portpart-"
"""Suffix of the name of a file, and its prefix while it is written."""

_CHECK = hashlib.sha256().digest_size
"""Number of bytes before the code: the digest of name and code, which detects damage."""

_MODE = 0o644
"""Mode of new files: others can read them if they can read the folder."""

_OURS = re.compile(r".*_[0-9a-f]{24}\.kernel|portpart-.*\.tmp"
                   r"|cpu_driver_[0-9a-f]{24}/.*\.nb[ic]")
"""Names of files in the folder that this library has made, in this or an earlier version."""

MAX_WAIT, BETWEEN_LOOKS = 1.0, 0.002
"""Seconds to wait for a file that another process makes, and between two checks."""

_mine = threading.local()

_warning = threading.Lock()
_warned: list[str] = []


@cache
def cache_folders() -> tuple[Path, ...]:
    """Return the folders, which need not exist.

    Raises
    ------
    OSError
        If no user folder is known and no other folder is named.
    """
    named = [name for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    chosen = [*_of_known_users(named)] or [*map(_expanded, named)] or [_user_cache() / "portpart"]
    return tuple(folder.absolute() for folder in chosen)


def _of_known_users(named: list[str]) -> Iterator[Path]:
    """Yield the folders of a list, except those of unknown users."""
    for name in named:
        with suppress(FileNotFoundError):
            yield _expanded(name)


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
        raise FileNotFoundError("no user folder is known") from None


def file_of(name: str, words: str) -> str:
    """Return the name of the file for `name` that depends on everything in `words`."""
    return f"{name}_{hashlib.sha256(words.encode()).hexdigest()[:24]}{SUFFIX}"


def read(name: str) -> bytes | None:
    """Return the content of a file; None if it is missing or incomplete."""
    try:
        folders = _own_folders()
        found = (_read(folder / name) for folder in folders)
        return next((code for code in found if code is not None), None)
    except OSError:
        return None


def _own_folders() -> Iterator[Path]:
    """Yield the folders, except those of other users."""
    for folder in cache_folders():
        if fault := fault_of_folder(folder):
            _warn_of_strangers(folder, fault)
        else:
            yield folder


def _read(path: Path) -> bytes | None:
    try:
        with open(path, "rb", opener=_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            if fault := fault_of(status):
                _warn_of_strangers(path, fault)
                return None
            content = file.read()
    except OSError:
        return None
    code = content[_CHECK:]
    return code if _digest(path.name, code) == content[:_CHECK] else None


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a writer, if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _digest(name: str, code: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def write(name: str, code: bytes) -> None:
    """Store `code`. It is written under another name and renamed, so that readers see all or
    nothing.

    If that fails in all folders, for example because the disk is full, one warning per process
    names the first folder.
    """
    if (waiting := getattr(_mine, "waiting", None)) is not None:
        waiting.append((name, code))
        return
    try:
        folders = cache_folders()
    except OSError as problem:
        warn_once("kernels", VARIABLE, "", problem)
        return
    problems = []
    for folder in folders:
        try:
            make_folder(folder)
            _write(folder / name, _digest(name, code) + code)
            return
        except OSError as problem:
            problems.append(problem)
    warn_once("kernels", VARIABLE, str(folders[0]), problems[0])


@contextmanager
def claimed(name: str) -> Iterator[None]:
    """Wait until no other process is making a file, which may exist then.

    Ranks that start together need the same kernels in the same order. An old claim belongs to a
    process that has ended.
    """
    claim = _claim_of(name)
    end = time.monotonic() + MAX_WAIT
    mine = False
    while claim is not None and not mine and time.monotonic() < end:
        try:
            os.close(os.open(claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE))
            mine = True
        except FileExistsError:
            time.sleep(BETWEEN_LOOKS)
        except OSError:  # the folder cannot be written
            break
    try:
        yield
    finally:
        if claim is not None:
            with suppress(OSError):
                os.unlink(claim)


def _claim_of(name: str) -> Path | None:
    """Return the file that says that another one is being made."""
    try:
        return cache_folders()[0] / f"{UNFINISHED}{name}.tmp"
    except OSError:
        return None


@contextmanager
def postponed() -> Iterator[list[tuple[str, bytes]]]:
    """Collect the files that this thread would write, for `write_all` in another thread."""
    _mine.waiting = []
    try:
        yield _mine.waiting
    finally:
        _mine.waiting = None


def write_all(found: list[tuple[str, bytes]]) -> None:
    """Write the collected files: names and contents."""
    for name, code in found:
        write(name, code)


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{UNFINISHED}{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, _MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def files() -> Iterator[Path]:
    """Yield the files of this library in the folders, including those of other versions."""
    for folder in _own_folders():
        for path in sorted([*folder.glob("*"), *folder.glob("cpu_driver_*/*/*")]):
            if _OURS.fullmatch(path.relative_to(folder).as_posix()) and path.is_file():
                yield path


def clear() -> tuple[int, int]:
    """Delete those of these files that can be deleted; return their number and size in bytes.

    Other files, and files in read-only folders, are kept.
    """
    count = size = 0
    for path in filter(lambda path: os.access(path.parent, os.W_OK), files()):
        size += path.stat().st_size
        path.unlink(missing_ok=True)
        count += 1
    for place in _own_folders():
        for folder in sorted(place.glob("cpu_driver_*/**/"), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
    return count, size


def warn_once(what: str, variable: str, folder: str, problem: OSError) -> None:
    """Warn once that compiled code is not kept."""
    place = f" in {folder}" if folder else ""
    _warn(what, f"compiled {what} cannot be kept{place} ({problem.strerror or problem}), so every "
                f"process compiles them again; set {variable} to another folder")


def _warn_of_strangers(path: Path, fault: str) -> None:
    """Warn once that code which others may have compiled is not used."""
    _warn("kernels", f"compiled kernels in {path} are ignored, as it {fault}; they must belong to "
                     f"you or to root; set {VARIABLE} to another folder")


def _warn(what: str, message: str) -> None:
    """Warn of `what` once in the process, at the line that called the library."""
    with _warning:
        if what in _warned:
            return
        _warned.append(what)
    caller = _caller()
    warnings.warn_explicit(
        message, UserWarning, caller.f_code.co_filename, caller.f_lineno,
        caller.f_globals.get("__name__"), caller.f_globals.setdefault("__warningregistry__", {}))


def _caller() -> FrameType:
    """Return the frame that called this package, the outermost of all such calls."""
    frame: FrameType | None = sys._getframe()
    outermost = sys._getframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
            outermost = frame
        frame = frame.f_back
    return outermost.f_back or outermost
