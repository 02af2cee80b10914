"""Owners that are near: which rank had better have which vertices of a graph of several ranks.

Vertices in random order have most neighbours on other ranks.  So regions grow
(`regions.py`), one rank divides the graph of these among the ranks, and vertices move with
their regions, if they have far fewer ghosts then.  Results depend on global ids, which stay.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from portpart.algorithms.coarsening.ranks import rows_of
from portpart.algorithms.multilevel import Problem, Trace, partition_multilevel
from portpart.algorithms.objectives import Balance
from portpart.algorithms.recipes.portpart import PRESETS, portpart
from portpart.backends import language as kl
from portpart.backends.communication import sum_over_ranks
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import MAX_INT32, VERTEX_COST, Csr, Graph, degree_of, degrees_of, ranks
from portpart.primitives import (
    Message,
    Part,
    Received,
    Talk,
    gather,
    held,
    iota,
    offsets_from_counts,
    rank_of,
    sum_of,
)

__all__ = ["MOVE_RULE", "MoveRule", "are_scattered", "moved_nearby", "rule_for"]

IMBALANCE = 0.03
MAX_LOAD = 1.1
"""Of a rank, over the mean: regions that are too large to be divided so are left where they are."""

SAMPLED = 16
"""Vertices of a region whose arcs count: these are random accesses, and most lie in the region."""

MAX_MASKED = 62
"""This many ranks are the bits of a number; more share them, which is good enough for an estimate.
"""


class MoveRule(NamedTuple):
    """When vertices move.

    Attributes
    ----------
    min_ghosts : float
        For each vertex there are more ghosts than this, or it is not tried.
    max_left : float
        The share of ghosts that is left is no more than this, or they stay.
    spacing : int
        A region begins at one of this many vertices.
    """

    min_ghosts: float = 0.25
    max_left: float = 0.5
    spacing: int = ranks.SPACING


MOVE_RULE, NEVER = MoveRule(), MoveRule(min_ghosts=inf)


def rule_for(space: ExecutionSpace) -> MoveRule:
    """When vertices move on such a device, unless something else is wanted.

    On GPUs they stay: there ghosts cost less, and what it would gain has not been measured.
    """
    return MOVE_RULE if space.kind == "cpu" else NEVER


def are_scattered(graph: ranks.DistributedGraph, rule: MoveRule) -> bool:
    """Whether there are this many ghosts that vertices might move.  All ranks call it."""
    if graph.comm.size == 1 or graph.are_moved:
        return False
    ghosts = sum_over_ranks(graph.comm, [graph.num_ghosts])[0]
    return bool(ghosts > rule.min_ghosts * graph.totals.num_vertices)


def moved_nearby(graph: ranks.DistributedGraph, rule: MoveRule) -> ranks.Moved | None:
    """The graph with owners that are near, if that pays.  All ranks call it.

    Raises
    ------
    OutOfMemory
        On all ranks, if one of them has too little memory.
    """
    found = held(graph.comm, graph.space, _divided(graph, rule))
    return None if found is None else ranks.move_vertices(graph, *found)


def _divided(graph: ranks.DistributedGraph,
             rule: MoveRule) -> Talk[tuple[Array, np.ndarray] | None]:
    """Groups of own vertices, which are their regions in another order, and the rank that gets
    each.
    """
    space, comm, own = graph.space, graph.comm, graph.local.num_vertices
    regions = yield from ranks.grown_regions(graph, rule.spacing)
    step = max(1, rule.spacing // SAMPLED)
    received = yield Message(_rows_for_first(graph, regions, step), [graph.num_ghosts])
    answer, most = [], rule.max_left * received.words.sum()
    if comm.rank == 0:
        answer = _order_of(_quotient(graph, regions.number, received), comm.size, step)
    received = yield Message([Part([space.asarray(np.tile(np.array(answer, np.int32), comm.size))],
                                   np.full(comm.size, len(answer)))])
    packed = received.parts[0].columns[0]
    if not len(packed):
        return None
    first = space.to_host(packed[regions.number : -1]).astype(np.int64)
    groups = gather(space, packed, regions.region)
    if int(space.to_host(packed[-1:])[0]) > most:  # else there are no more ghosts either
        copies = space.empty(own, np.int32)
        space.parallel_for(own, count_copies, graph.local.csr, groups, space.asarray(first),
                           comm.size, copies)
        received = yield Message([], [sum_of(space, copies)])
        if received.words.sum() > most:
            return None
    return groups[:own], first


def _rows_for_first(graph: ranks.DistributedGraph, regions: ranks.Regions, step: int) -> list[Part]:
    """What rank 0 gets of the graph of regions: their loads, and arcs of some vertices."""
    space, local, is_first = graph.space, graph.local, np.arange(graph.comm.size) == 0
    loads = space.zeros(regions.number, np.int64)
    space.parallel_for(local.num_vertices, add_load, local.csr, regions.region, loads)
    count = -(-local.num_vertices // step)
    degrees = space.empty(count, np.int32)
    space.parallel_for(count, measure_sample, local.csr, step, degrees)
    offsets = offsets_from_counts(space, degrees, local.offsets.dtype)
    heads = space.empty(int(space.to_host(offsets[-1:])[0]), np.int32)
    space.parallel_for(count, copy_sample, local.csr, regions.region, step, count, offsets, heads)
    members = space.empty(count + regions.number, np.int32)
    members[:count] = regions.region[: local.num_vertices : step]
    members[count:] = iota(space, regions.number)
    rows = rows_of(Graph(offsets, heads, None, None, space), members, regions.number,
                   np.dtype(np.int64))
    return [Part([degrees_of(Graph(rows.offsets, rows.targets, None, None, space)), loads],
                 regions.number * is_first),
            Part([rows.targets, rows.weights], len(rows.targets) * is_first)]


def _quotient(graph: ranks.DistributedGraph, count: int, received: Received) -> Graph:
    """The graph of regions, from the rows of all ranks: each arc counts both ways."""
    from scipy.sparse import coo_matrix

    space = graph.space
    degrees, loads, heads, weights = (space.to_host(each) for part in received.parts
                                      for each in part.columns)
    tails = np.repeat(np.arange(len(degrees)) % count, degrees)
    sampled = coo_matrix((weights, (tails, heads)), (count, count)).tocsr()
    arcs = (sampled + sampled.T).tocsr()
    return Graph(space.asarray(arcs.indptr, np.int32), space.asarray(arcs.indices, np.int32),
                 space.asarray(arcs.data), space.asarray(loads.reshape(-1, count).sum(axis=0)),
                 space)


def _order_of(quotient: Graph, size: int, step: int) -> list[int]:
    """Where each region stands in the order of the ranks, and where in it those of each begin.

    Regions of a rank that are near each other stand near each other.  Behind all that stands
    about how many arcs lead to other ranks, of which the graph has one of `step`, both ways.
    Nothing where loads differ.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    total = quotient.total_vertex_weight
    balance = Balance(size, int((1 + IMBALANCE) * total) // size + 1, total // size,
                      imbalance=IMBALANCE)
    problem = Problem(quotient, balance, 0, Trace(quotient.space, quotient, None))
    owner = quotient.space.to_host(partition_multilevel(problem, portpart(problem,
                                                                          PRESETS["fast"])))
    assert quotient.vertex_weights is not None
    loads = np.bincount(owner, quotient.space.to_host(quotient.vertex_weights), size)
    if loads.max() > MAX_LOAD * total / size:
        return []
    matrix = quotient.to_scipy()
    near = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    tails = np.repeat(owner, np.diff(matrix.indptr))
    crossing = int(matrix.data[tails != owner[matrix.indices]].sum()) * step // 2
    order = near[np.argsort(owner[near], kind="stable")]
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return [*places.tolist(), 0, *np.cumsum(np.bincount(owner, minlength=size)).tolist(),
            min(crossing, MAX_INT32)]


@kl.kernel
def add_load(v, graph: Csr, region, loads):
    """Add what v costs the rank that owns it to its region; atomic, independent of order."""
    kl.atomic_add(loads, region[v], degree_of(v, graph) + VERTEX_COST)


@kl.kernel
def measure_sample(i, graph: Csr, step, degrees):
    """The degree of one of `step` vertices."""
    degrees[i] = kl.int32(degree_of(i * step, graph))


@kl.kernel
def copy_sample(i, graph: Csr, region, step, count, offsets, heads):
    """Its row; heads are regions, numbered behind the vertices of the sample."""
    v = i * step
    for arc in range(graph.begin[v], graph.end[v]):
        heads[offsets[i] + arc - graph.begin[v]] = kl.int32(region[graph.targets[arc]] + count)


@kl.kernel
def count_copies(v, graph: Csr, groups, first, size, copies):
    """copies[v] = how many other ranks have v as a ghost if vertices go where their groups do."""
    here = rank_of(first, groups[v], size) % MAX_MASKED
    nearby = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        nearby |= kl.int64(1) << rank_of(first, groups[graph.targets[arc]], size) % MAX_MASKED
    copies[v] = kl.int32(kl.popcount(nearby & ~(kl.int64(1) << here)))
