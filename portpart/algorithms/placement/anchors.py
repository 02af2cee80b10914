"""What fixed vertices mean for a mapping: places of the others, and which blocks may swap."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.mapping.problem import MappingProblem
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology

MAX_ASSIGNED = 1000
"""With more blocks to choose from, the best places take too long to find."""


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


def swap_groups(problem: MappingProblem) -> np.ndarray | None:
    """Groups of elements within which blocks may swap; None if all may.

    Elements of a group have the same limit, and no vertex is fixed to an element that has others
    in its group.
    """
    fixed, k = problem.constraints.fixed, problem.num_blocks
    if problem.balance.are_alike and fixed is None:
        return None
    groups = np.unique(problem.balance.limits, return_inverse=True)[1].astype(np.int32)
    if fixed is not None:
        anchors = problem.space.to_host(fixed)
        taken = np.unique(anchors[anchors >= 0])
        groups[taken] = k + np.arange(len(taken))
    return groups
