"""Converts weights to integers: checked, or scaled and rounded; >= 0, totals within 2**62."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends import language as kl
from portpart.errors import InputError, shown

if TYPE_CHECKING:
    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.options import WrittenNumber

MAX_TOTAL_WEIGHT = 2**62
"""Largest total of weights: twice a total still fits the 64-bit sums of every algorithm."""

LARGEST_EXACT = float(MAX_TOTAL_WEIGHT)

KEEP, IGNORE, ABS, ROUND = MODES = ("keep", "ignore", "abs", "round")
"""Treatments of edge weights."""

MAX_EXPONENT = 308
"""Exponents of the powers of ten that float64 can hold."""

NOT_NEGATIVE = ('edge weights must be >= 0: weights="abs" takes absolute values, weights="ignore" '
                "leaves them out")

WEIGHTS_PER_ITEM = 8192
"""Weights that one team surveys."""

ROUNDED_BELOW, SUM_BELOW = 2**31, 2**53
"""The default scale keeps rounded weights and their sum below these."""


def checked_mode(weights: bool | str | None, weight_scale: WrittenNumber | None = None) -> str:
    """Return the treatment that the option `weights` requests, one of MODES; check the scale."""
    mode: Any = KEEP if weights is None else weights
    if isinstance(weights, (bool, np.bool_)):
        mode = KEEP if weights else IGNORE
    if not isinstance(mode, str):
        raise InputError(f"weights is of type {type(weights).__name__}; it must be one of "
                         f"{', '.join(MODES)} (an array goes to edge_weights)")
    if mode not in MODES:
        raise InputError(f"weights is {shown(weights)}; it must be one of {', '.join(MODES)}")
    if weight_scale is not None:
        if mode not in (ABS, ROUND):
            raise InputError(f'weight_scale goes with weights="round" or "abs", not {shown(mode)}')
        _checked_scale(weight_scale)
    return mode


def _checked_scale(scale: Any) -> float:
    try:
        number = float(scale)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(f"weight_scale is {shown(scale)}; it must be a positive number")
    return number


def converted(space: ExecutionSpace, values: Array, mode: str = KEEP,
              scale: Any = None) -> tuple[Array, float]:
    """Return edge weights as int32 or int64, and their scale.

    Parameters
    ----------
    values : array of numbers
        With zeros for self loops, which do not count.
    mode : {"keep", "abs", "round"}
        "keep" accepts only values that are integers; "round" multiplies by the scale and rounds
        half to even; "abs" takes absolute values, and rounds them if one is fractional.
    scale : float, optional
        Default: the largest power of ten for which each result stays below 2**31 and their sum
        below 2**53; with "abs" and nothing fractional 1.

    Raises
    ------
    InputError
        Its `entry` is the place of a weight that is not finite, negative or too large.
    """
    if mode == KEEP:
        return integral(space, values, "edge_weights"), 1
    values = _finite(space, values)
    if mode == ABS:
        values = abs(values)
    else:
        _refuse(space, values, values < 0, 'weights="round" takes none below 0: weights="abs" '
                                           'takes absolute values, weights="ignore" none')
    if scale is not None:
        return _scaled(space, values, _checked_scale(scale))
    if mode == ABS and (values.dtype.kind != "f" or bool((values == values.round()).all())):
        return integral(space, values, "edge_weights"), 1
    return _scaled_by_default(values.astype(np.float64, copy=False))


def _finite(space: ExecutionSpace, values: Array) -> Array:
    """Return numbers as int64 or finite float64."""
    if values.dtype.kind not in "iubf" and len(values):
        raise InputError(f"edge_weights are of type {values.dtype}; they must be numbers")
    if values.dtype.kind != "f" and not (
            values.dtype == np.uint64 and len(values) and values.max() > MAX_TOTAL_WEIGHT):
        return integral(space, values, "edge_weights").astype(np.int64, copy=False)
    with np.errstate(over="ignore"):
        values = values.astype(np.float64, copy=False)
    _refuse(space, values, ~(abs(values) < np.inf), "it must be finite")
    return values


def _scaled(space: ExecutionSpace, values: Array, scale: float) -> tuple[Array, float]:
    """Return the integers nearest to scale * values, and the scale."""
    if scale == 1 and values.dtype.kind != "f":
        return values, 1
    with np.errstate(over="ignore"):
        rounded = (values * scale).round()
    _refuse(space, values, ~(rounded <= LARGEST_EXACT), f"times {scale:g} it is above 2**62")
    if len(values) and not bool(rounded.any()) and bool(values.any()):
        raise InputError(f"weight_scale={scale:g} rounds every weight to 0; the largest is "
                         f"{float(values.max()):g}")
    fits = len(rounded) == 0 or float(rounded.max()) < ROUNDED_BELOW
    return rounded.astype(np.int32 if fits else np.int64), scale


def _scaled_by_default(values: Array) -> tuple[Array, float]:
    """Return rounded values times the largest power of ten within both limits, and that power."""
    largest = float(values.max()) if len(values) else 0.0
    if largest == 0:
        return values.astype(np.int32), 1
    above = int(math.log10(ROUNDED_BELOW) - math.log10(largest)) + 1
    for exponent in range(min(above, MAX_EXPONENT), -MAX_EXPONENT - 1, -1):
        scale = float(f"1e{exponent}")
        if round(largest * scale) < ROUNDED_BELOW:
            rounded = (values * scale).round().astype(np.int32)
            if int(rounded.sum(dtype=np.int64)) < SUM_BELOW:
                break
    if not bool(rounded.any()):
        raise InputError(f"the largest edge weight, {largest:g}, is too small to be scaled")
    return rounded, scale


def _refuse(space: ExecutionSpace, values: Array, bad: Array, what: str) -> None:
    """Raise if a mask marks an edge weight, naming the first."""
    if not bool(bad.any()):
        return
    entry = int(bad.argmax())
    value = space.to_host(values[entry : entry + 1])[0].item()
    raise InputError(f"edge_weights[{entry}] is {value}; {what}", entry=entry)


def integral(space: ExecutionSpace, values: Array, what: str) -> Array:
    """Return `values` as int32 or int64; floats are accepted if their values are integers."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f":
        return _integers_of_floats(space, values, what)
    if kind not in "iub":
        if len(values):
            raise InputError(f"{what} are of type {values.dtype}; they must be integers")
        return space.empty(0, np.int64)
    if kind == "u" and size == 8 and len(values) and int(values.max()) > MAX_TOTAL_WEIGHT:
        raise InputError(f"{what} hold {int(values.max())}, above the limit of 2**62")
    if (kind, size) in (("i", 4), ("i", 8)):
        return values
    return values.astype(np.int32 if size < 4 else np.int64)


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
    problem = f"{what} must be integers"
    if not abs(value) <= LARGEST_EXACT:
        problem = "it must be finite and at most 2**62"
    elif what == "edge_weights":
        way, does = (ROUND, "scales and rounds") if value > 0 else (ABS, "takes absolute values")
        problem += f': weights="{way}" {does}, weights="ignore" leaves them out'
    elif "weight" in what:
        problem += ": scale and round, for example numpy.rint(1000 * weights)"
    raise InputError(f"{what}[{place}] is {value}; {problem}", entry=place)


def checked_vertex_weights(space: ExecutionSpace, weights: Array, n: int) -> tuple[Array, int]:
    """Return vertex weights as int64 and their total; raise naming the first invalid vertex."""
    if weights.ndim > 1 and weights.shape != (n, 1):
        raise InputError(
            f"vertex_weights have shape {tuple(weights.shape)}: several constraints are not "
            "supported yet; pass one weight per vertex"
        )
    weights = weights.ravel()
    if len(weights) != n:
        raise InputError(
            f"vertex_weights hold {len(weights)} values for {n} vertices; one per vertex is needed"
        )
    result = integral(space, weights, "vertex_weights").astype(np.int64, copy=False)
    vertex, total = surveyed_weights(space, result, "vertex weights")
    if vertex is not None:
        weight = int(space.to_host(result[vertex : vertex + 1])[0])
        raise InputError(f"vertex {vertex} has weight {weight}; vertex weights must be >= 0",
                         vertex=vertex)
    return result, total


def surveyed_weights(space: ExecutionSpace, weights: Array, what: str) -> tuple[int | None, int]:
    """Return the place of the first negative integer, and the total; synchronises once.

    Raises
    ------
    InputError
        If none is negative and the total exceeds the limit.
    """
    size = len(weights)
    found = space.asarray(np.array([size, 0, 0], np.int64))
    space.parallel_for(-(-size // WEIGHTS_PER_ITEM), survey_weights, weights, size, found, team=256)
    negative, heavy, light = space.to_host(found).tolist()
    if negative < size:
        return negative, 0
    return None, exact_total(heavy, light, what)


def total_of(weights: Array, what: str) -> int:
    """Return the sum of non-negative int32 or int64 weights; raise if it exceeds the limit."""
    if weights.dtype.itemsize == 4:
        return exact_total(0, weights.sum(dtype=np.int64), what)
    return exact_total((weights >> 32).sum(), (weights & 0xFFFFFFFF).sum(), what)


def exact_total(heavy: Any, light: Any, what: str) -> int:
    """Return 2**32 * heavy + light as a Python int; raise if it exceeds the limit."""
    total = (int(heavy) << 32) + int(light)
    if total > MAX_TOTAL_WEIGHT:
        raise InputError(
            f"the {what} add up to {total}, above the limit of 2**62; divide them by a "
            "common factor"
        )
    return total


@kl.kernel
def survey_weights(item, weights, size, found):
    """Survey WEIGHTS_PER_ITEM weights: the first negative one, and sums of upper and lower halves.

    Atomic, independent of order.
    """
    begin = item * WEIGHTS_PER_ITEM
    heavy = kl.int64(0)
    light = kl.int64(0)
    for i in range(begin + kl.lane(), min(begin + WEIGHTS_PER_ITEM, size), kl.team_size()):
        weight = kl.int64(weights[i])
        if weight < 0:
            kl.atomic_min(found, 0, i)
        heavy += weight >> 32
        light += weight & 0xFFFFFFFF
    heavy = kl.team_sum(heavy)
    light = kl.team_sum(light)
    if kl.lane() == 0:
        kl.atomic_add(found, 1, heavy)
        kl.atomic_add(found, 2, light)


@kl.kernel
def convert_to_integer(i, values, integers, first):
    """Set integers[i] to values[i], and first[0] to the smallest place where this is not exact."""
    value = kl.float64(values[i])
    if abs(value) <= LARGEST_EXACT:
        integers[i] = kl.int64(value)
        if kl.float64(kl.int64(value)) != value:
            kl.atomic_min(first, 0, i)
    else:
        kl.atomic_min(first, 0, i)
