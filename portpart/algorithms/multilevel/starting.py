"""Where partitions start: an initial one, or the best of the pool."""

from __future__ import annotations

from collections.abc import Iterable

from portpart.algorithms.balance.overload import with_heavy_apart
from portpart.algorithms.coarsening.hierarchy import Level
from portpart.algorithms.initial.options import InitialOptions
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.pool import (
    MAX_GROWN,
    grown_parts,
    metis_parts,
    start_from_best,
)
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiner import Refiner
from portpart.algorithms.multilevel.walk import Passes, StartRule, one_pass
from portpart.algorithms.placement.traffic import well_placed
from portpart.backends.interface import Array
from portpart.graphs.clique_graph import plain_graph


def start_from_pool(problem: Problem, options: InitialOptions,
                    passes: Passes = one_pass) -> StartRule:
    """Partitions by METIS or by growing, each refined on the coarsest graph, of which the best.

    Those of a hypergraph are partitions of its clique graph.
    """
    balance = problem.balance

    def start(refiner: Refiner, level: Level, wanted: Constraints, seed: int) -> int:
        if wanted.initial is not None:
            refiner.start(level.graph, wanted.initial)
            return 0
        coarsest = plain_graph(level.graph)
        parts: Iterable[Array]
        count = options.num_starts(balance.num_blocks)
        grows = options.grows and wanted.fixed is None
        if grows and coarsest.num_vertices <= MAX_GROWN:
            one = options.method == "auto" and count == 1
            growing = options.growing.of_one() if one else options.growing
            parts = grown_parts(coarsest, balance, growing, seed)
            count = len(parts)
        else:
            parts = metis_parts(coarsest, balance, range(seed, seed + count), wanted.fixed,
                                options.bisects)
        parts = (well_placed(coarsest, part, balance, problem.objective, seed, wanted.fixed)
                 for part in parts)
        if problem.objective.rules.price is not None:
            parts = (with_heavy_apart(level.graph, part, balance, wanted.fixed) for part in parts)
        return start_from_best(refiner, level.graph, parts, count, passes(1, level.graph)[0],
                               wanted)

    return start
