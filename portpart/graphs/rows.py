"""The rows of a graph as kernels see them."""

from __future__ import annotations

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record


class Csr(Record):
    """Compressed rows of arcs: arcs ``begin[v] ... end[v] - 1`` leave vertex v.

    Attributes
    ----------
    begin, end : array of int32 or int64, shape (n,)
        Of a plain graph two views of the same offsets.
    targets : array of int32, shape (num_arcs,)
    weights : array of int32 or int64, shape (num_arcs,), or None
    vertex_weights : array of int64, shape (n,), or None
    global_ids : array of int32 or int64, or None
        Ids of the vertices in the whole graph, where these are some of its rows.  What is drawn or
        decided by ids is by these, and so comes out as in the whole graph.
    """

    begin: Array
    end: Array
    targets: Array
    weights: Array | None
    vertex_weights: Array | None
    global_ids: Array | None


@kl.device
def global_id(v, graph: Csr):
    """The id of v in the whole graph."""
    return kl.value_or(graph.global_ids, v, v)


@kl.device
def degree_of(v, graph: Csr):
    """Number of v's arcs."""
    return kl.int64(graph.end[v]) - kl.int64(graph.begin[v])
