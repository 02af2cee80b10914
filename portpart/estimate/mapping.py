"""Memory estimates of mappings: the memory of the searches in it.

Multisection searches once a level, among more vertices than a partition of this many blocks; all
arrays of a level are given back before the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from portpart.algorithms.coarsening import Clusters
from portpart.algorithms.initial import InitialOptions
from portpart.algorithms.mapping import (
    MIN_OF_SECTION,
    STRONG,
    IntegratedConfig,
    MultisectionConfig,
    coarsest_of_sections,
    mapper_of,
)
from portpart.algorithms.objectives import MAX_COUNTED
from portpart.algorithms.placement import MAX_SWAPPED, BlockPlaces, SwapProposals, has_table
from portpart.algorithms.recipes import JetConfig, PortpartConfig, find
from portpart.algorithms.refinement import RefinementSizes, refining_bytes
from portpart.backends.programs import bytes_of
from portpart.errors import OutOfMemory
from portpart.estimate.levels import levels_for
from portpart.estimate.model import (
    ASKED_FROM,
    OF_VERTEX,
    OF_WORD,
    LevelSize,
    MemoryEstimate,
    contraction_bytes,
    level_size,
)
from portpart.estimate.search import MARGIN, SearchModel
from portpart.graphs import Graph, Topology


def mapping_estimate(graph: LevelSize, machine: Topology, algorithm: str | None, preset: Any,
                     arc_shrink: float | None, like: Graph | None) -> MemoryEstimate:
    """The estimate for a mapping: the maximum over its searches."""
    mapper, config = mapper_of(algorithm, preset, machine.is_hierarchy)
    mapper.check_fit(machine)
    distances = distance_bytes(machine)
    of_level = distances if isinstance(config, MultisectionConfig) else 0
    kept = distances + of_level + _kept_bytes(graph, config) + _placing_bytes(config, machine)
    ending = int(MARGIN * _ending_bytes(graph, machine))
    found = [search.estimate(levels_for(graph, search, arc_shrink, like))
             for search in _searches(config, machine)]
    return MemoryEstimate(
        graph=graph.own_bytes,
        hierarchy=max(each.hierarchy for each in found),
        coarsening=kept + max(each.coarsening for each in found),
        refinement=kept + max(each.refinement for each in found),
        swaps=graph.own_bytes + distances + ending,
    )


def check_memory(graph: Graph, machine: Topology, swaps: bool) -> None:
    """Refuse what cannot fit, before any work: arrays that every mapping has at once.

    Raises
    ------
    OutOfMemory
        If the space has less than these take.
    """
    k = machine.num_elements
    working = refining_bytes(RefinementSizes(graph.num_vertices, 0, 1)) if k > 1 else 0
    needed = distance_bytes(machine) + max(working, swap_bytes(k) if swaps else 0)
    if needed < ASKED_FROM:
        return
    free = graph.space.free_bytes()
    if free is not None and needed > free:
        raise OutOfMemory(
            f"mapping {graph.num_vertices} vertices to {k} elements needs {needed / 2**20:.0f} MiB "
            f"or more, without the graph; {graph.space.name} has {free / 2**20:.0f} MiB free "
            "(portpart.memory_estimate returns the total)"
        )


def distance_bytes(machine: Topology) -> int:
    """Bytes of the distances between elements."""
    k, levels = machine.num_elements, len(machine.group_sizes)
    if not machine.is_hierarchy:
        return 8 * k * k
    bounds = 2 * k * levels if k <= MAX_COUNTED else 1
    bits = sum((arity - 1).bit_length() for arity in machine.arities)
    return 8 * (k + bounds + levels + bits + 1)


def swap_bytes(num_elements: int) -> int:
    """Bytes of what swaps work on."""
    has_swaps = num_elements <= MAX_SWAPPED
    return bytes_of((BlockPlaces, SwapProposals), num_elements) if has_swaps else 0


def _kept_bytes(graph: LevelSize, config: Any) -> int:
    """Bytes of the mappings to combine."""
    if not isinstance(config, MultisectionConfig) or config.is_one_walk:
        return 0
    return OF_VERTEX * graph.num_vertices * (len(config.slack_shares) + 2)  # the best, and a label


def _placing_bytes(config: Any, machine: Topology) -> int:
    """Bytes of traffic and swaps on a coarsest graph, for machines that are no hierarchies."""
    if not isinstance(config, IntegratedConfig) or machine.is_hierarchy:
        return 0
    return 2 * swap_bytes(machine.num_elements)


def _searches(config: Any, machine: Topology) -> Iterator[SearchModel]:
    k = machine.num_elements
    if isinstance(config, MultisectionConfig):
        yield from _of_levels(config, machine)
        if not config.is_one_walk:
            yield _integrated(STRONG, k)
    elif isinstance(config, IntegratedConfig):
        yield _integrated(config, k)
    else:
        found, inner = find(config.partitioner, config.preset)
        yield SearchModel(found.name, inner, k)


def _of_levels(config: MultisectionConfig, machine: Topology) -> Iterator[SearchModel]:
    """A search for each level, from the outermost on.

    With a partitioner of blocks the outermost alone: further in graphs are but half as large.
    """
    arities = [arity for arity in reversed(machine.arities) if arity > 1]
    if config.partitioner is not None:
        found, inner = find(config.partitioner, config.preset)
        yield SearchModel(found.name, inner, arities[0] if arities else 1)
        return
    sections, levels = 1, config.of_levels(machine.num_elements)
    for arity in arities:
        k = sections * arity
        yield SearchModel("portpart", _as_partition(next(levels), k, sections), k, sections)
        sections = k
    if sections == 1:
        yield SearchModel("portpart", next(levels), 1)


def _integrated(config: IntegratedConfig, k: int) -> SearchModel:
    """Integrated mapping, whose starts are always grown, as a search by a partitioner."""
    initial = InitialOptions("grown", growing=config.initial)
    if config.clustering is None:
        return SearchModel("jet", JetConfig(coarsening=config.coarsening, initial=initial), k)
    return SearchModel("portpart", PortpartConfig(
        coarsening=config.coarsening, clustering=config.clustering, initial=initial,
        search=config.search), k)


def _as_partition(config: PortpartConfig, k: int, sections: int) -> PortpartConfig:
    """The partitioner that stops coarsening where that of the sections does."""
    coarsest = coarsest_of_sections(config, k, sections)
    growing = config.initial.growing
    growing = replace(growing, min_vertices=max(growing.min_vertices, MIN_OF_SECTION * sections))
    stops = replace(config.coarsening, coarsest_per_block=0, min_coarsest=coarsest,
                    max_coarsest=coarsest)
    return replace(config, coarsening=stops, initial=InitialOptions("grown", growing=growing))


def _ending_bytes(graph: LevelSize, machine: Topology) -> int:
    """Bytes of the traffic between elements while it is counted, or of swaps."""
    k, n = machine.num_elements, graph.num_vertices
    traffic = level_size(k, min(graph.num_arcs, k * k), graph.weight_bytes, vertex_weight=OF_WORD)
    if has_table(graph.num_arcs, k):
        pairs = (OF_WORD + OF_VERTEX) * traffic.num_arcs
        counting = OF_VERTEX * n + OF_WORD * k * k + pairs
    else:
        fine = graph.fine._replace(clusters=k)
        counting = Clusters.num_bytes(fine) + contraction_bytes(fine, traffic)
    wide = level_size(k, traffic.num_arcs, OF_WORD)
    swapping = 2 * OF_VERTEX * (n + k) + swap_bytes(k) + wide.own_bytes
    return max(counting, swapping)
