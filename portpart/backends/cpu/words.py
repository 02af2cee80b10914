"""Words of the parallel loop for Numba: memory at an address, and calls of kernels."""
# mypy: ignore-errors
# (Numba's extension decorators give every function another signature than the one written.)

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_INT64 = ir.IntType(64)


@intrinsic
def call_chunk(typingctx, function, start, stop, row):
    """A call of the C function ``void(int64, int64, int64)`` at address `function`."""

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
    """Address of an int64 in the frame of the calling function, not initialised."""

    def codegen(context, builder, signature, args):
        return builder.ptrtoint(cgutils.alloca_once(builder, _INT64), _INT64)

    return types.int64(), codegen


@intrinsic
def fetch_add_word(typingctx, address, amount):
    """Atomically add to the int64 at `address`; returns the value before."""

    def codegen(context, builder, signature, args):
        place = builder.inttoptr(args[0], _INT64.as_pointer())
        return builder.atomic_rmw("add", place, args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen
