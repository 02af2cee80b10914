"""Graphs that are described by a few numbers; only ranges of rows are in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from portpart.backends import as_space
from portpart.backends.programs import Array, ExecutionSpace
from portpart.generators import drawn_edges as edges, neighbourhoods as near
from portpart.generators.hashed import VertexOrder, arc_weights, vertex_order, weights_of_vertices
from portpart.graphs import Rows, checked_range
from portpart.options import checked_integer


@dataclass(frozen=True, kw_only=True)
class LargeGraph(ABC):
    """A graph that need not be in memory: the rows of any range of vertices can be drawn.

    Functions of `shares` make large graphs.

    Attributes
    ----------
    num_vertices : int
    order_seed : int or None
        Seed of the order of the vertices, None for the original order; see :func:`permuted`.
    weight_seed, max_weight, max_vertex_weight : int
        Seed and largest weights of edges and vertices; see :func:`weighted`.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.shares.grid_2d(1_000_000).num_vertices
    1000000000000
    """

    num_vertices: int
    order_seed: int | None = None
    weight_seed: int = 0
    max_weight: int = 1
    max_vertex_weight: int = 1

    def rows(self, first: int, last: int, space: ExecutionSpace | str = "cpu") -> Rows:
        """Draw the rows of the vertices ``first <= v < last``.

        Parameters
        ----------
        first, last : int
            The range may be empty.
        space : ExecutionSpace or str
            Space of the rows, or the name of a device.

        Returns
        -------
        Rows
            Without loops and parallel edges.  The arcs of a vertex do not depend on the range.

        Raises
        ------
        InputError
            If the range is invalid.
        OutOfMemory
            If the rows do not fit into the memory of the device.
        """
        low, high = checked_range(first, last, self.num_vertices)
        where = as_space(space)
        return self._weighed(where, low, high, self._arcs(where, low, high))

    @property
    def _order(self) -> VertexOrder:
        return vertex_order(self.num_vertices, self.order_seed)

    @abstractmethod
    def _arcs(self, space: ExecutionSpace, first: int, last: int) -> tuple[Array, Array]:
        """Return offsets and targets of rows."""

    def _weighed(self, space: ExecutionSpace, first: int, last: int,
                 arcs: tuple[Array, Array]) -> Rows:
        """Return rows of these arcs, with the weights of the graph."""
        weights = vertex_weights = None
        if self.max_weight > 1:
            weights = arc_weights(space, first, self._order, arcs, self.weight_seed,
                                  self.max_weight)
        if self.max_vertex_weight > 1:
            vertex_weights = weights_of_vertices(space, first, last, self._order, self.weight_seed,
                                                 self.max_vertex_weight)
        return Rows(first, self.num_vertices, *arcs, weights, vertex_weights, space)


@dataclass(frozen=True, kw_only=True)
class Neighbours(LargeGraph):
    """A graph in which the neighbours of a vertex are computed from its number."""

    family: str
    numbers: tuple[int, ...]

    def _arcs(self, space: ExecutionSpace, first: int, last: int) -> tuple[Array, Array]:
        return near.neighbourhood_rows(space, first, last, self._order, self.family, self.numbers)


@dataclass(frozen=True, kw_only=True)
class RandomEdges(LargeGraph):
    """A large graph whose edges are drawn one by one, from the number of the edge.

    ``rows`` iterates over all edges.  Ranks that can exchange arcs share this work: each calls
    ``arcs`` for some of the edges, sends every arc to the owner of its source, and passes the arcs
    that it has received to ``rows_of_arcs``.

    Attributes
    ----------
    num_edges : int
        Number of drawn edges; loops and duplicates are dropped, so fewer remain.
    scale : int
        Bits of a vertex.
    limits : tuple of int
        Limits of the quadrants, times 2^31: of the upper left, of both upper ones, of all but the
        lower right one.
    seed : int

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.shares.rmat(8, 4)
    >>> arcs = graph.arcs(0, graph.num_edges)
    >>> graph.rows_of_arcs(100, 256, arcs[(arcs >> 32) >= 100])
    <Rows: vertices 100 to 256 of 256, 433 arcs, on cpu>
    >>> graph.rows(100, 256)
    <Rows: vertices 100 to 256 of 256, 433 arcs, on cpu>
    """

    num_edges: int
    scale: int
    limits: tuple[int, ...]
    seed: int

    def arcs(self, begin: int, end: int, space: ExecutionSpace | str = "cpu") -> Array:
        """Draw the edges ``begin <= e < end``, in both directions.

        Parameters
        ----------
        begin, end : int
        space : ExecutionSpace or str
            Space of the arcs, or the name of a device.

        Returns
        -------
        array of int64
            ``source * 2**32 + target`` of each arc, without loops.
        """
        low = checked_integer("begin", begin, 0, self.num_edges)
        high = checked_integer("end", end, low, self.num_edges)
        return self._drawn(as_space(space), edges.ArcRange(low, high, 0, self.num_vertices))

    def rows_of_arcs(self, first: int, last: int, arcs: Array,
                     space: ExecutionSpace | str = "cpu") -> Rows:
        """Make the rows of the vertices ``first <= v < last`` of their arcs.

        Parameters
        ----------
        first, last : int
        arcs : array of int64
            All arcs that leave these vertices and no others, as :meth:`arcs` returns them, in any
            order.  Its contents are lost.
        space : ExecutionSpace or str
            The space that owns `arcs`.

        Returns
        -------
        Rows
        """
        low, high = checked_range(first, last, self.num_vertices)
        where = as_space(space)
        return self._weighed(where, low, high,
                             edges.rows_of_arcs(where, arcs, low, high, self.num_vertices))

    def _arcs(self, space: ExecutionSpace, first: int, last: int) -> tuple[Array, Array]:
        arcs = self._drawn(space, edges.ArcRange(0, self.num_edges, first, last))
        return edges.rows_of_arcs(space, arcs, first, last, self.num_vertices)

    def _drawn(self, space: ExecutionSpace, wanted: edges.ArcRange) -> Array:
        upper_left, upper, not_last = self.limits
        quadrants = edges.Quadrants(self.scale, upper_left, upper, not_last, self.seed)
        return edges.drawn_arcs(space, quadrants, self._order, wanted)
