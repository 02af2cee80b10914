"""Packing weights into equal blocks by a bounded exact search, for when greedy packing fails."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

MOST_STEPS = 100_000
"""Placements tried before the search gives up: some tenths of a second."""


def packed_within(weights: Sequence[int], num_blocks: int, limit: int,
                  most_steps: int = MOST_STEPS) -> list[int] | None:
    """A block for each weight, so that no block gets more than `limit`; None if not found.

    Parameters
    ----------
    weights : sequence of int
        Positive, heaviest first.
    num_blocks : int
    limit : int
        Room of each block.
    most_steps : int
        Bounds the search; None within that bound means that there is no packing.

    Notes
    -----
    Depth-first: a weight goes to the block that it fills best.  Blocks with equal room are tried
    once, and a branch ends when the rooms that are too small for the lightest weight add up to
    more than can be spared.  Deterministic.
    """
    if not weights:
        return []
    search = _Search(weights, num_blocks, limit)
    for _ in range(most_steps):
        if not search.step():
            break
    return search.blocks if len(search.blocks) == len(weights) else None


class _Search:
    """State of the depth-first search; `blocks` holds the placements of the first weights."""

    def __init__(self, weights: Sequence[int], num_blocks: int, limit: int) -> None:
        self.weights = weights
        self.room = [limit] * num_blocks
        self.blocks: list[int] = []
        self.spare = num_blocks * limit - sum(weights)
        # choices[d]: blocks still to be tried for weight d, the best one last
        self.choices: list[list[int]] = [self._candidates(0)]

    def step(self) -> bool:
        """Place the next weight or take one back; False at the end, found or not."""
        depth = len(self.blocks)
        if depth == len(self.weights) or not self.choices:
            return False
        if self.choices[-1]:
            block = self.choices[-1].pop()
            self.blocks.append(block)
            self.room[block] -= self.weights[depth]
            if depth + 1 < len(self.weights):
                self.choices.append(self._candidates(depth + 1))
            return True
        self.choices.pop()
        if self.blocks:
            self.room[self.blocks.pop()] += self.weights[depth - 1]
        return True

    def _candidates(self, depth: int) -> list[int]:
        """Blocks that have room for weight `depth`, one for each room; none in a dead branch."""
        ordered = sorted(range(len(self.room)), key=self.room.__getitem__)
        rooms = [self.room[block] for block in ordered]
        wasted = sum(rooms[: bisect_right(rooms, self.weights[-1] - 1)])
        if wasted > self.spare:
            return []
        first = bisect_right(rooms, self.weights[depth] - 1)
        different = [i for i in range(first, len(rooms)) if i == first or rooms[i] != rooms[i - 1]]
        return [ordered[i] for i in reversed(different)]
