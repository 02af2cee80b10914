"""Gains of vertices of hypergraphs, hubs among them, are what costs before and after say."""

from __future__ import annotations

import functools
from itertools import product

import numpy as np
import pytest

from portpart.algorithms.objectives.net_cost import net_objective
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.net_phases import (
    NET_COSTS,
    NetPhases,
    assert_gains_are_right,
    assert_outcome_is_true,
    cost,
    random_part,
)
from tests.helpers.nets import (
    circuit,
    hypergraph_of,
)
from tests.helpers.refining import (
    FILTER_RATIO,
    copied,
    refiner_at,
)
from tests.helpers.spaces import reference


@pytest.mark.parametrize(("objective", "k"), [*((name, k) for name in NET_COSTS for k in (2, 65)),
                                              ("km1", 100)])
def test_gains_stay_right_through_moves(space: ExecutionSpace, k: int, objective: str) -> None:
    """Of a few vertices and of many, hubs among them; beside nets of more blocks than a word."""
    hypergraph = circuit(110, 3, large=100 if k == 100 else 80, weighted=True)
    phases = NetPhases(space, hypergraph, random_part(hypergraph, k), k, hub_degree=6,
                       objective=net_objective(objective))
    random = np.random.default_rng(1)
    assert (k == 100) == (copied(phases.rows.sets.connectivity).max() > 64)  # type: ignore[attr-defined]
    for share in (0.02, 0.5, 0.05):
        assert_gains_are_right(phases, hypergraph, objective)
        part = copied(phases.run.moves.part)
        moving_pins = random.choice(110, max(1, int(share * 110)), replace=False)
        phases.move(moving_pins, (part[moving_pins] + random.integers(1, k, len(moving_pins))) % k)
        assert copied(phases.run.moves.cost_sums).sum() == 2 * cost(
            hypergraph, copied(phases.run.moves.part), objective)
        phases.refresh()
    assert_gains_are_right(phases, hypergraph, objective)


@looped("large", [0, 1])
@looped("objective", NET_COSTS)
def test_a_lonely_pin_of_a_large_net_hears_of_company(space: ExecutionSpace, objective: str,
                                                      large: int) -> None:
    """One more pin comes to its block, and goes again; the net touches the same blocks."""
    nets, weights = [[0, 1], [98, 99]], [1, 2]
    nets.insert(large, list(range(100)))
    weights.insert(large, 5)
    hypergraph = hypergraph_of(nets, 100, weights)
    part = np.zeros(100, np.int32)
    part[98:] = 1, 2
    phases = NetPhases(space, hypergraph, part, 3, objective=net_objective(objective))
    assert_gains_are_right(phases, hypergraph, objective)
    for there in (1, 0):
        phases.move(np.array([0]), np.array([there]))
        phases.refresh()
        assert_gains_are_right(phases, hypergraph, objective)


@pytest.mark.parametrize(("objective", "k"), [*((name, 4) for name in NET_COSTS), ("km1", 40)])
def test_lanes_of_a_team_find_the_gains_together(objective: str, k: int) -> None:
    """Lanes as threads, in any order; beside nets of few blocks and of many."""
    hypergraph = circuit(30 + k, 3, large=20 + k, weighted=True)
    phases = NetPhases(LanesSpace(3, seed=5), hypergraph, random_part(hypergraph, k), k,
                       objective=net_objective(objective))
    assert_gains_are_right(phases, hypergraph, objective)
    phases.move(np.array([3, 8]), np.array([1, 2]))
    phases.refresh()
    assert_gains_are_right(phases, hypergraph, objective)


def test_vertices_of_nets_that_span_two_blocks_are_on_the_boundary(space: ExecutionSpace) -> None:
    """Nets of weight 0 tie nobody, and neither do those within a block."""
    hypergraph = hypergraph_of([[0, 1, 2], [2, 3], [4, 5], [5, 6], [6, 7, 8], [9]], 10,
                               [3, 1, 2, 0, 1, 4])
    part = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 1], np.int32)
    phases = NetPhases(space, hypergraph, part, 2, objective=net_objective("km1"))
    assert np.flatnonzero(copied(phases.run.active.flags)).tolist() == [2, 3]


@functools.cache
def with_hubs(weighted: bool = False) -> Hypergraph:
    """Vertices of 2,600, 1,024 and 300 nets, one of 20 in no net of others, among 900."""
    random = np.random.default_rng(5)
    rows = [[hub, *random.choice(np.arange(4, 900), random.integers(1, 4), replace=False).tolist()]
            for hub, count in ((0, 2600), (1, 1024), (2, 300)) for _ in range(count)]
    rows += [[3, 4]] * 20 + [
        random.choice(np.arange(4, 900), 3, replace=False).tolist() for _ in range(900)]
    weights = random.integers(0, 2**33, len(rows)).tolist() if weighted else None
    return hypergraph_of(rows, 900, weights)


@pytest.mark.parametrize(("k", "weighted", "objective"), [
    *product([64], [False, True], NET_COSTS), (2, False, "km1"), (65, False, "cut")])
def test_gains_of_hubs_in_several_pieces_stay_right(space: ExecutionSpace, k: int, weighted: bool,
                                                    objective: str) -> None:
    """Where they move, where others do, and where nothing is known but that they have changed."""
    hypergraph = with_hubs(weighted)
    phases = NetPhases(space, hypergraph, random_part(hypergraph, k), k, hub_degree=256,
                       objective=net_objective(objective))
    assert phases.pieces == 3 + 1 + 1
    random = np.random.default_rng(1)
    for moving_pins in ([0, 2], list(range(5, 300)), [1]):
        assert_gains_are_right(phases, hypergraph, objective, [0, 1, 2])
        part = copied(phases.run.moves.part)
        phases.move(np.array(moving_pins),
                    (part[moving_pins] + random.integers(1, k, len(moving_pins))) % k)
        phases.refresh()
    assert_gains_are_right(phases, hypergraph, objective, [0, 1, 2])


def test_a_hub_inside_its_block_has_no_target(space: ExecutionSpace) -> None:
    """All is in one block but a vertex that has no net with the hubs; then others leave."""
    hypergraph = hypergraph_of([[0, v] for v in range(1, 400)] + [[400, 401]], 402)
    part = np.zeros(402, np.int32)
    part[401] = 1
    phases = NetPhases(space, hypergraph, part, 2, hub_degree=256,
                       objective=net_objective("km1"))
    assert copied(phases.run.cache.best_target)[0] == -1
    assert copied(phases.run.active.flags)[0] == 0
    phases.move(np.arange(1, 300), np.ones(299, np.int32))
    phases.refresh()
    assert copied(phases.run.cache.best_target)[0] == 1
    assert_gains_are_right(phases, hypergraph, "km1", [0])


@pytest.mark.parametrize("k", [2, 64, 65])
def test_every_space_refines_hubs_alike(space: ExecutionSpace, k: int) -> None:
    """From a start that is balanced, and from one that is not."""
    hypergraph, value = with_hubs(), net_objective("km1")
    for start in (random_part(hypergraph, k),
                  (np.random.default_rng(1).random(900) ** 3 * k).astype(np.int32)):
        found = []
        for each in (space, reference()):
            refiner, here = refiner_at(each, hypergraph, start, k, "0.5", objective=value)
            outcome = dict(refiner.refine(here, FILTER_RATIO))
            found.append((outcome, copied(refiner.best).tolist()))
        assert found[0] == found[1]
        assert int(refiner.level.hubs) == 3
        assert_outcome_is_true(hypergraph, k, "km1", outcome, copied(refiner.best), "0.5")
        assert outcome["cut"] < cost(hypergraph, start, "km1")
