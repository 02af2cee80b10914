"""Plain answers, from definitions: whatever judges a result shares no code with portpart.

Of portpart these files know the class `Graph`, whose arrays they read, and nothing else.
"""

from __future__ import annotations

from tests.oracles.balance import (
    block_weight_limit,
    block_weight_limits,
    can_be_packed,
    imbalance_of,
    is_balanced,
    number,
    target_weights,
)
from tests.oracles.graphs import (
    arcs,
    assert_same_graph,
    assert_valid_graph,
    host,
    merged_undirected,
    vertex_weights,
)
from tests.oracles.hashing import hash_of_pair, mixed
from tests.oracles.partitions import (
    block_weights,
    boundary,
    communication_volumes,
    components_per_block,
    cut,
    quotient,
)
from tests.oracles.results import assert_partition_is_true

__all__ = [
    "arcs",
    "assert_partition_is_true",
    "assert_same_graph",
    "assert_valid_graph",
    "block_weight_limit",
    "block_weight_limits",
    "block_weights",
    "boundary",
    "can_be_packed",
    "communication_volumes",
    "components_per_block",
    "cut",
    "hash_of_pair",
    "host",
    "imbalance_of",
    "is_balanced",
    "merged_undirected",
    "mixed",
    "number",
    "quotient",
    "target_weights",
    "vertex_weights",
]
