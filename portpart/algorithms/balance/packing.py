"""Packs weights into blocks by a limited exact search, for when greedy packing fails."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

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
