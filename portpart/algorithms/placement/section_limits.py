"""Limits of the blocks of a level of multisection: the slack of elements, divided among levels.

P. Samoldekin, C. Schulz, H. Woydt (2026), equation 2; after C. Schulz, H. Woydt (2025).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from portpart.algorithms.balance.limits import Balance


def section_balance(weights: np.ndarray, arity: int, elements: int, limit: int,
                    levels_left: int, room: float = 0.0) -> Balance:
    """Limits of the blocks that subgraphs of these weights are divided into, `arity` each."""
    total = int(weights.sum())
    limits = [min(total, adaptive_limit(limit, weight, elements, arity, levels_left, room))
              for weight in weights.tolist()]
    if len(limits) == 1:
        return Balance(arity, limits[0], int(weights[0]) // arity)
    means = weights // arity
    return Balance(len(limits) * arity, max(limits), int(means.max()),
                   np.repeat(np.array(limits, np.int64), arity), np.repeat(means, arity))


def uneven_balance(weights: np.ndarray, capacities: list[int], levels_left: int,
                   room: float = 0.0) -> Balance:
    """The same for blocks whose elements may weigh so much together, in the order of blocks."""
    total, arity = int(weights.sum()), len(capacities) // len(weights)
    limits, means = [], []
    for section, weight in enumerate(weights.tolist()):
        own = capacities[section * arity : (section + 1) * arity]
        whole = max(1, sum(own))
        even_share = _root(whole * weight ** (levels_left - 1), levels_left)
        for capacity in own:
            means.append(weight * capacity // whole)
            limits.append(min(total, _with_room(-(-weight * capacity // whole),
                                                even_share * capacity // whole, capacity, room)))
    return Balance(len(capacities), max(limits), max(means), np.array(limits, np.int64),
                   np.array(means, np.int64))


def adaptive_limit(limit: int, weight: int, elements: int, arity: int, levels_left: int,
                   room: float = 0.0) -> int:
    """What each of `arity` blocks of a subgraph may weigh (equation 2), in exact arithmetic.

    The slack of the subgraph is divided among the levels that are left: with the paper's
    epsilon' the blocks weigh at most (1 + epsilon') * weight / arity, and
    (1 + epsilon') ** levels_left = limit * elements / weight.

    Parameters
    ----------
    limit : int
        What an element may weigh.
    weight, elements : int
        Of the subgraph.
    levels_left : int
        Partitions on the way to single elements, this one included.
    room : float
        Share of what the paper leaves to the levels further in that this one gets besides.

    Examples
    --------
    >>> adaptive_limit(103, 800, 8, 2, 3), adaptive_limit(103, 404, 4, 4, 1)
    (404, 103)
    >>> adaptive_limit(103, 800, 8, 2, 3, room=0.5)
    408
    """
    mean = -(-weight // arity)
    even_share = _root(limit * elements * weight ** (levels_left - 1), levels_left) // arity
    return _with_room(mean, even_share, limit * elements // arity, room)


def _with_room(mean: int, even_share: int, capacity: int, room: float) -> int:
    """A limit between what the paper gives a level and all that the elements may weigh."""
    return max(mean, even_share + int(Fraction(float(room)) * max(0, capacity - even_share)))


def _root(value: int, degree: int) -> int:
    """Largest integer whose power does not exceed `value`."""
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle)
    return low
