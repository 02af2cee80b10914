"""CuPy's cache of compiled kernels where there is no room for it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from portpart.backends.cache_folder import warn_once
from portpart.backends.owners import make_folder

FOLDER, IN_MEMORY = "CUPY_CACHE_DIR", "CUPY_CACHE_IN_MEMORY"

_ROOM = 1 << 20
"""Bytes that a folder must take to be worth a try: about the largest kernel."""


def do_without_folder() -> None:
    """Make CuPy keep compiled kernels in memory if its folder cannot be written.

    CuPy itself would end with an error, or, for a user without a folder, make one named ``~``.
    """
    if os.environ.get(IN_MEMORY):
        return
    folder = os.environ.get(FOLDER, os.path.expanduser("~/.cupy/kernel_cache"))
    try:
        if folder.startswith("~"):
            raise FileNotFoundError("no user folder is known")
        make_folder(Path(folder))
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM))
    except OSError as problem:
        os.environ[IN_MEMORY] = "1"
        # CuPy 14 makes its folder when it is imported, even if it keeps nothing there
        os.environ[FOLDER] = os.path.abspath(os.sep)
        warn_once("CUDA kernels", FOLDER, "" if folder.startswith("~") else folder, problem)
