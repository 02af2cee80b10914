"""What partitions of a small graph there are, by going through all sets of vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests import oracles

if TYPE_CHECKING:
    from tests.oracles.wanted import Case

NONE = 2**62
"""The score of what cannot be."""

FILLED = 2**50
"""What a block that weighs something is worth, in arcs."""


@dataclass(frozen=True)
class Possible:
    """Of all partitions that keep limits, least weight and fixed vertices.

    Attributes
    ----------
    any : bool
        Whether there is one.
    max_filled : int
        The largest number of blocks that weigh something.
    min_cut : int or None
        The smallest cut of those with so many; None if it was not asked for.
    """

    any: bool
    max_filled: int
    min_cut: int | None


def possible(case: Case, with_cut: bool = False) -> Possible:
    """Block after block gets each set of vertices that it may get, beside each that is taken.

    Vertices that weigh nothing and are not fixed only matter for the cut.
    """
    weights = oracles.vertex_weights(case.graph)
    fixed = [-1] * len(weights) if case.fixed is None else case.fixed.tolist()
    own = [v for v, weight in enumerate(weights) if with_cut or weight > 0]
    masks = np.arange(1 << len(own), dtype=np.int64)
    sums = sum((weights[v] * (masks >> bit & 1) for bit, v in enumerate(own)), 0 * masks)
    outer = _outer_arcs(case, own, masks) if with_cut else 0 * masks
    # less is better: first by the number of blocks that are filled, then by the cut
    score = np.full(len(masks), NONE)
    score[0] = 0
    for block, limit in enumerate(case.limits):
        allowed = (sums <= limit) & (sums >= case.least)
        for bit, v in enumerate(own):
            if fixed[v] >= 0:
                allowed &= (masks >> bit & 1) == (fixed[v] == block)
        score = _with_block(score, masks[allowed], outer - FILLED * (sums > 0))
    best = int(score[-1])
    if best >= NONE // 2:
        return Possible(False, 0, None)
    filled = -(best // FILLED)
    return Possible(True, filled, (best + filled * FILLED) // 2 if with_cut else None)


def _outer_arcs(case: Case, own: list[int], masks: np.ndarray) -> np.ndarray:
    """Weight of the arcs that leave each set."""
    total = 0 * masks
    for u, v, weight in oracles.arcs(case.graph):
        one, other = (masks >> own.index(w) & 1 for w in (u, v))
        total += weight * (one & (1 - other))
    return total


def _with_block(score: np.ndarray, sets: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """The best score of each set of vertices once one more block has got one of `sets`."""
    after = np.full(len(score), NONE)
    reached = np.flatnonzero(score < NONE // 2)
    for members in sets.tolist():
        before = reached[reached & members == 0]
        both = before | members  # all different
        after[both] = np.minimum(after[both], score[before] + worth[members])
    return after
