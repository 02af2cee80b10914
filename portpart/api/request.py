"""A call of the functions that partition: checks, constraints, the problem, and the result."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.final_balance import enforce_limits
from portpart.algorithms.multilevel import (
    Constraints,
    Problem,
    Trace,
    deadline_check,
    with_own_blocks,
)
from portpart.algorithms.objectives import Evaluation, total_cost
from portpart.algorithms.recipes import DEFAULT, lookup
from portpart.api import device
from portpart.api.bounds import FREE, Bounds, block_array, bounds_for, start_with_fixed
from portpart.api.call_options import CallOptions
from portpart.api.objective_specs import ObjectiveSpec, edge_spec, objective_spec
from portpart.api.vertex_names import blocks_by_edge, blocks_by_vertex, refuse_partial
from portpart.backends.programs import Array
from portpart.errors import InputError, shown
from portpart.estimate import check_memory_limit, dry_run
from portpart.graphs import PLURALS, EitherGraph, Graph, GraphLike
from portpart.inputs import is_hypergraph
from portpart.metrics.balance import imbalance_of
from portpart.options import number_of_blocks
from portpart.primitives import histogram

if TYPE_CHECKING:
    from portpart.options import Configuration

# Constraints of a call, checked and on the device ----------------------------------------------


def constraints_of(graph: EitherGraph, options: CallOptions,
                   spec: ObjectiveSpec | None = None) -> Constraints:
    """Return the constraints of a call; the objective matters if vertices represent edges.

    Raises
    ------
    InputError
        If a vertex has no block in 0 ... k - 1.
    """
    space, n, k = graph.space, graph.num_vertices, options.k
    item = "vertex" if spec is None else spec.item
    if spec is not None and spec.edges is not None:
        options = replace(options, **{
            name: blocks_by_edge(getattr(options, name), name, spec.edges)
            for name in ("fixed", "initial")})
    fixed = block_array(space, blocks_by_vertex(options.fixed, "fixed", graph), n, k, "fixed",
                        FREE, item=item)
    refuse_partial(options.initial, "initial", graph)
    initial = block_array(space, blocks_by_vertex(options.initial, "initial", graph), n, k,
                          "initial", 0, item=item)
    return Constraints(fixed, start_with_fixed(space, initial, fixed),
                       deadline_check(space, options.deadline), rounds=options.most_rounds)


# A call of the functions that partition: checks, the problem, and the fields of a result -------


@dataclass(frozen=True, eq=False)
class Request:
    """The arguments of a call, checked and on the device.

    Attributes
    ----------
    given : object
        The caller's graph.
    options : CallOptions
    problem : Problem
    spec : ObjectiveSpec
    bounds : Bounds
    run : callable
        Returns blocks for a problem and `config`.
    config : object
    """

    given: Any
    options: CallOptions
    problem: Problem[Any]
    spec: ObjectiveSpec
    bounds: Bounds
    run: Callable[[Problem[Any], Any], Array]
    config: Configuration

    def partition(self, problem: Problem[Any]) -> tuple[Array, np.ndarray]:
        """Return blocks for a problem, within their limits if possible, and their weights."""
        with problem.space.active():
            solvable = with_own_blocks(problem)
            dry_run(solvable, self.run, self.config)
            part = self.run(solvable, self.config)
            with problem.trace.phase("finish"):
                return _finished(problem, part, self.bounds)

    def new_trace(self) -> Trace:
        """Return a trace for one more partition."""
        return Trace(self.problem.space, self.problem.graph, self.options.report)

    def measured(self, part: Array, trace: Trace) -> dict[str, int]:
        """Return the values of a partition by all objectives."""
        with self.problem.space.active(), trace.phase("finish"):
            known = self.problem.evaluation
            return self.spec.measure(part, None if known is None else known.cut(part))

    def is_kept(self, block_weights: np.ndarray, stacklevel: int) -> bool:
        """Whether blocks are within their limits; warn if they are not."""
        kept = self.bounds.kept_by(block_weights)
        if not kept:
            message = device.infeasibility_message(self.problem.graph, block_weights, self.bounds,
                                                   self.options.target, self.spec.item)
            warnings.warn(message, UserWarning, stacklevel=stacklevel)
        return kept

    def facts(self, part: Array, block_weights: np.ndarray, trace: Trace) -> dict[str, Any]:
        """Return the fields of a result; warn two frames up if limits are violated."""
        bounds, values = self.bounds, self.measured(part, trace)
        feasible = self.is_kept(block_weights, stacklevel=5)
        return dict(
            part=device.to_callers_memory(part, self.given, self.problem.space),
            **values, imbalance=imbalance_of(block_weights, self.options.target),
            block_weights=block_weights,
            max_block_weight_allowed=bounds.max_limit, block_weight_limits=bounds.limits,
            feasible=feasible, k=self.problem.num_blocks,
            seconds=time.perf_counter() - self.options.begin,
            stats={**trace.summary(), **self.spec.facts}, labels=self.problem.graph.names)


def checked_request(graph: GraphLike, options: CallOptions, as_edges: bool = True,
                    of_edges: bool = False) -> Request:
    """Check the options of `portpart.partition`, or with `of_edges` of `portpart.partition_edges`.

    With `as_edges`, a hypergraph whose nets have two pins is partitioned as a graph.
    """
    options = options.checked()
    k, algorithm, preset, objective = (options.k, options.algorithm, options.preset,
                                       options.objective)
    device.warn_of_percents(options.imbalance, 5)
    given_nets = is_hypergraph(graph)
    of_nets = given_nets or of_edges or objective == "volume"
    if given_nets and of_edges:
        raise InputError("a hypergraph has no edges to divide: partition_edges takes graphs")
    run, config = lookup(algorithm, preset, options.starts, k, of_nets, of_edges)
    bring = device.hypergraph_on_device if given_nets else device.graph_on_device
    if options.rounds is not None:
        require_population(algorithm, preset, config)
    given: EitherGraph = bring(graph, options)
    as_edges = as_edges and algorithm in (None, DEFAULT) and isinstance(preset, str)
    spec = (edge_spec(given, k, as_edges) if of_edges else
            objective_spec(given, k, objective, options.vertex_sizes, as_edges))
    if of_nets and isinstance(spec.graph, Graph):
        run, config = lookup(algorithm, preset, options.starts, k)
    working, space = spec.graph, given.space
    number_of_blocks(k, working.num_vertices, PLURALS[spec.item])
    space.give_back()  # cached arrays of another graph or seed may leave no space
    check_memory_limit(space, k, working)
    constraints = constraints_of(working, options, spec)
    bounds = bounds_for(working, k, options.imbalance, options.target, constraints.fixed,
                        options.min_block_weight or 0)
    problem: Problem[Any] = Problem(
        working, bounds.balance, options.seed or 0,
        Trace(space, working, options.report, options.rounds is not None),
        constraints, spec.objective, Evaluation(working, k))
    return Request(graph, options, problem, spec, bounds, run, config)


def require_population(algorithm: str | None, preset: str | Configuration,
                       config: Configuration) -> None:
    """Refuse rounds for a configuration without a population."""
    search = getattr(config, "search", None)
    if getattr(search, "population", 0) == 0:
        named = preset if isinstance(preset, str) else type(config).__name__
        of = f" of {shown(algorithm)}" if algorithm else ""
        raise InputError(f"rounds is given, and preset {shown(named)}{of} has no population; pass "
                         f"algorithm={DEFAULT!r}, preset='best'"
                         + (", or a configuration with search.population" if search else ""))


def _finished(problem: Problem, part: Array, bounds: Bounds) -> tuple[Array, np.ndarray]:
    """Return the partition within its limits, or a better initial one, and the block weights."""
    graph, wanted = problem.graph, problem.constraints
    found = part
    known = None if problem.evaluation is None else problem.evaluation.block_weights(found)
    part, weights = enforce_limits(graph, found, problem.balance, bounds.min_weight, wanted.fixed,
                                   known)
    problem.trace.repaired(found, part)
    if wanted.initial is not None:
        cost = cost_of(problem, part)
        first = wanted.initial
        before = block_weights_of(problem, first)
        if bounds.rank(before, cost_of(problem, first)) < bounds.rank(weights, cost):
            return graph.space.copy(first), before
    return part, weights


def block_weights_of(problem: Problem, part: Array) -> np.ndarray:
    """Return the block weights, on the host."""
    graph = problem.graph
    return graph.space.to_host(
        histogram(graph.space, part, problem.num_blocks, graph.vertex_weights))


def cost_of(problem: Problem, part: Array) -> int:
    """Return the objective plus migration costs."""
    cost = total_cost(problem.graph, part, problem.objective, problem.rows)
    previous_blocks = problem.constraints.previous_blocks
    return cost if previous_blocks is None else cost + previous_blocks.cost(problem.space, part)
