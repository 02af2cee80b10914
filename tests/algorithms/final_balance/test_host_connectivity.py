"""Blocks of hypergraphs that are too light are filled at least loss, by ties that stay true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart import backends
from portpart.algorithms.final_balance import (
    finish as underload,
    host_connectivity as host_ties_module,
)
from portpart.algorithms.final_balance.finish import enforce_limits
from portpart.algorithms.final_balance.host_connectivity import host_connectivity
from portpart.algorithms.objectives.limits import Balance
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.nets import circuit, hypergraph_of, hypergraphs, nets_of, weights_of


def tied(hypergraph: Hypergraph, part: np.ndarray, v: int, block: int) -> int:
    """Weight of the nets of v that have other pins in a block."""
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    return sum(weight for pins, weight in zip(nets_of(hypergraph), weights)
               if v in pins and any(part[u] == block for u in pins if u != v))


@given(hypergraph=hypergraphs(), data=st.data())
@settings(max_examples=60)
def test_ties_stay_what_a_plain_loop_says(hypergraph: Hypergraph, data: st.DataObject) -> None:
    n = hypergraph.num_vertices
    blocks = st.integers(0, 2)
    part = np.array(data.draw(st.lists(blocks, min_size=n, max_size=n)), np.int32)
    connections = host_connectivity(hypergraph, part)
    for v, block in data.draw(st.lists(st.tuples(st.integers(0, n - 1), blocks), max_size=5)):
        if part[v] != block:
            before = connections.inside.copy()
            less = connections.move(v, block)
            assert part[v] == block
            assert {u for u in range(n) if connections.inside[u] < before[u]} - {v} <= set(less)
        assert connections.inside.tolist() == [tied(hypergraph, part, u, part[u]) for u in range(n)]
    connections.begin()
    toward = np.zeros(n, np.int64)
    for member in np.flatnonzero(part == 0).tolist():
        for near, weight in connections.around(member):
            toward[near] += weight
    others = np.flatnonzero(part != 0).tolist()
    assert toward[others].tolist() == [tied(hypergraph, part, u, 0) for u in others]


def test_an_empty_block_takes_what_costs_least() -> None:
    """Vertex 4 has a net that is cut already; all others are inside."""
    hypergraph = hypergraph_of([[0, 1, 2], [1, 2], [0, 2], [3, 4, 0], [3, 5], [5, 3], [4]], 6)
    part, blocks = enforce_limits(hypergraph, np.array([0, 0, 0, 1, 1, 1], np.int32),
                                  Balance(3, 3, 2))
    assert oracles.host(part).tolist() == [0, 0, 0, 1, 2, 1]
    assert blocks.tolist() == [3, 2, 1]


@given(k=st.integers(2, 9), seed=st.integers(0, 99), least=st.integers(0, 3))
@settings(max_examples=30)
def test_bounds_are_kept_where_they_can_be(k: int, seed: int, least: int) -> None:
    """Whatever the start, also if all vertices are in one block."""
    n = 30
    hypergraph = circuit(n, seed)
    space = backends.space("cpu")
    start = np.random.default_rng(seed).integers(0, seed % k + 1, n).astype(np.int32)
    part, blocks = enforce_limits(hypergraph, space.asarray(start), Balance(k, -(-n // k), n // k),
                                  least)
    assert blocks.tolist() == np.bincount(oracles.host(part), minlength=k).tolist()
    assert blocks.max() <= -(-n // k)
    assert blocks.min() >= max(1, least)


@pytest.mark.parametrize("seed", range(8))
def test_pins_of_a_net_may_come_one_by_one_or_together(
        seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that are too light take the same vertices, whichever way others come to their heap."""
    random = np.random.default_rng(seed)
    n, k = 120, 15
    rows = [random.choice(n, random.integers(2, 60), replace=False).tolist() for _ in range(40)]
    hypergraph = hypergraph_of([*rows, list(range(n))], n)
    part = random.integers(0, k // 3, n).astype(np.int32)
    found = []
    for most_listed, few in ((0, 1), (0, 10**9), (n, 16)):
        monkeypatch.setattr(host_ties_module, "MAX_LISTED", most_listed)
        monkeypatch.setattr(underload, "FEW", few)
        filled, blocks = enforce_limits(hypergraph, part, Balance(k, 10, n // k), min_weight=7)
        assert blocks.min() >= 7
        found.append(oracles.host(filled).tolist())
    assert found[0] == found[1] == found[2]


def test_a_light_block_takes_the_pin_whose_net_is_there_already() -> None:
    """One of a net of many pins costs nothing; one of a net of less weight would, inside."""
    hypergraph = hypergraph_of([list(range(40)), [40, 41]], 42, [10, 3])
    part = np.zeros(42, np.int32)
    part[0] = 1
    found, blocks = underload.filled(hypergraph, part, np.array([41, 1]), Balance(2, 41, 21), 2)
    moved = np.flatnonzero(oracles.host(found) != part).tolist()
    assert blocks.tolist() == [40, 2]
    assert moved == [1]
