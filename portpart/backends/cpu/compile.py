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

from portpart.backends.cpu import helper
from portpart.backends.cpu.code import addresses_in, fingerprint, object_code
from portpart.backends.cpu.driver_module import COMPILE, call_back
from portpart.backends.cpu.helper import CompileJob
from portpart.backends.language import Kernel
from portpart.backends.language.fingerprint import compilers_fingerprint
from portpart.backends.language.kernels import TypedFunction
from portpart.base import cache_folder
from portpart.base.interrupts import late_signals

Key = tuple[int, tuple[str, ...]]
"""Identity of a kernel, tags of its arguments."""

_addresses: dict[Key, tuple[Kernel, int]] = {}
_numbers: dict[Key, int] = {}
_waiting: list[tuple[Kernel, tuple[str, ...], CompileJob | None]] = []
"""Kernels that are typed and not called yet; once called they have None there."""

_compiling = threading.RLock()


def compiled(kernel: Kernel, tags: tuple[str, ...]) -> int:
    """Address of the chunk callback of `kernel` for arguments of the types `tags`."""
    key = (id(kernel), tags)
    if key not in _addresses:
        with _compiling, late_signals():
            if prepared(kernel, tags) < 0:
                _compile_waiting(_numbers[key])
    return _addresses[key][1]


def prepared(kernel: Kernel, tags: tuple[str, ...]) -> int:
    """The same, or a negative number if it has to be compiled when it is called.

    Raises
    ------
    KernelTypeError
        If the kernel does not take such arguments.
    """
    key = (id(kernel), tags)
    if key in _addresses:
        return _addresses[key][1]
    with _compiling, late_signals():
        if key in _addresses:
            return _addresses[key][1]
        if key not in _numbers:
            file = _file_of(kernel, tags)
            code = cache_folder.read(file)
            if code is not None:
                return _keep(kernel, tags, addresses_in(code, [_stem(file)])[0])
            _waiting.append((kernel, tags, _job(kernel, tags, file)))
            _numbers[key] = -len(_waiting)
        return _numbers[key]


def _compile_waiting(number: int) -> int:
    """Compile the kernel that has a negative number; returns its address."""
    with _compiling, late_signals():
        kernel, tags, job = _waiting[-number - 1]
        if job is None:
            return _addresses[id(kernel), tags][1]
        code = helper.queue.taken(job) or _made(job.file, job.text)
        address = _keep(kernel, tags, addresses_in(code, [_stem(job.file)])[0])
        _waiting[-number - 1] = (kernel, tags, None)
        return address


def compile_all() -> None:
    """Compile what programs of this process have and no run has called."""
    for number in range(1, len(_waiting) + 1):
        _compile_waiting(-number)


call_back(COMPILE, _compile_waiting)


def loaded(name: str, text: Callable[[str], str], endings: tuple[str, ...]) -> list[int]:
    """Addresses of the functions of a module of this package, compiled if it is not in the cache.

    Parameters
    ----------
    name : str
        What the module is called.
    text : callable
        Gives its text for the name by which its functions begin.
    endings : tuple of str
        How the names of its functions end.
    """
    file = cache_folder.file_of(name, compiler())
    code = cache_folder.read(file)
    if code is None:
        code = _made(file, lambda: text(_stem(file)))
    return addresses_in(code, [_stem(file) + ending for ending in endings])


def _keep(kernel: Kernel, tags: tuple[str, ...], address: int) -> int:
    _addresses[id(kernel), tags] = (kernel, address)
    return address


def _job(kernel: Kernel, tags: tuple[str, ...], file: str) -> CompileJob:
    """What compiles a kernel, whose types fit.

    That they do is kept, too: a program has kernels that few runs call, and to examine the source
    of those in every process would take longer than a small partition.
    """
    known = cache_folder.file_of(kernel.name, f"fits {file}")
    if cache_folder.read(known) is not None:
        return CompileJob(file, lambda: _text(_typed(kernel, tags), file))
    typed = _typed(kernel, tags)
    cache_folder.write(known, b"")
    job = CompileJob(file, lambda: _text(typed, file))
    helper.queue.offer(job, sum(len(each.types) for each in (typed, *typed.devices)))
    return job


def _typed(kernel: Kernel, tags: tuple[str, ...]) -> TypedFunction:
    from portpart.backends.language.infer import infer
    from portpart.backends.language.types import type_of

    return infer(kernel, tuple(map(type_of, tags)))


def _text(typed: TypedFunction, file: str) -> str:
    from portpart.backends.cpu.module import module_text

    return module_text(typed, _stem(file))


def _made(file: str, text: Callable[[], str]) -> bytes:
    """The code of a module, of which another process may just make the same."""
    with cache_folder.claimed(file):
        code = cache_folder.read(file)
        if code is None:
            code = object_code(text())
            cache_folder.write(file, code)
        return code


def _file_of(kernel: Kernel, tags: tuple[str, ...]) -> str:
    return cache_folder.file_of(kernel.name, f"{compiler()} {kernel.fingerprint} {tags}")


def _stem(file: str) -> str:
    """What the functions in a file are called, or how their names begin."""
    return Path(file).stem


@cache
def compiler() -> str:
    """Everything outside a kernel that its code depends on."""
    return f"{sys.version_info[:2]} {fingerprint()} {compilers_fingerprint()}"
