"""The public function that repartitions with low migration volume."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.final_balance import enforce_limits
from portpart.algorithms.multilevel import Problem, Progress, Trace, renumbered
from portpart.algorithms.recipes import HypergraphConfig, JetConfig, PortpartConfig
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.api.bounds import FREE
from portpart.api.call_options import CallOptions
from portpart.api.migration import (
    FactorSchedule,
    PreviousPartition,
    limit_of,
    possible_price,
    previous_partition,
    rounded,
    with_previous_blocks,
)
from portpart.api.progress import takes_progress
from portpart.api.request import Request, block_weights_of, checked_request, cost_of
from portpart.api.results import RepartitionResult
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.options import exact_fraction

if TYPE_CHECKING:
    from portpart.graphs import Blocks, GraphLike, Numbers
    from portpart.options import Configuration, WrittenNumber

PRICED = (PortpartConfig, HypergraphConfig, JetConfig)
"""Configurations of algorithms whose refinement supports migration costs."""

MAX_PASSES = 10
"""Maximum number of partitions from each start to reach the limit of migration."""

MAX_HARD_PASSES = 4
"""Maximum number of partitions in all if weights are hard to pack, which takes longer."""

WORTHWHILE_EXCESS = 0.9
"""A pass that leaves more than this share of the previous excess is the last one."""

PASS_SEEDS = 7
"""Distance between the seeds of passes."""

WORTHWHILE = 1.25
"""A new partition is a start if it costs at most this many times that from the old blocks."""


@takes_progress
def repartition(
    graph: GraphLike,
    part: Blocks,
    k: int,
    *,
    migration: WrittenNumber = 1,
    vertex_sizes: Numbers | None = None,
    max_migration: WrittenNumber | None = None,
    imbalance: float | str = 0.03,
    vertex_weights: Numbers | None = None,
    edge_weights: Numbers | None = None,
    net_weights: Numbers | None = None,
    target: Numbers | None = None,
    fixed: Blocks | None = None,
    min_block_weight: int | None = None,
    objective: str | None = None,
    algorithm: str | None = None,
    preset: str | Configuration = "default",
    device: str = "auto",
    seed: int | None = 0,
    threads: int | None = None,
    starts: int | None = None,
    time_limit: float | None = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    progress: Progress | bool | None = None,
) -> RepartitionResult:
    """Compute a new partition of a graph or a hypergraph near an old one.

    The sum of the objective and `migration` times the total size of the vertices that leave their
    old block is minimised, within the limits of :func:`portpart.partition`.

    Parameters
    ----------
    graph : Graph, Hypergraph, sparse matrix, tuple, edge list, NetworkX graph, frame or path
        The current graph, as in :func:`portpart.partition`.
    part : array_like of int, shape (n,), dict, PartitionResult or Session
        The old block of each vertex, -1 for a new vertex.  Leaving a block with a number of k or
        more costs nothing.
    k : int
        Number of blocks, which may differ from the old one.
    migration : int, float, str or Fraction, default 1
        Migration cost factor: cost of moving a vertex of size 1, in edge or net weight.  It is read
        as an exact number.  With 0, the graph is partitioned from scratch and blocks are numbered
        by their overlap with the old ones.
    vertex_sizes : array_like of int, shape (n,), optional
        Amount of data that moves with each vertex; 1 by default.  With ``objective="volume"`` also
        the amount that each vertex sends.
    max_migration : int, float or str, optional
        Limit of the migration volume.  An integer is a size; a float, a `Fraction` or text such as
        ``"10%"`` is a share of all sizes.  If `migration` leads to a larger volume, further
        partitions are computed, each from the previous one, with higher factors while the volume is
        above the limit and lower ones while it is below: 10 from each start, or 4 in all if a
        vertex weighs more than the slack of a block.  Balance has priority over this limit.
    imbalance, vertex_weights, edge_weights, net_weights, target, fixed
        As in :func:`portpart.partition`.  Fixed vertices in another block are moved.
    min_block_weight, objective
        As in :func:`portpart.partition`.
    algorithm, preset, device, seed, threads, starts, time_limit
        As in :func:`portpart.partition`; the algorithm is ``"portpart"`` or ``"jet"``.
    symmetrize, weights, weight_scale, progress
        As in :func:`portpart.partition`.

    Returns
    -------
    RepartitionResult

    Raises
    ------
    InputError
        As in :func:`portpart.partition`, or if `part` has no entry for a vertex.

    Notes
    -----
    The result is the same on every device and for any number of threads.  Coarsening merges only
    vertices of one old block.  Refinement starts from the old blocks, repaired if they exceed
    limits, or from a new partition numbered by overlap with the old one, whichever costs less.

    Examples
    --------
    >>> import numpy as np, portpart
    >>> grid = portpart.generators.grid_2d(8, 8)
    >>> old = np.arange(64) // 32
    >>> load = np.where(np.arange(64) < 16, 3, 1)
    >>> result = portpart.repartition(grid, old, 2, vertex_weights=load)
    >>> result.cut, result.moved, result.feasible
    (10, 8, True)
    """
    asked = CallOptions(
        k, migration=migration, max_migration=max_migration, imbalance=imbalance,
        vertex_weights=vertex_weights, edge_weights=edge_weights, net_weights=net_weights,
        target=target, fixed=fixed, min_block_weight=min_block_weight, objective=objective,
        vertex_sizes=vertex_sizes if objective == "volume" else None, algorithm=algorithm,
        preset=preset, device=device, seed=seed, threads=threads, starts=starts,
        time_limit=time_limit, symmetrize=symmetrize, weights=weights, weight_scale=weight_scale,
        progress=progress)
    # as an edge, a net would cost half of its cost in soed
    request = checked_request(graph, asked, as_edges=objective != "soed")
    if not isinstance(request.config, PRICED):
        raise InputError(f"{type(request.config).__name__} belongs to an algorithm without "
                         f"migration costs; use {', '.join(each.__name__ for each in PRICED)}")
    old = previous_partition(request.problem.graph, part, request.problem.num_blocks, vertex_sizes)
    factor = exact_fraction(request.options.migration)
    best = FactorSearch(request, old, limit_of(max_migration, old)).best(factor)
    facts = request.facts(best.part, best.weights, best.trace)
    return RepartitionResult(**facts, moved=best.moved, migration=best.size, price=best.price)


@dataclass(frozen=True, eq=False)
class RepartitionAttempt:
    """A partition that was found at one migration cost factor.

    Attributes
    ----------
    part : array of int32, shape (n,)
    weights : numpy.ndarray of int64, shape (k,)
    trace : Trace
    price : Fraction
    cost : int
        The objective without migration costs.
    moved, size : int
        Number of vertices that move, and their size.
    """

    part: Array
    weights: np.ndarray
    trace: Trace
    price: Fraction
    cost: int
    moved: int
    size: int


class FactorSearch:
    """Search over migration cost factors for a partition within the limit of migration."""

    def __init__(self, request: Request, old: PreviousPartition, limit: int | None) -> None:
        self.request, self.old, self.limit = request, old, limit
        self.has_previous = not bool((old.known == FREE).all())
        self.out_of_time = request.problem.constraints.out_of_time
        self.is_hard = limit is not None and request.bounds.may_be_missed(request.problem.graph)

    def best(self, price: Fraction) -> RepartitionAttempt:
        """Return the best partition at the given factor, or at others if that exceeds the limit."""
        self.price, self.fresh = price, self._fresh(price)
        made = list(self._at(price)) if price > 0 and self.has_previous else [self.fresh]
        best = min(made, key=self._rank)
        if self.limit is None or best.size <= self.limit:
            return best
        max_factor = self._max_factor()
        lowest = max(price, max_factor / 2**16)
        if self.is_hard:
            made += self._search_back(self.limit, lowest, max(lowest, max_factor))
        else:
            starts = made if price > 0 else () if self.out_of_time() else self._at(lowest)
            for start in tuple(starts):
                made += self._search_within(start, self.limit,
                                            FactorSchedule(lowest, max(lowest, max_factor)))
        best = min(made, key=self._rank_within)
        return best if best.size <= self.limit else min(best, self._stayed(max_factor),
                                                        key=self._rank_within)

    def _stayed(self, price: Fraction) -> RepartitionAttempt:
        """Return the old blocks, repaired if they violate limits."""
        problem = with_previous_blocks(self.request.problem, self.old, price)
        wanted = problem.constraints
        assert wanted.initial is not None
        part, weights = enforce_limits(problem.graph, wanted.initial, problem.balance,
                                       self.request.bounds.min_weight, wanted.fixed)
        return self._made(self.request.new_trace(), price, part, weights)

    def _max_factor(self) -> Fraction:
        """Return some times the mean cost of a vertex's edges or nets, at which few moves gain."""
        graph = self.request.problem.graph
        joint = max(1, graph.mean_joint_weight(graph.num_entries))
        sizes = max(1, int(self.old.sizes.sum()))
        max_factor = max(Fraction(16 * joint, sizes).limit_denominator(2**20), Fraction(1, 2**20))
        return possible_price(graph, max_factor, sizes)

    def _search_within(self, now: RepartitionAttempt, limit: int,
                       prices: FactorSchedule) -> Iterator[RepartitionAttempt]:
        """Yield partitions, each made from the previous one, with a factor that follows the limit.

        After a partition within the limit, the next one is made from the best of these.
        """
        kept: list[RepartitionAttempt] = []
        for number in range(1, MAX_PASSES + 1):
            if self.out_of_time():
                return
            too_much = now.size > limit
            if not too_much:
                kept.append(now)
                now = min(kept, key=self._rank)
            price = prices.after(too_much)
            problem = with_previous_blocks(self.request.problem, self.old, price)
            problem = replace(problem, seed=problem.seed + PASS_SEEDS * number)
            now = self._from(problem, price, now.part)
            yield now

    def _search_back(self, limit: int, lowest: Fraction,
                  highest: Fraction) -> Iterator[RepartitionAttempt]:
        """Yield a few partitions, the first from the old blocks, each other from the best so far.

        While the migration volume exceeds its limit, the factor is the highest one. The search ends
        if the last partition is not the best one, or, with blocks within their limits, if the
        excess has barely decreased or only one partition is left. Within the limit, the factor is
        the geometric mean of factors that lead to more and to less migration. No partitions are
        grown. Walks from blocks within their limits are brief: as vertices merge only within these
        and the old blocks, there would be many levels.
        """
        made: list[RepartitionAttempt] = []
        price, start, is_brief, excess = highest, None, False, math.inf
        for number in range(1, MAX_HARD_PASSES + 1):
            if self.out_of_time():
                return
            problem = with_previous_blocks(self.request.problem, self.old, price)
            problem = replace(problem, seed=problem.seed + PASS_SEEDS * number,
                              constraints=replace(problem.constraints, grows=False,
                                                  is_brief=is_brief))
            made.append(self._from(problem, price, start))
            yield made[-1]
            best = min(made, key=self._rank_within)
            is_brief = self.request.bounds.kept_by(best.weights)
            if best.size > limit:
                barely = best.size - limit > WORTHWHILE_EXCESS * excess
                is_last = barely or number == MAX_HARD_PASSES - 1
                if best is not made[-1] or (is_brief and is_last):
                    return
                excess = best.size - limit
            else:
                if made[-1].size > limit:
                    lowest = price
                else:
                    highest = price
                price = rounded(math.sqrt(lowest * highest))
            start = best.part

    def _at(self, price: Fraction) -> Iterator[RepartitionAttempt]:
        """Yield a partition from the old blocks, and one from a new one if that may be better.

        Refinement moves vertices back if that lowers costs. If weights are hard to pack and too
        much migrates from the old blocks, a new partition is barely better; it is used unrefined.
        """
        request, new = self.request, self.fresh
        problem = with_previous_blocks(request.problem, self.old, price)
        first = self._from(problem, price, None)
        yield first
        if self.out_of_time():
            return
        is_kept = request.bounds.kept_by(first.weights)
        if is_kept and self.is_hard and self.limit is not None and first.size > self.limit:
            yield new
            return
        near = cost_of(problem, new.part) <= WORTHWHILE * cost_of(problem, first.part)
        if near or not is_kept:
            yield self._from(problem, price, new.part)

    def _from(self, problem: Problem[Any], price: Fraction, initial: Array
              | None) -> RepartitionAttempt:
        """Return a partition at a factor, from an initial one or from the old blocks."""
        problem = replace(problem, trace=self.request.new_trace())
        if initial is not None:
            problem = replace(problem, constraints=replace(problem.constraints, initial=initial))
        part, weights = self.request.partition(problem)
        return self._made(problem.trace, price, part, weights)

    def _fresh(self, price: Fraction) -> RepartitionAttempt:
        """Return a new partition; without fixed vertices, blocks are numbered by overlap."""
        request, known = self.request, self.old.known
        problem, has_cost = request.problem, known != FREE
        part, weights = request.partition(problem)
        if problem.constraints.fixed is None:
            space = problem.space
            previous_blocks = PreviousBlocks(space.asarray(np.where(has_cost, known,
                                                                    0).astype(np.int32)),
                                             space.asarray(np.where(has_cost, self.old.sizes, 0)))
            part = renumbered(space, part, previous_blocks, problem.balance)
            weights = block_weights_of(problem, part)
        return self._made(problem.trace, price, part, weights)

    def _made(self, trace: Trace, price: Fraction, part: Array,
              weights: np.ndarray) -> RepartitionAttempt:
        problem = self.request.problem
        cost = cost_of(problem, part)
        return RepartitionAttempt(part, weights, trace, price, cost,
                                  *self.old.moved(problem.space.to_host(part)))

    def _rank(self, made: RepartitionAttempt) -> tuple[int | Fraction, ...]:
        """Return a key; smaller is better: limits, then objective plus migration costs as given."""
        *bounds, _ = self.request.bounds.rank(made.weights, made.cost)
        return *bounds, made.cost + self.price * made.size, made.size

    def _rank_within(self, made: RepartitionAttempt) -> tuple[int | Fraction, ...]:
        """Return the same key, with the excess of migration after the limits."""
        *bounds, cost, size = self._rank(made)
        return *bounds, max(0, made.size - (self.limit or 0)), cost, size
