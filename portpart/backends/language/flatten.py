"""Removes records from a function: fields become parameters, words become elements of an array.

``graph.begin[v]`` becomes ``graph_begin[v]``, ``level.dirty`` becomes ``level[3]``, and a record
that is passed on becomes the fields that the other function uses. So neither the checks nor a
compiler have to handle records. Each node keeps its place in the source.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from portpart.backends.language.kernels import DeviceFunction
from portpart.backends.language.order_checks import Refuse
from portpart.backends.language.parameters import (
    KernelParameter,
    Path,
    fits,
    flat_name,
    flat_parameters,
)
from portpart.backends.language.records import Kind, Record, StaticArray, Words
from portpart.backends.language.source import FunctionCall, Rewriter, call_parts, meaning_of
from portpart.backends.language.words import Word, lane_array, team_array

PASSED_ON = "read a field of it, or pass it to a device function that takes such a record"
MADE = "write name = Class(field=team_array(int64, 256), ...) at the top level of a kernel"


def flatten(function: types.FunctionType, tree: ast.FunctionDef, lookup: Callable[[str], Any],
            refuse: Refuse) -> tuple[list[KernelParameter], set[str]]:
    """Flatten `tree` in place.

    Parameters
    ----------
    lookup : callable
        Returns the meaning of a name outside the function, or None.
    refuse : callable
        Raises the language's error for a node.

    Returns
    -------
    list of Parameter
        The parameters as written.
    set of str
        Names of arrays that are fields of records made in the function.
    """
    parameters = [KernelParameter(argument.arg, _kind_of(function, argument, lookup, refuse), {})
                  for argument in tree.args.args]
    code = function.__code__
    names = {*code.co_varnames, *code.co_names, *code.co_freevars}
    flattener = _Flattener(parameters, names, tree, lookup, refuse)
    tree.body = flattener.statements(tree.body)
    written = {each.arg: each for each in tree.args.args}
    flat = []
    for parameter, path, name in flat_parameters(parameters):
        argument = written[parameter.name]
        if name != parameter.name:
            flattener.check_name(name, path, ast.copy_location(
                ast.Name(parameter.name, ast.Load()), argument))
        flat.append(ast.copy_location(ast.arg(name), argument))
    tree.args.args = flat
    return parameters, flattener.made_names


def _kind_of(function: types.FunctionType, argument: ast.arg, lookup: Callable[[str], Any],
             refuse: Refuse) -> Kind | None:
    """Return the class of the record or words in a parameter's annotation."""
    if argument.annotation is None:
        return None
    kind = function.__annotations__[argument.arg]
    if isinstance(kind, str):
        kind = meaning_of(kind, function.__globals__.get) or meaning_of(kind, lookup)
    if not (isinstance(kind, type) and issubclass(kind, (Record, Words))):
        refuse(argument, f"parameter {argument.arg!r} is annotated with what is not a record",
               "annotate records and words only, with a class of this module")
    return kind


@dataclass(frozen=True)
class Reference:
    """A record or words inside a function: a parameter, an object made there, or a field of one."""

    root: str
    path: Path
    kind: Kind


def words_in(kind: Any) -> Any:
    """Return the class of words of a class: itself, or the words of a record; None for others."""
    if not isinstance(kind, type):
        return None
    found = kind.own_words if issubclass(kind, Record) else kind
    return found if found is not None and issubclass(found, Words) else None


def names_in(kind: type[Record]) -> tuple[str, ...]:
    """Return the names of a record's fields and words."""
    return (*kind.field_names, *(kind.own_words.indices if kind.own_words is not None else ()))


class _Flattener(Rewriter):
    """Rewrites the statements of one function."""

    def __init__(self, parameters: list[KernelParameter], names: set[str], tree: ast.FunctionDef,
                 lookup: Callable[[str], Any], refuse: Refuse) -> None:
        self.known = {each.name: each for each in parameters if each.kind is not None}
        self.made: dict[str, tuple[Kind, dict[str, str]]] = {}
        self.tree, self.lookup, self.refuse = tree, lookup, refuse
        self.names, self.made_names = names, set[str]()
        self.methods = {
            ast.Attribute: self.attribute, ast.Name: self.name, FunctionCall: self.call,
            ast.Subscript: self.subscript}

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return `body` without records."""
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

    def made_record(self, node: ast.stmt) -> Kind | None:
        """Return the class of the record or words that the statement makes, or None."""
        name, _ = call_parts(node.value if isinstance(node, ast.Assign) else None)
        kind = None if name is None else self.meaning(name.id)
        return kind if isinstance(kind, type) and issubclass(kind, (Record, Words)) else None

    def parts(self, node: ast.Assign, kind: Kind) -> list[ast.stmt]:
        """Return a statement for each team array of the record, and name the arrays that exist
        already.
        """
        call, target = node.value, node.targets[0]
        assert isinstance(call, FunctionCall)
        if len(node.targets) != 1 or not isinstance(target, ast.Name) or target.id in self.known:
            self.refuse(node, "a record needs its own name and is made once", MADE)
        if issubclass(kind, Words):
            self.made[target.id] = (kind, {})
            node.value = self.team_array(call.args[0] if call.args else call)
            return [node]
        if issubclass(kind, StaticArray):
            self.made[target.id] = (kind, {each: self.new_name(target, (each,))
                                           for each in kind.field_names})
            self.made_names.update(self.made[target.id][1].values())
            return []
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
            fields[field] = self.new_name(target, (field,))
            self.made_names.add(fields[field])
            name = ast.copy_location(ast.Name(fields[field], ast.Store()), target)
            statements.append(ast.copy_location(ast.Assign([name], self.team_array(value)), node))
        self.made[target.id] = (kind, fields)
        return statements

    def team_array(self, node: ast.expr) -> ast.expr:
        """Return the call that makes a team array; other expressions raise an error."""
        name, _ = call_parts(node)
        if name is None or self.meaning(name.id) not in (team_array, lane_array):
            self.refuse(node, "what the record is made of is not an array", MADE)
        return node

    def new_name(self, record: ast.Name, path: Path) -> str:
        """Return the flat name of a field, which must be unique."""
        name = flat_name(record.id, path)
        self.check_name(name, path, record)
        return name

    def check_name(self, name: str, path: Path, record: ast.Name) -> None:
        """Raise an error if a name is in use, else reserve it."""
        if name in self.names:
            what = f"field {path[-1]!r}" if path else "the array"
            self.refuse(record, f"{name!r} is also what {what} of {record.id!r} is called",
                        "choose another name for one of them")
        self.names.add(name)

    # expressions --------------------------------------------------------------------------

    def meaning(self, name: str) -> Any:
        """Return the meaning of a name that comes from outside the function."""
        return None if name in self.known or name in self.made else self.lookup(name)

    def attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name):
            words = words_in(self.meaning(node.value.id))
            if words is not None:
                return self.index(words, node)
        owner = self.reference(node.value)
        if owner is None:
            return node
        if issubclass(owner.kind, Words) or owner.kind.has_word(node.attr):
            index = self.index(words_in(owner.kind), node)
            return ast.copy_location(
                ast.Subscript(self.words_of(node.value), index, node.ctx), node)
        kind = self.kind_of(owner, node)
        if isinstance(node.ctx, ast.Store):
            self.refuse(node, f"field {node.attr!r} of a record is assigned to",
                        "store into an element of it, as in record.field[i] = x")
        if kind is not None:
            self.refuse(node, f"record {node.attr!r} is used as a number or an array", PASSED_ON)
        return self.flat(owner, (node.attr,), node)

    def reference(self, node: ast.expr) -> Reference | None:
        """Return the record or words that an expression names, or None."""
        if isinstance(node, ast.Name):
            if node.id in self.made:
                return Reference(node.id, (), self.made[node.id][0])
            kind = self.known[node.id].kind if node.id in self.known else None
            return None if kind is None else Reference(node.id, (), kind)
        owner = self.reference(node.value) if isinstance(node, ast.Attribute) else None
        if owner is None or not issubclass(owner.kind, Record):
            return None
        assert isinstance(node, ast.Attribute)
        if owner.kind.has_word(node.attr):
            return None
        kind = self.kind_of(owner, node)
        return None if kind is None else Reference(owner.root, (*owner.path, node.attr), kind)

    def kind_of(self, owner: Reference, node: ast.Attribute) -> Kind | None:
        """Return the class of a field that is a record or words; None for an array or a number."""
        assert issubclass(owner.kind, Record)
        if node.attr not in owner.kind.field_names:
            self.refuse(node, f"{owner.kind.__name__} has no field {node.attr!r}",
                        f"it has {', '.join(names_in(owner.kind)) or 'none'}")
        return owner.kind.kind_of(node.attr)

    def index(self, kind: type[Words], node: ast.Attribute) -> ast.Constant:
        """Return the index of a word."""
        if node.attr not in kind.indices:
            self.refuse(node, f"{kind.__name__} has no word {node.attr!r}",
                        f"it has {', '.join(kind.indices)}")
        return ast.copy_location(ast.Constant(kind.indices[node.attr]), node)

    def flat(self, owner: Reference, path: Path, node: ast.expr) -> ast.Name:
        """Return the flat name of a field, which counts as used; without a path, that of words."""
        if owner.root in self.made:
            if path == ("own_words",):
                self.refuse(node, f"words of {owner.root!r}, a record that is made here",
                            "take the words of a parameter")
            name = self.made[owner.root][1][path[0]] if path else owner.root
        else:
            path = (*owner.path, *path)
            if path:
                self.known[owner.root].used[path] = None
            name = self.known[owner.root].flat_name(path)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def numbered(self, owner: Reference, node: ast.Subscript) -> ast.Name:
        """Return the variable that replaces an element of a static array."""
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if str(index) not in owner.kind.field_names:  # type: ignore[union-attr]
            self.refuse(node, f"element {ast.unparse(node.slice)} of a static array",
                        f"use 0 ... {len(owner.kind.field_names) - 1}, "  # type: ignore[union-attr]
                        "or the variable of a loop over static_range")
        if isinstance(node.ctx, ast.Store) and owner.root not in self.made:
            self.refuse(node, f"an element of {owner.root!r} is assigned to",
                        "make a static array of your own")
        name = self.flat(owner, (str(index),), node)
        name.ctx = node.ctx
        return name

    def subscript(self, node: ast.Subscript) -> ast.expr:
        owner = self.reference(node.value)
        if owner is not None and issubclass(owner.kind, StaticArray):
            return self.numbered(owner, node)
        is_words = owner is not None and words_in(owner.kind) is not None
        node.value = self.words_of(node.value) if is_words else self.visit(node.value)
        node.slice = self.visit(node.slice)
        return node

    def name(self, node: ast.Name) -> ast.expr:
        if node.id in self.made or node.id in self.known:
            if isinstance(node.ctx, ast.Store):
                self.refuse(node, f"record {node.id!r} is assigned to",
                            "choose another name for the value")
            self.refuse(node, f"record {node.id!r} is used as a number or an array", PASSED_ON)
        return node

    def call(self, node: FunctionCall) -> ast.expr:
        target = self.meaning(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(target, type) and issubclass(target, (Record, Words)):
            self.refuse(node, "a record is not the whole right side of an assignment at the top "
                        "level", MADE)
        if isinstance(target, DeviceFunction):
            node.args = self.passed(node, target)
        else:
            words = isinstance(target, Word) and self.takes_words(node)
            node.args = [self.words_of(each) if words and each is node.args[0] else
                         self.visit(each) for each in node.args]
        return node

    def words_of(self, node: ast.expr) -> ast.Name:
        """Return the array of the words that an expression names."""
        owner = self.reference(node)
        assert owner is not None
        return self.flat(owner, () if issubclass(owner.kind, Words) else ("own_words",), node)

    def takes_words(self, node: FunctionCall) -> bool:
        """Whether the first argument of a word of the language is an array of words."""
        owner = self.reference(node.args[0]) if node.args else None
        return owner is not None and words_in(owner.kind) is not None

    def passed(self, node: FunctionCall, target: DeviceFunction) -> list[ast.expr]:
        """Return the arguments for the flat form of `target`."""
        needed = target.signature
        if not target.takes_records:
            return list(map(self.visit, node.args))
        if len(node.args) != len(needed):
            self.refuse(node, f"{target.name} with {len(node.args)} arguments",
                        f"it takes {len(needed)}")
        result: dict[str, ast.expr] = {}
        for argument, parameter in zip(node.args, needed, strict=True):
            if parameter.kind is None:
                result[parameter.name] = self.visit(argument)
                continue
            owner = self.record_for(argument, parameter, target)
            for path in parameter.flat_paths:
                name, given = parameter.flat_name(path), self.flat(
                    owner, self.path_in(owner, path, argument, target), argument)
                known = result.setdefault(name, given)
                if isinstance(known, ast.Name) and known.id != given.id:
                    self.refuse(argument, f"{target.name} would get parts of two arrays of words, "
                                f"{known.id!r} and {given.id!r}", "pass on parts of one")
        return list(result.values())

    def path_in(self, owner: Reference, path: Path, node: ast.expr, target: DeviceFunction) -> Path:
        """Return the path to a field that `target` uses, also in words that replace its record."""
        if not issubclass(owner.kind, Words) or not path:
            return path
        if path != ("own_words",):
            self.refuse(node, f"{target.name} uses {'.'.join(path)!r} of a record, these are "
                        f"its words", "pass on a record, or let it take arrays and words apart")
        return ()

    def record_for(self, argument: ast.expr, parameter: KernelParameter,
                   target: DeviceFunction) -> Reference:
        """Return the argument if it names a record or words that the parameter accepts."""
        needed, owner = parameter.kind, self.reference(argument)
        assert needed is not None
        if owner is not None and owner.root in self.known and not owner.path:
            known = self.known[owner.root]
            if issubclass(needed, owner.kind) and known.is_record:
                known.kind = needed
                owner = Reference(owner.root, (), needed)
        if owner is None or not fits(owner.kind, needed):
            found = "not a record" if owner is None else f"a {owner.kind.__name__}"
            self.refuse(argument, f"{target.name} takes a {needed.__name__} as "
                        f"{parameter.name!r}, this is {found}", "pass on a record of that class")
        return owner
