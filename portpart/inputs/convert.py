"""Recognise an object with a graph or a mesh and convert it to a checked `Graph` or `Mesh`."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import graphs
from portpart.errors import InputError, shown, typed_memory_errors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from portpart.backends.programs import ExecutionSpace
    from portpart.graphs import GraphLike, Numbers

# Objects of other libraries, or with blocks, that are not accepted, and how to convert them ----


STACKED = "portpart.from_edges(torch.stack(graph.edges(), 1), num_vertices=graph.num_nodes())"

BY_TYPE = {
    ("polars", "LazyFrame"): "frame.collect() makes a frame, which is taken",
    ("dgl", "DGLGraph"): f"{STACKED} makes a graph of its edges",
    ("dgl", "DGLHeteroGraph"): f"{STACKED} makes a graph of its edges",
    ("portpart", "RankGraph"): "gather() makes a graph on every rank, which is taken",
    ("torch_sparse", "SparseTensor"): 'matrix.to_scipy("csr") makes a matrix, which is taken',
}
"""How to convert an object, by package and type, so that nothing is imported."""


def refuse_foreign_type(obj: GraphLike) -> None:
    """Raise if a library's type has a known conversion; uses no attribute of the object."""
    kind = type(obj)
    way = BY_TYPE.get((kind.__module__.partition(".")[0], kind.__name__))
    if way is not None:
        raise InputError(f"a {kind.__name__} of {kind.__module__.partition('.')[0]} is not taken "
                         f"as it is: {way}")


def refuse_blocks(obj: GraphLike) -> None:
    """Raise if `obj` is a result or a session, which have blocks."""
    if not (hasattr(obj, "part") and hasattr(obj, "k")):
        return
    name = type(obj).__name__
    if callable(getattr(obj, "graph", None)):
        raise InputError(f"a {name} is not a graph; its graph() is the graph as it is now")
    raise InputError(f"a {name} holds blocks and no graph: pass the graph, and the result as "
                     "initial= to improve it, or to portpart.repartition to move little")


# Recognise an object with a graph and convert it to a checked `Graph` --------------------------


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
) -> graphs.Graph:
    """Convert an object or a file to a :class:`Graph`, and check it.

    Parameters
    ----------
    obj : Graph, sparse matrix, tuple, edge list, NetworkX graph, frame or path
        - a :class:`Graph`;
        - a SciPy or CuPy sparse matrix or array or a sparse tensor of PyTorch, square; its values
          are the edge weights (all ones: no weights), stored zeros are edges of weight zero;
        - a tuple ``(indptr, indices)`` or ``(indptr, indices, weights)`` of one-dimensional
          arrays of any kind (NumPy, CuPy, torch, DLPack, ``__cuda_array_interface__``, buffers,
          lists);
        - an edge list, an array of shape (m, 2), or (m, 3) with weights in the third column; it
          has each edge in one direction or both.  Rows that could also be the neighbours of each
          vertex or a dense matrix are an error: use :func:`from_edges` or :func:`from_adjacency`;
        - a NetworkX or igraph graph; its vertices are numbered in the order of ``obj.nodes``, and
          the nodes are the graph's ``names``;
        - a data frame (pandas, polars, pyarrow) of edges with the columns source and target, src
          and dst, from and to, or u and v, and optionally weight or w.  Text becomes ``names``,
          numbered in the order of their occurrence;
        - a path (str or PathLike), read by :func:`portpart.io.read`.
    vertex_weights : array_like of int, shape (n,), dict or str, optional
        Weights of the vertices, zero allowed.  A dict has weights by ``names``, or by numbers where
        vertices have no names.  For a NetworkX or igraph graph also the name of a node attribute; a
        missing value counts 1 (default: no vertex weights).
    edge_weights : array_like of int, one per arc or row of `obj`, or str, optional
        Replaces the weights in `obj`; zero allowed.  For a NetworkX or igraph graph also the name
        of an edge attribute (default ``"weight"``, if any edge has it; a missing value counts 1),
        for a data frame the name of a column.
    symmetrize : bool, "sum" or "max"
        Accept a directed graph and ignore the directions.  With True, the two directions of an edge
        must have equal weights if both are given.  ``"sum"`` adds both, so that a matrix A becomes
        A + A^T; ``"max"`` uses the larger weight.  Edge lists are always read as with True.
        Undirected input, such as a :class:`Graph`, is not changed.
    weights : {"keep", "ignore", "abs", "round"} or bool, optional
        Treatment of edge weights: ``"keep"`` (default, or True) requires non-negative integers;
        ``"ignore"`` (or False) leaves weights out; ``"round"`` multiplies by `weight_scale` and
        rounds half to even; ``"abs"`` takes absolute values, and rounds them in the same way if one
        is fractional.  Weights of self loops are not used.
    weight_scale : float, optional
        For ``"round"`` and ``"abs"``; default: the largest power of ten for which every rounded
        weight stays below 2**31 and their sum below 2**53.  The graph has it as ``weight_scale``.
    copy : bool
        Copy arrays that other code can write to.  With False, and always in GPU memory, the graph
        shares memory where dtypes allow.  Then each function that receives the graph checks its
        arrays again.
    space : ExecutionSpace, optional
        Space of the graph; default: the one that has the arrays.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If an arc has no reverse arc, an index is out of range, offsets decrease, a weight is
        negative, fractional or infinite, or a total exceeds 2**62; the message names the place.

    Notes
    -----
    Self loops are dropped.  Parallel arcs of a CSR input are kept and count separately.  Repeated
    pairs of an edge list, a NetworkX multigraph or with `symmetrize` are merged: their weights are
    added, and without weights a repeated pair counts once (with ``symmetrize="sum"``, each arc
    counts 1).  Float weights must have integer values, except with `weights`.  Weights that are all
    1 are dropped.

    The checks run in parallel on the device of the arrays, in O(n + m); merging arcs sorts them.

    Examples
    --------
    >>> import portpart
    >>> portpart.as_graph([(0, 1), (1, 2), (2, 0)])
    <Graph: 3 vertices, 3 edges, on cpu>
    """
    how = reading_of(symmetrize, weights, weight_scale, copy, edge_weights)
    if isinstance(obj, (str, os.PathLike)):
        from portpart.inputs.reading import read

        if edge_weights is None:
            obj = read(obj, symmetrize=symmetrize or None, weights=weights,
                          weight_scale=weight_scale, space=space)
            how = graphs.ArcReading()
        else:  # the options would change these
            obj = read(obj, symmetrize=symmetrize or None, space=space)
    if isinstance(obj, graphs.Graph):
        _refuse_attributes(obj, vertex_weights=vertex_weights, edge_weights=edge_weights)
        return _changed(obj, vertex_weights, edge_weights, how, space)
    refuse_foreign_type(obj)
    for is_kind, made in ((graphs.is_networkx, graphs.graph_of_networkx),
                          (graphs.is_igraph, graphs.graph_of_igraph),
                          (graphs.is_frame, graphs.graph_of_frame)):
        if is_kind(obj):
            return made(obj, vertex_weights, edge_weights, how, space)
    _refuse_others(obj)
    _refuse_attributes(obj, vertex_weights=vertex_weights, edge_weights=edge_weights)
    if hasattr(obj, "tocsr"):
        parts = graphs.parts_of_sparse(obj, how.mode)
    elif graphs.is_tensor(obj) and str(obj.layout) != "torch.strided":
        parts = graphs.parts_of_tensor(obj)
    elif isinstance(obj, tuple):
        parts = graphs.parts_of_tuple(obj)
    else:
        return graphs.graph_of_rows(obj, vertex_weights, edge_weights, how, space)
    offsets, targets, values = parts
    values = values if edge_weights is None else edge_weights
    return graphs.csr_graph(offsets, targets, values, vertex_weights, space=space, **vars(how))


def _refuse_others(obj: GraphLike) -> None:
    """Raise if `obj` is of a kind that can be converted to a graph."""
    name = type(obj).__name__
    refuse_blocks(obj)
    if graphs.is_networkit(obj):
        raise InputError("networkit graphs go through networkit.nxadapter.nk2nx(graph)")
    if isinstance(obj, graphs.Hypergraph):
        raise InputError(f"a {name} is not a graph; partition, repartition and Session take it")
    if graphs.reader_of_nets(obj):
        raise InputError(f"a {name} is not a graph; portpart.as_hypergraph makes what partition, "
                         "repartition and Session take")
    if isinstance(obj, graphs.Mesh):
        raise InputError(f"a {name} is not a graph; mesh.dual_graph() joins its elements, "
                         "mesh.nodal_graph() its nodes")
    if hasattr(obj, "edge_index"):
        raise InputError(f"{name} is not a graph; portpart.compat.pyg.as_graph(data) makes one of "
                         "its edges")


def _refuse_attributes(obj: GraphLike, **options: Any) -> None:
    """Raise if an option names an attribute, which `obj` does not have."""
    for name, value in options.items():
        if isinstance(value, str):
            raise InputError(f"{name}={shown(value)} names an attribute, but a "
                             f"{type(obj).__name__} has none (NetworkX and igraph graphs and "
                             "frames do); pass an array")


def reading_of(symmetrize: bool | str, weights: bool | str | None, weight_scale: float | None,
               copy: bool, edge_weights: Numbers | None) -> graphs.ArcReading:
    """Return the options of `as_graph` for reading arcs, checked."""
    graphs.directions_of(symmetrize)
    if not isinstance(copy, (bool, np.bool_)):
        raise InputError(f"copy is {shown(copy)}; it must be True or False")
    how = graphs.ArcReading(symmetrize, graphs.checked_mode(weights, weight_scale), weight_scale,
                            copy)
    if how.mode == graphs.IGNORE and edge_weights is not None:
        raise InputError("edge_weights are given, and weights says to ignore them; pass one of "
                         "the two")
    return how


def _changed(graph: graphs.Graph, vertex_weights: Numbers | None, edge_weights: Numbers | None,
             how: graphs.ArcReading, space: ExecutionSpace | None) -> graphs.Graph:
    graph = graphs.checked_again(graph, how.copy)
    if space is not None:
        graph = graph.to(space)
    vertex_weights = graphs.in_order(vertex_weights, graph.names, "vertex_weights")
    if edge_weights is not None:
        kept = graph.vertex_weights if vertex_weights is None else vertex_weights
        made = graphs.csr_graph(graph.offsets, graph.targets, edge_weights, kept, space=graph.space,
                                **vars(how))
        return replace(made, names=graph.names)
    if how.mode == graphs.IGNORE:
        totals = {key: value for key, value in graph._totals.items() if key != "arc"}
        graph = replace(graph, weights=None, weight_scale=1, _totals=totals)
    elif how.mode == graphs.ROUND or how.scale is not None:
        graph = _rescaled(graph, how)
    return (graph if vertex_weights is None
            else graphs.with_vertex_weights(graph, vertex_weights, how.copy))


def _rescaled(graph: graphs.Graph, how: graphs.ArcReading) -> graphs.Graph:
    """Return `graph` with its weights multiplied and rounded (again)."""
    values = graph.weights
    if values is None:
        values = graph.space.full(graph.num_arcs, 1, np.int32)
    weights, scale = graphs.converted(graph.space, values, how.mode, how.scale)
    totals = {**graph._totals, "arc": graphs.total_of(weights, "arc weights")}
    return replace(graph, weights=graphs.owned(weights, [values], True), _totals=totals,
                   weight_scale=scale * graph.weight_scale)


# Recognise an object with a mesh and convert it to a checked `Mesh` ----------------------------


@typed_memory_errors
def as_mesh(elements: Any, *, num_nodes: int | None = None, element_weights: Numbers | None = None,
            points: ArrayLike | None = None) -> graphs.Mesh:
    """Convert elements or a file to a :class:`Mesh`, and check it.

    Parameters
    ----------
    elements : Mesh, array, list, tuple, dict, object with cells, or path
        - an array of integers of shape (num_elements, nodes per element);
        - a list of elements, each a sequence of its nodes; elements may be of several kinds;
        - a tuple ``(offsets, nodes)``: element e has ``nodes[offsets[e]:offsets[e + 1]]``;
        - a dict or list of blocks as meshio has them: ``{"triangle": array, "quad": array}``,
          ``mesh.cells`` or ``mesh.cells_dict``;
        - an object with ``cells`` and ``points``, such as a ``meshio.Mesh``;
        - a path (str or PathLike), read by :func:`portpart.io.read_mesh`.

        Nodes are numbered from 0.  If blocks have several dimensions, the elements are the cells of
        the largest one; lines or triangles next to tetrahedra are on the boundary.
    num_nodes : int, optional
        Number of nodes; default: the number of points, else the largest node plus one.
    element_weights : array_like of int, shape (num_elements,), optional
        Weights of the elements, zero allowed.
    points : array_like, shape (num_nodes, 1 to 3), optional
        Coordinates of the nodes; default: those of an object with ``points``.

    Returns
    -------
    Mesh
        With new arrays.

    Raises
    ------
    InputError
        If a node of an element is negative, out of range or repeated, an element has no nodes, the
        kind of a block of cells is unknown, or the nodes of a cell of a lower dimension are not all
        in one element; the message names the first one.
    OutOfMemory
        If the memory is too small.

    Notes
    -----
    Elements are numbered in the order in which they are given, block after block.  Time and
    memory are linear in the number of nodes of all elements.

    Examples
    --------
    >>> import portpart
    >>> mesh = portpart.as_mesh([[0, 1, 2], [1, 2, 3, 4]])
    >>> mesh
    <Mesh: 2 elements, 5 nodes>
    >>> portpart.partition(mesh.dual_graph(common_nodes=2), 2).cut
    1
    """
    if isinstance(elements, (str, os.PathLike)):
        from portpart.inputs.reading import read_mesh

        elements = read_mesh(elements)
    return graphs.mesh_from(elements, num_nodes, element_weights, points)
