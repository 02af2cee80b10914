"""Where partitions start: an initial one, or the best of the pool."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from portpart.algorithms.balance.overload import with_heavy_apart
from portpart.algorithms.coarsening.hierarchy import AnyGraph, Level
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

    Those by METIS of a hypergraph are partitions of its clique graph.
    """
    balance = problem.balance

    def start(refiner: Refiner, level: Level, wanted: Constraints, seed: int) -> int:
        if wanted.initial is not None:
            refiner.start(level.graph, wanted.initial)
            return 0
        coarsest = level.graph
        parts, count = _parts(coarsest, problem, options, wanted, seed)
        parts = (well_placed(coarsest, part, balance, problem.objective, seed, wanted.fixed)
                 for part in parts)
        if problem.objective.rules.price is not None:
            parts = (with_heavy_apart(coarsest, part, balance, wanted.fixed) for part in parts)
        return start_from_best(refiner, coarsest, parts, count, passes(1, coarsest)[0], wanted)

    return start


def _parts(coarsest: AnyGraph, problem: Problem, options: InitialOptions, wanted: Constraints,
           seed: int) -> tuple[Iterable[Array], int]:
    """The partitions that start, and how many: grown ones first."""
    count = options.num_starts(problem.num_blocks)
    grown: list[Array] = []
    if options.grows and wanted.fixed is None and coarsest.num_vertices <= MAX_GROWN:
        one = options.method == "auto" and count == 1
        growing = options.growing.of_one() if one else options.growing
        grown = grown_parts(coarsest, problem.balance, growing, seed)
        if options.method != "both":
            return grown, len(grown)
    made = metis_parts(plain_graph(coarsest), problem.balance, range(seed, seed + count),
                       wanted.fixed, options.bisects)
    return chain(grown, made), len(grown) + count
