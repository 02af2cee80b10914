"""Compiling the kernels of a program in several processes, into the cache on disk.

Numba compiles under one lock, so threads are of no use.  Other processes are given some of the
files that stand for kernels (`cpu_compile`); what they compile, this process finds in the cache.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

SHARE = 3
"""Missing kernels for each process at least: to start one takes half a second."""

MOST_PROCESSES = 4


def compile_ahead(files: Sequence[Path]) -> None:
    """Compile what is not in the cache yet, if it is much; wait until all is done.

    Where no other process can be started, or one fails, kernels compile when they are loaded.
    """
    missing = without_code(list(dict.fromkeys(files)))
    count = min(MOST_PROCESSES, _processors(), len(missing) // SHARE)
    if count < 2 or not Path(sys.executable or "").stem.startswith("python"):
        return
    own, *others = (missing[start::count] for start in range(count))
    processes = [process for files in others if (process := _started(files)) is not None]
    try:
        for file in own:
            load(file)
        for process in processes:
            process.wait()
    except BaseException:
        for process in processes:
            process.terminate()
        raise


def without_code(files: list[Path]) -> list[Path]:
    """Those `files` that Numba has no compiled code for, of this Python version."""
    return [file for file in files if file.stem not in _names_with_code(file.parent)]


@cache
def _names_with_code(folder: Path) -> set[str]:
    """What this process has found compiled when it first looked."""
    ending = f".py{sys.version_info[0]}{sys.version_info[1]}.nbi"
    compiled = folder / "__pycache__"
    names = os.listdir(compiled) if compiled.exists() else []
    return {name.partition(".chunk-")[0] for name in names if name.endswith(ending)}


def load(file: Path) -> ModuleType:
    """Import the module of a kernel and compile it, or take it from the cache."""
    if file.stem not in sys.modules:
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
    return sys.modules[file.stem]


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _started(files: Sequence[Path]) -> subprocess.Popen[bytes] | None:
    command = [sys.executable, "-m", __name__, *map(str, files)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return None


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        load(Path(argument))
