"""What flows between two blocks of a hypergraph may cut: Lawler's network, all arcs written out."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from portpart.graphs.hypergraph import Hypergraph
from tests.oracles.nets import rows, weights

CountedNets = list[tuple[list[int], int]]
"""Pins and weights."""


def weight_between(net: list[int], weight: int, part: np.ndarray, objective: str) -> int:
    """What a net costs more if its pins are in both of blocks 0 and 1 instead of one."""
    others = len({int(part[v]) for v in net} - {0, 1})
    factor = {"km1": 1, "cut": int(others == 0), "soed": 2 - (others > 0)}[objective]
    return factor * weight


def counted_nets(graph: Hypergraph, part: np.ndarray, objective: str) -> CountedNets:
    """Pins in blocks 0 and 1, and weights, of nets that count there."""
    found = [([v for v in net if part[v] < 2], weight_between(net, weight, part, objective))
             for net, weight in zip(rows(graph), weights(graph))]
    return [(net, weight) for net, weight in found if net and weight]


def free_ones(nets: CountedNets, part: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """The vertices that layers inside their blocks reach from the boundary, without fixed ones."""
    found = np.zeros(len(part), bool)
    for net, _ in nets:
        if len(set(part[net])) > 1:
            found[net] = True
    found &= fixed < 0
    while True:
        before = found.sum()
        for net, _ in nets:
            for block in (0, 1):
                pins = np.array([v for v in net if part[v] == block], int)
                found[pins] |= found[pins].any() & (fixed[pins] < 0)
        if found.sum() == before:
            return found


def cost_between(nets: CountedNets, part: np.ndarray) -> int:
    """Weight of the nets with pins in both blocks."""
    return sum(weight for net, weight in nets if len(set(part[net])) > 1)


def lawler(nets: CountedNets, part: np.ndarray,
           free: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Lawler's network; and the node of each vertex, 0 being the source and 1 the sink."""
    name = np.where(free, np.cumsum(free) + 1, part.clip(0, 1))
    count = 2 + int(free.sum())
    arcs = {}
    for number, (net, weight) in enumerate(nets):
        first = count + 2 * number
        arcs[first, first + 1] = weight
        for node in {int(name[v]) for v in net}:
            arcs[node, first] = arcs[first + 1, node] = 10**6
    tails, heads = np.array(list(arcs)).T
    size = count + 2 * len(nets)
    return sparse.coo_array((np.array(list(arcs.values()), np.int32), (tails, heads)),
                            shape=(size, size)).tocsr(), name
