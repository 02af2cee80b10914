"""The start of refinement: several partitions of the coarsest graph, the best kept.

They are METIS's, made one by one on the host, or grown (`grown`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.initial.fixed_vertices import start_partition
from portpart.algorithms.initial.trivial import trivial_partition
from portpart.algorithms.multilevel.constraints import UNCONSTRAINED, Constraints
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiner import LevelRefiner
from portpart.algorithms.objectives.candidates import CandidateParts, costs_and_weights
from portpart.algorithms.refinement.incumbent.outcomes import RefinementOutcome
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import EitherGraph

Choose = Callable[[list[Array]], Array]
"""The best of several partitions, or one put together from them."""


def metis_parts(coarsest: Graph, balance: Balance, seeds: range,
                fixed: Array | None = None, recursive: bool = True) -> Iterator[Array]:
    """Partitions by METIS, one for each seed: by `recursive` bisection, or by the k-way method."""
    space, obvious = coarsest.space, trivial_partition(coarsest, balance.num_blocks)
    if obvious is not None and fixed is None:
        yield from (obvious for _ in seeds)
        return
    if space.is_dry_run:
        yield from (space.zeros(coarsest.num_vertices, np.int32) for _ in seeds)
        return
    matrix = coarsest.to_scipy()
    weights, anchors = (None if array is None else space.to_host(array)
                        for array in (coarsest.vertex_weights, fixed))
    for seed in seeds:
        yield space.asarray(start_partition(matrix, weights, balance.limits, balance.imbalance,
                                            seed, balance.shares, anchors, recursive))


def start_from_best(refiner: LevelRefiner, coarsest: Graph, parts: Iterable[Array], count: int,
                    temperature: float, wanted: Constraints = UNCONSTRAINED,
                    choose: Choose | None = None) -> int:
    """Refine each of `count` partitions and start from the best, as many as time allows.

    A single one is left as it is.

    Parameters
    ----------
    choose : callable, optional
        Makes one of the refined partitions, if there are several; by default the best of them.

    Returns
    -------
    int
        The passes that each has had.
    """
    tried: list[tuple[RefinementOutcome, Array]] = []
    for part in parts:
        refiner.start(coarsest, part)
        only = count == 1 and wanted.fixed is None
        if only or (not tried and wanted.out_of_time()):
            return 0
        outcome = refiner.refine(coarsest, temperature, wanted.fixed)
        tried.append((outcome, coarsest.space.copy(refiner.best[: coarsest.num_vertices])))
        if wanted.out_of_time():
            break
    if choose is not None:
        refiner.start(coarsest, choose([part for _, part in tried]))
        return 1
    rank = _rank_of_anchored(coarsest) if wanted.fixed is not None else _rank
    _, best = min(tried, key=lambda one: rank(one[0]))
    refiner.start(coarsest, best)
    return 1


def best_starts(problem: Problem, graph: EitherGraph, parts: CandidateParts,
                count: int) -> list[Array]:
    """The `count` best of several partitions of a graph as they are, best first.

    What blocks weigh too much counts as in `_rank_of_anchored`.
    """
    if len(parts) <= count:
        return list(parts)
    costs, weights = costs_and_weights(graph, parts, problem.num_blocks, problem.objective)
    above = np.maximum(weights - problem.balance.limits, 0).max(1)
    price = _price_of_overload(graph)
    # in Python's integers: with huge weights the products are beyond 64 bits
    ranks = [cost // 2 + price * over
             for cost, over in zip(costs.tolist(), above.tolist(), strict=True)]
    return [parts[each] for each in sorted(range(len(parts)), key=ranks.__getitem__)[:count]]


def _rank(outcome: RefinementOutcome) -> tuple[int, int]:
    """Smaller is better."""
    return -outcome["balanced"], outcome["cut"]


def _rank_of_anchored(coarsest: Graph) -> Callable[[RefinementOutcome], tuple[int, int]]:
    """The same for ways that differ much: what is too heavy costs its row at most to move."""
    price = _price_of_overload(coarsest)
    return lambda outcome: (0, outcome["cut"] + price * max(0, outcome["overload"]))


def _price_of_overload(graph: EitherGraph) -> int:
    """What a vertex's edges or nets weigh for its weight."""
    return 1 + graph.mean_joint_weight(graph.num_entries) // max(1, graph.total_vertex_weight)
