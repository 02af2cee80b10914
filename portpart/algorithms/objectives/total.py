"""The total cost of a partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from portpart.algorithms.objectives import net_sets
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Objective, Tables
from portpart.algorithms.objectives.pin_counts import PIECE, count_piece
from portpart.algorithms.objectives.pin_state import LARGE_TEAM, SMALL_TEAM, NetRows, net_rows
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, Graph, Hypergraph, NetStructure, Structure, team_for_all
from portpart.primitives import STRIPES, sum_of


def cut_of(graph: Graph, part: Array) -> int:
    """Return the weight of the edges between blocks, each edge once.  Waits for the device."""
    return total_cost(graph, part, CUT)


def total_cost(graph: Structure, part: Array, objective: Objective, rows: Csr | None = None) -> int:
    """Return the cost of all edges, or nets, each once.  Waits for the device."""
    sums = cost_sums(graph, part, objective, rows or graph.csr)
    return sum_of(graph.space, sums) // 2


def cost_sums(graph: Structure, part: Array, objective: Objective, rows: Csr,
              sums: Array | None = None) -> Array:
    """Return words of int64 that add up to twice the cost.

    Parameters
    ----------
    rows : Csr
        Rows of `graph`; for objectives of nets with the state of the nets (`pin_state.net_rows`),
        which is computed.
    sums : array of int64, shape (STRIPES,), optional
        Zeros, in which the words are stored.
    """
    space, net_cost = graph.space, objective.rules.net_cost
    sums = space.zeros(STRIPES, np.int64) if sums is None else sums
    if net_cost is None:
        n = graph.num_vertices
        add_all = add_costs.bound(distance=objective.rules.distance)
        space.parallel_for(n, add_all, rows, part, n, objective.tables, sums,
                           team=team_for_all(graph))
        return sums
    assert isinstance(rows, NetRows)
    nets = cast(NetStructure, graph)
    find_sets(nets, part, rows)
    space.parallel_for(nets.num_nets, add_net_costs.bound(net_cost=net_cost), rows, sums)
    return sums


def net_values(hypergraph: Hypergraph, part: Array, num_blocks: int,
               net_costs: Mapping[str, kl.DeviceFunction]) -> dict[str, int]:
    """Return the values of a partition by several net costs, by name.  Waits for the device."""
    space, rows = hypergraph.space, net_rows(hypergraph, num_blocks)
    find_sets(hypergraph, part, rows)
    sums = space.zeros(len(net_costs) * STRIPES, np.int64)
    for each, net_cost in enumerate(net_costs.values()):
        space.parallel_for(hypergraph.num_nets, add_net_costs.bound(net_cost=net_cost), rows,
                           sums[each * STRIPES : (each + 1) * STRIPES])
    values = space.to_host(sums).reshape(-1, STRIPES).sum(1).tolist()
    return {name: value // 2 for name, value in zip(net_costs, values, strict=True)}


def find_sets(hypergraph: NetStructure, part: Array, rows: NetRows) -> None:
    """Compute the state of all nets; nets with very many pins are counted in chunks."""
    space, sets, counts = hypergraph.space, rows.sets, rows.pin_counts
    large, pieces = len(sets.net_of_row), -(-hypergraph.max_net_size // PIECE)
    space.parallel_for(1, net_sets.forget_large_nets, rows)
    space.parallel_for(hypergraph.num_nets, net_sets.begin_net, rows, part)
    listing = hypergraph.num_nets if len(sets.touched) > 0 else 0
    space.parallel_for(listing, net_sets.begin_listing_net.bound(store=net_sets.store_list), rows,
                       part, team=SMALL_TEAM)
    space.parallel_for(large, net_sets.begin_counting, rows, counts, team=SMALL_TEAM)
    space.parallel_for(large * pieces, count_piece, rows, counts, part, pieces, team=LARGE_TEAM)
    space.parallel_for(large, net_sets.store_counted_net, rows, counts, team=SMALL_TEAM)


@kl.kernel
def add_net_costs(net, graph: NetRows, sums, net_cost: kl.StaticValue):
    """Add twice the cost of a net.  Atomic, independent of order."""
    weight = kl.value_or(graph.nets.weights, net, 1)
    cost = net_cost(kl.int64(graph.sets.connectivity[net])) * weight
    if cost > 0:
        kl.atomic_add(sums, net % STRIPES, 2 * cost)


@kl.device
def cost_of_arcs(v, graph: Csr, part, first, tables: Tables, distance: kl.StaticValue):
    """Return the cost of v's arcs in the partition that begins at `first`.

    Called by all lanes of a team.
    """
    cost = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        length = distance(part[first + v], part[first + graph.targets[arc]], tables)
        if length != 0:
            cost += kl.value_or(graph.weights, arc, 1) * length
    return kl.team_sum(cost)


@kl.kernel
def add_costs(i, graph: Csr, parts, n, tables: Tables, sums, distance: kl.StaticValue):
    """Add the cost of the arcs of vertex i % n in partition i // n.

    Atomic, independent of order.
    """
    v = i % n
    cost = cost_of_arcs(v, graph, parts, i - v, tables, distance)
    if kl.lane() == 0 and cost > 0:
        kl.atomic_add(sums, i // n * STRIPES + v % STRIPES, cost)
