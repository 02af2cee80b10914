"""Metrics of partitions of hypergraphs, from the number of blocks that nets span."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from portpart.graphs import Blocks, GraphLike, Hypergraph, blocks_of
from portpart.inputs import as_hypergraph
from portpart.metrics.view import PartitionView


class NetsView:
    """Host arrays of a hypergraph and a partition, like `PartitionView` for a graph."""

    def __init__(self, hypergraph: GraphLike, part: Blocks, k: int | None = None) -> None:
        self.hypergraph = as_hypergraph(hypergraph)
        self.part, self.k = blocks_of(part, self.hypergraph.num_vertices, k, self.hypergraph.names)
        to_host = self.hypergraph.space.to_host
        self.sizes = np.diff(to_host(self.hypergraph.net_offsets)).astype(np.int64)
        self.pins: np.ndarray = to_host(self.hypergraph.net_pins)

    @cached_property
    def vertex_weights(self) -> np.ndarray | None:
        """Weights of the vertices, None if all are one."""
        weights = self.hypergraph.vertex_weights
        return None if weights is None else self.hypergraph.space.to_host(weights)

    @cached_property
    def net_weights(self) -> np.ndarray:
        """Weights of the nets, as int64."""
        weights = self.hypergraph.net_weights
        if weights is None:
            return np.ones(len(self.sizes), np.int64)
        return self.hypergraph.space.to_host(weights).astype(np.int64)

    @cached_property
    def nets(self) -> np.ndarray:
        """The net of each pin."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def connectivity(self) -> np.ndarray:
        """The number of blocks that each net spans."""
        k = max(1, self.k)
        pairs = np.unique(self.nets * k + self.part[self.pins])
        return np.bincount(pairs // k, minlength=len(self.sizes))

    def weighted(self, counts: np.ndarray) -> int:
        """Return the sum of `counts` times net weights, exact beyond 64 bits."""
        high, low = self.net_weights >> 32, self.net_weights & 0xFFFFFFFF
        return (int((high * counts).sum()) << 32) + int((low * counts).sum())


def view_of(graph: GraphLike, part: Blocks, k: int | None = None) -> PartitionView | NetsView:
    """Return the view of a hypergraph, or of any other input as a graph."""
    if isinstance(graph, Hypergraph):
        return NetsView(graph, part, k)
    return PartitionView(graph, part, k)


def km1(hypergraph: GraphLike, part: Blocks) -> int:
    """Return the sum over all nets of weight times (number of blocks - 1).

    Parameters
    ----------
    hypergraph : Hypergraph or any other input of `as_hypergraph`
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.

    Returns
    -------
    int
        Exact.

    Examples
    --------
    >>> from portpart.metrics import km1, soed
    >>> nets = [[0, 1, 2], [2, 3], [0, 3]]
    >>> km1(nets, [0, 1, 2, 2]), soed(nets, [0, 1, 2, 2])
    (3, 5)
    """
    return km1_of(NetsView(hypergraph, part))


def soed(hypergraph: GraphLike, part: Blocks) -> int:
    """Return the sum of weight times number of blocks over the nets in several blocks.

    This sum of external degrees is cut plus :func:`km1`.

    Parameters
    ----------
    hypergraph : Hypergraph or any other input of `as_hypergraph`
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.

    Returns
    -------
    int
        Exact.

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    >>> portpart.metrics.soed(nets, [0, 0, 1, 1])
    2
    """
    return soed_of(NetsView(hypergraph, part))


def connectivity_histogram(hypergraph: GraphLike, part: Blocks, k: int | None = None) -> np.ndarray:
    """Return the number of nets with pins in 0, 1 ... k blocks, int64, shape (k + 1,).

    Parameters
    ----------
    hypergraph, part
        As in :func:`km1`.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    numpy.ndarray of int64, shape (k + 1,)

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    >>> portpart.metrics.connectivity_histogram(nets, [0, 0, 1, 1])
    array([0, 1, 1])
    """
    return histogram_of(NetsView(hypergraph, part, k))


def absorption(hypergraph: GraphLike, part: Blocks) -> float:
    """Return the absorption: the sum of weight times ``(s - λ) / (s - 1)`` over nets.

    The sum is over all nets with s > 1 pins, in λ blocks. A net in one block counts its weight,
    other nets count less.

    Parameters
    ----------
    hypergraph : Hypergraph or any other input of `as_hypergraph`
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.

    Returns
    -------
    float

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    >>> portpart.metrics.absorption(nets, [0, 0, 1, 1])
    1.5
    """
    return absorption_of(NetsView(hypergraph, part))


def net_cut_of(view: NetsView) -> int:
    """Return the weight of the nets in several blocks."""
    return view.weighted(view.connectivity > 1)


def km1_of(view: NetsView) -> int:
    """Return :func:`km1` of a view."""
    return view.weighted(np.maximum(view.connectivity - 1, 0))


def soed_of(view: NetsView) -> int:
    """Return :func:`soed` of a view."""
    return view.weighted(np.where(view.connectivity > 1, view.connectivity, 0))


def histogram_of(view: NetsView) -> np.ndarray:
    """Return :func:`connectivity_histogram` of a view."""
    return np.bincount(view.connectivity, minlength=view.k + 1).astype(np.int64)


def absorption_of(view: NetsView) -> float:
    """Return :func:`absorption` of a view."""
    real = view.sizes > 1
    inside = view.sizes[real] - view.connectivity[real]
    return math.fsum(view.net_weights[real] * (inside / (view.sizes[real] - 1)))


def net_boundary_of(view: NetsView) -> np.ndarray:
    """Return the vertices on a net in several blocks, ascending."""
    return np.unique(view.pins[view.connectivity[view.nets] > 1])
