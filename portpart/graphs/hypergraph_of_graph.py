"""Graphs as hypergraphs and hypergraphs as graphs, where one says what the other does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.graphs.csr import pack_arc, tails, undirected_rows, unpacked
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.runs import Runs
from portpart.primitives.pair_sort import sorted_pairs

if TYPE_CHECKING:
    from portpart.backends.interface import Array


def neighbourhood_hypergraph(graph: Graph, sizes: Array | None = None) -> Hypergraph:
    """The hypergraph with a net for each vertex: the vertex itself and its neighbours.

    A net that touches b blocks costs its weight times b - 1: what a vertex sends to other blocks
    (Catalyurek, Aykanat 1999).  Edge weights do not count.

    Parameters
    ----------
    sizes : array of int, shape (n,), optional
        What a vertex sends to each block: the weights of the nets.
    """
    space, n, m = graph.space, graph.num_vertices, graph.num_arcs
    keys = space.empty(m + n, np.int64)
    space.parallel_for(m, pack_arc, tails(space, graph.offsets, m), graph.targets, keys)
    space.parallel_for(n, pack_itself, m, keys)
    keys = sorted_pairs(space, keys, n, n)
    offsets, members, _ = unpacked(space, n, Runs(space, keys).first_of(keys), None)
    return Hypergraph(offsets, members, sizes, offsets, members, graph.vertex_weights, space,
                      names=graph.names)


def graph_of_pairs(hypergraph: Hypergraph) -> Graph:
    """The graph whose edges are the nets of two pins; all others, which have less, cost nothing.

    The weights of equal nets add up.
    """
    pairs = hypergraph.net_offsets[1:] - hypergraph.net_offsets[:-1] == 2
    first = hypergraph.net_offsets[:-1][pairs]
    weights = hypergraph.net_weights
    weights = hypergraph.space.full(len(first), 1, np.int64) if weights is None else (
        weights[pairs].astype(np.int64))
    offsets, targets, weights = undirected_rows(
        hypergraph.space, hypergraph.num_vertices, hypergraph.net_pins[first],
        hypergraph.net_pins[first + 1], weights)
    return Graph(offsets, targets, weights, hypergraph.vertex_weights, hypergraph.space,
                 names=hypergraph.names)


@kl.kernel
def pack_itself(v, begin, keys):
    """keys[begin + v] = v with itself."""
    keys[begin + v] = (kl.int64(v) << 32) | kl.int64(v)
