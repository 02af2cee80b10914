"""First keys of a bisection by nets: every net tells its pins what it gains by them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from portpart.algorithms.initial.bisection import LARGE_NET_TEAM, NET_TEAM
from portpart.algorithms.initial.bisection_state import (
    BisectionWords,
    Candidates,
    Keyed,
    StartSizes,
)
from portpart.algorithms.initial.fm_gains import NUM_TOTALS, Attempts, BisectionTotals
from portpart.algorithms.initial.net_gains import NETS
from portpart.algorithms.initial.net_keys import (
    COUNTED,
    GROUP_OF_NETS,
    MAX_COMPARED,
    PRICE,
    add_gains_of_large_nets,
    add_gains_of_small_net,
    incidence_of,
)
from portpart.algorithms.initial.project_bisection import NO_SIDE, choose_side
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.nets import hypergraph_of

N, COPIES, BITS = 300, 2, 9


def nets_of_all_sizes(random: np.random.Generator) -> list[list[int]]:
    """Nets around both limits, neighbours of many pins, and one of nearly all vertices."""
    sizes = [0, 1, 2, 3, MAX_COMPARED - 1, MAX_COMPARED, MAX_COMPARED + 1, 2, 64, 65, 128, 129, 290]
    return [random.permutation(N)[:size].tolist() for size in sizes + sizes]


def gain_by_definition(size: int, weight: int, near: int, across: int) -> int:
    """What a net gains if one of its pins changes sides, with such others in the bisection."""
    price = PRICE * weight
    return price * (int(near == 0) - int(across == 0)) + price // max(1, size - 1) * (
        across - near)


def expected(nets: list[list[int]], weights: np.ndarray, part: np.ndarray, side: np.ndarray,
             k: int) -> tuple[np.ndarray, np.ndarray]:
    """Gains of all vertices and cuts of all bisections, by the definition, net by net."""
    gains, cuts = np.zeros(N, np.int64), np.zeros(k, np.int64)
    for net, weight in zip(nets, weights.tolist(), strict=True):
        price = PRICE * weight
        share = price // max(1, len(net) - 1)
        counts = Counter((int(part[v]), int(side[v])) for v in net)
        for v in net:
            near = counts[part[v], side[v]] - 1
            across = counts[part[v], 1 - side[v]]
            if near + across:
                gains[v] += gain_by_definition(len(net), weight, near, across)
        for block in set(part[net].tolist()):
            one, other = counts[block, 0], counts[block, 1]
            if one and other:
                cuts[block] += price + share * one * other
    return gains, cuts


def bisections(space: ExecutionSpace, hypergraph: Hypergraph, k: int, part: np.ndarray,
               place: np.ndarray, side: np.ndarray) -> tuple[Any, Candidates, Attempts, Keyed]:
    """Copies of all vertices in parts, at places and on sides: what kernels work on."""
    sizes = StartSizes(COPIES, COPIES * N, COPIES * N, 1, k)
    side_at_place = np.zeros(COPIES * N, np.int8)
    side_at_place[N * (np.arange(COPIES * N) // N) + place] = side
    candidates = Candidates.allocate(space, sizes).replaced(
        part=space.asarray(part, np.int32), place=space.asarray(place, np.int32))
    attempts = Attempts.allocate(space, sizes).replaced(
        side=space.asarray(side_at_place), key=space.zeros(COPIES * N, np.int64),
        totals=space.zeros(COPIES * k * NUM_TOTALS, np.int64))
    words = BisectionWords.zeros()
    words.vertices, words.nets, words.blocks = N, hypergraph.num_nets, k
    words.key_bits, words.nets_of_all = BITS, COPIES * hypergraph.num_nets
    start = BisectionWords(space.asarray(np.array(words.array)))
    return incidence_of(hypergraph), candidates, attempts, Keyed(sizes=start, keys=start)


@pytest.mark.parametrize("team", [1, 8, 32])
def test_vertices_without_a_side_go_where_nets_pull(space: ExecutionSpace, team: int) -> None:
    """With a lane for each net, and with one for all; other vertices without a side stay so."""
    random = np.random.default_rng(team)
    nets, k = nets_of_all_sizes(random), 3
    weights = random.integers(1, 9, len(nets))
    part, side = random.integers(0, k, COPIES * N), random.integers(0, 2, COPIES * N)
    side[random.random(COPIES * N) < 0.3] = NO_SIDE
    place = np.concatenate([random.permutation(N) for _ in range(COPIES)])
    hypergraph = hypergraph_of(nets, N, weights).to(space)
    given = bisections(space, hypergraph, k, part, place, side)
    given[2].moves[:] = space.asarray(np.full(COPIES * N, -1, np.int32))
    space.parallel_for(COPIES * N, choose_side.bound(rule=NETS), *given, team=team)
    found = oracles.host(given[2].moves)
    for i in range(COPIES * N):
        first = i // N * N
        pull = 0
        for net, weight in zip(nets, weights.tolist(), strict=True):
            if i - first in net:
                counts = Counter(int(side[first + v]) for v in net if part[first + v] == part[i])
                pull += gain_by_definition(len(net), weight, counts[0], counts[1])
        assert found[first + place[i]] == (int(pull > 0) if side[i] == NO_SIDE else -1)


@pytest.mark.parametrize("k", [1, 5, COUNTED, 2 * COUNTED + 3])
def test_nets_of_any_size_tell_their_pins(space: ExecutionSpace, k: int) -> None:
    """A net that is compared, one that is counted, and blocks beyond those counted at a time."""
    random = np.random.default_rng(k)
    nets = nets_of_all_sizes(random)
    weights = random.integers(1, 9, len(nets))
    hypergraph: Hypergraph = hypergraph_of(nets, N, weights).to(space)
    part = random.integers(0, k, COPIES * N)
    side = random.integers(0, 2, COPIES * N)
    place = np.concatenate([random.permutation(N) for _ in range(COPIES)])
    # marks, as of vertices that have moved, do not count
    marked = side + 2 * random.integers(0, 2, COPIES * N)
    given = bisections(space, hypergraph, k, part, place, marked)
    attempts = given[2]
    count = COPIES * len(nets)
    space.parallel_for(count, add_gains_of_small_net, *given, team=NET_TEAM)
    space.parallel_for(-(-count // GROUP_OF_NETS), add_gains_of_large_nets, *given,
                       team=LARGE_NET_TEAM)
    keys, totals = oracles.host(attempts.key), oracles.host(attempts.totals)
    for copy in range(COPIES):
        mine = slice(copy * N, (copy + 1) * N)
        gains, cuts = expected(nets, weights, part[mine], side[mine], k)
        assert np.array_equal(keys[mine][place[mine]], gains << BITS)
        assert np.array_equal(totals.reshape(COPIES, k, NUM_TOTALS)[copy, :, BisectionTotals.cut],
                              cuts)
