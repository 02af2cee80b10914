"""Compiled kernels of the CPU space.

A kernel's code depends on the kernel, its argument types, this package's compiler and the
processor; their hash is the name of a file in the cache folder.
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
"""Identity of a kernel, and tags of its arguments."""

_addresses: dict[Key, tuple[Kernel, int]] = {}
_numbers: dict[Key, int] = {}
_waiting: list[tuple[Kernel, tuple[str, ...], CompileJob | None]] = []
"""Kernels that are typed and not yet called; None replaces a kernel that has been called."""

_compiling = threading.RLock()


def compiled(kernel: Kernel, tags: tuple[str, ...]) -> int:
    """Return the address of the chunk callback of `kernel` for arguments of the types `tags`."""
    key = (id(kernel), tags)
    if key not in _addresses:
        with _compiling, late_signals():
            if prepared(kernel, tags) < 0:
                _compile_waiting(_numbers[key])
    return _addresses[key][1]


def prepared(kernel: Kernel, tags: tuple[str, ...]) -> int:
    """Return the address, or a negative number for a kernel to be compiled when it is called.

    Raises
    ------
    KernelTypeError
        If the kernel does not accept such arguments.
    """
    key = (id(kernel), tags)
    if key in _addresses:
        return _addresses[key][1]
    with _compiling, late_signals():
        if key in _addresses:
            return _addresses[key][1]
        if key not in _numbers:
            file = cache_folder.file_of(kernel.name, f"{compiler()} {kernel.fingerprint} {tags}")
            code = cache_folder.read(file)
            if code is not None:
                return _keep(kernel, tags, addresses_in(code, [_stem(file)])[0])
            _waiting.append((kernel, tags, _job(kernel, tags, file)))
            _numbers[key] = -len(_waiting)
        return _numbers[key]


def _compile_waiting(number: int) -> int:
    """Compile the kernel that has a negative number; return its address."""
    with _compiling, late_signals():
        kernel, tags, job = _waiting[-number - 1]
        if job is None:
            return _addresses[id(kernel), tags][1]
        code = helper.queue.taken(job) or _made(job.file, job.text)
        address = _keep(kernel, tags, addresses_in(code, [_stem(job.file)])[0])
        _waiting[-number - 1] = (kernel, tags, None)
        return address


def compile_all() -> None:
    """Compile the kernels of this process's programs that no run has called."""
    for number in range(1, len(_waiting) + 1):
        _compile_waiting(-number)


call_back(COMPILE, _compile_waiting)


def loaded(name: str, text: Callable[[str], str], endings: tuple[str, ...]) -> list[int]:
    """Return the addresses of functions of a module of this package; compile it if it is not
    cached.

    Parameters
    ----------
    name : str
        Name of the module.
    text : callable
        Returns its text for a name, with which the names of its functions begin.
    endings : tuple of str
        Endings of the names of its functions.
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
    """Return the job that compiles a kernel, whose types have been checked.

    The result of the check is cached: a program has kernels that few runs call, and a check of
    their sources in every process would take longer than the partition of a small graph.
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
    """Return the code of a module; another process may be compiling the same module."""
    with cache_folder.claimed(file):
        code = cache_folder.read(file)
        if code is None:
            code = object_code(text())
            cache_folder.write(file, code)
        return code


def _stem(file: str) -> str:
    """Return the name of the functions in a file, or its beginning."""
    return Path(file).stem


@cache
def compiler() -> str:
    """Return everything outside a kernel that its code depends on."""
    return f"{sys.version_info[:2]} {fingerprint()} {compilers_fingerprint()}"
