"""The CPU reproduces the recorded partitions, which a GPU reproduces too (golden/record.py)."""

from __future__ import annotations

import pytest

from portpart.presets import ALGORITHMS
from tests.conftest import cuda_space
from tests.golden import cases
from tests.golden.record import load, why_not_comparable

KNOWN = load()
CASES = list(cases.cases())


def check(case: cases.Case, device: str) -> None:
    graph = cases.graph_of(case.graph)
    reason = why_not_comparable(KNOWN, case)
    if reason:
        pytest.skip(reason)
    assert cases.outcome_of(case, graph, device) == KNOWN["partitions"][str(case)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_cpu_reproduces(case: cases.Case) -> None:
    check(case, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_gpu_reproduces(case: cases.Case) -> None:
    cuda_space()
    check(case, "cuda")


def test_every_case_is_recorded_and_no_other() -> None:
    assert list(KNOWN["partitions"]) == [str(case) for case in CASES]
    assert set(KNOWN["graphs"]) == set(cases.GRAPHS)


def test_there_are_enough_cases() -> None:
    assert len({case.graph for case in CASES}) >= 12
    assert {case.k for case in CASES} == {2, 8, 64, 300, 1024, 4096}
    assert {case.algorithm for case in CASES} == set(ALGORITHMS)
    for name, algorithm in ALGORITHMS.items():
        assert {case.preset for case in CASES if case.algorithm == name} == set(algorithm.presets)
