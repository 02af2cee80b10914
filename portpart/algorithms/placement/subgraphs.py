"""A level of multisection as published: every block is a separate graph (GPU-HM, section 4.1).

Algorithm 1 makes the graphs, one by one; any partitioner divides them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.placement.combining import Sections
from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph
from portpart.graphs.induced import induced

SEEDS_OF_SECTIONS = 10**16
"""Distance between the seeds of sections."""

Partition = Callable[[Problem], Array]
"""Divides a graph, as `Algorithm.partition` does."""


def partition_subgraphs(problem: Problem, sections: Sections, partition: Partition) -> Array:
    """Divide each section by itself, without a examine what is around it.

    Parameters
    ----------
    problem : Problem
        With the limits of all blocks.
    sections : Sections
    partition : callable

    Returns
    -------
    array of int32, shape (n,)
    """
    space, n, width = problem.space, problem.graph.num_vertices, sections.width
    part = space.zeros(n, np.int32)
    for section in range(sections.count):
        with problem.trace.phase(f"section {section + 1}"):
            if sections.first_block is None:
                return partition(_inner(problem, problem.graph, problem.constraints.fixed, 0,
                                        width))
            begin = section * width
            graph, vertices = induced(problem.graph, sections.first_block, begin)
            if len(vertices) > 0:
                fixed = _fixed_inside(problem, vertices, begin)
                blocks = partition(_inner(problem, graph, fixed, section, width))
                space.parallel_for(len(vertices), write_blocks, vertices, blocks, begin, part)
    return part


def _inner(problem: Problem, graph: Graph, fixed: Array | None, section: int,
           width: int) -> Problem:
    """The problem of a section, of which nothing but the cut counts."""
    return Problem(
        graph, _balance(problem.balance, section, width, graph.total_vertex_weight),
        (problem.seed + SEEDS_OF_SECTIONS * section) % 2**62,
        Trace(problem.space, graph, problem.trace.nested()),
        Constraints(fixed, out_of_time=problem.constraints.out_of_time))


def _balance(whole: Balance, section: int, width: int, weight: int) -> Balance:
    """The limits of the blocks of a section, and the imbalance that they make."""
    own = slice(section * width, (section + 1) * width)
    limits, means = whole.limits[own], whole.means[own]
    imbalance = max(0.0, int(limits.sum()) / max(1, weight) - 1)
    if (limits == limits[0]).all():
        return Balance(width, int(limits[0]), weight // width, imbalance=imbalance)
    return Balance(width, int(limits.max()), int(means.max()), limits, means, imbalance)


def _fixed_inside(problem: Problem, vertices: Array, begin: int) -> Array | None:
    """The block of a section that a vertex is fixed to, -1 for the others."""
    fixed = problem.constraints.fixed
    if fixed is None:
        return None
    inside = problem.space.empty(len(vertices), np.int32)
    problem.space.parallel_for(len(vertices), find_fixed, vertices, fixed, begin, inside)
    return inside


@kl.kernel
def find_fixed(i, vertices, fixed, begin, inside):
    """inside[i] = block of its section that vertex i of the list is fixed to, or -1."""
    block = kl.int64(fixed[vertices[i]])
    inside[i] = kl.int32(-1)
    if block >= 0:
        inside[i] = kl.int32(block - begin)


@kl.kernel
def write_blocks(i, vertices, blocks, begin, part):
    """part[v] = block of vertex i of the list, among those of all sections."""
    part[vertices[i]] = kl.int32(kl.int64(blocks[i]) + begin)
