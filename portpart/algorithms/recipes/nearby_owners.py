"""Better owners for the vertices of a graph of several ranks: those of their neighbours.

If vertices are in random order, most neighbours are on other ranks. So regions grow (`regions.py`),
one rank partitions the graph of regions among the ranks, and vertices move with their regions, if
that leaves far fewer ghosts. Results depend on global ids, which do not change.
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
"""Maximum load of a rank over the mean; if regions are too large for that, nothing moves."""

SAMPLED = 16
"""Vertices of a region whose arcs count: the accesses are random, most stay in the region."""

MAX_MASKED = 62
"""Ranks with separate bits in a mask; more ranks share bits, which is exact enough here."""


class MoveRule(NamedTuple):
    """Conditions for moving vertices.

    Attributes
    ----------
    min_ghosts : float
        Moving is tried only if there are more ghosts than this per vertex.
    max_left : float
        Vertices move only if at most this share of the ghosts is left.
    spacing : int
        A region begins at one of this many vertices.
    """

    min_ghosts: float = 0.25
    max_left: float = 0.5
    spacing: int = ranks.SPACING


MOVE_RULE, NEVER = MoveRule(), MoveRule(min_ghosts=inf)


def rule_for(space: ExecutionSpace) -> MoveRule:
    """Return the default rule on a device.

    On GPUs vertices do not move: there ghosts cost less, and the gain has not been measured.
    """
    return MOVE_RULE if space.kind == "cpu" else NEVER


def are_scattered(graph: ranks.DistributedGraph, rule: MoveRule) -> bool:
    """Whether there are enough ghosts to try moving vertices. Called by all ranks."""
    if graph.comm.size == 1 or graph.are_moved:
        return False
    ghosts = sum_over_ranks(graph.comm, [graph.num_ghosts])[0]
    return bool(ghosts > rule.min_ghosts * graph.totals.num_vertices)


def moved_nearby(graph: ranks.DistributedGraph, rule: MoveRule) -> ranks.Moved | None:
    """Return the graph with vertices at nearby owners, or None. Called by all ranks.

    Raises
    ------
    OutOfMemory
        On all ranks, if one of them has too little memory.
    """
    found = held(graph.comm, graph.space, _divided(graph, rule))
    return None if found is None else ranks.move_vertices(graph, *found)


def _divided(graph: ranks.DistributedGraph,
             rule: MoveRule) -> Talk[tuple[Array, np.ndarray] | None]:
    """Return the group of each own vertex, and the first group of each rank; None: no move.

    Groups are regions in the order of their new owners.
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
    if int(space.to_host(packed[-1:])[0]) > most:  # else there are also no more ghosts
        copies = space.empty(own, np.int32)
        space.parallel_for(own, count_copies, graph.local.csr, groups, space.asarray(first),
                           comm.size, copies)
        received = yield Message([], [sum_of(space, copies)])
        if received.words.sum() > most:
            return None
    return groups[:own], first


def _rows_for_first(graph: ranks.DistributedGraph, regions: ranks.Regions, step: int) -> list[Part]:
    """Return the data of rank 0's graph of regions: loads, and arcs of some vertices."""
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
    """Return the graph of regions from the rows of all ranks; arcs count in both directions."""
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
    """Return the place of each region in the order of ranks, and the begin of each rank's regions.

    Adjacent regions of a rank have near places. The last number estimates the arcs between ranks;
    the graph has one of `step` arcs, in both directions. Empty if loads differ too much.
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
    """Add the load of v on its owner to its region. Atomic, independent of order."""
    kl.atomic_add(loads, region[v], degree_of(v, graph) + VERTEX_COST)


@kl.kernel
def measure_sample(i, graph: Csr, step, degrees):
    """Store the degree of one of `step` vertices."""
    degrees[i] = kl.int32(degree_of(i * step, graph))


@kl.kernel
def copy_sample(i, graph: Csr, region, step, count, offsets, heads):
    """Copy the row of a sampled vertex; heads are regions, numbered behind the sampled vertices."""
    v = i * step
    for arc in range(graph.begin[v], graph.end[v]):
        heads[offsets[i] + arc - graph.begin[v]] = kl.int32(region[graph.targets[arc]] + count)


@kl.kernel
def count_copies(v, graph: Csr, groups, first, size, copies):
    """copies[v] = number of other ranks with v as a ghost if vertices move with their groups."""
    here = rank_of(first, groups[v], size) % MAX_MASKED
    nearby = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        nearby |= kl.int64(1) << rank_of(first, groups[graph.targets[arc]], size) % MAX_MASKED
    copies[v] = kl.int32(kl.popcount(nearby & ~(kl.int64(1) << here)))
