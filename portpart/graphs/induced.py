"""A graph or hypergraph of some of the vertices, and of what is between them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.row_choice import chosen_entries
from portpart.graphs.rows import Csr
from portpart.primitives.basic import gather, iota
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.select import positions_of

AnyGraph = TypeVar("AnyGraph", Graph, Hypergraph)


def induced(graph: AnyGraph, label: Array, wanted: int) -> tuple[AnyGraph, Array]:
    """The vertices of a label and the arcs or pins among them; synchronises twice or three times.

    Returns
    -------
    induced : Graph or Hypergraph
        Vertices, arcs and pins in the order that they have in `graph`.  Nets keep their numbers and
        weights, those without pins, too.
    vertices : array of int32
        Those of `graph` that they are.
    """
    space, n = graph.space, graph.num_vertices
    flags = space.empty(n, np.int8)
    space.parallel_for(n, flag_label, label, wanted, flags)
    vertices, number = positions_of(space, flags), offsets_from_counts(space, flags, np.int32)
    heavy = None if graph.vertex_weights is None else gather(space, graph.vertex_weights, vertices)
    if isinstance(graph, Graph):
        offsets, arcs = chosen_entries(space, vertices, graph.csr, graph.mean_degree, flags,
                                       graph.offsets.dtype)
        targets = gather(space, number, gather(space, graph.targets, arcs))
        weights = None if graph.weights is None else gather(space, graph.weights, arcs)
        return Graph(offsets, targets, weights, heavy, space), vertices
    nets, m, all_of = graph.nets, graph.num_nets, space.full(graph.num_nets, 1, np.int8)
    net_rows = Csr(nets.begin, nets.end, nets.pins, None, None, None)
    net_offsets, places = chosen_entries(space, iota(space, m), net_rows,
                                         graph.num_pins / max(1, m), flags,
                                         graph.net_offsets.dtype)
    pins = gather(space, number, gather(space, graph.net_pins, places))
    offsets, places = chosen_entries(space, vertices, graph.csr, graph.mean_degree, all_of,
                                       graph.vertex_offsets.dtype)
    return Hypergraph(net_offsets, pins, graph.net_weights, offsets,
                      gather(space, graph.vertex_nets, places), heavy, space), vertices


@kl.kernel
def flag_label(v, label, wanted, flags):
    """flags[v] = whether v has the label."""
    flags[v] = label[v] == wanted
