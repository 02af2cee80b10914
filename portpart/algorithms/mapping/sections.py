"""Levels of multisection: limits, bisections along the hierarchy, and partitions of blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms import multilevel
from portpart.algorithms.coarsening import Level, cluster_rules
from portpart.algorithms.initial import GrowingOptions, splits_of, splits_side_by_side
from portpart.algorithms.mapping.anchors import Sections, best_of_each, start_mapping
from portpart.algorithms.objectives import Balance
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Graph, Topology, induced

if TYPE_CHECKING:
    from portpart.algorithms.recipes import PortpartConfig

# Bisections that divide a machine along its hierarchy ------------------------------------------


def splits_along(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return the bisections down to single elements, those of the outermost level first.

    Recursive bisection with these is multisection, with each section done by bisections. A cut arc
    costs the distance of the level.

    Returns
    -------
    rows, level_begin
        As `splits_of` returns them; without a hierarchy they are those of `splits_of`.
    """
    if not topology.is_hierarchy:
        return splits_of(topology.num_elements)

    def split(first: int, last: int) -> tuple[int, int]:
        inside = bisect_left(topology.group_sizes, last - first) - 1
        size = topology.group_sizes[inside]
        return first + (last - first) // size // 2 * size, topology.level_distances[inside]

    return splits_of(topology.num_elements, split)


def splits_of_ranges(num_ranges: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the bisections of several ranges of `width` blocks, level by level."""
    return splits_side_by_side(splits_of(width), num_ranges, width)


# A level of multisection: all blocks of the levels outside are partitioned at once -------------
#
# The blocks are sections of the graph. Clusters stay inside sections, and initial partitions bisect
# sections. Refinement uses the cost on the machine as far as it has been divided: arcs between
# sections keep vertices near their neighbours, and a vertex may go to another section if that
# lowers the cost. A level takes about as many launches as one partition, and needs no subgraphs.


MAX_COARSEST = 2**16
"""Maximum number of vertices at which coarsening ends so that all sections have enough."""

MIN_OF_SECTION = 128
"""Vertices per section at which coarsening for initial partitions ends."""


def partition_sections(problem: multilevel.MappingProblem, sections: Sections,
                       config: PortpartConfig) -> Array:
    """Partition each section into its blocks.

    Parameters
    ----------
    problem : MappingProblem
        With the limits and the distances of all blocks.
    sections : Sections
    config : PortpartConfig

    Returns
    -------
    array of int32, shape (n,)
        A vertex may move to a block of another section.
    """
    coarsest = coarsest_of_sections(config, problem.num_blocks, sections.count)

    def combine(parts: list[Array]) -> multilevel.Partition:
        return best_of_each(problem.graph, sections, problem.distances, problem.balance, parts, 0)

    first, *others = cluster_rules(problem.graph, coarsest, problem.balance.cluster_limit(coarsest),
                                   config.clustering, sections.width)
    return multilevel.search_multilevel(problem, multilevel.Recipe(
        config.coarsening, first, _start_rule(problem, sections, config),
        multilevel.jet_refiner(problem, config.refinement), config.refinement.passes, config.search,
        label=sections.first_block, stop_at=coarsest,
        combine=combine if sections.count > 1 else None).in_turn(others))


def coarsest_of_sections(config: PortpartConfig, num_blocks: int, num_sections: int) -> int:
    """Return the number of vertices at which coarsening ends."""
    return max(config.coarsening.coarsest_vertices(num_blocks),
               min(config.coarsening.min_coarsest * num_sections, MAX_COARSEST))


def _start_rule(problem: multilevel.MappingProblem, sections: Sections,
                config: PortpartConfig) -> multilevel.StartRule:
    """Return a rule that starts from refined partitions, with the best one for each section."""
    options = config.initial.growing
    if config.initial.method == "auto" and config.initial.num_starts(sections.width) == 1:
        options = options.of_one()

    def grow(level: Level, wanted: multilevel.Constraints, seed: int) -> list[Array]:
        return _grown(level, sections, problem.balance, options, seed, wanted)

    def choose(level: Level, wanted: multilevel.Constraints, refined: list[Array]) -> Array:
        graph = level.graph
        own = Sections(sections.count, sections.width, _first_blocks(level, sections, wanted))
        slack = graph.total_vertex_weight // max(1, graph.num_vertices)
        return best_of_each(graph, own, problem.distances, problem.balance, refined, slack).part

    return start_mapping(problem, sections.width, config.refinement.passes, grow,
                         choose if sections.count > 1 else None)


def _first_blocks(level: Level, sections: Sections, wanted: multilevel.Constraints) -> Array | None:
    """Return the first block of each vertex's section: its label, unless vertices are fixed."""
    if wanted.fixed is None or sections.count == 1:
        return level.label
    n, space = level.graph.num_vertices, level.graph.space
    first = space.empty(n, np.int32)
    space.parallel_for(n, find_first_block, level.label, sections.width, first)
    return first


@kl.kernel
def find_first_block(v, label, width, first):
    """first[v] = first block of v's section, or of the section that v is fixed in."""
    first[v] = label[v]
    if label[v] < 0:
        first[v] = (kl.int32(-2) - label[v]) // width * width


def _grown(coarsest: Level, sections: Sections, balance: Balance, options: GrowingOptions,
           seed: int, wanted: multilevel.Constraints) -> list[Array]:
    """Return grown partitions of the coarsest graph by bisections of sections, best first."""
    min_vertices = max(options.min_vertices, MIN_OF_SECTION * sections.count)
    levels = multilevel.levels_below(coarsest.graph, options, seed, min_vertices, coarsest.label)
    labels = None if sections.count == 1 else [
        label for level in levels if (label := _first_blocks(level, sections, wanted)) is not None]
    return [*multilevel.grown_on(levels, np.maximum(balance.limits, 1), balance.limits, options,
                                 seed, splits_of_ranges(sections.count, sections.width), labels,
                                 sections.count)]


# Limits of the blocks of a level of multisection: the slack of elements is divided among levels
#
# P. Samoldekin, C. Schulz, H. Woydt (2026), equation 2; after C. Schulz, H. Woydt (2025).


def section_balance(weights: np.ndarray, capacities: list[int], levels_left: int,
                    share: float = 0.0, are_alike: bool = True) -> Balance:
    """Return the limits of the blocks that sections of these weights are divided into.

    `capacities` contains the sum of the limits of the elements of each block, in order of blocks;
    `are_alike` says whether all elements are alike.
    """
    total, arity = int(weights.sum()), len(capacities) // len(weights)
    limits, means = [], []
    for section, weight in enumerate(weights.tolist()):
        own = capacities[section * arity : (section + 1) * arity]
        found = {capacity: adaptive_limit(capacity, weight, sum(own), levels_left, share)
                 for capacity in set(own)}
        limits += [min(total, found[capacity]) for capacity in own]
        means += [weight * capacity // max(1, sum(own)) for capacity in own]
    if are_alike and len(weights) == 1:
        return Balance(arity, limits[0], means[0])
    return Balance(len(capacities), max(limits), max(means), np.array(limits, np.int64),
                   np.array(means, np.int64))


def adaptive_limit(capacity: int, weight: int, whole: int, levels_left: int,
                   share: float = 0.0) -> int:
    """Return the limit of a block of a subgraph (equation 2), in exact arithmetic.

    The slack of the subgraph is divided among the levels that are left. With the paper's epsilon',
    blocks weigh at most (1 + epsilon') * weight / arity, and
    (1 + epsilon') ** levels_left = whole / weight.

    Parameters
    ----------
    capacity, whole : int
        Sum of the limits of the elements of the block, and of all elements of the subgraph.
    weight : int
        Weight of the subgraph.
    levels_left : int
        Number of levels down to single elements, including this one.
    share : float
        Share of the slack, left to inner levels in the paper, that this level also gets.

    Examples
    --------
    >>> adaptive_limit(4 * 103, 800, 8 * 103, 3), adaptive_limit(103, 404, 4 * 103, 1)
    (404, 103)
    >>> adaptive_limit(4 * 103, 800, 8 * 103, 3, share=0.5)
    408
    """
    whole = max(1, whole)
    even_share = _root(whole * weight ** (levels_left - 1), levels_left) * capacity // whole
    return max(-(-weight * capacity // whole),
               even_share + int(Fraction(float(share)) * max(0, capacity - even_share)))


def _root(value: int, degree: int) -> int:
    """Return the largest integer whose power does not exceed `value`."""
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle)
    return low


# A level of multisection as published: every block is a separate graph (GPU-HM, section 4.1) ----
#
# Algorithm 1 makes the graphs, one by one; any partitioner partitions them.


SEEDS_OF_SECTIONS = 10**16
"""Distance between the seeds of sections."""

PartitionSubgraph = Callable[[multilevel.Problem], Array]
"""Partitions a graph, as `Algorithm.partition` does."""


def partition_subgraphs(problem: multilevel.Problem, sections: Sections,
                        partition: PartitionSubgraph) -> Array:
    """Partition each section separately, without regard to the other sections.

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


def _inner(problem: multilevel.Problem, graph: Graph, fixed: Array | None, section: int,
           width: int) -> multilevel.Problem:
    """Return the problem of a section, with the cut as objective."""
    return multilevel.Problem(
        graph, _balance(problem.balance, section, width, graph.total_vertex_weight),
        (problem.seed + SEEDS_OF_SECTIONS * section) % 2**62,
        multilevel.Trace(problem.space, graph, problem.trace.nested()),
        multilevel.Constraints(fixed, out_of_time=problem.constraints.out_of_time))


def _balance(whole: Balance, section: int, width: int, weight: int) -> Balance:
    """Return the limits of the blocks of a section, with the imbalance that they allow."""
    own = slice(section * width, (section + 1) * width)
    limits, means = whole.limits[own], whole.means[own]
    imbalance = max(0.0, int(limits.sum()) / max(1, weight) - 1)
    if (limits == limits[0]).all():
        return Balance(width, int(limits[0]), weight // width, imbalance=imbalance)
    return Balance(width, int(limits.max()), int(means.max()), limits, means, imbalance)


def _fixed_inside(problem: multilevel.Problem, vertices: Array, begin: int) -> Array | None:
    """Return the block of the section that each vertex is fixed to, -1 for the others."""
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
    """part[v] = block of vertex i of the list, numbered among those of all sections."""
    part[vertices[i]] = kl.int32(kl.int64(blocks[i]) + begin)
