"""The graph that all algorithms use: an immutable CSR value.

An undirected edge {u, v} is stored as the two arcs (u, v) and (v, u) with equal weights.  There
are no self loops; parallel edges are allowed and count separately.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from portpart.errors import InputError
from portpart.graphs import structure
from portpart.graphs.blocks import blocks_of
from portpart.graphs.row_choice import chosen_entries, chosen_vertices
from portpart.primitives import gather

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.graphs.arrays import Blocks


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(structure.ArcMeasures, structure.GraphOfSpace):
    """An undirected graph in compressed sparse row form, in the memory of one execution space.

    The constructor trusts its arrays; user input is checked by :func:`as_graph`.

    Parameters
    ----------
    offsets : array of int32 or int64, shape (n + 1,)
        Arcs ``offsets[u] ... offsets[u + 1] - 1`` leave vertex u.
    targets : array of int32, shape (num_arcs,)
        Head of each arc.
    weights : array of int32 or int64, shape (num_arcs,), or None
        Weight of each arc; None means that every arc weighs 1.
    vertex_weights : array of int64, shape (n,), or None
        None means that every vertex weighs 1.
    space : ExecutionSpace
        The space that owns the arrays.
    weight_scale : float
        Factor by which edge weights were multiplied before rounding; 1 if they were not rounded.
    names : sequence or None
        The name of each vertex, None if vertices have no names.
    global_ids : array of int32 or int64, or None
        Ids in the whole graph, if this graph has some of its rows; also of the heads of all arcs.
    totals : GraphTotals or None
        Sizes of the whole graph, if this graph has some of its rows.

    Notes
    -----
    The graph's own arrays in host memory are read-only.  If other code can write to arrays
    (``as_graph(copy=False)``, device memory), each public function checks them again.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.as_graph([[0, 1], [1, 2]])
    >>> graph
    <Graph: 3 vertices, 2 edges, on cpu>
    >>> graph.offsets.tolist(), graph.targets.tolist()
    ([0, 1, 3, 4], [1, 0, 2, 1])
    """

    offsets: Array
    targets: Array
    weights: Array | None
    vertex_weights: Array | None
    space: ExecutionSpace
    _totals: dict[str, int] = field(default_factory=dict)
    weight_scale: float = 1
    names: Sequence[Hashable] | None = None
    global_ids: Array | None = None
    totals: structure.GraphTotals | None = None
    _rows: dict[str, structure.Csr] = field(default_factory=dict, init=False)

    @property
    def num_vertices(self) -> int:
        """Number of vertices n."""
        return len(self.offsets) - 1

    @property
    def num_arcs(self) -> int:
        """Number of arcs: each undirected edge has two."""
        return len(self.targets)

    @property
    def num_edges(self) -> int:
        """Number of undirected edges m."""
        return self.num_arcs // 2

    @property
    def max_degree(self) -> int:
        """Most arcs of a vertex (0 for the empty graph); computed once, which synchronises."""
        return self._measure("degree", self.offsets)

    @property
    def squared_degrees(self) -> int:
        """Sum of the squared degrees (0 for the empty graph); computed once, which synchronises."""
        return self._measure("degree", self.offsets, "degree" + structure.SQUARES)

    @property
    def total_arc_weight(self) -> int:
        """Sum of the arc weights, twice the total weight of the edges; computed once."""
        return self._total("arc", self.weights, self.num_arcs)

    @property
    def is_simple(self) -> bool:
        """Whether it is known that no two arcs have the same ends."""
        return self._totals.get("parallel") == 0

    @property
    def whole(self) -> Graph | structure.GraphTotals:
        """The object with the sizes of the whole graph: this graph, unless it has some rows of
        another one.
        """
        return self if self.totals is None else self.totals

    @property
    def arrays(self) -> dict[str, Array | None]:
        """Offsets, targets, weights and vertex weights by name."""
        return {
            "offsets": self.offsets,
            "targets": self.targets,
            "weights": self.weights,
            "vertex_weights": self.vertex_weights,
        }

    @property
    def csr(self) -> structure.Csr:
        """The arrays for kernels; created once."""
        if "csr" not in self._rows:
            self._rows["csr"] = structure.Csr(self.offsets[:-1], self.offsets[1:], self.targets,
                                              self.weights, self.vertex_weights, self.global_ids)
        return self._rows["csr"]

    def to_scipy(self) -> csr_array:
        """Return the adjacency matrix as a SciPy CSR array on the host; without weights, values are
        1.

        Its arrays are copies, because SciPy changes arrays in place.
        """
        from scipy.sparse import csr_array

        offsets, targets = (np.array(self.space.to_host(array))
                            for array in (self.offsets, self.targets))
        if self.weights is None:
            weights = np.ones(self.num_arcs, np.int32)
        else:
            weights = np.array(self.space.to_host(self.weights))
        return csr_array((weights, targets, offsets), shape=(self.num_vertices,) * 2)

    def subgraph(self, vertices: ArrayLike) -> Graph:
        """Return the graph of some vertices and the edges between them.

        Parameters
        ----------
        vertices : array_like of int, shape (count,), or of bool, shape (n,)
            Numbers of different vertices, or a flag for each vertex.

        Returns
        -------
        Graph
            Its vertex i is ``vertices[i]``, or with flags the i-th flagged one.

        Raises
        ------
        InputError
            If an entry is not a vertex or is repeated.

        Examples
        --------
        >>> import portpart
        >>> path = portpart.generators.grid_2d(1, 4)
        >>> path.subgraph([3, 2, 0])
        <Graph: 3 vertices, 1 edges, on cpu>
        """
        listed, flags, places = chosen_vertices(self.space, vertices, self.num_vertices, "vertices")
        return self._chosen(listed, flags, places)

    def permute(self, order: ArrayLike) -> Graph:
        """Return the graph with its vertices in another order.

        Parameters
        ----------
        order : array_like of int, shape (n,)
            All vertices.  :attr:`PartitionResult.order` has those of a block side by side.

        Returns
        -------
        Graph
            Its vertex i is ``order[i]``.

        Raises
        ------
        InputError
            If a vertex is missing or repeated.

        Examples
        --------
        >>> import portpart
        >>> path = portpart.generators.grid_2d(1, 4)
        >>> path.permute([0, 2, 1, 3]).to_scipy().indices.tolist()
        [2, 2, 3, 0, 1, 1]
        """
        listed, flags, places = chosen_vertices(self.space, order, self.num_vertices, "order")
        if len(listed) < self.num_vertices:
            raise InputError(f"order has {len(listed)} vertices; all {self.num_vertices} are "
                             "needed, and subgraph takes some")
        return self._chosen(listed, flags, places)

    def _chosen(self, listed: Array, flags: Array, places: Array) -> Graph:
        """Return the graph of the listed vertices, which have these places."""
        space = self.space
        names = self.names
        if names is not None:
            names = [names[v] for v in space.to_host(listed).tolist()]
        made = Graph(*chosen_rows(self, listed, flags, places), space,
                     weight_scale=self.weight_scale, names=names)
        structure.read_only(made.arrays.values())
        return made

    def cut_edges(self, part: Blocks) -> np.ndarray:
        """Return the edges between blocks.

        Parameters
        ----------
        part : array_like of int, shape (n,), dict, PartitionResult or Session
            Block of each vertex.

        Returns
        -------
        numpy.ndarray of int32, shape (number of cut edges, 2)
            The ends of each edge, the smaller one first, in ascending order, with parallel edges.

        Raises
        ------
        InputError
            If `part` has the wrong length or type.

        Examples
        --------
        >>> import portpart
        >>> portpart.generators.grid_2d(2, 3).cut_edges([0, 0, 1, 0, 0, 1]).tolist()
        [[1, 2], [4, 5]]
        """
        blocks, _ = blocks_of(part, self.num_vertices, None, self.names)
        offsets, heads = self.space.to_host(self.offsets), self.space.to_host(self.targets)
        tails = np.repeat(np.arange(self.num_vertices, dtype=np.int32), np.diff(offsets))
        is_cut = (tails < heads) & (blocks[tails] != blocks[heads])
        tails, heads = tails[is_cut], heads[is_cut]
        order = np.lexsort((heads, tails))
        return np.column_stack([tails[order], heads[order]])

    def _sizes(self) -> list[tuple[str, int]]:
        return [("vertices", self.num_vertices), ("edges", self.num_edges)]

    def _weights(self) -> dict[str, Array | None]:
        return {"edge": self.weights, "vertex": self.vertex_weights}

    def _facts(self) -> list[tuple[str, object]]:
        scale = self.weight_scale if self.weight_scale != 1 else None
        return [("mean degree", f"{self.mean_degree:.2f}"), ("weight scale", scale)]


def chosen_rows(graph: Graph, listed: Array, flags: Array,
                places: Array) -> tuple[Array, Array, Array | None, Array | None]:
    """Return offsets, targets, weights and vertex weights of the graph of listed vertices."""
    space = graph.space
    offsets, arcs = chosen_entries(space, listed, graph.csr, graph.mean_degree, flags,
                                   graph.offsets.dtype)
    weights, masses = (None if values is None else gather(space, values, chosen) for values, chosen
                       in ((graph.weights, arcs), (graph.vertex_weights, listed)))
    return offsets, gather(space, places, gather(space, graph.targets, arcs)), weights, masses
