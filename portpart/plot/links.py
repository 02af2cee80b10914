"""Neighbouring blocks and the strength of their links: in graphs, hypergraphs, meshes, points."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from portpart.graphs import Blocks, EitherGraph, Graph, GraphLike, Hypergraph, Mesh, blocks_of
from portpart.inputs import as_graph, as_hypergraph, is_hypergraph
from portpart.metrics import quotient_graph
from portpart.metrics.nets import NetsView

MAX_TOUCHED = 1000
"""Maximum number of blocks of a net that links blocks."""

Ends = tuple[np.ndarray, np.ndarray]
"""Both ends of edges."""

NEIGHBOURS = 6
"""Number of nearest points that count as neighbours if there are no edges."""

SAMPLE = 200_000
"""Number of points that are examined for this."""


def either_graph(graph: GraphLike) -> EitherGraph:
    """Return an object with a graph or a hypergraph as a `Graph` or `Hypergraph`."""
    if isinstance(graph, (Graph, Hypergraph)):
        return graph
    return as_hypergraph(graph) if is_hypergraph(graph) else as_graph(graph, copy=False)


def drawn_blocks(part: Blocks | None, count: int, k: int | None = None,
                 graph: EitherGraph | None = None) -> tuple[np.ndarray, int]:
    """Return the block of each of `count` vertices, and the number of blocks, 0 if unknown.

    `graph` has the names of the vertices, if they have names.
    """
    return blocks_of(part, count, k or None, None if graph is None else graph.names)


def links_between(graph: GraphLike, part: Blocks, k: int | None = None) -> csr_array:
    """Return the weight of the edges between each two blocks; for a hypergraph, of the nets with
    pins in both.

    Nets with pins in more than `MAX_TOUCHED` blocks are left out: they would link all with all.

    Returns
    -------
    scipy.sparse.csr_array of int64, shape (k, k)
        Symmetric, with a zero diagonal.
    """
    graph = either_graph(graph)
    blocks, k = drawn_blocks(part, graph.num_vertices, k, graph)
    if k == 0:
        return csr_array((0, 0), dtype=np.int64)
    if isinstance(graph, Graph):
        return quotient_graph(graph, blocks, k).to_scipy()
    return _links_of_nets(graph, blocks, k)


def ends_of_edges(graph: EitherGraph) -> Ends:
    """Return the ends of each edge, once; a net has an edge from each of its pins to the next."""
    if isinstance(graph, Graph):
        arcs = graph.to_scipy().tocoo()
        once = arcs.row < arcs.col
        return arcs.row[once], arcs.col[once]
    to_host = graph.space.to_host
    pins, sizes = to_host(graph.net_pins), np.diff(to_host(graph.net_offsets))
    nets = np.repeat(np.arange(graph.num_nets), sizes)
    same = nets[1:] == nets[:-1]
    return pins[:-1][same], pins[1:][same]


def links_of_mesh(mesh: Mesh, part: np.ndarray, k: int) -> csr_array:
    """Return the number of nodes that each two blocks of elements share."""
    blocks = np.repeat(part, np.diff(mesh.offsets))
    return _shared(mesh.nodes, blocks, np.ones(mesh.num_nodes, np.int64), k)


def links_of_points(points: np.ndarray, part: np.ndarray, k: int) -> csr_array:
    """Return how often a point of one block is among the nearest of a point of another."""
    from scipy.spatial import cKDTree

    step = -(-len(points) // SAMPLE) or 1
    points, part = points[::step], part[::step]
    near = min(NEIGHBOURS + 1, len(points))
    if near < 2:
        return csr_array((k, k), dtype=np.int64)
    _, index = cKDTree(points).query(points, k=near, workers=-1)
    pairs = np.repeat(part, near), part[index.ravel()]
    differ = pairs[0] != pairs[1]
    one_way = coo_array((np.ones(differ.sum(), np.int64), (pairs[0][differ], pairs[1][differ])),
                        shape=(k, k)).tocsr()
    return csr_array(one_way + one_way.T)


def _links_of_nets(graph: Hypergraph, part: np.ndarray, k: int) -> csr_array:
    view = NetsView(graph, part, k)
    return _shared(view.nets, part[view.pins], view.net_weights, k)


def _shared(groups: np.ndarray, blocks: np.ndarray, weights: np.ndarray, k: int) -> csr_array:
    """Return the weight of groups with members in both of two blocks, and in few others."""
    pairs = np.unique(groups.astype(np.int64) * max(1, k) + blocks)
    group, block = np.divmod(pairs, max(1, k))
    few = np.bincount(group, minlength=1)[group] <= MAX_TOUCHED
    group, block = group[few], block[few]
    joins = csr_array((np.ones(len(group), np.int64), (group, block)), shape=(len(weights), k))
    weighed = csr_array((weights[group], (group, block)), shape=(len(weights), k))
    links = (joins.T @ weighed).tocoo()
    apart = links.row != links.col
    return coo_array((links.data[apart], (links.row[apart], links.col[apart])),
                     shape=(k, k)).tocsr()
