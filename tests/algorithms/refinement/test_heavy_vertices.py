"""Macros of a circuit stay in their blocks, cells are placed around them."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.final_balance.overload import with_heavy_apart
from portpart.algorithms.objectives.candidates import stacked
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.refinement.blocks.state import with_heavy
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.nets import circuit, with_weights
from tests.helpers.refining import balance_of, copied, refiner_at

N, K = 400, 4
MACROS = [3, 150, 151, 390]


def with_macros() -> Hypergraph:
    """A circuit with four vertices that each weigh most of a block."""
    weights = np.ones(N, np.int64)
    weights[MACROS] = 300
    return with_weights(circuit(N, 7), weights)


def start_with(hypergraph: Hypergraph, blocks: list[int]) -> np.ndarray:
    """The macros in these blocks, and the others spread."""
    start = (np.arange(N) % K).astype(np.int32)
    start[MACROS] = blocks
    return start


def test_macros_stay_and_the_rest_moves(space: ExecutionSpace) -> None:
    hypergraph = with_macros()
    start = start_with(hypergraph, [0, 1, 2, 3])
    refiner, here = refiner_at(space, hypergraph, start, K, objective=net_objective("km1"))
    before = refiner.refine(here, 0.0)["cut"]
    refiner.restart(here)
    outcome = refiner.refine(here, 0.75)
    best = copied(refiner.best)
    assert outcome["balanced"]
    assert best[MACROS].tolist() == [0, 1, 2, 3]
    assert outcome["cut"] <= before
    assert (best != start).sum() > N // 4


def test_macros_may_leave_a_block_that_is_too_heavy(space: ExecutionSpace) -> None:
    """One that two do not fit in; those of others stay, and so does what is fixed."""
    hypergraph = with_macros()
    limits = balance_of(hypergraph, K).limits
    start = start_with(hypergraph, [0, 0, 2, 3])
    fixed = np.full(N, -1, np.int32)
    fixed[7] = start[7]
    there, min_limit = space.asarray(limits), int(limits.min())
    held = oracles.host(with_heavy(hypergraph.to(space), space.asarray(start), there, min_limit,
                                   space.asarray(fixed)))
    assert np.flatnonzero(held >= 0).tolist() == [7, 151, 390]
    assert held[[7, 151, 390]].tolist() == [start[7], 2, 3]
    alike = with_weights(circuit(N, 7), np.full(N, 5))
    held = oracles.host(with_heavy(alike.to(space), space.asarray(start), there, min_limit, None))
    assert (held == -1).all()


def test_macros_of_a_block_that_cannot_hold_them_are_spread(space: ExecutionSpace) -> None:
    """Nobody else moves; what is fixed stays; and where they fit, nothing is done."""
    hypergraph, balance = with_macros().to(space), balance_of(with_macros(), K)
    start = start_with(hypergraph, [1, 1, 1, 3])
    fixed = np.full(N, -1, np.int32)
    fixed[MACROS[0]] = 1
    apart = start_with(hypergraph, [3, 2, 1, 0])
    given = stacked(space, [space.asarray(apart), space.asarray(start)])
    kept, connectivity = map(oracles.host, with_heavy_apart(hypergraph, given, balance,
                                                            space.asarray(fixed)))
    assert np.array_equal(kept, apart)
    assert sorted(connectivity[MACROS].tolist()) == [0, 1, 2, 3]
    assert connectivity[MACROS[0]] == 1
    others = np.delete(np.arange(N), MACROS)
    assert np.array_equal(connectivity[others], start[others])
    alone = space.asarray(apart).reshape(1, -1)
    assert with_heavy_apart(hypergraph, alone, balance) is alone
