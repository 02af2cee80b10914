"""The accepted subset of Python, checked before a kernel is compiled.

A kernel is checked when it is decorated, one of this package when it is compiled. Both compilers
accept what passes; an error reports the file, the line, the marked source and the allowed form.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn, TypeVar

from portpart.backends.language import team_arrays
from portpart.backends.language.flatten import flatten
from portpart.backends.language.kernels import CheckedFunction, DeviceFunction, Findings, Kernel
from portpart.backends.language.order_checks import DefiniteAssignment
from portpart.backends.language.source import FunctionCall, call_parts, parsed, refuse, version_of
from portpart.backends.language.statics import Specialiser
from portpart.backends.language.team_arrays import BLOCK, TeamArray
from portpart.backends.language.words import BUILTIN_WORDS, Word, lane_array, team_array
from portpart.errors import KernelSyntaxError

_BINARY = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift,
)
_COMPARE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OF_PARTS = (ast.If, ast.Break, ast.Continue, ast.Pass, ast.UnaryOp, ast.unaryop, ast.BoolOp,
             ast.boolop, ast.IfExp)
"""Nodes that are allowed if their parts are."""


Checked = TypeVar("Checked", bound=CheckedFunction)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Check `function` against the kernel language and make it launchable.

    Raises
    ------
    KernelSyntaxError
        At decoration, naming file, line and the allowed form.
    """
    return check_function(function, Kernel, is_kernel=True)


def device(function: Callable[..., Any]) -> DeviceFunction:
    """Check `function` and make it callable from kernels and other device functions."""
    return check_function(function, DeviceFunction, is_kernel=False)


def check_function(function: Callable[..., Any], result: type[Checked], *,
                   is_kernel: bool) -> Checked:
    """Return the function with its tree and its resolved names.

    Functions of this package are checked when they are first used, and all of them by its tests;
    other functions are checked at once.
    """
    if not isinstance(function, types.FunctionType) or function.__name__ == "<lambda>":
        raise KernelSyntaxError(f"{function!r} is not a plain function; write it with def")
    version = version_of(function.__code__.co_filename)
    made = result(function, is_kernel, partial(_findings, function, is_kernel, version))
    of_this_package = str(function.__module__).partition(".")[0] == __name__.partition(".")[0]
    if not of_this_package and not made.static_places:
        made.check()
    return made


def _findings(function: types.FunctionType, is_kernel: bool, version: tuple[int, int],
              values: Mapping[str, Any]) -> Findings:
    filename = function.__code__.co_filename
    if version_of(filename) != version:
        raise KernelSyntaxError(f"{filename} has changed since it was imported; restart Python")
    source, tree = parsed(function, again=bool(values))
    checker = _Checker(function, tree, source, is_kernel, values)
    checker.run()
    return Findings(tree, checker.signature, checker.references, checker.team_words,
                    checker.team_arrays)


class _Checker(ast.NodeVisitor):
    """Walks one function and refuses every node outside the subset."""

    def __init__(self, function: types.FunctionType, tree: ast.FunctionDef,
                 lines: list[str], is_kernel: bool, values: Mapping[str, Any]) -> None:
        self.function, self.values = function, values
        self.tree = tree
        self.lines = lines
        self.start = function.__code__.co_firstlineno
        self.is_kernel = is_kernel
        self.references: dict[str, Any] = {}
        self.team_words = False
        self.team_arrays: dict[str, TeamArray] = {}
        self.named: set[str] = set()
        self.returns: list[ast.Return] = []
        self.scope = inspect.getclosurevars(function)
        self.static_names: dict[str, Any] = {}

    def run(self) -> None:
        arguments = self.tree.args
        if (arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults
                or arguments.posonlyargs):
            self.refuse(self.tree, "only plain parameters are allowed",
                        "write them without defaults, * or **")
        if self.is_kernel and not arguments.args:
            self.refuse(self.tree, "a kernel needs the work index as its first parameter",
                        "write def name(i, ...)")
        self.specialise()
        self.signature, made = flatten(self.function, self.tree, self.outside, self.refuse)
        parameters = {argument.arg for argument in arguments.args}
        self.parameters = parameters
        self.assigned = parameters | (
            made.union(self.function.__code__.co_varnames) - self.values.keys())
        self.block(self.tree.body)
        self.check_returns()
        DefiniteAssignment(self.assigned, parameters, self.refuse).block(self.tree.body)

    def specialise(self) -> None:
        """Replace the static values in the tree."""
        specialiser = Specialiser(self.values, set(self.function.__code__.co_varnames),
                                  self.outside, self.refuse)
        arguments = self.tree.args
        arguments.args = [each for each in arguments.args if each.arg not in self.values]
        self.tree.body = specialiser.visited(self.tree.body)
        self.static_names = specialiser.names

    def refuse(self, node: ast.AST, problem: str, remedy: str) -> NoReturn:
        index = getattr(node, "lineno", self.start) - self.start
        line = self.lines[index] if 0 <= index < len(self.lines) else ""
        refuse(self.function.__code__.co_filename, line, node,
               f"{problem} (in {self.function.__name__})", remedy)

    def check_returns(self) -> None:
        if self.is_kernel:
            for node in self.returns:
                if node.value is not None:
                    self.refuse(node, "a kernel returns nothing", "store the value in an array")
                if self.team_words:
                    self.refuse(node, "a kernel with team words must not return early",
                                "put the rest under an if")

    # statements ---------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _OF_PARTS):
            super().generic_visit(node)
            return
        self.refuse(node, f"{type(node).__name__} is outside the kernel language",
                    "see docs/kernel-language.md for what is allowed")

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            self.refuse(node, "several targets in one assignment", "write one line per target")
        if self.makes_team_array(node.value):
            self.team_array(node)
            return
        self.target(node.targets[0])
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.operator(node, node.op)
        self.target(node.target)
        self.visit(node.value)

    def target(self, node: ast.expr) -> None:
        if isinstance(node, ast.Subscript):
            self.visit_Subscript(node)
        elif not isinstance(node, ast.Name):
            self.refuse(node, "this cannot be assigned to", "assign to a name or to array[index]")
        elif node.id in self.parameters:
            self.refuse(node, f"parameter {node.id!r} is assigned to",
                        "copy it to a new name first")
        elif node.id in self.team_arrays:
            self.refuse(node, f"team array {node.id!r} is assigned to",
                        "choose another name, or store into an element")
        else:
            self.named.add(node.id)

    def makes_team_array(self, node: ast.expr) -> bool:
        """Whether the node is a call of `team_array` or `lane_array`."""
        name, _ = call_parts(node)
        return name is not None and self.lookup(name) in (team_array, lane_array)

    def meaning(self, node: ast.expr) -> Any:
        """Return the value of a constant, or of a name from outside the function; None for other
        nodes.
        """
        if isinstance(node, ast.Constant):
            return node.value
        if not isinstance(node, ast.Name) or node.id in self.assigned:
            return None
        self.references[node.id] = self.lookup(node)
        return self.references[node.id]

    def team_array(self, node: ast.Assign) -> None:
        """Record the array that the statement makes."""
        assert isinstance(node.value, FunctionCall)
        assert isinstance(node.value.func, ast.Name)
        if not self.is_kernel:
            self.refuse(node, "a team array in a device function",
                        "make it in the kernel and pass it as an argument")
        name = node.targets[0]
        if node not in self.tree.body or not isinstance(name, ast.Name):
            self.refuse(node, "a team array needs its own name and is made once", team_arrays.FORM)
        if name.id in self.named:
            self.refuse(name, f"{name.id!r} has a value above", "give the team array a new name")
        self.target(name)
        self.resolve(node.value.func, called=True)
        self.team_arrays[name.id] = team_arrays.team_array(node.value, self.meaning, self.refuse)
        needed, space = team_arrays.bytes_of(self.team_arrays), team_arrays.bytes_per_team(BLOCK)
        if needed > space:
            self.refuse(node, f"the team arrays of a kernel take {needed} bytes",
                        f"make them smaller: there are {space}")

    def visit_While(self, node: ast.While) -> None:
        self.no_else(node)
        super().generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self.no_else(node)
        call = node.iter
        if not (isinstance(call, FunctionCall) and isinstance(call.func, ast.Name)
                and call.func.id == "range" and 1 <= len(call.args) <= 3 and not call.keywords):
            self.refuse(node.iter, "a for loop must run over range(...)",
                        "write for x in range(start, stop, step)")
        if not isinstance(node.target, ast.Name):
            self.refuse(node.target, "a loop variable must be a name", "write for x in range(...)")
        self.target(node.target)
        for argument in call.args:
            self.visit(argument)
        self.block(node.body)

    def no_else(self, node: ast.For | ast.While) -> None:
        if node.orelse:
            self.refuse(node.orelse[0], "a loop has no else in the kernel language", "use a flag")

    def visit_Return(self, node: ast.Return) -> None:
        self.returns.append(node)
        if node.value is not None:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, FunctionCall):
            self.refuse(node, "an expression whose value is not used", "assign it or remove it")
        self.visit(node.value)

    # expressions --------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.operator(node, node.op)
        self.visit(node.left)
        self.visit(node.right)

    def operator(self, node: ast.AST, operator: ast.operator) -> None:
        if not isinstance(operator, _BINARY):
            self.refuse(node, f"operator {type(operator).__name__} is outside the kernel language",
                        "use + - * / // % & | ^ << >>")

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) != 1:
            self.refuse(node, "a chained comparison", "write a < b and b < c")
        if not isinstance(node.ops[0], _COMPARE):
            self.refuse(node, "this comparison is outside the kernel language",
                        "use == != < <= > >=; for an absent array use value_or")
        self.visit(node.left)
        self.visit(node.comparators[0])

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, (bool, int, float)):
            self.refuse(node, f"constant {node.value!r} is not a number", "use numbers only")
        if isinstance(node.value, int) and not -(2**63) <= node.value < 2**64:
            self.refuse(node, "an integer constant beyond 64 bits", "use a smaller constant")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        array = node.value.id if isinstance(node.value, ast.Name) else None
        if array not in self.parameters and array not in self.team_arrays:
            self.refuse(node, "only a parameter can be indexed, or a team array made above",
                        "pass the array as an argument")
        if isinstance(node.slice, (ast.Slice, ast.Tuple)):
            self.refuse(node.slice, "arrays have one dimension and no slices",
                        "index with one integer")
        self.visit(node.slice)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.team_arrays:
            self.refuse(node, f"team array {node.id!r} is used as a number",
                        "index it, or pass it to a device function or an atomic word")
        if node.id not in self.assigned:
            self.resolve(node)

    def visit_Call(self, node: FunctionCall) -> None:
        if not isinstance(node.func, ast.Name):
            self.refuse(node, "only plain names can be called",
                        "import the word or the device function by name, or its module")
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, "keyword and starred arguments are not allowed",
                        "pass arguments by position")
        if self.makes_team_array(node):
            self.refuse(node, "team_array is not the whole right side of an assignment",
                        team_arrays.FORM)
        self.resolve(node.func, called=True)
        for argument in node.args:
            if not self.passes_team_array(node, argument):
                self.visit(argument)

    def passes_team_array(self, call: FunctionCall, argument: ast.expr) -> bool:
        """Whether `argument` is a team array and `call` accepts an array there."""
        assert isinstance(call.func, ast.Name)
        if not (isinstance(argument, ast.Name) and argument.id in self.team_arrays):
            return False
        return team_arrays.taken_by(self.references[call.func.id], call.args.index(argument),
                                    self.team_arrays[argument.id])

    def resolve(self, node: ast.Name, *, called: bool = False) -> None:
        """Record the meaning of the free name `node`: a number, a device function or a word."""
        value = self.lookup(node)
        if value in (min, max, abs):
            value = BUILTIN_WORDS[node.id]
        if called:
            if not isinstance(value, (DeviceFunction, Word)):
                self.refuse(node, f"{node.id!r} is not a device function or a kernel word",
                            "decorate it with @device")
            team = value.is_team_word if isinstance(value, Word) else value.uses_team_words
            self.team_words = self.team_words or team
        elif not isinstance(value, (bool, int, float)):
            self.refuse(node, f"{node.id!r} is not a number",
                        "pass it as an argument or make it a numeric constant")
        self.references[node.id] = value

    def outside(self, name: str) -> Any:
        """Return the meaning of `name` in the enclosing functions or the module; None if it has
        none.
        """
        for names in (self.static_names, self.scope.nonlocals, self.scope.globals):
            if name in names:
                return names[name]
        return None

    def lookup(self, node: ast.Name) -> Any:
        for names in (self.static_names, self.scope.nonlocals, self.scope.globals,
                      self.scope.builtins):
            if node.id in names:
                return names[node.id]
        self.refuse(node, f"name {node.id!r} is not known here", "define or import it above")
