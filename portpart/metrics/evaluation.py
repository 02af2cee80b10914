"""All metrics of one partition in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from portpart.graphs.hypergraph import Hypergraph
from portpart.metrics.balance import block_weights_of
from portpart.metrics.net_evaluation import HypergraphEvaluation, evaluated_nets
from portpart.metrics.nets import NetsView, view_of
from portpart.metrics.quality import boundary_of, cut_of, volume_of
from portpart.metrics.report import Report, of_weights
from portpart.metrics.structure import components_of, quotient_of


@dataclass(frozen=True, kw_only=True)
class Evaluation(Report):
    """What a partition is worth; made by :func:`evaluate`, prints readably.

    Attributes
    ----------
    num_vertices, num_edges, k : int
    cut : int
        Weight of the edges between blocks, each once.
    imbalance : float
        Heaviest block over ``ceil(W / k)``, less one; with a target the largest of the blocks'
        weights over their targets, less one.
    block_weights : ndarray of int64, shape (k,)
    max_block_weight, min_block_weight : int
    boundary : int
        Number of vertices with a neighbour in another block.
    communication_volume, max_communication_volume : int
        In total, and of the busiest block.
    components : ndarray of int64, shape (k,)
        Connected components of each block.
    neighbour_pairs : int
        Pairs of blocks with an edge between them.
    target : array_like, optional
        What the evaluation was made with.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> evaluation = portpart.metrics.evaluate(path, [0, 0, 1, 1], 2)
    >>> evaluation.cut, evaluation.boundary, evaluation.components.tolist()
    (1, 2, [1, 1])
    """

    num_edges: int
    communication_volume: int
    max_communication_volume: int
    components: np.ndarray
    neighbour_pairs: int

    @property
    def disconnected_blocks(self) -> int:
        """Number of blocks with more than one component."""
        return int((self.components > 1).sum())

    @property
    def empty_blocks(self) -> int:
        """Number of blocks without a vertex."""
        return int((self.components == 0).sum())


@overload
def evaluate(graph: Hypergraph, part: Any, k: int | None = None,
             target: Any = None) -> HypergraphEvaluation: ...
@overload
def evaluate(graph: Any, part: Any, k: int | None = None, target: Any = None) -> Evaluation: ...
def evaluate(graph: Any, part: Any, k: int | None = None,
             target: Any = None) -> Evaluation | HypergraphEvaluation:
    """Compute every metric of a partition.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes, or Hypergraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex, 0 ... k - 1; device arrays are copied to the host.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    target : array_like, shape (k,), optional
        Shares that the blocks are meant to have, as in :func:`portpart.partition`.

    Returns
    -------
    Evaluation
        Of a hypergraph a `HypergraphEvaluation`, with cut, km1 and soed.

    Raises
    ------
    InputError
        If `part` does not fit the graph or names a block outside 0 ... k - 1.

    Examples
    --------
    >>> from portpart.metrics import evaluate
    >>> result = evaluate([(0, 1), (1, 2), (2, 3), (3, 0)], [0, 0, 1, 1])
    >>> result.cut, result.imbalance, result.boundary
    (2, 0.0, 4)
    """
    view = view_of(graph, part, k)
    if isinstance(view, NetsView):
        return evaluated_nets(view, target)
    volume = volume_of(view)
    return Evaluation(
        num_vertices=view.graph.num_vertices,
        num_edges=view.graph.num_edges,
        k=view.k,
        cut=cut_of(view),
        boundary=len(boundary_of(view)),
        communication_volume=volume.total,
        max_communication_volume=volume.max,
        components=components_of(view),
        neighbour_pairs=quotient_of(view).num_edges,
        **of_weights(block_weights_of(view), target),
    )
