"""Growing net by net: the steps of the greedy rule, balance, and what cannot grow so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import portpart
from portpart.algorithms.initial.net_growth import MAX_NETS, partition_net_by_net
from portpart.algorithms.initial.options import GrowingOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.nets import Rows, hypergraph_of, nets_of
from tests.oracles import nets as net_oracles

ONE_ATTEMPT = GrowingOptions(net_by_net=1, trials=1)


def grown(given: Hypergraph, space: ExecutionSpace, num_blocks: int, *, seed: int = 1,
          options: GrowingOptions = ONE_ATTEMPT,
          shares: np.ndarray | None = None) -> np.ndarray:
    limits = np.full(num_blocks, given.total_vertex_weight)
    part = partition_net_by_net(given.to(space), num_blocks, shares, limits, seed, options)
    assert part is not None
    return oracles.host(part)


def side_by_definition(nets: Rows, costs: np.ndarray, weights: np.ndarray) -> tuple[set[int], int]:
    """Side 0 of a bisection: all pins of the cheapest net, again and again; and its goal."""
    side: set[int] = set()
    goal, weight = int(weights.sum() / 2 + 0.5), 0
    while True:
        left = [sum(int(weights[v]) for v in net if v not in side) for net in nets]
        open_nets = [i for i in range(len(nets)) if left[i] > 0 and costs[i] > 0]
        net = min(open_nets, key=lambda i: (Fraction(left[i], int(costs[i])), i))
        for v in nets[net]:
            if v not in side:
                room = goal - weight
                if room <= 0 or room < (weights[v] + 1) // 2:
                    return side, goal
                side.add(v)
                weight += int(weights[v])


def drawn_nets(seed: int, n: int, count: int) -> Rows:
    """Nets that overlap; every vertex has one at least."""
    random = np.random.default_rng(seed)
    nets = [random.permutation(n)[: random.integers(2, n // 3)].tolist() for _ in range(count)]
    missing = set(range(n)) - {v for net in nets for v in net}
    return [*nets, sorted(missing)] if len(missing) > 1 else [*nets, [*missing, 0, 1]]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [30, 900])
def test_the_cheapest_net_joins_the_side_first(space: ExecutionSpace, seed: int, n: int) -> None:
    """The first attempt draws nothing, so the definition gives the side, with any team."""
    random = np.random.default_rng(seed)
    nets = drawn_nets(seed, n, 25)
    costs = random.integers(1, 9, len(nets)) if seed % 2 else np.ones(len(nets), int)
    weights = random.integers(1, 7, n) if seed % 3 else np.ones(n, int)
    given = hypergraph_of(nets, n, costs, weights)
    expected, goal = side_by_definition(nets_of(given), costs, weights)
    found = set(np.flatnonzero(grown(given, space, 2) == 0).tolist())
    assert found == expected
    assert abs(int(weights[sorted(found)].sum()) - goal) <= weights.max()


def windows(seed: int, n: int = 3000, nets: int = 60, width: int = 12) -> Hypergraph:
    """Vertices with seven nets of a window of a circle, of which a fifth has any nets."""
    random = np.random.default_rng(seed)
    rows: Rows = [[] for _ in range(nets)]
    for v in range(n):
        own = (random.choice(nets, 6, replace=False) if random.random() < 0.2 else
               (random.integers(nets) + random.integers(width, size=7)) % nets)
        for net in {int(each) for each in own}:
            rows[net].append(v)
    return hypergraph_of(rows, n)


@pytest.mark.parametrize("preset", ["fast", "default", "strong"])
def test_whole_nets_stay_uncut(preset: str) -> None:
    """Neighbouring nets fill one block: gains of single vertices do not lead there.

    Any twelve neighbouring nets have pins in less than half of the vertices.
    """
    given = windows(7)
    result = portpart.partition(given, 2, preset=preset, seed=1)
    assert result.feasible
    assert result.km1 <= 60 - 12


@pytest.mark.parametrize("num_blocks", [2, 8])
@pytest.mark.parametrize("nets", [40, 60])
def test_results_cost_no_more_than_what_grew(num_blocks: int, nets: int) -> None:
    """Nets of 150 or 100 pins; single moves find less, so there is a walk from that partition."""
    random = np.random.default_rng(nets)
    rows: Rows = [[] for _ in range(nets)]
    for v in range(1500):
        for net in random.choice(nets, 4, replace=False).tolist():
            rows[net].append(v)
    given = hypergraph_of(rows, 1500)
    reached, plain = (
        portpart.partition(given, num_blocks, seed=1, initial=initial).km1
        for initial in (None, np.arange(1500) % num_blocks))
    part = grown(given, given.space, num_blocks, options=GrowingOptions(net_by_net=1))
    assert reached <= net_oracles.values(given, part)["km1"]
    assert reached < plain


@pytest.mark.parametrize("num_blocks", [2, 3, 8, 40])
def test_blocks_have_their_shares(space: ExecutionSpace, num_blocks: int) -> None:
    """Up to a vertex for each level of bisection, and no block is empty."""
    given = windows(3)
    shares = np.arange(1.0, num_blocks + 1)
    for wanted in (None, shares):
        part = grown(given, space, num_blocks, shares=wanted)
        share = np.ones(num_blocks) if wanted is None else wanted
        sizes = np.bincount(part, minlength=num_blocks)
        assert len(sizes) == num_blocks
        assert sizes.min() > 0
        assert np.abs(sizes - 3000 * share / share.sum()).max() <= 6


def test_more_attempts_cut_no_more_nets(space: ExecutionSpace) -> None:
    given = windows(5)
    cuts = []
    for trials in (1, 8):
        part = grown(given, space, 2, options=GrowingOptions(net_by_net=2, trials=trials))
        cuts.append(net_oracles.values(given, part)["km1"])
    assert cuts[1] <= cuts[0]


def test_vertices_without_nets_and_weights_get_blocks(space: ExecutionSpace) -> None:
    """They follow when no net has weight; nets without weight or cost are never taken."""
    nets = [[0, 1, 2], [2, 3], [4, 5], [6, 7], []]
    weights = np.array([1, 1, 1, 1, 0, 0, 1, 1, 3, 3, 1, 1])
    given = hypergraph_of(nets, 12, np.array([2, 1, 5, 0, 1]), weights)
    for num_blocks in (2, 3, 12):
        part = grown(given, space, num_blocks)
        assert np.bincount(part, minlength=num_blocks).min() > 0
        assert part.max() == num_blocks - 1


@pytest.mark.parametrize(("nets", "num_blocks"), [
    (10, 31), (MAX_NETS + 1, 2), (4000, 2048), (0, 2)])
def test_nothing_grows_with_few_vertices_or_many_nets(nets: int, num_blocks: int) -> None:
    """More blocks than vertices, many nets, many of all attempts together, or none."""
    n = 4096 if num_blocks > 100 else 30
    given = hypergraph_of([[*range(n)], *[[]] * (nets - 1)][:nets], n)
    assert partition_net_by_net(given, num_blocks, None, np.full(num_blocks, n), 1,
                                GrowingOptions(net_by_net=1)) is None
