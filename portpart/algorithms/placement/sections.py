"""A level of multisection: all blocks of the levels outside are divided at once.

The blocks are sections of the graph.  Clusters keep to sections, and starts are bisected within
them.  Refinement goes by the cost on the machine as far as it has been divided, so arcs between
sections keep vertices near their neighbours outside, and a vertex may go to another section where
that pays.  A level takes about as many launches as one partition does, and no subgraphs are built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.coarsening.clustering import cluster_rule
from portpart.algorithms.coarsening.hierarchy import Level
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.greedy_start import grown_on, levels_below
from portpart.algorithms.multilevel.mapping_problem import MappingProblem
from portpart.algorithms.multilevel.refiner import jet_refiner
from portpart.algorithms.multilevel.search import Partition
from portpart.algorithms.multilevel.walk import Recipe, StartRule, search_multilevel
from portpart.algorithms.placement.anchors import start_mapping
from portpart.algorithms.placement.combining import Sections, best_of_each
from portpart.algorithms.placement.tree import splits_of_ranges
from portpart.backends import language as kl
from portpart.backends.interface import Array

if TYPE_CHECKING:
    from portpart.algorithms.portpart import PortpartConfig

MAX_COARSEST = 2**16
"""Most vertices at which coarsening may stop so that all sections have enough."""

MIN_OF_SECTION = 128
"""Vertices for each section at which coarsening for starts ends."""


def partition_sections(problem: MappingProblem, sections: Sections,
                       config: PortpartConfig) -> Array:
    """Divide each section into its blocks.

    Parameters
    ----------
    problem : MappingProblem
        With the limits and the distances of all blocks.
    sections : Sections
    config : PortpartConfig

    Returns
    -------
    array of int32, shape (n,)
        A vertex may be in a block of another section.
    """
    coarsest = coarsest_of_sections(config, problem.num_blocks, sections.count)

    def combine(parts: list[Array]) -> Partition:
        return best_of_each(problem.graph, sections, problem.distances, problem.balance, parts, 0)

    rule = cluster_rule(problem.graph, coarsest, problem.balance.cluster_limit(coarsest),
                        config.clustering)
    return search_multilevel(problem, Recipe(
        config.coarsening, rule, _start_rule(problem, sections, config),
        jet_refiner(problem, config.refinement), config.refinement.passes, config.search,
        label=sections.first_block, stop_at=coarsest,
        combine=combine if sections.count > 1 else None))


def coarsest_of_sections(config: PortpartConfig, num_blocks: int, num_sections: int) -> int:
    """Number of vertices at which coarsening stops."""
    return max(config.coarsening.coarsest_vertices(num_blocks),
               min(config.coarsening.min_coarsest * num_sections, MAX_COARSEST))


def _start_rule(problem: MappingProblem, sections: Sections, config: PortpartConfig) -> StartRule:
    """The best of several partitions, each refined; for each section by itself."""
    options = config.initial.growing
    if config.initial.method == "auto" and config.initial.num_starts(sections.width) == 1:
        options = options.of_one()

    def grow(level: Level, wanted: Constraints, seed: int) -> list[Array]:
        return _grown(level, sections, problem.balance, options, seed, wanted)

    def choose(level: Level, wanted: Constraints, refined: list[Array]) -> Array:
        graph = level.graph
        own = Sections(sections.count, sections.width, _first_blocks(level, sections, wanted))
        slack = graph.total_vertex_weight // max(1, graph.num_vertices)
        return best_of_each(graph, own, problem.distances, problem.balance, refined, slack).part

    return start_mapping(problem, sections.width, config.refinement.passes, grow,
                         choose if sections.count > 1 else None)


def _first_blocks(level: Level, sections: Sections, wanted: Constraints) -> Array | None:
    """First block of the section of each vertex: its label, unless vertices are fixed."""
    if wanted.fixed is None or sections.count == 1:
        return level.label
    n, space = level.graph.num_vertices, level.graph.space
    first = space.empty(n, np.int32)
    space.parallel_for(n, find_first_block, level.label, sections.width, first)
    return first


@kl.kernel
def find_first_block(v, label, width, first):
    """first[v] = first block of the section of v, that of the block to which v is fixed."""
    first[v] = label[v]
    if label[v] < 0:
        first[v] = (kl.int32(-2) - label[v]) // width * width


def _grown(coarsest: Level, sections: Sections, balance: Balance, options: GrowingOptions,
           seed: int, wanted: Constraints) -> list[Array]:
    """Partitions of the coarsest graph by bisections of sections, the most promising first."""
    min_vertices = max(options.min_vertices, MIN_OF_SECTION * sections.count)
    levels = levels_below(coarsest.graph, options, seed, min_vertices, coarsest.label)
    labels = None if sections.count == 1 else [_first_blocks(level, sections, wanted)
                                                    for level in levels]
    return [*grown_on(levels, np.maximum(balance.limits, 1), balance.limits, options, seed,
                      splits_of_ranges(sections.count, sections.width), labels, sections.count)]
