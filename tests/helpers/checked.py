"""Calls of the library whose results are checked against plain answers."""

from __future__ import annotations

from typing import Any

import portpart
from tests import oracles


def partition(graph: Any, k: int, **options: Any) -> portpart.PartitionResult:
    """`portpart.partition`; every number of its result is what a plain loop finds."""
    result = portpart.partition(graph, k, **options)
    weights = {name: options[name] for name in ("vertex_weights", "edge_weights")
               if name in options}
    oracles.assert_partition_is_true(
        portpart.as_graph(graph, **weights), result, k, options.get("imbalance", "0.03"),
        options.get("target"), options.get("fixed"), options.get("min_block_weight") or 0)
    return result
