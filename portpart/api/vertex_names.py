"""Blocks that are given by names of vertices, or by a result or a session."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from portpart.api.bounds import FREE
from portpart.errors import InputError, shown
from portpart.graphs import Hypergraph, by_name, did_you_mean, held_blocks, host_array
from portpart.options import MAX_BLOCKS


class Vertices(Protocol):
    """An object with vertices.

    Attributes
    ----------
    names : sequence, or None
        The name of each vertex; None if names are numbers.
    num_vertices : int
    """

    @property
    def names(self) -> Sequence[Hashable] | None: ...

    @property
    def num_vertices(self) -> int: ...


def blocks_by_vertex(values: Any, name: str, graph: Vertices) -> Any:
    """Return a block per vertex from a mapping, a result or a session; other values unchanged.

    Vertices that a mapping does not contain get -1. Its keys, or the index of a Series, are names
    of vertices if the graph has names, else numbers.
    """
    values = held_blocks(values, graph.names)
    values = by_name(values, graph.names, graph.num_vertices, name)
    if not isinstance(values, Mapping):
        return values
    blocks = np.full(graph.num_vertices, FREE, np.int64)
    given = host_array(list(values.values())) if values else blocks[:0]
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise InputError(f"{name} maps vertices to {shown(next(iter(values.values())))}; blocks "
                         "must be integers")
    places = _places(list(values), name, graph)
    blocks[places] = given
    return blocks


def blocks_by_edge(values: Any, name: str, edges: Hypergraph) -> Any:
    """Return a block per edge from a mapping, with -1 for missing edges; other values unchanged.

    Keys are pairs of vertices in any order, by name if they have names. Parallel edges have one
    block. In `initial` every edge must have a block.
    """
    if not isinstance(values, Mapping):
        return values
    names, number = edges.net_names, _numbers(edges.net_names, edges.num_nets)
    given: dict[tuple[int, ...], int] = {}
    for pair, block in values.items():
        ends = sorted(number.get(end, FREE) for end in pair) if isinstance(pair, tuple) else []
        if len(ends) != 2 or FREE in ends:
            raise InputError(f"{name} names {shown(pair)}, which is no pair of vertices")
        if not isinstance(block, (int, np.integer)) or abs(int(block)) > MAX_BLOCKS:
            raise InputError(f"{name} maps the edge {shown(pair)} to {shown(block)}; blocks must "
                             "be integers below 2**31")
        if given.setdefault(tuple(ends), int(block)) != block:
            raise InputError(f"{name} has the edge {shown(pair)} in both directions, in blocks "
                             f"{given[tuple(ends)]} and {block}")
    pairs = list(map(tuple, edges.space.to_host(edges.vertex_nets).reshape(-1, 2).tolist()))
    unknown = next(iter(given.keys() - set(pairs)), None)
    if unknown is not None:
        raise InputError(f"{name} names the vertices {_called(unknown, names)}, which no edge "
                         "joins")
    if name == "initial" and len(given) < len(set(pairs)):
        missing = next(pair for pair in pairs if pair not in given)
        raise InputError("initial has no block for the edge of the vertices "
                         f"{_called(missing, names)}")
    return np.array([given.get(pair, FREE) for pair in pairs], np.int64)


def _called(ends: tuple[int, ...], names: Sequence[Hashable] | None) -> str:
    """Return a pair of vertices as text, by name if they have names."""
    return shown(ends if names is None else tuple(names[end] for end in ends))


def refuse_partial(values: Any, name: str, graph: Vertices) -> None:
    """Raise if a mapping does not contain a vertex, and name it."""
    values = by_name(values, graph.names, graph.num_vertices, name)
    if not isinstance(values, Mapping) or len(values) >= graph.num_vertices:
        return
    vertices = range(graph.num_vertices) if graph.names is None else graph.names
    missing = next(vertex for vertex in vertices if vertex not in values)
    raise InputError(f"{name} has no block for vertex {shown(missing)}: all {graph.num_vertices} "
                     f"vertices need one, and {len(values)} have")


def _places(vertices: list[Hashable], name: str, graph: Vertices) -> np.ndarray:
    """Return the numbers of vertices."""
    number = _numbers(graph.names, graph.num_vertices)
    places = [number.get(vertex, -1) for vertex in vertices]
    if -1 in places:
        unknown = vertices[places.index(-1)]
        raise InputError(f"{name} names {shown(unknown)}, which is not a vertex"
                         f"{_hint(unknown, graph)}")
    return np.array(places, np.int64)


def _hint(unknown: Hashable, graph: Vertices) -> str:
    """Return a hint at the name that may have been meant."""
    if isinstance(graph.names, range):
        return (f" of this rank: it has {graph.num_vertices} from {graph.names.start} on, and each "
                "rank gives the blocks of its vertices")
    if graph.names is None:
        return f": vertices are 0 ... {graph.num_vertices - 1}"
    first = ", ".join(map(shown, list(graph.names)[:3]))
    return did_you_mean(unknown, graph.names) or f": the first vertices are {first}"


def _numbers(names: Sequence[Hashable] | None, n: int) -> dict[Hashable, int]:
    """Return the number of each vertex by its name; None is not a name."""
    if names is None:
        return {vertex: vertex for vertex in range(n)}
    number = {vertex: place for place, vertex in enumerate(names) if vertex is not None}
    named = sum(vertex is not None for vertex in names)
    if len(number) < named:
        raise InputError(f"{named} vertices have {len(number)} different names; give blocks as an "
                         "array, one for each vertex")
    return number
