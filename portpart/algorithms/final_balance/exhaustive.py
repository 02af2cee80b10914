"""Exact assignment of a few weights to blocks with limits: dynamic programming over subsets.

Sets of weights are bit masks; the heaviest weight is the highest bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MAX_WEIGHTS = 16
"""With more weights there are too many sets."""


def assigned_exactly(weights: Sequence[int], min_weights: Sequence[int],
                     max_weights: Sequence[int]) -> list[int] | None:
    """Return a block for each weight so that all limits are kept; None if that is impossible.

    Parameters
    ----------
    weights : sequence of int
        Positive; at most `MAX_WEIGHTS`.
    min_weights, max_weights : sequence of int
        Minimum and maximum sum of each block. A minimum of 0 or less has no effect; a block with a
        negative maximum makes the task impossible.

    Notes
    -----
    Without minimum weights O(n 2^n) for n weights; with them up to O(k 3^n), of which tight limits
    leave little.
    """
    total = sum(weights)
    needed = sum(max(0, low) for low in min_weights)
    if min(max_weights) < 0 or total > sum(max_weights) or total < needed:
        return None
    ascending = np.argsort(np.array(weights, np.int64), kind="stable")
    ordered = np.array(weights, np.int64)[ascending]
    lower, upper = np.maximum(min_weights, 0), np.minimum(max_weights, total)
    found = _packed(ordered, upper) if needed == 0 else _divided(ordered, lower, upper)
    if found is None:
        return None
    blocks = np.empty(len(weights), np.int64)
    blocks[ascending] = found
    return [int(block) for block in blocks]


def _packed(weights: np.ndarray, max_weights: np.ndarray) -> np.ndarray | None:
    """Return blocks for weights with maximum sums only.

    The block with the largest capacity is filled first. Of all ways to pack a set, the best one has
    begun fewest blocks, and filled the last of these least; no other allows more for the rest.
    """
    n, k = len(weights), len(max_weights)
    order = np.argsort(-max_weights, kind="stable")
    capacity = np.append(max_weights[order], -1)  # nothing fits behind the last block
    last = np.full(1 << n, k, np.int64)  # the block that is being filled
    load = np.zeros(1 << n, np.int64)
    added = np.zeros(1 << n, np.int64)
    last[0] = 0
    sizes = subset_sums(np.ones(n, np.int64))
    for masks in (np.flatnonzero(sizes == size) for size in range(1, n + 1)):
        for bit, weight in enumerate(weights):
            after = masks[masks >> bit & 1 == 1]
            here, filled = last[after ^ 1 << bit], load[after ^ 1 << bit] + weight
            begun = filled > capacity[here]
            here = np.minimum(here + begun, k)
            filled = np.where(begun, weight, filled)
            here = np.where(filled > capacity[here], k, here)
            better = (here < last[after]) | (here == last[after]) & (filled < load[after])
            last[after[better]], load[after[better]] = here[better], filled[better]
            added[after[better]] = bit
    mask = (1 << n) - 1
    if last[mask] == k:
        return None
    blocks = np.empty(n, np.int64)
    while mask:
        bit = added[mask]
        blocks[bit] = order[last[mask]]
        mask ^= 1 << int(bit)
    return blocks


def _divided(weights: np.ndarray, min_weights: np.ndarray,
             max_weights: np.ndarray) -> np.ndarray | None:
    """Return blocks for weights with both limits, by the sets that the first blocks can hold."""
    n, k = len(weights), len(max_weights)
    sums = subset_sums(weights)
    alike = bool((min_weights == min_weights[0]).all() and (max_weights == max_weights[0]).all())
    fitting = [np.flatnonzero((sums >= low) & (sums <= high))
               for low, high in zip(min_weights, max_weights)]
    order = sorted(range(k), key=lambda block: len(fitting[block]))
    reached, steps = np.zeros(1, np.int64), []
    for place, block in enumerate(order[:-1]):
        later = order[place + 1 :]
        reached, step = _extended(reached, fitting[block], n, alike)
        rest = sums[-1] - sums[reached]
        possible = (rest >= min_weights[later].sum()) & (rest <= sum(max_weights[later].tolist()))
        reached = reached[possible]
        steps.append(step)
    rest = sums[-1] - sums[reached]
    ends = reached[(rest >= min_weights[order[-1]]) & (rest <= max_weights[order[-1]])]
    if len(ends) == 0:
        return None
    blocks, mask = np.full(n, order[-1]), int(ends[0])
    for block, step in zip(reversed(order[:-1]), reversed(steps)):
        members = int(step[mask])
        blocks[[bit for bit in range(n) if members >> bit & 1]] = block
        mask ^= members
    return blocks


def subset_sums(weights: np.ndarray) -> np.ndarray:
    """Return the sum of each subset; the bits of its number are its members."""
    sums = np.zeros(1, np.int64)
    for weight in weights:
        sums = np.concatenate([sums, sums + weight])
    return sums


def _extended(reached: np.ndarray, fitting: np.ndarray, n: int,
              alike: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return all disjoint unions of a set of `reached` and one of `fitting`, and the latter set.

    If blocks are alike, the next one gets the heaviest weight that is left.
    """
    step = np.full(1 << n, -1, np.int64)
    every = (1 << n) - 1
    if len(reached) <= len(fitting):
        for before in reached.tolist():
            members = fitting[fitting & before == 0]
            if alike:
                heaviest = 1 << (every ^ before).bit_length() >> 1
                members = members[members & heaviest == heaviest]
            step[members | before] = members
    else:
        for members in fitting.tolist():
            before = reached[reached & members == 0]
            if alike:
                heavier = every >> members.bit_length() << members.bit_length()
                before = before[before & heavier == heavier]
            step[before | members] = members
    return np.flatnonzero(step >= 0), step
