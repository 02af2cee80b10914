"""Refinement of all levels, and new partitions, of a graph that is edited."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portpart.algorithms.edits import Editable, EditableGraph, EditableHypergraph
from portpart.algorithms.final_balance import enforce_limits
from portpart.algorithms.incremental import LivePartition
from portpart.algorithms.multilevel import Constraints, Problem, Progress, Trace
from portpart.algorithms.recipes import entry_of
from portpart.api import (
    PRICED,
    FactorSearch,
    PreviousPartition,
    Request,
    block_weights_of,
    bounds_for,
    cost_of,
)
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs import EitherGraph, Graph

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


def request_for(request: Request, graph: EitherGraph, fixed: Array | None,
                session_options: SessionOptions,
                progress: Progress | None) -> Request:
    """The request that partitions a graph as it is now, and its trace."""
    before = request.problem
    try:
        bounds = bounds_for(graph, before.num_blocks, session_options.imbalance,
                            session_options.target, fixed,
                            session_options.min_weight)
    except InputError:  # there is too little left for the least that blocks are to weigh
        bounds = bounds_for(graph, before.num_blocks, session_options.imbalance,
                            session_options.target, fixed, 0)
    problem: Problem[Any] = Problem(
        graph, bounds.balance, before.seed, Trace(graph.space, graph, progress),
        Constraints(fixed), before.objective)
    return replace(request, options=replace(request.options, progress=progress), problem=problem,
                   bounds=bounds)


def all_levels(request: Request, live: LivePartition, price: Fraction, effort: str,
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
    priced = isinstance(request.config, PRICED)
    sizes = (np.ones(problem.graph.num_vertices, np.int64) if live.sizes is None
             else space.to_host(live.sizes))
    if effort == "full" or not priced:
        price, effort = Fraction(0), "full"
    tries = FactorSearch(request, PreviousPartition(space.to_host(live.part), sizes), None)
    found, fresh = tries.best(price), tries.fresh
    before, after = (cost_of(problem, each.part) for each in (found, fresh))
    if may_change and not priced and _is_no_worse(request, live.part, after):
        return live.part, effort
    leads = after < min(MUCH_BETTER * before, before - price / PATIENCE * fresh.size)
    if may_change and leads and request.bounds.kept_by(fresh.weights):
        found, effort = fresh, "full"
    return found.part, effort


def _is_no_worse(request: Request, part: Array, cost: int) -> bool:
    """Whether blocks are within their bounds and cost no more than that."""
    problem = request.problem
    return (cost_of(problem, part) <= cost
            and request.bounds.kept_by(block_weights_of(problem, part)))


def first_blocks(request: Request) -> tuple[Array, np.ndarray]:
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


def within_bounds(request: Request, live: LivePartition) -> Array:
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
