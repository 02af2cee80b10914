"""Packing weights into blocks: greedily, or by a limited exact search."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence

import numpy as np

# Packing of weights by a limited exact search, if greedy packing fails -------------------------


MAX_STEPS = 200_000
"""Maximum number of placements that are tried: some tenths of a second."""


def packed_within(weights: Sequence[int], capacities: Sequence[int],
                  max_steps: int = MAX_STEPS) -> list[int] | None:
    """Return a block for each weight within the capacities; None if none is found.

    Parameters
    ----------
    weights : sequence of int
        Positive, heaviest first.
    capacities : sequence of int
        Capacity of each block; one that is not positive gets no weight.
    max_steps : int
        Limit of the search; None below that limit means that there is no packing.

    Notes
    -----
    Depth-first: a weight goes to the block that it fills best. Of blocks with equal capacity one
    is tried. A branch ends when capacities too small for the lightest weight add up to more than
    the total slack. Deterministic.
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
        self.capacities = sorted((capacity, block) for block, capacity in enumerate(capacities)
                                 if capacity >= self.lightest)  # ascending
        self.spare = sum(capacity for capacity, _ in self.capacities) - sum(weights)
        self.wasted = 0
        self.placed: list[tuple[int, int]] = []  # of each placed weight: capacity left, block
        self.tried = [-1]  # largest capacity tried for each placed weight and for the next one

    def step(self) -> bool:
        """Place the next weight or undo a placement; return False when all has been tried."""
        weight = self.weights[len(self.placed)]
        place = bisect_left(self.capacities, (max(weight, self.tried[-1] + 1), -1))
        if place == len(self.capacities) or self.wasted > self.spare:
            return self._undo()
        capacity, block = self.capacities.pop(place)
        left = capacity - weight
        insort(self.capacities, (left, block))
        self.wasted += left if left < self.lightest else 0
        self.placed.append((left, block))
        self.tried[-1] = capacity
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


# Greedy packing of weights into blocks, which may exceed limits --------------------------------
#
# Longest processing time first (Graham 1969); by counts, if blocks get few weights of similar size;
# and MULTIFIT (Coffman, Garey and Johnson 1978), best fit into capacities found by bisection.


MAX_WEIGHTS = 10_000
"""With more weights MULTIFIT takes longer than some tenths of a second."""

BISECTIONS = 7


def heaviest_first(weights: list[int], fixed_weights: list[int],
                   max_weights: list[int]) -> list[int]:
    """Return a block for each weight: always the one with the largest free capacity.

    Parameters
    ----------
    weights : list of int
        Descending.
    fixed_weights, max_weights : list of int
        Weight already in each block, and its limit.
    """
    return _dealt(weights, fixed_weights, max_weights, range(len(max_weights)), len(weights))


def pack_by_counts(weights: list[int], fixed_weights: list[int],
                   max_weights: list[int]) -> list[int]:
    """Do the same with numbers of weights per block that differ by at most one.

    Blocks with more weights get the lighter ones. Weights of half a block or more are paired, the
    heaviest with the lightest.
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
    """Assign each weight to the block with the largest free capacity and fewer than `max_each`."""
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
    """Return a block for each weight with a smaller relative excess than `over`, if found."""
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
