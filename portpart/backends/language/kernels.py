"""Checked functions: the tree, the meanings of names, and a fingerprint of both."""

from __future__ import annotations

import ast
import functools
import linecache
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from portpart.backends.language import fingerprint as signatures, source
from portpart.backends.language.fingerprint import fingerprint_of, names_of
from portpart.backends.language.parameters import FlatArguments, KernelParameter, Mismatch
from portpart.backends.language.statics import static_places
from portpart.backends.language.team_arrays import TeamArray
from portpart.backends.language.types import ABSENT, ArgumentType, ArrayType
from portpart.backends.language.words import Word
from portpart.errors import KernelTypeError

if TYPE_CHECKING:
    from typing_extensions import Self

NO_VALUES: Mapping[str, Any] = types.MappingProxyType({})

_GIVEN = object()
"""Replaces the value of a parameter that is not static."""

_checking = threading.RLock()
"""The only lock during a check: locks of cached properties could cause a deadlock."""


class Findings(NamedTuple):
    """The results of a function's check.

    Attributes
    ----------
    tree : ast.FunctionDef
        Its syntax tree without the docstring and without records; line numbers are those of the
        file.
    signature : list of KernelParameter
        The parameters as written.
    references : dict of str to object
        The meaning of each name that is neither a parameter nor a local variable: a number, a
        `DeviceFunction` or a `Word`.
    uses_team_words : bool
    team_arrays : dict of str to TeamArray
        The scratch arrays of a kernel, by their names there.
    """

    tree: ast.FunctionDef
    signature: list[KernelParameter]
    references: dict[str, Any]
    uses_team_words: bool
    team_arrays: dict[str, TeamArray]


class CheckedFunction:
    """A function of the kernel language, checked when its findings are first used.

    Attributes
    ----------
    name : str
    function : FunctionType
        The Python function as written.
    is_kernel : bool
    filename : str
        Name of its file.
    values : mapping of str to object
        The values of its static parameters, if it is bound.
    """

    def __init__(self, function: types.FunctionType, is_kernel: bool,
                 find: Callable[[Mapping[str, Any]], Findings],
                 values: Mapping[str, Any] = NO_VALUES) -> None:
        self.name = function.__name__
        self.function = function
        self.filename = function.__code__.co_filename
        self.is_kernel = is_kernel
        self.__doc__ = function.__doc__
        self.values = values
        self._find = find
        self._bound: dict[tuple[Any, ...], Any] = {}
        self._found: Findings | None = None
        self._recalled: list[KernelParameter] | None = None
        self._takes_records: bool | None = None

    def check(self) -> Findings:
        """Check the function, unless that has been done.

        Raises
        ------
        KernelSyntaxError
            If it is outside the kernel language.
        """
        with _checking:
            if self._found is None:
                assert self.fingerprint  # fixes the meanings of its names
                self._found = self._find(self.values)
            return self._found

    @functools.cached_property
    def static_places(self) -> dict[str, int]:
        """Return the places of the static parameters without a value, by name."""
        if self.values or not self.function.__annotations__:
            return {}
        return static_places(self.function, names_of(self.function).get)

    def bound(self, **values: Any) -> Self:
        """Return the function for these values of its static parameters; always the same object.

        Raises
        ------
        KernelTypeError
            If other parameters are static, or a value cannot be compared.
        """
        if values.keys() != self.static_places.keys():
            raise KernelTypeError(
                f"{self.name} is bound to {', '.join(values) or 'nothing'}; its static parameters "
                f"are {', '.join(self.static_places) or 'none'}")
        key = tuple((type(values[name]), values[name]) for name in self.static_places)
        try:
            found = self._bound.get(key)
        except TypeError as error:
            raise KernelTypeError(f"{self.name}: a static value is not frozen: {error}") from None
        if found is None:
            found = self._bound.setdefault(
                key, type(self)(self.function, self.is_kernel, self._find, values))
        return found

    @property
    def tree(self) -> ast.FunctionDef:
        """The syntax tree."""
        return (self._found or self.check()).tree

    @property
    def signature(self) -> list[KernelParameter]:
        """The parameters as written."""
        return self._found.signature if self._found else self._recalled or self._recall()

    @property
    def takes_records(self) -> bool:
        """Whether a parameter is a record or words."""
        if self._takes_records is None:
            self._takes_records = any(parameter.kind for parameter in self.signature)
        return self._takes_records

    def _recall(self) -> list[KernelParameter]:
        """Return the parameters from the cache, otherwise from a check."""
        code = self.function.__code__
        if not self.function.__annotations__:
            self._recalled = [KernelParameter(name, None, {})
                              for name in code.co_varnames[: code.co_argcount]]
            return self._recalled
        if not self.is_kernel:
            return self.check().signature
        found = signatures.recall(self.name, self.fingerprint)
        if found is None:
            found = self.check().signature
            signatures.keep(self.name, self.fingerprint, found)
        self._recalled = found
        return found

    @property
    def references(self) -> dict[str, Any]:
        """The meanings of its names."""
        return (self._found or self.check()).references

    @property
    def uses_team_words(self) -> bool:
        """Whether the lanes of a team communicate."""
        return (self._found or self.check()).uses_team_words

    @property
    def team_arrays(self) -> dict[str, TeamArray]:
        """The scratch arrays of a kernel."""
        return (self._found or self.check()).team_arrays

    @property
    def first_line(self) -> int:
        """Its first line in the file."""
        return self.tree.lineno

    def __call__(self, *arguments: Any) -> Any:
        """Run as plain Python, with the values of its static parameters in their places."""
        if not self.values:
            return self.function(*arguments)
        given = iter(arguments)
        return self.function(*[next(given) if value is _GIVEN else value
                               for value in self._all_values])

    @functools.cached_property
    def _all_values(self) -> list[Any]:
        """Return the value of each static parameter, in its place."""
        code = self.function.__code__
        return [self.values.get(name, _GIVEN) for name in code.co_varnames[: code.co_argcount]]

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name} at {self.filename}:{self.first_line}>"

    @property
    def parameters(self) -> list[str]:
        """Names of the flat parameters; the first parameter of a kernel is the work index."""
        return [argument.arg for argument in self.tree.args.args]

    def flattened(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of a launch with the used fields in place of records.

        Raises
        ------
        KernelTypeError
            If an argument is not the record that its parameter needs.
        """
        if not self.takes_records:
            return arguments
        needed = self._flat
        try:
            if len(arguments) != len(needed):
                raise Mismatch(f"{len(arguments)} arguments are given, {len(needed)} are needed")
            return tuple(needed(arguments))
        except Mismatch as mismatch:
            raise KernelTypeError(f"{self.filename}:{self.first_line}: {mismatch} (in "
                                  f"{self.name})") from None

    @functools.cached_property
    def _flat(self) -> FlatArguments:
        return FlatArguments(self.signature[self.is_kernel :])

    @functools.cached_property
    def fingerprint(self) -> str:
        """Return a hash of all that its code depends on besides the types of its arguments."""
        return fingerprint_of(self.function, self.values)


class DeviceFunction(CheckedFunction):
    """A function that kernels call; made by :func:`device`."""


class Kernel(CheckedFunction):
    """A function of one work item; made by :func:`kernel`, launched by an execution space."""


# A checked function with its types for one set of argument types -------------------------------


@dataclass(eq=False)
class TypedFunction:
    """A kernel or device function with its types for one set of argument types.

    Attributes
    ----------
    function : CheckedFunction
    arguments : dict of str to ArgumentType
        Parameters in order, including a kernel's work index.
    variables : dict of str to numpy.dtype
        Local variables in the order of their first assignment.
    types : dict of ast.expr to numpy.dtype
        Type of each expression; for the call of range, of the loop variable.
    constants : dict of ast.expr to number
        Expressions whose value is known.
    calls : dict of ast.expr to TypedFunction
        The specialisation for each call of a device function.
    returns : numpy.dtype or None
    has_effects : bool
        Whether it stores, uses an atomic or a team word, itself or through a call.
    stored : frozenset of str
        Parameters that are numbers, which each launch of a kernel reads from memory.
    """

    function: CheckedFunction
    arguments: dict[str, ArgumentType]
    variables: dict[str, np.dtype] = field(default_factory=dict)
    types: dict[ast.expr, np.dtype] = field(default_factory=dict)
    constants: dict[ast.expr, Any] = field(default_factory=dict)
    calls: dict[ast.expr, TypedFunction] = field(default_factory=dict)
    returns: np.dtype | None = None
    has_effects: bool = False
    stored: frozenset[str] = frozenset()

    def kind(self, name: str) -> ArgumentType | None:
        """Return the type of the parameter or team array `name`, or None."""
        if name in self.function.team_arrays:
            return ArrayType(self.function.team_arrays[name].dtype)
        return self.arguments.get(name)

    def new_array(self, node: ast.Assign) -> str | None:
        """Return the name of the team array that the statement makes, or None."""
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.function.team_arrays:
            return target.id
        return None

    def element_of(self, node: ast.expr) -> np.dtype:
        """Type of the elements of an array that `node` names."""
        assert isinstance(node, ast.Name)
        array = self.kind(node.id)
        assert isinstance(array, ArrayType)
        return array.dtype

    def called(self, node: ast.expr) -> tuple[Word | TypedFunction, list[ast.expr]]:
        """What an expression calls, and its arguments without those of absent parameters."""
        name, given = source.call_parts(node)
        assert name is not None
        target = self.function.references[name.id]
        if isinstance(target, Word):
            return target, given
        callee = self.calls[node]
        return callee, [each for each, kind in zip(given, callee.arguments.values(), strict=True)
                        if kind is not ABSENT]

    @property
    def devices(self) -> list[TypedFunction]:
        """Every specialisation that this function needs, each after the functions that it calls."""
        found: dict[TypedFunction, None] = {}
        for callee in self.calls.values():
            found.update(dict.fromkeys([*callee.devices, callee]))
        return list(found)

    def live(self, statements: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Yield `statements` without branches that a constant condition excludes."""
        for statement in statements:
            if isinstance(statement, ast.If) and statement.test in self.constants:
                taken = self.constants[statement.test]
                yield from self.live(statement.body if taken else statement.orelse)
            else:
                yield statement


def refuse(function: CheckedFunction, node: ast.AST, problem: str, remedy: str) -> NoReturn:
    """Raise the type error for `node` of `function`, with its source marked."""
    text = linecache.getline(function.filename, getattr(node, "lineno", 0))
    source.refuse(function.filename, text, node, f"{problem} (in {function.name})", remedy,
                  KernelTypeError)
