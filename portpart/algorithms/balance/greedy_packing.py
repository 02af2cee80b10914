"""Greedy ways to pack weights into blocks, whatever becomes of limits that cannot be kept.

The longest processing time first (Graham 1969), by counts, where blocks get few weights of similar
size, and MULTIFIT (Coffman, Garey and Johnson 1978), best fit into capacities found by bisection.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from portpart.algorithms.balance.packing import packed_within

MAX_WEIGHTS = 10_000
"""With more weights MULTIFIT takes longer than some tenths of a second."""

BISECTIONS = 7


def heaviest_first(weights: list[int], fixed_weights: list[int],
                   max_weights: list[int]) -> list[int]:
    """A block for each weight: where most room is.

    Parameters
    ----------
    weights : list of int
        Descending.
    fixed_weights, max_weights : list of int
        What each block holds already, and its limit.
    """
    return _dealt(weights, fixed_weights, max_weights, range(len(max_weights)), len(weights))


def pack_by_counts(weights: list[int], fixed_weights: list[int],
                   max_weights: list[int]) -> list[int]:
    """The same with numbers of weights that differ by one at most; light ones where they are more.

    What weighs half a block or more is paired, the heaviest with the lightest.
    """
    k = len(max_weights)
    each, more = divmod(len(weights), k)
    narrowest_first = sorted(range(k), key=lambda block: max_weights[block] - fixed_weights[block])
    heavy = each * (k - more)
    narrow, wide = narrowest_first[: k - more], narrowest_first[k - more :]
    return (_dealt(weights[:heavy], fixed_weights, max_weights, narrow, each)
            + _dealt(weights[heavy:], fixed_weights, max_weights, wide, each + 1))


def _dealt(weights: list[int], fixed_weights: list[int], max_weights: list[int],
           blocks: Sequence[int], max_each: int) -> list[int]:
    """Each weight to the block of some with most room that has not got its number of weights."""
    capacities = [(fixed_weights[block] - max_weights[block], block, max_each) for block in blocks]
    heapq.heapify(capacities)
    chosen = []
    for weight in weights:
        filled, block, left = capacities[0]
        chosen.append(block)
        if left > 1:
            heapq.heapreplace(capacities, (filled + weight, block, left - 1))
        else:
            heapq.heappop(capacities)
    return chosen


def pack_over_limit(weights: list[int], fixed_weights: np.ndarray, max_weights: np.ndarray,
                    over: float) -> list[int] | None:
    """A block for each weight, with limits broken by a smaller share than `over`, if found."""
    best = None
    if len(weights) > MAX_WEIGHTS:
        return None
    low, high = 0.0, over
    for _ in range(BISECTIONS):
        share = (low + high) / 2
        capacities = max_weights + (max_weights * share).astype(np.int64) - fixed_weights
        found = packed_within(weights, capacities.tolist(), max_steps=len(weights) + 1)
        if found is None:
            low = share
        else:
            best, high = found, share
    return best
