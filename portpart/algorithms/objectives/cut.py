"""The cut: every edge between two blocks costs its weight."""

from __future__ import annotations

from portpart.algorithms.objectives import objective
from portpart.algorithms.objectives.connectivity import (
    CAPACITY,
    COUNTED,
    MAX_PAIRWISE,
    SLOTS,
    in_table,
    pairwise,
)
from portpart.backends import language as kl

COUNTING_TEAM = 32
"""Number of lanes that count the neighbours of a vertex in scratch memory."""

HUB_TEAM = 256
"""Number of lanes for a hub, a vertex with too many arcs for the lanes of other vertices."""

PAIRWISE_BYTES = 14 * 1024
"""Maximum scratch memory that blocks and weights of neighbours take in a thread block.

This is for counters of 32 bits; those of 64 bits get a quarter of it.
"""

ONE_LANE_PAIRWISE = 8
"""Maximum number of neighbours that one lane compares with each other.

It counts more neighbours in two rounds.
"""

PAIRWISE_DEGREE = 8
"""Neighbours are compared up to this mean degree.

The more neighbours there are, the more blocks they share, and a hash table has each block once.
"""

MAX_IN_TABLE = 48
"""Maximum number of neighbours whose blocks are put into a table of `SLOTS` slots."""


@kl.device
def one_distance(a, b, tables: objective.Tables):
    """Return 1 for two different blocks, else 0."""
    return kl.int64(a != b)


@kl.device
def mean_of_admitted(found: objective.BestTarget, tables: objective.Tables):
    """Return the mean value of the admitted blocks that v is connected to (Jet, equation 4.10)."""
    result = kl.int64(0)
    if found.admitted > 0:
        result = found.total // found.admitted
    return result


def value_of_low_degree(max_degree: int) -> objective.BlockScore:
    """Return the score for vertices with at most this many neighbours."""
    connectivity = in_table(SLOTS) if max_degree > MAX_PAIRWISE else pairwise(max(1, max_degree))
    return objective.BlockScore(connectivity)


def low_degree_limit(shape: objective.Shape) -> int:
    """Return the maximum degree of a vertex whose weights into all blocks are not counted.

    A single lane always counts, unless that takes several rounds: -1, even if there are no
    neighbours.
    """
    size = PAIRWISE_BYTES if shape.counter is kl.int32 else PAIRWISE_BYTES // 4
    entry_bytes = 4 + (4 if shape.counter is kl.int32 else 8)
    max_degree = min(MAX_PAIRWISE, size // (HUB_TEAM // shape.team * entry_bytes))
    if shape.widest_team == 1:
        return min(ONE_LANE_PAIRWISE, max_degree) if shape.num_blocks > CAPACITY else -1
    if shape.team > 1 and shape.counter is kl.int32 and shape.mean_degree > PAIRWISE_DEGREE:
        return MAX_IN_TABLE
    return max_degree


CUT = objective.Objective(
    objective.Rules("cut", one_distance, True, mean_of_admitted, value_of_low_degree,
                    objective.BlockScore(COUNTED), COUNTING_TEAM),
    tables=objective.Tables(max_distance=1), low_degree_limit=low_degree_limit, wide_degree=32,
)
"""The weight of the edges between blocks."""
