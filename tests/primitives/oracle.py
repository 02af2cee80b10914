"""Inputs that primitives meet at their edges, and helpers to compare with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.extra import numpy as arrays

from portpart.backends.programs.interface import ExecutionSpace

INTEGERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64")
SIGNED = ("int8", "int32", "int64")

drawn = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
"""Spaces and their compiled kernels are shared by all drawn examples, as they are by all users."""


def sizes_around(tile: int) -> list[int]:
    """Sizes at which a primitive with tiles of `tile` elements could go wrong."""
    return [0, 1, 2, 31, 33, tile - 1, tile, tile + 1, 2 * tile, 5 * tile + 7, 40 * tile + 1]


def any_array(dtypes: tuple[str, ...] = ("int32",), most: int = 300) -> Any:
    """Strategy of arrays of any of the dtypes, extreme values included."""
    return st.sampled_from(dtypes).flatmap(
        lambda dtype: arrays.arrays(dtype, st.integers(0, most))
    )


def random_array(size: int, dtype: Any, seed: int = 0) -> np.ndarray:
    """Values from the whole range of an integer dtype."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    return rng.integers(info.min, info.max, size, dtype=dtype, endpoint=True)


def assert_same(space: ExecutionSpace, found: Any, expected: np.ndarray) -> None:
    """`found` is an array of `space` with the dtype and the elements of `expected`."""
    assert type(found) is type(space.empty(0, np.int64))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(space.to_host(found), expected)
