"""Connectivity of vertices to their own block and to another one, on the host.

In a graph it is the weight of arcs; in a hypergraph of nets with other pins in the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from portpart.graphs import EitherGraph, Graph, Hypergraph

Vertices: TypeAlias = list[int] | np.ndarray
"""A list if few, else an array; all different."""

MAX_LISTED = 32
"""Up to this many vertices are visited one by one, which is faster."""


def host_connectivity(graph: EitherGraph,
                      part: np.ndarray) -> ConnectivityByArcs | ConnectivityByNets:
    """Return the connectivity of a graph or a hypergraph; its moves change `part`."""
    if isinstance(graph, Hypergraph):
        return ConnectivityByNets(graph, part)
    return ConnectivityByArcs(graph, part)


class ConnectivityByArcs:
    """Connectivity of a graph: weights of arcs.

    Attributes
    ----------
    inside : numpy.ndarray of int64, shape (n,)
        Connectivity of each vertex to its own block.
    """

    def __init__(self, graph: Graph, part: np.ndarray) -> None:
        matrix = graph.to_scipy()
        self.offsets, self.targets, self.arcs = matrix.indptr, matrix.indices, matrix.data
        self.part = part
        sources = np.repeat(np.arange(len(part)), np.diff(self.offsets))
        same = np.where(part[sources] == part[self.targets], self.arcs, 0)
        sums = np.concatenate([[0], np.cumsum(same, dtype=np.int64)])
        self.inside = sums[self.offsets[1:]] - sums[self.offsets[:-1]]

    def begin(self) -> None:
        """Forget the connectivity to a block; another one follows. Here all arcs count."""

    def around(self, v: int) -> Iterator[tuple[Vertices, int]]:
        """Yield other vertices, and what v adds to their connectivity to its block."""
        for arc in range(self.offsets[v], self.offsets[v + 1]):
            yield [int(self.targets[arc])], int(self.arcs[arc])

    def move(self, v: int, block: int) -> list[int]:
        """Move v; return the vertices of its old block whose connectivity to it has decreased."""
        here, inside, left = self.part[v], 0, []
        for arc in range(self.offsets[v], self.offsets[v + 1]):
            u, weight = int(self.targets[arc]), int(self.arcs[arc])
            if self.part[u] == here:
                self.inside[u] -= weight
                left.append(u)
            elif self.part[u] == block:
                self.inside[u] += weight
                inside += weight
        self.part[v], self.inside[v] = block, inside
        return left


class ConnectivityByNets:
    """The same for a hypergraph: weights of nets with other pins in a block, for km1."""

    def __init__(self, graph: Hypergraph, part: np.ndarray) -> None:
        to_host = graph.space.to_host
        self.net_offsets, self.pins = to_host(graph.net_offsets), to_host(graph.net_pins)
        self.vertex_offsets, self.nets = to_host(graph.vertex_offsets), to_host(graph.vertex_nets)
        self.weights = (np.ones(graph.num_nets, np.int64) if graph.net_weights is None
                        else to_host(graph.net_weights).astype(np.int64))
        self.part, self.reached = part, set[int]()
        net_of = np.repeat(np.arange(graph.num_nets), np.diff(self.net_offsets))
        keys = (net_of << 32) | part[self.pins]
        _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
        self.inside = np.zeros(graph.num_vertices, np.int64)
        np.add.at(self.inside, self.pins, np.where(counts[place] > 1, self.weights[net_of], 0))

    def begin(self) -> None:
        self.reached = set()

    def around(self, v: int) -> Iterator[tuple[Vertices, int]]:
        for net, weight, pins in self._nets_of(v):
            if net not in self.reached:
                self.reached.add(net)
                others = pins[pins != v]
                yield others.tolist() if len(others) <= MAX_LISTED else others, weight

    def move(self, v: int, block: int) -> list[int]:
        here, inside, left = self.part[v], 0, []
        self.part[v] = block
        for _, weight, pins in self._nets_of(v):
            stay, there = (pins[(self.part[pins] == b) & (pins != v)] for b in (here, block))
            if len(stay) == 1:
                self.inside[stay] -= weight
                left.append(int(stay[0]))
            if len(there) == 1:
                self.inside[there] += weight
            inside += weight * (len(there) > 0)
        self.inside[v] = inside
        return left

    def _nets_of(self, v: int) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield number, weight and pins of each net of v."""
        for net in self.nets[self.vertex_offsets[v] : self.vertex_offsets[v + 1]].tolist():
            pins = self.pins[self.net_offsets[net] : self.net_offsets[net + 1]]
            yield net, int(self.weights[net]), pins
