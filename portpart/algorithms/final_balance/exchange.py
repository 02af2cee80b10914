"""Exchange of vertices between pairs of blocks until all are within their limits; on the host.

The block that violates its limits most gives a vertex to one of the best other blocks, or gets or
swaps one. If that is not enough, it swaps many heavy vertices for as many light ones, or exchanges
subsets: all sums of a few vertices of each are compared. Deterministic: the first of equals wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from portpart.algorithms.final_balance.exhaustive import subset_sums

MAX_WORK = 10**7
"""Maximum number of loads that are compared: some tenths of a second."""

SWAPS = ((8, 128), (48, 768))
"""Numbers of partners for a swap and of their vertices in all: a small search, then a large one."""

MAX_OWN = 24
"""Maximum number of the block's own vertices in a search for swaps."""

PASSES = 8
"""Number of passes of an exchange over all blocks, or all sums."""

MAX_PAIRS = 10_000
"""Maximum number of simultaneous swaps of the heaviest with the lightest vertices."""

FEW = 9
"""Number of vertices of each of two blocks whose sums are all examined."""

PARTNERS_OF_SUMS = 6
"""Number of partners for exchanges of subsets."""


def exchanged(weights: np.ndarray, blocks: np.ndarray, fixed_weights: np.ndarray,
              min_weights: np.ndarray, max_weights: np.ndarray) -> np.ndarray:
    """Return the block of each weight after exchanges. Violations of limits never increase.

    Parameters
    ----------
    weights : numpy.ndarray of int64
        Positive weights of movable vertices.
    blocks : numpy.ndarray of int
        Their blocks.
    fixed_weights : numpy.ndarray of int64, shape (k,)
        Fixed weight of each block.
    min_weights, max_weights : numpy.ndarray of int64, shape (k,)
        Minimum weights and limits of the blocks.
    """
    state = _Exchange(weights, blocks, fixed_weights, min_weights, max_weights)
    while state.work < MAX_WORK:
        block = state.worst()
        if block is None:
            break
        state.mend(block)
    return state.result()


class Change(NamedTuple):
    """An exchange of vertices between a block and its partner.

    Attributes
    ----------
    broken : float
        Violation of limits by the worse of the two blocks afterwards, as a share of its limit.
    given, taken : list of int
        Vertices that leave and enter the block.
    partner : int
    """

    broken: float
    given: list[int]
    taken: list[int]
    partner: int


class _Exchange:
    """The members of each block, ascending by weight."""

    def __init__(self, weights: np.ndarray, blocks: np.ndarray, fixed_weights: np.ndarray,
                 min_weights: np.ndarray, max_weights: np.ndarray) -> None:
        self.weights, self.min_weights, self.max_weights = weights, min_weights, max_weights
        self.scale = np.maximum(max_weights, 1).astype(np.float64)
        self.loads = fixed_weights.copy()
        np.add.at(self.loads, blocks, weights)
        self.before, self.order = blocks, np.lexsort((weights, blocks))
        self.ends = np.append(0, np.cumsum(np.bincount(blocks, minlength=len(max_weights))))
        self.changed: dict[int, np.ndarray] = {}
        self.stuck = np.zeros(len(max_weights), bool)
        self.work = 0

    def result(self) -> np.ndarray:
        """Return the block of each weight."""
        blocks = self.before.astype(np.int64)
        for block, members in self.changed.items():
            blocks[members] = block
        return blocks

    def members(self, block: int) -> np.ndarray:
        """Return the vertices of a block."""
        if block in self.changed:
            return self.changed[block]
        return self.order[self.ends[block] : self.ends[block + 1]]

    def worst(self) -> int | None:
        """Return the block that violates its limits most, of all that an exchange may help."""
        broken = np.where(self.stuck, 0, self._broken(slice(None), self.loads))
        block = int(broken.argmax())
        return block if broken[block] > 0 else None

    def _broken(self, blocks: slice | int | np.ndarray, loads: np.ndarray) -> np.ndarray:
        """Return the violations of limits for such block weights, as shares of the limits."""
        beyond = np.maximum(loads - self.max_weights[blocks], self.min_weights[blocks] - loads)
        broken: np.ndarray = np.maximum(beyond, 0) / self.scale[blocks]
        return broken

    def mend(self, block: int) -> None:
        """Make the best exchange for the worse of two blocks; without gain the block is stuck."""
        before = float(self._broken(block, self.loads[block]))
        best = Change(before, [], [], block)
        for change in self._changes(block):
            if change.broken < best.broken:
                best = change
            if best.broken == 0:
                break
        self.stuck[block] = best.broken >= before
        self._move(best.given, block, best.partner)
        self._move(best.taken, best.partner, block)

    def _changes(self, block: int) -> Iterator[Change]:
        """Yield exchanges that may help the block, the fastest to find first."""
        for count, size in SWAPS:
            yield from self._best_swap(block, count, size)
        for other in self._partners(block, PARTNERS_OF_SUMS).tolist():
            yield self._many_swaps(block, other)
            yield self._best_sums(block, other)

    def _partners(self, block: int, count: int) -> np.ndarray:
        """Return the blocks with the largest free or surplus weight, and some with less."""
        over = self.loads[block] > self.max_weights[block]
        capacity = self.max_weights - self.loads if over else self.loads - self.min_weights
        offer = capacity / self.scale
        offer[block] = -np.inf
        order = np.argsort(-offer, kind="stable")[:-1]
        if len(order) <= count:
            return order
        offering = max(count, int((offer > 0).sum()))
        return np.concatenate([order[: count // 2], _spread(order[count // 2 : offering],
                                                            count - count // 2)])

    def _best_swap(self, block: int, count: int, size: int) -> Iterator[Change]:
        """Yield the best move or swap with one of `count` partners, if there are any."""
        partners = self._partners(block, count)
        if len(partners) == 0:
            return
        own = _some(self.members(block), self.weights, MAX_OWN)
        some = [_some(self.members(other), self.weights, size // len(partners))
                for other in partners]
        others = np.concatenate([part for vertices in some for part in ([-1], vertices)])
        place = np.repeat(partners, [len(vertices) + 1 for vertices in some])
        out = np.concatenate([[0], self.weights[own]])
        back = np.where(others < 0, 0, self.weights[others])
        change = out[:, None] - back[None, :]
        worse = np.maximum(self._broken(block, self.loads[block] - change),
                           self._broken(place, self.loads[place] + change))
        self.work += worse.size + PASSES * len(self.loads)
        # of equal ones: a move before a swap, then the smallest change
        rows, columns = np.nonzero(worse == worse.min())
        moved = (rows > 0) * 1 + (others[columns] >= 0)
        first = np.lexsort((abs(change[rows, columns]), moved))[0]
        row, column = rows[first], columns[first]
        given = [int(own[row - 1])] if row else []
        taken = [int(others[column])] if others[column] >= 0 else []
        yield Change(float(worse[row, column]), given, taken, int(place[column]))

    def _best_sums(self, block: int, other: int) -> Change:
        """Return the best exchange with one partner between a few vertices of each."""
        own, others = (_spread(self.members(which), FEW) for which in (block, other))
        out, back = subset_sums(self.weights[own]), subset_sums(self.weights[others])
        order = np.argsort(back, kind="stable")
        wanted = np.searchsorted(back[order], out - self._ideal(block, other))
        best: tuple[float, int, int, int] = (np.inf, 0, 0, 0)
        for near in (wanted - 1, wanted):
            chosen = order[np.clip(near, 0, len(order) - 1)]
            change = out - back[chosen]
            worse = np.maximum(self._broken(block, self.loads[block] - change),
                               self._broken(other, self.loads[other] + change))
            moved = _sizes(len(own)) + _sizes(len(others))[chosen]
            equal = np.flatnonzero(worse == worse.min())
            first = int(equal[moved[equal].argmin()])
            best = min(best, (float(worse[first]), int(moved[first]), first, int(chosen[first])))
        self.work += PASSES * (len(out) + len(back))
        return Change(best[0], list(_members(own, best[2])), list(_members(others, best[3])), other)

    def _many_swaps(self, block: int, other: int) -> Change:
        """Return a swap of heaviest for lightest vertices of two blocks, up to the ideal."""
        wanted = self._ideal(block, other)
        giver, taker = (block, other) if wanted > 0 else (other, block)
        pairs = min(len(self.members(giver)), len(self.members(taker)), MAX_PAIRS)
        out, back = self.members(giver)[::-1][:pairs], self.members(taker)[:pairs]
        gains = self.weights[out] - self.weights[back]
        change = np.append(0, np.cumsum(gains[gains > 0]))
        count = int(np.searchsorted(change, abs(wanted), side="right")) - 1
        moved = int(change[count]) * (1 if wanted > 0 else -1)
        worse = max(float(self._broken(block, self.loads[block] - moved)),
                    float(self._broken(other, self.loads[other] + moved)))
        self.work += pairs
        given, taken = out[:count].tolist(), back[:count].tolist()
        return Change(worse, *((given, taken) if wanted > 0 else (taken, given)), other)

    def _ideal(self, block: int, other: int) -> int:
        """Return the weight to give to the other block so that both have the same violation."""
        here, there = int(self.loads[block]), int(self.loads[other])
        lowest = max(here - int(self.max_weights[block]), int(self.min_weights[other]) - there)
        highest = min(here - int(self.min_weights[block]), int(self.max_weights[other]) - there)
        return (lowest + highest) // 2

    def _move(self, vertices: list[int], here: int, there: int) -> None:
        """Move vertices from block `here` to block `there`."""
        if not vertices:
            return
        moved = np.array(vertices)
        moved = moved[np.argsort(self.weights[moved], kind="stable")]
        staying, others = self.members(here), self.members(there)
        self.work += (len(staying) + len(others)) // 4
        self.changed[here] = staying[~np.isin(staying, moved)]
        place = np.searchsorted(self.weights[others], self.weights[moved])
        self.changed[there] = np.insert(others, place, moved)
        weight = self.weights[moved].sum()
        self.loads[here] -= weight
        self.loads[there] += weight
        self.stuck[[here, there]] = False


def _some(members: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Return a few members with many different weights."""
    if len(members) <= count:
        return members
    several = _spread(members, 4 * count)
    own = weights[several]
    return _spread(several[np.append(True, own[1:] != own[:-1])], count)


def _spread(members: np.ndarray, count: int) -> np.ndarray:
    """Return at most `count` members, at equal distances."""
    if len(members) <= count:
        return members
    return members[np.linspace(0, len(members) - 1, count).astype(np.int64)]


def _sizes(count: int) -> np.ndarray:
    """Return the number of members of each subset."""
    return subset_sums(np.ones(count, np.int64))


def _members(vertices: np.ndarray, subset: int) -> Iterator[int]:
    """Yield the members of a subset, given by its number."""
    return (int(v) for bit, v in enumerate(vertices) if subset >> bit & 1)
