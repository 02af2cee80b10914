"""Whole partitions and mappings come out alike whatever the order of work items and their lanes."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.partitioners import ALGORITHMS
from portpart.backends.language import Kernel
from tests.emulated import Case, all_kernels, cases, outcome

CASES = cases()
FOR_MANY = "portpart.primitives."
"""Kernels for long arrays, and those of primitives that others use: tests/primitives has them."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lanes_and_order_decide_nothing(case: Case) -> None:
    expected, _ = outcome(case, 0)
    found, _ = outcome(case, CASES[case])
    assert np.array_equal(found, expected)


def test_every_kernel_of_the_algorithms_has_run() -> None:
    ran: dict[Kernel, int] = {}
    for case, lanes in CASES.items():
        for kernel, most in outcome(case, lanes)[1].items():
            ran[kernel] = max(most, ran.get(kernel, 0))
    kernels = {kernel: name for kernel, name in all_kernels().items()
               if not name.startswith(FOR_MANY)}
    assert [name for kernel, name in kernels.items() if kernel not in ran] == []
    assert [name for kernel, name in kernels.items()
            if kernel.uses_team_words and ran[kernel] == 1] == []


def test_every_algorithm_has_one_two_and_three_lanes() -> None:
    for algorithm in ALGORITHMS:
        assert {lanes for case, lanes in CASES.items() if case.algorithm == algorithm} == {1, 2, 3}
