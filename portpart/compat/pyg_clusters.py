"""`ClusterData` with given blocks, in the only file that imports PyTorch Geometric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch_geometric.loader import ClusterData

if TYPE_CHECKING:
    from torch_geometric.data import Data


class GivenClusters(ClusterData):
    """`ClusterData` with given blocks; PyTorch Geometric does the rest."""

    def __init__(self, data: Data, blocks: Tensor, num_parts: int, **options: Any) -> None:
        self._blocks = blocks
        super().__init__(data, num_parts, log=False, **options)

    def _metis(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        return self._blocks

    def __repr__(self) -> str:
        return f"ClusterData({self.num_parts})"


def clusters_of(data: Data, blocks: Tensor, num_parts: int, keep_inter_cluster_edges: bool,
                sparse_format: str) -> ClusterData:
    """Return the clusters of `data` with the nodes of each of `num_parts` blocks."""
    if not hasattr(ClusterData, "_metis"):
        raise ImportError("ClusterData takes blocks in PyTorch Geometric 2.4 and newer")
    return GivenClusters(data, blocks, num_parts, sparse_format=sparse_format,
                         keep_inter_cluster_edges=keep_inter_cluster_edges)
