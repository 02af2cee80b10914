"""Partitions of NetworkX graphs as sets of nodes, and portpart's graphs as those of NetworkX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.api import partition as api
from portpart.backends.interrupts import late_signals
from portpart.errors import InputError
from portpart.graphs.blocks import blocks_of
from portpart.graphs.by_name import told_names
from portpart.graphs.from_networks import is_networkx
from portpart.graphs.graph import Graph
from portpart.options import shown

if TYPE_CHECKING:
    import networkx

__all__ = ["partition", "to_networkx"]


def partition(G: networkx.Graph, k: int, **options: Any) -> list[set[Any]]:
    """Divide the nodes of a NetworkX graph into `k` sets of nearly equal weight.

    Parameters
    ----------
    G : networkx.Graph
        Edges weigh their attribute ``"weight"``, 1 where they have none.  Edges of a multigraph
        between the same nodes add up.  A directed graph needs ``symmetrize=``.
    k : int
        Number of sets.
    **options
        As for :func:`portpart.partition`.  ``edge_weights`` and ``vertex_weights`` may be names of
        attributes; ``fixed`` and ``initial`` may be dicts by node.

    Returns
    -------
    list of set
        The nodes of each block: disjoint sets that together hold all nodes, as
        ``networkx.community`` takes them.

    Raises
    ------
    InputError
        As for :func:`portpart.partition`, and if `G` is not a graph of NetworkX.

    See Also
    --------
    portpart.partition : Returns also the cut, the imbalance and the weights of the blocks.

    Notes
    -----
    The same graph, options and seed give the same sets on every device.  The order of the nodes in
    `G` counts.

    Examples
    --------
    >>> import networkx as nx
    >>> from portpart.compat.networkx import partition
    >>> sorted(map(sorted, partition(nx.barbell_graph(3, 0), 2)))
    [[0, 1, 2], [3, 4, 5]]
    """
    if not is_networkx(G):
        raise InputError(f"G is {shown(G)}; it must be a graph of NetworkX, and portpart.partition "
                         "takes others")
    return [set(block) for block in api.partition(G, k, **options).blocks()]


def to_networkx(graph: Graph, part: Any = None) -> networkx.Graph:
    """Make a NetworkX graph of a graph of portpart.

    Parameters
    ----------
    graph : Graph
    part : array_like of int, shape (n,), dict, PartitionResult or Session, optional
        The block of each vertex, which becomes the attribute ``"block"`` of its node.

    Returns
    -------
    networkx.Graph
        Its nodes are the names of the vertices, else their numbers, in the order of the vertices.
        Weights of vertices and of edges are attributes ``"weight"``; weights of 1 throughout are
        left out.  Parallel edges become one with the sum of their weights.

    Raises
    ------
    InputError
        If `graph` is not a `Graph`, two vertices have the same name, or `part` does not fit.
    ImportError
        If NetworkX is not installed.

    Examples
    --------
    >>> import portpart
    >>> from portpart.compat.networkx import to_networkx
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> to_networkx(path, [0, 0, 1, 1]).nodes(data="block")
    NodeDataView({0: 0, 1: 0, 2: 1, 3: 1}, data='block')
    """
    if not isinstance(graph, Graph):
        raise InputError(f"graph is {shown(graph)}; it must be a portpart.Graph, and "
                         "portpart.as_graph makes one")
    with late_signals():
        import networkx as nx

    matrix = graph.to_scipy()
    matrix.sum_duplicates()
    nodes = _nodes(graph)
    made = nx.Graph()
    made.add_nodes_from(nodes)
    upper = matrix.tocoo()
    once = upper.row < upper.col
    tails, heads, weights = (array[once].tolist() for array in (upper.row, upper.col, upper.data))
    ends = zip(map(nodes.__getitem__, tails), map(nodes.__getitem__, heads))
    if np.all(upper.data == 1):
        made.add_edges_from(ends)
    else:
        made.add_weighted_edges_from((u, v, weight) for (u, v), weight in zip(ends, weights))
    if graph.vertex_weights is not None:
        masses = graph.space.to_host(graph.vertex_weights).tolist()
        nx.set_node_attributes(made, dict(zip(nodes, masses)), "weight")
    if part is not None:
        blocks, _ = blocks_of(part, graph.num_vertices, names=graph.names)
        nx.set_node_attributes(made, dict(zip(nodes, blocks.tolist())), "block")
    return made


def _nodes(graph: Graph) -> list[Any]:
    """A name for each vertex; the number where it has none."""
    names = told_names(graph.names)
    if names is None:
        return list(range(graph.num_vertices))
    nodes = [vertex if name is None else name for vertex, name in enumerate(names)]
    first: dict[Any, int] = {}
    for vertex, name in enumerate(nodes):
        if first.setdefault(name, vertex) != vertex:
            raise InputError(f"vertices {first[name]} and {vertex} are both called {shown(name)}; "
                             "nodes of NetworkX need distinct names: "
                             "dataclasses.replace(graph, names=None) numbers them")
    return nodes
