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
from portpart.algorithms.coarsening.hierarchy import Level, coarsen
from portpart.algorithms.initial.deep_multilevel import grown_partitions
from portpart.algorithms.mapping.combining import Sections, best_of_each
from portpart.algorithms.mapping.refinement import MappingRefiner
from portpart.algorithms.multilevel.pool import StartOptions, levels_below, start_from_best
from portpart.algorithms.multilevel.search import Found, search
from portpart.algorithms.multilevel.trace import Progress, Trace
from portpart.algorithms.multilevel.walk import on_levels, refine_upwards
from portpart.algorithms.objectives.distances import Distances
from portpart.algorithms.placement.tree import splits_of_ranges
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph

if TYPE_CHECKING:
    from portpart.algorithms.portpart import PortpartConfig

MOST = 2**16
"""Most vertices at which coarsening may stop so that all sections have enough."""

LEAST_OF_SECTION = 128
"""Vertices for each section at which coarsening for starts ends."""


def partition_sections(graph: Graph, sections: Sections, distances: Distances, balance: Balance,
                       config: PortpartConfig, seed: int,
                       progress: Progress | None = None) -> Array:
    """Divide each section into its blocks.

    Parameters
    ----------
    graph : Graph
    sections : Sections
    distances : Distances
        Those of all blocks.
    balance : Balance
        Limits of all blocks.
    config : PortpartConfig
    progress : callable, optional
        Told of every level.

    Returns
    -------
    array of int32, shape (n,)
        A vertex may be in a block of another section.
    """
    space, k = graph.space, balance.num_blocks
    coarsest = coarsest_of_sections(config, k, sections.count)
    rule = config.clusters_of_levels(graph, balance, coarsest)
    trace = Trace(space, graph, progress)

    def walk(seed: int, part: Array | None = None, label: Array | None = None) -> Found:
        levels = coarsen(space, graph, rule, seed=seed,
                         label=sections.first_block if label is None else label,
                         stop_at=coarsest, stop_dense_at=config.coarsest_dense_vertices(k),
                         least_shrink=config.least_shrink, on_level=trace.coarse_level)
        refiner = MappingRefiner(space, graph, balance, distances, config.refinement, seed,
                                 config.refinement_of_finest(graph))
        if part is None:
            with trace.phase("initial"):
                _start(refiner, levels[-1], sections, config, seed)
        else:
            refiner.start(levels[-1].graph, on_levels(levels, part)[-1])
        outcome = refine_upwards(refiner, levels, config, trace, [None] * len(levels))
        if part is None or sections.count == 1:
            return Found(refiner.best, outcome["balanced"], outcome["cut"])
        return best_of_each(graph, sections, distances, balance, [part, refiner.best], 0)

    return search(space, walk, k, seed, config.runs, config.cycles,
                  lambda found: trace.walked(found.cut))


def coarsest_of_sections(config: PortpartConfig, num_blocks: int, num_sections: int) -> int:
    """Number of vertices at which coarsening stops."""
    return max(config.coarsest_vertices(num_blocks),
               min(config.least_coarsest * num_sections, MOST))


def _start(refiner: MappingRefiner, coarsest: Level, sections: Sections, config: PortpartConfig,
           seed: int) -> None:
    """Start from the best of several partitions, each refined; for each section by itself."""
    graph, options = coarsest.graph, config.grown
    if config.start == "auto" and config.num_starts(sections.width) == 1:
        options = options.of_one()
    parts = _grown(coarsest, sections, refiner.balance, options, seed)
    temperature = config.passes(1, graph)[0]
    if sections.count == 1 or len(parts) == 1:
        start_from_best(refiner, graph, parts, len(parts), temperature)
        return
    refined = []
    for part in parts:
        refiner.start(graph, part)
        refiner.refine(graph, temperature)
        refined.append(graph.space.copy(refiner.best[: graph.num_vertices]))
    own = Sections(sections.count, sections.width, coarsest.label)
    slack = graph.total_vertex_weight // max(1, graph.num_vertices)
    best = best_of_each(graph, own, refiner.distances, refiner.balance, refined, slack)
    refiner.start(graph, best.part)


def _grown(coarsest: Level, sections: Sections, balance: Balance, options: StartOptions,
           seed: int) -> list[Array]:
    """Partitions of the coarsest graph by bisections of sections, the most promising first."""
    least = max(options.growing.least_vertices, LEAST_OF_SECTION * sections.count)
    levels = levels_below(coarsest.graph, options, seed, least, coarsest.label)
    n = coarsest.graph.num_vertices
    labels = None if sections.count == 1 else [level.label for level in levels]
    parts = grown_partitions(
        [level.graph for level in levels], [level.cluster for level in levels[:-1]],
        np.maximum(balance.limits, 1), balance.limits, seed, options.growing, options.refined,
        splits_of_ranges(sections.count, sections.width), labels, sections.count,
    )
    return [parts[start : start + n] for start in range(0, len(parts), n)]
