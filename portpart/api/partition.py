"""The public functions that partition graphs."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from portpart.algorithms.balance.finish import bounded
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Progress, Trace
from portpart.algorithms.objectives.total import total_cost
from portpart.algorithms.partitioners import DEFAULT, lookup
from portpart.api.bounds import Bounds, bounds_for, seconds
from portpart.api.constraints import constraints_of
from portpart.api.device import (
    checked_seed,
    graph_on_device,
    hypergraph_on_device,
    infeasibility_message,
    to_callers_memory,
    warn_of_percents,
)
from portpart.api.results import PartitionResult
from portpart.api.room import check_room
from portpart.api.tasks import task_of
from portpart.backends.interface import Array
from portpart.errors import InputError, typed_memory_errors
from portpart.graphs.convert_nets import is_hypergraph
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import EitherGraph
from portpart.graphs.limits import MAX_TOTAL_WEIGHT
from portpart.metrics.balance import block_weight_limits, imbalance_of
from portpart.options import MAX_BLOCKS, checked_integer, number_of_blocks, shown
from portpart.primitives.histogram import histogram


@typed_memory_errors
def partition(
    graph: Any,
    k: int,
    *,
    imbalance: float | str = 0.03,
    vertex_weights: Any = None,
    edge_weights: Any = None,
    target: Any = None,
    fixed: Any = None,
    initial: Any = None,
    min_block_weight: int | None = None,
    objective: str | None = None,
    vertex_sizes: Any = None,
    algorithm: str | None = None,
    preset: Any = "default",
    device: str = "auto",
    seed: int | None = 0,
    threads: int | None = None,
    starts: int | None = None,
    time_limit: float | None = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    progress: Progress | None = None,
) -> PartitionResult:
    """Divide a graph or a hypergraph into `k` blocks of nearly equal weight, cutting little.

    Parameters
    ----------
    graph : Graph, Hypergraph, sparse matrix, tuple, edge list, NetworkX graph, frame or path
        Anything :func:`portpart.as_graph` takes, or a hypergraph, which
        :func:`portpart.as_hypergraph` makes; a path is one by its suffix (``.hgr``, ``.nets`` ...).
    k : int
        Number of blocks, at least 1.  No block stays empty if there are as many vertices of
        positive weight, unless `target` or `fixed` make it so.
    imbalance : float, default 0.03
        Every block weighs at most ``floor((1 + imbalance) * ceil(W / k))``.  ``"3%"``, ``"1/30"``,
        `Fraction` and `Decimal` are taken, too, each as the exact number that was written.
    vertex_weights, edge_weights : array_like or str, optional
        As in :func:`portpart.as_graph`.
    target : array_like, shape (k,), optional
        Share of the weight that each block is to have: positive integers or fractions, of which
        only the ratios count.  Block b weighs at most ``floor((1 + imbalance) * ceil(target_b))``
        with ``target_b = W * target[b] / sum(target)``, in exact arithmetic.
    fixed : array_like of int, shape (n,), or dict, optional
        The block that a vertex has to be in, -1 where that is free.  A dict gives blocks for
        names of vertices (nodes of NetworkX, text of a frame), or for numbers where there are
        none.
    initial : array_like of int, shape (n,), dict or PartitionResult, optional
        A partition to improve.  The result is never worse: balance counts first, then the cut.
    min_block_weight : int, optional
        What every block weighs at least.
    objective : str, optional
        What is minimised.  Of a graph ``"cut"``, the weight of the edges between blocks, or
        ``"volume"``: each vertex sends its size to every other block that has a neighbour of it.
        Of a hypergraph, from the number b of blocks that a net touches, if there are several:
        ``"km1"``, its weight times b - 1, ``"cut"``, its weight, or ``"soed"``, its weight times b.
        The first of each are the default.
    vertex_sizes : array_like of int, shape (n,), optional
        What each vertex sends, with ``"volume"``; 1 by default.
    algorithm : str, optional
        A name of :func:`portpart.list_algorithms`; ``"portpart"`` by default.
    preset : str or configuration, default "default"
        A name (``"fast"``, ``"default"``, ``"strong"`` or ``"best"``; other algorithms than the
        default have those of :func:`portpart.list_algorithms`) or an object, which tells the
        algorithm too, such as `portpart.PortpartConfig` or `portpart.JetConfig`.
    device : str, default "auto"
        ``"cpu"``, ``"cuda"``, ``"cuda:N"``; ``"auto"`` works where the graph's arrays are.
    seed : int, default 0
        None is 0: there is no call whose result cannot be repeated.
    threads : int, optional
        CPU threads at most; all by default.
    starts : int, optional
        Initial partitions of the coarsest graph, of which the best is kept; by default the preset
        says how many.
    time_limit : float, optional
        Seconds after which no more starts and passes begin.  What has begun is finished, so the
        call may take longer.  How far it gets depends on the machine, and so does the result.
    symmetrize : bool, "sum" or "max", default False
        Accept a directed graph; says what becomes of the weights of two directions, as in
        :func:`portpart.as_graph`.
    weights : {"keep", "ignore", "abs", "round"} or bool, optional
        What becomes of edge weights that are negative or no integers, as in
        :func:`portpart.as_graph`.
    weight_scale : float, optional
        What ``"round"`` and ``"abs"`` multiply by; ``stats["weight_scale"]`` tells what it was.
        The cut counts the rounded weights.
    progress : callable, optional
        Called as ``progress(phase, level, number_of_levels)``: when coarsening, the initial
        partition and the finish begin, after each level, and as ``"done"`` in the end.

    Returns
    -------
    PartitionResult

    Raises
    ------
    InputError
        Bad graph or option, or bounds that contradict each other, before any work starts.
    DeviceUnavailable
        The device cannot be used; the message says why.
    OutOfMemory
        The memory of the device or of the host does not suffice.

    Warns
    -----
    UserWarning
        If `imbalance` is above 1, which reads like a percentage.
    UserWarning
        If a limit or the least weight cannot be kept; names the vertex if a single one is too
        heavy, and the block if what is fixed there is.

    Notes
    -----
    The same graph, options and seed give the same partition on every device and any number of
    threads, bit for bit, unless there is a `time_limit`.  Time is O(n + m) per level of a
    hierarchy of O(log n) levels.  Memory: :func:`portpart.memory_estimate`.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(8, 8)
    >>> result = portpart.partition(grid, 2)
    >>> result.cut, result.feasible
    (8, True)
    >>> portpart.partition(grid, 2, target=[1, 3]).block_weight_limits
    array([16, 49])
    """
    start = time.perf_counter()
    k = checked_integer("k", k, 1, MAX_BLOCKS)
    seed = checked_seed(seed)
    if threads is not None:
        threads = checked_integer("threads", threads, 1, MAX_BLOCKS)
    if starts is not None:
        starts = checked_integer("starts", starts, 1, MAX_BLOCKS)
    min_weight = 0 if min_block_weight is None else checked_integer(
        "min_block_weight", min_block_weight, 0, MAX_TOTAL_WEIGHT)
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {shown(progress)}; it must be callable")
    deadline = start + seconds(time_limit)
    # refuses a bad imbalance or target before any work
    block_weight_limits(0, 1 if target is None else k, imbalance, target)
    warn_of_percents(imbalance)
    given_nets = is_hypergraph(graph)
    of_nets = given_nets or objective == "volume"
    run, config = lookup(algorithm, preset, starts, k, of_nets)
    bring = hypergraph_on_device if given_nets else graph_on_device
    given: EitherGraph = bring(
        graph, device, threads, vertex_weights=vertex_weights, edge_weights=edge_weights,
        symmetrize=symmetrize, weights=weights, weight_scale=weight_scale)
    as_edges = algorithm in (None, DEFAULT) and isinstance(preset, str)
    task = task_of(given, k, objective, vertex_sizes, as_edges)
    if of_nets and isinstance(task.graph, Graph):
        run, config = lookup(algorithm, preset, starts, k)
    working, space = task.graph, given.space
    number_of_blocks(k, working.num_vertices)
    check_room(space, k, working)
    constraints = constraints_of(working, k, fixed, initial, deadline)
    bounds = bounds_for(working, k, imbalance, target, constraints.fixed, min_weight)
    trace = Trace(space, working, progress)
    problem: Problem[Any] = Problem(working, bounds.balance, seed, trace, constraints,
                                    task.objective)
    part = run(problem, config)
    with trace.phase("finish"):
        part, block_weights = _finished(problem, part, bounds)
        values = task.measure(part)
    feasible = bounds.kept_by(block_weights)
    if not feasible:
        warnings.warn(infeasibility_message(working, block_weights, bounds, target), UserWarning,
                      stacklevel=3)
    return PartitionResult(
        part=to_callers_memory(part, graph, space),
        **values, imbalance=imbalance_of(block_weights, target),
        block_weights=block_weights,
        max_block_weight_allowed=bounds.max_limit, block_weight_limits=bounds.limits,
        feasible=feasible, k=k,
        seconds=time.perf_counter() - start,
        stats={**trace.summary(), **task.facts}, labels=working.names,
    )


def _finished(problem: Problem, part: Array, bounds: Bounds) -> tuple[Array, np.ndarray]:
    """The partition within its bounds, or the initial one if that is better, and block weights."""
    graph, wanted = problem.graph, problem.constraints
    found = part
    part, weights = bounded(graph, found, problem.balance, bounds.min_weight, wanted.fixed)
    problem.trace.repaired(found, part)
    if wanted.initial is not None:
        cost = total_cost(graph, part, problem.objective, problem.rows)
        first = wanted.initial
        before = graph.space.to_host(
            histogram(graph.space, first, problem.num_blocks, graph.vertex_weights))
        first_cost = total_cost(graph, first, problem.objective, problem.rows)
        if bounds.rank(before, first_cost) < bounds.rank(weights, cost):
            return graph.space.copy(first), before
    return part, weights
