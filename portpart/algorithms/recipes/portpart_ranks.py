"""The library's own recipe over several ranks, with the partition of one device.

Large levels are distributed, and all ranks refine them. Every rank holds the smaller levels whole,
and works on them as one device does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from portpart.algorithms.coarsening.ranks import Fold, coarsen_ranks, fold_for
from portpart.algorithms.final_balance import enforce_limits
from portpart.algorithms.multilevel import (
    UNCONSTRAINED,
    Constraints,
    OverRanks,
    Problem,
    Trace,
    own_values,
    partition_multilevel,
    search_multilevel,
    with_own_blocks,
)
from portpart.algorithms.objectives import Balance
from portpart.algorithms.recipes.nearby_owners import (
    MoveRule,
    are_scattered,
    moved_nearby,
    rule_for,
)
from portpart.algorithms.recipes.portpart import PortpartConfig, portpart
from portpart.backends.communication import once, planned, sum_over_ranks
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs.ranks import DistributedGraph, Moved
from portpart.primitives import histogram, max_of

__all__ = ["partition_ranks"]


def partition_ranks(graph: DistributedGraph, balance: Balance, config: PortpartConfig, seed: int,
                    trace: Trace, fold: Fold | None = None, wanted: Constraints = UNCONSTRAINED,
                    rule: MoveRule | None = None) -> tuple[Array, np.ndarray]:
    """Return blocks for the vertices of a rank, within their limits if possible.

    All ranks call it. The blocks are those of one device for the whole graph, whatever the number
    of ranks and their vertices.

    Parameters
    ----------
    graph : DistributedGraph
    balance : Balance
    config : PortpartConfig
    seed : int
    trace : Trace
        Collects statistics of this rank.
    fold : Fold, optional
        Decides which levels every rank holds whole; the default depends on the kind of device.
    wanted : Constraints
        For own vertices. Fixed vertices or an initial partition are given on all ranks or on none.
    rule : MoveRule, optional
        Conditions for moving vertices to other ranks during this call; the default depends on the
        kind of device.

    Returns
    -------
    part : array of int32, shape (own vertices,)
    block_weights : numpy.ndarray of int64, shape (k,)
        The same on all ranks.

    Raises
    ------
    InputError
        If the configuration contains options that ranks do not support.
    OutOfMemory
        On all ranks, if one of them has too little memory.

    Notes
    -----
    If a vertex is too heavy for a block, or refinement leaves blocks too heavy or empty, every rank
    gathers the whole graph and continues as one device does.
    """
    require_possible(config)
    fold = fold or fold_for(graph)
    problem: Problem[Any] = Problem(cast(Any, graph), balance, seed, trace, wanted)
    if fold.takes(graph) or _is_special(graph, balance):
        return _of_whole(graph, problem, config)
    rule, moved = rule or rule_for(graph.space), None
    if are_scattered(graph, rule):
        with trace.phase("moving"):
            moved = moved_nearby(graph, rule)
    if moved is None:
        return _by_levels(graph, problem, config, fold)
    trace.moved(int(sum_over_ranks(graph.comm, [moved.count])[0]))
    there = replace(problem, graph=cast(Any, moved.graph), constraints=_taken_along(moved, wanted))
    part, weights = _by_levels(moved.graph, there, config, fold)
    with trace.phase("moving"):
        return moved.brought_back(part), weights


def _taken_along(moved: Moved, wanted: Constraints) -> Constraints:
    """Move fixed blocks and initial partition with the vertices."""
    fixed, initial = (None if each is None else moved.taken_along(each)
                      for each in (wanted.fixed, wanted.initial))
    return replace(wanted, fixed=fixed, initial=initial)


def _by_levels(graph: DistributedGraph, problem: Problem[Any], config: PortpartConfig,
               fold: Fold) -> tuple[Array, np.ndarray]:
    """Return the same by walks through levels, of which the finest are distributed."""
    balance = problem.balance
    coarsest = config.coarsening.coarsest_vertices(balance.num_blocks)
    recipe = portpart(problem, config)
    first, *others = (
        replace(each, ways=OverRanks(graph, partial(
            coarsen_ranks, graph, coarsest, balance.cluster_limit(coarsest), clustering, fold),
            balance, config.refinement))
        for each, clustering in zip((recipe, *recipe.others),
                                    config.clustering.of_runs(balance.num_blocks)))
    part = search_multilevel(problem, replace(first, others=tuple(others)))
    with problem.trace.phase("finish"):
        return _finished(graph, problem, part)


def require_possible(config: PortpartConfig) -> None:
    """Refuse options with which ranks cannot rebalance.

    Raises
    ------
    InputError
        The message says what is possible instead.
    """
    refinement = config.refinement
    for each in (refinement.coarse, refinement.finest, refinement.finest_once,
                 refinement.finest_small):
        if each is not None and (each.until_balanced or each.leave_by == "code"):
            raise InputError(f"refinement with until_balanced={each.until_balanced} and leave_by="
                             f"{each.leave_by!r} is not possible over several ranks; leave both "
                             "as they are in the presets, or partition the gathered graph on one "
                             "device")


def _is_special(graph: DistributedGraph, balance: Balance) -> bool:
    """Whether the partition is trivial, or a vertex may be too heavy for a block."""
    if balance.num_blocks == 1 or graph.whole.num_vertices <= balance.num_blocks:
        return True
    masses, words = graph.local.vertex_weights, graph.space.zeros(1, np.int64)
    if masses is None:
        return bool(balance.limits.min() < 1)
    own = masses[: graph.local.num_vertices]
    if len(own):
        words[0] = max_of(graph.space, own)
    graph.comm.all_reduce(words, 0, 1, "max")
    return bool(graph.space.to_host(words)[0] > balance.limits.min())


def _of_whole(graph: DistributedGraph, problem: Problem[Any],
              config: PortpartConfig) -> tuple[Array, np.ndarray]:
    """Return the same by one device, on every rank."""
    whole, trace = graph.gather(), problem.trace
    fixed, initial = (_gathered(graph, each)
                      for each in (problem.constraints.fixed, problem.constraints.initial))

    def found() -> tuple[Array, np.ndarray]:
        own = with_own_blocks(replace(problem, graph=whole,
                                      constraints=Constraints(fixed, initial)))
        part = partition_multilevel(own, portpart(own, config))
        with trace.phase("finish"):
            kept, weights = enforce_limits(whole, part, problem.balance, 0, fixed)
            trace.repaired(part, kept)
        return kept, weights

    part, weights = once(graph.comm, graph.space, found)
    return own_values(graph, part), weights


def _finished(graph: DistributedGraph, problem: Problem[Any],
              part: Array) -> tuple[Array, np.ndarray]:
    """Enforce the limits; return the partition and the block weights."""
    balance, weights = problem.balance, block_weights(graph, part, problem.num_blocks)
    if balance.overload(weights) <= 0 and weights.min() > 0:
        return part, weights
    found, whole = graph.gather_values(part), graph.gather()
    fixed = _gathered(graph, problem.constraints.fixed)
    kept, weights = planned(graph.comm, lambda: enforce_limits(whole, found, balance, 0, fixed))
    problem.trace.repaired(found, kept)
    return own_values(graph, kept), weights


def block_weights(graph: DistributedGraph, part: Array, num_blocks: int) -> np.ndarray:
    """Return the block weights, on the host of every rank, from the blocks of own vertices.

    Vertices of block `num_blocks` do not count.
    """
    def counted() -> Array:
        weights = graph.local.vertex_weights
        return histogram(graph.space, part, num_blocks + 1,
                         None if weights is None else weights[: len(part)])

    words = planned(graph.comm, counted)
    graph.comm.all_reduce(words, 0, num_blocks, "sum")
    return graph.space.to_host(words)[:num_blocks].copy()


def _gathered(graph: DistributedGraph, values: Array | None) -> Array | None:
    """Return values of all vertices, if there are any."""
    return None if values is None else graph.gather_values(values)
