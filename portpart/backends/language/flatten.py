"""Records out of a function: fields become parameters of their own, words elements of an array.

``graph.begin[v]`` becomes ``graph_begin[v]``, ``level.dirty`` becomes ``level[3]``, and a record
that is passed on becomes the fields that the other function uses.  So neither the checks nor a
compiler know of records.  Each node keeps its place in the source.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from portpart.backends.language.definite_assignment import Refuse
from portpart.backends.language.kernels import DeviceFunction
from portpart.backends.language.parameters import Parameter, flat_name
from portpart.backends.language.records import Record, Words
from portpart.backends.language.words import Word, team_array

PASSED_ON = "read a field of it, or pass it to a device function that takes such a record"
MADE = "write name = Class(field=team_array(int64, 256), ...) at the top level of a kernel"


def flatten(function: types.FunctionType, tree: ast.FunctionDef, lookup: Callable[[str], Any],
            refuse: Refuse) -> tuple[list[Parameter], list[str]]:
    """Change `tree` in place.

    Parameters
    ----------
    lookup : callable
        What a name means outside the function; None if nothing.
    refuse : callable
        Raises the language's error for a node.

    Returns
    -------
    list of Parameter
        The parameters as they are written.
    list of str
        What fields and words were taken for: a part of what the function means.
    """
    parameters = [Parameter(argument.arg, _kind_of(function, argument, lookup, refuse), {})
                  for argument in tree.args.args]
    flattener = _Flattener(parameters, tree, lookup, refuse)
    tree.body = flattener.statements(tree.body)
    flat = []
    for parameter, argument in zip(parameters, tree.args.args, strict=True):
        if parameter.is_record:
            flattener.check_names(parameter, argument)
        flat += [ast.copy_location(ast.arg(name), argument) for name in parameter.flat]
    tree.args.args = flat
    return parameters, flattener.meanings


def _kind_of(function: types.FunctionType, argument: ast.arg, lookup: Callable[[str], Any],
             refuse: Refuse) -> type[Record] | type[Words] | None:
    """The class of a record or of words that a parameter is annotated with."""
    if argument.annotation is None:
        return None
    kind = function.__annotations__[argument.arg]
    if isinstance(kind, str):
        kind = function.__globals__.get(kind, lookup(kind))
    if not (isinstance(kind, type) and issubclass(kind, (Record, Words))):
        refuse(argument, f"parameter {argument.arg!r} is annotated with what is no record",
               "annotate records and words only, with a class of this module")
    return kind


class _Flattener:
    """Rewrites the statements of one function."""

    def __init__(self, parameters: list[Parameter], tree: ast.FunctionDef,
                 lookup: Callable[[str], Any], refuse: Refuse) -> None:
        self.parameters = parameters
        self.known = {each.name: each for each in parameters if each.kind is not None}
        self.made: dict[str, tuple[type[Record], dict[str, str]]] = {}
        self.tree, self.lookup, self.refuse = tree, lookup, refuse
        self.names = self.all_names() if self.known else None
        self.meanings: list[str] = []
        self.methods: dict[type[ast.AST], Callable[[Any], ast.expr]] = {
            ast.Attribute: self.attribute, ast.Name: self.name, ast.Call: self.call}

    def all_names(self) -> set[str]:
        """Names of the function, as it is written."""
        return {each.name for each in self.parameters} | {
            node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """`body` without records."""
        result: list[ast.stmt] = []
        for statement in body:
            kind = self.made_record(statement)
            if kind is None:
                result.append(self.visit(statement))
            else:
                assert isinstance(statement, ast.Assign)
                result += self.parts(statement, kind)
        return result

    # records made in a kernel -------------------------------------------------------------

    def made_record(self, node: ast.stmt) -> type[Record] | None:
        """Class of the record that the statement makes, if it does."""
        call = node.value if isinstance(node, ast.Assign) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            return None
        kind = self.meaning(call.func.id)
        return kind if isinstance(kind, type) and issubclass(kind, Record) else None

    def parts(self, node: ast.Assign, kind: type[Record]) -> list[ast.stmt]:
        """A statement for each team array of the record, and names for what exists already."""
        call, target = node.value, node.targets[0]
        assert isinstance(call, ast.Call)
        if len(node.targets) != 1 or not isinstance(target, ast.Name) or target.id in self.known:
            self.refuse(node, "a record has a name of its own and is made once", MADE)
        given = dict(zip(kind.field_names, call.args)) | {
            str(keyword.arg): keyword.value for keyword in call.keywords}
        if set(given) != set(kind.field_names) or len(call.args) > len(kind.field_names):
            self.refuse(node, f"{kind.__name__} has the fields {', '.join(kind.field_names)}", MADE)
        statements: list[ast.stmt] = []
        fields = {}
        for field, value in given.items():
            value = self.visit(value)
            if isinstance(value, ast.Name):
                fields[field] = value.id
                continue
            if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
                    and self.meaning(value.func.id) is team_array):
                self.refuse(value, f"field {field!r} is no array", MADE)
            fields[field] = self.new_name(target, field)
            name = ast.copy_location(ast.Name(fields[field], ast.Store()), target)
            statements.append(ast.copy_location(ast.Assign([name], value), node))
        self.made[target.id] = (kind, fields)
        return statements

    def new_name(self, record: ast.Name, field: str) -> str:
        """What a field is called, which nothing else may be."""
        name = flat_name(record.id, field)
        if self.names is None:
            self.names = self.all_names()
        if name in self.names:
            self.refuse(record, f"{name!r} is also what field {field!r} of {record.id!r} is called",
                        "choose another name for one of them")
        self.names.add(name)
        return name

    def check_names(self, parameter: Parameter, argument: ast.arg) -> None:
        """Refuse names that a field of the parameter would hide."""
        name = ast.copy_location(ast.Name(parameter.name, ast.Load()), argument)
        for field in parameter.fields:
            self.new_name(name, field)

    # expressions --------------------------------------------------------------------------

    def visit(self, node: Any) -> Any:
        """The node without records; every kernel goes through here when it is imported."""
        method = self.methods.get(node.__class__)
        if method is not None:
            return method(node)
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, (ast.expr, ast.stmt)):
                setattr(node, name, self.visit(value))
            elif value.__class__ is list:
                value[:] = [self.visit(each) for each in value]
        return node

    def meaning(self, name: str) -> Any:
        """What a name of the function means if it comes from outside."""
        return None if name in self.known or name in self.made else self.lookup(name)

    def attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.value, ast.Name):
            return node
        name = node.value.id
        if name in self.made or (name in self.known and self.known[name].is_record):
            if isinstance(node.ctx, ast.Store):
                self.refuse(node, f"field {node.attr!r} of a record is assigned to",
                            "store into an element of it, as in record.field[i] = x")
            return self.field(node.value, node.attr, node)
        if name in self.known:
            kind, array = self.known[name].kind, ast.copy_location(ast.Name(name, ast.Load()), node)
            return ast.copy_location(
                ast.Subscript(array, self.index(kind, node), node.ctx), node)
        kind = self.meaning(name)
        if isinstance(kind, type) and issubclass(kind, Words) and isinstance(node.ctx, ast.Load):
            return self.index(kind, node)
        return node

    def index(self, kind: Any, node: ast.Attribute) -> ast.Constant:
        """Index of a word."""
        if node.attr not in kind.indices:
            self.refuse(node, f"{kind.__name__} has no word {node.attr!r}",
                        f"it has {', '.join(kind.indices)}")
        index = kind.indices[node.attr]
        self.meanings.append(f"{kind.__name__}.{node.attr}={index}")
        return ast.copy_location(ast.Constant(index), node)

    def field(self, record: ast.Name, field: str, node: ast.expr) -> ast.Name:
        """The flat name of a field, which counts as used."""
        if record.id in self.made:
            kind = self.made[record.id][0]
        else:
            parameter = self.known[record.id]
            assert parameter.kind is not None
            assert issubclass(parameter.kind, Record)
            kind = parameter.kind
        if field not in kind.field_names:
            self.refuse(node, f"{kind.__name__} has no field {field!r}",
                        f"it has {', '.join(kind.field_names) or 'none'}")
        if record.id in self.made:
            name = self.made[record.id][1][field]
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        parameter.used[field] = None
        name = flat_name(record.id, field)
        self.meanings.append(name)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def name(self, node: ast.Name) -> ast.expr:
        if node.id in self.made or node.id in self.known:
            if isinstance(node.ctx, ast.Store):
                self.refuse(node, f"record {node.id!r} is assigned to",
                            "choose another name for the value")
            self.refuse(node, f"record {node.id!r} is used as a number or an array", PASSED_ON)
        return node

    def call(self, node: ast.Call) -> ast.expr:
        target = self.meaning(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(target, type) and issubclass(target, Record):
            self.refuse(node, "a record is not the whole right side of an assignment at the top "
                        "level", MADE)
        if isinstance(target, DeviceFunction):
            node.args = self.passed(node, target)
        else:
            words = isinstance(target, Word) and self.takes_words(node)
            node.args = [*node.args[:words], *map(self.visit, node.args[words:])]
        return node

    def takes_words(self, node: ast.Call) -> bool:
        """Whether the first argument of a word of the language is an array of words."""
        first = node.args[0] if node.args else None
        return isinstance(first, ast.Name) and first.id in self.known and (
            self.known[first.id].is_words)

    def passed(self, node: ast.Call, target: DeviceFunction) -> list[ast.expr]:
        """Arguments for the flat form of `target`."""
        wanted = target.signature
        if not target.takes_records:
            return list(map(self.visit, node.args))
        if len(node.args) != len(wanted):
            self.refuse(node, f"{target.name} with {len(node.args)} arguments",
                        f"it takes {len(wanted)}")
        result: list[ast.expr] = []
        for argument, parameter in zip(node.args, wanted, strict=True):
            if parameter.kind is None:
                result.append(self.visit(argument))
            else:
                name = self.record_for(argument, parameter, target)
                result += ([name] if parameter.is_words else
                           [self.field(name, field, argument) for field in parameter.fields])
        return result

    def record_for(self, argument: ast.expr, parameter: Parameter,
                   target: DeviceFunction) -> ast.Name:
        """The argument, if it names what the parameter takes."""
        wanted = parameter.kind
        kind: type[Record] | type[Words] | None = None
        assert wanted is not None
        if isinstance(argument, ast.Name):
            if argument.id in self.made:
                kind = self.made[argument.id][0]
            elif argument.id in self.known:
                known = self.known[argument.id]
                kind = known.kind
                if kind is not None and issubclass(wanted, kind):
                    known.kind = kind = wanted
        if kind is None or not issubclass(kind, wanted):
            found = "no record" if kind is None else f"a {kind.__name__}"
            self.refuse(argument, f"{target.name} takes a {wanted.__name__} as "
                        f"{parameter.name!r}, this is {found}", "pass on a record of that class")
        assert isinstance(argument, ast.Name)
        return argument
