"""Kernels of the CUDA space: translated, compiled in modules, loaded."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from portpart.backends.cuda.modules import Code, Modules
from portpart.backends.cuda.names import NameTable
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.cuda.translate import DIRECT, PACKED, Translation, translate
from portpart.backends.cuda.words import CUDA_PRELUDE
from portpart.backends.language import Kernel
from portpart.backends.language.team_arrays import BLOCK
from portpart.backends.language.types import type_of

WORTH_BETTER = 1 << 19
"""Work items of a program from which its better code pays: some seconds' work for a core."""

Key = tuple[Kernel, tuple[str, ...], int]
"""A kernel, the tags of its arguments, the width of its team."""


def blocks_for(items: int, team: int, limit: int) -> int:
    """Blocks of a launch over `items` work items, at least one and at most `limit`."""
    return max(1, min(limit, -(-items * team // BLOCK)))


class KernelCache:
    """Compiled kernels of a device by key; safe to use from several threads."""

    def __init__(self, cupy: ModuleType, device: int) -> None:
        self.cupy = cupy
        self.modules = Modules(int(cupy.cuda.Device(device).compute_capability), cupy.__version__)
        self._functions: dict[tuple[Key, str], Any] = {}
        self._lock = threading.RLock()

    def direct(self, kernel: Kernel, tags: tuple[str, ...], team: int) -> Any:
        """The entry point that takes the work size and the arguments as parameters."""
        key = (kernel, tags, team)
        with self._lock:
            if (key, DIRECT) not in self._functions:
                module = loaded(self.cupy, ask_direct(self.modules, key).wait())
                self._functions[key, DIRECT] = module.get_function(direct_symbol(kernel))
            return self._functions[key, DIRECT]

    def packed(self, keys: Iterable[Key]) -> list[Any]:
        """The entry points that take a row in memory; what is missing is compiled together."""
        keys = list(keys)
        with self._lock:
            missing = [key for key in dict.fromkeys(keys) if (key, PACKED) not in self._functions]
            if missing:
                texts = [translated(key, PACKED) for key in missing]
                text = module_text(texts)
                module = loaded(self.cupy, self.modules.ask(text, lambda: text).wait())
                for key, translation in zip(missing, texts, strict=True):
                    function = module.get_function(translation.packed_symbol)
                    self._functions[key, PACKED] = function
            return [self._functions[key, PACKED] for key in keys]

    def resident(self, text: ProgramText) -> ResidentKernel:
        """The kernel of a resident program."""
        return ResidentKernel(self.cupy, ask_resident(self.modules, text), text.symbol)


class ResidentKernel:
    """The kernel of a resident program, which may be replaced by a better one.

    Attributes
    ----------
    function : cupy.cuda.Function
        The one to launch now.
    """

    def __init__(self, cupy: ModuleType, code: Code, symbol: str) -> None:
        self._cupy, self._code, self._symbol = cupy, code, symbol
        self.function = self._function_in(code.wait())
        self._better: Any = None
        self._left = WORTH_BETTER
        self.is_best = code.is_best

    def used(self, size: int) -> bool:
        """Count a run over so many work items; whether there is another function now."""
        if self._better is None:
            self._left -= size
            if self._left > 0:
                return False
            self._better = self._code.improve()
        if not self._better.done():
            return False
        self.function = self._function_in(self._better.result())
        self.is_best = True
        return True

    def _function_in(self, code: bytes) -> Any:
        return loaded(self._cupy, code).get_function(self._symbol)


def loaded(cupy: ModuleType, code: bytes) -> Any:
    """The module on the current device; it stays as long as one of its functions."""
    module = cupy.cuda.Module()
    module.load(code)
    return module


def translated(key: Key, entry: str) -> Translation:
    """The text of a kernel with one entry point."""
    kernel, tags, team = key
    return translate(kernel, tuple(map(type_of, tags)), team, (entry,))


def ask_direct(modules: Modules, key: Key) -> Code:
    """Have a kernel compiled that is launched from Python."""
    kernel, tags, team = key

    def text() -> str:
        found = translated(key, DIRECT)
        return CUDA_PRELUDE + found.text.replace(found.symbol, direct_symbol(kernel))

    return modules.ask(f"{kernel.fingerprint} {tags} {team}", text)


def direct_symbol(kernel: Kernel) -> str:
    """Name of a kernel that is alone in its module."""
    return NameTable()(kernel.name)


def ask_resident(modules: Modules, text: ProgramText) -> Code:
    """Have the kernel of a resident program compiled."""
    return modules.ask(text.words, lambda: CUDA_PRELUDE + text.write())


def module_text(translations: Iterable[Translation]) -> str:
    """One translation unit with each of `translations` once."""
    texts = dict.fromkeys(translation.text for translation in translations)
    return "\n".join([CUDA_PRELUDE, *texts])
