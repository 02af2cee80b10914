"""The CPU reproduces sessions of a hundred rounds, which a GPU reproduces too."""

from __future__ import annotations

import pytest

from tests.conftest import cuda_space
from tests.golden.sessions import CASES, load, outcome_of


@pytest.mark.parametrize("name", CASES)
def test_the_cpu_reproduces(name: str) -> None:
    assert outcome_of(name, "cpu") == load()[name]


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_the_gpu_reproduces(name: str) -> None:
    cuda_space()
    assert outcome_of(name, "cuda") == load()[name]


def test_every_case_is_recorded_and_no_other() -> None:
    assert list(load()) == list(CASES)
