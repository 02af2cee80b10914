"""Cut, boundary and volume of a partition, the shape of its blocks, and the cost of a mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from portpart import backends
from portpart.backends.communication import sum_over_ranks
from portpart.errors import InputError
from portpart.graphs import Blocks, Graph, GraphLike, Topology, checked_topology, read_only
from portpart.graphs.ranks import RankGraph
from portpart.metrics.balance import block_weights_of
from portpart.metrics.nets import NetsView, net_boundary_of, net_cut_of, view_of
from portpart.metrics.view import PartitionView, on_ranks

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# Cut, boundary and communication volume of a partition -----------------------------------------


class CommunicationVolume(NamedTuple):
    """Total communication volume and that of the busiest block."""

    total: int
    max: int


def cut(graph: GraphLike, part: Blocks) -> int:
    """Return the total weight of the edges between different blocks, each undirected edge once.

    For a hypergraph, the total weight of the nets with pins in several blocks.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  For a RankGraph, all
        ranks make the call, each with the blocks of its vertices.

    Returns
    -------
    int
        Exact.

    Examples
    --------
    >>> from portpart.metrics import cut
    >>> cut([(0, 1), (1, 2), (2, 3), (3, 0)], [0, 0, 1, 1])
    2
    """
    if isinstance(graph, RankGraph):
        return int(on_ranks(graph, part, None, lambda view: sum_over_ranks(
            view.comm, [view.cut_arc_weights.sum()]))[0]) // 2
    view = view_of(graph, part)
    return net_cut_of(view) if isinstance(view, NetsView) else cut_of(view)


def boundary_vertices(graph: GraphLike, part: Blocks) -> np.ndarray:
    """Return the vertices with a neighbour in another block, ascending.

    The pins of a net are neighbours.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  For a RankGraph, all
        ranks make the call, each with the blocks of its vertices.

    Returns
    -------
    numpy.ndarray of int64
        For a RankGraph the vertices of this rank, by their numbers in the whole graph.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.boundary_vertices(path, [0, 0, 1, 1])
    array([1, 2])
    """
    if isinstance(graph, RankGraph):
        return on_ranks(graph, part, None, lambda view: view.first + boundary_of(view))
    view = view_of(graph, part)
    return net_boundary_of(view) if isinstance(view, NetsView) else boundary_of(view)


def communication_volume(graph: GraphLike, part: Blocks,
                         k: int | None = None) -> CommunicationVolume:
    """Return the communication volume: per vertex, the number of other blocks with a neighbour.

    The block of v sends the value of v once to each other block that has a neighbour of v.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, or RankGraph
        A sparse matrix that is not symmetric has the volume ``km1(as_hypergraph(matrix,
        diagonal=True), part)``.
    part : array_like of int, shape (n,), PartitionResult or Session
        For a RankGraph, all ranks make the call, each with the blocks of its vertices.
    k : int, optional
        Number of blocks.

    Returns
    -------
    CommunicationVolume
        ``total`` over all blocks, and ``max``, the amount that the busiest block sends.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(2, 4)
    >>> portpart.metrics.communication_volume(grid, [0, 0, 1, 1, 0, 0, 1, 1])
    CommunicationVolume(total=4, max=2)
    """
    if isinstance(graph, RankGraph):
        sent = on_ranks(graph, part, k, lambda view: sum_over_ranks(view.comm, view.sent))
        return CommunicationVolume(int(sent.sum()), int(sent.max(initial=0)))
    return volume_of(PartitionView(graph, part, k))


def cut_of(view: PartitionView) -> int:
    """Return :func:`cut` of a view."""
    return int(view.cut_arc_weights.sum()) // 2


def boundary_of(view: PartitionView) -> np.ndarray:
    """Return :func:`boundary_vertices` of a view."""
    return np.unique(view.cut_arc_tails)


def volume_of(view: PartitionView) -> CommunicationVolume:
    """Return :func:`communication_volume` of a view."""
    return CommunicationVolume(int(view.sent.sum()), int(view.sent.max(initial=0)))


# The shape of a partition: connected components of its blocks, and the graph of its blocks -----


def components_per_block(graph: GraphLike, part: Blocks, k: int | None = None) -> np.ndarray:
    """Return the number of connected components of each block's induced subgraph, shape (k,).

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    ndarray of int64
        0 for an empty block, 1 for a connected one.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.components_per_block(path, [0, 1, 1, 0])
    array([2, 1])
    """
    return components_of(PartitionView(graph, part, k))


def quotient_graph(graph: GraphLike, part: Blocks, k: int | None = None) -> Graph:
    """Return the graph of the blocks: block weights on vertices, cut between two blocks on edges.

    Blocks that share only edges of weight zero are still neighbours.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    Graph
        On the host.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(2, 4)
    >>> blocks = portpart.metrics.quotient_graph(grid, [0, 0, 1, 1, 0, 0, 1, 1])
    >>> blocks.vertex_weights.tolist(), blocks.to_scipy().toarray().tolist()
    ([4, 4], [[0, 2], [2, 0]])
    """
    return quotient_of(PartitionView(graph, part, k))


def components_of(view: PartitionView) -> np.ndarray:
    """Return :func:`components_per_block` of a view."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(view.part)
    inner = np.ones(len(view.targets), bool)
    inner[view.cut_arcs] = False
    kept_before = np.concatenate([[0], np.cumsum(inner)])
    offsets = kept_before[view.offsets]
    inside = csr_array((np.ones(offsets[-1], np.int8), view.targets[inner], offsets), shape=(n, n))
    count, label = connected_components(inside, directed=False)
    block = np.zeros(count, np.int64)
    block[label] = view.part
    return np.bincount(block, minlength=view.k)


def quotient_of(view: PartitionView) -> Graph:
    """Return :func:`quotient_graph` of a view."""
    pairs = view.part[view.cut_arc_tails] * view.k + view.part[view.cut_arc_heads]
    keys, place = np.unique(pairs, return_inverse=True)
    weights = np.zeros(len(keys), np.int64)
    np.add.at(weights, place, view.cut_arc_weights)
    offsets = np.searchsorted(keys, np.arange(view.k + 1) * view.k).astype(np.int32)
    targets = (keys % max(1, view.k)).astype(np.int32)
    quotient = Graph(offsets, targets, weights, block_weights_of(view), backends.space("cpu"))
    read_only(quotient.arrays.values())
    return quotient


# The cost of a mapping of processes to processing elements -------------------------------------


def mapping_cost(graph: GraphLike, part: Blocks, topology: Topology) -> int:
    """Return the communication cost J: the sum over all edges of weight times distance.

    Each edge counts once.

    Papers on process mapping that count both directions of an edge have twice this value.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`
    part : array_like of int, shape (n,), MappingResult or Session
        Processing element of each vertex; device arrays are copied to the host.
    topology : Topology

    Returns
    -------
    int
        Exact. A value above 64 bits is an error.

    Examples
    --------
    >>> import portpart
    >>> from portpart.metrics import mapping_cost
    >>> machine = portpart.Topology("2:2", "1:10")
    >>> mapping_cost([(0, 1), (1, 2), (2, 3), (3, 0)], [0, 1, 2, 3], machine)
    22
    """
    return int(sum(level_costs(graph, part, topology).tolist()))


def level_costs(graph: GraphLike, part: Blocks, topology: Topology) -> np.ndarray:
    """Return J by the innermost level that the ends of an edge share; its sum is `mapping_cost`.

    Parameters
    ----------
    graph, part, topology
        As in :func:`mapping_cost`.

    Returns
    -------
    numpy.ndarray of int64, shape (number of levels,)
        One entry if the topology is a matrix.

    Examples
    --------
    >>> import portpart
    >>> machine = portpart.Topology("2:2", "1:10")
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.level_costs(path, [0, 1, 2, 3], machine)
    array([ 2, 10])
    """
    view = PartitionView(graph, part, checked_topology(topology).num_elements)
    return level_costs_of(topology, view.part[view.cut_arc_tails], view.part[view.cut_arc_heads],
                          view.cut_arc_weights)


def level_costs_of(topology: Topology, here: np.ndarray, there: np.ndarray,
                   weights: np.ndarray) -> np.ndarray:
    """Return :func:`level_costs` of arcs between elements, with both directions of each edge."""
    if topology.is_hierarchy:
        group, distances = topology.level(here, there), [0, *topology.level_distances]
    else:
        distinct, group = np.unique(topology.distance(here, there), return_inverse=True)
        distances = distinct.tolist()
    sums = np.zeros(len(distances), np.int64)
    np.add.at(sums, group, weights)
    costs = [weight // 2 * distance for weight, distance in zip(sums.tolist(), distances)]
    costs = costs[1:] if topology.is_hierarchy else [sum(costs)]
    if sum(costs) >= 2**63:
        raise InputError(f"edges that weigh {int(weights.sum()) // 2} between elements at "
                         f"distances of up to {topology.max_distance} cost more than 64 bits hold")
    return np.array(costs, np.int64)


def cost_facts(costs: np.ndarray) -> dict[str, int | str]:
    """Return the communication cost and its parts by level, for display."""
    levels = " + ".join(f"{cost:,}" for cost in costs.tolist())
    return {"communication cost": int(costs.sum()), "cost by level": levels}


def traffic_matrix(graph: GraphLike, part: Blocks, k: int | None = None) -> csr_array:
    """Return the weight of the edges between each pair of processing elements.

    Parameters
    ----------
    graph, part
        As in :func:`mapping_cost`.
    k : int, optional
        Number of elements; default: the largest one in `part` plus one.

    Returns
    -------
    scipy.sparse.csr_array of int64, shape (k, k)
        Symmetric, with an empty diagonal: an edge counts in both entries of its pair.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.traffic_matrix(path, [0, 1, 1, 0]).toarray()
    array([[0, 2],
           [2, 0]])
    """
    from scipy.sparse import coo_array

    view = PartitionView(graph, part, k)
    pairs = view.part[view.cut_arc_tails], view.part[view.cut_arc_heads]
    matrix = coo_array((view.cut_arc_weights, pairs), shape=(view.k, view.k)).tocsr()
    matrix.sort_indices()
    return matrix
