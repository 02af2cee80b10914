"""Numbers of the kernel language as LLVM values: types, conversions, operators.

Results are as in Python and Numba: integers wrap, `//` and `%` floor, a division by zero gives 0,
and amounts of shifts are taken modulo 64.
"""

from __future__ import annotations

import ast

import numpy as np
from llvmlite import ir

from portpart.backends.language.types import BOOL, FLOAT32, INT64, UINT64, binary_type

BIT, BYTE, WORD = ir.IntType(1), ir.IntType(8), ir.IntType(64)

_INTEGER = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and_", ast.BitOr: "or_",
            ast.BitXor: "xor"}
_FLOAT = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
COMPARISONS: dict[type, str] = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
                                ast.Gt: ">", ast.GtE: ">="}


def value_type(dtype: np.dtype) -> ir.Type:
    """Return the LLVM type of a number in computations."""
    if dtype.kind == "f":
        return ir.FloatType() if dtype == FLOAT32 else ir.DoubleType()
    return BIT if dtype == BOOL else ir.IntType(8 * dtype.itemsize)


def memory_type(dtype: np.dtype) -> ir.Type:
    """Return the LLVM type of an element of an array: a bool has a byte."""
    return BYTE if dtype == BOOL else value_type(dtype)


def literal(value: bool | int | float, dtype: np.dtype) -> ir.Constant:
    """Return the constant `value` as `dtype`; integers wrap."""
    if dtype.kind == "f":
        return ir.Constant(value_type(dtype), float(dtype.type(value)))
    if dtype == BOOL:
        return ir.Constant(BIT, int(bool(value)))
    values = 1 << 8 * dtype.itemsize
    below_zero = values >> 1 if dtype.kind == "i" else 0
    return ir.Constant(value_type(dtype), (int(value) + below_zero) % values - below_zero)


class Arithmetic:
    """Writes operators with a builder."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder

    def convert(self, value: ir.Value, source: np.dtype, target: np.dtype) -> ir.Value:
        """Return `value` of type `source` as `target`."""
        if source == target:
            return value
        to, builder = value_type(target), self.builder
        if target == BOOL:
            return self.compare("!=", value, literal(0, source), source)
        signed = source.kind == "i"
        if source.kind == "f":
            if target.kind == "f":
                return (builder.fptrunc if target == FLOAT32 else builder.fpext)(value, to)
            return (builder.fptosi if target.kind == "i" else builder.fptoui)(value, to)
        if target.kind == "f":
            return (builder.sitofp if signed else builder.uitofp)(value, to)
        if source.itemsize > target.itemsize:
            return builder.trunc(value, to)
        if source != BOOL and source.itemsize == target.itemsize:
            return value
        return (builder.sext if signed else builder.zext)(value, to)

    def compare(self, symbol: str, left: ir.Value, right: ir.Value, dtype: np.dtype) -> ir.Value:
        """Return ``left symbol right`` of two values of type `dtype`."""
        if dtype.kind == "f":
            if symbol == "!=":
                return self.builder.fcmp_unordered(symbol, left, right)
            return self.builder.fcmp_ordered(symbol, left, right)
        if dtype.kind == "i":
            return self.builder.icmp_signed(symbol, left, right)
        return self.builder.icmp_unsigned(symbol, left, right)

    def binary(self, op: ast.operator, left: ir.Value, left_type: np.dtype, right: ir.Value,
               right_type: np.dtype) -> tuple[ir.Value, np.dtype]:
        """Return ``left op right`` and its type."""
        dtype = binary_type(op, left_type, right_type)
        a, b = self.convert(left, left_type, dtype), self.convert(right, right_type, dtype)
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            quotient, rest = (self._float_divided if dtype.kind == "f" else self._divided)(
                a, b, dtype)
            return quotient if isinstance(op, ast.FloorDiv) else rest, dtype
        if isinstance(op, (ast.LShift, ast.RShift)):
            return self._shifted(op, a, b, dtype), dtype
        names = _FLOAT if dtype.kind == "f" else _INTEGER
        return getattr(self.builder, names[type(op)])(a, b), dtype

    def unary(self, op: ast.unaryop, value: ir.Value, source: np.dtype,
              target: np.dtype) -> ir.Value:
        """Return ``op value`` as `target`; as in Numba, the operation precedes widening."""
        if isinstance(op, (ast.Not, ast.Invert)):
            return self.convert(self.builder.not_(value), source, target)
        if isinstance(op, ast.USub):
            value = self.builder.fneg(value) if source.kind == "f" else self.builder.neg(value)
        return self.convert(value, source, target)

    def extreme(self, symbol: str, first: ir.Value, second: ir.Value, dtype: np.dtype) -> ir.Value:
        """Return the smaller ("<") or larger (">") of two values, the first of equal ones."""
        return self.builder.select(self.compare(symbol, second, first, dtype), second, first)

    def magnitude(self, value: ir.Value, dtype: np.dtype) -> ir.Value:
        """Return the absolute value."""
        if dtype.kind == "f":
            return self._call("llvm.fabs", value, dtype)
        negative = self.compare("<", value, literal(0, dtype), dtype)
        return self.builder.select(negative, self.builder.neg(value), value)

    def _call(self, name: str, value: ir.Value, dtype: np.dtype) -> ir.Value:
        kind = value_type(dtype)
        function = self.builder.module.declare_intrinsic(name, [kind])
        return self.builder.call(function, [value])

    def _shifted(self, op: ast.operator, value: ir.Value, amount: ir.Value,
                 dtype: np.dtype) -> ir.Value:
        amount = self.builder.and_(amount, literal(63, dtype))
        if isinstance(op, ast.LShift):
            return self.builder.shl(value, amount)
        return (self.builder.ashr if dtype == INT64 else self.builder.lshr)(value, amount)

    def _divided(self, a: ir.Value, b: ir.Value, dtype: np.dtype) -> tuple[ir.Value, ir.Value]:
        """Return quotient and remainder of integers, floored; 0 for a division by zero, as in
        Numba.
        """
        builder, zero, one = self.builder, literal(0, dtype), literal(1, dtype)
        impossible = self.compare("==", b, zero, dtype)
        if dtype == UINT64:
            safe = builder.select(impossible, one, b)
            quotient, rest = builder.udiv(a, safe), builder.urem(a, safe)
            return (builder.select(impossible, zero, quotient),
                    builder.select(impossible, zero, rest))
        overflows = builder.and_(self.compare("==", b, literal(-1, dtype), dtype),
                                 self.compare("==", a, literal(-2**63, dtype), dtype))
        impossible = builder.or_(impossible, overflows)
        safe = builder.select(impossible, one, b)
        quotient, rest = builder.sdiv(a, safe), builder.srem(a, safe)
        signs_differ = self.compare("<", builder.xor(rest, b), zero, dtype)
        floors = builder.and_(self.compare("!=", rest, zero, dtype), signs_differ)
        quotient = builder.select(floors, builder.sub(quotient, one), quotient)
        rest = builder.select(floors, builder.add(rest, b), rest)
        return builder.select(impossible, zero, quotient), builder.select(impossible, zero, rest)

    def _float_divided(self, a: ir.Value, b: ir.Value,
                       dtype: np.dtype) -> tuple[ir.Value, ir.Value]:
        """Return quotient and remainder by the steps of CPython's float_divmod, as in Numba."""
        builder, zero, one = self.builder, literal(0.0, dtype), literal(1.0, dtype)
        by_zero, first = self.compare("==", b, zero, dtype), builder.frem(a, b)
        divided = builder.fdiv(builder.fsub(a, first), b)
        below, left = self.compare("<", b, zero, dtype), self.compare("!=", first, zero, dtype)
        differ = builder.xor(below, self.compare("<", first, zero, dtype))
        mended = builder.and_(left, differ)
        rest = builder.select(mended, builder.fadd(first, b), first)
        divided = builder.select(mended, builder.fsub(divided, one), divided)
        rest = builder.select(left, rest, builder.select(below, literal(-0.0, dtype), zero))
        floored = self._call("llvm.floor", divided, dtype)
        far = self.compare(">", builder.fsub(divided, floored), literal(0.5, dtype), dtype)
        quotient = builder.select(far, builder.fadd(floored, one), floored)
        tiny = builder.fmul(builder.fmul(divided, divided), a)
        quotient = builder.select(self.compare("!=", divided, zero, dtype), quotient,
                                  builder.fdiv(tiny, b))
        return (builder.select(by_zero, builder.fdiv(a, b), quotient),
                builder.select(by_zero, first, rest))

