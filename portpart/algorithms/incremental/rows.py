"""Rows of a graph that is edited, as refinement sees them; nothing is recounted."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.rows import Csr

MAX_DEGREE = 2**31 - 1
"""What may be the highest degree: to know it would take a examine all vertices."""


class EditedRows:
    """The vertices of an edited graph; deleted ones have neither arcs nor weight.

    Parameters
    ----------
    graph : EditableGraph
        Or an EditableHypergraph, of whose nets another class knows; with weights of its vertices.
    room : int, optional
        Work arrays are made for this many vertices; by default for the existing ones.

    Attributes
    ----------
    mean_degree : float
        Arcs for each existing vertex.
    total_vertex_weight : int
        Of the existing vertices.
    """

    max_degree = MAX_DEGREE
    weight_sum_dtype = np.dtype(np.int64)

    def __init__(self, graph: Any, room: int | None = None) -> None:
        self.graph, self.room = graph, room
        self.look()

    def look(self) -> None:
        """Read the figures of the graph that runs use until the next call."""
        graph = self.graph
        self.mean_degree: float = graph.num_pairs / max(1, graph.vertices.num_alive)
        self.total_vertex_weight: int = graph.vertices.total_weight
        self._joints = self._all_joints()

    def _all_joints(self) -> tuple[int, int]:
        """Total weight of what joins vertices, and its number: arcs."""
        return self.graph.pair_weight, self.graph.num_pairs

    @property
    def space(self) -> ExecutionSpace:
        """Where the rows are."""
        return self.graph.space

    @property
    def num_vertices(self) -> int:
        """Ids that have been given out, or for which memory is reserved."""
        return self.room or self.graph.vertices.count

    @property
    def whole(self) -> EditedRows:
        """What has the sizes of the whole graph: itself."""
        return self

    @property
    def num_entries(self) -> int:
        """Arcs."""
        return self.graph.num_pairs

    @property
    def vertex_weights(self) -> Array | None:
        """Weights of all ids, 0 for deleted ones."""
        return self.graph.vertices.weights_of_all()

    @property
    def type_key(self) -> tuple[Any, ...]:
        """The types of the arrays."""
        rows = self.graph.arcs.rows
        return ("edited", rows.begin.dtype, None if rows.weights is None else rows.weights.dtype)

    @property
    def csr(self) -> Csr:
        """The rows as kernels take them."""
        return self.graph.csr

    def mean_joint_weight(self, factor: int) -> int:
        """Mean weight of an arc or a net, times a factor."""
        weight, number = self._joints
        return weight * factor // max(1, number)
