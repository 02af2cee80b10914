"""The partitioners and their presets: the one place that names them.

`portpart.partition`, the command line, the benchmarks and the tests of the documentation read this
table; an algorithm is added here, by one entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from portpart.algorithms import gkway, gpmetis, jet, portpart
from portpart.algorithms.catalogue import Entry, chosen

DEFAULT = "portpart"


@dataclass(frozen=True, kw_only=True)
class Algorithm(Entry):
    """A partitioner and the configurations it is known under.

    Attributes
    ----------
    partition : callable
        The recipe.
    """

    task: ClassVar[str] = "partition"

    partition: Callable[..., Any] = field(repr=False)


ALGORITHMS: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in (
    Algorithm(
        "portpart", "portpart",
        "Clusters, starts grown on the device, Jet refinement, and search by combining partitions.",
        "The library's own, after Meyerhenke, Sanders, Schulz (2016), Gilbert et al. (2024), "
        "Sanders, Schulz (2012) and Walshaw (2004)",
        portpart.PRESETS,
        {"temperatures": "c", "finest_temperatures": "c", "refinement.tolerance": "phi",
         "finest_refinement.tolerance": "phi", "finest_once.tolerance": "phi"},
        partition=portpart.portpart,
    ),
    Algorithm(
        "jet", "Jet",
        "Two-hop matching, METIS on the coarsest graph, and refinement that takes detours.",
        "M. S. Gilbert, K. Madduri, E. G. Boman, S. Rajamanickam: Jet: Multilevel Graph "
        "Partitioning on Graphics Processing Units, SIAM J. Sci. Comput. 46 (2024), B700-B724",
        jet.PRESETS,
        {"temperatures": "c", "finest_temperatures": "c", "refinement.tolerance": "phi"},
        partition=jet.jet,
    ),
    Algorithm(
        "gkway", "G-kway",
        "Union-find groups, and independent sets of moves that all gain; made for circuits.",
        "W. L. Lee, D.-L. Lin, T.-W. Huang, S. Jiang, T.-Y. Ho, Y. Lin, B. Yu: G-kway: Multilevel "
        "GPU-Accelerated k-way Graph Partitioner, DAC 2024; W. L. Lee: dissertation, University "
        "of Wisconsin-Madison (2025), chapter 1",
        gkway.PRESETS,
        {"coarsest_per_block": "gamma", "score_factor": "c", "group_size": "s"},
        partition=gkway.gkway,
    ),
    Algorithm(
        "gpmetis", "GP-metis",
        "METIS's method on two devices: matching on a GPU, coarse levels on the CPU.",
        "B. Goodarzi, M. Burtscher, D. Goswami: Parallel Graph Partitioning on a CPU-GPU "
        "Architecture, IPDPS Workshops 2016",
        gpmetis.PRESETS, partition=gpmetis.gpmetis,
    ),
)}  # fmt: skip


def lookup(algorithm: str | None, preset: Any, starts: int | None = None,
           num_blocks: int = 1) -> tuple[Callable[..., Any], Any]:
    """The partitioner and its configuration; `preset` may be a configuration itself.

    Without an algorithm it is the one whose configuration is given, else the default.  `starts`,
    unless it is None, says how many initial partitions there are to be.
    """
    found, config = find(algorithm, preset)
    if starts is not None:
        config = config.with_starts(starts, num_blocks)
    return found.partition, config


def find(algorithm: str | None, preset: Any) -> tuple[Algorithm, Any]:
    """The algorithm and the configuration that :func:`lookup` finds."""
    return chosen(ALGORITHMS, _algorithm_of(preset) if algorithm is None else algorithm, preset)


def _algorithm_of(preset: Any) -> str:
    for name, algorithm in ALGORITHMS.items():
        if type(preset) is algorithm.kind:
            return name
    return DEFAULT
