"""Whose files are believed: compiled code is run as it is read, with all rights of the user.

It has to be written by that user or by root, as ssh asks of keys.  The owner of a folder decides
which users can put files there, but not what is in a file that only its owner can write.
"""

from __future__ import annotations

import os
import stat
from itertools import takewhile
from pathlib import Path

ROOT = 0


def own_id() -> int | None:
    """The number of the user; None where files have no such owners, as on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def fault_of(status: os.stat_result) -> str:
    """Why another user may have made a file of this status; empty if none can have."""
    me = own_id()
    if me is None:
        return ""
    if status.st_uid not in (me, ROOT):
        return "belongs to another user"
    if stat.S_ISREG(status.st_mode) and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by other users"
    return ""


def fault_of_folder(folder: Path) -> str:
    """The same of a folder, and of the link that leads there, if it is one."""
    try:
        return fault_of(folder.lstat()) or fault_of(folder.stat())
    except OSError:  # there is none, or it cannot be read
        return ""


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone.

    Raises
    ------
    OSError
        If it cannot be, or belongs to another user.
    """
    missing = [*takewhile(lambda each: not each.exists(), (folder, *folder.parents))]
    for each in reversed(missing):
        each.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    if fault := fault_of_folder(folder):
        raise PermissionError(f"it {fault}")
