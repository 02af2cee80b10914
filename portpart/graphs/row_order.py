"""Rows of a graph in another order."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.primitives.basic import put_to
from portpart.primitives.scan import offsets_from_counts

TEAM = 8
"""Lanes that copy a row."""


def in_order(graph: Graph, places: Array) -> Graph:
    """The graph whose row number ``places[v]`` is that of v; heads are what they have been."""
    space, masses = graph.space, graph.vertex_weights
    offsets = offsets_from_counts(space, put_to(space, places, degrees_of(graph)),
                                  graph.offsets.dtype)
    targets, weights = (None if each is None else entries_in_order(space, graph.offsets, each,
                                                                   places, offsets)
                        for each in (graph.targets, graph.weights))
    return Graph(offsets, targets, weights,
                 None if masses is None else put_to(space, places, masses), space)


def entries_in_order(space: ExecutionSpace, offsets: Array, values: Array, places: Array,
                     there: Array) -> Array:
    """Values of the arcs of rows where row v becomes row ``places[v]``, which begins there."""
    result = space.empty(len(values), values.dtype)
    space.parallel_for(len(places), copy_row, offsets, values, places, there, result, team=TEAM)
    return result


def degrees_of(graph: Graph) -> Array:
    """Arcs that leave each vertex, as int64."""
    degrees = graph.space.empty(graph.num_vertices, np.int64)
    graph.space.parallel_for(graph.num_vertices, write_degree, graph.offsets, degrees)
    return degrees


@kl.kernel
def write_degree(v, offsets, degrees):
    """degrees[v] = arcs that leave v."""
    degrees[v] = kl.int64(offsets[v + 1]) - kl.int64(offsets[v])


@kl.kernel
def copy_row(v, offsets, values, places, there, result):
    """Copy the row of v to where that of its place begins.  A team."""
    begin = kl.int64(offsets[v])
    place = kl.int64(there[places[v]])
    for i in range(kl.lane(), offsets[v + 1] - begin, kl.team_size()):
        result[place + i] = values[begin + i]
