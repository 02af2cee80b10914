"""Types of the kernel language's words: their arguments and results."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from portpart.backends.language.types import (
    ABSENT,
    ATOMIC,
    BOOL,
    INT64,
    ArgumentType,
    ArrayType,
    Refusal,
    check_store,
    is_integer,
    unified_type,
)
from portpart.backends.language.words import CASTS

PURE = frozenset((*CASTS, "min", "max", "abs", "popcount", "ctz", "clz", "value_or", "atomic_load",
                  "lane", "team_size", "subgroup_size"))
"""Words without an effect: calls of others must not be reordered."""


def word_type(name: str, arguments: list[ArgumentType]) -> np.dtype | None:
    """Return the type of a call of word `name`; None for a word without a value.

    Raises
    ------
    Refusal
        If the word does not accept these arguments.
    """
    if name in CASTS:
        _scalars(name, arguments, 1)
        return np.dtype(name)
    return _RULES[name](name, arguments)


def _scalars(name: str, arguments: list[ArgumentType], count: int | None) -> list[np.dtype]:
    if count is not None and len(arguments) != count:
        raise Refusal(f"{name} with {len(arguments)} arguments", f"it takes {count}")
    scalars = [argument for argument in arguments if isinstance(argument, np.dtype)]
    if len(scalars) != len(arguments):
        raise Refusal(f"{name} of an array", "index it: array[i]")
    return scalars


def _index(word: str, argument: ArgumentType) -> None:
    if not (isinstance(argument, np.dtype) and is_integer(argument)):
        raise Refusal(f"{word} with an index of type {argument}", "index with an integer")


def _no_arguments(name: str, arguments: list[ArgumentType]) -> np.dtype | None:
    _scalars(name, arguments, 0)
    return None if name == "team_sync" else INT64


def _team_sum(name: str, arguments: list[ArgumentType]) -> np.dtype:
    (value,) = _scalars(name, arguments, 1)
    if value == BOOL:
        raise Refusal(f"{name} of a bool", "cast it: int64(x)")
    if value.kind == "f":
        raise Refusal(f"{name} of {value}, whose result would depend on the team's width",
                      "sum integers")
    return value


def _team_pick(name: str, arguments: list[ArgumentType]) -> np.dtype:
    (value,) = _scalars(name, arguments, 1)
    return value


def _min_max(name: str, arguments: list[ArgumentType]) -> np.dtype:
    values = _scalars(name, arguments, None)
    if len(values) < 2:
        raise Refusal(f"{name} of one value", "give it two or more")
    if BOOL in values:
        raise Refusal(f"{name} of a bool", "use 'and' or 'or', or cast it: int64(x)")
    return functools.reduce(unified_type, values)


def _abs(name: str, arguments: list[ArgumentType]) -> np.dtype:
    (value,) = _scalars(name, arguments, 1)
    if value == BOOL:
        raise Refusal("abs of a bool", "cast it: int64(x)")
    return value


def _bit_count(name: str, arguments: list[ArgumentType]) -> np.dtype:
    (value,) = _scalars(name, arguments, 1)
    if not is_integer(value):
        raise Refusal(f"{name} of {value}", "cast it: uint64(x)")
    return INT64


def _value_or(name: str, arguments: list[ArgumentType]) -> np.dtype:
    if len(arguments) != 3:
        raise Refusal(f"{name} with {len(arguments)} arguments", "write value_or(array, i, other)")
    array, index, default = arguments
    _index(name, index)
    if array is not ABSENT and not (isinstance(array, ArrayType) and array.dtype.kind != "f"):
        raise Refusal(f"{name} of {array}", "it takes an array of integers, or None")
    if not (isinstance(default, np.dtype) and default.kind != "f"):
        raise Refusal(f"{name} with a default of type {default}", "the default is an integer")
    return INT64


_VALUES = {"atomic_load": 0, "atomic_next": 0, "atomic_cas": 2, "team_atomic_cas": 2}
"""Number of values that atomics need besides an array and an index, if not one."""


def _atomic(name: str, arguments: list[ArgumentType]) -> np.dtype:
    values = _VALUES.get(name, 1)
    if len(arguments) != 2 + values:
        raise Refusal(f"{name} with {len(arguments)} arguments", f"it takes {2 + values}")
    array = arguments[0]
    if not (isinstance(array, ArrayType) and array.dtype in ATOMIC):
        raise Refusal(f"{name} on {array}", "use an int32, int64, uint32 or uint64 array")
    _index(name, arguments[1])
    for value in _scalars(name, arguments[2:], values):
        check_store(value, array.dtype)
    return array.dtype


_RULES: dict[str, Callable[[str, list[ArgumentType]], np.dtype | None]] = {
    **dict.fromkeys(("lane", "team_size", "team_sync", "subgroup_size"), _no_arguments),
    **dict.fromkeys(("team_sum", "team_scan", "subgroup_scan"), _team_sum),
    **dict.fromkeys(("team_max", "team_min", "team_last", "subgroup_min", "subgroup_last"),
                    _team_pick),
    **dict.fromkeys(("min", "max"), _min_max),
    **dict.fromkeys(("popcount", "ctz", "clz"), _bit_count),
    **dict.fromkeys(
        ("atomic_add", "atomic_next", "atomic_min", "atomic_max", "atomic_cas", "atomic_load",
         "team_atomic_add", "team_atomic_cas"), _atomic),
    "abs": _abs,
    "value_or": _value_or,
}
