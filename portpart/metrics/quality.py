"""Cut, boundary and communication volume of a partition."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from portpart.backends.communication.calls import sum_over_ranks
from portpart.graphs.rank_graph import RankGraph
from portpart.metrics.nets import NetsView, net_boundary_of, net_cut_of, view_of
from portpart.metrics.ranks import boundary_of_rank, cut_of_ranks, on_ranks
from portpart.metrics.view import PartitionView


class CommunicationVolume(NamedTuple):
    """Total communication volume and that of the busiest block."""

    total: int
    max: int


def cut(graph: Any, part: Any) -> int:
    """Total weight of the edges between different blocks, each undirected edge once.

    Of a hypergraph the total weight of the nets with pins in several blocks.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  Of a RankGraph, for which all
        ranks make the call, the blocks of the rank's vertices.

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
        return on_ranks(graph, part, None, cut_of_ranks)
    view = view_of(graph, part)
    return net_cut_of(view) if isinstance(view, NetsView) else cut_of(view)


def boundary_vertices(graph: Any, part: Any) -> np.ndarray:
    """Vertices with a neighbour in another block, ascending; a net makes its pins neighbours.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  Of a RankGraph, for which all
        ranks make the call, the blocks of the rank's vertices.

    Returns
    -------
    numpy.ndarray of int64
        Of a RankGraph those of this rank, by their numbers in the whole graph.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.boundary_vertices(path, [0, 0, 1, 1])
    array([1, 2])
    """
    if isinstance(graph, RankGraph):
        return on_ranks(graph, part, None, boundary_of_rank)
    view = view_of(graph, part)
    return net_boundary_of(view) if isinstance(view, NetsView) else boundary_of(view)


def communication_volume(graph: Any, part: Any, k: int | None = None) -> CommunicationVolume:
    """Number of (vertex, foreign block that holds a neighbour of it) pairs.

    A block that owns v sends v's value once to each foreign block with a neighbour of v.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes, or RankGraph
        A sparse matrix that is not symmetric has the volume ``km1(as_hypergraph(matrix,
        diagonal=True), part)``.
    part : array_like of int, shape (n,), PartitionResult or Session
        Of a RankGraph, for which all ranks make the call, the blocks of the rank's vertices.
    k : int, optional
        Number of blocks.

    Returns
    -------
    CommunicationVolume
        ``total`` over all blocks and ``max``, what the busiest block sends.

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
    """:func:`cut` of a view."""
    return int(view.cut_arc_weights.sum()) // 2


def boundary_of(view: PartitionView) -> np.ndarray:
    """:func:`boundary_vertices` of a view."""
    return np.unique(view.cut_arc_tails)


def volume_of(view: PartitionView) -> CommunicationVolume:
    """:func:`communication_volume` of a view."""
    return CommunicationVolume(int(view.sent.sum()), int(view.sent.max(initial=0)))
