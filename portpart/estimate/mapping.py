"""Estimates of mappings: the partitions that a mapper computes, then traffic and swaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from portpart.algorithms import mapping
from portpart.algorithms.initial import InitialOptions
from portpart.algorithms.objectives import MAX_COUNTED
from portpart.algorithms.placement import MAX_SWAPPED, BlockPlaces, SwapProposals, has_table
from portpart.algorithms.recipes import ALGORITHMS, DEFAULT, JetConfig, PortpartConfig, find
from portpart.algorithms.refinement import FlowOptions, RefinementSizes, refining_bytes
from portpart.backends.programs import bytes_of
from portpart.errors import OutOfMemory
from portpart.estimate import calls
from portpart.estimate.levels import Search, ways_to_shrink
from portpart.graphs import EitherGraph, Graph, Topology

if TYPE_CHECKING:
    from portpart.options import Configuration


def mapping_estimate(sizes: calls.GivenSizes, machine: Topology, algorithm: str | None,
                     preset: str | Configuration, arc_shrink: float | None,
                     like: EitherGraph | None, threads: int = 1) -> calls.MemoryEstimate:
    """Return the estimate for a mapping whose levels shrink as in one of its searches."""
    mapper, config = mapping.mapper_of(algorithm, preset, machine.is_hierarchy)
    mapper.check_fit(machine)
    if like is not None and calls.sizes_of(like).counts == sizes.counts:
        sizes = calls.sizes_of(like)
    searches = list(_searches(config, machine))
    ways = [way for search in searches
            for way in ways_to_shrink(search, sizes.counts, arc_shrink, like)]
    margin = calls.WIDE_MARGIN if any(search.sections > 0 for search in searches) else calls.MARGIN
    estimate = calls.counted(sizes, ways, calls.mapping_call(machine, algorithm, preset), margin,
                             threads)
    n, arcs = sizes.counts
    ending = int(calls.MARGIN * ending_bytes(n, arcs, machine))
    return replace(estimate, swaps=estimate.graph + ending)


def _searches(config: Any, machine: Topology) -> Iterator[Search]:
    """Yield the searches of a mapper, as searches by partitioners."""
    k = machine.num_elements
    if isinstance(config, mapping.IntegratedConfig):
        yield _integrated(config, k)
    elif not isinstance(config, mapping.MultisectionConfig) or config.partitioner is not None:
        arities = [arity for arity in reversed(machine.arities) if arity > 1]
        sections = isinstance(config, mapping.MultisectionConfig) and len(arities) > 0
        yield Search(*find(config.partitioner, config.preset), arities[0] if sections else k)
    else:
        blocks, levels = 1, config.of_levels(k)
        for arity in (arity for arity in reversed(machine.arities) if arity > 1):
            yield _of_sections(next(levels), blocks * arity, blocks)
            blocks *= arity
        if blocks == 1 or not config.is_one_walk:
            yield _integrated(mapping.STRONG, k)


def _integrated(config: mapping.IntegratedConfig, k: int) -> Search:
    """Return the search of integrated mapping, which always grows its initial partitions."""
    initial = InitialOptions("grown", growing=config.initial)
    if config.clustering is None:
        alike: Any = JetConfig(coarsening=config.coarsening, initial=initial)
        return Search(ALGORITHMS["jet"], alike, k)
    alike = PortpartConfig(coarsening=config.coarsening, clustering=config.clustering,
                           initial=initial, flows=FlowOptions(), search=config.search)
    return Search(ALGORITHMS[DEFAULT], alike, k)


def _of_sections(config: PortpartConfig, k: int, sections: int) -> Search:
    """Return a search that ends coarsening at the same size as multisection."""
    coarsest = mapping.coarsest_of_sections(config, k, sections)
    growing = config.initial.growing
    growing = replace(growing, min_vertices=max(growing.min_vertices,
                                                mapping.MIN_OF_SECTION * sections))
    stops = replace(config.coarsening, coarsest_per_block=0, min_coarsest=coarsest,
                    max_coarsest=coarsest)
    return Search(ALGORITHMS[DEFAULT], replace(
        config, coarsening=stops, initial=InitialOptions("grown", growing=growing)), k, sections)


def check_memory(graph: Graph, machine: Topology, swaps: bool) -> None:
    """Raise before any work if the arrays that every mapping needs do not fit.

    Raises
    ------
    OutOfMemory
        If the space has less memory than these arrays take.
    """
    k = machine.num_elements
    working = refining_bytes(RefinementSizes(graph.num_vertices, 0, 1)) if k > 1 else 0
    needed = distance_bytes(machine) + max(working, swap_bytes(k) if swaps else 0)
    if needed < calls.ASKED_FROM:
        return
    free = graph.space.free_bytes()
    if free is not None and needed > free:
        raise OutOfMemory(
            f"mapping {graph.num_vertices} vertices to {k} elements needs {needed / 2**20:.0f} MiB "
            f"or more, without the graph; {graph.space.name} has {free / 2**20:.0f} MiB free "
            "(portpart.memory_estimate returns the total)"
        )


def distance_bytes(machine: Topology) -> int:
    """Return the bytes of the distances between elements."""
    k, levels = machine.num_elements, len(machine.group_sizes)
    if not machine.is_hierarchy:
        return 8 * k * k
    bounds = 2 * k * levels if k <= MAX_COUNTED else 1
    bits = sum((arity - 1).bit_length() for arity in machine.arities)
    return 8 * (k + bounds + levels + bits + 1)


def swap_bytes(num_elements: int) -> int:
    """Return the bytes of the arrays of swaps."""
    has_swaps = num_elements <= MAX_SWAPPED
    return bytes_of((BlockPlaces, SwapProposals), num_elements) if has_swaps else 0


def ending_bytes(num_vertices: int, num_arcs: int, machine: Topology) -> int:
    """Return the bytes for counting the traffic between elements, or for swaps."""
    k = machine.num_elements
    pairs = min(num_arcs, k * k)
    counting = 4 * num_vertices + 8 * k * k + 12 * pairs
    if not has_table(num_arcs, k):
        counting = 12 * num_arcs + 12 * num_vertices + 12 * pairs
    return max(counting, 8 * (num_vertices + k) + swap_bytes(k) + 20 * k + 12 * pairs)
