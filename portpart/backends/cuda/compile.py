"""Kernels of the CUDA space: translated, compiled in batches, kept.

NVRTC costs some tenths of a second for any module, so a program compiles all its missing kernels as
one.  CuPy caches compiled modules on disk by their source (``CUPY_CACHE_DIR``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from portpart.backends.cuda.translate import DIRECT, PACKED, Translation, translate
from portpart.backends.cuda.words import CUDA_PRELUDE
from portpart.backends.language import Kernel
from portpart.backends.language.team_arrays import BLOCK
from portpart.backends.language.types import type_of

OPTIONS = ("--fmad=false", "-std=c++17")
"""No fused multiply-add: floating-point results must be those of the CPU."""

Key = tuple[Kernel, tuple[str, ...], int]
"""A kernel, the tags of its arguments, the width of its team."""


def blocks_for(items: int, team: int, limit: int) -> int:
    """Blocks of a launch over `items` work items, at least one and at most `limit`."""
    return max(1, min(limit, -(-items * team // BLOCK)))


class KernelCache:
    """Compiled kernels by key; safe to use from several threads."""

    def __init__(self, cupy: ModuleType) -> None:
        self.cupy = cupy
        self._functions: dict[tuple[Key, str], Any] = {}
        self._residents: dict[str, Any] = {}
        self._lock = threading.RLock()

    def direct(self, kernel: Kernel, tags: tuple[str, ...], team: int) -> Any:
        """The entry point that takes the work size and the arguments as parameters."""
        key = (kernel, tags, team)
        if (key, DIRECT) not in self._functions:
            self._compile([key], DIRECT)
        return self._functions[key, DIRECT]

    def packed(self, keys: Iterable[Key]) -> list[Any]:
        """The entry points that take a row in memory; what is missing is compiled together."""
        keys = list(keys)
        self._compile(keys, PACKED)
        return [self._functions[key, PACKED] for key in keys]

    def resident(self, text: str, symbol: str) -> Any:
        """The kernel of a resident program."""
        with self._lock:
            if symbol not in self._residents:
                module = self.cupy.RawModule(code=CUDA_PRELUDE + text, options=OPTIONS)
                self._residents[symbol] = module.get_function(symbol)
            return self._residents[symbol]

    def _compile(self, keys: list[Key], entry: str) -> None:
        with self._lock:
            missing = [key for key in dict.fromkeys(keys) if (key, entry) not in self._functions]
            if not missing:
                return
            translations = [
                translate(kernel, tuple(map(type_of, tags)), team, (entry,))
                for kernel, tags, team in missing
            ]
            module = self.cupy.RawModule(code=module_text(translations), options=OPTIONS)
            for key, translation in zip(missing, translations, strict=True):
                direct = entry == DIRECT
                name = translation.symbol if direct else translation.packed_symbol
                self._functions[key, entry] = module.get_function(name)


def module_text(translations: Iterable[Translation]) -> str:
    """One translation unit with each of `translations` once."""
    texts = dict.fromkeys(translation.text for translation in translations)
    return "\n".join([CUDA_PRELUDE, *texts])
