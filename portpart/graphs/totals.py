"""Sizes and sums of graphs, and of a whole graph of which a rank has some rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.graphs.limits import MAX_INT32


class ArcMeasures:
    """What follows from the numbers of vertices and arcs and from the weight of all arcs."""

    __slots__ = ()

    if TYPE_CHECKING:
        @property
        def num_vertices(self) -> int: ...

        @property
        def num_arcs(self) -> int: ...

        @property
        def total_arc_weight(self) -> int: ...

    @property
    def num_entries(self) -> int:
        """Entries of all rows: the arcs."""
        return self.num_arcs

    @property
    def mean_degree(self) -> float:
        """Arcs per vertex (0 for the empty graph)."""
        return self.num_arcs / max(1, self.num_vertices)

    def mean_joint_weight(self, factor: int) -> int:
        """Mean weight of an arc, times a factor."""
        return self.total_arc_weight * factor // max(1, self.num_arcs)

    @property
    def weight_sum_dtype(self) -> np.dtype[Any]:
        """The smallest of int32 and int64 that holds any sum of arc weights."""
        return np.dtype(np.int32 if self.total_arc_weight <= MAX_INT32 else np.int64)


@dataclass(frozen=True)
class GraphTotals(ArcMeasures):
    """Sizes of a whole graph, equal on all ranks that have rows of it.

    What is decided by them is decided as on one device (`graph.whole`).

    Attributes
    ----------
    num_vertices, num_arcs, max_degree : int
    total_vertex_weight, total_arc_weight : int
        Sums of weights.
    """

    num_vertices: int
    num_arcs: int
    max_degree: int
    total_vertex_weight: int
    total_arc_weight: int
