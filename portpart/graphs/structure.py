"""What graphs and hypergraphs have in common for moves of vertices between blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from portpart.graphs.rows import Csr

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace


class Measures(Protocol):
    """Sizes and sums of a graph: what decides how it is worked on.

    Where a graph is some rows of a whole one, sizes of arrays and loops are those of the rows, and
    what decides is asked of the whole.
    """

    @property
    def num_vertices(self) -> int:
        """Number of vertices n."""

    @property
    def num_entries(self) -> int:
        """Entries of all rows together."""

    @property
    def mean_degree(self) -> float:
        """Entries per vertex (0 without vertices)."""

    @property
    def max_degree(self) -> int:
        """Most entries of a vertex; computed once, which synchronises."""

    @property
    def total_vertex_weight(self) -> int:
        """Sum of the vertex weights; computed once."""

    @property
    def weight_sum_dtype(self) -> np.dtype[Any]:
        """The smallest of int32 and int64 that holds the sums of weights of any vertex."""

    def mean_joint_weight(self, factor: int) -> int:
        """Mean weight of an arc or a net, times a factor."""


class WithMeasures(Protocol):
    """A source of the measures of a whole graph."""

    @property
    def whole(self) -> Measures:
        """Of the whole graph: itself, unless it is some rows of another one."""


class Structure(Measures, WithMeasures, Protocol):
    """Vertices with weights, and for each a row of what it is joined by: arcs, or nets."""

    @property
    def type_key(self) -> tuple[np.dtype[Any] | None, ...]:
        """The dtypes of the arrays: what compiled programs depend on."""

    @property
    def csr(self) -> Csr:
        """The rows as kernels take them."""

    @property
    def vertex_weights(self) -> Array | None:
        """Weights of the vertices, or None."""

    @property
    def space(self) -> ExecutionSpace:
        """The space that owns the arrays."""


class NetStructure(Structure, Protocol):
    """The same of vertices that nets join."""

    @property
    def num_nets(self) -> int:
        """Number of nets."""

    @property
    def max_net_size(self) -> int:
        """No fewer than the pins of any net."""
