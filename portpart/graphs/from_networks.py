"""Graphs from objects of other libraries, whose vertices and edges have names and attributes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portpart import backends
from portpart.backends.programs import ExecutionSpace
from portpart.errors import InputError, listed, shown
from portpart.graphs.arrays import GraphLike, Numbers, index_array
from portpart.graphs.csr import directed_rows
from portpart.graphs.from_arrays import ArcReading, csr_graph, edges_graph, integer_weights
from portpart.graphs.graph import Graph
from portpart.graphs.names import in_order
from portpart.graphs.weights import MAX_TOTAL_WEIGHT, total_of

VERTEX_WEIGHTS = ("vertex_weights", "vertex ")
"""Beginnings of messages about weights of vertices."""


@dataclass(frozen=True)
class NamedEdges:
    """Edges between named vertices 0, 1 ...; weights as given, or None."""

    names: Sequence[Hashable] | None
    num_vertices: int
    ends: np.ndarray
    weights: Any
    is_directed: bool


def is_networkx(obj: GraphLike) -> bool:
    """Whether `obj` has the methods of a NetworkX graph."""
    return hasattr(obj, "adjacency") and hasattr(obj, "number_of_nodes")


def is_igraph(obj: GraphLike) -> bool:
    """Whether `obj` has the methods of an igraph graph."""
    return hasattr(obj, "get_edgelist") and hasattr(obj, "vcount")


def is_networkit(obj: GraphLike) -> bool:
    """Whether `obj` has the methods of a networkit graph."""
    return hasattr(obj, "numberOfNodes") and hasattr(obj, "iterEdges")


def graph_of_networkx(graph: Any, vertex_weights: Numbers, edge_weights: Numbers, how: ArcReading,
                      space: ExecutionSpace | None) -> Graph:
    """Return the graph of a NetworkX graph; its nodes are the names."""
    names = list(graph.nodes)
    number = {node: i for i, node in enumerate(names)}
    if isinstance(vertex_weights, str):
        vertex_weights = _attribute(
            "vertex_weights", vertex_weights, [data for _, data in graph.nodes(data=True)], "node")
    edges = list(graph.edges(data=True))
    weights: Any = edge_weights
    if isinstance(edge_weights, str):
        weights = _attribute("edge_weights", edge_weights, [data for *_, data in edges], "edge")
    elif edge_weights is None and (graph.is_multigraph() or
                                   any(data.get("weight") is not None for *_, data in edges)):
        weights = [_one_if_none(data.get("weight")) for *_, data in edges]
    ends = np.array([(number[u], number[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    found = NamedEdges(names, len(names), ends, weights, graph.is_directed())
    return graph_of_edges(found, vertex_weights, how, space)


def graph_of_igraph(graph: Any, vertex_weights: Numbers, edge_weights: Numbers, how: ArcReading,
                    space: ExecutionSpace | None) -> Graph:
    """Return the graph of an igraph graph, with the names of its vertices if they have any."""
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    if isinstance(vertex_weights, str):
        vertex_weights = _column("vertex_weights", vertex_weights, graph.vs, "vertex")
    weights: Any = edge_weights
    if isinstance(edge_weights, str):
        weights = _column("edge_weights", edge_weights, graph.es, "edge")
    elif edge_weights is None and "weight" in graph.es.attributes():
        weights = _column("edge_weights", "weight", graph.es, "edge")
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    found = NamedEdges(names, graph.vcount(), ends, weights, graph.is_directed())
    return graph_of_edges(found, vertex_weights, how, space)


def _one_if_none(value: Any) -> Any:
    return 1 if value is None else value


def _attribute(option: str, name: str, data: list[dict[str, Any]], of_what: str) -> list[Any]:
    """Return values of an attribute, 1 for missing ones; raise if all are missing."""
    if data and not any(name in each for each in data):
        known = sorted({str(key) for each in data for key in each})
        _refuse_attribute(option, name, known, of_what)
    return [_one_if_none(each.get(name)) for each in data]


def _column(option: str, name: str, items: Any, of_what: str) -> list[Any]:
    if name not in items.attributes():
        if len(items) == 0:
            return []
        _refuse_attribute(option, name, list(items.attributes()), of_what)
    return [_one_if_none(value) for value in items[name]]


def _refuse_attribute(option: str, name: str, known: list[str], of_what: str) -> None:
    there = f"there are {listed(known)}" if known else "there are no attributes"
    raise InputError(f"{option}={shown(name)}: no {of_what} has an attribute of that name; {there}")


def graph_of_edges(edges: NamedEdges, vertex_weights: Numbers | None, how: ArcReading,
                   space: ExecutionSpace | None) -> Graph:
    """Return the graph of named edges; errors name the ends of an edge."""
    vertex_weights = in_order(vertex_weights, edges.names, "vertex_weights")
    here = space or backends.space("cpu")
    try:
        if edges.is_directed and not how.symmetrize:
            made = _directed(edges, vertex_weights, how, here)
        else:
            made = edges_graph(edges.num_vertices, edges.ends[:, 0], edges.ends[:, 1],
                               edges.weights, vertex_weights, here, **vars(how))
    except InputError as problem:
        raise _naming_ends(problem, edges) from problem
    return replace(made, names=edges.names)


def _naming_ends(problem: InputError, edges: NamedEdges) -> InputError:
    """Return the error with the names of the ends of the invalid edge, if there is one."""
    if str(problem).startswith(VERTEX_WEIGHTS):
        return problem
    odd = _no_number(edges.weights)
    if odd is not None and odd >= len(edges.ends):  # there are too many weights
        return problem
    entry = problem.entry if odd is None else odd
    ends = problem.edge or (None if entry is None else edges.ends[entry].tolist())
    if ends is None or edges.names is None:
        return problem
    u, v = (shown(edges.names[end]) for end in ends)
    if odd is None:
        text = f"{problem} (the vertices are {u} and {v})"
    else:
        text = (f"the edge of {u} and {v} has weight {shown(edges.weights[odd])}; numbers up to "
                '2**62 are needed: weights="ignore" leaves weights out')
    return InputError(text, edge=tuple(ends), entry=entry)


def _no_number(weights: Numbers) -> int | None:
    """Return the place of the first weight that is not a number or too large for arrays."""
    if not isinstance(weights, list):
        return None
    return next((place for place, weight in enumerate(weights)
                 if not isinstance(weight, (int, float, np.number, np.bool_))
                 or (isinstance(weight, int) and abs(weight) > MAX_TOTAL_WEIGHT)), None)


def _directed(edges: NamedEdges, vertex_weights: Numbers, how: ArcReading,
              here: ExecutionSpace) -> Graph:
    """Return the graph of arcs that must be given in both directions."""
    tail, head = (index_array(here, edges.ends[:, side], "edges") for side in (0, 1))
    weights, scale = integer_weights(here, edges.weights, lambda: tail, head, "edges", how.mode,
                                     how.scale)
    if weights is not None:
        total_of(weights, "edge weights")
    rows = directed_rows(here, edges.num_vertices, tail, head, weights)
    return replace(csr_graph(*rows, vertex_weights, False, here), weight_scale=scale)
