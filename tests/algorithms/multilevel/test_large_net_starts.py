"""Starts of hypergraphs whose vertices have large nets only, as in set covering."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest

import portpart
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.multilevel import greedy_start
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.recipes.portpart_nets import PRESETS, prepared
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.nets import hypergraph_of
from tests.helpers.spaces import reference

BOTH = GrowingOptions(hierarchies=4, candidates=4, refined=2, min_vertices=32, max_net_size=128,
                      also_on_large_nets=True)


def discs(vertices: int, nets: int, pins: int) -> Hypergraph:
    """Points of a square; a net has the points that are closest to a random one."""
    random = np.random.default_rng(vertices)
    points = random.random((vertices, 2))
    distances = np.linalg.norm(points[:, None] - random.random((nets, 1, 2)).swapaxes(0, 1), axis=2)
    return hypergraph_of(np.sort(np.argsort(distances, axis=0)[:pins].T).tolist(), vertices)


def least_km1(given: Hypergraph, parts: np.ndarray) -> int:
    """The least km1 of some partitions, counted net by net."""
    offsets, pins = given.net_offsets, given.net_pins
    return min(sum(len(np.unique(part[pins[begin:end]])) - 1
                   for begin, end in pairwise(offsets)) for part in parts)


@pytest.mark.parametrize("hierarchies", [1, 2, 3, 4])
def test_half_of_the_hierarchies_see_large_nets(monkeypatch: pytest.MonkeyPatch,
                                                hierarchies: int) -> None:
    """Each has its own seed, and there is one of each kind at least."""
    seen: list[tuple[int, int, bool]] = []
    made = greedy_start._grown_on_copies

    def noted(*given):
        seen.append((given[6], given[2], given[5].max_net_size > 128))
        assert not given[5].also_on_large_nets
        return made(*given)

    monkeypatch.setattr(greedy_start, "_grown_on_copies", noted)
    options = portpart.options.changed(BOTH, {"hierarchies": hierarchies, "candidates": 4})
    parts = greedy_start.grown_parts(discs(300, 9, 150), Balance(4, 90, 75), options, 5)
    seeds = [[seed + i for i in range(count)] for seed, count, _ in seen]
    assert [large for _, _, large in seen] == [False, True]
    assert [*chain(*seeds)] == list(range(5, 5 + max(2, hierarchies)))
    assert abs(len(seeds[0]) - len(seeds[1])) <= 1
    for part in parts:
        assert np.bincount(part, minlength=4).max() <= 90


def test_starts_on_large_nets_are_better(space: ExecutionSpace) -> None:
    """No net counts otherwise, since all have more pins than bisections examine."""
    given = discs(1500, 60, 200)
    balance = Balance(40, 45, 37)
    km1 = []
    for options in (BOTH, portpart.options.changed(BOTH, {"also_on_large_nets": False})):
        parts = greedy_start.grown_parts(given.to(space), balance, options, 1)
        km1.append(least_km1(given, np.array([oracles.host(part) for part in parts])))
    assert km1[0] < 0.9 * km1[1]


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize(("pairs", "changes"), [
    (0, {"initial.growing.also_on_large_nets": True, "initial.growing.net_by_net": 1,
         "communities_in_turn": None}),
    (150, {"initial.growing.net_by_net": 1}), (450, {})])
def test_only_hypergraphs_of_few_or_large_nets_start_so(preset: str, pairs: int,
                                                        changes: dict[str, int | None]) -> None:
    """Small nets for three quarters of the vertices are enough, as are many nets.

    Where nets are large, runs stay in the blocks that grew net by net.
    """
    large = discs(1200, 40, 300)
    nets = [large.net_pins[begin:end].tolist()
            for begin, end in pairwise(large.net_offsets)]
    step = 900 // pairs if pairs else 900
    small = [[*range(v, v + step)] for v in range(0, 900, step)] if pairs else []
    problem = Problem(graph=hypergraph_of([*nets, *small], 1200).to(reference()),
                      balance=Balance(4, 310, 300), objective=net_objective("km1"), seed=1,
                      trace=Trace(reference(), large, None))
    expected = portpart.options.changed(PRESETS[preset], changes)
    assert prepared(problem, PRESETS[preset]).config == expected
