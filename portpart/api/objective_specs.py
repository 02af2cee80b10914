"""Specifications of a call: the graph to partition, the objective, the values of the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import graphs
from portpart.algorithms.objectives import (
    CUT,
    NET_COSTS,
    Objective,
    check_net_costs,
    cut_of,
    net_objective,
    net_values,
)
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError, shown
from portpart.estimate import dry_run_edges

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


OF_GRAPHS = ("cut", "volume")
"""Objectives of graphs, the default first; those of hypergraphs are `NET_COSTS`."""

OF_SESSIONS = ("cut",)
"""Objectives of graphs that sessions support."""


@dataclass(frozen=True, eq=False)
class ObjectiveSpec:
    """A problem in the form that the algorithms need.

    Attributes
    ----------
    graph : Graph or Hypergraph
        The graph that is partitioned: the given one, or an equivalent one.
    objective : Objective
    measure : callable
        Returns the values of a result by name, from the blocks of the vertices and the cut of the
        graph that is partitioned, if that is known.
    facts : dict
        Further statistics of a result.
    edges : Hypergraph, optional
        The hypergraph of edges, if edges are partitioned.
    """

    graph: graphs.EitherGraph
    objective: Objective
    measure: Callable[[Array, int | None], dict[str, int]]
    facts: dict[str, Any]
    edges: graphs.Hypergraph | None = None

    @property
    def item(self) -> str:
        """The word for a vertex in messages."""
        return "vertex" if self.edges is None else "edge"


def objective_spec(given: graphs.EitherGraph, k: int, objective: str | None,
                   vertex_sizes: graphs.Numbers | None, as_edges: bool) -> ObjectiveSpec:
    """Return the specification of a call.

    The communication volume of a graph is the km1 of its closed neighbourhoods. A hypergraph of
    nets with two pins becomes a graph if `as_edges` allows it.

    Raises
    ------
    InputError
        If the objective is unknown, sizes are given without a use, or costs may exceed
        64 bits.
    """
    name = checked_objective(isinstance(given, graphs.Hypergraph), objective)
    if vertex_sizes is not None and name != "volume":
        raise InputError(f'vertex_sizes needs objective="volume", not {name!r}')
    if isinstance(given, graphs.Hypergraph):
        return _of_hypergraph(given, k, name, as_edges)
    if name == "volume":
        return _of_volume(given, k, vertex_sizes)

    def of_graph(part: Array, cut: int | None) -> dict[str, int]:
        return {"cut": cut_of(given, part) if cut is None else cut}

    return ObjectiveSpec(given, CUT, of_graph, _facts_of_graph(given))


def edge_spec(given: graphs.EitherGraph, k: int, as_edges: bool) -> ObjectiveSpec:
    """Return the specification for the edges of a graph, which are vertices of a hypergraph."""
    assert isinstance(given, graphs.Graph)
    dry_run_edges(given)
    edges = graphs.edge_hypergraph(given)
    spec = _of_hypergraph(edges, k, "km1", as_edges, "vertex weights")
    return replace(spec, facts=_facts_of_graph(given), edges=edges)


def _facts_of_graph(given: graphs.Graph) -> dict[str, Any]:
    return {"weight_scale": given.weight_scale}


def default_objective(given: graphs.EitherGraph) -> str:
    """Return the default objective of a graph or a hypergraph."""
    return next(iter(NET_COSTS)) if isinstance(given, graphs.Hypergraph) else OF_GRAPHS[0]


def checked_objective(of_nets: bool, objective: str | None, session: bool = False) -> str:
    """Return the checked name of an objective of a graph or hypergraph, or of a session.

    Raises
    ------
    InputError
        If there is no objective of this name.
    """
    known = tuple(NET_COSTS) if of_nets else OF_SESSIONS if session else OF_GRAPHS
    if objective is None:
        return known[0]
    if not isinstance(objective, str) or objective not in known:
        kind = ("a session of " if session else "") + ("a hypergraph" if of_nets else "a graph")
        names = f"{'one of ' if len(known) > 1 else ''}{', '.join(map(repr, known))}"
        hint = "; portpart.as_hypergraph makes one of nets" if objective in list(NET_COSTS) else ""
        raise InputError(f"objective is {shown(objective)}; for {kind} it must be {names}{hint}")
    return objective


def _of_hypergraph(given: graphs.Hypergraph, k: int, name: str, as_edges: bool,
                   of_what: str = "net weights") -> ObjectiveSpec:
    check_net_costs(given, k, of_what)
    facts = {"irregularities": graphs.irregularities(given)}
    if as_edges and given.max_net_size <= 2:
        graph = graphs.graph_of_pairs(given)

        def of_edges(part: Array, cut: int | None) -> dict[str, int]:
            cut = cut_of(graph, part) if cut is None else cut
            return {"cut": cut, "km1": cut, "soed": 2 * cut}

        return ObjectiveSpec(graph, CUT, of_edges, facts)

    def of_nets(part: Array, cut: int | None) -> dict[str, int]:
        return net_values(given, part, k, NET_COSTS)

    return ObjectiveSpec(given, net_objective(name), of_nets, facts)


def _of_volume(given: graphs.Graph, k: int, vertex_sizes: graphs.Numbers | None) -> ObjectiveSpec:
    nets = graphs.neighbourhood_hypergraph(given, checked_sizes(given, vertex_sizes))
    check_net_costs(nets, k, "vertex sizes")
    price = {"volume": NET_COSTS["km1"]}
    return ObjectiveSpec(nets, net_objective("km1"), lambda part, cut: {
        "cut": cut_of(given, part), **net_values(nets, part, k, price)}, _facts_of_graph(given))


def checked_sizes(graph: graphs.EitherGraph, sizes: graphs.Numbers | None) -> Array | None:
    """Return sizes of vertices in the types of weights."""
    if sizes is None:
        return None
    return amounts(graph.space, graphs.in_order(sizes, graph.names, "vertex_sizes"),
                   graph.num_vertices, "vertex_sizes", "vertices")


def amounts(space: ExecutionSpace, values: ArrayLike, number: int, name: str, things: str) -> Array:
    """Return the checked amount of each thing: int64, not negative, with a total of at most 2**62.

    Raises
    ------
    InputError
        With the first invalid entry.
    """
    array = graphs.as_array(space, values, name)
    if array.shape != (number,):
        raise InputError(f"{name} have shape {tuple(array.shape)} for {number} {things}; one for "
                         "each is needed")
    array = graphs.integral(space, array, name).astype(np.int64, copy=False)
    place, _ = graphs.surveyed_weights(space, array, name.replace("_", " "))
    if place is not None:
        amount = graphs.item_of(space, array, place)
        raise InputError(f"{name}[{place}] is {amount}; it must be at least 0")
    return array
