"""Shared parts of the public functions: checks of options, copies of graphs and results."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from portpart import backends
from portpart.api.bounds import Bounds
from portpart.api.call_options import CallOptions
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError, shown
from portpart.graphs import PLURALS, EitherGraph, Graph, GraphLike, Hypergraph, Numbers, space_of
from portpart.inputs import as_graph, as_hypergraph
from portpart.metrics.balance import exact_imbalance
from portpart.options import WrittenNumber, exact_fraction
from portpart.primitives import argmax_of, max_of

OF_EDGES = ("edge_weights", "symmetrize", "weights", "weight_scale")
"""Options for reading edges."""

OF_GRAPH = ("vertex_weights", "net_weights", *OF_EDGES)
"""Options for making the graph."""

NOT_OF_GRAPHS = "net_weights is for hypergraphs; for a graph pass edge_weights="
NOT_OF_NETS = "edge_weights is for graphs; for a hypergraph pass net_weights="


def warn_of_percents(imbalance: WrittenNumber, frames: int = 4) -> None:
    """Warn the caller, `frames` up, if a valid imbalance is above 1."""
    if exact_fraction(imbalance) > 1:
        warnings.warn(f"imbalance={shown(imbalance)} lets blocks weigh more than twice their "
                      'share: 3 % is 0.03 or "3%"', UserWarning, stacklevel=frames)


def graph_on_device(graph: GraphLike, options: CallOptions) -> Graph:
    """Return the checked graph in the memory of the space that will work on it.

    Arrays are not copied if they are there: the graph is used only during the call.
    """
    if options.net_weights is not None:
        raise InputError(NOT_OF_GRAPHS)
    space = _space_for(graph, options.device, options.threads)
    with _current_for(graph, space):
        made = as_graph(
            graph, vertex_weights=options.vertex_weights, edge_weights=options.edge_weights,
            symmetrize=options.symmetrize, weights=options.weights,
            weight_scale=options.weight_scale, space=space, copy=False)
        return made if space is None else made.to(space)


def hypergraph_on_device(data: GraphLike, options: CallOptions) -> Hypergraph:
    """Do the same for a hypergraph, for which options of edges are errors."""
    for name in OF_EDGES:
        value = getattr(options, name)
        if value is not None and value is not False:
            raise InputError(NOT_OF_NETS if name == "edge_weights" else f"{name} is for graphs")
    space = _space_for(data, options.device, options.threads)
    with _current_for(data, space):
        made = as_hypergraph(data, net_weights=options.net_weights,
                             vertex_weights=options.vertex_weights, space=space)
        return made if space is None else made.to(space)


def _space_for(graph: GraphLike, device: str, threads: int | None) -> ExecutionSpace | None:
    """Return the space that a call names; None: that of the graph or of its arrays."""
    stays = _is_on_device(graph) or (threads is None and isinstance(graph, EitherGraph))
    name = "cpu" if device == "auto" else device
    return None if device == "auto" and stays else backends.space(name, threads=threads)


def _is_on_device(graph: GraphLike) -> bool:
    """Whether the arrays of `graph` are in a GPU's memory."""
    if isinstance(graph, EitherGraph):
        return graph.space.kind == "cuda"
    return any(hasattr(holder, "__cuda_array_interface__") for holder in _holders(graph))


def _holders(graph: GraphLike) -> tuple[Any, ...]:
    """Return objects that may hold arrays of a GPU."""
    if isinstance(graph, np.ndarray):
        return ()  # the attribute `data` of some arrays raises an error
    return graph if isinstance(graph, tuple) else (graph, getattr(graph, "data", None))


def _current_for(graph: GraphLike, space: ExecutionSpace | None) -> AbstractContextManager[Any]:
    """Return a context in which the device of a graph's arrays is the current one.

    Work on another device would not wait for work that has begun on this one.
    """
    if space is None:
        space = graph.space if isinstance(graph, EitherGraph) else next(
            (space_of(each) for each in _holders(graph)
             if hasattr(each, "__cuda_array_interface__")), None)
    return nullcontext() if space is None else space.active()


def to_callers_memory(part: Array, graph: GraphLike, space: ExecutionSpace) -> Any:
    """Return `part` in the kind of memory of the caller's graph."""
    if not _is_on_device(graph):
        return space.to_host(part)
    return part if space.kind == "cuda" else backends.space("cuda").asarray(part)


def infeasibility_message(graph: EitherGraph, weights: np.ndarray, bounds: Bounds,
                          target: Numbers | None = None, item: str = "vertex") -> str:
    """Return which limit is violated, and why."""
    def heaviest() -> tuple[int, int]:
        weights = graph.vertex_weights
        assert weights is not None
        return argmax_of(graph.space, weights), max_of(graph.space, weights)

    return broken_bound(heaviest, weights, bounds, target, item)


def broken_bound(heaviest: Callable[[], tuple[int, int]], weights: np.ndarray, bounds: Bounds,
                 target: Numbers | None = None, item: str = "vertex") -> str:
    """Do the same with a function that returns the heaviest vertex and its weight."""
    limits, fixed = bounds.limits, bounds.fixed_weight
    block = int((fixed - limits).argmax())
    if fixed[block] > limits[block]:
        return (f"the {PLURALS[item]} fixed to block {block} weigh {fixed[block]}, more than the "
                f"{limits[block]} it may weigh")
    if (weights <= limits).all():
        return (f"no partition with at least {max(1, bounds.min_weight)} in each block was found; "
                f"the lightest block weighs {weights.min()}")
    limit = int(limits.max())
    vertex, weight = heaviest()
    if weight > limit:
        return (f"{item} {vertex} weighs {weight}, more than the {limit} a block may weigh; "
                "its block exceeds the limit")
    block = int((weights - limits).argmax())
    excess = exact_imbalance(weights, target)
    enough = ("its share of the weight is 0" if excess == math.inf else
              f"it would be within the limits of imbalance={math.ceil(excess * 10**4) / 10**4}")
    return (f"no partition within the limits was found; block {block} weighs {weights[block]}, "
            f"more than the {limits[block]} it may; {enough}")
