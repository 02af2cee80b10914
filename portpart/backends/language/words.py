"""The words of the kernel language in plain Python, where they act like a team of one lane.

A kernel can be called with a work index and stepped through in a debugger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from portpart.backends.language.arrays import Array

INTEGER_TYPES = ("int8", "int32", "int64", "uint8", "uint32", "uint64")
FLOAT_TYPES = ("float32", "float64")
CASTS = INTEGER_TYPES + FLOAT_TYPES


class Word:
    """A name that every backend translates by itself (a cast, an atomic, a team word ...)."""

    def __init__(self, name: str, plain: Callable[..., Any], *, team: bool = False) -> None:
        self.name = name
        self.plain = plain
        self.is_team_word = team

    def __call__(self, *arguments: Any) -> Any:
        return self.plain(*arguments)

    def __repr__(self) -> str:
        return f"<kernel word {self.name}>"


def _cast(name: str) -> Word:
    dtype = np.dtype(name)
    if dtype.kind == "f":
        return Word(name, lambda value: dtype.type(value).item())
    bits = 8 * dtype.itemsize
    offset = (1 << (bits - 1)) if dtype.kind == "i" else 0
    mask = (1 << bits) - 1
    lowest, highest = -offset, mask - offset

    def cast(value: Any) -> int:
        whole = int(value)  # most values fit, and wrapping is slower than this check
        return whole if lowest <= whole <= highest else ((whole + offset) & mask) - offset

    return Word(name, cast)


def _plain_add(array: Array, index: int, value: Any) -> Any:
    old = array[index].item()
    wrapped = (int(old) + int(value)) & (2**64 - 1)
    array[index] = np.uint64(wrapped).astype(array.dtype)
    return old


def _plain_next(array: Array, index: int) -> Any:
    return _plain_add(array, index, 1)


def _plain_min(array: Array, index: int, value: Any) -> Any:
    old = array[index].item()
    array[index] = min(old, value)
    return old


def _plain_max(array: Array, index: int, value: Any) -> Any:
    old = array[index].item()
    array[index] = max(old, value)
    return old


def _plain_cas(array: Array, index: int, expected: Any, desired: Any) -> Any:
    old = array[index].item()
    if old == expected:
        array[index] = desired
    return old


int8 = _cast("int8")
int32 = _cast("int32")
int64 = _cast("int64")
uint8 = _cast("uint8")
uint32 = _cast("uint32")
uint64 = _cast("uint64")
float32 = _cast("float32")
float64 = _cast("float64")

lane = Word("lane", lambda: 0, team=True)
team_size = Word("team_size", lambda: 1, team=True)
team_sum = Word("team_sum", lambda value: value, team=True)
team_max = Word("team_max", lambda value: value, team=True)
team_min = Word("team_min", lambda value: value, team=True)
team_scan = Word("team_scan", lambda value: value, team=True)
team_last = Word("team_last", lambda value: value, team=True)
team_sync = Word("team_sync", lambda: None, team=True)
subgroup_size = Word("subgroup_size", lambda: 1, team=True)
subgroup_min = Word("subgroup_min", lambda value: value, team=True)
subgroup_scan = Word("subgroup_scan", lambda value: value, team=True)
subgroup_last = Word("subgroup_last", lambda value: value, team=True)
team_array = Word("team_array", lambda element, size: np.empty(size, element.name), team=True)
lane_array = Word("lane_array", lambda element, size: np.empty(size, element.name))

atomic_add = Word("atomic_add", _plain_add)
atomic_next = Word("atomic_next", _plain_next)
atomic_min = Word("atomic_min", _plain_min)
atomic_max = Word("atomic_max", _plain_max)
atomic_cas = Word("atomic_cas", _plain_cas)
atomic_load = Word("atomic_load", lambda array, index: array[index].item())
team_atomic_add = Word("team_atomic_add", _plain_add)
team_atomic_cas = Word("team_atomic_cas", _plain_cas)

popcount = Word("popcount", lambda value: (int(value) & ((1 << 64) - 1)).bit_count())
ctz = Word("ctz", lambda value: (int(value) & -int(value)).bit_length() - 1 if value else 64)
clz = Word("clz", lambda value: 64 - (int(value) & ((1 << 64) - 1)).bit_length())
value_or = Word(
    "value_or", lambda array, index, default: default if array is None else int(array[index])
)

BUILTIN_WORDS = {name: Word(name, function) for name, function in
                 (("min", min), ("max", max), ("abs", abs))}
