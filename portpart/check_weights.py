"""Checks of weights: integers in value, none negative, totals within 2**62."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.language import atomic_min, float64, int64, kernel
from portpart.errors import InputError
from portpart.graph import MAX_TOTAL_WEIGHT

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace

LARGEST_EXACT = float(MAX_TOTAL_WEIGHT)


def integral(space: ExecutionSpace, values: Array, what: str) -> Array:
    """`values` as int32 or int64; floats are accepted when they are integers in value."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f":
        return _integers_of_floats(space, values, what)
    if kind not in "iub" and len(values):
        raise InputError(f"{what} are of type {values.dtype}; they must be integers")
    if kind == "u" and size == 8 and len(values) and int(values.max()) > MAX_TOTAL_WEIGHT:
        raise InputError(f"{what} hold {int(values.max())}, above the limit of 2**62")
    if (kind, size) in (("i", 4), ("i", 8)):
        return values
    return values.astype(np.int32 if size < 4 and kind in "iub" else np.int64)


def _integers_of_floats(space: ExecutionSpace, values: Array, what: str) -> Array:
    if values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    result = space.empty(len(values), np.int64)
    first = space.full(1, len(values), np.int64)
    space.parallel_for(len(values), convert_to_integer, values, result, first)
    place = int(space.to_host(first)[0])
    if place == len(values):
        return result
    value = float(space.to_host(values[place : place + 1])[0])
    if not abs(value) <= LARGEST_EXACT:
        raise InputError(f"{what}[{place}] is {value}; it must be finite and at most 2**62")
    remedy = ": scale and round, for example numpy.rint(1000 * weights)" if "weight" in what else ""
    raise InputError(f"{what}[{place}] is {value}; {what} must be integers{remedy}")


def checked_vertex_weights(space: ExecutionSpace, weights: Array, n: int) -> tuple[Array, int]:
    """Vertex weights as int64 with their total; raises naming the first bad vertex."""
    if weights.ndim > 1 and weights.shape != (n, 1):
        raise InputError(
            f"vertex_weights have shape {tuple(weights.shape)}: several constraints are not "
            "supported yet; pass one weight per vertex"
        )
    weights = weights.reshape(-1)
    if len(weights) != n:
        raise InputError(
            f"vertex_weights hold {len(weights)} values for {n} vertices; one per vertex is needed"
        )
    result = integral(space, weights, "vertex_weights").astype(np.int64, copy=False)
    if n and int(result.min()) < 0:
        vertex = int((result < 0).argmax())
        weight = int(space.to_host(result[vertex : vertex + 1])[0])
        error = InputError(f"vertex {vertex} has weight {weight}; vertex weights must be >= 0")
        error.vertex = vertex
        raise error
    total = exact_total((result >> 32).sum(), (result & 0xFFFFFFFF).sum(), "vertex weights")
    return result, total


def exact_total(heavy: Any, light: Any, what: str) -> int:
    """2**32 * heavy + light as a Python int; an error if it passes the limit."""
    total = (int(heavy) << 32) + int(light)
    if total > MAX_TOTAL_WEIGHT:
        raise InputError(
            f"the {what} add up to {total}, above the limit of 2**62; divide them by a "
            "common factor"
        )
    return total


@kernel
def convert_to_integer(i, values, integers, first):
    """integers[i] = values[i]; first[0] gets the smallest place where that is not exact."""
    value = float64(values[i])
    if abs(value) <= LARGEST_EXACT:
        integers[i] = int64(value)
        if float64(int64(value)) != value:
            atomic_min(first, 0, i)
    else:
        atomic_min(first, 0, i)
