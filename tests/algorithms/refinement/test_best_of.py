"""The best of several partitions is chosen where they are, as a minimum on the host finds it."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.refinement.incumbent import BestOf, Outcomes, RefinementOutcome
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles

HUGE = 2**61

BALANCE_FIRST = [
    [(7, 0, 1), (5, 0, 1), (6, 0, 1)],
    [(5, 0, 1), (5, 0, 1)],
    [(1, 3, 0), (9, 0, 1), (2, 1, 0)],
    [(4, 9, 0), (3, 50, 0)],
    [(HUGE, 0, 1), (HUGE - 1, 0, 1)],
    [(8, -3, 1)],
]

WITH_A_COST = [
    [(7, 0, 1), (5, 1, 0)],
    [(7, 0, 1), (5, 1, 0), (4, 1, 0)],
    [(7, -5, 1), (8, -9, 1)],
    [(HUGE, 2**40, 0), (2 * HUGE - 2**50, 0, 1), (HUGE // 2, 2**41, 0)],
]


def chosen(space: ExecutionSpace, outcomes: list[tuple[int, int, int]], penalty: int) -> int:
    """Offer one partition for each outcome; return the number of the one that is kept."""
    page, best = Outcomes(space), BestOf(space, penalty)
    words = [word for cut, overload, balanced in outcomes
             for word in (cut, overload, balanced, 10)]
    page.words = space.asarray(np.array(words, np.int64))
    before = space.counters.synchronizations
    for number in range(len(outcomes)):
        best.offer(space.full(40, number, np.int32), RefinementOutcome(page, number))
    assert space.counters.synchronizations == before
    assert best.part is not None
    part = oracles.host(best.part)
    assert (part == part[0]).all()
    return int(part[0])


@pytest.mark.parametrize("outcomes", BALANCE_FIRST)
def test_balance_comes_first_then_the_cut(space: ExecutionSpace,
                                          outcomes: list[tuple[int, int, int]]) -> None:
    expected = min(range(len(outcomes)), key=lambda i: (-outcomes[i][2], outcomes[i][0]))
    assert chosen(space, outcomes, 0) == expected


@pytest.mark.parametrize("outcomes", WITH_A_COST)
@pytest.mark.parametrize("penalty", [1, 3, 2**30])
def test_overload_has_a_cost_of_any_size(space: ExecutionSpace, penalty: int,
                                         outcomes: list[tuple[int, int, int]]) -> None:
    costs = [cut + penalty * max(0, overload) for cut, overload, _ in outcomes]
    assert chosen(space, outcomes, penalty) == costs.index(min(costs))
