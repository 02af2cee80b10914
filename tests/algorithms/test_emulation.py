"""Whole partitions and mappings come out alike whatever the order of work items and their lanes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from portpart.algorithms.recipes.partitioners import ALGORITHMS
from portpart.algorithms.refinement import by_degree
from portpart.backends.language import Kernel
from tests.helpers.emulation.emulated import Case, cases, outcome
from tests.helpers.emulation.written_kernels import kernels_as_written, name_of

CASES = cases()
FOR_MANY = "portpart.primitives."
"""Kernels for long arrays, and those of primitives that others use: tests/primitives has them."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lanes_and_order_decide_nothing(case: Case) -> None:
    expected, _ = outcome(case, 0)
    found, _ = outcome(case, CASES[case])
    assert np.array_equal(found, expected)


def kernels_that_ran() -> dict[Kernel, int]:
    """With the most lanes that each has had."""
    ran: dict[Kernel, int] = {}
    for case, lanes in CASES.items():
        for kernel, most in outcome(case, lanes)[1].items():
            ran[kernel] = max(most, ran.get(kernel, 0))
    return ran


def test_every_kernel_of_the_algorithms_has_run() -> None:
    most: dict[str, int] = {}
    teams = set()
    for kernel, lanes in kernels_that_ran().items():
        name = name_of(kernel)
        most[name] = max(lanes, most.get(name, 0))
        if kernel.uses_team_words:
            teams.add(name)
    wanted = {name for name in kernels_as_written() if not name.startswith(FOR_MANY)}
    assert wanted - set(most) == set()
    assert {name for name in wanted & teams if most[name] == 1} == set()


def body_and_distance(kernel: Kernel) -> tuple[str, str]:
    """What a kernel by degree does, and for which objective."""
    body = kernel.values["job"].body
    values = {**body.values, **({"search": body.values["rating"].search}
                                if "rating" in body.values else {})}
    return body.name, values["search"].rules.distance.name if "search" in values else "any"


def test_vertices_of_all_degrees_have_been_valued_in_every_way() -> None:
    """Those with few neighbours, with many, and hubs."""
    ran = {(kernel.name, *body_and_distance(kernel)) for kernel in kernels_that_ran()
           if kernel.function.__module__ == by_degree.__name__}
    distances = ("one_distance", "tree_distance", "matrix_distance")
    ways = {*product(("refresh_gain", "rate"), distances), ("find_legal", "one_distance")}
    assert ran == {(kind, *way) for kind in ("of_low_degree", "of_high_degree", "of_hub") for way
                   in ways} | {
        (kind, "find_block", "any") for kind
        in ("of_low_degree", "of_high_degree")}  # around edits are no hubs


def test_every_algorithm_has_one_two_and_three_lanes() -> None:
    for algorithm in ALGORITHMS:
        assert {lanes for case, lanes in CASES.items() if case.algorithm == algorithm} == {1, 2, 3}
