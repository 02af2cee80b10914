"""Derived graphs: several copies side by side, an induced subgraph, another order of vertices."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs.graph import Graph, chosen_rows
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.row_choice import chosen_entries
from portpart.graphs.structure import rows_of
from portpart.primitives import gather, iota, offsets_from_counts, positions_of, put_to

# Several copies of a graph or hypergraph, side by side in one ----------------------------------


AnyGraph = TypeVar("AnyGraph", Graph, Hypergraph)

LARGEST = ("degree", "size")
"""Measures of a graph that are the same for copies; others are multiplied by their number."""


def copies_of(graph: AnyGraph, count: int) -> AnyGraph:
    """Return copies side by side: vertex v of copy c has the number ``c * n + v``.

    For one copy this is the graph itself.  The caller ensures that the type of offsets can hold the
    number of all entries.
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
    """Return `count` copies of an array in one; each copy adds `step` more."""
    result = space.empty(count * len(values), values.dtype)
    space.parallel_for(len(result), repeat_shifted, values, len(values), step, result)
    return result


@kl.kernel
def repeat_shifted(i, values, length, step, result):
    """Set result[i] to the entry of a copy; each copy adds `step` more."""
    result[i] = values[i % length] + i // length * step


# Induced subgraphs and sub-hypergraphs ---------------------------------------------------------


def induced(graph: AnyGraph, label: Array, chosen: int) -> tuple[AnyGraph, Array]:
    """Return the graph of the vertices of a label; synchronises two or three times.

    Returns
    -------
    induced : Graph or Hypergraph
        Vertices, arcs and pins in the order of `graph`.  Nets keep their numbers and weights, also
        nets without pins.
    vertices : array of int32
        The vertices in `graph`.
    """
    space, n = graph.space, graph.num_vertices
    flags = space.empty(n, np.int8)
    space.parallel_for(n, flag_label, label, chosen, flags)
    vertices, number = positions_of(space, flags), offsets_from_counts(space, flags, np.int32)
    if isinstance(graph, Graph):
        return Graph(*chosen_rows(graph, vertices, flags, number), space), vertices
    m, all_of = graph.num_nets, space.full(graph.num_nets, 1, np.int8)
    heavy = None if graph.vertex_weights is None else gather(space, graph.vertex_weights, vertices)
    net_rows = rows_of(graph.net_offsets, graph.net_pins)
    net_offsets, places = chosen_entries(space, iota(space, m), net_rows,
                                         graph.num_pins / max(1, m), flags, graph.net_offsets.dtype)
    pins = gather(space, number, gather(space, graph.net_pins, places))
    offsets, places = chosen_entries(space, vertices, graph.csr, graph.mean_degree, all_of,
                                       graph.vertex_offsets.dtype)
    return Hypergraph(net_offsets, pins, graph.net_weights, offsets,
                      gather(space, graph.vertex_nets, places), heavy, space), vertices


@kl.kernel
def flag_label(v, label, chosen, flags):
    """Set flags[v] to whether v has the label."""
    flags[v] = label[v] == chosen


# Rows of a graph in another order --------------------------------------------------------------


TEAM = 8
"""Lanes that copy a row."""


def rows_in_order(graph: Graph, places: Array) -> Graph:
    """Return the graph whose row ``places[v]`` is the row of v; heads are unchanged."""
    space, masses = graph.space, graph.vertex_weights
    offsets = offsets_from_counts(space, put_to(space, places, degrees_of(graph)),
                                  graph.offsets.dtype)
    def moved(entries: Array) -> Array:
        return entries_in_order(space, graph.offsets, entries, places, offsets)

    return Graph(offsets, moved(graph.targets),
                 None if graph.weights is None else moved(graph.weights),
                 None if masses is None else put_to(space, places, masses), space)


def entries_in_order(space: ExecutionSpace, offsets: Array, values: Array, places: Array,
                     there: Array, names: Array | None = None) -> Array:
    """Return values of arcs after row v has become row ``places[v]``; `there` are the new offsets.

    With `names`, values are vertices and are replaced by their names.
    """
    result = space.empty(len(values), values.dtype if names is None else names.dtype)
    space.parallel_for(len(places), copy_row, offsets, values, names, places, there, result,
                       team=TEAM)
    return result


def degrees_of(graph: Graph) -> Array:
    """Return the number of arcs that leave each vertex, as int64."""
    degrees = graph.space.empty(graph.num_vertices, np.int64)
    graph.space.parallel_for(graph.num_vertices, write_degree, graph.offsets, degrees)
    return degrees


@kl.kernel
def write_degree(v, offsets, degrees):
    """Set degrees[v] to the number of arcs that leave v."""
    degrees[v] = kl.int64(offsets[v + 1]) - kl.int64(offsets[v])


@kl.kernel
def copy_row(v, offsets, values, names, places, there, result):
    """Copy the row of v, renamed if there are names, to its new place.  Called by one team."""
    begin = kl.int64(offsets[v])
    place = kl.int64(there[places[v]])
    for i in range(kl.lane(), offsets[v + 1] - begin, kl.team_size()):
        result[place + i] = kl.value_or(names, values[begin + i], values[begin + i])
