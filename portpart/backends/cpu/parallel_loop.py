"""The only parallel loop of the CPU space, which Numba compiles: loop, words, and cache."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable

import numba
from llvmlite import ir
from numba import prange, types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typing import Signature
from numba.extending import intrinsic

from portpart.backends.cpu.compile import compiler
from portpart.base import cache_folder

# Words of the parallel loop for Numba: memory at an address, and calls of kernels --------------


# mypy: ignore-errors
# (Numba's extension decorators change the signatures of functions.)


_INT64 = ir.IntType(64)


@intrinsic
def call_chunk(typingctx, function, start, stop, row):
    """Run the C function ``void(int64, int64, int64)`` at address `function`."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [_INT64] * 3)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


@intrinsic
def store_word(typingctx, address, value):
    """Write the int64 at `address`."""

    def codegen(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], _INT64.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def new_word(typingctx):
    """Return the address of an int64 in the frame of the calling function, not initialised."""

    def codegen(context, builder, signature, args):
        return builder.ptrtoint(cgutils.alloca_once(builder, _INT64), _INT64)

    return types.int64(), codegen


@intrinsic
def fetch_add_word(typingctx, address, amount):
    """Atomically add to the int64 at `address`; return the value before."""

    def codegen(context, builder, signature, args):
        place = builder.inttoptr(args[0], _INT64.as_pointer())
        return builder.atomic_rmw("add", place, args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


# C functions that Numba compiles, kept in our folder, next to the kernels ----------------------
#
# Numba's own cache does not check files that it reads, fails if it cannot write, and is next to the
# source, which may be read-only in an installation.


def parallel_function(function: Callable[..., None], signature: str) -> CFunc:
    """Compile a C function with a parallel loop for the types of `signature`, or load it."""
    made = CFunc(function, normalize_signature(signature), {}, {"parallel": True})
    made._cache = _CheckedCache(function.__name__)
    made.compile()
    return made


class _CheckedCache(NullCache):
    """The cache that Numba reads before it compiles a function, and updates afterwards."""

    def __init__(self, name: str) -> None:
        self.name = name

    def load_overload(self, sig: Signature, target_context: BaseContext) -> CompileResult | None:
        target_context.refresh()
        code = cache_folder.read(self._file(sig, target_context))
        if code is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(code))
        except Exception:  # whatever the error: the function can be compiled again
            return None

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        cache_folder.write(self._file(sig, data.target_context), dumps(data._reduce()))

    def _file(self, signature: Signature, target_context: BaseContext) -> str:
        processor = target_context.codegen().magic_tuple()
        words = f"{numba.__version__} {compiler()} {signature} {processor}"
        return cache_folder.file_of(self.name, words)


# The only parallel loop of the CPU space, compiled by Numba, whose threads it uses -------------
#
# `drive` runs any kernel on all threads by its address.  Importing this module takes as long as
# importing Numba.


def _start_threads() -> None:
    """Start Numba's threads so that they sleep, not spin, while they wait for work.

    OpenMP's threads spin by default. On a busy machine a spinning thread uses up its time slice, so
    that it does not run when it is needed: launches of 15 microseconds took 12 ms. The variable is
    read when the OpenMP library is loaded, which happens here unless other code has loaded it
    before. A value that the user has set is kept.
    """
    name = "OMP_WAIT_POLICY"
    before = os.environ.get(name)
    os.environ[name] = before or "passive"
    try:
        numba.set_num_threads(numba.get_num_threads())
    finally:
        if before is None:
            del os.environ[name]


def drive(function: int, row: int, count: int, chunk: int, workers: int) -> None:
    """Run the callback for all items; threads take chunks when they are free."""
    taken = new_word()
    store_word(taken, 0)
    for _ in prange(workers):
        while True:
            start = fetch_add_word(taken, 1) * chunk
            if start >= count:
                break
            call_chunk(function, start, min(start + chunk, count), row)


_start_threads()  # before the loop is loaded, which would start them with its own settings
loop = parallel_function(drive, "void(int64, int64, int64, int64, int64)")
"""The loop as a C function."""
