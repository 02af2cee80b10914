"""A start below the coarsest hypergraph, which is refined up to it.

Partitions of the coarsest hypergraph are grown on a hierarchy of its clique graph, by small steps.
Circuits into two blocks may have another partition that cuts far less, and that all of these miss.
Jet refinement finds it more often on the levels from a much smaller hypergraph upwards.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from portpart.algorithms.coarsening import DENSE_DEGREE, Level
from portpart.algorithms.final_balance import with_heavy_apart
from portpart.algorithms.initial import GrowingOptions
from portpart.algorithms.multilevel.greedy_start import MAX_GROWN, grown_on_nets
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import Recipe, Start, StartRule, levels_of, refined_from
from portpart.algorithms.refinement import Refiner
from portpart.algorithms.refinement.blocks import has_heavy
from portpart.algorithms.refinement.incumbent import RefinementOutcome
from portpart.backends.programs import Array
from portpart.graphs import Hypergraph

CANDIDATES = 4
"""Partitions of the deepest hypergraph; the best one is refined upwards."""


class Refined(NamedTuple):
    """A refined partition and its outcome."""

    part: Array
    outcome: RefinementOutcome


def refined_from_below(problem: Problem, deeper: Recipe, refiner: Refiner, coarsest: Hypergraph,
                       wanted: Constraints, seed: int) -> Refined | None:
    """Return a partition that is refined upwards from levels below the coarsest hypergraph.

    None if the coarsest hypergraph is dense, or cannot be coarsened enough. The refiner is used.
    """
    if coarsest.mean_degree > DENSE_DEGREE and not problem.space.is_dry_run:
        return None
    inner = replace(problem, graph=coarsest, constraints=wanted, evaluation=None,
                    trace=Trace(problem.space, coarsest, None))
    levels = levels_of(inner, deeper, seed)
    if len(levels) == 1 or levels[-1].graph.num_vertices > MAX_GROWN:
        return None
    outcome = refined_from(Start(wanted, seed), inner, deeper, refiner, levels,
                           [None] * len(levels))
    return Refined(problem.space.copy(refiner.best[: coarsest.num_vertices]), outcome)


def start_on_nets(problem: Problem, options: GrowingOptions) -> StartRule:
    """Return a rule that starts from the best of the partitions grown on a small hypergraph."""
    balance = problem.balance
    growing = replace(options, hierarchies=1, candidates=CANDIDATES, refined=1,
                      refined_for_many=None)

    def start(refiner: Refiner, level: Level, wanted: Constraints, seed: int) -> int:
        graph = level.graph
        slack = growing.slack_of_blocks(balance.num_blocks, refiner.slack_on(graph))
        parts = grown_on_nets(graph, balance, growing, seed, slack)
        if has_heavy(graph, balance):
            parts = with_heavy_apart(graph, parts, balance, None)
        refiner.start(graph, parts[0])
        return 0

    return start
