"""Exact numbers in any notation; and options whose fields have descriptions."""

from __future__ import annotations

import numbers
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from inspect import cleandoc
from types import NoneType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast, get_args, get_type_hints

import numpy as np

from portpart.errors import MAX_BITS, MAX_DIGITS, InputError, shown

if TYPE_CHECKING:
    from decimal import Decimal

    from _typeshed import DataclassInstance as Configuration
    from typing_extensions import dataclass_transform
else:
    def dataclass_transform(**_: Any) -> Any:  # noqa: D103
        return lambda decorator: decorator

MAX_BLOCKS = 2**31 - 1

MANY_BLOCKS = 2**24
"""A larger number of blocks, above the number of vertices, is considered a mistake."""

MAX_EXPONENT = 400
"""The largest exponent of a number: ``1e99999999`` has ten characters, and 40 MB as an integer."""

LARGEST_OPTION = 2**62
"""The largest integer of an option: kernels have 64 bits."""

Json: TypeAlias = "bool | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Values of JSON."""

TOO_LONG = f"it has more than {MAX_DIGITS} digits"

WrittenNumber: TypeAlias = "str | float | Fraction | Decimal | np.number"
"""A number in a caller's notation, including ``"3%"`` and ``"1/3"``."""

EXPONENT = re.compile(r"e[+-]?(\d+(?:_\d+)*)$")


def exact_fraction(value: WrittenNumber) -> Fraction:
    """Return the number as written: 0.03 is 3/100, not the nearest binary number.

    Accepts ``"1/3"``, ``"3%"``, ``" 0.03 "``, integers, floats, `Fraction`, `Decimal` and scalars
    of NumPy.  O(digits) time for any input.

    Raises
    ------
    ValueError
        With the end of a sentence that says what `value` is instead of a finite number.
    """
    return _remembered(value) if value.__class__ in (int, float, str) else _parsed(value)


def _parsed(value: WrittenNumber) -> Fraction:
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        return _short_enough(Fraction(int(value.numerator), int(value.denominator)))
    text = str(value).strip().lower()
    percent = text.endswith("%")
    text = text.removesuffix("%").rstrip()
    if sum(letter.isdigit() for letter in text) > MAX_DIGITS:
        raise ValueError(TOO_LONG)
    exponent = EXPONENT.search(text)
    if exponent and int(exponent[1]) > MAX_EXPONENT:
        raise ValueError(f"its exponent is beyond {MAX_EXPONENT}")
    try:
        return Fraction(text) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        raise ValueError("it must be a finite number") from None


_remembered = lru_cache(maxsize=256, typed=True)(_parsed)
"""A call uses the same numbers several times."""


def exact_number(name: str, value: WrittenNumber) -> Fraction:
    """Return the number as written; `name` is its name in errors."""
    try:
        return exact_fraction(value)
    except (ValueError, OverflowError) as problem:
        raise InputError(f"{name} is {shown(value)}; {problem}") from problem


def nonnegative(name: str, value: WrittenNumber, needed: str = "at least 0") -> Fraction:
    """Return a number of at least 0 as written; `needed` is its condition in errors."""
    number = exact_number(name, value)
    if number < 0:
        raise InputError(f"{name} is {shown(value)}; it must be {needed}")
    return number


def whole_number(name: str, value: Any) -> int:
    """Return an integer in any notation; `name` is its name in errors."""
    number = exact_number(name, value)
    if number.denominator != 1:
        raise InputError(f"{name} is {shown(value)}; it must be an integer")
    return int(number)


def number_of_blocks(k: int, num_vertices: int | None = None, items: str = "vertices") -> int:
    """Return a number of blocks, from 1 to `MAX_BLOCKS`; above `MANY_BLOCKS`, at most the number of
    vertices.
    """
    blocks = whole_number("k", k)
    if not 1 <= blocks <= MAX_BLOCKS:
        raise InputError(f"k is {shown(k)}; it must be at least 1 and at most {MAX_BLOCKS}")
    if num_vertices is not None and blocks > max(num_vertices, MANY_BLOCKS):
        raise InputError(f"k is {blocks} for a graph of {num_vertices} {items}; at most "
                         f"{max(num_vertices, MANY_BLOCKS)} blocks")
    return blocks


def _short_enough(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ValueError(TOO_LONG)
    return value


def checked_integer(name: str, value: Any, low: int, high: int) -> int:
    """Return an option as an integer from `low` to `high`; 3.0 is allowed."""
    try:
        whole = isinstance(value, (float, np.floating)) and value.is_integer()
        number = int(value) if whole else operator.index(value)
    except TypeError:
        raise InputError(f"{name} is {shown(value)}; it must be an integer") from None
    if not low <= number <= high:
        raise InputError(f"{name} is {shown(number)}; it must be between {low} and {high}")
    return number


def checked_flag(name: str, value: Any) -> bool:
    """Return an option that must be True or False, not a number."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {shown(value)}; it must be True or False")
    return bool(value)


@dataclass(frozen=True)
class Range:
    """The values that an option, or each element of a tuple, may have.

    Attributes
    ----------
    min, max, above, below : float, optional
        Bounds; the last two are excluded.
    choices : tuple of str
        The words that are allowed.
    """

    min: float | None = None
    max: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()

    def __contains__(self, value: Any) -> bool:
        return ((self.min is None or value >= self.min)
                and (self.max is None or value <= self.max)
                and (self.above is None or value > self.above)
                and (self.below is None or value < self.below))

    def __str__(self) -> str:
        bounds = (("at least", self.min), ("above", self.above), ("at most", self.max),
                  ("below", self.below))
        return " and ".join(f"{word} {bound}" for word, bound in bounds if bound is not None)


def option(default: Any, meaning: str, **bounds: Any) -> Any:
    """Return a field of options: its default, meaning, and the bounds of a :class:`Range`."""
    return field(default=default, metadata={"help": meaning, "range": Range(**bounds)})


Kind = TypeVar("Kind")
Given = ParamSpec("Given")
Found = TypeVar("Found")


@dataclass_transform(frozen_default=True)
def option_class(kind: type[Kind]) -> type[Kind]:
    """Make a frozen dataclass of options, which are checked when they are set.

    Its docstring lists the fields. A class with more rules has its own ``__post_init__``.
    """
    if "__post_init__" not in vars(kind):
        kind.__post_init__ = check_options  # type: ignore[attr-defined]
    dataclass(frozen=True)(kind)
    listed = "\n".join(f"{each.name} : {each.type}\n    {each.metadata['help']}"
                       for each in fields(kind))  # type: ignore[arg-type]
    about, heading, examples = cleandoc(kind.__doc__ or "").partition("Examples\n--------\n")
    kind.__doc__ = (f"{about.rstrip()}\n\nParameters\n----------\n{listed}\n\n"
                    "Raises\n------\nInputError\n    If a value is out of range.\n\n"
                    f"{heading}{examples}").rstrip() + "\n"
    return kind


def changed(config: Kind, changes: Mapping[str, Any]) -> Kind:
    """Return options with other values.

    Parameters
    ----------
    config : dataclass
    changes : mapping
        Values by name; those of nested options have dotted names, as in the tables of parameters.

    Examples
    --------
    >>> import portpart
    >>> config = changed(portpart.PortpartConfig(), {"search.cycles": 1, "initial.starts": 4})
    >>> config.search.cycles, config.initial.starts
    (1, 4)
    """
    own = {name: value for name, value in changes.items() if "." not in name}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        outer, dot, rest = name.partition(".")
        if dot:
            inner.setdefault(outer, {})[rest] = value
    known = {each.name for each in fields(config)}  # type: ignore[arg-type]
    for name in (*own, *inner):
        if name not in known:
            raise InputError(f"{type(config).__name__} has no {name!r}; it has "
                             f"{', '.join(sorted(known))}")
    for name, below in inner.items():
        nested = own.get(name, getattr(config, name))
        if not is_dataclass(nested):
            raise InputError(f"{name} is {shown(nested)} and has no {next(iter(below))!r}")
        own[name] = changed(nested, below)
    return replace(config, **own)  # type: ignore[type-var]


def derived(method: Callable[Given, Found]) -> Callable[Given, Found]:
    """Cache the result that a method derives from frozen options: checking other options takes
    time.
    """
    return cast(Callable[Given, Found], lru_cache(maxsize=256)(method))


def check_options(config: Configuration) -> None:
    """Raise an error for options with a value of the wrong type or out of the range of its field.

    Several numbers become a tuple, whatever their type: programs are found by their options.
    """
    types = types_of(config.__class__)
    for each in fields(config):
        value = getattr(config, each.name)
        _check(each.name, value, types[each.name], each.metadata["range"])
        if isinstance(value, Sequence) and not isinstance(value, (str, tuple)):
            object.__setattr__(config, each.name, tuple(value))


@cache
def types_of(kind: type) -> dict[str, tuple[Any, ...]]:
    """Return the types that each field of options may have; for a tuple, also those of its
    elements.
    """
    return {name: tuple(_alternatives(hint)) for name, hint in get_type_hints(kind).items()}


def _alternatives(hint: Any) -> Iterator[Any]:
    if getattr(hint, "__origin__", None) is tuple:
        yield tuple
        yield from get_args(hint)[:1]
    else:
        yield from get_args(hint) or (hint,)


def _check(name: str, value: Any, kinds: tuple[Any, ...], allowed: Range) -> None:
    if Any in kinds or (value is None and NoneType in kinds):
        return
    if value.__class__ is int and abs(value) > LARGEST_OPTION:
        raise InputError(f"{name} is {shown(value)}; it must be at most 2**62")
    if value.__class__ in (int, float) and value.__class__ in kinds and tuple not in kinds:
        if value in allowed:  # the usual case; `_is_number` takes microseconds
            return
    if any(getattr(kind, "__origin__", kind) is tuple for kind in kinds):
        _check_each(name, value, kinds, allowed)
    elif allowed.choices:
        if value not in allowed.choices:
            raise InputError(f"{name} is {shown(value)}; it must be one of {allowed.choices}")
    elif any(map(is_dataclass, kinds)):
        if not isinstance(value, kinds):
            needed = ", ".join(kind.__name__ for kind in kinds if kind is not NoneType)
            raise InputError(f"{name} is {shown(value)}; it must be of {needed}")
    elif str in kinds:
        if not isinstance(value, str):
            raise InputError(f"{name} is {shown(value)}; it must be text")
    elif bool in kinds:
        checked_flag(name, value)
    elif not _is_number(value, kinds, allowed):
        word = "a number" if float in kinds else "an integer"
        raise InputError(f"{name} is {shown(value)}; it must be {word} {allowed}".rstrip())


def _check_each(name: str, values: Any, kinds: tuple[Any, ...], allowed: Range) -> None:
    """Check a tuple of one or more numbers."""
    inner = {arg for kind in kinds for arg in (kind, *get_args(kind))}
    numbers_in = isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0
    if not numbers_in or not all(_is_number(value, tuple(inner), allowed) for value in values):
        word = "numbers" if float in inner else "integers"
        raise InputError(f"{name} is {shown(values)}; it must be a tuple of one or more {word} "
                         f"{allowed}")


def _is_number(value: Any, kinds: tuple[Any, ...], allowed: Range) -> bool:
    kind = numbers.Real if float in kinds else numbers.Integral
    return isinstance(value, kind) and value in allowed
