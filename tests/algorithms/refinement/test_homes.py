"""Migration costs in refinement: gains and costs include them, as plain loops say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.hierarchy import coarsen
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks, previous_blocks_on
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay
from portpart.inputs.convert import as_graph
from tests import oracles
from tests.helpers.nets import circuit
from tests.helpers.refining import Phases, copied, counted_rows, refiner_at
from tests.helpers.spaces import GRAPHS, reference
from tests.oracles import nets as net_oracles

CASES: dict[str, tuple[Any, Objective]] = {
    "weighted": (GRAPHS["medium"], CUT),
    "nets": (circuit(300, 2, large=200, weighted=True), net_objective("km1")),
}


def drawn(n: int, k: int, most: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Previous blocks and connectivity of vertices, some of which have none."""
    random = np.random.default_rng(seed)
    return random.integers(0, k, n).astype(np.int32), random.integers(0, most, n)


def settled(space: ExecutionSpace, graph: Any, start: Any, k: int, previous: np.ndarray,
            tie: np.ndarray, objective: Objective = CUT) -> tuple[Refiner, Any]:
    refiner, here = refiner_at(space, graph, start, k, objective=objective)
    refiner.set_previous_blocks([PreviousBlocks(space.asarray(previous), space.asarray(tie))],
                                here.num_vertices)
    refiner.start(here, space.asarray(start, np.int32))
    return refiner, here


def value(graph: Any, objective: Objective, part: np.ndarray) -> int:
    if objective is CUT:
        return oracles.cut(graph, part)
    return net_oracles.values(graph, part)["km1"]


@pytest.mark.parametrize("name", CASES)
def test_refinement_lowers_the_cost_with_the_price_of_moving(space: ExecutionSpace,
                                                             name: str) -> None:
    graph, objective = CASES[name]
    k, n = 6, graph.num_vertices
    previous, tie = drawn(n, k, 9)
    start = np.arange(n) % k
    refiner, here = settled(space, graph, start, k, previous, tie, objective)
    outcome = refiner.refine(here, 0.5)
    part = copied(refiner.best)
    assert outcome["cut"] == value(graph, objective, part) + tie[part != previous].sum()
    assert outcome["cut"] < value(graph, objective, start) + tie[start != previous].sum()
    refiner, here = settled(reference(), graph, start, k, previous, tie, objective)
    assert refiner.refine(here, 0.5)["cut"] == outcome["cut"]
    assert np.array_equal(part, copied(refiner.best))


@pytest.mark.parametrize("hub_degree", [None, 6])
@pytest.mark.parametrize("k", [5, 600])
def test_gains_are_those_of_arcs_to_a_vertex_at_home(space: ExecutionSpace, k: int,
                                                     hub_degree: int | None) -> None:
    graph = GRAPHS["medium"]
    n = graph.num_vertices
    previous, tie = drawn(n, k, 30)
    part = np.random.default_rng(1).integers(0, k, n)
    phases = Phases(space, graph, part, k, hub_degree,
                    previous_blocks=PreviousBlocks(space.asarray(previous), space.asarray(tie)))
    for _ in range(2):
        part = copied(phases.run.moves.part)
        target, gain = copied(phases.run.cache.best_target), copied(phases.run.cache.gain)
        for v, row in enumerate(counted_rows(graph, part)):
            if tie[v] > 0:
                row[int(previous[v])] = row.get(int(previous[v]), 0) + int(tie[v])
            own = row.pop(int(part[v]), 0)
            top = max(row.values(), default=0)
            if top > 0:
                best = target[v] if target[v] >= 0 else -2 - target[v]
                assert (row[int(best)], gain[v]) == (top, top - own)
        before = copied(phases.run.moves.cost_sums).sum() - 2 * oracles.cut(graph, part)
        away = tie[part != previous].sum()
        moving_pins = np.random.default_rng(2).choice(n, n // 3, replace=False)
        phases.move(moving_pins, (part[moving_pins] + 1) % k)
        phases.refresh()
        part = copied(phases.run.moves.part)
        after = copied(phases.run.moves.cost_sums).sum() - 2 * oracles.cut(graph, part)
        assert after - before == 2 * (tie[part != previous].sum() - away)


def test_all_go_home_where_nothing_else_counts(space: ExecutionSpace) -> None:
    """Home is a candidate without any neighbour there, and for a vertex without any at all."""
    n, k = 60, 3
    graph = as_graph((np.zeros(n + 1, np.int32), np.zeros(0, np.int32)))
    previous = (np.arange(n) % k).astype(np.int32)
    refiner, here = settled(space, graph, (previous + 1) % k, k, previous, np.full(n, 5))
    assert refiner.refine(here, 0.0)["cut"] == 0
    assert np.array_equal(copied(refiner.best), previous)


def test_leaving_for_balance_costs_least_by_what_ties(space: ExecutionSpace) -> None:
    """All in one block of a mesh: half has to leave, and those with light ties do."""
    graph = delaunay(900)
    previous, tie = np.zeros(900, np.int32), np.where(np.arange(900) % 2, 1, 10**6)
    refiner, here = settled(space, graph, previous, 2, previous, tie)
    outcome = refiner.refine(here, 0.0)
    assert outcome["balanced"]
    assert (copied(refiner.best)[tie > 1] == 0).mean() > 0.95


def test_clusters_are_tied_as_their_vertices_together(space: ExecutionSpace) -> None:
    graph = delaunay(2000).to(space)
    previous, tie = drawn(2000, 3, 50)
    label = space.asarray(previous)

    def rule(fine: Any, seed: int, apart: Any) -> Any:
        return cluster(space, fine, 30, seed, ClusteringOptions(), apart)

    levels = coarsen(space, graph, rule, stop_at=100, max_kept=0.95, labels=(label,))
    found = previous_blocks_on(levels, PreviousBlocks(label, space.asarray(tie)))
    assert len(levels) > 2
    place = np.arange(2000)
    for level, previous_blocks in zip(levels, found):
        count = level.graph.num_vertices
        assert np.array_equal(copied(previous_blocks.previous)[place], previous)
        assert np.array_equal(copied(previous_blocks.move_cost), np.bincount(place, tie, count))
        if level.cluster is not None:
            place = copied(level.cluster)[place]
