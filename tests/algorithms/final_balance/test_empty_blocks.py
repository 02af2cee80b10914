"""Empty blocks take the vertices that plain loops choose, on every space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from portpart.algorithms.final_balance.empty_blocks import MAX_EMPTY, with_empty_filled
from portpart.algorithms.objectives.limits import Balance
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles
from tests.helpers.graphs import random_graph
from tests.helpers.nets import circuit, nets_of, weights_of

K = 9
EMPTY = (2, 5, 6)


def tied(graph: Any, part: np.ndarray, v: int) -> int:
    """What ties v to its block."""
    if hasattr(graph, "net_offsets"):
        weights = weights_of(graph.net_weights, graph.num_nets)
        return sum(weight for pins, weight in zip(nets_of(graph), weights, strict=True)
                   if v in pins and any(part[u] == part[v] for u in pins if u != v))
    return sum(weight for a, b, weight in oracles.arcs(graph) if a == v and part[b] == part[v])


def expected(graph: Any, part: np.ndarray, limits: list[int], fixed: set[int],
             heavy: list[int]) -> np.ndarray:
    """Each empty block takes the vertex that leaves its block at least loss, if there is one."""
    part = part.copy()
    for block in EMPTY:
        blocks = np.bincount(part, heavy, K)
        found = [(tied(graph, part, v), v) for v, here in enumerate(part)
                 if v not in fixed and 0 < heavy[v] < blocks[here]
                 and heavy[v] - limits[block] <= max(0, blocks[here] - limits[here] - 1)]
        if found:
            part[min(found)[1]] = block
    return part


@pytest.mark.parametrize("limit", [3, 40])
@pytest.mark.parametrize("kind", ["arcs", "nets"])
def test_the_cheapest_vertex_is_taken(space: ExecutionSpace, kind: str, limit: int) -> None:
    """Weights of zero, fixed vertices and limits count; where none can be had a block stays."""
    n, random = 80, np.random.default_rng(3)
    graph: Any = (circuit(n, 4, large=70, weighted=True) if kind == "nets"
                  else random_graph(n, 200, 5, weighted=True, vertex_weighted=True))
    heavy = weights_of(graph.vertex_weights, n)
    full = np.setdiff1d(np.arange(K), EMPTY).astype(np.int32)
    part = full[random.integers(0, len(full), n)]
    limits = [40] * K
    limits[EMPTY[0]] = limit
    fixed = np.where(np.arange(n) % 4 == 0, part, -1).astype(np.int32)
    balance = Balance(K, 40, 30, limits=np.array(limits, np.int64))
    blocks = np.bincount(part, heavy, K).astype(np.int64)
    found, after = with_empty_filled(graph.to(space), space.asarray(part), blocks, balance,
                                     space.asarray(fixed))
    wanted = expected(graph, part, limits, set(np.flatnonzero(fixed >= 0).tolist()), heavy)
    assert np.array_equal(oracles.host(found), wanted)
    assert after.tolist() == np.bincount(wanted, heavy, K).tolist()
    assert (wanted != part).any()


def test_many_empty_blocks_are_left_to_the_host() -> None:
    graph = random_graph(80, 200, 5)
    part, k = np.zeros(80, np.int32), MAX_EMPTY + 2
    blocks = np.bincount(part, minlength=k).astype(np.int64)
    assert with_empty_filled(graph, part, blocks, Balance(k, 80, 2), None)[0] is part
