"""Result types of the kernel language's operators: Numba's types, or an error.

Scalars are NumPy dtypes, arrays are `ArrayType`, an absent array is `ABSENT`.  Every function here
either returns Numba's type or raises `Refusal`; combinations with a surprising type in Numba (an
unsigned 64-bit integer and a signed one) are refused.
"""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.errors import KernelTypeError

BOOL = np.dtype(np.bool_)
INT8 = np.dtype(np.int8)
INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
UINT8 = np.dtype(np.uint8)
UINT32 = np.dtype(np.uint32)
UINT64 = np.dtype(np.uint64)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)

SCALARS = (BOOL, INT8, INT32, INT64, UINT8, UINT32, UINT64, FLOAT32, FLOAT64)
ATOMIC = (INT32, INT64, UINT32, UINT64)

EXACT_IN_FLOAT64 = 2**53
"""Numba compares uint64 with a signed constant in float64, which is exact up to this number."""


@dataclass(frozen=True)
class ArrayType:
    """A one-dimensional array argument."""

    dtype: np.dtype

    def __str__(self) -> str:
        return f"array of {self.dtype}"


@dataclass(frozen=True)
class StoredType:
    """Type of a number that each launch reads from memory."""

    dtype: np.dtype

    def __str__(self) -> str:
        return f"stored {self.dtype}"


class Absent(enum.Enum):
    """Type of an argument that is None."""

    ABSENT = "absent"

    def __str__(self) -> str:
        return "an absent array"


ABSENT = Absent.ABSENT
ArgumentType = np.dtype | ArrayType | StoredType | Absent


class Refusal(Exception):
    """Types that do not match; becomes a `KernelTypeError` at a known place in the source."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy


def type_of(argument: Any) -> ArgumentType:
    """Return the type of a launch argument: an array, a scalar, None, a type, or its tag.

    A tag is what `packing` writes: ``"int32"``, ``"*int32"`` for an array, ``"&int64"`` for a
    number in memory, ``"absent"``.

    Raises
    ------
    KernelTypeError
        If a kernel cannot accept the argument.
    """
    if argument is None or argument is ABSENT:
        return ABSENT
    if isinstance(argument, str):
        if argument == ABSENT.value:
            return ABSENT
        element = _supported(np.dtype(argument.lstrip("*&")))
        if argument.startswith("&"):
            return StoredType(element)
        return ArrayType(element) if argument.startswith("*") else element
    if isinstance(argument, ArrayType):
        return argument
    if isinstance(argument, np.dtype):
        return _supported(argument)
    if isinstance(argument, (bool, int, float)) and not isinstance(argument, np.generic):
        return literal_type(argument)
    dtype = getattr(argument, "dtype", None)
    if not isinstance(dtype, np.dtype):
        raise KernelTypeError(
            f"a kernel argument is a {type(argument).__name__}; pass arrays, numbers or None"
        )
    if isinstance(argument, np.generic):
        return _supported(dtype)
    if argument.ndim != 1:
        raise KernelTypeError(f"a kernel argument has {argument.ndim} dimensions; pass 1-D arrays")
    return ArrayType(_supported(dtype))


def _supported(dtype: np.dtype) -> np.dtype:
    for scalar in SCALARS:
        if scalar == dtype:
            return scalar
    names = ", ".join(str(scalar) for scalar in SCALARS)
    raise KernelTypeError(f"a kernel argument has dtype {dtype}; the language knows {names}")


def literal_type(value: bool | int | float) -> np.dtype:
    """Return the type of a constant: bool, int64 (uint64 above it) or float64."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, float):
        return FLOAT64
    if not -(2**63) <= value < 2**64:
        raise KernelTypeError(f"integer {value} does not fit 64 bits")
    return INT64 if value < 2**63 else UINT64


def is_integer(dtype: np.dtype) -> bool:
    """Whether the type is a signed or unsigned integer, not bool."""
    return dtype.kind in "iu"


def binary_type(operator: ast.operator, left: np.dtype, right: np.dtype) -> np.dtype:
    """Return the type of ``left operator right``."""
    if isinstance(operator, (ast.LShift, ast.RShift)):
        _refuse_floats(left, right, "a shift")
        return UINT64 if left.kind == "u" else INT64
    if isinstance(operator, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        _refuse_floats(left, right, "a bit operation")
        return BOOL if left == right == BOOL else _wide_integer(left, right)
    if "f" in (left.kind, right.kind):
        return _floating(left, right)
    common = _wide_integer(left, right)
    return FLOAT64 if isinstance(operator, ast.Div) else common


def unary_type(operator: ast.unaryop, operand: np.dtype) -> np.dtype:
    """Return the type of ``operator operand``."""
    if isinstance(operator, ast.Not):
        if operand != BOOL:
            raise Refusal(f"'not' of {operand}", "compare it, as in x == 0")
        return BOOL
    if operand == BOOL:
        raise Refusal("arithmetic on one bool", "use 'not', or cast it: int64(x)")
    if isinstance(operator, ast.Invert):
        _refuse_floats(operand, operand, "a bit operation")
    if operand.kind == "f":
        return operand
    return UINT64 if operand.kind == "u" else INT64


def compared_type(left: np.dtype, right: np.dtype, left_constant: Any = None,
                  right_constant: Any = None) -> np.dtype:
    """Return the type in which two numbers are compared; exact for all widths and signs."""
    if left == right:
        return left
    if "f" in (left.kind, right.kind):
        return _floating(left, right)
    for wide, other, constant in ((left, right, right_constant), (right, left, left_constant)):
        if wide == UINT64 and other == INT64 and constant is not None:
            if 0 <= constant <= EXACT_IN_FLOAT64:
                return UINT64
    return _wide_integer(left, right)


def unified_type(left: np.dtype, right: np.dtype) -> np.dtype:
    """Return the common type of alternatives: operands of min and max, sides of a conditional."""
    if left == right:
        return left
    if BOOL in (left, right):
        raise Refusal(f"a value that is either {left} or {right}", "cast one side: int64(x)")
    if "f" in (left.kind, right.kind):
        return _floating(left, right)
    if left.kind == right.kind:
        return max(left, right, key=lambda dtype: dtype.itemsize)
    unsigned, signed = (left, right) if left.kind == "u" else (right, left)
    if unsigned == UINT64:
        raise _mixed(left, right)
    if (unsigned, signed) == (UINT8, INT8):
        raise Refusal("a value that is either int8 or uint8", "cast one side: int32(x)")
    return signed if signed.itemsize > unsigned.itemsize else INT64


def range_type(arguments: list[np.dtype]) -> np.dtype:
    """Return the type of the loop variable of ``range(*arguments)``."""
    kinds = {dtype.kind for dtype in arguments}
    if not kinds <= {"i", "u"}:
        raise Refusal("range() of something that is not an integer", "cast it: int64(x)")
    if kinds == {"u"}:
        return UINT64
    if kinds == {"i"}:
        return INT64 if INT64 in arguments else INT32
    if UINT64 in arguments or INT64 not in arguments:
        raise Refusal("range() of signed and unsigned integers", "cast them to int64")
    return INT64


def widens(source: np.dtype, target: np.dtype) -> bool:
    """Whether a variable of type `target` may be assigned a value of type `source`.

    Only steps to a wider signed integer are allowed: after any other lossless step Numba, which
    types each assignment separately, would continue in the narrower type.
    """
    signed = source.kind == target.kind == "i"
    return source == target or (signed and source.itemsize < target.itemsize)


def check_store(source: np.dtype, element: np.dtype) -> None:
    """Refuse a store that needs a conversion which the language does not do."""
    if element == BOOL and source != BOOL:
        raise Refusal(f"{source} stored into a bool array", "compare it, as in x != 0")
    if element.kind in "iu" and source.kind == "f":
        raise Refusal(f"{source} stored into an {element} array", f"cast it: {element}(x)")


def _wide_integer(left: np.dtype, right: np.dtype) -> np.dtype:
    if left.kind == right.kind == "u":
        return UINT64
    if UINT64 in (left, right):
        raise _mixed(left, right)
    return INT64


def _floating(left: np.dtype, right: np.dtype) -> np.dtype:
    if left == right or FLOAT64 in (left, right):
        return FLOAT64 if FLOAT64 in (left, right) else left
    other = right if left == FLOAT32 else left
    if other.itemsize == 1:
        raise Refusal(f"float32 together with {other}", "cast one side: float32(x)")
    return FLOAT64


def _refuse_floats(left: np.dtype, right: np.dtype, what: str) -> None:
    if "f" in (left.kind, right.kind):
        raise Refusal(f"{what} on a floating-point number", "cast it: int64(x)")


def _mixed(left: np.dtype, right: np.dtype) -> Refusal:
    return Refusal(f"{left} mixed with {right}", "cast one side: uint64(x) or int64(x)")
