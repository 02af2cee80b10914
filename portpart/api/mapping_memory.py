"""How much memory a mapping takes: the formula of a partition for each search that it goes through.

Multisection searches once a level, among more vertices than a partition of so many blocks; all
arrays of a level are given back before the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from portpart.algorithms.coarsening.contraction import CONTRACTION_WORK, Clusters
from portpart.algorithms.initial.options import InitialOptions
from portpart.algorithms.integrated_mapping import STRONG, IntegratedConfig
from portpart.algorithms.mappers import MultisectionConfig, mapper_of
from portpart.algorithms.objectives.distances import MAX_COUNTED
from portpart.algorithms.partitioners import find
from portpart.algorithms.placement.sections import MIN_OF_SECTION, coarsest_of_sections
from portpart.algorithms.placement.swaps import MAX_SWAPPED
from portpart.algorithms.placement.traffic import has_table
from portpart.algorithms.portpart import PortpartConfig
from portpart.algorithms.refinement.state import Sizes
from portpart.api.memory_model import (
    ASKED_FROM,
    CLUSTER,
    MARGIN,
    MOST,
    NEEDS,
    MemoryEstimate,
    Needs,
    Plan,
    Size,
    estimate_of,
    fine_sizes,
    plan_of,
    refining_bytes,
)
from portpart.backends.work import bytes_of
from portpart.errors import OutOfMemory
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology

OF_BLOCK = 8 + 4 + 4 + 4 + 8 + 4 + 8 + 4
"""Bytes per block of swaps, but for the table: rows of traffic, places, and what is proposed."""


@dataclass(frozen=True)
class Search:
    """A search among partitions that a mapping goes through."""

    num_blocks: int
    plan: Plan
    needs: Needs
    labelled: bool


def mapping_estimate(graph: Size, machine: Topology, algorithm: str | None, preset: Any,
                     arc_shrink: float | None) -> MemoryEstimate:
    """The estimate for a mapping: the most of all that it goes through."""
    mapper, config = mapper_of(algorithm, preset, machine.is_hierarchy)
    mapper.check_fit(machine)
    distances = distance_bytes(machine)
    of_level = distances if isinstance(config, MultisectionConfig) else 0
    beside = distances + of_level + _kept_bytes(graph, config) + _placing_bytes(config, machine)
    ending = int(MARGIN * _ending_bytes(graph, machine))
    found = [estimate_of(graph, search.num_blocks, search.plan, search.needs, arc_shrink,
                         search.labelled) for search in _searches(config, machine)]
    return MemoryEstimate(
        graph=graph.own_bytes,
        hierarchy=max(each.hierarchy for each in found),
        coarsening=beside + max(each.coarsening for each in found),
        refinement=beside + max(each.refinement for each in found),
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
    working = refining_bytes(Sizes(graph.num_vertices, 0, 1)) if k > 1 else 0
    needed = distance_bytes(machine) + max(working, swap_bytes(k) if swaps else 0)
    if needed < ASKED_FROM:
        return
    free = graph.space.free_bytes()
    if free is not None and needed > free:
        raise OutOfMemory(
            f"mapping {graph.num_vertices} vertices to {k} elements takes {needed / 2**20:.0f} MiB "
            f"at least beside the graph, and {graph.space.name} has {free / 2**20:.0f} MiB; "
            "portpart.memory_estimate tells what it takes in all"
        )


def distance_bytes(machine: Topology) -> int:
    """Bytes of the distances between elements."""
    k, levels = machine.num_elements, len(machine.group_sizes)
    if not machine.is_hierarchy:
        return 8 * k * k
    bounds = 2 * k * levels if k <= MAX_COUNTED else 1
    return 8 * (k + bounds + 2 * levels)


def swap_bytes(num_elements: int) -> int:
    """Bytes of the table of swaps."""
    return 8 * num_elements**2 if num_elements <= MAX_SWAPPED else 0


def _kept_bytes(graph: Size, config: Any) -> int:
    """Bytes of mappings that are to be combined."""
    if not isinstance(config, MultisectionConfig) or config.is_one_walk:
        return 0
    return 4 * graph.num_vertices * len(config.rooms)


def _placing_bytes(config: Any, machine: Topology) -> int:
    """Bytes of traffic and swaps on a coarsest graph, for machines that are no hierarchies."""
    if not isinstance(config, IntegratedConfig) or machine.is_hierarchy:
        return 0
    return 2 * swap_bytes(machine.num_elements)


def _searches(config: Any, machine: Topology) -> Iterator[Search]:
    k = machine.num_elements
    if isinstance(config, MultisectionConfig):
        yield from _of_levels(config, machine)
        if not config.is_one_walk:
            yield Search(k, _grown(STRONG), NEEDS["portpart"], True)
    elif isinstance(config, IntegratedConfig):
        needs = NEEDS["jet" if config.clustering is None else "portpart"]
        yield Search(k, _grown(config), needs, False)
    else:
        found, inner = find(config.partitioner, config.preset)
        yield Search(k, plan_of(inner), NEEDS.get(found.name, MOST), False)


def _of_levels(config: MultisectionConfig, machine: Topology) -> Iterator[Search]:
    """A search for each level, from the outermost on."""
    sections, levels = 1, config.of_levels(machine.num_elements)
    for arity in (arity for arity in reversed(machine.arities) if arity > 1):
        k = sections * arity
        yield Search(k, _as_partition(next(levels), k, sections), NEEDS["portpart"], True)
        sections = k
    if sections == 1:
        yield Search(1, plan_of(next(levels)), NEEDS["portpart"], False)


def _grown(config: IntegratedConfig) -> Plan:
    """The plan of integrated mapping, whose starts are always grown."""
    return Plan(config.coarsening, InitialOptions("grown", growing=config.initial), config.search)


def _as_partition(config: PortpartConfig, k: int, sections: int) -> Plan:
    """The plan of a partition that stops coarsening where those of the sections do."""
    coarsest = coarsest_of_sections(config, k, sections)
    growing = config.initial.growing
    growing = replace(growing, min_vertices=max(growing.min_vertices, MIN_OF_SECTION * sections))
    stops = replace(config.coarsening, coarsest_per_block=0, min_coarsest=coarsest,
                    max_coarsest=coarsest)
    return Plan(stops, InitialOptions("grown", growing=growing), config.search)


def _ending_bytes(graph: Size, machine: Topology) -> int:
    """Bytes of the traffic between elements while it is counted, or of swaps."""
    k = machine.num_elements
    traffic = min(graph.num_arcs, k * k)
    arcs = 4 + graph.weight_bytes
    if has_table(graph.num_arcs, k):
        counting = CLUSTER * graph.num_vertices + 8 * k * k + 12 * traffic
    else:
        fine = fine_sizes(graph.num_vertices, graph.num_arcs, k, graph.weight_bytes)
        counting = bytes_of((Clusters, *CONTRACTION_WORK), fine) + 20 * k + arcs * traffic
    swapping = CLUSTER * graph.num_vertices * 2 + swap_bytes(k) + OF_BLOCK * k + 12 * traffic
    return max(counting, swapping)
