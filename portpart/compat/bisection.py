"""Bisections with the contract of NetworkX: two sets of given sizes and a small cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.api import partition as api
from portpart.graphs.from_arrays import ArcReading
from portpart.graphs.from_networks import NamedEdges, graph_of_edges
from portpart.graphs.graph import Graph
from portpart.graphs.weights import KEEP, ROUND
from portpart.options import shown

if TYPE_CHECKING:
    import networkx


def bisection(network: networkx.Graph, partition: Any, weight: Any,
              seed: int) -> tuple[set[Any], set[Any]]:
    """Divide the nodes into two sets, the first not smaller.

    Parameters
    ----------
    network : networkx.Graph
        Undirected.
    partition : pair of iterables of nodes, or None
        What to begin with.  The sets returned have these sizes, and cut no more.
    weight : str, function or None
        As for ``networkx.community.kernighan_lin_bisection``.
    seed : int

    Raises
    ------
    networkx.NetworkXError
        If `partition` is not one of the nodes into two sets.
    NotImplementedError
        If a weight is negative: NetworkX may take another backend then.
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
    # as NetworkX returns them: what was the second side first
    one, other = sorted(blocks, key=len) if sides is None else blocks
    return other, one


def _sides(network: networkx.Graph, partition: Any) -> list[list[Any]]:
    """The two sides of a partition of the nodes."""
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


def _weight_of(network: networkx.Graph, weight: Any) -> Callable[[Any, Any, Any], Any]:
    """The weight of what joins two nodes, None where nothing does."""
    if callable(weight):
        return weight
    if network.is_multigraph():
        return lambda u, v, data: sum(each.get(weight, 1) for each in data.values())
    return lambda u, v, data: data.get(weight, 1)


def _graph(network: networkx.Graph, weight_of: Callable[[Any, Any, Any], Any]) -> Graph:
    names = list(network)
    number = {node: place for place, node in enumerate(names)}

    def edges() -> Iterator[tuple[int, int, Any]]:
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
    return graph_of_edges(NamedEdges(names, len(names), ends, weights, False), None,
                          ArcReading(mode=ROUND if parts else KEEP), None)
