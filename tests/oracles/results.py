"""Whether what a result says of its partition is true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart.graphs.graph import Graph
from tests.oracles.balance import block_weight_limits, imbalance_of
from tests.oracles.graphs import host, vertex_weights
from tests.oracles.partitions import block_weights, cut


def assert_partition_is_true(graph: Graph, result: Any, k: int, imbalance: Any = "0.03",
                             target: Sequence[Any] | None = None, fixed: Any = None,
                             least: int = 0) -> None:
    """Every number that `result` has follows from its `part`, and fixed vertices are in place."""
    part, total = host(result.part), sum(vertex_weights(graph))
    assert part.shape == (graph.num_vertices,)
    assert part.dtype == np.int32
    assert part.min(initial=0) >= 0
    assert part.max(initial=0) < k
    assert result.k == k
    assert result.cut == cut(graph, part)
    weights = block_weights(graph, part, k)
    assert result.block_weights.tolist() == weights
    assert result.imbalance == float(imbalance_of(weights, target))
    limits = block_weight_limits(total, k, imbalance, target)
    assert result.max_block_weight_allowed == max(limits)
    assert result.block_weight_limits.tolist() == [min(limit, total) for limit in limits]
    kept = all(least <= weight <= limit for weight, limit in zip(weights, limits))
    assert kept or not result.feasible
    if fixed is not None:
        assert (part == fixed)[host(fixed) >= 0].all()
    elif target is None:
        # blocks with equal limits can all be filled where enough vertices weigh something
        filled = min(weights) > 0 or sum(w > 0 for w in vertex_weights(graph)) < k
        assert result.feasible == (kept and filled)
