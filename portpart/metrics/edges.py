"""Metrics of partitions of the edges of a graph: copies of vertices, and loads of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from portpart.errors import InputError
from portpart.graphs import Blocks, GraphLike, Hypergraph, Numbers, blocks_of
from portpart.inputs import as_graph
from portpart.metrics.evaluation import Report, of_weights


class EdgesView:
    """Host arrays of a graph and a partition of its edges.

    Raises
    ------
    InputError
        If `part` has the wrong length or type, or a block outside 0 ... k - 1.
    """

    def __init__(self, graph: GraphLike, part: Blocks, k: int | None = None) -> None:
        if isinstance(graph, Hypergraph):
            raise InputError("this metric is for partitions of the edges of a graph; those of a "
                             "hypergraph's vertices have km1")
        if isinstance(part, Mapping):
            raise InputError("part is a mapping; the blocks of edges are an array in the order of "
                             "the edges")
        self.graph = as_graph(graph, copy=False)
        self.part, self.k = blocks_of(part, self.graph.num_edges, k, items="edges")
        offsets, targets = map(self.graph.space.to_host, (self.graph.offsets, self.graph.targets))
        tails = np.repeat(np.arange(self.graph.num_vertices), np.diff(offsets))
        self.edge_arcs = np.flatnonzero(tails < targets)
        self.ends = np.concatenate([tails[self.edge_arcs], targets[self.edge_arcs]])

    @cached_property
    def pairs(self) -> np.ndarray:
        """Each copy of a vertex once: the number of the vertex times k plus the block."""
        return np.unique(self.ends * max(1, self.k) + np.concatenate([self.part, self.part]))

    @cached_property
    def copies(self) -> np.ndarray:
        """:func:`vertex_copies`."""
        return np.bincount(self.pairs // max(1, self.k), minlength=self.graph.num_vertices)

    @property
    def factor(self) -> float:
        """:func:`replication_factor`."""
        return len(self.pairs) / max(1, int((self.copies > 0).sum())) if len(self.pairs) else 1.0

    @property
    def block_vertices(self) -> np.ndarray:
        """Number of copies in each block."""
        return np.bincount(self.pairs % max(1, self.k), minlength=self.k)

    @property
    def loads(self) -> np.ndarray:
        """Weight of the edges of each block."""
        found, weights = np.zeros(self.k, np.int64), self.graph.weights
        np.add.at(found, self.part, 1 if weights is None
                  else self.graph.space.to_host(weights)[self.edge_arcs])
        return found

    def weight_of(self, counts: np.ndarray) -> int:
        """Return the sum of `counts` times vertex weights, exact beyond 64 bits."""
        weights = self.graph.vertex_weights
        if weights is None:
            return int(counts.sum())
        kept = counts > 0
        owns = self.graph.space.to_host(weights)[kept].tolist()
        return sum(own * count for own, count in zip(owns, counts[kept].tolist()))


def vertex_copies(graph: GraphLike, part: Blocks, k: int | None = None) -> np.ndarray:
    """Return the number of copies of each vertex, one in each block that has an edge of it.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`
    part : array_like of int, shape (m,), or EdgePartitionResult
        Block of each edge, in the order of :func:`portpart.partition_edges`.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        0 for a vertex without edges.

    Examples
    --------
    >>> from portpart.metrics import vertex_copies
    >>> vertex_copies([(0, 1), (0, 2), (1, 2), (2, 3)], [0, 1, 1, 1])
    array([2, 2, 1, 1])
    """
    return EdgesView(graph, part, k).copies


def replication_factor(graph: GraphLike, part: Blocks) -> float:
    """Return the number of copies of vertices, divided by the number of vertices with an edge.

    Parameters
    ----------
    graph, part
        As in :func:`vertex_copies`.

    Returns
    -------
    float
        At least 1; 1 without edges.

    Examples
    --------
    >>> from portpart.metrics import replication_factor
    >>> replication_factor([(0, 1), (0, 2), (0, 3), (0, 4)], [0, 0, 1, 1])
    1.2
    """
    return EdgesView(graph, part).factor


@dataclass(frozen=True, kw_only=True)
class EdgeEvaluation(Report):
    """Metrics of a partition of edges, the result of :func:`evaluate_edges`.

    Attributes
    ----------
    num_vertices, num_edges, k : int
    replication_factor : float
        As returned by :func:`replication_factor`.
    copies, max_copies : int
        Copies of all vertices, and most copies of a vertex.
    cut, km1 : int
        Weight of the vertices with several copies, and of all copies but the first of each.
    imbalance : float
        Weight of the heaviest block divided by ``ceil(W / k)``, minus one; with a target the
        largest ``weight_b / ceil(target_b) - 1``.
    block_weights : ndarray of int64, shape (k,)
        Weight of the edges of each block.
    max_block_weight, min_block_weight : int
    block_vertices : ndarray of int64, shape (k,)
        Number of vertices that have a copy in each block.
    empty_blocks : int
        Number of blocks without an edge.
    boundary : int
        Number of vertices with several copies.
    target : array_like, optional
        The `target` of the evaluation.

    Examples
    --------
    >>> import portpart
    >>> evaluation = portpart.metrics.evaluate_edges([(0, 1), (0, 2), (0, 3), (0, 4)], [0, 0, 1, 1])
    >>> evaluation.copies, evaluation.block_vertices.tolist(), evaluation.km1
    (6, [3, 3], 1)
    """

    num_edges: int
    replication_factor: float
    copies: int
    max_copies: int
    km1: int
    block_vertices: np.ndarray

    @property
    def empty_blocks(self) -> int:
        """Number of blocks without an edge."""
        return int((self.block_vertices == 0).sum())


def evaluate_edges(graph: GraphLike, part: Blocks, k: int | None = None,
                   target: Numbers | None = None) -> EdgeEvaluation:
    """Compute every metric of a partition of edges.

    Parameters
    ----------
    graph, part, k
        As in :func:`vertex_copies`.
    target : array_like, shape (k,), optional
        Target shares of the blocks, as in :func:`portpart.partition_edges`.

    Returns
    -------
    EdgeEvaluation

    Raises
    ------
    InputError
        If `part` does not fit the graph or has a block outside 0 ... k - 1.

    Examples
    --------
    >>> from portpart.metrics import evaluate_edges
    >>> evaluate_edges([(0, 1), (1, 2), (2, 3), (3, 0)], [0, 0, 1, 1]).replication_factor
    1.5
    """
    view = EdgesView(graph, part, k)
    return EdgeEvaluation(
        num_vertices=view.graph.num_vertices,
        num_edges=view.graph.num_edges,
        k=view.k,
        replication_factor=view.factor,
        copies=len(view.pairs),
        max_copies=int(view.copies.max(initial=0)),
        cut=view.weight_of((view.copies > 1).astype(np.int64)),
        km1=view.weight_of(np.maximum(view.copies - 1, 0)),
        boundary=int((view.copies > 1).sum()),
        block_vertices=view.block_vertices,
        **of_weights(view.loads, target),
    )
