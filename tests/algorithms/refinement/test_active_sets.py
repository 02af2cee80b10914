"""The lists of refinement: nothing is missing, nothing stands twice, and shortcuts change nothing.

On graphs large enough that lists are thinned out and not everything is rated.
"""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.refinement.evaluation import revert_to_best
from portpart.algorithms.refinement.gains import state as active_sets
from portpart.algorithms.refinement.piece import LevelWords
from portpart.algorithms.refinement.rebalancing.rule import ALL, ONLY_MOVABLE
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.generators import grid_2d
from portpart.graphs.graph import Graph
from tests.algorithms.refinement.test_refinement import assert_outcome_is_true
from tests.helpers.refining import Phases, copied, refiner_at

SIDE = 220
GRID = grid_2d(SIDE)
K = 8
assert GRID.num_vertices > active_sets.FEW


def drawn_part(excess: float, seed: int = 0) -> np.ndarray:
    """Every vertex in a block by chance; block 0 gets more than its share."""
    shares = np.ones(K)
    shares[0] += excess
    drawn = np.random.default_rng(seed).choice(K, GRID.num_vertices, p=shares / shares.sum())
    return drawn.astype(np.int32)


def on_boundary(graph: Graph, part: np.ndarray) -> np.ndarray:
    matrix = graph.to_scipy()
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(matrix.indptr))
    outside = part[sources] != part[matrix.indices]
    return np.bincount(sources[outside], minlength=graph.num_vertices) > 0


def listed_in(refiner: Refiner, array: Array, begin: int, count: int) -> np.ndarray:
    first = int(refiner.level[begin])
    return copied(array)[first : first + int(refiner.level[count])]


@pytest.mark.parametrize("iterations", [3, 20, 1000])
def test_lists_are_thinned_out_and_hold_what_they_have_to(
    space: ExecutionSpace, iterations: int
) -> None:
    refiner, graph = refiner_at(space, GRID, drawn_part(0.2), K, iteration_limit=iterations,
                                stall_limit=30)
    outcome = refiner.refine(graph, 0.75)
    assert_outcome_is_true(GRID, K, outcome, copied(refiner.best))
    active = refiner.run.active
    flags = copied(active.flags)
    first = listed_in(refiner, active.boundary, LevelWords.boundary_begin, LevelWords.on_boundary)
    assert len(first) < GRID.num_vertices or iterations < 20
    assert np.array_equal(np.sort(first), np.flatnonzero(flags & active_sets.ON_BOUNDARY))
    movable = listed_in(refiner, active.movable_list, LevelWords.movable_begin, LevelWords.movable)
    assert np.array_equal(np.sort(movable), np.flatnonzero(flags & active_sets.IS_MOVABLE))
    known = (flags != 0) | (copied(refiner.run.cache.is_dirty) != 0)
    assert known[on_boundary(GRID, copied(refiner.best))].all()


def striped_part() -> np.ndarray:
    """Stripes of two rows, so that all are on a boundary and nobody leaves without loss.

    Block 0 has one stripe of 110 too many.
    """
    blocks = np.arange(SIDE // 2) % K
    blocks[K - 1] = 0
    return np.repeat(blocks, 2 * SIDE).astype(np.int32)


@pytest.mark.parametrize("start", [drawn_part(0.04), drawn_part(0.11), striped_part()],
                         ids=["random", "random, heavier", "stripes"])
def test_rating_movable_vertices_first_changes_nothing(
    space: ExecutionSpace, start: np.ndarray
) -> None:
    parts = []
    for scope in (ONLY_MOVABLE, ALL):
        refiner, graph = refiner_at(space, GRID, start, K, iteration_limit=1, weak_limit=10**9)
        refiner.run.rebalancing.scope[:] = scope
        refiner.refine(graph, 0.25)
        parts.append(copied(refiner.run.moves.part))
    assert (parts[0] != start).any()
    assert np.array_equal(*parts)


def test_what_a_list_drops_may_still_be_on_a_boundary_of_the_best(space: ExecutionSpace) -> None:
    start = np.repeat(np.arange(K), GRID.num_vertices // K).astype(np.int32)
    phases = Phases(space, GRID, start, K)
    others = np.flatnonzero(start != 0)
    phases.move(others, np.zeros(len(others), np.int32))
    phases.refresh()
    listed = int(phases.level.on_boundary)
    phases.launch(listed, active_sets.keep_on_boundary, team=1)
    assert 0 <= phases.level.next_on_boundary < listed
    phases.launch(GRID.num_vertices, revert_to_best, team=1)
    assert (copied(phases.run.incumbent.touched) != 0)[on_boundary(GRID, start)].all()


def test_a_restart_looks_at_all_that_may_be_on_a_boundary(space: ExecutionSpace) -> None:
    refiner, graph = refiner_at(space, GRID, drawn_part(0.2), K)
    refiner.refine(graph, 0.75)
    refiner.restart(graph)
    touched = copied(refiner.run.incumbent.touched) != 0
    assert touched[on_boundary(GRID, copied(refiner.best))].all()
    assert np.array_equal(copied(refiner.run.moves.part), copied(refiner.best))
