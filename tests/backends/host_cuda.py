"""A space for tests: kernels run as their generated CUDA C++, compiled by the host's compiler.

One thread, teams of one lane, NumPy arrays.  What runs here is the text that a GPU would get, so
every algorithm test can exercise the CUDA translator on a machine without a GPU.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from portpart.backends.cuda_compile import Key
from portpart.backends.host_words import HOST_PRELUDE
from portpart.backends.interface import Array, Executable, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.packing import Table, address_of, tag_of, word_of
from portpart.backends.program import Branch, Element, Launch, Program, Step, While
from portpart.backends.result_types import type_of
from portpart.backends.translate import PACKED, Translation, translate

COMPILER = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
FLAGS = ("-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-shared", "-fPIC")

NO_COMPILER = "no C++ compiler found (looked for g++, clang++, c++)"

_entries: dict[str, Any] = {}
"""Compiled entry points by symbol; the symbol holds a digest of the text."""


seen: dict[Key, None] = {}
"""Every kernel that was asked for, with types and width, so that NVRTC can be given them too."""


def translated(kernel: Kernel, arguments: Iterable[Any], team: int) -> Translation:
    """The text of `kernel` for launch arguments or slots of a program."""
    tags = tuple(map(tag_of, arguments))
    seen[kernel, tags, team] = None
    return translate(kernel, tuple(map(type_of, tags)), team, (PACKED,))


def compile_all(translations: Iterable[Translation]) -> None:
    """Compile what is not compiled yet, all in one run of the compiler."""
    missing = {t.symbol: t for t in translations if t.symbol not in _entries}
    if not missing:
        return
    library = ctypes.CDLL(str(_library("\n".join(t.text for t in missing.values()))))
    for translation in missing.values():
        entry = getattr(library, translation.packed_symbol)
        entry.argtypes, entry.restype = [ctypes.c_void_p], None
        _entries[translation.symbol] = entry


def _library(text: str) -> Path:
    assert COMPILER is not None, NO_COMPILER
    source = HOST_PRELUDE + text
    digest = hashlib.sha256(f"{COMPILER}{FLAGS}{source}".encode()).hexdigest()[:24]
    folder = Path(os.environ.get("PORTPART_TEST_CACHE", tempfile.gettempdir())) / "portpart-host"
    library = folder / f"{digest}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            written, built = Path(scratch, "kernels.cpp"), Path(scratch, "kernels.so")
            written.write_text(source)
            command = [COMPILER, *FLAGS, str(written), "-o", str(built)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{done.stderr}\n{source}")
            os.replace(built, library)
    return library


class HostCudaSpace(ExecutionSpace):
    """Generated CUDA C++ on one thread of the host."""

    kind = "cpu"
    widest_team = 1
    name = "host-cuda"

    def empty(self, n: int, dtype: Any) -> Array:
        return np.empty(n, dtype)

    def full(self, n: int, value: Any, dtype: Any) -> Array:
        return np.full(n, value, dtype)

    def asarray(self, values: Any, dtype: Any = None) -> Array:
        return np.ascontiguousarray(values, dtype)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def owns(self, array: Any) -> bool:
        return isinstance(array, np.ndarray)

    def synchronize(self) -> None:
        """Every launch has finished when it returns."""

    def sort_keys(self, keys: Array) -> tuple[Array, Array]:
        from portpart.primitives.sort import radix_sort_keys

        return radix_sort_keys(self, keys)

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        if n <= 0:
            return
        translation = translated(kernel, args, team)
        compile_all([translation])
        row = np.array([0, *map(word_of, args), n], np.int64)
        row[0] = address_of(row) + 8 * (len(row) - 1)
        self.counters.launches += 1
        _entries[translation.symbol](address_of(row))

    def executable(self, program: Program) -> Executable:
        return HostCudaExecutable(self, program)


class HostCudaExecutable:
    """A program walked step by step."""

    def __init__(self, space: HostCudaSpace, program: Program) -> None:
        self.space = space
        self.steps = program.steps
        self.table = Table(program.slots)
        self.rows: dict[int, tuple[Any, int]] = {}
        launches = program.launches()
        translations = [translated(step.kernel, step.args, step.team) for step in launches]
        compile_all(translations)
        for step, translation in zip(launches, translations, strict=True):
            self.rows[id(step)] = _entries[translation.symbol], self.table.add_row(step)

    def run(self, bindings: dict[str, Any], size: int) -> None:
        """Run with `bindings`."""
        words = np.zeros(max(1, len(self.table)), np.int64)
        words[: len(self.table)] = self.table.fill(bindings, address_of(words))
        self.space.counters.launches += 1
        self._walk(self.steps, bindings, address_of(words))

    def _walk(self, steps: list[Step], bindings: dict[str, Any], base: int) -> None:
        for step in steps:
            if isinstance(step, Launch):
                entry, row = self.rows[id(step)]
                entry(base + 8 * row)
            elif isinstance(step, While):
                while _is_set(step.flag, bindings):
                    self._walk(step.steps, bindings, base)
            elif isinstance(step, Branch):
                side = step.then if _is_set(step.flag, bindings) else step.orelse
                self._walk(side, bindings, base)


def _is_set(flag: Element, bindings: dict[str, Any]) -> bool:
    return bool(bindings[flag.slot.name][flag.index] != 0)
