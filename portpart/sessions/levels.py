"""Refinement of all levels, and new partitions, of a graph that is edited.

Costs and prices of moving must fit 64 bits, at first and after each batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portpart import api
from portpart.algorithms.edits import Batch, Editable, EditableGraph, EditableHypergraph
from portpart.algorithms.final_balance import enforce_limits
from portpart.algorithms.incremental import LivePartition
from portpart.algorithms.multilevel import Constraints, Problem, Progress, Trace
from portpart.algorithms.objectives import check_net_costs
from portpart.algorithms.recipes import entry_of
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs import MAX_TOTAL_WEIGHT, EitherGraph, Graph, Hypergraph, exact_total
from portpart.metrics.balance import exact_target

if TYPE_CHECKING:
    from portpart.options import Configuration

MUCH_BETTER = Fraction(98, 100)
"""A new partition that costs less than this share is taken, if that pays for its moves in time."""

PATIENCE = 256
"""In this many rounds, in each of which less is cut."""


class SessionOptions(NamedTuple):
    """What is wanted of the blocks, as `portpart.Session` has it.

    Attributes
    ----------
    imbalance, target : object
    min_weight : int
    price : Fraction
        What the move of a vertex of size 1 costs.
    escalates : bool
    """

    imbalance: Any
    target: Any
    min_weight: int
    price: Fraction
    escalates: bool


def request_for(request: api.Request, graph: EitherGraph, fixed: Array | None,
                session_options: SessionOptions, progress: Progress | None) -> api.Request:
    """The request that partitions a graph as it is now, and its trace."""
    before = request.problem
    try:
        bounds = api.bounds_for(graph, before.num_blocks, session_options.imbalance,
                                session_options.target, fixed, session_options.min_weight)
    except InputError:  # there is too little left for the least that blocks are to weigh
        bounds = api.bounds_for(graph, before.num_blocks, session_options.imbalance,
                                session_options.target, fixed, 0)
    problem: Problem[Any] = Problem(
        graph, bounds.balance, before.seed, Trace(graph.space, graph, progress),
        Constraints(fixed), before.objective)
    return replace(request, options=replace(request.options, progress=progress), problem=problem,
                   bounds=bounds)


def all_levels(request: api.Request, live: LivePartition, price: Fraction, effort: str,
               may_change: bool) -> tuple[Array, str]:
    """Blocks refined on all levels, or rebuilt, and which of the two.

    Parameters
    ----------
    live : LivePartition
        Blocks and sizes of the vertices.
    effort : {"cycle", "full"}
    may_change : bool
        Whether a new partition is taken where it is much better, if it pays for its moves in time:
        from bad luck in the beginning refinement finds no way out.  Where algorithms know no price
        of moving, the blocks are kept that cost less, the old ones or the new.
    """
    problem, space = request.problem, request.problem.space
    priced = isinstance(request.config, api.PRICED)
    sizes = (np.ones(problem.graph.num_vertices, np.int64) if live.sizes is None
             else space.to_host(live.sizes))
    if effort == "full" or not priced:
        price, effort = Fraction(0), "full"
    tries = api.FactorSearch(request, api.PreviousPartition(space.to_host(live.part), sizes), None)
    found, fresh = tries.best(price), tries.fresh
    before, after = (api.cost_of(problem, each.part) for each in (found, fresh))
    if may_change and not priced and _is_no_worse(request, live.part, after):
        return live.part, effort
    leads = after < min(MUCH_BETTER * before, before - price / PATIENCE * fresh.size)
    if may_change and leads and request.bounds.kept_by(fresh.weights):
        found, effort = fresh, "full"
    return found.part, effort


def _is_no_worse(request: api.Request, part: Array, cost: int) -> bool:
    """Whether blocks are within their bounds and cost no more than that."""
    problem = request.problem
    return (api.cost_of(problem, part) <= cost
            and request.bounds.kept_by(api.block_weights_of(problem, part)))


def first_blocks(request: api.Request) -> tuple[Array, np.ndarray]:
    """The first blocks of a session, and what they weigh: new or given ones.

    Of given ones vertices move only where a block breaks a limit, or is empty without need.
    """
    problem, wanted = request.problem, request.problem.constraints
    if wanted.initial is None:
        return request.partition(problem)
    own = problem.space.copy(wanted.initial)
    with problem.trace.phase("finish"):
        return enforce_limits(problem.graph, own, problem.balance, request.bounds.min_weight,
                              wanted.fixed)


def within_bounds(request: api.Request, live: LivePartition) -> Array:
    """The blocks, or others within their bounds, where that is possible."""
    problem = request.problem
    return enforce_limits(problem.graph, live.part, problem.balance, request.bounds.min_weight,
                          live.fixed)[0]


def made(edited: Editable) -> EitherGraph:
    """The existing vertices, and nets, in the order of their ids."""
    if isinstance(edited, EditableHypergraph):
        return edited.hypergraph()
    assert isinstance(edited, EditableGraph)
    return edited.graph()


def editable(graph: EitherGraph, config: Configuration) -> EditableGraph | EditableHypergraph:
    """The same, to be edited, with rows as the algorithm of a configuration wants them."""
    growth = entry_of(config).growth
    return (EditableGraph(graph, growth) if isinstance(graph, Graph)
            else EditableHypergraph(graph, growth))


def kept(session_options: SessionOptions, request: api.Request,
         sizes: Array | None) -> SessionOptions:
    """The same, whatever callers do to their arrays; refused if sums may overflow at the price."""
    check_sums(session_options, request, sizes)
    if session_options.target is None:
        return session_options
    return session_options._replace(target=exact_target(request.problem.num_blocks,
                                                        session_options.target))


def check_sums(session_options: SessionOptions, request: api.Request, sizes: Array | None) -> None:
    """Refuse weights, sizes and a price for which sums may overflow."""
    _check(request.problem.graph, request.problem.num_blocks,
           prices_of(session_options, request.config),
           total_size(request.problem.graph.num_vertices, sizes))


def prices_of(session_options: SessionOptions, config: Configuration) -> list[Fraction]:
    """The price of moving around edits and, if all levels are refined at one, that one."""
    around = Fraction(ceil(session_options.price))
    if session_options.escalates and isinstance(config, api.PRICED):
        return [around, session_options.price]
    return [around]


def total_size(number: int, sizes: Array | None) -> int:
    """What this many vertices together would move."""
    return number if sizes is None else int(sizes.sum())


def _check(graph: EitherGraph, k: int, prices: list[Fraction], size: int) -> None:
    exact_total(0, size, "vertex sizes")
    if isinstance(graph, Hypergraph):
        check_net_costs(graph, k, "net weights")
    for price in prices:
        api.check_migration_factor(graph, price, size)


class Sums:
    """Bounds of what edges, or nets, and moves can cost, which follow the batches of a session.

    They exclude an overflow for most batches, in a time that does not depend on the graph.  Only
    where they do not the graph is examined.

    Parameters
    ----------
    request : Request
        That of the first partition.
    session_options : SessionOptions
    sizes : array or None
        What is moved with each vertex.
    """

    def __init__(self, request: api.Request, session_options: SessionOptions, sizes: Array
                 | None) -> None:
        graph = request.problem.graph
        self._k, self._prices = request.problem.num_blocks, prices_of(session_options,
                                                                      request.config)
        self._factor = max(price.denominator for price in self._prices)
        self._slope = 2 * max(price.numerator for price in self._prices)
        self._of_nets = isinstance(graph, Hypergraph)
        self._longest = graph.max_net_size if isinstance(graph, Hypergraph) else 0
        self._size = None if sizes is None else total_size(0, sizes)

    def surely_fit(self, edited: Editable, batch: Batch) -> bool:
        """Whether they surely do after a batch that has not been applied yet."""
        return self._fit(edited, batch.given_weight, batch.num_pairs, _born(batch))

    def follow(self, batch: Batch) -> None:
        """Take into account what a batch may have added."""
        self._longest += batch.num_pairs
        if self._size is not None:
            self._size += _born(batch)

    def undo(self, num_changes: int) -> None:
        """Take into account that this many changes of pins have been undone."""
        self._longest += num_changes

    def check(self, edited: Editable, live_partition: Callable[[], LivePartition]) -> None:
        """Refuse the graph as it is if sums may overflow.

        Raises
        ------
        InputError
            As `portpart.Session` does for such a graph.
        """
        if self._fit(edited, 0, 0, 0):
            return
        graph = made(edited)
        _check(graph, self._k, self._prices, total_size(graph.num_vertices, live_partition().sizes))
        if isinstance(graph, Hypergraph):
            self._longest = graph.max_net_size

    def _fit(self, edited: Any, weight: int, pairs: int, inserted: int) -> bool:
        """Whether bounds fit after edits that give so much weight, to these pairs and new ids."""
        vertices = edited.vertices.num_alive + inserted
        size = vertices if self._size is None else self._size + inserted
        if self._of_nets:
            joint = ((edited.nets.total_weight + weight + inserted)
                     * max(1, min(self._longest + pairs, vertices)))
        else:
            joint = edited.pair_weight + 2 * (weight + pairs)
        return (joint < MAX_TOTAL_WEIGHT and size < MAX_TOTAL_WEIGHT
                and joint * self._factor + size * self._slope <= MAX_TOTAL_WEIGHT)


def _born(batch: Batch) -> int:
    """New vertices and nets of a batch."""
    return sum(insertion.number for insertion in batch.insertions) if batch.insertions else 0
