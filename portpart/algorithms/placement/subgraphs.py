"""A level of multisection as published: every block is a graph of its own (GPU-HM, section 4.1).

Algorithm 1 makes the graphs, one after the other; any partitioner divides them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.placement.combining import Sections
from portpart.backends.interface import Array
from portpart.backends.language import (
    int32,
    int64,
    kernel,
    lane,
    team_last,
    team_scan,
    team_size,
    team_sum,
)
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for
from portpart.primitives.basic import gather
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.select import positions_of

SEEDS_OF_SECTIONS = 10**16
"""Distance between the seeds of sections."""

Partition = Callable[[Problem], Array]
"""Divides a graph, as `Algorithm.partition` does."""


def partition_subgraphs(problem: Problem, sections: Sections, partition: Partition) -> Array:
    """Divide each section by itself, without a look at what is around it.

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
            graph, vertices = induced_subgraph(problem.graph, sections.first_block, begin)
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
        Trace(problem.space, graph, problem.trace.told_inside()),
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


def induced_subgraph(graph: Graph, label: Array, wanted: int) -> tuple[Graph, Array]:
    """The vertices of a label and the arcs between them (algorithm 1); synchronises twice.

    Returns
    -------
    subgraph : Graph
        Vertices and arcs in the order that they have in `graph`.
    vertices : array of int32
        Those of `graph` that they are.
    """
    space, n = graph.space, graph.num_vertices
    flags = space.empty(n, np.int8)
    space.parallel_for(n, flag_label, label, wanted, flags)
    vertices, number = positions_of(space, flags), offsets_from_counts(space, flags, np.int32)
    count, team = len(vertices), team_for(graph.mean_degree)
    degrees = space.empty(count, np.int32)
    space.parallel_for(count, count_arcs_inside, vertices, graph.csr, flags, degrees, team=team)
    offsets = offsets_from_counts(space, degrees, graph.offsets.dtype)
    arcs = space.empty(int(space.to_host(offsets[count:])[0]), np.int64)
    space.parallel_for(count, list_arcs_inside, vertices, graph.csr, flags, offsets, arcs,
                       team=team)
    targets = gather(space, number, gather(space, graph.targets, arcs))
    weights, vertex_weights = (
        None if values is None else gather(space, values, places)
        for values, places in ((graph.weights, arcs), (graph.vertex_weights, vertices)))
    return Graph(offsets, targets, weights, vertex_weights, space), vertices


@kernel
def flag_label(v, label, wanted, flags):
    """flags[v] = whether v has the label."""
    flags[v] = label[v] == wanted


@kernel
def count_arcs_inside(i, vertices, graph: Csr, flags, degrees):
    """degrees[i] = arcs of vertex i of the list to others of it."""
    v = vertices[i]
    count = int64(0)
    for arc in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        count += int64(flags[graph.targets[arc]] != 0)
    count = team_sum(count)
    if lane() == 0:
        degrees[i] = count


@kernel
def list_arcs_inside(i, vertices, graph: Csr, flags, offsets, arcs):
    """arcs[offsets[i]] ... = arcs of vertex i of the list to others of it, in their order."""
    v = vertices[i]
    place = int64(offsets[i])
    base = int64(graph.begin[v])
    end = int64(graph.end[v])
    while base < end:
        arc = base + lane()
        inside = int64(0)
        if arc < end:
            inside = int64(flags[graph.targets[arc]] != 0)
        until = team_scan(inside)
        if inside != 0:
            arcs[place + until - 1] = arc
        place += team_last(until)
        base += team_size()


@kernel
def find_fixed(i, vertices, fixed, begin, inside):
    """inside[i] = block of its section that vertex i of the list is fixed to, or -1."""
    block = int64(fixed[vertices[i]])
    inside[i] = int32(-1)
    if block >= 0:
        inside[i] = int32(block - begin)


@kernel
def write_blocks(i, vertices, blocks, begin, part):
    """part[v] = block of vertex i of the list, among those of all sections."""
    part[vertices[i]] = int32(int64(blocks[i]) + begin)
