"""Fewer ranks than elements, and elements that have failed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.mapping.mappers import MAPPERS
from portpart.errors import InputError
from portpart.graphs.topology import Topology
from tests.helpers.each import looped
from tests.oracles import mappings as plain

GRID = portpart.generators.grid_2d(5, 4)
MACHINE = Topology("4:2:5", "1:10:100")
DISTANCES = plain.distances([4, 2, 5], [1, 10, 100])
ONE_NODE_LESS = [1] * 8 + [0] * 8 + [1] * 24


def mapped(target: Any = None, graph: Any = GRID, **options: Any) -> portpart.MappingResult:
    result = portpart.map_processes(graph, topology=MACHINE, target=target, **options)
    assert len(result.part) == graph.num_vertices
    assert np.bincount(result.part, minlength=40).tolist() == result.block_weights.tolist()
    assert result.cost == plain.cost(graph, result.part, DISTANCES)
    if target is not None:
        assert not result.block_weights[np.array(target) == 0].any()
    assert result.feasible
    return result


@looped("algorithm", MAPPERS)
@looped("target", [None, ONE_NODE_LESS, [1, 0] * 20, [0] * 19 + [1] * 21])
def test_each_of_fewer_ranks_gets_an_element_of_its_own(algorithm: str, target: Any) -> None:
    result = mapped(target, algorithm=algorithm)
    assert result.block_weights.max() == 1
    assert result.imbalance == 0
    assert result.max_block_weight_allowed == 1
    again = mapped(target, algorithm=algorithm, initial=result)
    assert again.cost <= result.cost


def test_idle_elements_are_left_where_that_is_cheap() -> None:
    pair = portpart.as_graph([[0, 1]])
    assert mapped(graph=pair).cost == 1
    ranks = portpart.generators.grid_2d(3, 8)  # three nodes full, two idle
    nodes = mapped(graph=ranks).block_weights.reshape(5, 8).sum(axis=1)
    assert sorted(nodes.tolist()) == [0, 0, 8, 8, 8]


def test_fixed_ranks_stay_and_names_are_kept() -> None:
    import networkx

    path = networkx.path_graph(["a", "b", "c"])
    result = portpart.map_processes(path, topology=MACHINE, fixed={"b": 17})
    assert result.labels == ["a", "b", "c"]
    assert result.part[1] == 17
    assert (result.part // 8 == 2).all()
    mapped(fixed=[3] + [-1] * 19)


def test_weights_of_fewer_ranks_cannot_count() -> None:
    weighed = portpart.as_graph(GRID, vertex_weights=range(20))
    with pytest.raises(InputError, match=r"40 processing elements for 20 vertices: .*ones\(20"):
        portpart.map_processes(weighed, topology=MACHINE)
    assert mapped(graph=portpart.as_graph(GRID, vertex_weights=np.ones(20, int))).cost == (
        mapped().cost)


def test_ranks_of_a_node_that_fails_go_to_others() -> None:
    ranks = portpart.generators.grid_2d(8, 4)
    before = mapped(graph=ranks)
    failed = int(before.part[0]) // 8
    target = [int(element // 8 != failed) for element in range(40)]
    after = mapped(target, ranks, initial=before)
    assert after.block_weights.max() == 1
    stayed = (before.part == after.part).sum()
    assert stayed >= 8  # a start is improved, not made anew


def test_more_ranks_than_elements_are_left_share_them() -> None:
    ranks = portpart.generators.grid_2d(8, 5)
    after = mapped(ONE_NODE_LESS, ranks, imbalance=0)
    assert sorted(set(after.block_weights.tolist())) in ([0, 1, 2], [0, 2])


def test_a_share_of_zero_is_a_block_without_vertices() -> None:
    mesh = portpart.generators.delaunay(2000)
    result = portpart.partition(mesh, 4, target=[1, 0, 2, 0])
    assert result.feasible
    assert result.block_weights[[1, 3]].tolist() == [0, 0]
    assert result.block_weight_limits[[1, 3]].tolist() == [0, 0]
    with pytest.warns(UserWarning, match="fixed to block 1 weigh 1, more than the 0 it may weigh"):
        portpart.partition(mesh, 4, target=[1, 0, 2, 0], fixed={7: 1})
