"""Statements of a typed function as LLVM blocks.

Variables are in the frame; LLVM's passes move them into registers.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np
from llvmlite import ir

from portpart.backends.cpu.expressions import LlvmExpressionWriter
from portpart.backends.cpu.values import literal, memory_type, value_type
from portpart.backends.language.kernels import TypedFunction
from portpart.backends.language.source import call_parts
from portpart.backends.language.types import ABSENT, INT32, INT64


class LlvmStatementWriter:
    """Writes the body of one function.

    Parameters
    ----------
    typed : TypedFunction
    function : llvmlite.ir.Function
        Declared with the parameters that are not absent.
    devices : mapping
        The LLVM function of each specialised device function.
    """

    def __init__(self, typed: TypedFunction, function: ir.Function,
                 devices: Mapping[TypedFunction, ir.Function]) -> None:
        self.typed = typed
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.expressions = LlvmExpressionWriter(typed, self.builder, devices)
        self.arithmetic = self.expressions.arithmetic
        self.loops: list[tuple[ir.Block, ir.Block]] = []
        """Targets of `continue` and `break` of each enclosing loop."""
        present = [name for name, kind in typed.arguments.items() if kind is not ABSENT]
        self.expressions.parameters.update(zip(present, function.args, strict=True))

    def write(self) -> None:
        """Write the whole body."""
        self._frame()
        self.block(self.typed.function.tree.body)
        if not self.builder.block.is_terminated:
            self.builder.ret_void() if self.typed.returns is None else self.builder.unreachable()

    def _frame(self) -> None:
        for name, array in self.typed.function.team_arrays.items():
            kind = memory_type(array.dtype)
            self.expressions.parameters[name] = self.builder.alloca(kind, array.size)
        for name, dtype in self.typed.variables.items():
            self.expressions.variables[name] = self.builder.alloca(value_type(dtype))

    def block(self, statements: list[ast.stmt]) -> None:
        """Write `statements` up to the first one that leaves the block."""
        for statement in self.typed.live(statements):
            if self.builder.block.is_terminated:
                return
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        self.expressions.write(node.value)

    def _continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self.builder.ret_void()
        else:
            assert self.typed.returns is not None
            self.builder.ret(self.expressions.converted(node.value, self.typed.returns))

    def _assign(self, node: ast.Assign) -> None:
        if self.typed.new_array(node) is not None:
            return
        target = node.targets[0]
        if isinstance(target, ast.Name):
            self._set(target.id, self.expressions.converted(
                node.value, self.typed.variables[target.id]))
            return
        assert isinstance(target, ast.Subscript)
        value = self.expressions.converted(node.value, self.expressions.type_of(target))
        address, dtype = self.expressions.place(target.value, target.slice)
        self.expressions.store(value, address, dtype)

    def _set(self, name: str, value: ir.Value) -> None:
        self.builder.store(value, self.expressions.variables[name])

    def _augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            dtype = self.typed.variables[target.id]
            self._set(target.id, self._updated(node, self.expressions.name(target), dtype))
            return
        assert isinstance(target, ast.Subscript)
        address, dtype = self.expressions.place(target.value, target.slice)
        before = self.expressions.load(address, dtype)
        self.expressions.store(self._updated(node, before, dtype), address, dtype)

    def _updated(self, node: ast.AugAssign, before: ir.Value, dtype: np.dtype) -> ir.Value:
        value, given = self.expressions.write(node.value), self.expressions.type_of(node.value)
        result, kind = self.arithmetic.binary(node.op, before, dtype, value, given)
        return self.arithmetic.convert(result, kind, dtype)

    def _if(self, node: ast.If) -> None:
        builder, test = self.builder, self.expressions.write(node.test)
        then, orelse, after = (builder.append_basic_block() for _ in range(3))
        builder.cbranch(test, then, orelse)
        for block, statements in ((then, node.body), (orelse, node.orelse)):
            builder.position_at_end(block)
            self.block(statements)
            self._go(after)
        builder.position_at_end(after)

    def _go(self, block: ir.Block) -> None:
        if not self.builder.block.is_terminated:
            self.builder.branch(block)

    # loops --------------------------------------------------------------------------------

    def _while(self, node: ast.While) -> None:
        builder = self.builder
        test, body, after = (builder.append_basic_block() for _ in range(3))
        builder.branch(test)
        builder.position_at_end(test)
        builder.cbranch(self.expressions.write(node.test), body, after)
        self._round(node.body, body, test, after)
        self._go(test)
        builder.position_at_end(after)

    def _round(self, statements: list[ast.stmt], body: ir.Block, following: ir.Block,
               after: ir.Block) -> None:
        self.loops.append((following, after))
        self.builder.position_at_end(body)
        self.block(statements)
        self.loops.pop()

    def _for(self, node: ast.For) -> None:
        """Write a loop with a separate counter: the variable may be changed, and keeps its last
        value.
        """
        assert isinstance(node.target, ast.Name)
        builder, kind = self.builder, self.expressions.type_of(node.iter)
        start, stop, step = self._bounds(node.iter, kind)
        single = isinstance(step, ir.Constant) and step.constant == 1
        counter = INT64 if kind == INT32 and not single else kind
        start, stop, step = (self.arithmetic.convert(x, kind, counter) for x in (start, stop, step))
        before = builder.block
        test, body, advance, after = (builder.append_basic_block() for _ in range(4))
        builder.branch(test)
        builder.position_at_end(test)
        at = builder.phi(value_type(counter))
        at.add_incoming(start, before)
        builder.cbranch(self._in_range(at, stop, step, counter), body, after)
        builder.position_at_end(body)
        variable = self.typed.variables[node.target.id]
        self._set(node.target.id, self.arithmetic.convert(at, counter, variable))
        self._round(node.body, body, advance, after)
        self._go(advance)
        builder.position_at_end(advance)
        flags = ("nsw",) if single and counter.kind == "i" else ()
        at.add_incoming(builder.add(at, step, flags=flags), advance)
        builder.branch(test)
        builder.position_at_end(after)

    def _bounds(self, call: ast.expr, kind: np.dtype) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Return start, stop and step."""
        given = [self.expressions.converted(argument, kind) for argument in call_parts(call)[1]]
        if len(given) == 1:
            return literal(0, kind), given[0], literal(1, kind)
        return given[0], given[1], given[2] if len(given) == 3 else literal(1, kind)

    def _in_range(self, at: ir.Value, stop: ir.Value, step: ir.Value, kind: np.dtype) -> ir.Value:
        below = self.arithmetic.compare("<", at, stop, kind)
        zero = literal(0, kind)
        if isinstance(step, ir.Constant):
            is_negative = kind.kind == "i" and step.constant >> (8 * kind.itemsize - 1) & 1 == 1
            if step.constant == 0 or is_negative:
                above = self.arithmetic.compare(">", at, stop, kind)
                return above if step.constant else literal(False, np.dtype(bool))
            return below
        if kind.kind == "u":
            return below
        upwards = self.arithmetic.compare(">", step, zero, kind)
        above = self.arithmetic.compare(">", at, stop, kind)
        backwards = self.arithmetic.compare("<", step, zero, kind)
        return self.builder.select(upwards, below, self.builder.and_(backwards, above))


