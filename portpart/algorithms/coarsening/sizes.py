"""What the work arrays of coarsening are as long as."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.primitives.scan import tiles_of

ANY_DEGREE = 2**31


class FineSizes(NamedTuple):
    """A graph that is coarsened, and the most clusters that it may have.

    Attributes
    ----------
    vertices, arcs, clusters : int
    sum_type : dtype
        Of sums of arc weights.
    index_type : dtype
        Of offsets.
    max_degree : int
        No vertex has more arcs.
    slots : int or None
        Of hash rows in main memory; None if one for each arc has to do.
    """

    vertices: int
    arcs: int = 0
    clusters: int = 0
    sum_type: np.dtype[Any] = np.dtype(np.int32)
    index_type: np.dtype[Any] = np.dtype(np.int32)
    max_degree: int = ANY_DEGREE
    slots: int | None = None


class FineNetSizes(NamedTuple):
    """A hypergraph that is coarsened.

    Attributes
    ----------
    vertices, nets, pins : int
    sum_type : dtype
        Of sums of net weights.
    index_type : dtype
        Of offsets.
    """

    vertices: int
    nets: int
    pins: int
    sum_type: np.dtype[Any]
    index_type: np.dtype[Any]

    @classmethod
    def of(cls, hypergraph: Hypergraph) -> FineNetSizes:
        """The sizes of a hypergraph."""
        return cls(hypergraph.num_vertices, hypergraph.num_nets, hypergraph.num_pins,
                   hypergraph.weight_sum_dtype, hypergraph.net_offsets.dtype)


def sizes_of(graph: Graph, max_clusters: int | None = None,
             sum_type: np.dtype[Any] | None = None) -> FineSizes:
    """The sizes of a graph; by default each vertex may be a cluster."""
    n = graph.num_vertices
    return FineSizes(n, graph.num_arcs, n if max_clusters is None else max_clusters,
                     graph.whole.weight_sum_dtype if sum_type is None else sum_type,
                     graph.offsets.dtype)


def of_vertices(sizes: FineSizes) -> int:
    """An element for each vertex."""
    return sizes.vertices


def of_arcs(sizes: FineSizes) -> int:
    """An element for each arc."""
    return sizes.arcs


def of_nets(sizes: FineNetSizes) -> int:
    """An element for each net."""
    return sizes.nets


def of_pins(sizes: FineNetSizes) -> int:
    """An element for each pin."""
    return sizes.pins


def of_clusters(sizes: FineSizes) -> int:
    """An element for each cluster."""
    return sizes.clusters


def of_cluster_tiles(sizes: FineSizes) -> int:
    """An element for each tile of clusters."""
    return tiles_of(sizes.clusters)


def around_clusters(sizes: FineSizes) -> int:
    """An element for each cluster, and one for the end of the last one."""
    return sizes.clusters + 1


def sum_type(sizes: FineSizes | FineNetSizes) -> np.dtype[Any]:
    """The type of sums of weights of arcs or nets."""
    return sizes.sum_type


def index_type(sizes: FineSizes | FineNetSizes) -> np.dtype[Any]:
    """The type of offsets."""
    return sizes.index_type
