"""Functions compiled by Numba and kept in our folder, beside the kernels.

Numba's own cache does not check what it reads, ends with an error where it cannot write, and lies
beside the source, where an installation may not be written.
"""

from __future__ import annotations

import pickle
from typing import Any

from numba import njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from portpart.backends import cache_folder
from portpart.backends.cpu.compile import compiler


def compiled_by_numba(function: Any, signature: str, parallel: bool) -> Any:
    """Compile `function` for the types of `signature`, or load it."""
    dispatcher = njit(nogil=True, parallel=parallel)(function)
    dispatcher._cache = _CheckedCache(function.__name__)
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher


class _CheckedCache(NullCache):
    """What Numba asks before it compiles a function, and tells when it has."""

    def __init__(self, name: str) -> None:
        self.name = name

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        code = cache_folder.read(self._file(sig, target_context))
        if code is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(code))
        except Exception:  # whatever it is: the function can be compiled anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        cache_folder.write(self._file(sig, data.target_context), dumps(data._reduce()))

    def _file(self, signature: Any, target_context: Any) -> str:
        processor = target_context.codegen().magic_tuple()
        return cache_folder.file_of(self.name, f"{compiler()} {signature} {processor}")
