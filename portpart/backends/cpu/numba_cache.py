"""C functions that Numba compiles, kept in our folder, next to the kernels.

Numba's own cache does not check what it reads, ends with an error where it cannot write, and lies
next to the source, where an installation may not be written.
"""

from __future__ import annotations

import pickle
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from portpart.backends import cache_folder
from portpart.backends.cpu.compile import compiler


def parallel_function(function: Any, signature: str) -> Any:
    """Compile a C function with a parallel loop for the types of `signature`, or load it."""
    made: Any = CFunc(function, normalize_signature(signature), {}, {"parallel": True})
    made._cache = _CheckedCache(function.__name__)
    made.compile()
    return made


class _CheckedCache(NullCache):
    """The cache that Numba asks before it compiles a function, and updates afterwards."""

    def __init__(self, name: str) -> None:
        self.name = name

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        code = cache_folder.read(self._file(sig, target_context))
        if code is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(code))
        except Exception:  # whatever it is: the function can be compiled again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        cache_folder.write(self._file(sig, data.target_context), dumps(data._reduce()))

    def _file(self, signature: Any, target_context: Any) -> str:
        processor = target_context.codegen().magic_tuple()
        words = f"{numba.__version__} {compiler()} {signature} {processor}"
        return cache_folder.file_of(self.name, words)
