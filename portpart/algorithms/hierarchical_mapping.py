"""Multisection as a way to map: all blocks of a level at once, or as published each by itself.

P. Samoldekin, C. Schulz, H. Woydt, GPU-Accelerated Algorithms for Process Mapping, 2026, section
4.1: GPU-HM and GPU-HM-ultra, whose partitioner is Jet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from portpart.algorithms import integrated_mapping as im
from portpart.algorithms.multilevel.mapping_problem import MappingProblem
from portpart.algorithms.multilevel.options import SearchOptions
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.search import Partition, search
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import search_multilevel, walk_of
from portpart.algorithms.multisection import multisection
from portpart.algorithms.objectives.communication import cost_of
from portpart.algorithms.partitioners import lookup
from portpart.algorithms.placement.sections import partition_sections
from portpart.algorithms.placement.subgraphs import partition_subgraphs
from portpart.algorithms.portpart import STRONG, PortpartConfig
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.options import changed, check_options, described, option, shown
from portpart.primitives.histogram import histogram

AT_ONCE = "portpart"
"""The algorithm whose recipe divides all blocks of a level at once."""

SEEDS_OF_MAPPINGS = 10**15
"""Distance between the seeds of mappings that are combined."""


@described
@dataclass(frozen=True)
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
    swaps: bool = option(
        True, "Whether blocks swap places at the end if that lowers the cost.")
    partitioner: str | None = option(
        None, "An algorithm of `portpart.partition` that partitions each block as a separate "
        "graph, as in the paper; None: all blocks of a level are partitioned at once and refined "
        "on J.")

    def __post_init__(self) -> None:
        check_options(self)
        lookup(self.partitioner or AT_ONCE, self.preset)
        if self.partitioner is not None and self.runs is not None:
            raise InputError(f"runs is {shown(self.runs)}; with a partitioner its preset says how "
                             "many there are")

    @property
    def is_one_walk(self) -> bool:
        """Whether one mapping is made and that is it."""
        return len(self.slack_shares) == 1 and self.cycles == 0

    def of_section(self, num_blocks: int) -> Callable[[Problem], Array]:
        """The partitioner of a section that is divided into this many blocks."""
        run, config = lookup(self.partitioner, self.preset, self.starts, num_blocks)
        return lambda problem: run(problem, config)

    def of_levels(self, num_elements: int) -> Iterator[PortpartConfig]:
        """How each level is partitioned, from the outermost on, if there are this many elements."""
        _, config = lookup(AT_ONCE, self.preset, self.starts, num_elements)
        config = changed(config, {"coarsening.min_coarsest": max(
            self.min_coarsest, config.coarsening.min_coarsest)})
        for runs in self.runs or ():
            config = changed(config, {"search.runs": runs})
            yield config
        yield from repeat(config)


PUBLISHED = MultisectionConfig(partitioner="jet", preset="code", slack_shares=(0.0,), swaps=False)
"""As published: Jet, as its authors released it, divides each block, as a separate graph, within
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
"""Beyond strong: all temperatures on the finest level, too, and one cycle more; or as published."""

def by_multisection(problem: MappingProblem, config: MultisectionConfig) -> Array:
    """Partition along the hierarchy; several times, if asked to, and combine the mappings.

    An initial mapping is refined on the cost itself, in cycles.
    """
    if problem.constraints.initial is not None:
        recipe = im.recipe_of(problem, im.STRONG)
        return search_multilevel(
            problem, replace(recipe, search=SearchOptions(cycles=config.cycles)))
    if config.is_one_walk:
        return _multisection(problem, config, config.slack_shares[0])
    slack_shares = enumerate(config.slack_shares)

    def walk(seed: int, part: Array | None = None, label: Array | None = None) -> Partition:
        if part is None:
            index, room = next(slack_shares)
            own = replace(problem, seed=(problem.seed + SEEDS_OF_MAPPINGS * index) % 2**62)
            return _found(problem, _multisection(own, config, room))
        with problem.trace.phase("search"):
            trace = Trace(problem.space, problem.graph, problem.trace.nested())
            inner = replace(problem, trace=trace)
            found = walk_of(inner, im.recipe_of(inner, im.STRONG))(seed, part, label)
            return _found(problem, found.part)

    return search(problem, walk, SearchOptions(len(config.slack_shares), config.cycles))


def _multisection(problem: MappingProblem, config: MultisectionConfig, room: float) -> Array:
    preset = config.preset if isinstance(config.preset, str) else type(config.preset).__name__
    note = {"partitioner": config.partitioner or AT_ONCE, "preset": preset}
    if config.partitioner is not None:
        return multisection(problem, lambda level, sections: partition_subgraphs(
            level, sections, config.of_section(sections.width)), room, note)
    levels = config.of_levels(problem.num_blocks)
    return multisection(problem, lambda level, sections: partition_sections(
        level, sections, next(levels)), room, note)


def _found(problem: MappingProblem, part: Array) -> Partition:
    weights = problem.space.to_host(histogram(problem.space, part, problem.num_blocks,
                                              problem.graph.vertex_weights))
    balanced = int(problem.balance.overload(weights) <= 0)
    return Partition(part, balanced, cost_of(problem.graph, part, problem.distances))
