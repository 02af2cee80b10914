"""Long lists of vertices: single lanes find what teams find, and gathering what looking finds."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.refinement.gains import state as active_sets
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import grid_3d
from portpart.graphs.graph import Graph
from tests import oracles
from tests.conftest import cuda_space, host_cuda_space
from tests.helpers.emulation.host_cuda import HostCudaSpace
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import raw_graph
from tests.helpers.refining import balance_of
from tests.helpers.spaces import reference

CUBE = grid_3d(9)
FEW = grid_3d(3)


def wide(space: HostCudaSpace) -> HostCudaSpace:
    """The same space, taken for one that has teams."""
    space.widest_team = 256
    return space


SPACES = {
    "generated C++": (lambda: wide(host_cuda_space()), CUBE),
    "lanes": (lambda: wide(LanesSpace(3, seed=5)), FEW),
    "cuda": (cuda_space, CUBE),
}


def refiner_of(space: ExecutionSpace, graph: Graph) -> Refiner:
    options = RefinementOptions(iteration_limit=4 if graph.num_vertices < 100 else 40)
    return Refiner(space, graph, balance_of(graph, 4), options, 3)


def refined(space: ExecutionSpace, host: Graph) -> tuple[np.ndarray, dict[str, int]]:
    """Partition after a pass from a poor one, and what the pass came to."""
    refiner, outcome = pass_of(space, host)
    return oracles.host(refiner.best[: host.num_vertices]).copy(), outcome


def pass_of(space: ExecutionSpace, host: Graph) -> tuple[Refiner, dict[str, int]]:
    graph = host.to(space)
    refiner = refiner_of(space, graph)
    start = np.random.default_rng(1).integers(0, 4, graph.num_vertices).astype(np.int32)
    refiner.start(graph, space.asarray(start))
    return refiner, dict(refiner.refine(graph, 0.5))


@pytest.mark.parametrize("limit", [0, 12, 150])
@pytest.mark.parametrize("name", [
    "generated C++", "lanes", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_lone_lanes_and_teams_find_the_same(
    name: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All lists are long, or some and not the others."""
    make, graph = SPACES[name]
    expected, outcome = refined(reference(), graph)
    monkeypatch.setattr(active_sets, "LONG", min(limit, graph.num_vertices - 1))
    space = make()
    assert refiner_of(space, graph.to(space)).lanes.one_lane_degree(graph.to(space)) > 0
    found, same = refined(space, graph)
    assert same == outcome
    assert np.array_equal(found, expected)


def test_only_vertices_with_few_neighbours_are_for_lone_lanes(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active_sets, "LONG", 10)
    star = raw_graph(13, [(0, leaf) for leaf in range(1, 13)]).graph()
    space = wide(LanesSpace(3))
    for graph, expected in ((FEW, True), (star, False)):
        there = graph.to(space)
        assert bool(refiner_of(space, there).lanes.one_lane_degree(there)) is expected
    assert refiner_of(reference(), FEW).lanes.one_lane_degree(FEW) == 0


@pytest.mark.parametrize("many", [0, 300, 600])
@pytest.mark.parametrize("name", [
    "generated C++", "lanes", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_who_may_leave_is_gathered_or_looked_at_one_by_one(
    name: str, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the start, now and then, or never."""
    make, graph = SPACES[name]
    expected, outcome = refined(reference(), graph)
    monkeypatch.setattr(active_sets, "MANY", many)
    refiner, same = pass_of(make(), graph)
    if many == 0:
        assert refiner.level.batches > 0
    assert same == outcome
    assert np.array_equal(oracles.host(refiner.best[: graph.num_vertices]), expected)
