"""Graphs made of a graph: several copies side by side, or a part of the vertices."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.row_choice import chosen_entries
from portpart.graphs.structure import Csr
from portpart.primitives import gather, iota, offsets_from_counts, positions_of

# Several copies of a graph or hypergraph, side by side in one ----------------------------------


AnyGraph = TypeVar("AnyGraph", Graph, Hypergraph)

LARGEST = ("degree", "size")
"""What is known of a graph and does not add up."""


def copies_of(graph: AnyGraph, count: int) -> AnyGraph:
    """The graph itself for one copy; else vertex v of copy c is number ``c * n + v``.

    Rows have as many entries in all as their type can count: the caller's business.
    """
    if count == 1:
        return graph
    space, n = graph.space, graph.num_vertices

    def rows(offsets: Array, entries: Array, others: int) -> tuple[Array, Array]:
        length = len(offsets) - 1
        result = space.empty(count * length + 1, offsets.dtype)
        space.parallel_for(len(result), repeat_shifted, offsets, length, len(entries), result)
        return result, repeated(space, entries, count, others)

    def weights(values: Array | None) -> Array | None:
        return None if values is None else repeated(space, values, count)

    heavy = weights(graph.vertex_weights)
    known = {name: value if name in LARGEST else count * value
             for name, value in graph._totals.items()}
    if isinstance(graph, Graph):
        return Graph(*rows(graph.offsets, graph.targets, n), weights(graph.weights), heavy, space,
                     known)
    return Hypergraph(*rows(graph.net_offsets, graph.net_pins, n), weights(graph.net_weights),
                      *rows(graph.vertex_offsets, graph.vertex_nets, graph.num_nets), heavy, space,
                      known)


def repeated(space: ExecutionSpace, values: Array, count: int, step: int = 0) -> Array:
    """`count` copies of an array, each `step` more than the one before."""
    result = space.empty(count * len(values), values.dtype)
    space.parallel_for(len(result), repeat_shifted, values, len(values), step, result)
    return result


@kl.kernel
def repeat_shifted(i, values, length, step, result):
    """result[i] = the entry of a copy, each of which is `step` more than the one before."""
    result[i] = values[i % length] + i // length * step


# A graph or hypergraph of some of the vertices, and of what is between them --------------------


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
                                         graph.num_pins / max(1, m), flags, graph.net_offsets.dtype)
    pins = gather(space, number, gather(space, graph.net_pins, places))
    offsets, places = chosen_entries(space, vertices, graph.csr, graph.mean_degree, all_of,
                                       graph.vertex_offsets.dtype)
    return Hypergraph(net_offsets, pins, graph.net_weights, offsets,
                      gather(space, graph.vertex_nets, places), heavy, space), vertices


@kl.kernel
def flag_label(v, label, wanted, flags):
    """flags[v] = whether v has the label."""
    flags[v] = label[v] == wanted
