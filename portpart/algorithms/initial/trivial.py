"""Partitions that need no algorithm: one block, or at least as many blocks as vertices."""

from __future__ import annotations

import numpy as np

from portpart.backends.interface import Array
from portpart.graphs.hypergraph import EitherGraph
from portpart.primitives.basic import iota


def trivial_partition(graph: EitherGraph, num_blocks: int) -> Array | None:
    """The partition of `graph` if it is obvious, else None."""
    if num_blocks == 1 or graph.num_vertices == 0:
        return graph.space.zeros(graph.num_vertices, np.int32)
    if num_blocks >= graph.num_vertices:
        return iota(graph.space, graph.num_vertices)
    return None
