"""Exceptions of portpart: every message says what is wrong, where, and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar


def printable(text: str) -> str:
    r"""Return `text` for a terminal: control characters are written as in Python's strings.

    Line breaks are kept. File names and contents of files may have any characters.

    Examples
    --------
    >>> printable("a\x1b[31m.graph")
    'a\\x1b[31m.graph'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter == "\n" or letter.isprintable()
                   else letter.encode("unicode_escape").decode() for letter in text)


class PortpartError(Exception):
    """Base class of all errors of portpart.

    Control characters in quoted text, such as file names, are escaped.

    Examples
    --------
    >>> import portpart
    >>> try:
    ...     portpart.partition("missing.graph", 2)
    ... except portpart.PortpartError as error:
    ...     print(error)
    missing.graph cannot be read: No such file or directory
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(PortpartError, ValueError):
    """A graph, an array or an option that cannot be used as given.

    Attributes
    ----------
    vertex : int or None
        The invalid vertex, if there is one; file readers convert it to a line number.
    edge : (int, int) or None
        The invalid edge.
    entry : int or None
        Position of the invalid weight in the given weights.

    Examples
    --------
    >>> import portpart
    >>> try:
    ...     portpart.partition([[0, 1], [1, 2]], 0)
    ... except portpart.InputError as error:
    ...     print(error)
    k is 0; it must be between 1 and 2147483647
    """

    def __init__(self, *message: object, vertex: int | None = None,
                 edge: tuple[int, int] | None = None, entry: int | None = None) -> None:
        super().__init__(*message)
        self.vertex, self.edge, self.entry = vertex, edge, entry


class GraphFormatError(InputError):
    r"""A file that does not follow its format; the message starts with ``file:line``.

    Attributes
    ----------
    unequal_rows : bool
        Whether lines that should be edges have different numbers of words.
    hypergraph : Hypergraph or None
        The hypergraph of an hMETIS file that cannot be a damaged METIS graph.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("wrong.graph").write_text("2 1\n2\n3\n")
    >>> try:
    ...     portpart.io.read("wrong.graph")
    ... except portpart.GraphFormatError as error:
    ...     print(error)
    wrong.graph:3: neighbour 3 of vertex 2 is not a vertex; vertices are 1 ... 2
    """

    unequal_rows: bool = False
    hypergraph: Any = None


class KernelSyntaxError(PortpartError, SyntaxError):
    """A kernel uses Python outside the kernel language; raised when its module is imported."""


class KernelTypeError(PortpartError, TypeError):
    """A kernel's types do not fit the kernel language; raised when it is first compiled."""


class DeviceUnavailable(PortpartError, RuntimeError):
    """The requested device cannot be used on this machine; the message gives the reason.

    Examples
    --------
    >>> import portpart
    >>> try:
    ...     portpart.space("cuda:1000000")
    ... except portpart.PortpartError as error:
    ...     print(type(error).__name__)
    DeviceUnavailable
    """


class OutOfMemory(PortpartError, MemoryError):
    """An allocation failed; the message has the required and the free memory.

    Examples
    --------
    >>> import portpart
    >>> try:
    ...     portpart.space("cpu").empty(2**50, "int64")
    ... except portpart.OutOfMemory as error:
    ...     print(type(error).__name__)
    OutOfMemory
    """


class InternalError(PortpartError, RuntimeError):
    """A promise of the library was broken: a defect in portpart, not in the input."""


ErrorTypes = type[Exception] | tuple[type[Exception], ...]

P = ParamSpec("P")
R = TypeVar("R")


class memory_errors:  # noqa: N801 - like those of contextlib
    """Convert memory errors of any library to `OutOfMemory`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, _: object) -> None:
        if isinstance(problem, MemoryError) and not isinstance(problem, OutOfMemory):
            raise OutOfMemory(f"main memory does not suffice: {problem}".rstrip(": ")) from problem


def typed_memory_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function that converts memory errors of any library to `OutOfMemory`."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        with memory_errors():
            return function(*args, **options)

    return call


@contextmanager
def raised_as(made: Callable[[Any], Exception], caught: ErrorTypes,
              passing: ErrorTypes = ()) -> Iterator[None]:
    """Context in which errors of some types become others; those of the types `passing` stay."""
    try:
        yield
    except passing:
        raise
    except caught as problem:
        raise made(problem) from problem


def errors_about(name: str,
                 kind: type[InputError] = GraphFormatError) -> AbstractContextManager[None]:
    """Context in which an error about contents of a file or an argument names it and is a `kind`.

    A `GraphFormatError` is not changed.
    """
    return raised_as(lambda problem: kind(f"{name}: {problem}"), InputError, GraphFormatError)


def reading(name: str) -> AbstractContextManager[None]:
    """Context in which a system error becomes an error that a file cannot be read."""
    return raised_as(lambda problem: InputError(
        f"{name or repr(name)} cannot be read: {getattr(problem, 'strerror', None) or problem}"),
        (OSError, ValueError), InputError)


def writing(name: str, *passing: type[OSError]) -> AbstractContextManager[None]:
    """Context in which a system error becomes an error that a file cannot be written.

    Errors of the types `passing` are not changed.
    """
    return raised_as(lambda problem: InputError(
        f"{name} cannot be written: {problem.strerror or problem}"), OSError, passing)


# Wrong values in messages ----------------------------------------------------------------------


MAX_DIGITS = 1000
"""Maximum number of digits of a number that is accepted, or shown."""

MAX_BITS = MAX_DIGITS * 10 // 3
"""A digit takes 3.33 bits."""

FEW_CHARACTERS = 60
"""Maximum number of characters of a wrong value in a message."""

FEW_VALUES = 8
"""Maximum number of values that a message lists."""


def shown(value: Any) -> str:
    """Return any `value` for an error message: its repr, truncated if it is long."""
    endless = f"{type(value).__name__} of thousands of digits"
    try:
        is_endless = isinstance(value, int) and value.bit_length() > MAX_BITS
        text = endless if is_endless else repr(value)
    except ValueError:  # Python writes no integers of thousands of digits
        text = endless
    text = " ".join(text.split())
    return text if len(text) <= FEW_CHARACTERS else f"{text[: FEW_CHARACTERS - 3]}..."


def listed(values: Iterable[Any]) -> str:
    """Return the first values for an error message, as `shown` returns them, and the number of
    others.

    Examples
    --------
    >>> listed("abc"), listed(range(100))
    ("'a', 'b', 'c'", '0, 1, 2, 3, 4, 5, 6, 7 and 92 more')
    """
    every = list(values)
    first = ", ".join(map(shown, every[:FEW_VALUES]))
    return first if len(every) <= FEW_VALUES else f"{first} and {len(every) - FEW_VALUES} more"
