"""G-kway from end to end: true results on all sorts of graphs, and everything a caller may ask."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import portpart
from portpart import GkwayConfig
from portpart.generators import delaunay, grid_2d, rmat
from tests import oracles
from tests.graphs import RawGraph, raw_graph, raw_graphs
from tests.test_edge_cases import SHAPES, partition

MESH = delaunay(3000)


def gkway(graph: Any, k: int, **options: Any) -> portpart.PartitionResult:
    """The result, checked against plain answers."""
    return partition(graph, k, algorithm="gkway", **options)


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str, k: int) -> None:
    assert gkway(SHAPES[name], k).feasible


@pytest.mark.parametrize("k", [1, 2, 3, 60, 1000, 2999, 3000, 5000])
def test_any_number_of_blocks(k: int) -> None:
    result = gkway(MESH, k)
    assert result.feasible
    assert np.count_nonzero(result.block_weights) == min(k, 3000)


@given(raw=raw_graphs(12, loops=False), k=st.integers(1, 15),
       imbalance=st.sampled_from([0, 0.03, 1]))
@settings(max_examples=60)
def test_random_graphs(raw: RawGraph, k: int, imbalance: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gkway(raw.graph(), k, imbalance=imbalance)


def test_large_weights() -> None:
    weights = np.random.default_rng(0).integers(0, 2**45, 3000)
    tails = np.repeat(np.arange(3000), np.diff(MESH.offsets))
    edges = (tails + MESH.targets) * 2**33
    assert gkway(MESH, 5, vertex_weights=weights, edge_weights=edges).feasible


def test_a_vertex_heavier_than_a_block_is_named() -> None:
    weights = np.ones(3000, int)
    weights[17] = 10_000
    with pytest.warns(UserWarning, match="vertex 17 weighs 10000"):
        result = portpart.partition(MESH, 4, algorithm="gkway", vertex_weights=weights)
    assert not result.feasible
    assert sorted(result.block_weights.tolist())[-1] == 10_000


def test_a_heavy_vertex_that_fits_has_its_block() -> None:
    weights = np.ones(3000, int)
    weights[17] = 990
    assert gkway(MESH, 4, vertex_weights=weights).feasible


def test_fixed_vertices_are_where_they_have_to_be() -> None:
    fixed = np.full(3000, -1)
    fixed[::50] = np.arange(60) % 6
    result = gkway(MESH, 6, fixed=fixed)
    assert result.feasible
    assert np.array_equal(result.part[::50], fixed[::50])


def test_targets_are_kept() -> None:
    result = portpart.partition(MESH, 3, algorithm="gkway", target=[1, 2, 5])
    assert result.feasible
    assert (result.block_weights <= result.block_weight_limits).all()
    assert result.block_weights[2] > 1500


def test_an_initial_partition_is_improved_and_never_made_worse() -> None:
    first = portpart.partition(MESH, 8, algorithm="gkway").part
    better = gkway(MESH, 8, initial=first, preset="strong")
    assert better.cut <= oracles.cut(MESH, first)
    drawn = np.random.default_rng(0).integers(0, 8, 3000)
    assert gkway(MESH, 8, initial=drawn).cut < oracles.cut(MESH, drawn) / 2


def test_blocks_weigh_what_they_must_at_least() -> None:
    result = gkway(MESH, 7, min_block_weight=400, imbalance=0.2)
    assert result.feasible
    assert result.block_weights.min() >= 400


@pytest.mark.parametrize("preset", ["default", "strong"])
def test_every_preset_partitions_within_the_limit(preset: str) -> None:
    result = gkway(MESH, 6, preset=preset)
    assert result.feasible
    assert len(result.stats["cuts"]) == (3 if preset == "strong" else 1)


def test_a_configuration_tells_the_algorithm() -> None:
    result = portpart.partition(MESH, 4, preset=GkwayConfig(group_size=2, coarsest_per_block=20))
    sizes = [level["vertices"] for level in result.stats["levels"]]
    assert all(fine <= 2 * coarse for fine, coarse in pairwise(sizes))
    assert 20 <= sizes[-1] <= 80


def test_groups_make_few_levels() -> None:
    few, many = (len(portpart.partition(delaunay(20_000), 8, preset=GkwayConfig(
        group_size=size)).stats["levels"]) for size in (6, 2))
    assert few < many


@pytest.mark.parametrize("graph", [grid_2d(60), rmat(11, 6), delaunay(6000)],
                         ids=["grid", "rmat", "mesh"])
def test_the_cut_is_near_that_of_metis(graph: portpart.Graph) -> None:
    import pymetis

    adjacency = pymetis.CSRAdjacency(graph.offsets, graph.targets)
    for k in (2, 16):
        _, part = pymetis.part_graph(k, adjacency, recursive=False)
        assert gkway(graph, k).cut <= 1.15 * oracles.cut(graph, part)


def test_a_barbell_is_cut_at_its_bar() -> None:
    cliques = [(c + i, c + j) for c in (0, 40) for i in range(40) for j in range(i)]
    graph = raw_graph(80, [*cliques, (3, 55)]).graph()
    assert gkway(graph, 2).cut == 1


def test_no_time_is_enough_for_a_partition() -> None:
    assert gkway(MESH, 8, preset="strong", time_limit=0).feasible
