"""The graph every algorithm works on: an immutable CSR value, and how one is made from anything.

An undirected edge {u, v} is stored as the two arcs (u, v) and (v, u) with equal weights.  There
are no self loops; parallel edges may occur and count separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import typed_memory_errors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from portpart.backends.interface import Array, ExecutionSpace
    from portpart.backends.program import Program, Slot

MAX_INT32_ARCS = 2**31 - 1
"""Offsets are int32 up to this number of arcs and int64 above it."""

MAX_INT32 = 2**31 - 1

MAX_TOTAL_WEIGHT = 2**62
"""Largest total of weights: twice a total still fits the 64-bit sums of every algorithm."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph:
    """An undirected graph in compressed sparse row form, in the memory of one execution space.

    The constructor trusts its arrays; user input goes through :func:`as_graph`.

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
        What edge weights were multiplied by before they were rounded, 1 where nothing was.
    names : sequence or None
        The name of each vertex, where vertices have names.

    Notes
    -----
    Arrays in host memory that are the graph's own are read-only.  Where others can write to them
    (``as_graph(copy=False)``, the memory of a device) each public function checks them again.
    """

    offsets: Array
    targets: Array
    weights: Array | None
    vertex_weights: Array | None
    space: ExecutionSpace
    _totals: dict[str, int] = field(default_factory=dict)
    weight_scale: float = 1
    names: Sequence[Any] | None = None

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
    def mean_degree(self) -> float:
        """Arcs per vertex (0 for the empty graph)."""
        return self.num_arcs / max(1, self.num_vertices)

    @property
    def max_degree(self) -> int:
        """Most arcs of a vertex (0 for the empty graph); computed once, which synchronises."""
        if "degree" not in self._totals:
            degrees = self.offsets[1:] - self.offsets[:-1]
            most = self.space.to_host(degrees.max().reshape(1))[0] if len(degrees) else 0
            self._totals["degree"] = int(most)
        return self._totals["degree"]

    @property
    def total_vertex_weight(self) -> int:
        """Sum of the vertex weights; computed once."""
        return self._total("vertex", self.vertex_weights, self.num_vertices)

    @property
    def total_arc_weight(self) -> int:
        """Sum of the arc weights, twice the total weight of the edges; computed once."""
        return self._total("arc", self.weights, self.num_arcs)

    @property
    def weight_sum_dtype(self) -> np.dtype[Any]:
        """The smallest of int32 and int64 that holds any sum of arc weights."""
        return np.dtype(np.int32 if self.total_arc_weight <= MAX_INT32 else np.int64)

    @property
    def type_key(self) -> tuple[np.dtype[Any] | None, ...]:
        """The dtypes of the arrays: what compiled programs depend on."""
        arrays = (self.offsets, self.weights, self.vertex_weights)
        return tuple(None if array is None else array.dtype for array in arrays)

    @property
    def arrays(self) -> dict[str, Array | None]:
        """Offsets, targets, weights and vertex weights by name, as programs bind them."""
        return {
            "offsets": self.offsets,
            "targets": self.targets,
            "weights": self.weights,
            "vertex_weights": self.vertex_weights,
        }

    def declare(self, program: Program) -> tuple[Slot, Slot, Slot, Slot]:
        """Slots of `program` for arrays of these types, named as in :attr:`arrays`."""
        offsets, targets, weights, vertex_weights = (
            program.array(name, None if array is None else array.dtype)
            for name, array in self.arrays.items()
        )
        return offsets, targets, weights, vertex_weights

    def _total(self, name: str, weights: Array | None, count: int) -> int:
        if name not in self._totals:
            self._totals[name] = count if weights is None else int(weights.sum(dtype=np.int64))
        return self._totals[name]

    def to(self, space: ExecutionSpace) -> Graph:
        """The graph in the memory of `space`; the same object if it is there already."""
        if space is self.space:
            return self
        arrays = [self.offsets, self.targets, self.weights, self.vertex_weights]
        if space.name != self.space.name:
            arrays = [a if a is None else space.asarray(self.space.to_host(a)) for a in arrays]
            read_only(arrays)
        offsets, targets, weights, vertex_weights = arrays
        return replace(self, offsets=offsets, targets=targets, weights=weights,
                       vertex_weights=vertex_weights, space=space, _totals=dict(self._totals))

    def to_scipy(self) -> csr_array:
        """Adjacency matrix as a SciPy CSR array on the host; absent weights become ones.

        Its arrays are copies, for SciPy changes arrays in place.
        """
        from scipy.sparse import csr_array

        offsets, targets = (np.array(self.space.to_host(array))
                            for array in (self.offsets, self.targets))
        if self.weights is None:
            weights = np.ones(self.num_arcs, np.int32)
        else:
            weights = np.array(self.space.to_host(self.weights))
        return csr_array((weights, targets, offsets), shape=(self.num_vertices,) * 2)

    def __reduce__(self) -> tuple[Any, ...]:
        from portpart.arrays import owned

        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name, array in self.arrays.items():
            values[name] = None if array is None else owned(array, [array], copy=True)
        return restored, tuple(values.values())

    def __repr__(self) -> str:
        weighted = [
            name
            for name, weights in (("edge", self.weights), ("vertex", self.vertex_weights))
            if weights is not None
        ]
        weights_text = f", with {' and '.join(weighted)} weights" if weighted else ""
        return (
            f"<Graph: {self.num_vertices:,} vertices, {self.num_edges:,} edges"
            f"{weights_text}, on {self.space.name}>"
        )


def restored(*values: Any) -> Graph:
    """The graph of unpickled or copied values."""
    graph = Graph(*values)
    read_only(graph.arrays.values())
    return graph


def read_only(arrays: Iterable[Array | None]) -> None:
    """Let nobody write to host arrays that are the library's own."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


@typed_memory_errors
def as_graph(
    obj: Any,
    *,
    vertex_weights: Any = None,
    edge_weights: Any = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    copy: bool = True,
    space: ExecutionSpace | None = None,
) -> Graph:
    """Make a :class:`Graph` of whatever holds a graph, checking it on the way.

    Parameters
    ----------
    obj : Graph, sparse matrix, tuple, edge list, NetworkX graph, frame or path
        - a :class:`Graph`;
        - a SciPy or CuPy sparse matrix or array, square; its values are the edge weights (all
          ones: no weights), stored zeros are edges of weight zero;
        - a tuple ``(indptr, indices)`` or ``(indptr, indices, weights)`` of one-dimensional
          arrays of any kind (NumPy, CuPy, torch, DLPack, ``__cuda_array_interface__``, buffers,
          lists);
        - an edge list, an array of shape (m, 2) or (m, 3), the third column being weights; each
          edge stands there once or in both directions.  Rows that could as well be the neighbours
          of each vertex or a dense matrix are refused: :func:`from_edges` and
          :func:`from_adjacency` say what they are;
        - a NetworkX or igraph graph; its vertices are numbered in the order of ``obj.nodes``, and
          the nodes are the graph's ``names``;
        - a frame (pandas, polars, pyarrow) of edges: the columns source and target, src and dst,
          from and to, or u and v, and perhaps weight or w.  Text becomes ``names``, numbered as
          they occur;
        - a path (str or PathLike), read by :func:`portpart.io.read`.
    vertex_weights : array_like of int, shape (n,), or str, optional
        Weights of the vertices, zero allowed.  For a NetworkX or igraph graph also the name of a
        node attribute, 1 where it is missing (default: no vertex weights).
    edge_weights : array_like of int, one per arc or row of `obj`, or str, optional
        Replaces the weights in `obj`; zero allowed.  For a NetworkX or igraph graph also the name
        of an edge attribute (default ``"weight"``, used if any edge has it; 1 where it is
        missing), for a frame that of a column.
    symmetrize : bool, "sum" or "max"
        Accept a directed graph: its arcs are taken without direction.  With True, the two
        directions of an edge must agree in weight where both are given.  ``"sum"`` adds them up:
        a matrix A becomes A + A^T, missing weights being ones; ``"max"`` takes the larger.  Edge
        lists are read as with True in any case.  What has no directions, a :class:`Graph` or an
        undirected NetworkX graph, is never doubled.
    weights : {"keep", "ignore", "abs", "round"} or bool, optional
        What becomes of edge weights: ``"keep"``, the default, takes non-negative integers as they
        are (as does True); ``"ignore"`` leaves them out (as does False); ``"round"`` multiplies
        by `weight_scale` and rounds half to even; ``"abs"`` takes absolute values, and rounds
        them likewise if one is fractional.  Self loops do not count.
    weight_scale : float, optional
        For ``"round"`` and ``"abs"``; default: the largest power of ten for which every rounded
        weight stays below 2**31 and their sum below 2**53.  The graph's ``weight_scale`` tells it.
    copy : bool
        Copy arrays that others can write to, if the graph would share them.  Without it, and on
        devices always, the graph shares memory where dtypes allow; then each function that takes
        the graph checks its arrays again, so that an array changed meanwhile is an error.
    space : ExecutionSpace, optional
        Where the graph is to live; default: where the arrays are.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        Names the first offending place: an arc without its reverse, an index out of range, a
        decreasing offset, a negative, fractional or infinite weight, totals above 2**62.

    Notes
    -----
    Self loops are dropped: they never count in a cut.  Parallel arcs of a CSR input are kept and
    count separately.  Building from an edge list, a NetworkX multigraph or with `symmetrize`
    merges repeated pairs: weights add up, and without weights a repeated pair counts once
    (with ``symmetrize="sum"`` each arc counts one).
    Float weights must be integers in value unless `weights` says otherwise.  Weights that are all
    one are dropped.

    The checks are one pass over the offsets and one over the arcs, run in parallel where the
    arrays are: device arrays do not travel to the host.  Time O(n + m); merging arcs sorts them.

    Examples
    --------
    >>> import portpart
    >>> portpart.as_graph([(0, 1), (1, 2), (2, 0)])
    <Graph: 3 vertices, 3 edges, on cpu>
    """
    from portpart import inputs

    return inputs.graph_from(
        obj,
        vertex_weights=vertex_weights,
        edge_weights=edge_weights,
        symmetrize=symmetrize,
        weights=weights,
        weight_scale=weight_scale,
        copy=copy,
        space=space,
    )
