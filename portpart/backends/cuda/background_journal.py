"""The file that keeps processes in the background from each other, and knows what went wrong.

One process at a time for a cache folder has the file locked; the system ends a lock with its
process.  It says what has been begun and not been done, so that what cannot be compiled, or takes
the compiler down, is not tried by every process anew.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from portpart.backends import cache_folder

if sys.platform != "win32":
    import fcntl

FILE = "portpart-background.json"

RETRY = 3600.0
"""Seconds after which it is tried again."""


class Journal:
    """The file, opened; it is closed at the end of a ``with`` block.

    Parameters
    ----------
    file : file
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._file.close()

    def fileno(self) -> int:
        """Its number among the files of this process."""
        return self._file.fileno()

    @property
    def folder(self) -> Path:
        """Where it is."""
        return Path(self._file.name).parent

    def is_locked(self) -> bool:
        """Lock it; whether that was possible.

        Raises
        ------
        OSError
            If there are no locks in this folder.
        """
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def tried(self) -> dict[str, Any]:
        """What has been begun of late and not been done: when, and what went wrong, by file."""
        self._file.seek(0)
        try:
            entries = dict(json.loads(self._file.read() or b"{}"))
            return {file: (begun, problem) for file, (begun, problem) in entries.items()
                    if 0 <= time.time() - begun < RETRY}
        except (ValueError, TypeError):  # broken off while it was written
            return {}

    def begin(self, files: Iterable[str]) -> None:
        """Note that files are being made."""
        self._write({**self.tried(), **dict.fromkeys(files, (time.time(), "did not end"))})

    def end(self, file: str, problem: str = "") -> None:
        """Note that a file has been made, or what went wrong."""
        entries = self.tried()
        begun, _ = entries.pop(file, (time.time(), ""))
        self._write({**entries, file: (begun, problem)} if problem else entries)

    def _write(self, entries: dict[str, Any]) -> None:
        self._file.truncate(0)
        self._file.write(json.dumps(entries, indent=1).encode())
        self._file.flush()


def opened() -> Journal:
    """The journal of the folder that new files go to.

    Raises
    ------
    OSError
        If none can be written.
    """
    return Journal(cache_folder.opened(FILE))
