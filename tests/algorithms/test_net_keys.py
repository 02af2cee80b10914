"""First keys of a bisection by nets: every net tells its pins what it gains by them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from portpart.algorithms.initial.bisection import LARGE_NET_TEAM, NET_TEAM
from portpart.algorithms.initial.bisection_state import Candidates, Run, StartSizes
from portpart.algorithms.initial.fm_gains import TALLY, Attempts, Tally
from portpart.algorithms.initial.net_keys import (
    COUNTED,
    GROUP_OF_NETS,
    MAX_COMPARED,
    add_gains_of_large_nets,
    add_gains_of_small_net,
)
from portpart.algorithms.initial.net_prices import PRICE, incidence_of
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.algorithms.nets import hypergraph_of

N, COPIES, BITS = 300, 2, 9


def nets_of_all_sizes(random: np.random.Generator) -> list[list[int]]:
    """Nets around both limits, neighbours of many pins, and one of nearly all vertices."""
    sizes = [0, 1, 2, 3, MAX_COMPARED - 1, MAX_COMPARED, MAX_COMPARED + 1, 2, 64, 65, 128, 129, 290]
    return [random.permutation(N)[:size].tolist() for size in sizes + sizes]


def expected(nets: list[list[int]], weights: np.ndarray, part: np.ndarray, side: np.ndarray,
             k: int) -> tuple[np.ndarray, np.ndarray]:
    """Gains of all vertices and cuts of all bisections, by the definition, net by net."""
    gains, cuts = np.zeros(N, np.int64), np.zeros(k, np.int64)
    for net, weight in zip(nets, weights.tolist(), strict=True):
        price = PRICE * weight
        share = price // max(1, len(net) - 1)
        counts = Counter((int(part[v]), int(side[v])) for v in net)
        for v in net:
            beside = counts[part[v], side[v]] - 1
            across = counts[part[v], 1 - side[v]]
            if beside + across:
                gains[v] += price * (int(beside == 0) - int(across == 0)) + share * (
                    across - beside)
        for block in set(part[net].tolist()):
            one, other = counts[block, 0], counts[block, 1]
            if one and other:
                cuts[block] += price + share * one * other
    return gains, cuts


@pytest.mark.parametrize("k", [1, 5, COUNTED, 2 * COUNTED + 3])
def test_nets_of_any_size_tell_their_pins(space: ExecutionSpace, k: int) -> None:
    """A net that is compared, one that is counted, and blocks beyond those counted at a time."""
    random = np.random.default_rng(k)
    nets = nets_of_all_sizes(random)
    weights = random.integers(1, 9, len(nets))
    hypergraph: Hypergraph = hypergraph_of(nets, N, weights).to(space)
    sizes = StartSizes(COPIES, COPIES * N, COPIES * N, 1, k)
    part = random.integers(0, k, COPIES * N)
    side = random.integers(0, 2, COPIES * N)
    place = np.concatenate([random.permutation(N) for _ in range(COPIES)])
    side_at_place = np.zeros(COPIES * N, np.int8)
    first = N * (np.arange(COPIES * N) // N)
    # marks, as of vertices that have moved, do not count
    side_at_place[first + place] = side + 2 * random.integers(0, 2, COPIES * N)
    candidates = Candidates.allocate(space, sizes).replaced(
        part=space.asarray(part, np.int32), place=space.asarray(place, np.int32))
    attempts = Attempts.allocate(space, sizes).replaced(
        side=space.asarray(side_at_place), key=space.zeros(COPIES * N, np.int64),
        tally=space.zeros(COPIES * k * TALLY, np.int64))
    words = Run.zeros()
    words.vertices, words.nets, words.blocks, words.key_bits = N, len(nets), k, BITS
    words.nets_of_all = COPIES * len(nets)
    run = Run(space.asarray(np.array(words.array)))
    given = incidence_of(hypergraph), candidates, attempts, run
    count = int(words.nets_of_all)
    space.parallel_for(count, add_gains_of_small_net, *given, team=NET_TEAM)
    space.parallel_for(-(-count // GROUP_OF_NETS), add_gains_of_large_nets, *given,
                       team=LARGE_NET_TEAM)
    keys, tally = oracles.host(attempts.key), oracles.host(attempts.tally)
    for copy in range(COPIES):
        mine = slice(copy * N, (copy + 1) * N)
        gains, cuts = expected(nets, weights, part[mine], side[mine], k)
        assert np.array_equal(keys[mine][place[mine]], gains << BITS)
        assert np.array_equal(tally.reshape(COPIES, k, TALLY)[copy, :, Tally.cut], cuts)
