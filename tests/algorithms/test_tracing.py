"""What a run reports of the work on each level."""

from __future__ import annotations

import pytest

import portpart
from portpart import generators

WORK = ("launches", "synchronizations", "seconds")


@pytest.mark.parametrize(("algorithm", "preset"), [
    ("jet", "fast"), ("jet", "default"), ("jet", "ultra"), ("portpart", "strong")])
def test_work_of_the_levels_adds_up_to_that_of_the_run(algorithm: str, preset: str) -> None:
    stats = portpart.partition(generators.delaunay(3000), 4, algorithm=algorithm,
                               preset=preset).stats
    assert ("search" in stats["phases"]) == (algorithm == "portpart")
    phases = set(stats["phases"])
    charged = [level[phase] for level in stats["levels"] for phase in phases & set(level)]
    for name in WORK[:2]:
        assert sum(work[name] for work in charged) == stats[name]
    seconds = sum(work["seconds"] for work in charged)
    assert seconds == pytest.approx(sum(stats["phases"].values()), rel=0.1)


def test_every_level_tells_its_coarsening_and_refinement() -> None:
    levels = portpart.partition(generators.delaunay(3000), 4).stats["levels"]
    assert len(levels) > 2
    for level in levels:
        assert set(level["refinement"]) == set(WORK)
        assert level["refinement"]["launches"] > 0
    assert all(level["coarsening"]["launches"] > 0 for level in levels[:-1])
    assert "initial" in levels[-1]
    assert "finish" in levels[0]


def test_a_partition_that_needs_no_algorithm_has_one_level() -> None:
    stats = portpart.partition(generators.grid_2d(3, 3), 1).stats
    assert [level["vertices"] for level in stats["levels"]] == [9]
