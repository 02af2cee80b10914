"""What blocks may weigh, in fractions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any


def number(written: Any) -> Fraction:
    """A number as the decimal that was written: 0.03 is 3/100, and so is "3%"."""
    text = str(written).strip()
    return Fraction(text.rstrip("%")) / (100 if text.endswith("%") else 1)


def target_weights(total: int, k: int, target: Sequence[Any] | None = None) -> list[int]:
    """What each block weighs in perfect balance, rounded up."""
    if target is None:
        return [ceil(Fraction(total, k))] * k
    shares = [number(share) for share in target]
    whole = sum(shares)
    return [ceil(total * share / whole) for share in shares]


def block_weight_limits(total: int, k: int, imbalance: Any,
                        target: Sequence[Any] | None = None) -> list[int]:
    """The largest integers L with L <= (1 + imbalance) * what the block is meant to weigh."""
    factor = 1 + number(imbalance)
    return [floor(factor * weight) for weight in target_weights(total, k, target)]


def block_weight_limit(total: int, k: int, imbalance: Any = "0.03") -> int:
    """The limit that all blocks have in common without a target."""
    return block_weight_limits(total, k, imbalance)[0]


def imbalance_of(weights: Sequence[int],
                 target: Sequence[Any] | None = None) -> Fraction | float:
    """How far the heaviest block is above what it is meant to weigh; 0 without any weight."""
    total = sum(weights)
    wanted = target_weights(total, len(weights), target)
    if any(w > 0 for w, t in zip(weights, wanted) if t == 0):
        return inf
    return max(Fraction(w, t) for w, t in zip(weights, wanted) if t) - 1 if total else Fraction(0)


def is_balanced(weights: Sequence[int], imbalance: Any,
                target: Sequence[Any] | None = None) -> bool:
    """Whether no block is above its limit."""
    limits = block_weight_limits(sum(weights), len(weights), imbalance, target)
    return all(weight <= limit for weight, limit in zip(weights, limits))


@functools.cache
def can_be_packed(weights: tuple[int, ...], room: tuple[int, ...]) -> bool:
    """Whether weights, heaviest first, fit into blocks with so much room: by trying all."""
    if not weights:
        return True
    first, rest = weights[0], weights[1:]
    return any(
        space >= first and can_be_packed(rest, tuple(sorted((*room[:i], space - first,
                                                               *room[i + 1:]))))
        for i, space in enumerate(room)
    )
