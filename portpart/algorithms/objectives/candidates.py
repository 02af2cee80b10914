"""Costs and block weights of several partitions of a small graph, computed at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.objectives.pin_state import BITS, MAX_SMALL, bit_of, size_of_net
from portpart.algorithms.objectives.total import add_costs
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import EitherGraph, Hypergraph, Nets, NetStructure, team_for_all
from portpart.primitives import STRIPES

TEAM_OF_LARGE = 32
"""Number of lanes for a net with many pins.

Such nets are few; the lanes for all others do nothing.
"""


NO_PARTS = np.empty((0, 0), np.int32)
"""No partitions."""


def stacked(space: ExecutionSpace, parts: Sequence[Array]) -> Array:
    """Return partitions of a graph as the rows of an array; a single one is not copied."""
    if len(parts) == 1:
        return parts[0].reshape(1, -1)
    rows = space.empty(sum(map(len, parts)), np.int32).reshape(len(parts), -1)
    for row, part in zip(rows, parts):
        row[...] = part
    return rows


def costs_and_weights(graph: EitherGraph, parts: Array, num_blocks: int,
                      objective: Objective) -> tuple[np.ndarray, np.ndarray]:
    """Return twice the cost of each partition, and its block weights.

    Both are int64, of shapes (count,) and (count, k).  One team examines a net in each partition:
    not for nets of millions of pins.  Waits for the device.
    """
    space, n, count, joined = graph.space, graph.num_vertices, len(parts), parts.reshape(-1)
    costs, weights = count * STRIPES, count * num_blocks
    words = space.zeros(costs + weights, np.int64)
    if objective.rules.net_cost is None:
        add_all = add_costs.bound(distance=objective.rules.distance)
        space.parallel_for(count * n, add_all, graph.csr, joined, n, objective.tables,
                           words[:costs], team=team_for_all(graph))
    else:
        nets = cast(NetStructure, graph)
        net_cost = objective.rules.net_cost
        given = cast(Hypergraph, graph).nets, joined, nets.num_nets, n, num_blocks, words[:costs]
        space.parallel_for(count * nets.num_nets, add_small_net.bound(net_cost=net_cost), *given)
        if nets.max_net_size > MAX_SMALL:
            space.parallel_for(count * nets.num_nets, add_large_net.bound(net_cost=net_cost),
                               *given, team=TEAM_OF_LARGE)
    space.parallel_for(count * n, candidate_weights, graph.vertex_weights, joined, n,
                       num_blocks, words[costs:])
    found = space.to_host(words)
    return (found[:costs].reshape(count, STRIPES).sum(1), found[costs:].reshape(count, num_blocks))


@kl.kernel
def candidate_weights(i, vertex_weights, parts, n, num_blocks, weights):
    """Add vertex i % n to the weight of its block in partition i // n.

    Atomic, independent of order.
    """
    kl.atomic_add(weights, i // n * num_blocks + parts[i], kl.value_or(vertex_weights, i % n, 1))


@kl.device
def connectivity_of_small(net, nets: Nets, parts, first, num_blocks):
    """Return the number of blocks that a net spans in the partition at `first`, by one lane."""
    connectivity = kl.int64(0)
    for low in range(0, num_blocks, BITS):
        once = kl.uint64(0)
        for place in range(nets.begin[net], nets.end[net]):
            block = kl.int64(parts[first + nets.pins[place]]) - low
            if block >= 0 and block < BITS:
                once |= bit_of(block)
        connectivity += kl.popcount(once)
    return connectivity


@kl.device
def connectivity_of_large(net, nets: Nets, parts, first, num_blocks, counts):
    """Return the number of blocks that a net spans in the partition at `first`, by a team.

    The counters are in memory of the team.
    """
    connectivity = kl.int64(0)
    for low in range(0, num_blocks, BITS):
        for block in range(kl.lane(), BITS, kl.team_size()):
            counts[block] = 0
        kl.team_sync()
        for place in range(nets.begin[net] + kl.lane(), nets.end[net], kl.team_size()):
            block = kl.int64(parts[first + nets.pins[place]]) - low
            if block >= 0 and block < BITS:
                kl.team_atomic_add(counts, block, 1)
        kl.team_sync()
        for block in range(kl.lane(), BITS, kl.team_size()):
            connectivity += kl.int64(counts[block] != 0)
        kl.team_sync()
    return kl.team_sum(connectivity)


@kl.device
def add_cost(cost, which, net, nets: Nets, sums):
    """Add twice the cost of a net to a partition.  Atomic, independent of order."""
    if cost > 0:
        kl.atomic_add(sums, which * STRIPES + net % STRIPES, 2 * cost * kl.value_or(nets.weights,
                                                                                    net, 1))


@kl.kernel
def add_small_net(i, nets: Nets, parts, num_nets, n, num_blocks, sums, net_cost: kl.StaticValue):
    """Add the cost of net i % num_nets in partition i // num_nets, if it has few pins."""
    net = i % num_nets
    which = i // num_nets
    if size_of_net(net, nets) <= MAX_SMALL:
        connectivity = connectivity_of_small(net, nets, parts, which * n, num_blocks)
        add_cost(net_cost(connectivity), which, net, nets, sums)


@kl.kernel
def add_large_net(i, nets: Nets, parts, num_nets, n, num_blocks, sums, net_cost: kl.StaticValue):
    """Add the cost of net i % num_nets in partition i // num_nets, if it has many pins."""
    counts = kl.team_array(kl.int32, BITS)
    net = i % num_nets
    which = i // num_nets
    if size_of_net(net, nets) > MAX_SMALL:
        connectivity = connectivity_of_large(net, nets, parts, which * n, num_blocks, counts)
        if kl.lane() == 0:
            add_cost(net_cost(connectivity), which, net, nets, sums)
