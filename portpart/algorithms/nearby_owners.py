"""Owners that are near: which rank had better have which vertices of a graph of several ranks.

Vertices in random order have most neighbours on other ranks.  So regions grow
(`graphs/regions.py`), one rank divides the graph of these among the ranks, and vertices move with
their regions, if they have far fewer ghosts then.  Results depend on global ids, which stay.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.coarsening.rank_merging import rows_of
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import partition_multilevel
from portpart.algorithms.portpart import PRESETS, portpart
from portpart.backends import language as kl
from portpart.backends.communication.calls import sum_over_ranks
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.graph import Graph
from portpart.graphs.limits import MAX_INT32, MAX_INT32_ARCS
from portpart.graphs.moving import Moved, move_vertices
from portpart.graphs.regions import SPACING, Regions, grown_regions
from portpart.graphs.row_order import degrees_of
from portpart.graphs.row_range import VERTEX_COST
from portpart.graphs.rows import Csr, degree_of
from portpart.primitives.basic import gather
from portpart.primitives.messages import Message, Part, Received, Talk, held
from portpart.primitives.ranks import rank_of
from portpart.primitives.reduce import sum_of
from portpart.primitives.scan import offsets_from_counts

__all__ = ["MOVE_RULE", "MoveRule", "are_scattered", "moved_nearby", "rule_for"]

IMBALANCE = 0.03
MAX_LOAD = 1.1
"""Of a rank, over the mean: regions that are too large to be divided so are left where they are."""

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
    spacing: int = SPACING


MOVE_RULE, NEVER = MoveRule(), MoveRule(min_ghosts=inf)


def rule_for(space: ExecutionSpace) -> MoveRule:
    """When vertices move on such a device, unless something else is wanted.

    On GPUs they stay: there ghosts cost less, and what it would gain has not been measured.
    """
    return MOVE_RULE if space.kind == "cpu" else NEVER


def are_scattered(graph: DistributedGraph, rule: MoveRule) -> bool:
    """Whether there are this many ghosts that vertices might move.  All ranks call it."""
    if graph.comm.size == 1 or graph.are_moved:
        return False
    ghosts = sum_over_ranks(graph.comm, [graph.num_ghosts])[0]
    return bool(ghosts > rule.min_ghosts * graph.totals.num_vertices)


def moved_nearby(graph: DistributedGraph, rule: MoveRule) -> Moved | None:
    """The graph with owners that are near, if that pays.  All ranks call it.

    Raises
    ------
    OutOfMemory
        On all ranks, if one of them has too little memory.
    """
    found = held(graph.comm, graph.space, _divided(graph, rule))
    return None if found is None else move_vertices(graph, *found)


def _divided(graph: DistributedGraph,
             rule: MoveRule) -> Talk[tuple[Array, np.ndarray] | None]:
    """Groups of own vertices, which are their regions in another order, and the rank that gets
    each.
    """
    space, comm, own = graph.space, graph.comm, graph.local.num_vertices
    regions = yield from grown_regions(graph, rule.spacing)
    received = yield Message(_rows_for_first(graph, regions), [graph.num_ghosts])
    answer, most = [], rule.max_left * received.words.sum()
    if comm.rank == 0:
        answer = _order_of(_quotient(graph, regions.number, received), comm.size)
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


def _rows_for_first(graph: DistributedGraph, regions: Regions) -> list[Part]:
    """What rank 0 gets of the graph of regions: the rows that this rank's vertices make."""
    space, local, is_first = graph.space, graph.local, np.arange(graph.comm.size) == 0
    loads = space.empty(local.num_vertices, np.int64)
    space.parallel_for(local.num_vertices, weigh_load, local.csr, loads)
    rows = rows_of(Graph(local.offsets, local.targets, None, loads, space), regions.region,
                   regions.number, np.dtype(np.int64))
    degrees = degrees_of(Graph(rows.offsets, rows.targets, None, None, space))
    return [Part([degrees, rows.vertex_weights], regions.number * is_first),
            Part([rows.targets, rows.weights], len(rows.targets) * is_first)]


def _quotient(graph: DistributedGraph, count: int, received: Received) -> Graph:
    """The graph of regions, from the rows of all ranks."""
    space = graph.space
    degrees, loads, targets, weights = (each for part in received.parts for each in part.columns)
    kind = np.int32 if len(targets) <= MAX_INT32_ARCS else np.int64
    side_by_side = Graph(offsets_from_counts(space, degrees, kind), targets, weights, loads, space)
    members = space.asarray(np.tile(np.arange(count, dtype=np.int32), graph.comm.size))
    rows = rows_of(side_by_side, members, count, np.dtype(np.int64))
    return Graph(rows.offsets, rows.targets, rows.weights, rows.vertex_weights, space)


def _order_of(quotient: Graph, size: int) -> list[int]:
    """Where each region stands in the order of the ranks, and where in it those of each begin.

    Regions of a rank that are near each other stand near each other.  Behind all that stands how
    many arcs lead to other ranks.  Nothing where loads differ.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    total = quotient.total_vertex_weight
    balance = Balance(size, int((1 + IMBALANCE) * total) // size + 1, total // size,
                      imbalance=IMBALANCE)
    problem = Problem(quotient, balance, 0, Trace(quotient.space, quotient, None))
    owner = quotient.space.to_host(partition_multilevel(problem, portpart(problem,
                                                                          PRESETS["fast"])))
    loads = np.bincount(owner, quotient.space.to_host(quotient.vertex_weights), size)
    if loads.max() > MAX_LOAD * total / size:
        return []
    matrix = quotient.to_scipy()
    near = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    tails = np.repeat(owner, np.diff(matrix.indptr))
    crossing = int(matrix.data[tails != owner[matrix.indices]].sum())
    order = near[np.argsort(owner[near], kind="stable")]
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return [*places.tolist(), 0, *np.cumsum(np.bincount(owner, minlength=size)).tolist(),
            min(crossing, MAX_INT32)]


@kl.kernel
def weigh_load(v, graph: Csr, loads):
    """loads[v] = what v costs the rank that owns it."""
    loads[v] = degree_of(v, graph) + VERTEX_COST


@kl.kernel
def count_copies(v, graph: Csr, groups, first, size, copies):
    """copies[v] = how many other ranks have v as a ghost if vertices go where their groups do."""
    here = rank_of(first, groups[v], size) % MAX_MASKED
    nearby = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        nearby |= kl.int64(1) << rank_of(first, groups[graph.targets[arc]], size) % MAX_MASKED
    copies[v] = kl.int32(kl.popcount(nearby & ~(kl.int64(1) << here)))
