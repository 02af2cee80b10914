"""The CPU reproduces the recorded partitions, which a GPU reproduces too (golden/record.py)."""

from __future__ import annotations

import pytest

from portpart.algorithms.objectives.net_cost import NET_COSTS
from portpart.algorithms.recipes.partitioners import ALGORITHMS, OF_NETS, Algorithm
from tests.conftest import cuda_space
from tests.golden import cases
from tests.golden.record import compared, load

KNOWN = load()
CASES = list(cases.cases())
OF_MANY = [case for case in CASES if case.k in cases.MANY_BLOCKS]
OF_FEW = [case for case in CASES if case.k not in cases.MANY_BLOCKS]
ON_CPU = OF_MANY[::2] + [case for i, case in enumerate(OF_FEW)
                         if i % 2 == 0 or (case.objective is not None and case.rounds is None)]
"""All of hypergraphs, and of graphs every second.  A GPU reproduces all cases."""


def check(case: cases.Case, device: str) -> None:
    recorded, outcome, reason = compared(KNOWN, case, device)
    if reason:
        pytest.skip(reason)
    assert outcome == recorded


@pytest.mark.parametrize("case", ON_CPU, ids=str)
def test_the_cpu_reproduces(case: cases.Case) -> None:
    check(case, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_gpu_reproduces(case: cases.Case) -> None:
    cuda_space()
    check(case, "cuda")


def test_every_case_is_recorded_and_no_other() -> None:
    assert list(KNOWN["partitions"]) == [str(case) for case in CASES]
    assert set(KNOWN["graphs"]) == set(cases.ALL)


def test_there_are_enough_cases() -> None:
    of_graphs = [case for case in CASES if case.objective is None]
    assert len({case.graph for case in of_graphs}) >= 12
    assert {case.k for case in of_graphs} == {2, 8, 64, 300, 1024, 4096}
    assert_all_presets(of_graphs, ALGORITHMS)


def test_there_are_enough_cases_of_hypergraphs() -> None:
    """Sets of blocks of one word and of several, every objective and every preset."""
    of_nets = [case for case in CASES if case.objective is not None]
    assert len({case.graph for case in of_nets}) >= 5
    assert {case.k for case in of_nets} == {2, 8, 64, 130}
    assert {case.objective for case in of_nets} == set(NET_COSTS)
    assert_all_presets(of_nets, OF_NETS)


def assert_all_presets(some: list[cases.Case], table: dict[str, Algorithm]) -> None:
    assert {case.algorithm for case in some} == set(table)
    for name, algorithm in table.items():
        assert {case.preset for case in some if case.algorithm == name} == set(algorithm.presets)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_cpu_has_all_presets_and_numbers_of_blocks(algorithm: str) -> None:
    known, here = ([case for case in some if case.algorithm == algorithm and case.objective is None]
                   for some in (CASES, ON_CPU))
    assert {case.k for case in here} == {case.k for case in known}
    for names in (cases.GENERATED, cases.REAL):
        presets = {case.preset for case in here if case.graph in names}
        assert presets == set(ALGORITHMS[algorithm].presets)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_version_of_metis_excuses_only_what_metis_has_made(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "metis_in_use", lambda: {"pymetis": "0", "answers": "others"})
    case = cases.Case("delaunay-12", 8, algorithm, "default")
    recorded, outcome, reason = compared(KNOWN, case, "cpu")
    assert outcome == recorded
    assert reason is None
    wrong = {**KNOWN, "partitions": {str(case): {"cut": 1, "part": "other"}}}
    recorded, outcome, reason = compared(wrong, case, "cpu")
    assert outcome != recorded
    assert (reason is not None) == (algorithm == "jet")
