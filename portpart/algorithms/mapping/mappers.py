"""The algorithms that map processes, and their presets: the only place that names them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from portpart.algorithms.mapping import integrated_mapping as im, multisection as hm
from portpart.algorithms.mapping.multisection import MultisectionConfig
from portpart.algorithms.multilevel import UNCONSTRAINED, MappingProblem, Trace
from portpart.algorithms.objectives import Balance, cost_of
from portpart.algorithms.recipes import Entry, chosen, lookup, partitioners
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs import Graph, Topology
from portpart.options import option, option_class
from portpart.primitives import histogram


@option_class
class PartitionedConfig:
    """Parameters of the mappers that begin with a partition.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.grid_2d(20)
    >>> config = portpart.PartitionedConfig(preset="fast")
    >>> portpart.map_processes(graph, "2:2", "1:10", preset=config, algorithm="two-phase").feasible
    True
    """

    partitioner: str = option("portpart", "An algorithm of `portpart.partition`.")
    preset: Any = option("default", "Its preset or configuration.")
    swaps: bool | None = option(
        None, "Whether blocks swap places at the end if that lowers the cost. Default: True for "
        '"two-phase", False for "identity".')

    def __post_init__(self) -> None:
        lookup(self.partitioner, self.preset)


@dataclass(frozen=True, kw_only=True)
class Mapper(Entry):
    """A mapping algorithm, with its named configurations.

    Attributes
    ----------
    map : callable
        Maps a problem with a configuration.
    needs_hierarchy : bool
        Whether the machine must be a hierarchy.
    swaps : bool
        Whether blocks swap places at the end, unless the configuration says otherwise.
    places : callable
        Returns elements for blocks, where swaps start; None for block b on element b.
    """

    task: ClassVar[str] = "map"

    map: Callable[[MappingProblem, Any], Array] = field(repr=False)
    needs_hierarchy: bool = False
    swaps: bool = True
    places: Callable[[MappingProblem, Graph], Array | None] = field(
        default=lambda problem, blocks: None, repr=False)

    def check_fit(self, machine: Topology) -> None:
        """Raise an error for machines that the algorithm cannot map to."""
        if self.needs_hierarchy and not machine.is_hierarchy:
            raise InputError("multisection needs a hierarchy; with a matrix of distances use "
                             "algorithm='im' or 'two-phase'")

    def swaps_with(self, config: Any) -> bool:
        """Whether blocks swap places at the end."""
        return self.swaps if config.swaps is None else bool(config.swaps)


def with_starts(config: Any, starts: int | None, num_elements: int) -> Any:
    """Return a mapper's configuration with this many initial mappings, unless `starts` is None."""
    if starts is None:
        return config
    if isinstance(config, MultisectionConfig):
        return replace(config, starts=starts)
    if isinstance(config, PartitionedConfig):
        _, inner = lookup(config.partitioner, config.preset, starts, num_elements)
        return replace(config, preset=inner)
    return replace(config, initial=config.initial.with_starts(starts))


def by_partition(problem: MappingProblem, config: PartitionedConfig) -> Array:
    """Partition into as many blocks as there are elements; block b is element b."""
    run, inner = lookup(config.partitioner, config.preset)
    part: Array = run(problem.of_the_cut(), inner)
    return part


def places_of_blocks(problem: MappingProblem, blocks: Graph) -> Array | None:
    """Return elements for blocks by multisection, if they are better than the order of blocks.

    Each element gets one block of any weight.
    """
    space, k = blocks.space, blocks.num_vertices
    if not problem.topology.is_hierarchy:
        return None
    # in the types of a coarse graph, for which kernels are compiled
    light = Graph(blocks.offsets, blocks.targets,
                  space.asarray(blocks.weights, blocks.weight_sum_dtype),
                  space.full(k, 1, np.int64), space)
    each_one = replace(problem, graph=light, balance=Balance(k, 1, 1),
                       trace=Trace(space, light, None), constraints=UNCONSTRAINED)
    places = hm.by_multisection(each_one, MultisectionConfig())
    in_order = space.asarray(np.arange(k), np.int32)
    better = cost_of(light, places, problem.distances) < cost_of(light, in_order, problem.distances)
    return places if better and (space.to_host(histogram(space, places, k)) == 1).all() else None


PAPER = ("P. Samoldekin, C. Schulz, H. Woydt: GPU-Accelerated Algorithms for Process Mapping "
         "(2026), arXiv:2510.12196")

MAPPERS: dict[str, Mapper] = {mapper.name: mapper for mapper in (
    Mapper(
        "hm", "Hierarchical multisection",
        "Multisection along the machine's hierarchy, outermost level first, all blocks of a level "
        "at once; as published, block by block with Jet.",
        PAPER + ", section 4.1", hm.PRESETS, map=hm.by_multisection, needs_hierarchy=True,
    ),
    Mapper(
        "hm-ultra", "Hierarchical multisection, with more effort",
        "Multisection with more effort on each level than the preset strong; as published, with "
        "Jet and 17 temperatures.",
        PAPER + ", section 4.1", hm.ULTRA, map=hm.by_multisection, needs_hierarchy=True,
    ),
    Mapper(
        "im", "Integrated mapping",
        "The multilevel method with the communication cost as objective.",
        PAPER + ", section 4.2", im.PRESETS,
        {"refinement.coarse.tolerance": "phi", "refinement.finest.tolerance": "phi",
         "refinement.finest_once.tolerance": "phi"},
        map=im.integrated_mapping,
    ),
    Mapper(
        "two-phase", "Partition and swaps",
        "A partition whose blocks are placed by multisection and then swap places.",
        "C. Heider (1972); B. Brandfass, T. Alrutz, T. Gerhold (2013)",
        {"default": PartitionedConfig(), "jet": PartitionedConfig(partitioner="jet")},
        map=by_partition, places=places_of_blocks,
    ),
    Mapper(
        "identity", "Partition alone",
        "A partition with block b on element b.",
        "The baseline",
        {"default": PartitionedConfig(), "jet": PartitionedConfig(partitioner="jet")},
        map=by_partition, places=places_of_blocks, swaps=False,
    ),
)}  # fmt: skip

DEFAULT, DEFAULT_OF_MATRIX = "hm", "im"


def mapper_of(algorithm: str | None, preset: Any, hierarchy: bool = True) -> tuple[Mapper, Any]:
    """Return a mapper and its configuration; `preset` may be a configuration.

    Without an algorithm, the configuration determines it; else it is the default for machines with
    or without a `hierarchy`.
    """
    return chosen(MAPPERS, algorithm, preset, DEFAULT if hierarchy else DEFAULT_OF_MATRIX)


DEFAULTS = (partitioners.DEFAULT, DEFAULT)
"""The default algorithms for partitions and for mappings."""


def list_algorithms(hypergraphs: bool = False) -> dict[str, Entry]:
    """Return the algorithms of :func:`portpart.partition` and :func:`portpart.map_processes`.

    Parameters
    ----------
    hypergraphs : bool
        List algorithms for hypergraphs instead of graphs.  An algorithm in both lists has another
        configuration, and other presets, for each.

    Returns
    -------
    dict of str to Entry
        By name.  Each has ``task``, ``"partition"`` or ``"map"``, ``takes``, ``"graphs"`` or
        ``"hypergraphs"``, ``title``, ``purpose``, ``source``, ``presets``, and the methods
        ``parameters`` and ``difference``, which take the name of a preset.

    Examples
    --------
    >>> import portpart
    >>> algorithms = portpart.list_algorithms()
    >>> jet = algorithms["jet"]
    >>> list(jet.presets)[:3]
    ['fast', 'default', 'ultra']
    >>> jet.difference("fast")
    {'initial.starts': 1, 'refinement.coarse.tolerance': 0.99}
    >>> [(each.name, each.value) for each in jet.parameters() if each.symbol == "c"][0]
    ('refinement.temperatures', (0.75,))
    >>> [name for name, algorithm in algorithms.items() if algorithm.task == "map"]
    ['hm', 'hm-ultra', 'im', 'two-phase', 'identity']
    >>> "portpart" in portpart.list_algorithms(hypergraphs=True)
    True
    """
    if hypergraphs:
        return dict(partitioners.OF_NETS)
    return {**partitioners.ALGORITHMS, **MAPPERS}
