"""The best of several partitions for every section by itself: costs of sections just add up.

That is so while vertices stay in their sections: what runs between sections costs the same then.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.multilevel.search import Partition
from portpart.algorithms.objectives.communication import cost_of
from portpart.algorithms.objectives.distances import DISTANCE, Distances, DistanceTables
from portpart.algorithms.objectives.total import cost_of_arcs
from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record, StaticValue
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for
from portpart.primitives.histogram import histogram


class Sections(Record):
    """Sections of a graph, each with `width` separate blocks.

    Attributes
    ----------
    count, width : int
    first_block : array of int32, shape (n,), or None
        First block of the section of each vertex; None if there is one section.
    """

    count: int
    width: int
    first_block: Array | None


def best_of_each(graph: Graph, sections: Sections, distances: Distances, balance: Balance,
                 parts: list[Array], slack: int) -> Partition:
    """Every section from that of the partitions which has the least overload, then cost, there.

    Parameters
    ----------
    parts : list of array of int32
        As long as the graph has vertices, or longer.
    slack : int
        What blocks may weigh above their limits.
    """
    space, n = graph.space, graph.num_vertices
    costs = np.stack([_costs(graph, sections, distances, part) for part in parts])
    overloads = np.stack([_overloads(graph, sections, balance, part, slack) for part in parts])
    # of equal ones the first
    chosen = np.lexsort((costs.T, overloads.T), axis=-1)[:, 0]
    part = space.copy(parts[0][:n])
    for index in np.unique(chosen[chosen > 0]).tolist():
        space.parallel_for(n, take_section, sections, space.asarray(chosen, np.int64), index,
                           parts[index], part)
    balanced = int(_overloads(graph, sections, balance, part, slack).max() == 0)
    return Partition(part, balanced, cost_of(graph, part, distances))


def _costs(graph: Graph, sections: Sections, distances: Distances, part: Array) -> np.ndarray:
    """What the arcs of the vertices of each section cost."""
    sums = graph.space.zeros(sections.count, np.int64)
    add_costs = add_section_costs.bound(distance=DISTANCE[distances.kind])
    graph.space.parallel_for(graph.num_vertices, add_costs, graph.csr, part, distances.tables,
                             sections, sums, team=team_for(graph.mean_degree))
    return graph.space.to_host(sums)


def _overloads(graph: Graph, sections: Sections, balance: Balance, part: Array,
               slack: int) -> np.ndarray:
    """Most by which a block of each section exceeds its limit; 0 if none does."""
    weights = graph.space.to_host(histogram(graph.space, part[: graph.num_vertices],
                                            balance.num_blocks, graph.vertex_weights))
    excess = np.maximum(weights - balance.limits - slack, 0)
    worst: np.ndarray = excess.reshape(sections.count, sections.width).max(axis=1)
    return worst


@kl.kernel
def add_section_costs(v, graph: Csr, part, tables: DistanceTables, sections: Sections, sums,
                      distance: StaticValue):
    """Add what v's arcs cost to its section; atomic, independent of order."""
    cost = cost_of_arcs(v, graph, part, 0, tables, distance)
    if kl.lane() == 0 and cost > 0:
        kl.atomic_add(sums, kl.value_or(sections.first_block, v, 0) // sections.width, cost)


@kl.kernel
def take_section(v, sections: Sections, chosen, index, other, part):
    """Put v where it is in partition `index` if that was chosen for its section."""
    if chosen[kl.value_or(sections.first_block, v, 0) // sections.width] == index:
        part[v] = other[v]
