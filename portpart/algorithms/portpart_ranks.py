"""The library's own recipe over several ranks: the partition of one device.

Levels belong to ranks as long as they are large, and are refined by all of them; smaller ones every
rank has as a whole, and goes on with as one device does.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np

from portpart.algorithms.balance.finish import bounded
from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.coarsening.rank_hierarchy import Fold, coarsen_ranks, fold_for
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.own_blocks import with_own_blocks
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import partition_multilevel, refine_upwards
from portpart.algorithms.portpart import PortpartConfig, portpart
from portpart.algorithms.refinement.ranks.refiner import RankRefiner
from portpart.backends.communication.alike import once
from portpart.backends.communication.plan import planned
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.distributed import DistributedGraph
from portpart.primitives.reduce import max_of

__all__ = ["partition_ranks"]


def partition_ranks(graph: DistributedGraph, balance: Balance, config: PortpartConfig, seed: int,
                    trace: Trace, fold: Fold | None = None) -> tuple[Array, np.ndarray]:
    """Blocks for the vertices of a rank, within their bounds if that is possible.

    All ranks call it.  The blocks are those of one device for the whole graph, whatever the number
    of ranks and wherever their borders are.

    Parameters
    ----------
    graph : DistributedGraph
    balance : Balance
    config : PortpartConfig
        Of one walk through the levels.
    seed : int
    trace : Trace
        Told of what this rank does.
    fold : Fold, optional
        Which levels every rank has as a whole; the default depends on the kind of device.

    Returns
    -------
    part : array of int32, shape (own vertices,)
    block_weights : numpy.ndarray of int64, shape (k,)
        The same on all ranks.

    Raises
    ------
    InputError
        If the configuration asks for what ranks do not do.
    OutOfMemory
        On all ranks, if one of them has too little memory.

    Notes
    -----
    Where a vertex is too heavy for a block, or refinement leaves blocks too heavy or empty, every
    rank gathers the whole graph and goes on as one device does.
    """
    require_one_walk(config)
    fold = fold or fold_for(graph.space)
    if fold.takes(graph) or _is_special(graph, balance):
        return _of_whole(graph, balance, config, seed, trace)
    problem: Problem[Any] = Problem(cast(Any, graph), balance, seed, trace)
    recipe, options = portpart(problem, config), config.coarsening
    k = balance.num_blocks
    coarsest = options.coarsest_vertices(k)
    with trace.phase("coarsening"):
        levels = coarsen_ranks(
            graph, coarsest, balance.cluster_limit(coarsest), config.clustering, fold, seed=seed,
            stop_at=coarsest, stop_dense_at=options.coarsest_dense_vertices(k),
            max_kept=options.max_kept, on_level=trace.coarse_level,
            drop_below=options.drop_below, skip_above=options.skip_above)
        if len(levels) > 1 and isinstance(levels[-1].graph, DistributedGraph):
            levels[-1].graph = levels[-1].graph.gather()
    if len(levels) == 1:
        return _of_whole(graph, balance, config, seed, trace)
    passes = config.refinement
    refiner = planned(graph.comm, lambda: RankRefiner(
        [level.graph for level in levels], balance, passes.coarse, seed, passes.of_finest(
            cast(Any, graph))))
    divided = sum(isinstance(level.graph, DistributedGraph) for level in levels)

    def of_whole_levels() -> RankRefiner:
        with trace.phase("initial"):
            done = recipe.start(refiner, levels[-1], Constraints(), seed)
        with trace.phase("refinement"):
            refine_upwards(problem, recipe, refiner, levels, [None] * len(levels), done, divided)
        return refiner

    coarse = levels[divided].graph.num_vertices
    other = once(graph.comm, graph.space, of_whole_levels)
    planned(graph.comm, partial(refiner.take, other, coarse))
    del levels[divided:], other
    with trace.phase("refinement"):
        outcome = refine_upwards(problem, recipe, refiner, levels, [None] * divided, None)
    trace.walked(outcome["cut"])
    with trace.phase("finish"):
        return _finished(graph, refiner, balance, trace)


def require_one_walk(config: PortpartConfig) -> None:
    """Refuse options that take more than one walk, or rebalance as ranks cannot.

    Raises
    ------
    InputError
        With what is possible instead.
    """
    instead = "use preset='default' or 'fast', or partition the gathered graph on one device"
    if not config.search.is_one_walk:
        raise InputError(f"search.runs={config.search.runs} and search.cycles="
                         f"{config.search.cycles} are not possible over several ranks; {instead}")
    refinement = config.refinement
    for each in (refinement.coarse, refinement.finest, refinement.finest_once):
        if each is not None and (each.until_balanced or each.leave_by == "code"):
            raise InputError(f"refinement with until_balanced={each.until_balanced} and leave_by="
                             f"{each.leave_by!r} is not possible over several ranks; {instead}")


def _is_special(graph: DistributedGraph, balance: Balance) -> bool:
    """Whether a partition is obvious, or a vertex may be too heavy for a block."""
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


def _of_whole(graph: DistributedGraph, balance: Balance, config: PortpartConfig, seed: int,
              trace: Trace) -> tuple[Array, np.ndarray]:
    """The same by one device, on every rank."""
    whole = graph.gather()

    def found() -> tuple[Array, np.ndarray]:
        problem = with_own_blocks(Problem(whole, balance, seed, trace))
        part = partition_multilevel(problem, portpart(problem, config))
        with trace.phase("finish"):
            kept, weights = bounded(whole, part, balance)
            trace.repaired(part, kept)
        return kept, weights

    part, weights = once(graph.comm, graph.space, found)
    return _own(graph, part), weights


def _finished(graph: DistributedGraph, refiner: RankRefiner, balance: Balance,
              trace: Trace) -> tuple[Array, np.ndarray]:
    """What a refiner has found, within bounds."""
    space, own = graph.space, graph.local.num_vertices
    weights = space.to_host(refiner.run.incumbent.best_weight).copy()
    if balance.overload(weights) <= 0 and weights.min() > 0:
        return space.copy(refiner.best[:own]), weights
    found, whole = graph.gather_values(refiner.best[:own]), graph.gather()
    part, weights = planned(graph.comm, lambda: bounded(whole, found, balance))
    trace.repaired(found, part)
    return _own(graph, part), weights


def _own(graph: DistributedGraph, part: Array) -> Array:
    """Of blocks for all vertices, those of this rank."""
    first = int(graph.first[graph.comm.rank])
    return graph.space.copy(part[first : first + graph.local.num_vertices])
