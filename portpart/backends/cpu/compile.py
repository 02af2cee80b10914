"""Compiled kernels of the CPU space.

A kernel's code is a function of the kernel, its argument types, this package's compiler and the
processor; their hash names a file in the cache folder.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from functools import cache
from pathlib import Path

import numba

from portpart.backends import cache_folder
from portpart.backends.cpu.code import address_in, fingerprint, object_code
from portpart.backends.cpu.module import module_text
from portpart.backends.interrupts import late_interrupts
from portpart.backends.language import Kernel
from portpart.backends.language.infer import infer
from portpart.backends.language.types import type_of

_addresses: dict[tuple[int, tuple[str, ...]], tuple[Kernel, int]] = {}
_compiling = threading.RLock()


def compiled(kernel: Kernel, tags: tuple[str, ...]) -> int:
    """Address of the chunk callback of `kernel` for arguments of the types `tags`."""
    key = (id(kernel), tags)
    if key not in _addresses:
        with _compiling:
            if key not in _addresses:
                with late_interrupts():
                    _addresses[key] = (kernel, _loaded(kernel, tags))
    return _addresses[key][1]


def _loaded(kernel: Kernel, tags: tuple[str, ...]) -> int:
    file = cache_folder.file_of(kernel.name, f"{compiler()} {kernel.fingerprint} {tags}")
    name = Path(file).stem
    code = cache_folder.read(file)
    if code is None:
        code = object_code(module_text(infer(kernel, tuple(map(type_of, tags))), name))
        cache_folder.write(file, code)
    return address_in(code, name)


@cache
def compiler() -> str:
    """Everything outside a kernel that its code depends on."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return f"{numba.__version__} {sys.version_info[:2]} {fingerprint()} {digest.hexdigest()}"
