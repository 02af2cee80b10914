"""What a partition costs altogether."""

from __future__ import annotations

from functools import cache

import numpy as np

from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Objective, Tables
from portpart.backends.interface import Array
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    atomic_add,
    device,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    value_or,
)
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for_all
from portpart.primitives.reduce import STRIPES, sum_of


def cut_of(graph: Graph, part: Array) -> int:
    """Weight of the edges between blocks, each edge once.  Synchronises."""
    return total_cost(graph, part, CUT)


def total_cost(graph: Graph, part: Array, objective: Objective) -> int:
    """Cost of all edges, each edge once.  Synchronises."""
    return sum_of(graph.space, cost_sums(graph, part, objective)) // 2


def cost_sums(graph: Graph, part: Array, objective: Objective) -> Array:
    """Words of int64 that add up to twice the cost."""
    sums = graph.space.zeros(STRIPES, np.int64)
    graph.space.parallel_for(graph.num_vertices, add_costs(objective.rules.distance), graph.csr,
                             part, objective.tables, sums, team=team_for_all(graph))
    return sums


@cache
def cost_of_arcs(distance: DeviceFunction) -> DeviceFunction:
    """Device function for a distance."""

    @device
    def cost_of_arcs(v, graph: Csr, part, tables: Tables):
        """What v's arcs cost; all lanes of a team together."""
        cost = int64(0)
        for arc in range(graph.begin[v] + lane(), graph.end[v], team_size()):
            length = distance(part[v], part[graph.targets[arc]], tables)
            if length != 0:
                cost += value_or(graph.weights, arc, 1) * length
        return team_sum(cost)

    return cost_of_arcs


@cache
def add_costs(distance: DeviceFunction) -> Kernel:
    """The kernel for a distance."""
    cost_at = cost_of_arcs(distance)

    @kernel
    def add_costs(v, graph: Csr, part, tables: Tables, sums):
        """Add what v's arcs cost; atomic, order-free."""
        cost = cost_at(v, graph, part, tables)
        if lane() == 0 and cost > 0:
            atomic_add(sums, v % STRIPES, cost)

    return add_costs
