"""Statements of a typed function as CUDA C++, in the style of the source."""

from __future__ import annotations

import ast

import numpy as np

from portpart.backends.cuda.declarations import NameTable, Places, assigns
from portpart.backends.cuda.expressions import CudaExpressionWriter, Value, binary, type_name
from portpart.backends.language.source import call_parts
from portpart.backends.language.team_arrays import shared_arrays
from portpart.backends.language.types import INT32, INT64, UINT64

_INDENT = "    "

_SIZES = ("pp::team_size<TEAM>()", "pp::subgroup_size<TEAM>()")
"""Steps of loops that are known to be above zero."""


class CudaStatementWriter:
    """Writes the statements of one function."""

    def __init__(self, expressions: CudaExpressionWriter, names: NameTable) -> None:
        self.expressions = expressions
        self.typed = expressions.typed
        self.names = names
        self.variables = self.typed.variables
        self.places = Places(self.typed)

    def body(self) -> list[str]:
        """Return the lines of the whole function body."""
        statements = self.typed.function.tree.body
        for name in [*self.typed.arguments, *self.variables]:
            self.names(name)
        return self.block(statements, set(self.variables))

    def block(self, statements: list[ast.stmt], pending: set[str]) -> list[str]:
        """Return the lines of `statements`; the variables `pending` occur only there and are not
        declared.
        """
        live = list(self.typed.live(statements))
        lines: list[str] = []
        for statement, front, inner in zip(live, *self.places.split(live, pending), strict=True):
            written = self.statement(statement, inner)
            for name in front:
                kind = type_name(self.variables[name])
                if assigns(statement, name):
                    written[0] = f"{kind} {written[0]}"
                else:
                    lines.append(f"{kind} {self.names(name)};")
            lines += written
        return lines

    def statement(self, node: ast.stmt, inner: set[str]) -> list[str]:
        """Return the lines of one statement; it declares the variables `inner` itself."""
        if isinstance(node, ast.Assign):
            array = self.typed.new_array(node)
            return [self._assignment(node)] if array is None else self._team_array(array)
        if isinstance(node, ast.AugAssign):
            return self._augmented(node)
        if isinstance(node, ast.If):
            return self._branch(node, inner)
        if isinstance(node, ast.While):
            test = self.expressions.write(node.test)
            return [f"while ({test}) {{", *_indented(self.block(node.body, inner)), "}"]
        if isinstance(node, ast.For):
            return self._loop(node, inner)
        if isinstance(node, ast.Return):
            return [self._return(node)]
        if isinstance(node, ast.Expr):
            return [f"{self.expressions.write(node.value)};"]
        return [{ast.Break: "break;", ast.Continue: "continue;"}.get(type(node), ";")]

    def _team_array(self, name: str) -> list[str]:
        """Return the declarations of the memory of the block's teams, and of the part of this team.

        A team of one lane also has shared memory: a thread's own memory has no atomics. An array of
        each lane is in a thread's own memory.
        """
        array = self.typed.function.team_arrays[name]
        if not array.shared:
            return [f"{array.dtype} {self.names(name)}[{array.size}];"]
        number = list(shared_arrays(self.typed.function.team_arrays)).index(name)
        kind = f"pp::team_array<TEAM, {array.dtype}, {array.size}, {number}>"
        return [f"{array.dtype}* const {self.names(name)} = {kind}();"]

    def _assignment(self, node: ast.Assign) -> str:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            value = self.expressions.converted(node.value, self.variables[target.id])
            return f"{self.names(target.id)} = {value};"
        element = self.expressions.type_of(target)
        value = self.expressions.converted(node.value, element)
        return f"{self.expressions.write(target)} = {value};"

    def _augmented(self, node: ast.AugAssign) -> list[str]:
        target = node.target
        if isinstance(target, ast.Name):
            return [self._update(node, self.names(target.id), self.variables[target.id])]
        assert isinstance(target, ast.Subscript)
        place, dtype = self.expressions.write(target), self.expressions.type_of(target)
        if isinstance(target.slice, (ast.Name, ast.Constant)):
            return [self._update(node, place, dtype)]
        # The index must be evaluated once.
        at = self._helper("at")
        index = self.expressions.write(target.slice)
        array = self.expressions.write(target.value)
        update = self._update(node, f"{array}[{at}]", dtype)
        return ["{", *_indented([f"const int64 {at} = {index};", update]), "}"]

    def _update(self, node: ast.AugAssign, place: str, dtype: np.dtype) -> str:
        result = binary(node.op, Value(place, dtype), self.expressions.value(node.value))
        return f"{place} = {result.converted(dtype)};"

    def _helper(self, name: str) -> str:
        """Return the name of a helper variable; scopes that use the same name may be nested."""
        return self.names(f"{name} (helper)", preferred=name)

    def _branch(self, node: ast.If, inner: set[str]) -> list[str]:
        then, orelse = self.block(node.body, inner), self.block(node.orelse, inner)
        lines = [f"if ({self.expressions.write(node.test)}) {{", *_indented(then)]
        if not orelse:
            return [*lines, "}"]
        if len(node.orelse) == 1 and orelse[0].startswith("if ("):
            return [*lines, f"}} else {orelse[0]}", *orelse[1:]]
        return [*lines, "} else {", *_indented(orelse), "}"]

    def _return(self, node: ast.Return) -> str:
        if node.value is None:
            return "return;"
        assert self.typed.returns is not None
        return f"return {self.expressions.converted(node.value, self.typed.returns)};"

    # for loops ----------------------------------------------------------------------------

    def _loop(self, node: ast.For, inner: set[str]) -> list[str]:
        assert isinstance(node.target, ast.Name)
        name = node.target.id
        kind = self.expressions.type_of(node.iter)
        start, stop, step, forward = self._bounds(node.iter)
        one = step in ("1LL", "-1LL", "1ULL")
        counter = INT64 if kind == INT32 and not one else kind
        # The C++ counter may be the variable itself if that makes no difference.
        own = name in inner and counter == self.variables[name]
        known = self.names(name)
        plain = known if own else self._helper(f"{known}_next")
        end = self._helper(f"{known}_end")
        first = [f"{plain} = {start}", f"{end} = {stop}"]
        if forward is None:
            step_name = self._helper(f"{known}_step")
            first.append(f"{step_name} = {step}")
            step = step_name
        condition = {True: f"{plain} < {end}", False: f"{plain} > {end}"}.get(
            forward, f"pp::in_range({plain}, {end}, {step})"  # type: ignore[arg-type]
        )
        head = f"for ({counter} {', '.join(first)}; {condition}; {_advance(plain, step, counter)})"
        lines = self.block(node.body, inner - {name})
        if not own:
            declared = f"{self.variables[name]} " if name in inner else ""
            value = Value(plain, counter).converted(self.variables[name])
            lines.insert(0, f"{declared}{known} = {value};")
        return [f"{head} {{", *_indented(lines), "}"]

    def _bounds(self, call: ast.expr) -> tuple[str, str, str, bool | None]:
        """Return start, stop, step, and whether the loop runs upwards (None: not known)."""
        kind, (_, given) = self.expressions.type_of(call), call_parts(call)
        written = [self.expressions.converted(argument, kind) for argument in given]
        zero, one = ("0ULL", "1ULL") if kind == UINT64 else ("0LL", "1LL")
        if len(written) == 1:
            return zero, written[0], one, True
        if len(written) == 2:
            return written[0], written[1], one, True
        constant = self.typed.constants.get(given[2])
        if constant is not None:
            return written[0], written[1], written[2], None if constant == 0 else constant > 0
        upwards = kind == UINT64 or written[2] in _SIZES
        return written[0], written[1], written[2], True if upwards else None


def _advance(name: str, step: str, counter: np.dtype) -> str:
    if step in ("1LL", "1ULL"):
        return f"{name} += 1"
    if step == "-1LL":
        return f"{name} -= 1"
    if counter == UINT64:
        return f"{name} += {step}"
    return f"{name} = pp::add({name}, {step})"


def _indented(lines: list[str]) -> list[str]:
    return [_INDENT + line for line in lines]
