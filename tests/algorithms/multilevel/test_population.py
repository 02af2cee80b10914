"""Search with several partitions: what is combined, in what order, and that cuts only fall."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.multilevel import ScheduleOptions, SearchOptions
from portpart.algorithms.multilevel.population import Partition
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.search import (
    MAX_COMBINED_BLOCKS,
    overlay,
    search,
)
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.recipes.portpart import PortpartConfig
from portpart.algorithms.refinement import FlowOptions
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles
from tests.helpers import checked
from tests.helpers.spaces import reference

MESH = generators.delaunay(4000)


def test_an_overlay_tells_pairs_of_blocks_apart(space: ExecutionSpace) -> None:
    random = np.random.default_rng(0)
    part, other = (random.integers(0, 9, 500).astype(np.int32) for _ in range(2))
    label = oracles.host(overlay(space, space.asarray(part), space.asarray(other), 9))
    assert np.array_equal(label // 9, part)
    assert np.array_equal(label % 9, other)


def test_too_many_blocks_are_not_overlaid() -> None:
    part = np.zeros(5, np.int32)
    assert overlay(reference(), part, part, MAX_COMBINED_BLOCKS + 1) is part
    largest = np.full(5, MAX_COMBINED_BLOCKS - 1, np.int32)
    assert (overlay(reference(), largest, largest, MAX_COMBINED_BLOCKS) > 0).all()


def test_the_best_run_is_combined_with_the_others_and_goes_through_the_cycles() -> None:
    walks: list[tuple[Any, Any]] = []
    cuts = iter([(1, 30), (0, 5), (1, 20), (1, 19), (1, 18), (1, 17)])

    def walk(seed: int, part: Any = None, label: Any = None) -> Partition:
        walks.append((None if part is None else part[0], None if label is None else label[0]))
        return Partition(np.full(1, len(walks), np.int32), *next(cuts))

    told: list[int] = []
    dot = generators.grid_2d(1, 1).to(reference())
    problem = Problem(dot, Balance(10, 1, 1), 0, Trace(dot.space, dot, None))
    best = search(problem, [walk], SearchOptions(3, 1),
                  lambda found: told.append(found.value))
    assert walks == [(None, None)] * 3 + [(3, 32), (4, 41), (5, 5)]
    assert told == [30, 30, 20, 19, 18, 17]
    assert best[0] == 6


@pytest.mark.parametrize(("cycles", "between", "after"), [
    (0, [], []), (1, [], [(6, 6)]), (2, [(6, 6), (5, 5)], []),
    (5, [(6, 6), (5, 5)] * 2, [(6, 6)])])
def test_the_best_two_are_combined_with_the_others_and_then_with_each_other(
    cycles: int, between: list[tuple[int, int]], after: list[tuple[int, int]]
) -> None:
    """Runs 1 to 6 find 16, 15, ... 11, and nothing is better; cycles are divided among the two."""
    walks: list[tuple[int, int]] = []
    found = count(1)

    def walk(seed: int, part: Any = None, label: Any = None) -> Partition:
        if part is None:
            number = next(found)
            return Partition(np.full(1, number, np.int32), 1, 17 - number)
        walks.append((part[0], label[0] % 10))
        return Partition(part, 1, 99)

    dot = generators.grid_2d(1, 1).to(reference())
    problem = Problem(dot, Balance(10, 1, 1), 0, Trace(dot.space, dot, None))
    search(problem, [walk], SearchOptions(6, cycles))
    assert walks == [(6, 4), (5, 3), (6, 2), (5, 1), *between, (6, 5), *after]


def test_runs_take_walks_in_turn_and_the_first_one_goes_on() -> None:
    taken: list[str] = []

    def walk(name: str) -> Any:
        def walked(seed: int, part: Any = None, label: Any = None) -> Partition:
            taken.append(name)
            return Partition(np.zeros(1, np.int32), 1, 10 - len(taken))
        return walked

    dot = generators.grid_2d(1, 1).to(reference())
    problem = Problem(dot, Balance(10, 1, 1), 0, Trace(dot.space, dot, None))
    search(problem, [walk("first"), walk("second")], SearchOptions(4, 1))
    assert taken == ["first", "second"] * 2 + ["first"] * 4


def test_clusters_of_runs_differ_for_two_blocks_and_skew_counts_for_more_than_four() -> None:
    options = ClusteringOptions(growth=5, skewed_growth=30, growths_for_two=(8, 4))
    found = {k: [(each.growth, each.skewed_growth) for each in options.of_runs(k)]
             for k in (2, 3, 4, 5)}
    assert found == {2: [(8, 8), (4, 4)], 3: [(5, 5)], 4: [(5, 5)], 5: [(5, 30)]}


@pytest.mark.parametrize("k", [2, 8])
def test_searching_on_never_raises_the_cut(k: int) -> None:
    config = PortpartConfig(search=SearchOptions(runs=3, cycles=2))
    result = checked.partition(MESH, k, algorithm="portpart", preset=config)
    cuts = result.stats["cuts"]
    assert len(cuts) == 3 + 2 + 2
    assert cuts == sorted(cuts, reverse=True)
    assert result.cut == cuts[-1] == result.stats["levels"][0]["cut"]
    alone = PortpartConfig()
    assert portpart.partition(MESH, k, algorithm="portpart", preset=alone).cut == cuts[0]


@pytest.mark.parametrize(("last", "expected"), [(None, 3), (1, 1), (2, 2), (9, 3)])
def test_cycles_may_have_the_last_passes_only(last: int | None, expected: int) -> None:
    finest: list[str] = []
    config = PortpartConfig(search=SearchOptions(cycles=1, passes=last), refinement=ScheduleOptions(
        (0.75, 0.25), (0.5, 0.25, 0.1)), flows=FlowOptions())

    def note(phase: str, level: int, _: int) -> None:
        if phase in ("refinement", "search") and level == 0:
            finest.append(phase)

    checked.partition(MESH, 4, preset=config, progress=note)
    assert finest == 3 * ["refinement"] + expected * ["search"]


def test_seeds_of_searches_may_be_as_large_as_any() -> None:
    for seed in (0, 2**62):
        result = checked.partition(MESH, 3, algorithm="portpart", seed=seed,
                                    preset=PortpartConfig(search=SearchOptions(2, 1)))
        assert result.feasible
