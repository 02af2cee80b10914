"""Where partitions start: an initial one, or the best of the pool."""

from __future__ import annotations

from collections.abc import Iterable

from portpart.algorithms.coarsening.hierarchy import Level
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.options import MultilevelConfig
from portpart.algorithms.multilevel.pool import (
    MOST_GROWN,
    grown_parts,
    metis_parts,
    start_from_best,
)
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiner import Refiner
from portpart.algorithms.multilevel.walk import StartRule
from portpart.backends.interface import Array


def start_from_pool(problem: Problem, config: MultilevelConfig) -> StartRule:
    """Partitions by METIS or by growing, each refined on the coarsest graph, of which the best."""

    def start(refiner: Refiner, level: Level, wanted: Constraints, seed: int) -> int:
        coarsest, balance = level.graph, problem.balance
        if wanted.initial is not None:
            refiner.start(coarsest, wanted.initial)
            return 0
        parts: Iterable[Array]
        count = config.num_starts(balance.num_blocks)
        grows = config.start != "metis" and wanted.fixed is None
        if grows and coarsest.num_vertices <= MOST_GROWN:
            one = config.start == "auto" and count == 1
            parts = grown_parts(coarsest, balance, config.grown.of_one() if one else config.grown,
                                seed)
            count = len(parts)
        else:
            parts = metis_parts(coarsest, balance, range(seed, seed + count), wanted.fixed)
        temperature = config.passes(1, coarsest)[0]
        return start_from_best(refiner, coarsest, parts, count, temperature, wanted)

    return start
