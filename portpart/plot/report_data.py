"""The numbers of a report: metrics of a partition, and of each of its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from portpart.errors import InputError
from portpart.graphs.hypergraph import EitherGraph
from portpart.graphs.topology import Topology
from portpart.metrics.balance import block_weight_limits, block_weights_of
from portpart.metrics.evaluation import Evaluation, evaluate
from portpart.metrics.mapping import level_costs
from portpart.metrics.net_evaluation import HypergraphEvaluation
from portpart.metrics.nets import NetsView, net_boundary_of, view_of
from portpart.metrics.quality import boundary_of
from portpart.metrics.structure import components_of
from portpart.metrics.view import PartitionView
from portpart.plot.links import drawn_blocks, either_graph, links_between

DEFAULT_IMBALANCE = 0.03
"""Of `portpart.partition`."""

LARGEST_LIMIT = 2**63 - 1
"""No vertices weigh as much."""

Row: TypeAlias = tuple[str, object]


@dataclass(frozen=True, eq=False)
class ReportData:
    """A partition and what it is worth.

    Attributes
    ----------
    graph : Graph or Hypergraph
    part : ndarray of int64, shape (n,)
    k : int
    view : PartitionView or NetsView
    evaluation : Evaluation or HypergraphEvaluation
    limits : ndarray of int64, shape (k,)
        What each block may weigh.
    links : csr_array, shape (k, k)
    topology : Topology or None
    costs : ndarray of int64 or None
        Communication cost by level, of a mapping of a graph.
    """

    graph: EitherGraph
    part: np.ndarray
    k: int
    view: PartitionView | NetsView
    evaluation: Evaluation | HypergraphEvaluation
    limits: np.ndarray
    links: csr_array
    topology: Topology | None
    costs: np.ndarray | None

    @property
    def feasible(self) -> bool:
        """Whether no block is above its limit."""
        return bool((self.evaluation.block_weights <= self.limits).all())


def report_data(graph: Any, part: Any, k: int | None, imbalance: Any, target: Any,
                topology: Topology | None) -> ReportData:
    """Measure a partition; limits are as :func:`limits_of` has them."""
    shown = either_graph(graph)
    topology = getattr(part, "topology", None) if topology is None else topology
    if k is None and topology is not None:
        k = topology.num_elements
    blocks, k = drawn_blocks(part, shown.num_vertices, k, shown)
    view = view_of(shown, blocks, k or None)
    limits = limits_of(part, int(block_weights_of(view).sum()), k, imbalance, target)
    costs = (None if topology is None or isinstance(view, NetsView)
             else level_costs(shown, blocks, topology))
    return ReportData(shown, blocks, k, view, evaluate(shown, blocks, k, target),
                      limits, links_between(shown, blocks, k), topology, costs)


def limits_of(holder: Any, total: int, k: int, imbalance: Any, target: Any) -> np.ndarray:
    """What each of `k` blocks may weigh, of `total` in all.

    Without `imbalance` and `target` that is what a result says, if `holder` is one of as many
    blocks; `imbalance` None is else that of :func:`portpart.partition`.
    """
    if k == 0:
        raise InputError("a graph without vertices has no blocks; k= says how many there are")
    own = getattr(holder, "block_weight_limits", None)
    if own is not None and len(own) == k and imbalance is None and target is None:
        return np.asarray(own, np.int64)
    excess = DEFAULT_IMBALANCE if imbalance is None else imbalance
    limits = block_weight_limits(total, k, excess, target)
    return np.array([min(limit, LARGEST_LIMIT) for limit in limits], np.int64)


def quality_rows(report_data: ReportData) -> list[Row]:
    """Every metric by name."""
    found = report_data.evaluation
    costs: list[Row] = [] if report_data.costs is None else _costs(report_data.costs.tolist())
    if report_data.topology is not None and isinstance(found, HypergraphEvaluation):
        costs = [("communication cost J", "not defined for hypergraphs")]
    own = _of_nets(found) if isinstance(found, HypergraphEvaluation) else _of_graph(report_data,
                                                                                    found)
    return [
        *costs, *own,
        ("imbalance", f"{found.imbalance:.4f}"),
        ("heaviest block", found.max_block_weight),
        ("lightest block", found.min_block_weight),
        ("largest limit", int(report_data.limits.max(initial=0))),
        ("blocks above their limits", int((found.block_weights > report_data.limits).sum())),
        ("empty blocks", found.empty_blocks),
        ("boundary vertices", shared(found.boundary, found.num_vertices)),
    ]


def _costs(costs: list[int]) -> list[Row]:
    levels = [(f"cost at level {level}", cost) for level, cost in enumerate(costs, start=1)]
    return [("communication cost J", sum(costs)), *(levels if len(levels) > 1 else [])]


def _of_graph(report_data: ReportData, found: Evaluation) -> list[Row]:
    graph = report_data.graph
    total = graph.total_arc_weight // 2  # type: ignore[union-attr]
    return [
        ("cut", shared(found.cut, total)),
        ("communication volume", found.communication_volume),
        ("volume of the busiest block", found.max_communication_volume),
        ("pairs of neighbouring blocks", found.neighbour_pairs),
        ("blocks in several pieces", found.disconnected_blocks),
    ]


def _of_nets(found: HypergraphEvaluation) -> list[Row]:
    return [("km1", found.km1), ("cut", found.cut), ("soed", found.soed),
            ("absorption", f"{found.absorption:,.2f}")]


def shared(count: int, total: int) -> str:
    """A number and its share of a total."""
    return f"{count:,} ({count / total:.2%})" if total else f"{count:,}"


def block_table(report_data: ReportData) -> tuple[Sequence[str], list[np.ndarray]]:
    """Names of columns, and the columns: a row for each block."""
    weights, limits = report_data.evaluation.block_weights, report_data.limits
    vertices = np.bincount(report_data.part, minlength=report_data.k)
    neighbours = np.diff(report_data.links.indptr)
    names = ["block", "vertices", "weight", "limit", "neighbours"]
    columns = [np.arange(report_data.k), vertices, weights, limits, neighbours]
    view = report_data.view
    more = _columns_of_nets(view) if isinstance(view, NetsView) else _columns_of_graph(view)
    return [*names, *more], [*columns, *more.values()]


def _columns_of_graph(view: PartitionView) -> dict[str, np.ndarray]:
    cut = np.zeros(view.k, np.int64)
    np.add.at(cut, view.part[view.cut_arc_tails], view.cut_arc_weights)
    pairs = np.unique(view.cut_arc_tails * view.k + view.part[view.cut_arc_heads])
    sent = np.bincount(view.part[pairs // max(1, view.k)], minlength=view.k)
    boundary = np.bincount(view.part[boundary_of(view)], minlength=view.k)
    return {"cut": cut, "volume sent": sent, "boundary vertices": boundary,
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
