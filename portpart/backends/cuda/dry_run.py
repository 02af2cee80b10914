"""A call without a device: nothing runs, but all code that would run is requested.

A call that needs ten modules waits for ten compilers in sequence, because each module is requested
when the previous one has run. A dry run requests all of them first, and they are compiled in
parallel. Arrays are in host memory and full of zeros that never change; if a size is read from one,
`ExecutionSpace.read` guesses it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.cuda.compile import Key, keys_of, request_resident, request_together
from portpart.backends.cuda.modules import Modules
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.cuda.segments import segments_of
from portpart.backends.cuda.translate import DIRECT, PACKED
from portpart.backends.cuda.workers import NOW, WRITING
from portpart.backends.language import Kernel
from portpart.backends.language.fingerprint import compilers_fingerprint
from portpart.backends.language.team_arrays import BLOCK
from portpart.backends.programs import Array, Bound, Executable, ExecutionSpace, Program, tag_of
from portpart.base import cache_folder

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike



class DryRunSpace(ExecutionSpace):
    """A CUDA space that has only the compiler.

    Parameters
    ----------
    modules : Modules
        The source of code.
    """

    kind = "cuda"
    widest_team = BLOCK
    name = "dry_run"
    is_dry_run = True
    runs_behind = True

    def __init__(self, modules: Modules) -> None:
        super().__init__()
        self.modules = modules
        self._needed: dict[str, dict[Key, None]] = {DIRECT: {}, PACKED: {}}

    def request(self) -> None:
        """Request the kernels that were used since the last request."""
        for entry, keys in self._needed.items():
            request_together(self.modules, list(keys), entry, quick=entry == PACKED)
            keys.clear()

    def empty(self, n: int, dtype: DTypeLike) -> Array:
        return np.zeros(n, dtype)  # unused pages need no memory

    def full(self, n: int, value: float, dtype: DTypeLike) -> Array:
        return np.full(n, value, dtype) if value else np.zeros(n, dtype)

    def asarray(self, values: ArrayLike | None, dtype: DTypeLike | None = None) -> Array:
        return np.ascontiguousarray(values, dtype)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def read(self, array: Array, expected_size: Callable[[], list[int]]) -> list[int]:
        return expected_size()

    def read_all(self, array: Array, expected: int) -> np.ndarray:
        return np.full(len(array), expected)

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""

    def library_sort(self, keys: Array) -> Array:
        return np.zeros(len(keys), np.int64)

    def library_sort_in_place(self, keys: Array) -> bool:
        return True

    def parallel_for(self, n: int, kernel: Kernel, *args: Bound, team: int = 1) -> None:
        key = (kernel, tuple(map(tag_of, kernel.flattened(args))), team)
        self._needed[DIRECT][key] = None

    def executable(self, program: Program) -> Executable:
        for segment in segments_of(program):
            text = ProgramText(segment)
            if not self.modules.quick or self.modules.kept(text.words) is not None:
                request_resident(self.modules, text)
            else:
                self._needed[PACKED].update(dict.fromkeys(keys_of(segment)))
        return _Unrun()


class _Unrun:
    """A program that is never run."""

    def run(self, bindings: Mapping[str, Bound], size: int, sizes: Any = None) -> None:
        """Do nothing."""


class CudaDryRuns:
    """The calls of which a dry run was made, once for all processes that share a cache folder."""

    def __init__(self, modules: Modules) -> None:
        self.space = DryRunSpace(modules)
        self._done: set[str] = set()
        self._lock = threading.Lock()

    def once(self, kind: str, call: Callable[[ExecutionSpace], None]) -> None:
        """Make a dry run of a call, unless one of this kind was made.

        A dry run only saves time: if one fails, code is compiled when it is used.
        """
        if kind in self._done:
            return
        with self._lock:
            if kind not in self._done:
                self._done.add(kind)
                note = self._note(kind)
                if cache_folder.read(note) is None:
                    with suppress(Exception), cache_folder.postponed() as found:
                        call(self.space)
                    self.space.request()
                    WRITING.submit(lambda: cache_folder.write_all(found))
                    WRITING.submit(lambda: NOW.submit(  # the last
                        lambda: cache_folder.write(note, kind.encode())))

    def _note(self, kind: str) -> str:
        modules = self.space.modules
        words = f"{modules.compiler} {compilers_fingerprint()} {kind}"
        return cache_folder.file_of(f"rehearsed_sm_{modules.capability}", words)
