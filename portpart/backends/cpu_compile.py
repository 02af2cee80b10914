"""Compiled kernels of the CPU space and their cache on disk.

The text of a kernel's module is a function of the kernel and its argument types; its hash names a
file in the cache folder, which is written once and never changed, so Numba's own cache beside it
stays valid.  The folder is ``$PORTPART_CACHE_DIR`` or ``portpart`` in the user's cache folder.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba

from portpart.backends.cpu_ahead import compile_ahead, load
from portpart.backends.cpu_source import module_source
from portpart.backends.language import Kernel
from portpart.backends.result_types import type_of
from portpart.backends.type_rules import infer

_functions: dict[tuple[int, tuple[str, ...]], tuple[Kernel, Any]] = {}
_compiling = threading.RLock()


def compiled(kernel: Kernel, tags: tuple[str, ...]) -> int:
    """Address of the chunk callback of `kernel` for arguments of the types `tags`."""
    key = (id(kernel), tags)
    if key not in _functions:
        with _compiling:
            if key not in _functions:
                _functions[key] = (kernel, load(_written(kernel, tags)).chunk)
    return int(_functions[key][1].address)


def compile_together(keys: Iterable[tuple[Kernel, tuple[str, ...]]]) -> None:
    """Compile many kernels, in several processes if they are not in the cache."""
    with _compiling:
        compile_ahead([_written(kernel, tags) for kernel, tags in keys
                       if (id(kernel), tags) not in _functions])


@cache
def _written(kernel: Kernel, tags: tuple[str, ...]) -> Path:
    """The file that holds the text of `kernel` for these types."""
    infer(kernel, tuple(map(type_of, tags)))  # what CUDA would refuse is refused here too
    text = module_source(kernel, tags)
    digest = hashlib.sha256((_versions() + text).encode()).hexdigest()[:24]
    name = f"portpart_{kernel.name}_{digest}"
    path = cache_folder() / f"{name}.py"
    if not path.exists():
        _write(path, text)
    return path


def _write(path: Path, text: str) -> None:
    """Write under another name, then rename: a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(temporary, path)


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels; a temporary one if that cannot be written."""
    base = os.environ.get("PORTPART_CACHE_DIR")
    folder = (Path(base) if base else _user_cache() / "portpart").absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as problem:
        warnings.warn(
            f"compiled kernels cannot be kept in {folder} ({problem.strerror}), so every process "
            "compiles them anew; PORTPART_CACHE_DIR names another folder", stacklevel=2)
        folder = Path(tempfile.mkdtemp(prefix="portpart-"))
        atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    """Remove a temporary folder when its process ends; forks of the process only share it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def numba_cache(source: str) -> Iterator[None]:
    """Let Numba keep in our folder what the file `source` declares meanwhile.

    By itself it keeps code beside the file, where an installation may not be written, and knows
    it by the file's time and size, which two versions may share.  A choice of the user's stands.
    """
    before = numba.config.CACHE_DIR
    digest = hashlib.sha256((_versions() + Path(source).read_text()).encode()).hexdigest()[:24]
    numba.config.CACHE_DIR = before or str(cache_folder() / f"{Path(source).stem}_{digest}")
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()))
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


@cache
def _versions() -> str:
    """Everything outside the text that the compiled code depends on."""
    words = Path(__file__).with_name("cpu_words.py").read_text()
    return f"{numba.__version__} {sys.version_info[:2]} {words}"
