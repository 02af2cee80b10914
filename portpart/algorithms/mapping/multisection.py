"""Hierarchical multisection: the task graph is partitioned along the machine's hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType
from typing import Any

import numpy as np

from portpart.algorithms import multilevel
from portpart.algorithms.final_balance import host_vertex_weights, repaired
from portpart.algorithms.mapping import integrated_mapping as im
from portpart.algorithms.mapping.anchors import Sections
from portpart.algorithms.mapping.sections import (
    partition_sections,
    partition_subgraphs,
    section_balance,
)
from portpart.algorithms.objectives import Balance, cost_of, distances_on
from portpart.algorithms.recipes import STRONG, PortpartConfig, lookup
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.errors import InputError, shown
from portpart.graphs import Graph
from portpart.options import changed, check_options, option, option_class
from portpart.primitives import histogram

# Hierarchical multisection (GPU-HM) ------------------------------------------------------------
#
# P. Samoldekin, C. Schulz, H. Woydt, GPU-Accelerated Algorithms for Process Mapping, 2026, section
# 4.1; after K. von Kirchbach, C. Schulz, J. L. Traeff (2020) and, for the adaptive imbalance,
# C. Schulz, H. Woydt (2025).


SEEDS_OF_LEVELS = 10**12
"""Distance between the seeds of levels."""

Divide = Callable[[multilevel.MappingProblem, Sections], Array]
"""Partitions the blocks of a level, as `partition_sections` does."""


def multisection(problem: multilevel.MappingProblem, divide: Divide, share: float = 0.0,
                 note: Mapping[str, Any] = MappingProxyType({})) -> Array:
    """Map the graph: partition it for the outermost level, then all blocks for the next level.

    Parameters
    ----------
    problem : MappingProblem
        The machine is a hierarchy.
    divide : callable
        Partitions all blocks of a level at once.
    share : float
        As for `adaptive_limit`.
    note : mapping
        Reported for each level in addition to the numbers of sections and of their blocks.

    Returns
    -------
    array of int32, shape (n,)
        Processing element of each vertex.
    """
    graph, topology, space = problem.graph, problem.topology, problem.space
    part = space.zeros(graph.num_vertices, np.int32)
    blocks, elements = 1, topology.num_elements
    for depth, arity in reversed(list(enumerate(topology.arities, 1))):
        if arity == 1:
            continue
        with problem.trace.phase(f"level {depth}"):
            fixed = _fixed_on_level(problem, elements // arity)
            levels_left = sum(width > 1 for width in topology.arities[:depth])
            balance = _level_balance(problem, part, blocks, arity, levels_left, share, fixed)
            first_block = None if blocks == 1 else _first_blocks(graph, part, arity)
            outside = topology.outside(depth)
            level = replace(problem, balance=balance, topology=outside,
                            distances=distances_on(space, outside),
                            seed=(problem.seed + SEEDS_OF_LEVELS * depth) % 2**62,
                            trace=multilevel.Trace(space, graph, problem.trace.nested()),
                            constraints=replace(problem.constraints, fixed=fixed))
            problem.trace.sections.append({"level": depth, "sections": blocks, "blocks": arity,
                                           **note})
            found = divide(level, Sections(blocks, arity, first_block))
            part, _ = repaired(graph, found, balance, fixed)
            problem.trace.repaired(found, part)
        blocks, elements = blocks * arity, elements // arity
    return part


def _fixed_on_level(problem: multilevel.MappingProblem, size: int) -> Array | None:
    """Return the block of `size` elements that a vertex is fixed to, -1 for the others."""
    fixed, n = problem.constraints.fixed, problem.graph.num_vertices
    if fixed is None or size == 1:
        return fixed
    blocks = problem.space.empty(n, np.int32)
    problem.space.parallel_for(n, find_block_around, fixed, size, blocks)
    return blocks


def _level_balance(problem: multilevel.MappingProblem, part: Array, blocks: int, arity: int,
                   levels_left: int, share: float, fixed: Array | None) -> Balance:
    """Return the limits of the new blocks, which are no smaller than their fixed weights."""
    graph, space, k = problem.graph, problem.space, blocks * arity
    weights = space.to_host(histogram(space, part, blocks, graph.vertex_weights))
    capacities = [sum(row) for row in problem.balance.limits.reshape(k, -1).tolist()]
    balance = section_balance(weights, capacities, levels_left, share, problem.balance.are_alike)
    if fixed is None:
        return balance
    inside = graph.space.to_host(fixed)
    fixed_weight = np.zeros(k, np.int64)
    np.add.at(fixed_weight, inside[inside >= 0], host_vertex_weights(graph)[inside >= 0])
    limits = np.maximum(balance.limits, fixed_weight)
    return Balance(k, int(limits.max()), balance.mean_block_weight, limits, balance.means,
                   balance.imbalance)


def _first_blocks(graph: Graph, part: Array, arity: int) -> Array:
    """Return the first of the blocks that the block of each vertex is divided into."""
    label = graph.space.empty(graph.num_vertices, np.int32)
    graph.space.parallel_for(graph.num_vertices, write_first_block, part, arity, label)
    return label


@kl.kernel
def find_block_around(v, fixed, size, blocks):
    """blocks[v] = block of `size` elements that contains v's fixed one; -1 if v is not fixed."""
    blocks[v] = fixed[v]
    if fixed[v] >= 0:
        blocks[v] = fixed[v] // size


@kl.kernel
def write_first_block(v, part, arity, label):
    """label[v] = first of the blocks that v may be in at the end."""
    label[v] = kl.int32(kl.int64(part[v]) * arity)


# Multisection as an algorithm: all blocks of a level at once, or one by one as published -------
#
# P. Samoldekin, C. Schulz, H. Woydt, GPU-Accelerated Algorithms for Process Mapping, 2026, section
# 4.1: GPU-HM and GPU-HM-ultra, whose partitioner is Jet.


AT_ONCE = "portpart"
"""The algorithm that partitions all blocks of a level at once."""

SEEDS_OF_MAPPINGS = 10**15
"""Distance between the seeds of mappings that are combined."""


@option_class
class MultisectionConfig:
    """Parameters of hierarchical multisection.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.grid_2d(20)
    >>> config = portpart.MultisectionConfig(preset="fast", swaps=False)
    >>> portpart.map_processes(graph, "2:2", "1:10", preset=config).feasible
    True
    """

    preset: Any = option(
        "default", 'How each level is partitioned: a preset of "portpart" or a PortpartConfig, '
        "whose coarsest graphs are always bisected by growing; with a `partitioner`, its preset or "
        "configuration.")
    min_coarsest: int = option(
        2048, "Without a partitioner: minimum number of vertices per divided block at which the "
        "coarsening for a level ends, at most 65,536 in total.", min=0)
    starts: int | None = option(
        None, "Number of partitions of each coarsest graph; each is refined there, and the best is "
        "used. Default: that of the preset.", min=1)
    runs: tuple[int, ...] | None = option(
        None, "Number of partitions that are combined on each level, outermost level first, which "
        "causes most of the cost; inner levels use the last number. Default, and always with a "
        "partitioner: that of the preset.", min=1)
    slack_shares: tuple[float, ...] = option(
        (0.5,), "One mapping for each value; they are combined on the mapping cost. The value is "
        "the share of the slack that a level uses; the paper leaves all of it to the inner levels.",
        min=0, max=1)
    cycles: int = option(
        0, "Number of times that the result is coarsened inside its blocks and refined on the "
        "mapping cost.",
        min=0)
    swaps: bool = option(True, "Whether blocks swap places at the end if that lowers the cost.")
    partitioner: str | None = option(
        None, "An algorithm of `portpart.partition` that partitions each block as a separate "
        "graph, as in the paper; None: all blocks of a level are partitioned at once and refined "
        "on J.")

    def __post_init__(self) -> None:
        check_options(self)
        lookup(self.partitioner or AT_ONCE, self.preset)
        if self.partitioner is not None and self.runs is not None:
            raise InputError(f"runs is {shown(self.runs)}; with a partitioner it must be "
                             "None: the preset determines it")

    @property
    def is_one_walk(self) -> bool:
        """Whether only one mapping is made."""
        return len(self.slack_shares) == 1 and self.cycles == 0

    def of_section(self, num_blocks: int) -> Callable[[multilevel.Problem], Array]:
        """Return the partitioner of a section that is divided into this many blocks."""
        run, config = lookup(self.partitioner, self.preset, self.starts, num_blocks)
        return lambda problem: run(problem, config)

    def of_levels(self, num_elements: int) -> Iterator[PortpartConfig]:
        """Yield the configuration of each level, outermost first, for this many elements."""
        _, config = lookup(AT_ONCE, self.preset, self.starts, num_elements)
        config = changed(config, {"coarsening.min_coarsest": max(
            self.min_coarsest, config.coarsening.min_coarsest)})
        for runs in self.runs or ():
            config = changed(config, {"search.runs": runs, "search.max_runs": None})
            yield config
        yield from repeat(config)


PUBLISHED = MultisectionConfig(partitioner="jet", preset="code", slack_shares=(0.0,), swaps=False)
"""As published: Jet, as released by its authors, partitions each block as a separate graph, within
the limits of equation 2.
"""

PRESETS = {
    **{name: MultisectionConfig(preset=name) for name in ("fast", "default", "strong")},
    "best": MultisectionConfig(preset="best", starts=16, runs=(32, 8, 4), cycles=1),
    "paper": PUBLISHED,
}

ULTRA = {
    "default": MultisectionConfig(preset=changed(STRONG, {
        "refinement.finest_temperatures": STRONG.refinement.temperatures, "search.cycles": 2})),
    "paper": replace(PUBLISHED, preset="code-ultra"),
}
"""More than strong: all temperatures also on the finest level, and one more cycle."""

def by_multisection(problem: multilevel.MappingProblem, config: MultisectionConfig) -> Array:
    """Partition along the hierarchy, several times if configured, and combine the mappings.

    An initial mapping is refined on the mapping cost, in cycles.
    """
    if problem.constraints.initial is not None:
        recipe = im.recipe_of(problem, im.STRONG)
        return multilevel.search_multilevel(
            problem, replace(recipe, search=multilevel.SearchOptions(cycles=config.cycles)))
    if config.is_one_walk:
        return _multisection(problem, config, config.slack_shares[0])
    slack_shares = enumerate(config.slack_shares)

    def walk(seed: int, part: Array | None = None,
             label: Array | None = None) -> multilevel.Partition:
        if part is None:
            index, share = next(slack_shares)
            own = replace(problem, seed=(problem.seed + SEEDS_OF_MAPPINGS * index) % 2**62)
            return _found(problem, _multisection(own, config, share))
        with problem.trace.phase("search"):
            trace = multilevel.Trace(problem.space, problem.graph, problem.trace.nested())
            inner = replace(problem, trace=trace)
            found = multilevel.walk_of(inner, im.recipe_of(inner, im.STRONG))(seed, part, label)
            return _found(problem, found.part)

    return multilevel.search(problem, [walk],
                             multilevel.SearchOptions(len(config.slack_shares), config.cycles))


def _multisection(problem: multilevel.MappingProblem, config: MultisectionConfig,
                  share: float) -> Array:
    preset = config.preset if isinstance(config.preset, str) else type(config.preset).__name__
    note = {"partitioner": config.partitioner or AT_ONCE, "preset": preset}
    if config.partitioner is not None:
        return multisection(problem, lambda level, sections: partition_subgraphs(
            level, sections, config.of_section(sections.width)), share, note)
    levels = config.of_levels(problem.num_blocks)
    return multisection(problem, lambda level, sections: partition_sections(
        level, sections, next(levels)), share, note)


def _found(problem: multilevel.MappingProblem, part: Array) -> multilevel.Partition:
    weights = problem.space.to_host(histogram(problem.space, part, problem.num_blocks,
                                              problem.graph.vertex_weights))
    balanced = int(problem.balance.overload(weights) <= 0)
    return multilevel.Partition(part, balanced, cost_of(problem.graph, part, problem.distances))
