"""Kernel words for Numba: raw pointers, atomics, bit counts, optional arrays.

Arrays reach a kernel as C pointers: no negative-index wrap-around, no array structure to build,
and code as short as C's.  Atomics are LLVM's, sequentially consistent.
"""
# mypy: ignore-errors
# (Numba's extension decorators give every function another signature than the one written.)

from __future__ import annotations

import operator

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

_INT64 = ir.IntType(64)


@intrinsic
def argument_bits(typingctx, row, position):
    """The 8-byte word `position` of the packed arguments at address `row`."""

    def codegen(context, builder, signature, args):
        base = builder.inttoptr(args[0], _INT64.as_pointer())
        return builder.load(builder.gep(base, [args[1]]))

    return types.int64(types.intp, types.intp), codegen


class BoolPointer(types.CPointer):
    """Pointer to bytes that are 0 or 1; Numba's own pointers confuse them with single bits."""

    def __init__(self):
        super().__init__(types.boolean)


register_model(BoolPointer)(models.PointerModel)


@lower_builtin(operator.getitem, BoolPointer, types.Integer)
def _load_bool(context, builder, signature, args):
    byte = builder.load(builder.gep(args[0], [args[1]]))
    return cgutils.is_not_null(builder, byte)


@lower_builtin(operator.setitem, BoolPointer, types.Integer, types.Any)
def _store_bool(context, builder, signature, args):
    byte = builder.zext(args[2], ir.IntType(8))
    builder.store(byte, builder.gep(args[0], [args[1]]))


@intrinsic
def pointer(typingctx, address, element):
    """`address` as a pointer to elements of the type `element`."""
    is_bool = element.instance_type is types.boolean
    result = BoolPointer() if is_bool else types.CPointer(element.instance_type)

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(result))

    return result(types.int64, element), codegen


@intrinsic
def scalar_argument(typingctx, word, element):
    """The scalar of type `element` whose bits are the low bytes of `word`."""
    result = element.instance_type

    def codegen(context, builder, signature, args):
        slot = cgutils.alloca_once_value(builder, args[0])
        typed = builder.bitcast(slot, context.get_data_type(result).as_pointer())
        return context.unpack_value(builder, result, typed)

    return result(types.int64, element), codegen


@intrinsic
def call_chunk(typingctx, function, start, stop, row):
    """Call the C function ``void(int64, int64, int64)`` at address `function`."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [_INT64] * 3)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


@intrinsic
def load_word(typingctx, address):
    """The int64 at `address`."""

    def codegen(context, builder, signature, args):
        return builder.load(builder.inttoptr(args[0], _INT64.as_pointer()))

    return types.int64(types.int64), codegen


@intrinsic
def store_word(typingctx, address, value):
    """Write the int64 at `address`."""

    def codegen(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], _INT64.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


STACK_WORDS = 64


@intrinsic
def stack_words(typingctx):
    """Address of ``STACK_WORDS`` int64 in the frame of the calling function, not initialised."""

    def codegen(context, builder, signature, args):
        place = cgutils.alloca_once(builder, ir.ArrayType(_INT64, STACK_WORDS))
        return builder.ptrtoint(place, _INT64)

    return types.int64(), codegen


@intrinsic(prefer_literal=True)
def team_array(typingctx, element, size):
    """Pointer to `size` elements in the frame of the calling function, not initialised."""
    if not isinstance(size, types.IntegerLiteral):
        return None
    result = types.CPointer(element.instance_type)

    def codegen(context, builder, signature, args):
        kind = context.get_value_type(result.dtype)
        return cgutils.alloca_once(builder, kind, size=size.literal_value)

    return result(element, size), codegen


@intrinsic
def fetch_add_word(typingctx, address, amount):
    """Atomically add to the int64 at `address`; returns the value before."""

    def codegen(context, builder, signature, args):
        place = builder.inttoptr(args[0], _INT64.as_pointer())
        return builder.atomic_rmw("add", place, args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def _exchange_if_equal(typingctx, array, index, expected, desired):
    element = array.dtype

    def codegen(context, builder, signature, args):
        place = builder.gep(args[0], [args[1]])
        pair = builder.cmpxchg(place, args[2], args[3], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 0)

    return element(array, types.intp, element, element), codegen


@intrinsic
def atomic_load(typingctx, array, index):
    """Load that is neither torn nor moved by the compiler."""
    element = array.dtype

    def codegen(context, builder, signature, args):
        place = builder.gep(args[0], [args[1]])
        size = context.get_abi_sizeof(context.get_data_type(element))
        return builder.load_atomic(place, "seq_cst", size)

    return element(array, types.intp), codegen


def _fetch_and(signed: str, unsigned: str):
    """An intrinsic around LLVM's atomicrmw, by the signedness of the array."""

    @intrinsic
    def fetch(typingctx, array, index, value):
        element = array.dtype
        operation = signed if element.signed else unsigned

        def codegen(context, builder, signature, args):
            place = builder.gep(args[0], [args[1]])
            return builder.atomic_rmw(operation, place, args[2], "seq_cst")

        return element(array, types.intp, element), codegen

    return fetch


@intrinsic
def atomic_next(typingctx, array, index):
    """Add one to the element; returns the value before."""
    element = array.dtype

    def codegen(context, builder, signature, args):
        place = builder.gep(args[0], [args[1]])
        one = ir.Constant(context.get_value_type(element), 1)
        return builder.atomic_rmw("add", place, one, "seq_cst")

    return element(array, types.intp), codegen


atomic_add = _fetch_and("add", "add")
atomic_min = _fetch_and("min", "umin")
atomic_max = _fetch_and("max", "umax")


@njit(forceinline=True)
def atomic_cas(array, index, expected, desired):
    """Store `desired` if the element equals `expected`; returns the value before."""
    return _exchange_if_equal(array, index, expected, desired)


@njit(forceinline=True)
def team_atomic_add(array, index, value):
    """A team is one lane here: a plain addition."""
    old = array[index]
    array[index] = old + value
    return old


@njit(forceinline=True)
def team_atomic_cas(array, index, expected, desired):
    """A team is one lane here: a plain compare and store."""
    old = array[index]
    if old == expected:
        array[index] = desired
    return old


def value_or(array, index, default):
    """Element of an array that may be absent."""
    return default if array is None else array[index]


@overload(value_or)
def _value_or(array, index, default):
    if array is None or isinstance(array, types.NoneType):
        return lambda array, index, default: types.int64(default)
    return lambda array, index, default: types.int64(array[index])


@intrinsic
def popcount(typingctx, value):
    """Number of one bits of the value's 64-bit pattern."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def ctz(typingctx, value):
    """Number of trailing zero bits of the value's 64-bit pattern; 64 for zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen
