"""The communication cost J of a mapping: weight times distance in the machine.

The cost of a vertex on an element is the sum of weight times distance over its arcs.  With few
arcs, each candidate visits the arcs, or the elements that they lead to.  With more arcs, the
weights into all elements are counted and added up from left to right: on a hierarchy all elements
of a group are side by side, so the weight into a group is one difference, and a candidate takes one
step per level.
"""

from __future__ import annotations

from portpart.algorithms.objectives.connectivity import ConnectivityTable, summed_up
from portpart.algorithms.objectives.cut import COUNTING_TEAM, HUB_TEAM, MAX_IN_TABLE
from portpart.algorithms.objectives.distances import (
    DISTANCE,
    MAX_ALONG,
    MAX_COUNTED,
    Distances,
    LowDegreeByDistance,
    MatrixDistances,
    TreeDistances,
    far_from_all,
    high_degree_by_distance,
)
from portpart.algorithms.objectives.objective import BlockScore, Objective, Rules, Shape
from portpart.algorithms.objectives.total import total_cost
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs import MAX_TOTAL_WEIGHT, Csr, Graph

FEW_COUNTED = 512
"""Number of elements that a warp counts in scratch memory.

A thread block counts up to `MAX_COUNTED`; with more elements all arcs are visited.
"""

ONE_LANE_FEW = 12
"""Maximum number of neighbours whose elements one lane puts into a table.

With more neighbours it counts all elements.
"""


def check_cost(graph: Graph, longest: int) -> None:
    """Raise an error if 64-bit sums may not hold the products of weights and distances."""
    if graph.total_arc_weight * longest > MAX_TOTAL_WEIGHT:
        raise InputError(f"edges that weigh {graph.total_arc_weight // 2} at distances of up to "
                         f"{longest} may cost more than 2^61; divide the weights or the distances")


def communication_cost(distances: Distances) -> Objective:
    """Return J as an objective."""
    capacity = capacity_for(distances.num_elements)
    return Objective(communication_rules(distances.kind, capacity), distances.tables,
                     low_degree_limit, wide_degree=16)


def cost_of(graph: Graph, part: Array, distances: Distances) -> int:
    """Return J of a mapping, each edge once.  Waits for the device."""
    return total_cost(graph, part, communication_cost(distances))


def capacity_for(num_elements: int) -> int:
    """Return how many elements are counted in scratch memory; 0 if there are too many."""
    return next((most for most in (FEW_COUNTED, MAX_COUNTED) if num_elements <= most), 0)


def communication_rules(kind: str, capacity: int) -> Rules:
    """Return the functions for a kind of distance; `capacity` elements are counted."""
    distance = DISTANCE[kind]
    high_degree = high_degree_by_distance(distance)
    if capacity:
        high_degree = BlockScore(summed_up(capacity), VALUE_OF_COUNTED[kind])
    return Rules(f"J, {kind}, {capacity}", distance, False, far_from_all,
                 LowDegreeByDistance(distance), high_degree,
                 COUNTING_TEAM if capacity <= FEW_COUNTED else HUB_TEAM)


def low_degree_limit(shape: Shape) -> int:
    """Return the maximum degree of a vertex whose elements are not counted."""
    if shape.widest_team == 1:
        return ONE_LANE_FEW
    tabled = shape.counter is kl.int32 and shape.max_degree > MAX_ALONG
    return MAX_IN_TABLE if tabled else MAX_ALONG


@kl.device
def value_in_tree(block, count, v, graph: Csr, part, connections: ConnectivityTable,
                  tables: TreeDistances):
    """Return minus the cost of v in one of `count` blocks of a hierarchy."""
    cost = kl.int64(0)
    level = kl.int64(0)
    begin = kl.int64(tables.bounds[2 * block])
    end = kl.int64(tables.bounds[2 * block + 1])
    while end - begin < count:
        longer = tables.lengths[level + 1] - tables.lengths[level]
        cost -= longer * (kl.int64(connections.weights[end]) - kl.int64(connections.weights[begin]))
        level += 1
        begin = kl.int64(tables.bounds[2 * (level * count + block)])
        end = kl.int64(tables.bounds[2 * (level * count + block) + 1])
    return -(cost + tables.lengths[level] * kl.int64(connections.weights[count]))


@kl.device
def value_in_matrix(block, count, v, graph: Csr, part, connections: ConnectivityTable,
                    tables: MatrixDistances):
    """Return minus the cost of v in one of `count` blocks, by a matrix of distances."""
    cost = kl.int64(0)
    for other in range(count):
        weight_there = kl.int64(connections.weights[other
                                                    + 1]) - kl.int64(connections.weights[other])
        if weight_there > 0:
            cost += weight_there * tables.lengths[kl.int64(block) * count + other]
    return -cost


VALUE_OF_COUNTED = {"tree": value_in_tree, "matrix": value_in_matrix}
