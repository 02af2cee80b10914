"""The numbers of a report: metrics of a partition, and of each of its blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from portpart import metrics
from portpart.errors import InputError
from portpart.graphs import Blocks, EitherGraph, GraphLike, Numbers, Topology
from portpart.metrics.balance import block_weights_of
from portpart.metrics.nets import NetsView, net_boundary_of, view_of
from portpart.metrics.quality import boundary_of, components_of, cost_facts
from portpart.metrics.view import PartitionView
from portpart.options import WrittenNumber
from portpart.plot.links import drawn_blocks, either_graph, links_between

DEFAULT_IMBALANCE = 0.03
"""Default of `portpart.partition`."""

LARGEST_LIMIT = 2**63 - 1
"""Larger than the weight of all vertices."""


@dataclass(frozen=True, eq=False)
class ReportData:
    """A partition and its metrics.

    Attributes
    ----------
    graph : Graph or Hypergraph
    part : ndarray of int64, shape (n,)
    k : int
    view : PartitionView or NetsView
    evaluation : Evaluation or HypergraphEvaluation
    limits : ndarray of int64, shape (k,)
        Maximum weight of each block.
    links : csr_array, shape (k, k)
    topology : Topology or None
    costs : ndarray of int64 or None
        Communication cost by level, for a mapping of a graph.
    """

    graph: EitherGraph
    part: np.ndarray
    k: int
    view: PartitionView | NetsView
    evaluation: metrics.Evaluation | metrics.HypergraphEvaluation
    limits: np.ndarray
    links: csr_array
    topology: Topology | None
    costs: np.ndarray | None

    @property
    def feasible(self) -> bool:
        """Whether no block is above its limit."""
        return bool((self.evaluation.block_weights <= self.limits).all())


def report_data(graph: GraphLike, part: Blocks | None, k: int | None,
                imbalance: WrittenNumber | None, target: Numbers | None,
                topology: Topology | None) -> ReportData:
    """Measure a partition with the limits of :func:`limits_of`."""
    shown = either_graph(graph)
    topology = getattr(part, "topology", None) if topology is None else topology
    if k is None and topology is not None:
        k = topology.num_elements
    blocks, k = drawn_blocks(part, shown.num_vertices, k, shown)
    view = view_of(shown, blocks, k or None)
    limits = limits_of(part, int(block_weights_of(view).sum()), k, imbalance, target)
    costs = (None if topology is None or isinstance(view, NetsView)
             else metrics.level_costs(shown, blocks, topology))
    return ReportData(shown, blocks, k, view, metrics.evaluate(shown, blocks, k, target),
                      limits, links_between(shown, blocks, k), topology, costs)


def limits_of(holder: Blocks | None, total: int, k: int, imbalance: WrittenNumber | None,
              target: Numbers | None) -> np.ndarray:
    """Return the maximum weights of `k` blocks with a total weight of `total`.

    Without `imbalance` and `target` these are the limits of a result, if `holder` is one with as
    many blocks; otherwise `imbalance` None means that of :func:`portpart.partition`.
    """
    if k == 0:
        raise InputError("a graph without vertices has no blocks; k= says how many there are")
    own = getattr(holder, "block_weight_limits", None)
    if own is not None and len(own) == k and imbalance is None and target is None:
        return np.asarray(own, np.int64)
    excess = DEFAULT_IMBALANCE if imbalance is None else imbalance
    limits = metrics.block_weight_limits(total, k, excess, target)
    return np.array([min(limit, LARGEST_LIMIT) for limit in limits], np.int64)


def quality(found: ReportData) -> dict[str, object]:
    """Return every metric by its name."""
    costs = {} if found.costs is None else cost_facts(found.costs)
    if found.topology is not None and isinstance(found.view, NetsView):
        costs = {"communication cost": "not defined for hypergraphs"}
    return {
        **costs, **found.evaluation.facts(),
        "largest limit": int(found.limits.max(initial=0)),
        "blocks above their limits": int((found.evaluation.block_weights > found.limits).sum()),
    }


def block_table(found: ReportData) -> dict[str, np.ndarray]:
    """Return the columns of a table with a row for each block, by name."""
    view = found.view
    return {
        "block": np.arange(found.k),
        "vertices": np.bincount(found.part, minlength=found.k),
        "weight": found.evaluation.block_weights,
        "limit": found.limits,
        "neighbours": np.diff(found.links.indptr),
        **(_columns_of_nets(view) if isinstance(view, NetsView) else _columns_of_graph(view)),
    }


def _columns_of_graph(view: PartitionView) -> dict[str, np.ndarray]:
    cut = np.zeros(view.k, np.int64)
    np.add.at(cut, view.part[view.cut_arc_tails], view.cut_arc_weights)
    boundary = np.bincount(view.part[boundary_of(view)], minlength=view.k)
    return {"cut": cut, "volume sent": view.sent, "boundary vertices": boundary,
            "pieces": components_of(view)}


def _columns_of_nets(view: NetsView) -> dict[str, np.ndarray]:
    k = max(1, view.k)
    net, block = np.divmod(np.unique(view.nets * k + view.part[view.pins]), k)
    outer = view.connectivity[net] > 1
    cut = np.zeros(view.k, np.int64)
    np.add.at(cut, block[outer], view.net_weights[net[outer]])
    boundary = np.bincount(view.part[net_boundary_of(view)], minlength=view.k)
    return {"nets": np.bincount(block, minlength=view.k),
            "nets in several blocks": np.bincount(block[outer], minlength=view.k),
            "their weight": cut, "boundary vertices": boundary}
