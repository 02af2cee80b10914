"""What a partition is worth, computed plainly on the host with NumPy and SciPy.

Nothing here uses the algorithms.  Graphs, hypergraphs and part arrays on a GPU are copied to the
host first.
"""

from __future__ import annotations

from portpart.metrics.balance import (
    block_weight_limit,
    block_weight_limits,
    block_weights,
    imbalance,
    is_balanced,
    max_block_weight,
    target_weights,
)
from portpart.metrics.evaluation import Evaluation, evaluate
from portpart.metrics.mapping import level_costs, mapping_cost, traffic_matrix
from portpart.metrics.net_evaluation import HypergraphEvaluation
from portpart.metrics.nets import absorption, connectivity_histogram, km1, soed
from portpart.metrics.quality import boundary_vertices, communication_volume, cut
from portpart.metrics.structure import components_per_block, quotient_graph

__all__ = [
    "Evaluation",
    "HypergraphEvaluation",
    "absorption",
    "block_weight_limit",
    "block_weight_limits",
    "block_weights",
    "boundary_vertices",
    "communication_volume",
    "components_per_block",
    "connectivity_histogram",
    "cut",
    "evaluate",
    "imbalance",
    "is_balanced",
    "km1",
    "level_costs",
    "mapping_cost",
    "max_block_weight",
    "quotient_graph",
    "soed",
    "target_weights",
    "traffic_matrix",
]
