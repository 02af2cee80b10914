"""Static values: known when a kernel is compiled, and not present when it runs.

A parameter annotated with a subclass of `Static` is an object of that class; one annotated with
`StaticValue` is a number, a device function or a word.  A function with such parameters is a
template: ``cost.bound(rules=rules)`` is the function for these values.

In a kernel ``rules.distance(a, b)`` calls a function of the object and ``rules.stripes`` is a
constant.  ``if rules.is_cut:`` keeps one side; the other one is not checked. ``for j in
static_range(4):`` repeats its body with j replaced by 0, 1, 2 and 3. Imported modules are also
static values: ``kl.lane()`` is a word of the module `kl`.

>>> @dataclass(frozen=True)
... class Rules(Static):
...     distance: DeviceFunction
>>> @device
... def cost(a, b, rules: Rules):
...     return rules.distance(a, b)
>>> cost.bound(rules=Rules(hops))         # a function of a and b
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from portpart.backends.language.order_checks import Refuse
from portpart.backends.language.source import FunctionCall, Rewriter, copied, meaning_of

MISSING = object()
"""Means that a value is not static; None is a static value."""


class Static:
    """A value that is known when a kernel is compiled.

    Subclasses are frozen dataclasses; the code depends on their fields.
    """


if TYPE_CHECKING:
    StaticValue = Any
else:
    class StaticValue(Static):
        """A number, device function or word; None means that the function is absent."""


def static_range(*bounds: int) -> range:
    """Return the numbers of a loop that is unrolled when it is compiled."""
    return range(*bounds)


def static_places(function: types.FunctionType, lookup: Callable[[str], Any]) -> dict[str, int]:
    """Return the places of the static parameters of a function, by name."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    places = {}
    for name, kind in function.__annotations__.items():
        kind = meaning_of(kind, lookup) if isinstance(kind, str) else kind
        if isinstance(kind, type) and issubclass(kind, Static):
            places[name] = names.index(name)
    return places


def dotted(node: ast.expr) -> str:
    """Return a name, or a member of something with a name, as written."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    assert isinstance(node, ast.Name)
    return node.id


class Specialiser(Rewriter):
    """Replaces static values in a function by names that have a meaning.

    Parameters
    ----------
    values
        The static parameters, by name.
    assigned
        Names that are variables of the function.
    outside
        Returns the meaning of a name outside of the function, or None.
    refuse
        Raises the language's error for a node.

    Attributes
    ----------
    names
        The meaning of each name that replaces a static value.
    """

    def __init__(self, values: Mapping[str, Any], assigned: set[str],
                 outside: Callable[[str], Any], refuse: Refuse) -> None:
        self.values, self.assigned = values, assigned - values.keys()
        self.outside, self.refuse = outside, refuse
        self.numbers: dict[str, int] = {}
        self.names: dict[str, Any] = dict(values)
        self.methods = {
            ast.Attribute: self.attribute, ast.Name: self.name, FunctionCall: self.call,
            ast.IfExp: self.choice, ast.If: self.branch, ast.For: self.loop}

    # values -------------------------------------------------------------------------------

    def value_of(self, node: ast.AST) -> Any:
        """Return the value of a static parameter, a module or a member of them, or MISSING."""
        if isinstance(node, ast.Name):
            if node.id in self.values:
                return self.values[node.id]
            known = None if node.id in self.assigned else self.outside(node.id)
            return known if isinstance(known, (types.ModuleType, Static)) else MISSING
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            operand = self.value_of(node.operand)
            return MISSING if operand is MISSING else not operand
        owner = self.value_of(node.value) if isinstance(node, ast.Attribute) else MISSING
        if owner is MISSING:
            return MISSING
        assert isinstance(node, ast.Attribute)
        if not hasattr(owner, node.attr):
            kind = "module " if isinstance(owner, types.ModuleType) else ""
            self.refuse(node, f"{kind}{ast.unparse(node.value)!r} has no {node.attr!r}",
                        "define it there")
        return getattr(owner, node.attr)

    def meaning(self, node: ast.AST) -> Any:
        """Return the value of any expression, also of constants and of names outside of the
        function.
        """
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.numbers:
            return self.numbers[node.id]
        value = self.value_of(node)
        if value is MISSING and isinstance(node, ast.Name) and node.id not in self.assigned:
            value = self.outside(node.id)
            value = MISSING if value is None else value
        return value

    def argument(self, node: ast.expr) -> Any:
        """Return the value of an argument that must be static."""
        value = self.meaning(node)
        if value is MISSING:
            self.refuse(node, f"{ast.unparse(node)!r} is not known when the kernel is compiled",
                        "pass a static parameter, or a name of the module")
        return value

    def name_for(self, node: ast.expr, name: str, value: Any) -> ast.Name:
        """Return a name for a static value."""
        self.names[name] = value
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    # expressions --------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.value_of(node)
        if value is MISSING:
            return self.entered(node)
        if not isinstance(node.ctx, ast.Load):
            self.refuse(node, f"{ast.unparse(node)!r} is assigned to",
                        "a static value does not change")
        return self.name_for(node, dotted(node), value)

    def name(self, node: ast.Name) -> ast.expr:
        if node.id in self.values and not isinstance(node.ctx, ast.Load):
            self.refuse(node, f"static parameter {node.id!r} is assigned to",
                        "copy it to a new name first")
        if node.id in self.numbers:
            return ast.copy_location(ast.Constant(self.numbers[node.id]), node)
        return node

    def call(self, node: FunctionCall) -> ast.expr:
        target = self.meaning(node.func)
        places: dict[str, int] = getattr(target, "static_places", {})
        if places:
            if len(node.args) <= max(places.values()):
                self.refuse(node, f"{target.name} with {len(node.args)} arguments",
                            f"it takes {', '.join(places)} as well")
            target = target.bound(**{name: self.argument(node.args[place])
                                     for name, place in places.items()})
            node.args = [each for place, each in enumerate(node.args)
                         if place not in places.values()]
            node.func = self.name_for(node.func, f"{dotted(node.func)}.{len(self.names)}", target)
        elif isinstance(node.func, ast.Attribute):
            node.func = self.visit(node.func)
        node.args = [self.visit(each) for each in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def choice(self, node: ast.IfExp) -> Any:
        value = self.value_of(node.test)
        if value is MISSING:
            return self.entered(node)
        return self.visit(node.body if value else node.orelse)

    # statements ---------------------------------------------------------------------------

    def branch(self, node: ast.If) -> Any:
        value = self.value_of(node.test)
        if value is MISSING:
            node.test = self.visit(node.test)
            node.body, node.orelse = self.visited(node.body), self.visited(node.orelse)
            if not node.body:
                node.body = [ast.copy_location(ast.Pass(), node)]
            return node
        return self.visited(node.body if value else node.orelse)

    def loop(self, node: ast.For) -> Any:
        call = node.iter
        if not (isinstance(call, FunctionCall) and self.meaning(call.func) is static_range):
            return self.entered(node)
        if not isinstance(node.target, ast.Name) or node.orelse:
            self.refuse(node, "a loop over static_range takes one name and has no else",
                        "write for j in static_range(n):")
        for each in ast.walk(node):
            if isinstance(each, (ast.Break, ast.Continue)):
                self.refuse(each, "a loop over static_range cannot be left", "use range(...)")
        name, result = node.target.id, []
        for number in static_range(*map(self.argument, call.args)):
            self.numbers[name] = number
            result += self.visited(copied(node.body))
        self.numbers.pop(name, None)
        return result
