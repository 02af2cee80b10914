"""Compiled kernels of the CPU space and their cache on disk.

A kernel's code is a function of the kernel, its argument types, this package's compiler and the
processor; their hash names a file in the cache folder, which is written once and never changed.
The folder is ``$PORTPART_CACHE_DIR`` or ``portpart`` in the user's cache folder.
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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numba

from portpart.backends.cpu_code import address_in, fingerprint, object_code
from portpart.backends.cpu_module import module_text
from portpart.backends.language import Kernel
from portpart.backends.result_types import type_of
from portpart.backends.type_rules import infer

_addresses: dict[tuple[int, tuple[str, ...]], tuple[Kernel, int]] = {}
_compiling = threading.RLock()


def compiled(kernel: Kernel, tags: tuple[str, ...]) -> int:
    """Address of the chunk callback of `kernel` for arguments of the types `tags`."""
    key = (id(kernel), tags)
    if key not in _addresses:
        with _compiling:
            if key not in _addresses:
                _addresses[key] = (kernel, _loaded(kernel, tags))
    return _addresses[key][1]


def _loaded(kernel: Kernel, tags: tuple[str, ...]) -> int:
    words = f"{_compiler()} {kernel.fingerprint} {tags}"
    name = f"{kernel.name}_{hashlib.sha256(words.encode()).hexdigest()[:24]}"
    path = cache_folder() / f"{name}.kernel"
    code = _read(path)
    if code is None:
        code = object_code(module_text(infer(kernel, tuple(map(type_of, tags))), name))
        _write(path, code)
    return address_in(code, name)


def _read(path: Path) -> bytes | None:
    """The code in a file, None if there is none that is whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    code = content[_CHECK:]
    return code if hashlib.sha256(code).digest() == content[:_CHECK] else None


def _write(path: Path, code: bytes) -> None:
    """Write under another name, then rename: a reader never sees half a file.

    Without room on the disk the code is used all the same, and compiled again next time.
    """
    with suppress(OSError):
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)


_CHECK = hashlib.sha256().digest_size
"""Bytes before the code, which tell whether it is whole."""


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
    digest = hashlib.sha256((_compiler() + Path(source).read_text()).encode()).hexdigest()[:24]
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
def _compiler() -> str:
    """Everything outside a kernel that its code depends on."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return f"{numba.__version__} {sys.version_info[:2]} {fingerprint()} {digest.hexdigest()}"
