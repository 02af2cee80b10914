"""Kernels of the CUDA space: translated, compiled in modules, and loaded."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from portpart.backends.cuda.declarations import NameTable
from portpart.backends.cuda.modules import Code, Modules
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.cuda.translate import DIRECT, PACKED, Translation, packed_name, translate
from portpart.backends.cuda.words import CUDA_PRELUDE
from portpart.backends.language import Kernel
from portpart.backends.language.team_arrays import block_of
from portpart.backends.language.types import type_of
from portpart.backends.programs import Program, tag_of

if TYPE_CHECKING:
    from cupy.cuda import Function, Module

WORTH_RESIDENT = 1 << 15
"""Number of launches from Python after which a program's resident kernel is worth compiling: a
quarter of a second.
"""

Key = tuple[Kernel, tuple[str, ...], int]
"""A kernel, the tags of its arguments, and the width of its team."""


def blocks_for(items: int, team: int, limit: int) -> int:
    """Return the number of blocks for `items` work items, at least one and at most `limit`."""
    return max(1, min(limit, -(-items * team // block_of(team))))


class KernelCache:
    """Compiled kernels of a device, by key. Thread-safe."""

    def __init__(self, cupy: ModuleType, device: int) -> None:
        self.cupy = cupy
        self.modules = Modules(int(cupy.cuda.Device(device).compute_capability), cupy.__version__)
        self._functions: dict[tuple[Key, str], Function] = {}
        self._loaded: dict[bytes, Module] = {}
        self._lock = threading.RLock()

    def direct(self, kernel: Kernel, tags: tuple[str, ...], team: int) -> Function:
        """Return the entry point whose parameters are the work size and the arguments."""
        return self._function((kernel, tags, team), DIRECT, quick=False)

    def packed(self, program: Program, quick: bool) -> dict[int, Function]:
        """Return entry points that read a row from memory, by the identities of a program's
        launches.
        """
        keys = keys_of(program)
        request_together(self.modules, keys, PACKED, quick)
        return {id(step): self._function(key, PACKED, quick)
                for step, key in zip(program.launches(), keys, strict=True)}

    def request_packed(self, programs: Sequence[Program], quick: bool) -> None:
        """Start to compile the kernels of several programs in parallel, for `packed`."""
        keys = dict.fromkeys(key for program in programs for key in keys_of(program))
        request_together(self.modules, list(keys), PACKED, quick)

    def resident(self, text: ProgramText, waits: bool,
                 walked: Walked | None = None) -> ResidentKernel:
        """Return the kernel of a resident program."""
        return ResidentKernel(self.cupy, self.modules, text, waits, walked)

    def _function(self, key: Key, entry: str, quick: bool) -> Function:
        with self._lock:
            if (key, entry) not in self._functions:
                code = request(self.modules, key, entry, quick).wait()
                if code not in self._loaded:
                    self._loaded[code] = loaded(self.cupy, code)
                function = self._loaded[code].get_function(symbol_of(key, entry))
                self._functions[key, entry] = function
            return self._functions[key, entry]


class Walked:
    """Number of launches from Python before resident kernels are compiled."""

    def __init__(self) -> None:
        self.left = WORTH_RESIDENT


class ResidentKernel:
    """The kernel of a resident program, compiled in the background when that is worth it.

    Parameters
    ----------
    cupy : module
    modules : Modules
    text : ProgramText
    waits : bool
        Whether the program must wait for the kernel.
    walked : Walked, optional
        Counts the launches of several programs that run in turn.
    """

    def __init__(self, cupy: ModuleType, modules: Modules, text: ProgramText,
                 waits: bool = False, walked: Walked | None = None) -> None:
        self._cupy, self._modules, self._text = cupy, modules, text
        self._waits = waits or not modules.quick
        self._code = modules.kept(text.words)
        self._walked = walked or Walked()
        self._function: Function | None = None

    @property
    def is_kept(self) -> bool:
        """Whether its code is available, or has been requested."""
        return self._code is not None

    def request(self) -> None:
        """Request the kernel if the program must wait for it."""
        if self._code is None and self._waits:
            self._code = request_resident(self._modules, self._text)

    def walked(self, launches: int) -> None:
        """Count a run without the kernel."""
        self._walked.left -= launches

    def ready(self) -> Function:
        """Return the function, or None while it is not available."""
        if self._function is None:
            if self._code is None and (self._waits or self._walked.left <= 0):
                self._code = request_resident(self._modules, self._text)
            if self._code is not None and (self._waits or self._code.is_there):
                module = loaded(self._cupy, self._code.wait())
                self._function = module.get_function(self._text.symbol)
        return self._function


def loaded(cupy: ModuleType, code: bytes) -> Any:
    """Return the module on the current device; it exists as long as one of its functions."""
    module = cupy.cuda.Module()
    module.load(code)
    return module


def translated(key: Key, entry: str) -> Translation:
    """Return the text of a kernel with one entry point."""
    kernel, tags, team = key
    return translate(kernel, tuple(map(type_of, tags)), team, (entry,))


def keys_of(program: Program) -> list[Key]:
    """Return the keys of the kernels of a program's launches."""
    return [(step.kernel, tuple(map(tag_of, step.args)), step.team) for step in program.launches()]


def request(modules: Modules, key: Key, entry: str, quick: bool = False) -> Code:
    """Request a kernel, to be launched from Python or for programs that are not resident."""
    return modules.request(_words(key, entry), lambda: CUDA_PRELUDE + _text(key, entry), quick)


def request_together(modules: Modules, keys: list[Key], entry: str, quick: bool) -> None:
    """Request kernels, several per module."""
    parts = ((_words(key, entry), partial(_text, key, entry)) for key in keys)
    modules.request_together(parts, CUDA_PRELUDE, quick)


def request_resident(modules: Modules, text: ProgramText) -> Code:
    """Request the kernel of a resident program, compiled during other work if possible."""
    return modules.request(text.words, lambda: CUDA_PRELUDE + text.write(), later=modules.quick)


def symbol_of(key: Key, entry: str) -> str:
    """Return the name of an entry point, which is unique to the kernel."""
    own = _own_name(key, entry)
    return own if entry == DIRECT else packed_name(own)


def _own_name(key: Key, entry: str) -> str:
    digest = hashlib.sha256(_words(key, entry).encode()).hexdigest()[:16]
    return f"{NameTable()(key[0].name)}_{digest}"


def _words(key: Key, entry: str) -> str:
    kernel, tags, team = key
    return f"{entry} {kernel.fingerprint} {tags} {team}"


def _text(key: Key, entry: str) -> str:
    found = translated(key, entry)
    return found.text.replace(found.symbol, _own_name(key, entry))
