"""Constrained passes over hypergraphs: no limit is exceeded, and the largest gains go first."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.multilevel.refiners import pieces_for
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.refinement.nets.constrained import constrained_on_nets
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.piece import Variant
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers.each import looped
from tests.helpers.net_phases import NET_COSTS, cost
from tests.helpers.nets import circuit, hypergraph_of, weights_of
from tests.helpers.refining import balance_of, copied, refiner_at

PLAIN = circuit(300, 1, large=250)
WEIGHTED = circuit(400, 2, large=130, weighted=True)
HYPERGRAPHS = {"plain": PLAIN, "weighted": WEIGHTED}


def balanced_part(hypergraph: Hypergraph, k: int, imbalance: str) -> np.ndarray:
    """Vertices in a random order go to the lightest block: within the limits."""
    weights = weights_of(hypergraph.vertex_weights, hypergraph.num_vertices)
    part, filled = np.zeros(len(weights), np.int32), np.zeros(k, np.int64)
    order = np.random.default_rng(k).permutation(len(weights))
    for v in sorted(order, key=lambda v: -weights[v]):
        part[v] = filled.argmin()
        filled[part[v]] += weights[v]
    assert filled.max() <= balance_of(hypergraph, k, imbalance).limits.min()
    return part


def block_weights(hypergraph: Hypergraph, part: np.ndarray, k: int) -> np.ndarray:
    weights = weights_of(hypergraph.vertex_weights, hypergraph.num_vertices)
    return np.bincount(part, weights, k).astype(np.int64)


def constrained(space: ExecutionSpace, hypergraph: Hypergraph, part: np.ndarray, k: int,
                imbalance: str, objective: str = "km1",
                **options: int) -> tuple[Refiner, np.ndarray]:
    """A refiner after a constrained pass, and the partition that the pass has ended with."""
    refiner, here = refiner_at(space, hypergraph, part, k, imbalance, net_objective(objective))
    refiner.refine(here, variant=Variant(RefinementOptions(tolerance=1.0, **options),
                                         constrained_on_nets()))
    return refiner, copied(refiner.run.moves.part)[: hypergraph.num_vertices]


@looped("objective", NET_COSTS)
@looped("name", HYPERGRAPHS)
@pytest.mark.parametrize("k", [2, 5, 64, 70])
def test_no_iteration_exceeds_a_limit(space: ExecutionSpace, k: int, name: str,
                                      objective: str) -> None:
    hypergraph, imbalance = HYPERGRAPHS[name], "0.25"
    start = balanced_part(hypergraph, k, imbalance)
    limits, last = balance_of(hypergraph, k, imbalance).limits, cost(hypergraph, start, objective)
    for iterations in (1, 2, 3, 5, 8, 40):
        refiner, part = constrained(space, hypergraph, start, k, imbalance, objective,
                                    iteration_limit=iterations)
        assert (block_weights(hypergraph, part, k) <= limits).all()
        best = cost(hypergraph, copied(refiner.best), objective)
        assert best <= last
        last = best
    assert last < cost(hypergraph, start, objective)


@pytest.mark.parametrize("name", HYPERGRAPHS)
def test_without_a_full_block_it_is_propagation_without_losses(space: ExecutionSpace,
                                                               name: str) -> None:
    """Limits that no block reaches: nothing is refused, and each move is that of Jet."""
    hypergraph, k = HYPERGRAPHS[name], 5
    start = balanced_part(hypergraph, k, "0.25")
    for iterations in (1, 2, 6):
        _, part = constrained(space, hypergraph, start, k, "4", iteration_limit=iterations)
        refiner, here = refiner_at(space, hypergraph, start, k, "4", net_objective("km1"),
                                   pieces_for(net_objective("km1")), tolerance=1.0,
                                   iteration_limit=iterations)
        refiner.refine(here, 0.0)
        assert np.array_equal(part, copied(refiner.run.moves.part)[: len(part)])


def test_the_larger_gain_is_admitted(space: ExecutionSpace) -> None:
    """Block 1 has room for one of two vertices: the one with three nets to it, not the other."""
    nets = [[0, 4], [0, 5], [0, 6], [1, 7]]
    start = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    _, part = constrained(space, hypergraph_of(nets, 8), start, 2, "0.25", iteration_limit=1)
    assert part.tolist() == [1, 0, 0, 0, 1, 1, 1, 1]


def test_another_block_if_the_best_one_is_full(space: ExecutionSpace) -> None:
    """Vertex 0 has two nets to block 1, which is full, and one to block 2, which is not."""
    nets = [[0, 3], [0, 4], [0, 6], [1, 2]]
    start = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    _, part = constrained(space, hypergraph_of(nets, 8), start, 3, "0.125", iteration_limit=1)
    assert part.tolist() == [2, 0, 0, 1, 1, 1, 2, 2]


def test_a_vertex_waits_for_a_full_block(space: ExecutionSpace) -> None:
    """Vertex 0 wants to block 1, which vertex 4 leaves for block 2 in the first iteration."""
    nets = [[0, 3], [0, 5], [4, 6], [1, 2]]
    start = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    hypergraph = hypergraph_of(nets, 8)
    refiner, _ = constrained(space, hypergraph, start, 3, "0.125")
    assert cost(hypergraph, copied(refiner.best), "km1") == 0


def test_fixed_vertices_stay(space: ExecutionSpace) -> None:
    start = balanced_part(PLAIN, 5, "0.25")
    fixed = np.full(PLAIN.num_vertices, -1, np.int32)
    fixed[::3] = start[::3]
    refiner, here = refiner_at(space, PLAIN, start, 5, "0.25", net_objective("km1"))
    refiner.refine(here, fixed=space.asarray(fixed), variant=Variant(
        RefinementOptions(tolerance=1.0), constrained_on_nets()))
    best = copied(refiner.best)[: len(start)]
    assert np.array_equal(best[::3], start[::3])
    assert (best != start).any()
