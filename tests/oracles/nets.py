"""What partitions of hypergraphs are worth, by plain loops."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

from portpart.graphs.hypergraph import Hypergraph


def rows(hypergraph: Hypergraph) -> list[list[int]]:
    """The pins of each net."""
    offsets, pins = (hypergraph.space.to_host(array) for array in (
        hypergraph.net_offsets, hypergraph.net_pins))
    return [pins[begin:end].tolist() for begin, end in pairwise(offsets)]


def weights(hypergraph: Hypergraph) -> list[int]:
    """The weight of each net."""
    if hypergraph.net_weights is None:
        return [1] * hypergraph.num_nets
    found: list[int] = hypergraph.space.to_host(hypergraph.net_weights).tolist()
    return found


def values(hypergraph: Hypergraph, part: Any) -> dict[str, int]:
    """Cut, km1 and sum of external degrees."""
    found = {"cut": 0, "km1": 0, "soed": 0}
    for net, weight in zip(rows(hypergraph), weights(hypergraph), strict=True):
        blocks = len({int(part[v]) for v in net})
        if blocks > 1:
            found["cut"] += weight
            found["km1"] += weight * (blocks - 1)
            found["soed"] += weight * blocks
    return found


def best(hypergraph: Hypergraph, k: int, limit: int, name: str) -> int | None:
    """The smallest value of all partitions within a limit that leave no block empty, or None."""
    heavy = np.ones(hypergraph.num_vertices, np.int64) if hypergraph.vertex_weights is None else (
        hypergraph.space.to_host(hypergraph.vertex_weights))
    found = None
    for part in product(range(k), repeat=hypergraph.num_vertices):
        loads = np.bincount(part, heavy, k)
        if loads.max() <= limit and loads.min() > 0:
            value = values(hypergraph, part)[name]
            found = value if found is None else min(found, value)
    return found
