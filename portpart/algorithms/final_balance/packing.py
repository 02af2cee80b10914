"""Packing weights into blocks: greedily, or by a limited exact search."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence

import numpy as np

# Packs weights into blocks by a limited exact search, for when greedy packing fails ------------


MAX_STEPS = 200_000
"""Placements tried before the search gives up: some tenths of a second."""


def packed_within(weights: Sequence[int], capacities: Sequence[int],
                  max_steps: int = MAX_STEPS) -> list[int] | None:
    """A block for each weight, so that none gets more than its room; None if not found.

    Parameters
    ----------
    weights : sequence of int
        Positive, heaviest first.
    capacities : sequence of int
        Of each block; one that is not positive takes nothing.
    max_steps : int
        Bounds the search; None within that bound means that there is no packing.

    Notes
    -----
    Depth-first: a weight goes to the block that it fills best.  Blocks with equal room are tried
    once, and a branch ends when capacities too small for the lightest weight add up to
    more than can be spared.  Deterministic.
    """
    if len(weights) > max_steps:
        return None
    search = _Search(weights, capacities)
    for _ in range(max_steps):
        if len(search.placed) == len(weights):
            return [block for _, block in search.placed]
        if not search.step():
            break
    return None


class _Search:
    """State of the depth-first search."""

    def __init__(self, weights: Sequence[int], capacities: Sequence[int]) -> None:
        self.weights = weights
        self.lightest = weights[-1] if weights else 0
        self.capacities = sorted((room, block) for block, room in enumerate(capacities)
                                 if room >= self.lightest)  # ascending
        self.spare = sum(room for room, _ in self.capacities) - sum(weights)
        self.wasted = 0
        self.placed: list[tuple[int, int]] = []  # of each placed weight: room left there, block
        self.tried = [-1]  # largest room tried for each placed weight and for the next one

    def step(self) -> bool:
        """Place the next weight or take one back; False when all has been tried."""
        weight = self.weights[len(self.placed)]
        place = bisect_left(self.capacities, (max(weight, self.tried[-1] + 1), -1))
        if place == len(self.capacities) or self.wasted > self.spare:
            return self._undo()
        room, block = self.capacities.pop(place)
        left = room - weight
        insort(self.capacities, (left, block))
        self.wasted += left if left < self.lightest else 0
        self.placed.append((left, block))
        self.tried[-1] = room
        self.tried.append(-1)
        return True

    def _undo(self) -> bool:
        self.tried.pop()
        if not self.placed:
            return False
        left, block = self.placed.pop()
        self.capacities.pop(bisect_left(self.capacities, (left, block)))
        insort(self.capacities, (left + self.weights[len(self.placed)], block))
        self.wasted -= left if left < self.lightest else 0
        return True


# Greedy ways to pack weights into blocks, whatever becomes of limits that cannot be kept -------
#
# The longest processing time first (Graham 1969), by counts, where blocks get few weights of
# similar
# size, and MULTIFIT (Coffman, Garey and Johnson 1978), best fit into capacities found by
# bisection.


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
