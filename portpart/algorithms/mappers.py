"""The algorithms that map processes, and their presets: the one place that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, ClassVar

import numpy as np

from portpart.algorithms import integrated_mapping as im
from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.catalogue import Entry, chosen
from portpart.algorithms.multilevel.constraints import UNCONSTRAINED
from portpart.algorithms.multilevel.mapping_problem import MappingProblem
from portpart.algorithms.multilevel.options import SearchOptions
from portpart.algorithms.multilevel.search import Partition, search
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import search_multilevel, walk_of
from portpart.algorithms.multisection import multisection
from portpart.algorithms.objectives.communication import cost_of
from portpart.algorithms.partitioners import lookup
from portpart.algorithms.placement.sections import partition_sections
from portpart.algorithms.portpart import STRONG, PortpartConfig
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology
from portpart.options import changed, check_options, described, option
from portpart.primitives.histogram import histogram

SEEDS_OF_MAPPINGS = 10**15
"""Distance between the seeds of mappings that are combined."""


@described
@dataclass(frozen=True)
class MultisectionConfig:
    """Parameters of hierarchical multisection."""

    preset: Any = option(
        "default", "How each level is partitioned: the name of a preset of the partitioner "
        '"portpart", or a PortpartConfig.  Coarsest graphs are always bisected by growing.')
    min_coarsest: int = option(
        2048, "Coarsening for a level ends at no fewer vertices for each block that is divided, if "
        "that is not above 65,536.", min=0)
    starts: int | None = option(
        None, "Partitions of each coarsest graph; each is refined there, and the best one is used. "
        " By default as the preset says.", min=1)
    runs: tuple[int, ...] | None = option(
        None, "Partitions of each level that are combined, from the outermost on, which makes most "
        "of the cost; levels further in take the last number.  By default as the preset says.",
        min=1)
    rooms: tuple[float, ...] = option(
        (0.5,), "A mapping is made for each, and they are combined on the cost itself.  A level "
        "gets such a share of the room for weight that the paper leaves to levels further in.",
        min=0, max=1)
    cycles: int = option(
        0, "Times that the result is coarsened inside its blocks and refined on the cost itself.",
        min=0)
    swaps: bool = option(
        True, "Whether blocks swap places at the end where that lowers the cost.")

    def __post_init__(self) -> None:
        lookup("portpart", self.preset)
        check_options(self)

    @property
    def is_one_walk(self) -> bool:
        """Whether one mapping is made and that is it."""
        return len(self.rooms) == 1 and self.cycles == 0

    def of_levels(self, num_elements: int) -> Iterator[PortpartConfig]:
        """How each level is partitioned, from the outermost on, if there are so many elements."""
        _, config = lookup("portpart", self.preset, self.starts, num_elements)
        config = changed(config, {"coarsening.min_coarsest": max(
            self.min_coarsest, config.coarsening.min_coarsest)})
        for runs in self.runs or ():
            config = changed(config, {"search.runs": runs})
            yield config
        yield from repeat(config)


@described
@dataclass(frozen=True)
class PartitionedConfig:
    """Parameters of the mappers that partition at once."""

    partitioner: str = option("portpart", "An algorithm of `portpart.partition`.")
    preset: Any = option("default", "Its preset, by name, or a configuration.")
    swaps: bool | None = option(
        None, "Whether blocks swap places at the end where that lowers the cost.  By default with "
        '"two-phase", and not with "identity".')

    def __post_init__(self) -> None:
        lookup(self.partitioner, self.preset)


@dataclass(frozen=True, kw_only=True)
class Mapper(Entry):
    """A way to map, and the configurations it is known under.

    Attributes
    ----------
    map : callable
        Mapping of a problem by a configuration.
    needs_hierarchy : bool
        Whether a machine must not be a matrix of distances.
    swaps : bool
        Whether blocks swap places at the end if the configuration says nothing of that.
    places : callable
        Elements for blocks, from where swaps start; None for block b on element b.
    """

    task: ClassVar[str] = "map"

    map: Callable[[MappingProblem, Any], Array] = field(repr=False)
    needs_hierarchy: bool = False
    swaps: bool = True
    places: Callable[[MappingProblem, Graph], Array | None] = field(
        default=lambda problem, blocks: None, repr=False)

    def check_fit(self, machine: Topology) -> None:
        """Refuse machines that cannot be mapped to in this way."""
        if self.needs_hierarchy and not machine.is_hierarchy:
            raise InputError("multisection needs a hierarchy; with a matrix of distances use "
                             "algorithm='im' or 'two-phase'")

    def swaps_with(self, config: Any) -> bool:
        """Whether blocks swap places at the end."""
        return self.swaps if config.swaps is None else bool(config.swaps)


def by_multisection(problem: MappingProblem, config: MultisectionConfig) -> Array:
    """Partition along the hierarchy; several times, if asked to, and combine the mappings.

    An initial mapping is refined on the cost itself, in cycles.
    """
    if problem.constraints.initial is not None:
        recipe = im.recipe_of(problem, im.STRONG)
        return search_multilevel(
            problem, replace(recipe, search=SearchOptions(cycles=config.cycles)))
    if config.is_one_walk:
        return _multisection(problem, config, config.rooms[0])
    rooms = enumerate(config.rooms)

    def walk(seed: int, part: Array | None = None, label: Array | None = None) -> Partition:
        if part is None:
            index, room = next(rooms)
            own = replace(problem, seed=(problem.seed + SEEDS_OF_MAPPINGS * index) % 2**62)
            return _found(problem, _multisection(own, config, room))
        with problem.trace.phase("search"):
            trace = Trace(problem.space, problem.graph, problem.trace.told_inside())
            inner = replace(problem, trace=trace)
            found = walk_of(inner, im.recipe_of(inner, im.STRONG))(seed, part, label)
            return _found(problem, found.part)

    return search(problem, walk, SearchOptions(len(config.rooms), config.cycles))


def _multisection(problem: MappingProblem, config: MultisectionConfig, room: float) -> Array:
    levels = config.of_levels(problem.num_blocks)
    return multisection(problem, lambda level, sections: partition_sections(
        level, sections, next(levels)), room)


def _found(problem: MappingProblem, part: Array) -> Partition:
    weights = problem.space.to_host(histogram(problem.space, part, problem.num_blocks,
                                              problem.graph.vertex_weights))
    balanced = int(problem.balance.overload(weights) <= 0)
    return Partition(part, balanced, cost_of(problem.graph, part, problem.distances))


def with_starts(config: Any, starts: int | None, num_elements: int) -> Any:
    """The configuration of a mapper with so many initial mappings, unless `starts` is None."""
    if starts is None:
        return config
    if isinstance(config, MultisectionConfig):
        return replace(config, starts=starts)
    if isinstance(config, PartitionedConfig):
        _, inner = lookup(config.partitioner, config.preset, starts, num_elements)
        return replace(config, preset=inner)
    return replace(config, initial=config.initial.with_starts(starts))


def by_partition(problem: MappingProblem, config: PartitionedConfig) -> Array:
    """Partition into as many blocks as there are elements, numbered as they come."""
    run, inner = lookup(config.partitioner, config.preset)
    part: Array = run(problem.of_the_cut(), inner)
    return part


def places_of_blocks(problem: MappingProblem, blocks: Graph) -> Array | None:
    """Elements for the blocks of a partition by multisection, if that is better than their order.

    Each element takes one block, whatever it weighs.
    """
    space, k = blocks.space, blocks.num_vertices
    if not problem.topology.is_hierarchy:
        return None
    # of the types of a coarse graph, for which there are kernels
    light = Graph(blocks.offsets, blocks.targets,
                  space.asarray(blocks.weights, blocks.weight_sum_dtype),
                  space.full(k, 1, np.int64), space)
    each_one = replace(problem, graph=light, balance=Balance(k, 1, 1),
                       trace=Trace(space, light, None), constraints=UNCONSTRAINED)
    places = by_multisection(each_one, MultisectionConfig())
    in_order = space.asarray(np.arange(k), np.int32)
    better = (cost_of(light, places, problem.distances)
              < cost_of(light, in_order, problem.distances))
    return places if better and (space.to_host(histogram(space, places, k)) == 1).all() else None


SECTIONED = {
    **{name: MultisectionConfig(preset=name) for name in ("fast", "default", "strong")},
    "best": MultisectionConfig(preset="best", starts=16, runs=(32, 8, 4), cycles=1),
}

ULTRA = MultisectionConfig(
    preset=changed(STRONG, {"refinement.finest_temperatures": STRONG.refinement.temperatures,
                            "search.cycles": 2}))
"""Beyond strong: all temperatures on the finest level, too, and one cycle more."""

PAPER = ("P. Samoldekin, C. Schulz, H. Woydt: GPU-Accelerated Algorithms for Process Mapping "
         "(2026), arXiv:2510.12196")

MAPPERS: dict[str, Mapper] = {mapper.name: mapper for mapper in (
    Mapper(
        "hm", "Hierarchical multisection",
        "The machine's hierarchy is followed from outside, all blocks of a level at once.",
        PAPER + ", section 4.1", SECTIONED, map=by_multisection, needs_hierarchy=True,
    ),
    Mapper(
        "hm-ultra", "Hierarchical multisection, with more effort",
        "Multisection with more effort on each level than the preset strong.",
        PAPER + ", section 4.1", {"default": ULTRA}, map=by_multisection,
        needs_hierarchy=True,
    ),
    Mapper(
        "im", "Integrated mapping",
        "The multilevel method with the communication cost in place of the cut.",
        PAPER + ", section 4.2", im.PRESETS,
        {"refinement.coarse.tolerance": "phi", "refinement.finest.tolerance": "phi",
         "refinement.finest_once.tolerance": "phi"},
        map=im.integrated_mapping,
    ),
    Mapper(
        "two-phase", "Partition and swaps",
        "A partition whose blocks get places by multisection, and then swap them.",
        "C. Heider (1972); B. Brandfass, T. Alrutz, T. Gerhold (2013)",
        {"default": PartitionedConfig(), "jet": PartitionedConfig(partitioner="jet")},
        map=by_partition, places=places_of_blocks,
    ),
    Mapper(
        "identity", "Partition alone",
        "A partition, each block on the element of its number.",
        "The baseline",
        {"default": PartitionedConfig(), "jet": PartitionedConfig(partitioner="jet")},
        map=by_partition, places=places_of_blocks, swaps=False,
    ),
)}  # fmt: skip

DEFAULT, DEFAULT_OF_MATRIX = "hm", "im"


def mapper_of(algorithm: str | None, preset: Any, hierarchy: bool = True) -> tuple[Mapper, Any]:
    """A mapper and its configuration; `preset` may be a configuration itself.

    Without an algorithm it is the one whose configuration is given, else the default for machines
    with a `hierarchy` or without.
    """
    default = DEFAULT if hierarchy else DEFAULT_OF_MATRIX
    name = _algorithm_of(preset, default) if algorithm is None else algorithm
    return chosen(MAPPERS, name, preset)


def _algorithm_of(preset: Any, default: str) -> str:
    of_kind = (name for name, mapper in MAPPERS.items() if type(preset) is mapper.kind)
    return next(of_kind, default)
