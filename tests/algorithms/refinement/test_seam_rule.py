"""A refiner with a piece of its own: what another algorithm takes beside those that exist."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from portpart.algorithms.refinement.gains.gain_cache import GainSteps
from portpart.algorithms.refinement.gains.state import (
    ActiveSets,
    GainCache,
    keep_movable,
    movable_vertex,
)
from portpart.algorithms.refinement.incumbent.steps import IncumbentSteps
from portpart.algorithms.refinement.moves.state import Moves, commit_move
from portpart.algorithms.refinement.options import Figures
from portpart.algorithms.refinement.piece import Piece, Recording
from portpart.algorithms.refinement.program import AccountingSteps
from portpart.algorithms.refinement.rebalancing.steps import RebalancingSteps
from portpart.backends.language import kernel
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d, rmat
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.refining import copied, refiner_at
from tests.helpers.spaces import reference


@kernel
def move_in_turn(i, moves: Moves, cache: GainCache, active: ActiveSets, figures: Figures):
    """A movable vertex whose turn it is moves if it gains: even ones, then odd ones."""
    v = movable_vertex(i, active)
    if (v + figures.iteration) % 2 == 0 and cache.best_target[v] >= 0 and cache.gain[v] > 0:
        commit_move(v, cache.best_target[v], moves, figures)


@dataclass(frozen=True)
class Alternating(Piece):
    """Even vertices that gain move in one round, odd ones in the next."""

    def move(self, this: Recording) -> None:
        with this.program.side_by_side():
            this.program.launch(this.run.level.movable, keep_movable)
            this.program.launch(this.run.level.movable, move_in_turn)


TURNS = (IncumbentSteps(), GainSteps(), RebalancingSteps(), Alternating(), AccountingSteps())
GRAPHS = {"mesh": delaunay(4000), "grid": grid_2d(50), "hubs": rmat(11)}


def gains_of(graph: Graph, part: np.ndarray) -> np.ndarray:
    """What each vertex gains in the other one of two blocks."""
    gains = np.zeros(graph.num_vertices, np.int64)
    for u, v, weight in oracles.arcs(graph):
        gains[u] += weight if part[u] != part[v] else -weight
    return gains


@pytest.mark.parametrize("name", GRAPHS)
def test_a_round_moves_those_whose_turn_it_is(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    part = np.random.default_rng(0).integers(0, 2, graph.num_vertices)
    refiner, here = refiner_at(space, graph, part, 2, "0.5", pieces=TURNS, iteration_limit=1)
    refiner.refine(here)
    moves = (np.arange(graph.num_vertices) % 2 == 0) & (gains_of(graph, part) > 0)
    assert copied(refiner.run.moves.part).tolist() == np.where(moves, 1 - part, part).tolist()


@pytest.mark.parametrize("name", GRAPHS)
def test_a_rule_of_ones_own_refines_the_same_everywhere(space: ExecutionSpace, name: str) -> None:
    graph, k = GRAPHS[name], 8
    part = np.random.default_rng(1).integers(0, k, graph.num_vertices)
    found = []
    for each in (reference(), space):
        refiner, here = refiner_at(each, graph, part, k, pieces=TURNS)
        outcome = refiner.refine(here)
        best = copied(refiner.best)[: graph.num_vertices]
        assert outcome["cut"] == oracles.cut(graph, best) < 0.8 * oracles.cut(graph, part)
        assert max(oracles.block_weights(graph, best, k)) <= refiner.balance.max_block_weight
        found.append(best.tolist())
    assert found[0] == found[1]
