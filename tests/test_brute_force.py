"""Thousands of small graphs with wishes: no verdict on balance is wrong (tests/brute_force.py)."""

from __future__ import annotations

import pytest

from tests.brute_force import run


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_no_verdict_is_wrong(seed: int) -> None:
    tally = run(700, seed, most_vertices=10)
    assert tally["WRONG"] == 0
    assert min(tally["feasible"], tally["infeasible"], tally["refused"]) > 50


def test_no_verdict_is_wrong_with_more_vertices() -> None:
    tally = run(60, 15, most_vertices=16)
    assert tally["WRONG"] == 0
    assert tally["infeasible"] > 5
