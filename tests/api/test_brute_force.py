"""Thousands of small graphs with wishes: no verdict on balance is wrong (brute_force.py)."""

from __future__ import annotations

from itertools import product

import numpy as np

from tests import oracles
from tests.api.brute_force import drawn_case, run
from tests.oracles.exhaustive import possible


def test_no_verdict_is_wrong() -> None:
    tally = run(700, 11, max_vertices=10)
    assert tally["WRONG"] == 0
    assert min(tally["feasible"], tally["infeasible"], tally["refused"]) > 50


def test_no_verdict_is_wrong_with_more_vertices() -> None:
    tally = run(60, 15, max_vertices=16)
    assert tally["WRONG"] == 0
    assert tally["infeasible"] > 5


def test_the_judge_knows_what_trying_every_partition_tells() -> None:
    for number in range(60):
        case = drawn_case(np.random.default_rng([9, number]), 5)
        ways = (np.array(way) for way in product(range(case.k), repeat=case.graph.num_vertices))
        kept = [(-case.filled(way), oracles.cut(case.graph, way)) for way in ways
                if case.keeps_bounds(way)]
        without, report_data = possible(case), possible(case, with_cut=True)
        assert without.any == report_data.any == bool(kept)
        if kept:
            assert (-report_data.max_filled, report_data.min_cut) == min(kept)
            assert without.max_filled == report_data.max_filled
