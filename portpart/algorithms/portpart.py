"""The library's own recipe: clusters, several starts, Jet refinement, cycles."""

from __future__ import annotations

from dataclasses import dataclass, field

from portpart.algorithms.coarsening.clustering import ClusteringOptions, cluster
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.multilevel import MultilevelConfig, partition_multilevel
from portpart.algorithms.refinement.balance import Balance
from portpart.algorithms.refinement.jet_refinement import RefinementOptions
from portpart.algorithms.request import NOTHING_MORE, Request
from portpart.algorithms.tracing import Trace
from portpart.backends.interface import Array
from portpart.graph import Graph


@dataclass(frozen=True)
class PortpartConfig(MultilevelConfig):
    """Parameters."""

    shrink: float = 8
    overshoot: float = 1.5
    clustering: ClusteringOptions = field(default_factory=ClusteringOptions)


PRESETS = {
    "fast": PortpartConfig(starts=1, refinement=RefinementOptions(tolerance=0.99)),
    "default": PortpartConfig(),
}


def portpart(graph: Graph, balance: Balance, imbalance: float, config: PortpartConfig, seed: int,
             trace: Trace, request: Request = NOTHING_MORE) -> Array:
    """Partition `graph`."""
    stop_at = config.coarsest_vertices(balance.num_blocks)
    total = graph.total_vertex_weight
    highest = min(balance.cluster_limit(stop_at), int(config.overshoot * total / stop_at))
    turn = [0]

    def find_clusters(fine: Graph, depth: int, label: Array | None) -> Clusters:
        turn[0] += 1
        limit = min(int(config.shrink * total / fine.num_vertices), highest)
        return cluster(fine.space, fine, limit, (seed + turn[0]) % 2**63, config.clustering, label)

    return partition_multilevel(graph, balance, imbalance, config, find_clusters, seed, trace,
                                request)
