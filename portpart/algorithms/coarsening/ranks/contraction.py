"""Contraction over several ranks: each adds up its rows, and owners of clusters add up these."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.ranks.merging import ArrivedRows, ClusterRows, merged, rows_of
from portpart.algorithms.coarsening.ranks.numbers import RankClusters
from portpart.backends import language as kl
from portpart.backends.programs import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs import MAX_INT32, Graph
from portpart.graphs.ranks import DistributedGraph, LocalPart, put_together
from portpart.primitives import Message, Part, Talk, gather, lower_bound, positions_of


def contract_ranks(graph: DistributedGraph, clusters: RankClusters,
                   weight_type: np.dtype) -> Talk[DistributedGraph]:
    """Quotient of a graph: weights of parallel arcs add up, arcs inside a cluster vanish.

    The owner of a leader owns the cluster.

    Parameters
    ----------
    graph : DistributedGraph
    clusters : RankClusters
    weight_type : dtype
        Type of the coarse arc weights.

    Raises
    ------
    InputError
        If there are 2^31 clusters.
    """
    first, foreign = clusters.first, clusters.foreign
    if first[-1] > MAX_INT32:
        raise InputError(f"{first[-1]} clusters are too many; {MAX_INT32} are the most")
    space, local, rank = graph.space, graph.local, graph.comm.rank
    low, own = int(first[rank]), int(first[rank + 1] - first[rank])
    made = rows_of(Graph(local.offsets, local.targets, local.weights, local.vertex_weights, space),
                   clusters.members, own + len(foreign), weight_type)
    mass_kind = np.dtype(
        np.int32 if graph.totals.total_vertex_weight <= MAX_INT32 else np.int64)
    received = yield Message(_shipped(space, made, low, own, clusters, mass_kind))
    arrived = ArrivedRows(*received.parts[0].columns, *received.parts[1].columns)
    if len(arrived.names):
        made, foreign = merged(space, made, arrived, foreign, low, own, int(first[-1]))
    ends = int(space.to_host(made.offsets[own : own + 1])[0])
    part = LocalPart(made.offsets[: own + 1], made.targets[:ends], made.weights[:ends],
                     made.vertex_weights[:own], foreign, clusters.global_ids)
    return (yield from put_together(graph.comm, space, first, part,
                                    graph.totals.total_vertex_weight))


def _shipped(space: ExecutionSpace, made: ClusterRows, low: int, own: int,
             clusters: RankClusters, mass_kind: np.dtype) -> list[Part]:
    """The rows of clusters that other ranks own, and their arcs."""
    foreign, size, count = clusters.foreign, len(clusters.first) - 1, len(clusters.foreign)
    has_members, degrees = space.empty(count, np.int8), space.empty(count, np.int32)
    bounds, ends = space.empty(size + 1, np.int64), space.empty(size + 1, np.int64)
    first = space.asarray(clusters.first)
    space.parallel_for(count, measure_row, made.offsets, made.vertex_weights, own, has_members,
                       degrees)
    places = positions_of(space, has_members)
    names = gather(space, foreign, places)
    space.parallel_for(size + 1, find_border, foreign, count, first, made.offsets[own:], ends)
    space.parallel_for(size + 1, find_border, names, len(names), first, None, bounds)
    begin, end = (int(each) for each in space.to_host(ends)[[0, -1]])
    heads = space.empty(end - begin, np.int32)
    space.parallel_for(len(heads), name_head, made.targets[begin:end], low, own, foreign, heads)
    return [Part([names, gather(space, degrees, places),
                  gather(space, made.vertex_weights[own:], places)],
                 np.diff(space.to_host(bounds)), [np.int32, np.int32, mass_kind]),
            Part([heads, made.weights[begin:end]], np.diff(space.to_host(ends)))]


@kl.kernel
def measure_row(i, offsets, masses, own, has_members, degrees):
    """Length of the row of a foreign cluster, and whether there is anything to send of it."""
    degree = kl.int64(offsets[own + i + 1]) - kl.int64(offsets[own + i])
    degrees[i] = kl.int32(degree)
    has_members[i] = kl.int8(degree > 0 or masses[own + i] != 0)


@kl.kernel
def find_border(rank, names, count, firsts, offsets, bounds):
    """bounds[rank] = the place of the rank's first cluster, or its offset if there are offsets."""
    place = lower_bound(names, 0, count, firsts[rank])
    bounds[rank] = kl.value_or(offsets, place, place)


@kl.kernel
def name_head(arc, targets, low, own, foreign, heads):
    """heads[arc] = the number among all clusters."""
    target = kl.int64(targets[arc])
    heads[arc] = kl.int32(low + target if target < own else foreign[target - own])
