"""The partitioners and their presets: the only place that names them.

`portpart.partition`, the command line, the benchmarks and the tests of the documentation read these
tables. An algorithm is added here, by one entry. Its modules are imported at the first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from portpart.algorithms.multilevel import Prepared, Problem, Recipe, partition_multilevel
from portpart.algorithms.recipes.catalogue import Entry, Table, chosen
from portpart.algorithms.refinement import Piece
from portpart.backends.programs import Array
from portpart.graphs import HALF_MORE, RowGrowth, bucket_list

if TYPE_CHECKING:
    from portpart.options import Configuration

DEFAULT = "portpart"


@dataclass(frozen=True, kw_only=True)
class Algorithm(Entry):
    """A partitioner, with its named configurations.

    Attributes
    ----------
    recipe : callable
        Returns the parts of the walk through a problem, for a configuration.
    prepared : callable
        Returns the problem that is solved instead of another one, if that is easier.
    around : tuple of Piece, optional
        Refinement around edits, if it is not Jet's.
    growth : RowGrowth
        Slack of the rows of a graph that is edited.
    """

    task: ClassVar[str] = "partition"

    recipe: Callable[[Problem, Any], Recipe] = field(repr=False)
    prepared: Callable[[Problem, Any], Prepared] = field(
        default=lambda problem, config: Prepared(problem), repr=False)
    around: tuple[Piece, ...] | None = field(default=None, repr=False)
    growth: RowGrowth = field(default=HALF_MORE, repr=False)

    def partition(self, problem: Problem, config: Configuration) -> Array:
        """Partition a graph; return an array of int32, shape (n,), in its space."""
        prepared = self.prepared(problem, config)
        problem, config = prepared.problem, prepared.config or config
        return prepared.in_given_order(partition_multilevel(problem, self.recipe(problem, config)))


def _portpart() -> Algorithm:
    from portpart.algorithms.recipes import portpart

    return Algorithm(
        "portpart", "portpart",
        "Clusters, grown starts, Jet refinement, and a search that combines partitions.",
        "The library's own, after Meyerhenke, Sanders, Schulz (2016), Gilbert et al. (2024), "
        "Sanders, Schulz (2012) and Walshaw (2004)",
        portpart.PRESETS,
        {"refinement.temperatures": "c", "refinement.finest_temperatures": "c",
         "refinement.coarse.tolerance": "phi", "refinement.finest.tolerance": "phi",
         "refinement.finest_once.tolerance": "phi", "flows.alpha": "alpha"},
        recipe=portpart.portpart,
    )  # fmt: skip


def _jet() -> Algorithm:
    from portpart.algorithms.recipes import jet

    return Algorithm(
        "jet", "Jet",
        "Two-hop matching, METIS on the coarsest graph, and refinement with temporary losses.",
        "M. S. Gilbert, K. Madduri, E. G. Boman, S. Rajamanickam: Jet: Multilevel Graph "
        "Partitioning on Graphics Processing Units, SIAM J. Sci. Comput. 46 (2024), B700-B724",
        jet.PRESETS,
        {"refinement.temperatures": "c", "refinement.finest_temperatures": "c",
         "refinement.coarse.tolerance": "phi"},
        recipe=jet.jet,
    )  # fmt: skip


def _gkway() -> Algorithm:
    from portpart.algorithms.recipes import gkway

    return Algorithm(
        "gkway", "G-kway",
        "Union-find groups and independent sets of moves, each with positive gain; for circuits.",
        "W. L. Lee, D.-L. Lin, T.-W. Huang, S. Jiang, T.-Y. Ho, Y. Lin, B. Yu: G-kway: Multilevel "
        "GPU-Accelerated k-way Graph Partitioner, DAC 2024; W. L. Lee: dissertation, University "
        "of Wisconsin-Madison (2025), chapter 1",
        gkway.PRESETS,
        {"coarsening.coarsest_per_block": "gamma", "grouping.score_factor": "c",
         "grouping.group_size": "s"},
        recipe=gkway.gkway,
    )  # fmt: skip


def _igkway() -> Algorithm:
    from portpart.algorithms.incremental import PSEUDO_BLOCK
    from portpart.algorithms.recipes import gkway

    return Algorithm(
        "igkway", "iG-kway",
        "G-kway with groups of limited size, and a pseudo block for vertices around edits.",
        "W. L. Lee: iG-kway: Incremental k-way Graph Partitioning on GPU, DAC 2025, with others; "
        "dissertation, University of Wisconsin-Madison (2025), chapter 3",
        gkway.PRESETS_OF_IGKWAY,
        {"grouping.score_factor": "c", "grouping.group_size": "s"},
        recipe=gkway.gkway, around=PSEUDO_BLOCK, growth=bucket_list(),
    )  # fmt: skip


def _gpmetis() -> Algorithm:
    from portpart.algorithms.recipes import gpmetis

    return Algorithm(
        "gpmetis", "GP-metis",
        "METIS's method on two devices: matching on a GPU, coarse levels on the CPU.",
        "B. Goodarzi, M. Burtscher, D. Goswami: Parallel Graph Partitioning on a CPU-GPU "
        "Architecture, IPDPS Workshops 2016",
        gpmetis.PRESETS, recipe=gpmetis.gpmetis,
    )  # fmt: skip


def _portpart_of_nets() -> Algorithm:
    from portpart.algorithms.recipes import portpart_nets

    return Algorithm(
        "portpart", "portpart for hypergraphs",
        "Communities, clusters, grown initial partitions, and Jet refinement on nets.",
        "The library's own, after Heuer, Schlag (2017), Gottesbueren et al. (2024) and Krause, "
        "Gottesbueren, Maas (2025)",
        portpart_nets.PRESETS,
        {"refinement.temperatures": "c", "refinement.finest_temperatures": "c",
         "flows.alpha": "alpha"},
        recipe=portpart_nets.portpart_nets, prepared=portpart_nets.prepared,
        takes="hypergraphs",
    )  # fmt: skip


def _portpart_of_edges() -> Algorithm:
    from portpart.algorithms.recipes import portpart_nets

    return replace(_portpart_of_nets(), presets=portpart_nets.PRESETS_OF_EDGES)


def _hyperg_of_nets() -> Algorithm:
    from portpart.algorithms.recipes import hyperg

    return Algorithm(
        "hyperg", "HyperG",
        "Balanced groups, and sequences of moves with the best balanced prefix; for circuits.",
        "W. L. Lee, D.-L. Lin, C.-H. Chiu, U. Schlichtmann, T.-W. Huang: HyperG: Multilevel "
        "GPU-Accelerated k-way Hypergraph Partitioner, ASP-DAC 2025; W. L. Lee: dissertation, "
        "University of Wisconsin-Madison (2025), chapter 2",
        hyperg.PRESETS,
        {"grouping.group_size": "s"},
        recipe=hyperg.hyperg,
        takes="hypergraphs",
    )  # fmt: skip


def _ihyperg_of_nets() -> Algorithm:
    from portpart.algorithms.incremental import CRITICAL_PINS
    from portpart.algorithms.recipes import hyperg

    return Algorithm(
        "ihyperg", "iHyperG",
        "HyperG, and a pseudo block for pins of edited nets that are alone in their block.",
        "W. L. Lee: dissertation, University of Wisconsin-Madison (2025), chapter 4",
        hyperg.PRESETS_OF_IHYPERG,
        {"grouping.group_size": "s"},
        recipe=hyperg.hyperg, around=CRITICAL_PINS, growth=bucket_list(),
        takes="hypergraphs",
    )  # fmt: skip


ALGORITHMS = Table({
    "portpart": _portpart,
    "jet": _jet,
    "gkway": _gkway,
    "igkway": _igkway,
    "gpmetis": _gpmetis,
})

OF_NETS = Table({
    "portpart": _portpart_of_nets,
    "hyperg": _hyperg_of_nets,
    "ihyperg": _ihyperg_of_nets,
})
"""Algorithms for hypergraphs."""

OF_EDGES = Table({**OF_NETS.makers, "portpart": _portpart_of_edges})
"""Algorithms for hypergraphs whose vertices are the edges of graphs."""


def lookup(algorithm: str | None, preset: str | Configuration, starts: int | None = None,
           num_blocks: int = 1, of_nets: bool = False,
           of_edges: bool = False) -> tuple[Callable[..., Any], Any]:
    """Return the partitioner and its configuration; `preset` may be a configuration.

    Without an algorithm, the configuration determines it; else it is the default. `starts`, unless
    it is None, is the number of initial partitions. Hypergraphs have separate algorithms, and
    hypergraphs of edges have other presets.
    """
    found, config = find(algorithm, preset, OF_EDGES if of_edges else OF_NETS if of_nets
                         else ALGORITHMS)
    if starts is not None:
        config = replace(config, initial=config.initial.with_starts(starts, num_blocks))
    return found.partition, config


def find(algorithm: str | None, preset: str | Configuration,
         table: Mapping[str, Algorithm] = ALGORITHMS) -> tuple[Algorithm, Any]:
    """Return the algorithm and the configuration of :func:`lookup`."""
    return chosen(table, algorithm, preset, DEFAULT)


def entry_of(config: Configuration) -> Algorithm:
    """Return the algorithm of a configuration, whose class may be derived from the algorithm's."""
    known = {each.kind: each for each in (*ALGORITHMS.values(), *OF_NETS.values())}
    return next(known[kind] for kind in type(config).__mro__ if kind in known)
