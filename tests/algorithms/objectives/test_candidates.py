"""Several partitions at once cost and weigh what each does by itself."""

from __future__ import annotations

import numpy as np
import pytest

from portpart import generators
from portpart.algorithms.objectives.candidates import NO_PARTS, costs_and_weights, stacked
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.net_cost import NET_COSTS, net_objective
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.nets import circuit
from tests.oracles import nets as net_oracles


def drawn(n: int, k: int, count: int) -> list[np.ndarray]:
    """Partitions by chance, of which the first ones leave blocks empty."""
    random = np.random.default_rng(k)
    return [random.integers(0, max(1, k * (each + 1) // count), n).astype(np.int32)
            for each in range(count)]


@looped("k", [2, 8, 64, 65, 200])
@looped("objective", NET_COSTS)
def test_nets_cost_what_a_plain_loop_says(space: ExecutionSpace, objective: str, k: int) -> None:
    """Of few pins and of many, for blocks of one word and of several."""
    hypergraph = circuit(300, 5, large=150, weighted=True)
    parts = drawn(300, k, 3)
    there = stacked(space, [space.asarray(part) for part in parts])
    costs, weights = costs_and_weights(hypergraph.to(space), there, k, net_objective(objective))
    for part, cost, blocks in zip(parts, costs, weights, strict=True):
        assert cost == 2 * net_oracles.values(hypergraph, part)[objective]
        assert np.array_equal(blocks, np.bincount(part, hypergraph.vertex_weights, k))


@pytest.mark.parametrize("name", ["mesh", "hub"])
def test_edges_cost_what_a_plain_loop_says(space: ExecutionSpace, name: str) -> None:
    graph = generators.grid_2d(20) if name == "mesh" else generators.rmat(8)
    parts = drawn(graph.num_vertices, 7, 4)
    there = stacked(space, [space.asarray(part) for part in parts])
    costs, weights = costs_and_weights(graph.to(space), there, 7, CUT)
    assert costs.tolist() == [2 * oracles.cut(graph, part) for part in parts]
    assert weights.tolist() == [np.bincount(part, minlength=7).tolist() for part in parts]


def test_parts_are_those_that_were_joined(space: ExecutionSpace) -> None:
    parts = drawn(10, 4, 3)
    joined = stacked(space, [space.asarray(part) for part in parts])
    assert len(joined) == 3
    assert [oracles.host(part).tolist() for part in joined] == [part.tolist() for part in parts]
    assert len(NO_PARTS) == len(list(NO_PARTS)) == 0
