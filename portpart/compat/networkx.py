"""Partitions and bisections of NetworkX graphs, and portpart's graphs as NetworkX graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from portpart import api, graphs
from portpart.base.interrupts import late_signals
from portpart.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Hashable

    import networkx


    WeightOf: TypeAlias = Callable[[Hashable, Hashable, dict[str, Any]], float | None]
    Weight: TypeAlias = str | WeightOf

# Partitions of NetworkX graphs as sets of nodes, and portpart's graphs as NetworkX graphs ------


__all__ = ["partition", "to_networkx"]


def partition(G: networkx.Graph, k: int, **options: Any) -> list[set[Hashable]]:
    """Divide the nodes of a NetworkX graph into `k` sets of nearly equal weight.

    Parameters
    ----------
    G : networkx.Graph
        Edges weigh their attribute ``"weight"``, 1 where they have none.  Edges of a multigraph
        between the same nodes add up.  A directed graph needs ``symmetrize=``.
    k : int
        Number of sets.
    **options
        As in :func:`portpart.partition`.  ``edge_weights`` and ``vertex_weights`` may be names of
        attributes; ``fixed`` and ``initial`` may be dicts by node.

    Returns
    -------
    list of set
        The nodes of each block: disjoint sets that together hold all nodes, as
        ``networkx.community`` takes them.

    Raises
    ------
    InputError
        As in :func:`portpart.partition`, and if `G` is not a graph of NetworkX.

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
    if not graphs.is_networkx(G):
        raise InputError(f"G is {shown(G)}; it must be a graph of NetworkX, and portpart.partition "
                         "takes others")
    return [set(block) for block in api.partition(G, k, **options).blocks()]


def to_networkx(graph: graphs.Graph, part: graphs.Blocks | None = None) -> networkx.Graph:
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
    if not isinstance(graph, graphs.Graph):
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
        blocks, _ = graphs.blocks_of(part, graph.num_vertices, names=graph.names)
        nx.set_node_attributes(made, dict(zip(nodes, blocks.tolist())), "block")
    return made


def _nodes(graph: graphs.Graph) -> list[Hashable]:
    """Return a name for each vertex; its number if it has none."""
    names = graphs.told_names(graph.names)
    if names is None:
        return list(range(graph.num_vertices))
    nodes = [vertex if name is None else name for vertex, name in enumerate(names)]
    first: dict[Hashable, int] = {}
    for vertex, name in enumerate(nodes):
        if first.setdefault(name, vertex) != vertex:
            raise InputError(f"vertices {first[name]} and {vertex} are both called {shown(name)}; "
                             "nodes of NetworkX need distinct names: "
                             "dataclasses.replace(graph, names=None) numbers them")
    return nodes


# Bisections with the contract of NetworkX: two sets of given sizes and a small cut -------------


def bisection(network: networkx.Graph, partition: Iterable[Iterable[Hashable]] | None,
              weight: Weight, seed: int) -> tuple[set[Hashable], set[Hashable]]:
    """Divide the nodes into two sets, the first not smaller.

    Parameters
    ----------
    network : networkx.Graph
        Undirected.
    partition : pair of iterables of nodes, or None
        The initial sets. The returned sets have the same sizes, and their cut is not larger.
    weight : str, function or None
        As for ``networkx.community.kernighan_lin_bisection``.
    seed : int

    Raises
    ------
    networkx.NetworkXError
        If `partition` does not divide the nodes into two sets.
    NotImplementedError
        If a weight is negative: NetworkX may then use another backend.
    InputError
        If a weight is not a finite number.
    """
    sides = None if partition is None else _sides(network, partition)
    if len(network) < 2 or (sides and not all(sides)):
        first, second = sides or (list(network), [])
        return set(first), set(second)
    graph = _graph(network, _weight_of(network, weight))
    given: dict[str, Any] = {}
    if sides is not None:
        given = {"target": [len(side) for side in sides],
                 "initial": {node: block for block, side in enumerate(sides) for node in side}}
    blocks = list(map(set, api.partition(graph, 2, imbalance=0, seed=seed, **given).blocks()))
    # as NetworkX returns them: the second side first
    one, other = sorted(blocks, key=len) if sides is None else blocks
    return other, one


def _sides(network: networkx.Graph,
           partition: Iterable[Iterable[Hashable]]) -> list[list[Hashable]]:
    """Return the two sides of a partition of the nodes."""
    import networkx as nx

    try:
        sides = [list(side) for side in partition]
        listed = [node for side in sides for node in side]
        is_one = len(listed) == len(network) and set(listed) == set(network)
    except TypeError as problem:
        raise nx.NetworkXError("partition must be two sets") from problem
    if len(sides) != 2:
        raise nx.NetworkXError("partition must be two sets")
    if not is_one:
        raise nx.NetworkXError("partition invalid")
    return sides


def _weight_of(network: networkx.Graph, weight: Weight) -> WeightOf:
    """Return a function for the weight between two nodes, which may be None for no edge."""
    if callable(weight):
        return weight
    if network.is_multigraph():
        return lambda u, v, data: sum(each.get(weight, 1) for each in data.values())
    return lambda u, v, data: data.get(weight, 1)


def _graph(network: networkx.Graph, weight_of: WeightOf) -> graphs.Graph:
    names = list(network)
    number = {node: place for place, node in enumerate(names)}

    def edges() -> Iterator[tuple[int, int, float]]:
        for tail, (u, row) in enumerate(network.adjacency()):
            for v, data in row.items():
                if tail < number[v] and (weight := weight_of(u, v, data)) is not None:
                    yield tail, number[v], weight

    found = list(edges())
    ends = np.array([each[:2] for each in found], np.int64).reshape(-1, 2)
    weights = [each[2] for each in found]
    for (tail, head), weight in zip(ends, weights):
        if isinstance(weight, (int, float, np.integer, np.floating)) and weight < 0:
            raise NotImplementedError(
                f"the edge of {shown(names[tail])} and {shown(names[head])} has weight "
                f'{shown(weight)}; backend="networkx" takes weights below 0')
    parts = any(isinstance(each, (float, np.floating)) and not each.is_integer()
                for each in weights)
    return graphs.graph_of_edges(graphs.NamedEdges(names, len(names), ends, weights, False), None,
                                 graphs.ArcReading(mode=graphs.ROUND if parts else graphs.KEEP),
                                 None)
