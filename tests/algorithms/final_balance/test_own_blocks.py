"""Vertices too heavy for any block: the others are divided as if these were not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import portpart
from portpart import generators

pytestmark = pytest.mark.filterwarnings("ignore:vertex", "ignore:the vertices")


def grid_with(weights: dict[int, int]) -> Any:
    """A grid of 40 x 40 cells, some of which are heavy."""
    graph, all_weights = generators.grid_2d(40), np.ones(1600, np.int64)
    all_weights[list(weights)] = list(weights.values())
    return portpart.as_graph((graph.offsets, graph.targets), vertex_weights=all_weights)


def netlist_with(weights: dict[int, int]) -> Any:
    """A netlist of 1,600 cells, some of which are macros."""
    nets, all_weights = generators.netlist(1600), np.ones(1600, np.int64)
    all_weights[list(weights)] = list(weights.values())
    return portpart.as_hypergraph((nets.net_offsets, nets.net_pins), num_vertices=1600,
                                  vertex_weights=all_weights)


@pytest.mark.parametrize("algorithm", ["portpart", "jet", "gkway"])
def test_others_are_cut_as_little_as_without_heavy_vertices(algorithm: str) -> None:
    """Refinement that sees weights only cuts 1.1 to 1.3 times as much; sums over three seeds."""
    graph = grid_with({820: 400, 40: 390})
    others = np.setdiff1d(np.arange(1600), [820, 40])
    matrix = sparse.csr_matrix((np.ones(graph.num_arcs), graph.targets, graph.offsets))
    cut = cut_of_rest = 0
    for seed in range(3):
        found = portpart.partition(graph, 8, algorithm=algorithm, seed=seed)
        limit = found.block_weight_limits[0]
        rest = portpart.partition(matrix[others][:, others], 6, algorithm=algorithm, seed=seed,
                                  imbalance=limit / 267 - 1)
        assert not found.feasible
        assert np.sort(found.block_weights)[-2:].tolist() == [390, 400]
        assert np.sort(found.block_weights)[-3] <= limit
        cut, cut_of_rest = cut + found.cut - 7, cut_of_rest + rest.cut
    assert cut <= 1.05 * cut_of_rest


@pytest.mark.parametrize("algorithm", ["portpart", "hyperg"])
def test_nets_of_others_are_cut_as_little_as_without_macros(algorithm: str) -> None:
    heavy = {0: 2000, 1: 900}
    nets = netlist_with(heavy)
    found = portpart.partition(nets, 6, algorithm=algorithm)
    alone = [int(found.part[v]) for v in heavy]
    assert sorted(found.block_weights[alone].tolist()) == [900, 2000]
    assert np.sort(found.block_weights)[-3] <= found.block_weight_limits[0]


def test_fixed_vertices_and_starts_say_which_blocks() -> None:
    graph, fixed = grid_with({7: 2000, 9: 1500}), np.full(1600, -1)
    fixed[7] = 3
    assert portpart.partition(graph, 5, fixed=fixed).part[7] == 3
    initial = np.arange(1600) % 5
    initial[[7, 9]] = 2, 2
    part = portpart.partition(graph, 5, initial=initial).part
    assert part[7] == 2
    assert part[9] != 2
    initial[9] = 4
    part = portpart.partition(graph, 5, initial=initial).part
    assert part[[7, 9]].tolist() == [2, 4]


def test_the_heaviest_gets_the_largest_block() -> None:
    found = portpart.partition(grid_with({7: 1500, 9: 4000}), 3, target=[0.2, 0.3, 0.5])
    assert found.part[[9, 7]].tolist() == [2, 1]


def test_a_vertex_that_fits_into_a_block_is_no_reason() -> None:
    """Others may join it there."""
    found = portpart.partition(grid_with({7: 1000}), 3, target=[0.2, 0.2, 0.6])
    assert found.feasible
    assert found.block_weights[found.part[7]] > 1400


def test_more_heavy_vertices_than_blocks() -> None:
    """Two are fixed to the same block, a third has what is left."""
    graph, fixed = grid_with({7: 2000, 9: 1500, 100: 900}), np.full(1600, -1)
    fixed[[7, 9]] = 0, 1
    found = portpart.partition(graph, 2, fixed=fixed)
    assert found.part[[7, 9]].tolist() == [0, 1]
    assert (found.block_weights > 0).all()
