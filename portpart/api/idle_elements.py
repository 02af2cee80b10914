"""Fewer processes than elements: idle ones get a vertex without edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from portpart.algorithms.multilevel.constraints import FREE, Constraints
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.metrics.balance import target_shares
from portpart.primitives.reduce import max_of


def with_idle_elements(graph: Graph, constraints: Constraints, k: int,
                       target: Any) -> tuple[Graph, Constraints]:
    """A graph with as many vertices as elements that have a share of the weight.

    Vertices that are added have no edges, are free, and begin on elements that `initial` leaves
    out.

    Raises
    ------
    InputError
        If there are fewer vertices, and they differ in weight.
    """
    n = graph.num_vertices
    shares = [1] * k if target is None else target_shares(k, target)
    used = np.flatnonzero(shares)
    idle = len(used) - n
    if idle <= 0:
        return graph, constraints
    if graph.vertex_weights is not None and n and (
            graph.total_vertex_weight != n or max_of(graph.space, graph.vertex_weights) > 1):
        raise InputError(f"there are {len(used)} processing elements for {n} vertices: each vertex "
                         "gets its own element, and weights of vertices cannot count; pass "
                         f"vertex_weights=numpy.ones({n}, int)")
    offsets = graph.space.to_host(graph.offsets)
    longer = np.append(offsets, np.full(idle, offsets[-1], offsets.dtype))
    totals = {name: total for name, total in graph._totals.items() if name != "vertex"}
    fixed, initial = constraints.fixed, constraints.initial
    if fixed is not None:
        fixed = _longer(graph, fixed, np.full(idle, FREE))
    if initial is not None:
        left = np.setdiff1d(used, graph.space.to_host(initial))
        initial = _longer(graph, initial, left[:idle])
    return (replace(graph, offsets=graph.space.asarray(longer), vertex_weights=None, names=None,
                    _totals=totals),
            replace(constraints, fixed=fixed, initial=initial))


def without_idle(graph: Graph, part: Array, weights: np.ndarray,
                 n: int) -> tuple[Array, np.ndarray]:
    """The elements of the first `n` vertices, and what these weigh on each element."""
    added = np.bincount(graph.space.to_host(part[n:]), minlength=len(weights))
    return part[:n], weights - added


def _longer(graph: Graph, blocks: Array, more: np.ndarray) -> Array:
    return graph.space.asarray(np.append(graph.space.to_host(blocks), more).astype(np.int32))
