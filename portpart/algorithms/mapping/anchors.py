"""Starts of mappings, and the best of several partitions for each section."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from portpart.algorithms import multilevel, objectives
from portpart.algorithms.coarsening import Level
from portpart.algorithms.refinement import Refiner
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, Graph, Topology, team_for
from portpart.primitives import histogram

# Starts of mappings, with fixed vertices -------------------------------------------------------


MAX_ASSIGNED = 1000
"""With more blocks in a section, an optimal assignment takes too long."""


Grow = Callable[[Level, multilevel.Constraints, int], list[Array]]
"""Returns mappings of the coarsest graph for a seed, regardless of fixed vertices."""

ChooseOn = Callable[[Level, multilevel.Constraints, list[Array]], Array]
"""Selects one of several mappings of the coarsest graph, or combines them."""


def start_mapping(problem: multilevel.MappingProblem, width: int, passes: multilevel.Passes,
                  grow: Grow, choose: ChooseOn | None = None) -> multilevel.StartRule:
    """Return a rule that starts from the best of several grown mappings, each refined.

    Parameters
    ----------
    width : int
        Blocks per section. Only blocks of a section exchange vertices to suit fixed ones.
    """

    def start(refiner: Refiner, level: Level, wanted: multilevel.Constraints, seed: int) -> int:
        graph, fixed = level.graph, wanted.fixed
        if wanted.initial is not None:
            refiner.start(graph, wanted.initial)
            return 0
        parts = grow(level, wanted, seed)
        if fixed is not None:
            parts = [anchored(graph, part, fixed, problem.topology, width) for part in parts]
            if width == problem.num_blocks:
                parts += multilevel.metis_parts(graph, problem.balance, range(seed, seed + 1),
                                                fixed)
                parts += multilevel.grown_from(graph.space, problem.balance.limits, fixed,
                                               lambda: graph)
        multilevel.start_from_best(refiner, graph, parts, len(parts), passes(1, graph)[0], wanted,
                                   None if choose is None else partial(choose, level, wanted))
        return 0

    return start


def anchored(graph: Graph, part: Array, fixed: Array, topology: Topology, width: int) -> Array:
    """Return a mapping with fixed vertices in their blocks and others near them.

    The blocks of each section exchange their free vertices so that the arcs to fixed vertices cost
    least. This is an assignment problem for each section, solved on the host.

    Parameters
    ----------
    fixed : array of int32, shape (n,)
        The block of a fixed vertex, -1 for the others.
    width : int
        Blocks per section.
    """
    from scipy.optimize import linear_sum_assignment

    space = graph.space
    blocks, anchors = space.to_host(part).copy(), space.to_host(fixed)
    free = anchors < 0
    arcs = graph.to_scipy().tocoo()
    crossing = free[arcs.row] & ~free[arcs.col]
    here, there = blocks[arcs.row[crossing]], anchors[arcs.col[crossing]]
    weights = arcs.data[crossing].astype(np.float64)
    sections = np.unique(here // width) if width <= MAX_ASSIGNED else here[:0]
    names = np.arange(topology.num_elements, dtype=np.int32)
    for section in sections:
        own = np.arange(section * width, (section + 1) * width)
        inside = here // width == section
        cost = np.zeros((width, width))
        for place, element in enumerate(own):
            lengths = topology.distance(there[inside], np.full(inside.sum(), element))
            cost[:, place] = np.bincount(here[inside] - own[0], weights[inside] * lengths, width)
        names[own] = own[linear_sum_assignment(cost)[1]]
    blocks[free] = names[blocks[free]]
    blocks[~free] = anchors[~free]
    return space.asarray(blocks, np.int32)


# The best of several partitions for each section: costs of sections add up ---------------------
#
# This holds while vertices stay in their sections, because arcs between sections then cost the
# same.


class Sections(kl.Record):
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


def best_of_each(graph: Graph, sections: Sections, distances: objectives.Distances,
                 balance: objectives.Balance, parts: list[Array],
                 slack: int) -> multilevel.Partition:
    """Combine the best partition of every section: least overload, then least cost.

    Parameters
    ----------
    parts : list of array of int32
        At least as long as the graph has vertices.
    slack : int
        Weight that blocks may have above their limits.
    """
    space, n = graph.space, graph.num_vertices
    costs = np.stack([_costs(graph, sections, distances, part) for part in parts])
    overloads = np.stack([_overloads(graph, sections, balance, part, slack) for part in parts])
    # the first of equal ones
    chosen = np.lexsort((costs.T, overloads.T), axis=-1)[:, 0]
    part = space.copy(parts[0][:n])
    for index in np.unique(chosen[chosen > 0]).tolist():
        space.parallel_for(n, take_section, sections, space.asarray(chosen, np.int64), index,
                           parts[index], part)
    balanced = int(_overloads(graph, sections, balance, part, slack).max() == 0)
    return multilevel.Partition(part, balanced, objectives.cost_of(graph, part, distances))


def _costs(graph: Graph, sections: Sections, distances: objectives.Distances,
           part: Array) -> np.ndarray:
    """Return the cost of the arcs of the vertices of each section."""
    sums = graph.space.zeros(sections.count, np.int64)
    add_costs = add_section_costs.bound(distance=objectives.DISTANCE[distances.kind])
    graph.space.parallel_for(graph.num_vertices, add_costs, graph.csr, part, distances.tables,
                             sections, sums, team=team_for(graph.mean_degree))
    return graph.space.to_host(sums)


def _overloads(graph: Graph, sections: Sections, balance: objectives.Balance, part: Array,
               slack: int) -> np.ndarray:
    """Return the largest overload of a block of each section."""
    weights = graph.space.to_host(histogram(graph.space, part[: graph.num_vertices],
                                            balance.num_blocks, graph.vertex_weights))
    excess = np.maximum(weights - balance.limits - slack, 0)
    worst: np.ndarray = excess.reshape(sections.count, sections.width).max(axis=1)
    return worst


@kl.kernel
def add_section_costs(v, graph: Csr, part, tables: objectives.Tables, sections: Sections, sums,
                      distance: kl.StaticValue):
    """Add the cost of v's arcs to its section. Atomic, independent of order."""
    cost = objectives.cost_of_arcs(v, graph, part, 0, tables, distance)
    if kl.lane() == 0 and cost > 0:
        kl.atomic_add(sums, kl.value_or(sections.first_block, v, 0) // sections.width, cost)


@kl.kernel
def take_section(v, sections: Sections, chosen, index, other, part):
    """part[v] = the block of v in partition `index`, if that was chosen for v's section."""
    if chosen[kl.value_or(sections.first_block, v, 0) // sections.width] == index:
        part[v] = other[v]
