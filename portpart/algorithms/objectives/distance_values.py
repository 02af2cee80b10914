"""Values of blocks by any distance: less the cost of a vertex there.

With very few arcs each candidate visits these; with few, the blocks that they lead
to, from a hash table; else the arcs again, where nothing better is known of the distance.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives.connectivity import (
    ALONG_ARCS,
    SLOTS,
    ConnectivityTable,
    in_table,
    one_by_one,
)
from portpart.algorithms.objectives.objective import BlockScore, Found, Tables
from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction, StaticValue
from portpart.graphs.rows import Csr

MAX_ALONG = 8
"""Most arcs that each candidate visits."""

FEW_SLOTS = 16
"""Slots for this many arcs at most."""


@kl.device
def far_from_all(found: Found, tables: Tables):
    """The value of a block that is as far from all neighbours as blocks can be."""
    return -(tables.max_distance * found.total)


@kl.device
def value_by_heads(block, count, v, graph: Csr, part, connections: ConnectivityTable,
                   tables: Tables,
                   distance: StaticValue):
    """Less the cost of v in a block."""
    cost = kl.int64(0)
    for j in range(count):
        cost += connections.weights[j] * distance(block, connections.blocks[j], tables)
    return -cost


@kl.device
def value_by_table(block, count, v, graph: Csr, part, connections: ConnectivityTable,
                   tables: Tables,
                   distance: StaticValue):
    """Less the cost of v in a block."""
    cost = kl.int64(0)
    for other in range(count):
        slot = kl.int64(connections.order[other])
        cost += connections.weights[slot] * distance(block, connections.blocks[slot], tables)
    return -cost


@kl.device
def value_along_arcs(block, count, v, graph: Csr, part, connections: ConnectivityTable,
                     tables: Tables,
                     distance: StaticValue):
    """Less the cost of v in a block."""
    cost = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        there = part[graph.targets[arc]]
        cost += kl.value_or(graph.weights, arc, 1) * distance(block, there, tables)
    return -cost


@dataclass(frozen=True)
class FewByDistance:
    """From the most neighbours, how the blocks of such a vertex are valued."""

    distance: DeviceFunction

    def __call__(self, max_degree: int) -> BlockScore:
        if max_degree > MAX_ALONG:
            slots = SLOTS if max_degree > FEW_SLOTS else FEW_SLOTS
            return BlockScore(in_table(slots), value_by_table.bound(distance=self.distance))
        return BlockScore(one_by_one(max(1, max_degree)),
                          value_by_heads.bound(distance=self.distance))


def many_by_distance(distance: DeviceFunction) -> BlockScore:
    """For vertices with any number of neighbours."""
    return BlockScore(ALONG_ARCS, value_along_arcs.bound(distance=distance))
