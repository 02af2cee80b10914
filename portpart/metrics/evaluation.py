"""All metrics of one partition of a graph or a hypergraph in one value."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np

from portpart.graphs import Blocks, Hypergraph, Numbers, aligned, table
from portpart.metrics import nets
from portpart.metrics.balance import block_weights_of, imbalance_of, keeps_limits
from portpart.metrics.quality import boundary_of, components_of, cut_of, quotient_of, volume_of
from portpart.options import WrittenNumber

# Common metrics of graphs and hypergraphs, and the names of all metrics


FACTS = {
    "vertices": "num_vertices",
    "edges": "num_edges",
    "nets": "num_nets",
    "pins": "num_pins",
    "blocks": "k",
    "empty blocks": "empty_blocks",
    "disconnected blocks": "disconnected_blocks",
    "replication factor": "replication_factor",
    "copies of vertices": "copies",
    "most copies of a vertex": "max_copies",
    "cut": "cut",
    "km1": "km1",
    "soed": "soed",
    "absorption": "absorption",
    "communication volume": "communication_volume",
    "largest volume of a block": "max_communication_volume",
    "pairs of neighbouring blocks": "neighbour_pairs",
    "imbalance": "imbalance",
    "heaviest block": "max_block_weight",
    "lightest block": "min_block_weight",
    "boundary vertices": "boundary",
}
"""The displayed names of numbers, and the attributes that hold them."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Common metrics of partitions of graphs and hypergraphs."""

    num_vertices: int
    k: int
    cut: int
    imbalance: float
    block_weights: np.ndarray
    max_block_weight: int
    min_block_weight: int
    boundary: int
    target: Numbers | None = None

    def facts(self) -> dict[str, int | float]:
        """Every number by its name, as in print, in notebooks and on pages."""
        return {name: getattr(self, field) for name, field in FACTS.items() if hasattr(self, field)}

    def __str__(self) -> str:
        return aligned(self.facts())

    def _repr_html_(self) -> str:
        return table(type(self).__name__, self.facts().items())

    def is_balanced(self, imbalance: WrittenNumber = 0.03) -> bool:
        """Whether no block is above its limit for `imbalance` (exact)."""
        return keeps_limits(self.block_weights, imbalance, self.target)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields but `target` as plain Python values (arrays become lists), for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items() if name != "target"
        }


def of_weights(weights: np.ndarray, target: Numbers | None) -> dict[str, Any]:
    """Return the metrics that follow from block weights."""
    return {
        "imbalance": imbalance_of(weights, target),
        "block_weights": weights,
        "max_block_weight": int(weights.max(initial=0)),
        "min_block_weight": int(weights.min()) if len(weights) else 0,
        "target": target,
    }


# All metrics of one partition of a hypergraph in one value -------------------------------------


@dataclass(frozen=True, kw_only=True)
class HypergraphEvaluation(Report):
    """Metrics of a partition of a hypergraph, the result of :func:`evaluate`.

    Attributes
    ----------
    num_vertices, num_nets, num_pins, k : int
    cut : int
        Weight of the nets in several blocks.
    km1, soed : int
        Sum of weight times (blocks - 1), and of weight times blocks, over the nets in several
        blocks.
    imbalance : float
        Weight of the heaviest block divided by ``ceil(W / k)``, minus one; with a target the
        largest ``weight_b / ceil(target_b) - 1``.
    block_weights : ndarray of int64, shape (k,)
    max_block_weight, min_block_weight : int
    empty_blocks : int
        Number of blocks without a vertex.
    boundary : int
        Number of vertices on a net in several blocks.
    absorption : float
        As returned by :func:`absorption`.
    connectivity : ndarray of int64, shape (k + 1,)
        Number of nets with pins in 0, 1 ... k blocks.
    target : array_like, optional
        The `target` of the evaluation.

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    >>> evaluation = portpart.metrics.evaluate(nets, [0, 0, 1, 1], 2)
    >>> evaluation.cut, evaluation.km1, evaluation.soed
    (1, 1, 2)
    """

    num_nets: int
    num_pins: int
    km1: int
    soed: int
    empty_blocks: int
    absorption: float
    connectivity: np.ndarray


def evaluated_nets(view: nets.NetsView, target: Numbers | None) -> HypergraphEvaluation:
    """Return every metric of a view."""
    return HypergraphEvaluation(
        num_vertices=len(view.part),
        num_nets=len(view.sizes),
        num_pins=len(view.pins),
        k=view.k,
        cut=nets.net_cut_of(view),
        km1=nets.km1_of(view),
        soed=nets.soed_of(view),
        empty_blocks=int((np.bincount(view.part, minlength=view.k) == 0).sum()),
        boundary=len(nets.net_boundary_of(view)),
        absorption=nets.absorption_of(view),
        connectivity=nets.histogram_of(view),
        **of_weights(block_weights_of(view), target),
    )


# All metrics of one partition in one value -----------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Evaluation(Report):
    """Metrics of a partition of a graph, the result of :func:`evaluate`.

    Attributes
    ----------
    num_vertices, num_edges, k : int
    cut : int
        Weight of the edges between blocks, each once.
    imbalance : float
        Weight of the heaviest block divided by ``ceil(W / k)``, minus one; with a target the
        largest ``weight_b / ceil(target_b) - 1``.
    block_weights : ndarray of int64, shape (k,)
    max_block_weight, min_block_weight : int
    boundary : int
        Number of vertices with a neighbour in another block.
    communication_volume, max_communication_volume : int
        Total volume, and the volume of the busiest block.
    components : ndarray of int64, shape (k,)
        Connected components of each block.
    neighbour_pairs : int
        Pairs of blocks with an edge between them.
    target : array_like, optional
        The `target` of the evaluation.

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
def evaluate(graph: Hypergraph, part: Blocks, k: int | None = None,
             target: Numbers | None = None) -> HypergraphEvaluation: ...
@overload
def evaluate(graph: Any, part: Blocks, k: int | None = None,
             target: Numbers | None = None) -> Evaluation: ...
def evaluate(graph: Any, part: Blocks, k: int | None = None,
             target: Numbers | None = None) -> Evaluation | HypergraphEvaluation:
    """Compute every metric of a partition.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, or Hypergraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex, 0 ... k - 1; device arrays are copied to the host.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    target : array_like, shape (k,), optional
        Target shares of the blocks, as in :func:`portpart.partition`.

    Returns
    -------
    Evaluation
        For a hypergraph a `HypergraphEvaluation`, with cut, km1 and soed.

    Raises
    ------
    InputError
        If `part` does not fit the graph or has a block outside 0 ... k - 1.

    Examples
    --------
    >>> from portpart.metrics import evaluate
    >>> result = evaluate([(0, 1), (1, 2), (2, 3), (3, 0)], [0, 0, 1, 1])
    >>> result.cut, result.imbalance, result.boundary
    (2, 0.0, 4)
    """
    view = nets.view_of(graph, part, k)
    if isinstance(view, nets.NetsView):
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
