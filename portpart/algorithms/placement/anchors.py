"""Where mappings start, and what fixed vertices mean for them and for swaps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from portpart.algorithms.coarsening.hierarchy import Level
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.greedy_start_in_groups import grown_from
from portpart.algorithms.multilevel.mapping_problem import MappingProblem
from portpart.algorithms.multilevel.pool import metis_parts, start_from_best
from portpart.algorithms.multilevel.refiner import LevelRefiner
from portpart.algorithms.multilevel.walk import Passes, StartRule
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology

MAX_ASSIGNED = 1000
"""With more blocks to choose from, the best places take too long to find."""


Grow = Callable[[Level, Constraints, int], list[Array]]
"""Mappings of the coarsest graph, by a seed; where fixed vertices are does not matter."""

ChooseOn = Callable[[Level, Constraints, list[Array]], Array]
"""One of several mappings of the coarsest graph, or one put together from them."""


def start_mapping(problem: MappingProblem, width: int, passes: Passes, grow: Grow,
                  choose: ChooseOn | None = None) -> StartRule:
    """Mappings that are grown, each refined on the coarsest graph, of which the best.

    Parameters
    ----------
    width : int
        Blocks of a section: only these exchange their vertices for the sake of fixed ones.
    """

    def start(refiner: LevelRefiner, level: Level, wanted: Constraints, seed: int) -> int:
        graph, fixed = level.graph, wanted.fixed
        if wanted.initial is not None:
            refiner.start(graph, wanted.initial)
            return 0
        parts = grow(level, wanted, seed)
        if fixed is not None:
            parts = [anchored(graph, part, fixed, problem.topology, width) for part in parts]
            if width == problem.num_blocks:
                parts += metis_parts(graph, problem.balance, range(seed, seed + 1), fixed)
                parts += grown_from(graph.space, problem.balance.limits, fixed, lambda: graph)
        start_from_best(refiner, graph, parts, len(parts), passes(1, graph)[0], wanted,
                        None if choose is None else partial(choose, level, wanted))
        return 0

    return start


def anchored(graph: Graph, part: Array, fixed: Array, topology: Topology, width: int) -> Array:
    """A mapping with the fixed vertices in their places, and the others near those.

    The blocks of each section exchange their free vertices: so as the arcs to fixed vertices cost
    least.  That is an assignment for each section, on the host.

    Parameters
    ----------
    fixed : array of int32, shape (n,)
        The block of a fixed vertex, -1 for the others.
    width : int
        Blocks of a section.
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
