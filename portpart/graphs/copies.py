"""Several copies of a graph or hypergraph, side by side in one."""

from __future__ import annotations

from typing import TypeVar

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph

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
