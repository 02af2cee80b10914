"""Graphs from rows of numbers, where the caller states what the rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portpart.errors import typed_memory_errors
from portpart.graphs import Graph, Numbers, adjacency_graph, checked_count, graph_of_rows
from portpart.inputs.convert import reading_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from portpart.backends.programs import ExecutionSpace


@typed_memory_errors
def from_edges(
    edges: ArrayLike,
    *,
    num_vertices: int | None = None,
    vertex_weights: Numbers | None = None,
    edge_weights: Numbers | None = None,
    symmetrize: bool | str = True,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    space: ExecutionSpace | None = None,
) -> Graph:
    """Make a graph from a list of edges, even if the list could be read in another way.

    Parameters
    ----------
    edges : array_like of int, shape (m, 2) or (m, 3)
        The two ends of each edge, and its weight.
    num_vertices : int, optional
        Default: the number of vertex weights, else the largest end plus one.  It is required above
        2^22 vertices with more than 64 for each edge.
    vertex_weights, edge_weights, symmetrize, weights, weight_scale, space
        As in :func:`as_graph`.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        As in :func:`as_graph`.

    Examples
    --------
    >>> import portpart
    >>> portpart.from_edges([[1, 3], [0, 2], [1, 3], [0, 2]])
    <Graph: 4 vertices, 2 edges, on cpu>
    """
    how = reading_of(symmetrize, weights, weight_scale, True, edge_weights)
    return graph_of_rows(edges, vertex_weights, edge_weights, how, space,
                         checked_count(num_vertices), is_sure=True)


@typed_memory_errors
def from_adjacency(
    rows: ArrayLike,
    *,
    vertex_weights: Numbers | None = None,
    edge_weights: Numbers | None = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    space: ExecutionSpace | None = None,
) -> Graph:
    """Make a graph of the neighbours of each vertex.

    Parameters
    ----------
    rows : sequence or mapping
        Neighbours of vertex 0, of vertex 1 and so on, each a sequence, or a mapping of neighbours
        to weights.  The keys of a mapping name the vertices unless they are 0 ... n - 1.  Each edge
        is in the rows of both ends.
    vertex_weights, symmetrize, weights, weight_scale, space
        As in :func:`as_graph`.
    edge_weights : array_like of int, optional
        One weight per neighbour, row after row.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        As in :func:`as_graph`, and if a neighbour is not a key of a mapping.

    Examples
    --------
    >>> import portpart
    >>> portpart.from_adjacency([[1, 3], [0, 2], [1, 3], [0, 2]])
    <Graph: 4 vertices, 4 edges, on cpu>
    >>> portpart.from_adjacency({"a": ["b", "c"], "b": ["a"], "c": ["a"]}).names
    ['a', 'b', 'c']
    """
    how = reading_of(symmetrize, weights, weight_scale, True, edge_weights)
    return adjacency_graph(rows, vertex_weights, edge_weights, how, space)
