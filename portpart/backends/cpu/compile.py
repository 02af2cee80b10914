"""Compiled kernels of the CPU space.

A kernel's code is a function of the kernel, its argument types, this package's compiler and the
processor; their hash names a file in the cache folder.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from portpart.backends import cache_folder
from portpart.backends.cpu.code import addresses_in, fingerprint, object_code
from portpart.backends.interrupts import late_interrupts
from portpart.backends.language import Kernel
from portpart.backends.language.fingerprint import of_the_compilers

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
    def text(name: str) -> str:
        from portpart.backends.cpu.module import module_text
        from portpart.backends.language.infer import infer
        from portpart.backends.language.types import type_of

        return module_text(infer(kernel, tuple(map(type_of, tags))), name)

    return loaded(kernel.name, f"{kernel.fingerprint} {tags}", text, ("",))[0]


def loaded(name: str, words: str, text: Callable[[str], str],
           endings: tuple[str, ...]) -> list[int]:
    """Addresses of the functions of a module, compiled if it is not in the cache.

    Parameters
    ----------
    name : str
        What the module is called.
    words : str
        What its code depends on, besides this package's compiler and the processor.
    text : callable
        Gives its text for the name by which its functions begin.
    endings : tuple of str
        How the names of its functions end.
    """
    file = cache_folder.file_of(name, f"{compiler()} {words}")
    stem = Path(file).stem
    code = cache_folder.read(file)
    if code is None:
        code = object_code(text(stem))
        cache_folder.write(file, code)
    return addresses_in(code, [stem + ending for ending in endings])


@cache
def compiler() -> str:
    """Everything outside a kernel that its code depends on."""
    return f"{sys.version_info[:2]} {fingerprint()} {of_the_compilers()}"
