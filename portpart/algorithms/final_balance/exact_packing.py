"""Search for a balanced partition if moves and packing fail: exchange, exact search, repacking.

Vertices of several partitions are exchanged. The partition that exceeds limits least is returned;
of equal ones the one closest to the result of refinement. A vertex that is too heavy for every
block gets a block for itself, and the other blocks keep their limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from portpart.algorithms.final_balance.exchange import exchanged
from portpart.algorithms.final_balance.exhaustive import MAX_WEIGHTS, assigned_exactly
from portpart.algorithms.final_balance.overload import block_weights_on_host, move_out
from portpart.algorithms.final_balance.packing import (
    heaviest_first,
    pack_by_counts,
    pack_over_limit,
)
from portpart.algorithms.objectives import AnswerCache

MAX_PACKED = 100_000
"""Maximum number of vertices that are repacked, the lightest: some tenths of a second."""

WORTH_IT = 0.001
"""Repacking increases the cut, so it must reduce an excess by this share of the limit."""

BEST_PACKED = 2
"""Number of repacked partitions that are improved by exchanges."""


@dataclass(frozen=True, eq=False)
class Movable:
    """The vertices that may move, and the limits.

    Attributes
    ----------
    vertices : numpy.ndarray of int, shape (m,)
        Free vertices of positive weight.
    weights : numpy.ndarray of int64, shape (m,)
    fixed_weights : numpy.ndarray of int64, shape (k,)
        Weight of all other vertices in each block.
    min_weights, max_weights : numpy.ndarray of int64, shape (k,)
    known : AnswerCache
        Cache of results that do not depend on the vertices' blocks.
    """

    vertices: np.ndarray
    weights: np.ndarray
    fixed_weights: np.ndarray
    min_weights: np.ndarray
    max_weights: np.ndarray
    known: AnswerCache

    def loads(self, blocks: np.ndarray) -> np.ndarray:
        """Return the block weights for these blocks of the vertices."""
        k = len(self.fixed_weights)
        return self.fixed_weights + block_weights_on_host(blocks, self.weights, k)

    def broken(self, blocks: np.ndarray) -> tuple[float, int]:
        """Return the largest excess as a share of the limit, and the largest missing weight."""
        return self.broken_by(self.loads(blocks))

    def broken_by(self, loads: np.ndarray) -> tuple[float, int]:
        """Return the same for block weights."""
        over = np.maximum(loads - self.max_weights, 0) / np.maximum(self.max_weights, 1)
        return float(over.max()), int(np.maximum(self.min_weights - loads, 0).max())


def within_bounds(part: np.ndarray, other: np.ndarray, weights: np.ndarray, free: np.ndarray,
                  limits: np.ndarray, min_weight: int, known: AnswerCache) -> np.ndarray:
    """Return the partition that exceeds the limits least of all that are found.

    Parameters
    ----------
    part : numpy.ndarray of int32, shape (n,)
        The result of refinement.
    other : numpy.ndarray of int32, shape (n,)
        Another partition to start from.
    weights : numpy.ndarray of int64, shape (n,)
    free : numpy.ndarray of bool, shape (n,)
        Vertices that may move.
    limits : numpy.ndarray of int64, shape (k,)
    min_weight : int
        Minimum weight of each block.
    known : AnswerCache
        Cache of results for these weights and limits.
    """
    starts = [part.copy(), other.copy()]
    free = free.copy()
    limits = _apart(starts, weights, free, limits)
    for start in starts:
        move_out(start, weights, free, block_weights_on_host(start, weights, len(limits)), limits)
    movable = free & (weights > 0)
    fixed_weights = block_weights_on_host(starts[0][~movable], weights[~movable], len(limits))
    vertices = np.flatnonzero(movable)
    if len(vertices) == 0:
        return starts[0]
    task = Movable(vertices, weights[vertices], fixed_weights, np.full(len(limits), min_weight),
                   limits, known)
    best = _best(task, [start[vertices] for start in starts])
    starts[0][vertices] = best
    return starts[0]


def _best(task: Movable, starts: list[np.ndarray]) -> np.ndarray:
    """Return the first candidate within the limits, else the one that exceeds them least."""
    best, best_broken = starts[0], task.broken(starts[0])
    for candidates in (_near, _exact, _repacked):
        for blocks in candidates(task, starts):
            broken = task.broken(blocks)
            gain = best_broken[0] - broken[0]
            if broken < best_broken and (candidates is not _repacked or gain == 0
                                         or gain > WORTH_IT or broken == (0, 0)):
                best, best_broken = blocks, broken
            if broken == (0, 0):
                return best
    return best


def _near(task: Movable, starts: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the starts after exchanges: these change least."""
    return (_exchanged(task, start) for start in starts)


def _exact(task: Movable, starts: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the result of exhaustive search, without minimum weights if none is found with them."""
    if len(task.weights) > MAX_WEIGHTS:
        return
    capacities = task.max_weights - task.fixed_weights
    for min_weights in (task.min_weights, np.zeros_like(task.min_weights)):
        lacks = min_weights - task.fixed_weights
        found = task.known.once("exact", partial(assigned_exactly, *(
            each.tolist() for each in (task.weights, lacks, capacities))), task.weights, lacks,
                                capacities)
        if found is not None:
            yield np.array(found, np.int64)
            return


def _repacked(task: Movable, starts: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the vertices repacked in several ways, then the best ways after exchanges."""
    order = np.argsort(-task.weights, kind="stable")[-MAX_PACKED:]
    rest = np.delete(np.arange(len(task.weights)), order)
    others = block_weights_on_host(starts[0][rest], task.weights[rest], len(task.fixed_weights))
    weights, fixed_weights = task.weights[order], task.fixed_weights + others
    # other vertices differ from call to call, so no result would be used again
    known, packed = AnswerCache() if len(rest) else task.known, []
    for chosen in known.once("packed", lambda: _packed(weights, fixed_weights, task), weights,
                             fixed_weights, task.min_weights, task.max_weights):
        blocks = starts[0].astype(np.int64)
        blocks[order] = chosen
        packed.append(blocks)
        yield blocks
    tried = BEST_PACKED if len(rest) == 0 else 1
    for blocks in sorted(packed, key=task.broken)[:tried]:
        yield known.once("exchanged", partial(_exchanged, task, blocks), blocks, task.weights,
                         task.fixed_weights, task.min_weights, task.max_weights)


def _packed(weights: np.ndarray, fixed_weights: np.ndarray, task: Movable) -> list[np.ndarray]:
    """Return packings of descending weights, up to the first one within the limits.

    The order is: heaviest first, by counts, and over the limit if one is found.
    """
    limits, found, over = task.max_weights, [], np.inf
    for pack in (heaviest_first, pack_by_counts):
        found.append(np.array(pack(weights.tolist(), fixed_weights.tolist(), limits.tolist()),
                              np.int64))
        loads = fixed_weights + block_weights_on_host(found[-1], weights, len(limits))
        broken = task.broken_by(loads)
        if broken == (0, 0):
            return found
        over = min(over, broken[0])
    tight = pack_over_limit(weights.tolist(), fixed_weights, limits, over)
    return found if tight is None else [*found, np.array(tight, np.int64)]


def _exchanged(task: Movable, start: np.ndarray) -> np.ndarray:
    """Exchange for the limits, then also for the minimum weights."""
    blocks = start
    for min_weights in (np.zeros_like(task.min_weights), task.min_weights):
        blocks = exchanged(task.weights, blocks, task.fixed_weights, min_weights, task.max_weights)
        if task.broken(blocks)[1] == 0:
            break
    return blocks


def _apart(starts: list[np.ndarray], weights: np.ndarray, free: np.ndarray,
           limits: np.ndarray) -> np.ndarray:
    """Fix vertices too heavy for every block to separate blocks; return the new limits.

    Changes `starts` and `free`. The heaviest vertex gets the block with the largest capacity. A
    vertex stays in its block if that has the largest capacity and is not taken.
    """
    fixed_weights = block_weights_on_host(starts[0][~free], weights[~free], len(limits))
    capacities = limits - fixed_weights
    heavy = np.flatnonzero(free & (weights > capacities.max()))
    if len(heavy) > len(limits):
        return limits
    limits, taken = limits.copy(), np.zeros(len(limits), bool)
    widest_first = iter(np.argsort(-capacities, kind="stable").tolist())
    for v in heavy[np.argsort(-weights[heavy], kind="stable")]:
        block = int(starts[0][v])
        if taken[block] or capacities[block] < capacities.max():
            block = next(wide for wide in widest_first if not taken[wide])
        taken[block], free[v] = True, False
        for start in starts:
            start[v] = block
        limits[block] = fixed_weights[block] + weights[v]
    return limits
