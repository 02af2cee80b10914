"""Refinement of all levels, and new partitions, of an edited graph.

Costs, including migration costs, must fit in 64 bits, at first and after each batch.
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
"""A new partition must cost less than this share of the refined one."""

PATIENCE = 256
"""Its lower cost in this many rounds must exceed its migration cost."""


class SessionOptions(NamedTuple):
    """Options of a session's blocks, as in `portpart.Session`.

    Attributes
    ----------
    imbalance, target : object
    min_weight : int
    factor : Fraction
        Migration cost factor: the cost of moving a vertex of size 1.
    escalates : bool
    """

    imbalance: Any
    target: Any
    min_weight: int
    factor: Fraction
    escalates: bool


def request_for(request: api.Request, graph: EitherGraph, fixed: Array | None,
                session_options: SessionOptions, progress: Progress | None) -> api.Request:
    """Return a request for partitioning the current graph, with its own trace."""
    before = request.problem
    try:
        bounds = api.bounds_for(graph, before.num_blocks, session_options.imbalance,
                                session_options.target, fixed, session_options.min_weight)
    except InputError:  # the remaining weight is too small for min_weight
        bounds = api.bounds_for(graph, before.num_blocks, session_options.imbalance,
                                session_options.target, fixed, 0)
    problem: Problem[Any] = Problem(
        graph, bounds.balance, before.seed, Trace(graph.space, graph, progress),
        Constraints(fixed), before.objective)
    return replace(request, options=replace(request.options, progress=progress), problem=problem,
                   bounds=bounds)


def all_levels(request: api.Request, live: LivePartition, factor: Fraction, effort: str,
               may_change: bool) -> tuple[Array, str]:
    """Return blocks refined on all levels, or a new partition, and the effort that was used.

    Parameters
    ----------
    live : LivePartition
        Blocks and sizes of the vertices.
    factor : Fraction
        Migration cost factor.
    effort : {"cycle", "full"}
    may_change : bool
        Whether a much cheaper new partition is used instead, if its migration cost pays off: a bad
        first partition can be a local minimum that refinement cannot leave.  With algorithms
        without migration costs the cheaper blocks are kept, the old or the new ones.
    """
    problem, space = request.problem, request.problem.space
    has_migration = isinstance(request.config, api.PRICED)
    sizes = (np.ones(problem.graph.num_vertices, np.int64) if live.sizes is None
             else space.to_host(live.sizes))
    if effort == "full" or not has_migration:
        factor, effort = Fraction(0), "full"
    tries = api.FactorSearch(request, api.PreviousPartition(space.to_host(live.part), sizes), None)
    found, fresh = tries.best(factor), tries.fresh
    before, after = (api.cost_of(problem, each.part) for each in (found, fresh))
    if may_change and not has_migration and _is_no_worse(request, live.part, after):
        return live.part, effort
    leads = after < min(MUCH_BETTER * before, before - factor / PATIENCE * fresh.size)
    if may_change and leads and request.bounds.kept_by(fresh.weights):
        found, effort = fresh, "full"
    return found.part, effort


def _is_no_worse(request: api.Request, part: Array, cost: int) -> bool:
    """Whether blocks are within their limits and cost at most `cost`."""
    problem = request.problem
    return (api.cost_of(problem, part) <= cost
            and request.bounds.kept_by(api.block_weights_of(problem, part)))


def first_blocks(request: api.Request) -> tuple[Array, np.ndarray]:
    """Return the first blocks of a session, new or given, and their weights.

    In given blocks, vertices move only if a block violates a limit or is empty without need.
    """
    problem, constraints = request.problem, request.problem.constraints
    if constraints.initial is None:
        return request.partition(problem)
    own = problem.space.copy(constraints.initial)
    with problem.trace.phase("finish"):
        return enforce_limits(problem.graph, own, problem.balance, request.bounds.min_weight,
                              constraints.fixed)


def within_limits(request: api.Request, live: LivePartition) -> Array:
    """Return the blocks, repaired if they violate limits and that is possible."""
    problem = request.problem
    return enforce_limits(problem.graph, live.part, problem.balance, request.bounds.min_weight,
                          live.fixed)[0]


def made(edited: Editable) -> EitherGraph:
    """Return the existing vertices, and nets, in the order of their ids, as a graph."""
    if isinstance(edited, EditableHypergraph):
        return edited.hypergraph()
    assert isinstance(edited, EditableGraph)
    return edited.graph()


def editable(graph: EitherGraph, config: Configuration) -> EditableGraph | EditableHypergraph:
    """Return an editable graph; the algorithm of the configuration determines the slack of rows."""
    growth = entry_of(config).growth
    return (EditableGraph(graph, growth) if isinstance(graph, Graph)
            else EditableHypergraph(graph, growth))


def kept(session_options: SessionOptions, request: api.Request,
         sizes: Array | None) -> SessionOptions:
    """Return the options with an own copy of the target; raise if sums may overflow."""
    check_sums(session_options, request, sizes)
    if session_options.target is None:
        return session_options
    return session_options._replace(target=exact_target(request.problem.num_blocks,
                                                        session_options.target))


def check_sums(session_options: SessionOptions, request: api.Request, sizes: Array | None) -> None:
    """Raise if sums of weights, sizes and migration costs may overflow."""
    _check(request.problem.graph, request.problem.num_blocks,
           factors_of(session_options, request.config),
           total_size(request.problem.graph.num_vertices, sizes))


def factors_of(session_options: SessionOptions, config: Configuration) -> list[Fraction]:
    """Return the migration cost factors: around edits, and on all levels if that has one."""
    around = Fraction(ceil(session_options.factor))
    if session_options.escalates and isinstance(config, api.PRICED):
        return [around, session_options.factor]
    return [around]


def total_size(number: int, sizes: Array | None) -> int:
    """Return the total size of this many vertices."""
    return number if sizes is None else int(sizes.sum())


def _check(graph: EitherGraph, k: int, factors: list[Fraction], size: int) -> None:
    exact_total(0, size, "vertex sizes")
    if isinstance(graph, Hypergraph):
        check_net_costs(graph, k, "net weights")
    for factor in factors:
        api.check_migration_factor(graph, factor, size)


class Sums:
    """Upper estimates of the costs of edges or nets, and of moves, updated after each batch.

    They exclude an overflow for most batches, in time that does not depend on the graph.  If they
    do not, the graph is examined.

    Parameters
    ----------
    request : Request
        The request for the first partition.
    session_options : SessionOptions
    sizes : array or None
        Sizes of the vertices.
    """

    def __init__(self, request: api.Request, session_options: SessionOptions, sizes: Array
                 | None) -> None:
        graph = request.problem.graph
        self._k, self._factors = request.problem.num_blocks, factors_of(session_options,
                                                                        request.config)
        self._scale = max(factor.denominator for factor in self._factors)
        self._slope = 2 * max(factor.numerator for factor in self._factors)
        self._of_nets = isinstance(graph, Hypergraph)
        self._longest = graph.max_net_size if isinstance(graph, Hypergraph) else 0
        self._size = None if sizes is None else total_size(0, sizes)

    def surely_fit(self, edited: Editable, batch: Batch) -> bool:
        """Whether sums cannot overflow after a batch that will be applied."""
        return self._fit(edited, batch.given_weight, batch.num_pairs, _inserted(batch))

    def follow(self, batch: Batch) -> None:
        """Update the estimates for an applied batch."""
        self._longest += batch.num_pairs
        if self._size is not None:
            self._size += _inserted(batch)

    def undo(self, num_changes: int) -> None:
        """Update the estimates after this many changes of pins have been undone."""
        self._longest += num_changes

    def check(self, edited: Editable, live: Callable[[], LivePartition]) -> None:
        """Check that sums cannot overflow for the current graph.

        Raises
        ------
        InputError
            If they can, as in `portpart.Session`.
        """
        if self._fit(edited, 0, 0, 0):
            return
        graph = made(edited)
        _check(graph, self._k, self._factors, total_size(graph.num_vertices, live().sizes))
        if isinstance(graph, Hypergraph):
            self._longest = graph.max_net_size

    def _fit(self, edited: Any, weight: int, pairs: int, inserted: int) -> bool:
        """Whether the estimates fit after edits that add `weight` to `pairs` and `inserted` ids."""
        vertices = edited.vertices.num_alive + inserted
        size = vertices if self._size is None else self._size + inserted
        if self._of_nets:
            joint = ((edited.nets.total_weight + weight + inserted)
                     * max(1, min(self._longest + pairs, vertices)))
        else:
            joint = edited.pair_weight + 2 * (weight + pairs)
        return (joint < MAX_TOTAL_WEIGHT and size < MAX_TOTAL_WEIGHT
                and joint * self._scale + size * self._slope <= MAX_TOTAL_WEIGHT)


def _inserted(batch: Batch) -> int:
    """Return the number of new vertices and nets of a batch."""
    return sum(insertion.number for insertion in batch.insertions) if batch.insertions else 0
