"""A graph or hypergraph of some of the vertices, and of what is between them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for
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
        offsets, arcs = _flagged(space, vertices, graph.csr, graph.mean_degree, flags,
                                 graph.offsets.dtype)
        targets = gather(space, number, gather(space, graph.targets, arcs))
        weights = None if graph.weights is None else gather(space, graph.weights, arcs)
        return Graph(offsets, targets, weights, heavy, space), vertices
    nets, m, all_of = graph.nets, graph.num_nets, space.full(graph.num_nets, 1, np.int8)
    net_rows = Csr(nets.begin, nets.end, nets.pins, None, None, None)
    net_offsets, places = _flagged(space, iota(space, m), net_rows, graph.num_pins / max(1, m),
                                   flags, graph.net_offsets.dtype)
    pins = gather(space, number, gather(space, graph.net_pins, places))
    offsets, places = _flagged(space, vertices, graph.csr, graph.mean_degree, all_of,
                               graph.vertex_offsets.dtype)
    return Hypergraph(net_offsets, pins, graph.net_weights, offsets,
                      gather(space, graph.vertex_nets, places), heavy, space), vertices


def _flagged(space: ExecutionSpace, listed: Array, rows: Csr, mean: float, flags: Array,
             dtype: np.dtype) -> tuple[Array, Array]:
    """Offsets of the listed rows without what is not flagged, and the places of what stays."""
    count, team = len(listed), team_for(mean)
    degrees = space.empty(count, np.int32)
    space.parallel_for(count, count_flagged_entries, listed, rows, flags, degrees, team=team)
    offsets = offsets_from_counts(space, degrees, dtype)
    places = space.empty(int(space.to_host(offsets[count:])[0]), np.int64)
    space.parallel_for(count, list_flagged_entries, listed, rows, flags, offsets, places, team=team)
    return offsets, places


@kl.kernel
def flag_label(v, label, wanted, flags):
    """flags[v] = whether v has the label."""
    flags[v] = label[v] == wanted


@kl.kernel
def count_flagged_entries(i, listed, rows: Csr, flags, degrees):
    """degrees[i] = entries of row i of the list that are flagged."""
    v = listed[i]
    count = kl.int64(0)
    for arc in range(rows.begin[v] + kl.lane(), rows.end[v], kl.team_size()):
        count += kl.int64(flags[rows.targets[arc]] != 0)
    count = kl.team_sum(count)
    if kl.lane() == 0:
        degrees[i] = count


@kl.kernel
def list_flagged_entries(i, listed, rows: Csr, flags, offsets, places):
    """places[offsets[i]] ... = those of flagged entries of row i of the list, in their order."""
    v = listed[i]
    place = kl.int64(offsets[i])
    base = kl.int64(rows.begin[v])
    end = kl.int64(rows.end[v])
    while base < end:
        arc = base + kl.lane()
        inside = kl.int64(0)
        if arc < end:
            inside = kl.int64(flags[rows.targets[arc]] != 0)
        until = kl.team_scan(inside)
        if inside != 0:
            places[place + until - 1] = arc
        place += kl.team_last(until)
        base += kl.team_size()
