"""Flows after the passes over a level: which levels presets refine so, and when none is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.multilevel import refiners
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.communication import communication_cost
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.recipes.portpart import PRESETS, portpart as portpart_recipe
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
from portpart.algorithms.refinement.refiner import Refiner
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology
from portpart.options import changed
from tests.helpers.data_folder import graph_path
from tests.helpers.refining import balance_of


@pytest.mark.parametrize("name", ["whitaker3", "add20", "uk"])
@pytest.mark.parametrize("k", [2, 8, 64])
def test_flows_improve_real_graphs_and_keep_limits(name: str, k: int) -> None:
    graph = portpart.io.read(graph_path(name))
    without = changed(PRESETS["strong"], {"flows.levels": 0})
    cuts = {preset: sum(portpart.partition(graph, k, preset=preset, seed=seed).cut
                        for seed in range(3)) for preset in (without, PRESETS["strong"])}
    assert cuts[PRESETS["strong"]] <= 1.01 * cuts[without]
    assert portpart.partition(graph, k, preset="strong").feasible


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The vertices of the graphs that are refined by flows from now on."""
    sizes: list[int] = []
    refine = FlowRefiner.refine

    def noted(self: FlowRefiner, graph: Graph, *rest: Any) -> int:
        sizes.append(graph.num_vertices)
        return refine(self, graph, *rest)

    monkeypatch.setattr(FlowRefiner, "refine", noted)
    return sizes


def test_presets_use_flows_on_some_levels_or_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """`default` on the finest level, `strong` on all levels."""
    sizes, graph = watched(monkeypatch), generators.delaunay(6000)
    portpart.partition(graph, 4, preset="fast")
    for most in (20, graph.num_arcs - 1):  # there are coarser levels that are not larger
        portpart.partition(graph, 4, preset=changed(PRESETS["default"], {
            "flows.max_level": most, "large_flows": None}))
    assert sizes == []
    portpart.partition(graph, 4)
    assert sizes == [6000]
    result = portpart.partition(graph, 4, preset="strong", threads=1)  # one walk at a time
    levels = [level["vertices"] for level in result.stats["levels"]]
    assert sizes[1 : 1 + len(levels)] == levels[::-1]


ON_BANDS = changed(PRESETS["default"], {"flows.max_level": 17_000})
"""The default, for which graphs with more arcs are large."""


def test_large_graphs_are_refined_on_their_band_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a single pass; the band graph has the vertices near the cuts."""
    sizes, graph = watched(monkeypatch), generators.delaunay(6000)
    result = portpart.partition(graph, 4, preset=ON_BANDS)
    assert len(sizes) == 1
    assert sizes[0] < 3000
    assert result.stats["levels"][0]["flow_gain"] > 0


def test_strong_refines_the_finest_level_of_very_large_graphs_on_its_band(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those with more vertices than `flows.max_vertices`, here 5,000."""
    sizes, graph = watched(monkeypatch), generators.delaunay(6000)
    config = changed(PRESETS["strong"], {"flows.max_vertices": 5000, "search.cycles": 0})
    result = portpart.partition(graph, 4, preset=config)
    assert result.stats["levels"][0]["flow_gain"] > 0
    assert len(sizes) == 1
    assert sizes[0] < 3000


@pytest.mark.parametrize(("k", "walks"), [(2, 2), (8, 2), (16, 1)])
def test_small_hypergraphs_have_flows_in_their_last_cycle(monkeypatch: pytest.MonkeyPatch, k: int,
                                                          walks: int) -> None:
    sizes, made = watched(monkeypatch), []
    start = Refiner.start

    def noted(self: Refiner, graph: Any, part: Any) -> None:
        made.append(self)
        start(self, graph, part)

    monkeypatch.setattr(Refiner, "start", noted)
    netlist = generators.netlist(3000)
    portpart.partition(netlist, k, seed=1)
    assert len({id(refiner) for refiner in made}) == walks
    assert sizes == [netlist.num_vertices]


@pytest.mark.parametrize(("k", "temperatures"), [(4, [0.75, 0.0]), (1000, [0.75, 0.25])])
def test_flows_on_a_band_graph_replace_the_second_pass(
        monkeypatch: pytest.MonkeyPatch, k: int, temperatures: list[float]) -> None:
    """If there is a band graph: with 1,000 blocks, most vertices are on a boundary."""
    graph, found = generators.delaunay(6000), []
    refine = Refiner.refine

    def noted(self: Refiner, level: Graph, temperature: float, *rest: Any) -> Any:
        if level.num_vertices == 6000:
            found.append(temperature)
        return refine(self, level, temperature, *rest)

    monkeypatch.setattr(Refiner, "refine", noted)
    portpart.partition(graph, k, preset=changed(ON_BANDS, {"large_flows.max_blocks": 1024}))
    assert found == temperatures


@pytest.mark.parametrize("name", ["motorbike", "bcsstk29"])
def test_bands_improve_real_graphs(name: str) -> None:
    """Those of more than 2^18 arcs, of which `default` refines the finest level so."""
    graph = portpart.io.read(graph_path(name))
    without = changed(PRESETS["default"], {"large_flows": None})
    cuts = {preset: sum(portpart.partition(graph, 8, preset=preset, seed=seed).cut
                        for seed in range(3)) for preset in (without, PRESETS["default"])}
    assert cuts[PRESETS["default"]] < 1.01 * cuts[without]
    assert portpart.partition(graph, 8).feasible


@pytest.mark.parametrize(("graph", "k"), [(generators.rmat(10), 4), (generators.delaunay(6000), 5)])
def test_skewed_graphs_and_many_blocks_have_no_flows_on_bands(
        monkeypatch: pytest.MonkeyPatch, graph: Graph, k: int) -> None:
    sizes = watched(monkeypatch)
    config = changed(ON_BANDS, {"flows.max_level": 100, "large_flows.max_blocks": 4})
    portpart.partition(graph, k, preset=config)
    assert sizes == []


def test_no_levels_for_flows_means_no_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = watched(monkeypatch)
    portpart.partition(generators.delaunay(6000), 4, preset=changed(ON_BANDS, {"flows.levels": 0}))
    assert sizes == []


def test_gains_of_flows_are_reported() -> None:
    config = changed(PRESETS["default"], {"flows.levels": 2})
    levels = portpart.partition(generators.delaunay(6000), 8, preset=config).stats["levels"]
    gains = [level.get("flow_gain") for level in levels]
    assert gains[0] + gains[1] > 0
    assert min(gains[:2]) >= 0
    assert set(gains[2:]) == {None}


def test_large_levels_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, graph = watched(monkeypatch), generators.delaunay(6000)
    preset = changed(PRESETS["strong"], {"flows.max_level": 15_000, "large_flows": None})
    result = portpart.partition(graph, 4, preset=preset, threads=1)  # one walk at a time
    small = [level["vertices"] for level in result.stats["levels"] if level["arcs"] <= 15_000]
    assert 0 < len(small) < len(result.stats["levels"])
    assert sizes[: len(small)] == small[::-1]
    assert max(sizes) < 6000


def test_many_blocks_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, graph = watched(monkeypatch), generators.delaunay(2000)
    preset = changed(PRESETS["strong"], {"flows.max_blocks": 4})
    portpart.partition(graph, 5, preset=preset)
    assert sizes == []
    portpart.partition(graph, 4, preset=preset)
    assert 2000 in sizes


def problem_of(**parts: Any) -> Problem:
    graph = generators.delaunay(200)
    return Problem(graph, balance_of(graph, 4), 1, Trace(graph.space, graph, None), **parts)


def test_only_cuts_without_migration_costs_are_refined() -> None:
    """Elsewhere a smaller cut is not what is asked for."""
    def flows_of(problem: Problem) -> Any:
        recipe = portpart_recipe(problem, PRESETS["strong"])
        return refiners.level_flows(problem, recipe.flows, [problem.graph])

    space, n = portpart.backends.space("cpu"), 200
    previous = PreviousBlocks(space.zeros(n, np.int32), space.full(n, 1, np.int64))
    machine = distances_on(space, Topology([2, 2], [1, 10]))
    assert flows_of(problem_of()) is not None
    assert flows_of(problem_of(constraints=Constraints(previous_blocks=previous))) is None
    assert flows_of(problem_of(objective=communication_cost(machine))) is None
