"""The communication cost J of a mapping."""

from __future__ import annotations

from functools import cache

import numpy as np

from portpart.algorithms.objectives.distances import DISTANCE, Distances, DistanceTables
from portpart.backends.interface import Array
from portpart.backends.language import (
    Kernel,
    atomic_add,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    value_or,
)
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.limits import MAX_TOTAL_WEIGHT
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for
from portpart.primitives.reduce import STRIPES, sum_of


def check_cost(graph: Graph, longest: int) -> None:
    """Refuse weights and distances whose products 64-bit sums may not hold."""
    if graph.total_arc_weight * longest > MAX_TOTAL_WEIGHT:
        raise InputError(f"edges that weigh {graph.total_arc_weight // 2} at distances of up to "
                         f"{longest} may cost more than 2^61; divide the weights or the distances")


def cost_of(graph: Graph, part: Array, distances: Distances) -> int:
    """J of a mapping, each edge once.  Synchronises."""
    return sum_of(graph.space, costs_of(graph, part, distances)) // 2


def costs_of(graph: Graph, part: Array, distances: Distances) -> Array:
    """Words of int64 that add up to twice J."""
    sums = graph.space.zeros(STRIPES, np.int64)
    graph.space.parallel_for(graph.num_vertices, add_costs(distances.kind), graph.csr, part,
                             distances.tables, sums, team=team_for(graph.mean_degree))
    return sums


@cache
def add_costs(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    distance = DISTANCE[kind]

    @kernel
    def add_costs(v, graph: Csr, part, tables: DistanceTables, sums):
        """Add what v's arcs cost; atomic, order-free."""
        cost = int64(0)
        for arc in range(graph.begin[v] + lane(), graph.end[v], team_size()):
            there = part[graph.targets[arc]]
            cost += value_or(graph.weights, arc, 1) * distance(part[v], there, tables)
        cost = team_sum(cost)
        if lane() == 0 and cost > 0:
            atomic_add(sums, v % STRIPES, cost)

    return add_costs
