"""The kernel language: ordinary Python functions whose first parameter is the work index.

A kernel is checked when it is decorated, compiled when it is first launched, and runs on every
execution space:

>>> from portpart.backends.language import kernel
>>> @kernel
... def add_one(i, values):
...     values[i] += 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from portpart.backends.language.arrays import Cutter, Slice, Sliced, work
from portpart.backends.language.check import check_function
from portpart.backends.language.kernels import DeviceFunction, Kernel
from portpart.backends.language.records import (
    Record,
    Scope,
    StaticArray,
    Words,
    absent,
    word,
)
from portpart.backends.language.statics import Static, StaticValue, static_range
from portpart.backends.language.words import (
    CASTS,
    Word,
    atomic_add,
    atomic_cas,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_next,
    clz,
    ctz,
    float32,
    float64,
    int8,
    int32,
    int64,
    lane,
    lane_array,
    popcount,
    team_array,
    team_atomic_add,
    team_atomic_cas,
    team_last,
    team_max,
    team_min,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    uint8,
    uint32,
    uint64,
    value_or,
)

__all__ = [
    "CASTS",
    "Cutter",
    "DeviceFunction",
    "Kernel",
    "Record",
    "Scope",
    "Slice",
    "Sliced",
    "Static",
    "StaticArray",
    "StaticValue",
    "Word",
    "Words",
    "absent",
    "atomic_add",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_next",
    "clz",
    "ctz",
    "device",
    "float32",
    "float64",
    "int8",
    "int32",
    "int64",
    "kernel",
    "lane",
    "lane_array",
    "popcount",
    "static_range",
    "team_array",
    "team_atomic_add",
    "team_atomic_cas",
    "team_last",
    "team_max",
    "team_min",
    "team_scan",
    "team_size",
    "team_sum",
    "team_sync",
    "uint8",
    "uint32",
    "uint64",
    "value_or",
    "word",
    "work",
]


def kernel(function: Callable[..., Any]) -> Kernel:
    """Check `function` against the kernel language and return a kernel that can be launched.

    Raises
    ------
    KernelSyntaxError
        At decoration, with file, line and the allowed form.
    """
    return check_function(function, Kernel, is_kernel=True)


def device(function: Callable[..., Any]) -> DeviceFunction:
    """Check `function` and return a function for kernels and other device functions to call."""
    return check_function(function, DeviceFunction, is_kernel=False)
