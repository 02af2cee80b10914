"""What a checked function is: its tree, what its names mean, and a fingerprint of both."""

from __future__ import annotations

import ast
import functools
import hashlib
import types
from typing import Any

from portpart.backends.language.parameters import Flat, Mismatch, Parameter
from portpart.backends.language.team_arrays import TeamArray
from portpart.errors import KernelTypeError


class CheckedFunction:
    """A function inside the kernel language.

    Attributes
    ----------
    name : str
    function : FunctionType
        The Python function as written.
    tree : ast.FunctionDef
        Its syntax tree without the docstring and without records; line numbers are those of the
        file.
    signature : list of Parameter
        The parameters as they are written.
    takes_records : bool
        Whether one of them is a record or words.
    references : dict of str to object
        What each name means that is neither a parameter nor a local variable: a number, a
        `DeviceFunction` or a `Word`.
    filename, first_line
        Where it stands.
    is_kernel, uses_team_words : bool
    team_arrays : dict of str to TeamArray
        The scratch arrays of a kernel, by the names it gives them.
    """

    def __init__(self, function: types.FunctionType, tree: ast.FunctionDef, source: str,
                 signature: list[Parameter], references: dict[str, Any], is_kernel: bool,
                 uses_team_words: bool, team_arrays: dict[str, TeamArray]) -> None:
        self.name = function.__name__
        self._source = source
        self.signature = signature
        self.takes_records = any(parameter.kind for parameter in signature)
        self.function = function
        self.tree = tree
        self.references = references
        self.filename = function.__code__.co_filename
        self.first_line = tree.lineno
        self.is_kernel = is_kernel
        self.uses_team_words = uses_team_words
        self.team_arrays = team_arrays
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name} at {self.filename}:{self.first_line}>"

    @property
    def parameters(self) -> list[str]:
        """Names of the flat parameters; the first one of a kernel is the work index."""
        return [argument.arg for argument in self.tree.args.args]

    def flattened(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments of a launch with those fields that are used in place of records.

        Raises
        ------
        KernelTypeError
            If an argument is another record than its parameter takes, or none.
        """
        if not self.takes_records:
            return arguments
        wanted = self._flat
        try:
            if len(arguments) != len(wanted):
                raise Mismatch(f"{len(arguments)} arguments are given, {len(wanted)} are needed")
            return tuple(wanted(arguments))
        except Mismatch as mismatch:
            raise KernelTypeError(f"{self.filename}:{self.first_line}: {mismatch} (in "
                                  f"{self.name})") from None

    @functools.cached_property
    def _flat(self) -> Flat:
        return Flat(self.signature[self.is_kernel :])

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hash of the source, of the order of its arguments and of all that its names stand for.

        Records give arguments the order of their fields, which the source does not tell.
        """
        parts = [self._source, repr(self.parameters), repr(self.team_arrays)]
        parts += [f"{name}: {_meaning(value)}" for name, value in sorted(self.references.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _meaning(value: Any) -> str:
    if isinstance(value, CheckedFunction):
        return value.fingerprint
    return repr(value) if isinstance(value, (bool, int, float)) else str(value.name)


class DeviceFunction(CheckedFunction):
    """A function that kernels call; made by :func:`device`."""


class Kernel(CheckedFunction):
    """A function of one work item; made by :func:`kernel`, launched by an execution space."""
