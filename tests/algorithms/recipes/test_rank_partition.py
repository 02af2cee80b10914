"""Partitions by several ranks are those of one device, wherever borders are and levels fold."""

from __future__ import annotations

import warnings
import weakref
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import generators
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.multilevel import over_ranks
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import refined_from
from portpart.algorithms.recipes.nearby_owners import MoveRule
from portpart.algorithms.recipes.portpart import PRESETS
from portpart.algorithms.recipes.portpart_ranks import partition_ranks
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.api.bounds import bounds_for
from portpart.backends.communication import Local
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.options import changed
from tests.helpers.data_folder import graph_path
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_rows import DEVICES, cut_graphs, move_anywhere, space_of
from tests.oracles import host

NEVER = 0
ALWAYS = 2**62

STAYS = MoveRule(min_ghosts=inf)
"""No vertex moves to another rank."""

SMALL = changed(PRESETS["default"], {
    "coarsening.min_coarsest": 8, "coarsening.coarsest_per_block": 2,
    "coarsening.max_coarsest": 16})
"""The default, which coarsens small graphs, too."""


def by_ranks(graph: Graph, first: list[int], k: int, config: Any, *, fold: int = NEVER,
             seed: int = 0, imbalance: float = 0.03, target: Any = None,
             there: ExecutionSpace | None = None, rule: MoveRule = STAYS,
             moved_by: int | None = None) -> list[Any]:
    """Blocks, weights of blocks, and what happened, rank by rank.

    With a seed for that, vertices have moved anywhere before.
    """
    balance = bounds_for(graph, k, imbalance, target, None, 0).balance

    def main(comm):
        part = distributed(comm, rows_of(graph, *first[comm.rank : comm.rank + 2], there))
        moved = None if moved_by is None else move_anywhere(part, moved_by)
        part = part if moved is None else moved.graph
        trace = Trace(part.space, part, None)
        found, weights = partition_ranks(part, balance, config, seed, trace, Fold(fold, ALWAYS),
                                         rule=rule)
        found = found if moved is None else moved.brought_back(found)
        return host(found).tolist(), weights.tolist(), trace.summary()

    return Local(len(first) - 1).run(main)


def check(graph: Graph, first: list[int], k: int, config: Any = PRESETS["default"],
          fold: int = NEVER, seed: int = 0, imbalance: float = 0.03, target: Any = None,
          **moves: Any) -> list[Any]:
    """Ranks come to what one device comes to; returns what happened on them."""
    wanted = portpart.partition(graph, k, preset=config, seed=seed, imbalance=imbalance,
                                target=target)
    found = by_ranks(graph, first, k, config, fold=fold, seed=seed, imbalance=imbalance,
                     target=target, **moves)
    assert [block for part, _, _ in found for block in part] == wanted.part.tolist()
    assert [weights for _, weights, _ in found] == len(found) * [wanted.block_weights.tolist()]
    stats = found[0][2]  # the others know no more than what they have done themselves
    assert stats["cuts"] == wanted.stats["cuts"]
    assert stats["repaired"] == wanted.stats["repaired"]
    for here, there in zip(stats["levels"], wanted.stats["levels"], strict=True):
        for name in ("vertices", "arcs", "cut", "iterations"):
            assert here.get(name) == there.get(name)
    return [stats for _, _, stats in found]


WHOLE = {
    "mesh": generators.delaunay(4000),
    "cube": generators.grid_3d(14),
    "skewed": generators.rmat(11),
    "geometric": generators.random_geometric(3000),
    "weighted": random_graph(3000, 9000, 4, weighted=True, vertex_weighted=True),
    "isolated": random_graph(3000, 1500, 5),
}


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("name", WHOLE)
def test_partitions_are_those_of_one_device(name, size):
    graph = WHOLE[name]
    first = borders(graph.num_vertices, size, size)
    for k, preset in ((2, "default"), (8, "fast"), (64, "default")):
        check(graph, first, k, PRESETS[preset], seed=size)


@pytest.mark.parametrize("name", ["mesh", "skewed"])
def test_runs_that_merge_differently_are_those_of_one_device(name):
    graph = WHOLE[name]
    stats = check(graph, borders(graph.num_vertices, 2, 2), 2, PRESETS["best"])
    assert len(stats[0]["cuts"]) == 12 + 11 + 2


@pytest.mark.slow
@pytest.mark.parametrize("name", DEVICES)
def test_partitions_do_not_depend_on_the_device(name):
    there, is_gpu = space_of(name), name.startswith("cuda")
    for size in (1, 4) if is_gpu else (2,):
        for graph in ("cube", "weighted") if is_gpu else ("weighted",):
            whole = WHOLE[graph]
            first = borders(whole.num_vertices, size, size)
            check(whole, first, 8, seed=size, there=there)
            check(whole, first, 64, PRESETS["fast"], seed=size, fold=1500, there=there)


@pytest.mark.parametrize("name", ["3elt", "add20", "WormNet_v3", "commanche_dual"])
def test_partitions_of_real_graphs_are_those_of_one_device(name):
    graph = portpart.as_graph(graph_path(name))
    for size in (2, 5):
        check(graph, borders(graph.num_vertices, size, size), 1000 if size == 2 else 16)


@pytest.mark.parametrize("fold", [300, 1000, ALWAYS])
def test_partitions_do_not_depend_on_where_levels_fold(fold):
    for name in ("mesh", "skewed"):
        graph = WHOLE[name]
        check(graph, borders(graph.num_vertices, 3, 1), 8, fold=fold)


def test_limits_of_blocks_may_differ():
    graph = WHOLE["weighted"]
    check(graph, borders(graph.num_vertices, 3, 1), 4, imbalance=0.01, target=[1, 2, 3, 4])


def test_every_rank_finishes_what_refinement_leaves():
    """Heavy vertices fill the limits exactly, so vertices are packed in the end."""
    mesh = generators.delaunay(2500, seed=2)
    weights = np.random.default_rng(3).integers(1, 200, 2500)
    graph = portpart.as_graph(mesh, vertex_weights=weights)
    check(graph, borders(2500, 3, 1), 64, imbalance=0.0)


def test_a_vertex_too_heavy_for_any_block_has_its_own():
    weights = np.ones(2500, int)
    weights[7] = 2000
    graph = portpart.as_graph(generators.delaunay(2500, seed=2), vertex_weights=weights)
    with pytest.warns(UserWarning, match="vertex 7"):
        check(graph, borders(2500, 3, 1), 8)


@pytest.mark.parametrize("k", [1, 30, 50])
def test_obvious_partitions(k):
    check(generators.grid_2d(6, 5), [0, 10, 10, 30], k)


@settings(max_examples=60, deadline=None)
@given(cut_graphs(graphs(60, loops=False).filter(lambda graph: graph.num_vertices > 5)),
       st.integers(2, 5), st.sampled_from([0.0, 0.03, 0.5]), st.integers(0, 2**40))
def test_any_graph_is_divided_by_ranks_as_by_one_device(drawn, k, imbalance, seed):
    graph, first = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limits that no partition keeps
        check(graph, first, k, SMALL, seed=seed, imbalance=imbalance)


def permuted(graph: Graph, seed: int = 0) -> Graph:
    """The graph in random order."""
    order = np.random.default_rng(seed).permutation(graph.num_vertices)
    weights = graph.vertex_weights
    moved = portpart.as_graph(graph.to_scipy()[order][:, order],
                              vertex_weights=None if weights is None else weights[order])
    return moved if graph.weights is not None else replace(moved, weights=None)


EAGER = MoveRule(min_ghosts=0, max_left=10.0, spacing=20)
"""Vertices move whatever that gains."""


@pytest.mark.parametrize(("size", "fold"), [(2, NEVER), (3, 1000), (5, NEVER), (8, 1000)])
def test_partitions_are_those_of_one_device_where_vertices_move_to_their_neighbours(size, fold):
    for name, graph in WHOLE.items():
        first = borders(graph.num_vertices, size, size)
        k = 8 if size % 2 else 64
        for stats in check(permuted(graph), first, k, fold=fold, rule=EAGER):
            assert stats.get("moved_vertices", 0) > 0 or name in ("skewed", "isolated")


@pytest.mark.parametrize("size", [2, 3, 8])
@pytest.mark.parametrize("name", WHOLE)
def test_partitions_are_those_of_one_device_wherever_vertices_are(name, size):
    graph = WHOLE[name]
    first = borders(graph.num_vertices, size, size)
    check(graph, first, 16, PRESETS["fast" if size == 3 else "default"], moved_by=size)
    check(graph, first, 3, imbalance=0.0, fold=900, moved_by=size)


@pytest.mark.parametrize("name", ["3elt", "add20", "WormNet_v3"])
def test_partitions_of_real_graphs_are_those_of_one_device_wherever_vertices_are(name):
    graph = portpart.as_graph(graph_path(name))
    first = borders(graph.num_vertices, 3, 1)
    check(graph, first, 16, moved_by=4)
    check(permuted(graph), first, 16, rule=EAGER)


@pytest.mark.slow
@pytest.mark.parametrize("name", DEVICES)
def test_vertices_move_on_any_device(name):
    graph = WHOLE["weighted"]
    check(graph, borders(graph.num_vertices, 2, 2), 8, there=space_of(name), fold=800, moved_by=1)
    check(permuted(graph), borders(graph.num_vertices, 2, 2), 8, there=space_of(name), fold=800,
          rule=EAGER)


def test_every_rank_finishes_what_refinement_leaves_where_vertices_have_moved():
    mesh = generators.delaunay(2500, seed=2)
    weights = np.random.default_rng(3).integers(1, 200, 2500)
    graph = portpart.as_graph(mesh, vertex_weights=weights)
    found = check(graph, borders(2500, 3, 1), 64, imbalance=0.0, moved_by=2)
    assert found[0]["repaired"] > 0


@settings(max_examples=30, deadline=None)
@given(cut_graphs(graphs(60, loops=False).filter(lambda graph: graph.num_vertices > 5)),
       st.integers(2, 5), st.sampled_from([0.0, 0.03, 0.5]), st.integers(0, 2**40))
def test_any_graph_is_divided_by_ranks_as_by_one_device_wherever_vertices_are(
        drawn, k, imbalance, seed):
    graph, first = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(graph, first, k, SMALL, seed=seed, imbalance=imbalance, moved_by=seed)
        check(graph, first, k, SMALL, seed=seed, imbalance=imbalance,
              rule=EAGER._replace(spacing=3))


@pytest.mark.parametrize("changes", [
    {"refinement.coarse": RefinementOptions(until_balanced=True)},
    {"refinement.finest": RefinementOptions(leave_by="code")}])
def test_what_ranks_do_not_do_is_refused(changes):
    config = changed(PRESETS["default"], changes)
    with pytest.raises(InputError, match="not possible over several ranks; leave both"):
        by_ranks(WHOLE["mesh"], [0, 2000, 4000], 8, config)


def test_whole_levels_are_freed_although_other_ranks_wait_for_them(monkeypatch):
    """Ranks in the same memory share them, and only one refines them."""
    left = []

    def watched(start, problem, recipe, refiner, levels, fixed, divided):
        arrays = [weakref.ref(level.graph.targets) for level in levels[divided + 1 :]]
        outcome = refined_from(start, problem, recipe, refiner, levels, fixed, divided)
        left.append((len(arrays), sum(array() is not None for array in arrays)))
        return outcome

    monkeypatch.setattr(over_ranks, "refined_from", watched)
    graph = generators.grid_3d(14)
    by_ranks(graph, [0, 900, 1800, 2744], 4, changed(SMALL, {"flows.levels": 0}), fold=1500)
    (levels, alive), = left
    assert levels > 1
    assert alive == 0
