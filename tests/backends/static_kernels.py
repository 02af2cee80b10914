"""Kernels with static parameters, and the same kernels made by functions around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from portpart.backends import language as kl
from portpart.backends.language import (
    DeviceFunction,
    Record,
    Static,
    StaticArray,
    StaticValue,
    Word,
    int64,
    kernel,
)


class Pair(Record):
    """Two arrays."""

    left: Any
    right: Any


@kl.device
def unit(a, b):
    """1 for different values."""
    return int64(a != b)


@kl.device
def line(a, b):
    """How far apart two values are."""
    return abs(int64(a) - int64(b))


@kl.device
def no_bonus(a):
    """Nothing."""
    return int64(0)


@dataclass(frozen=True)
class Rules(Static):
    """A distance, and a few numbers."""

    distance: DeviceFunction
    times: int = 1
    is_even: bool = False
    bonus: DeviceFunction | None = None
    unused: int = 0

    @property
    def twice(self) -> int:
        """A member that is computed."""
        return 2 * self.times

    def half(self) -> int:
        """A method, which kernels cannot use."""
        return self.times // 2


@dataclass(frozen=True)
class Outer(Static):
    """Rules inside of another value."""

    rules: Rules
    stripes: int = 3


@kl.device
def sum_to(v, pair: Pair, rules: Rules, distance: StaticValue):
    """Sum of the distances of v's element to two others."""
    total = kl.int64(0)
    for j in kl.static_range(2):
        total += rules.distance(pair.left[v], pair.right[j]) * (rules.twice + j)
    if rules.bonus:
        total += rules.bonus(pair.left[v])
    if rules.is_even:
        total = 2 * total
    return total + distance(pair.left[v], 0)


@kl.kernel
def add_up(i, pair: Pair, result, rules: Rules):
    """result[i] = what the rules say."""
    result[i] = sum_to(i, pair, rules, line)


@kl.device
def scaled(v, pair: Pair, outer: Outer):
    """What the rules inside of `outer` say."""
    return sum_to(v, pair, outer.rules, unit) * (3 if not outer.rules.is_even else outer.stripes)


@kl.kernel
def add_up_outer(i, pair: Pair, result, outer: Outer, counter: StaticValue):
    """The same for rules inside of another value, in scratch memory of a static type."""
    sums = kl.team_array(counter, outer.stripes)
    sums[kl.lane()] = scaled(i, pair, outer)
    kl.team_sync()
    if kl.lane() == 0:
        result[i] = int64(sums[0])


def by_hand(distance: DeviceFunction, twice: int, even: bool) -> Any:
    """The kernel `add_up` without static parameters."""

    @kl.device
    def sum_to(v, pair: Pair):
        """Sum of the distances of v's element to two others."""
        total = int64(0)
        total += distance(pair.left[v], pair.right[0]) * (twice + 0)
        total += distance(pair.left[v], pair.right[1]) * (twice + 1)
        if even:
            total = 2 * total
        return total + line(pair.left[v], 0)

    @kernel
    def add_up(i, pair: Pair, result):
        """result[i] = what the rules say."""
        result[i] = sum_to(i, pair)

    return add_up


class Three(StaticArray, size=3):
    """Three variables."""


@kl.device
def largest(found: Three):
    """The largest of three numbers."""
    return max(found[0], max(found[1], found[2]))


@kl.kernel
def largest_of_three(i, values, result):
    """result[i] = the largest of values[i] and the next two, one more for each that is even."""
    found = Three()
    for j in kl.static_range(3):
        found[j] = int64(values[i + j])
    for j in kl.static_range(3):
        if found[j] % 2 == 0:
            found[j] += 1
    result[i] = largest(found)


COUNTER: Word = kl.int32
