"""Contraction over several ranks: each adds up its rows, and owners of clusters add up all rows.

The clusters of all ranks are numbered in the order of their leaders.  The numbers are the names of
the coarse vertices.  If names differ from global ids, clusters also get global ids, in the order of
the global ids of their leaders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.coarsening import ClusterRounds
from portpart.algorithms.coarsening.ranks import merging
from portpart.algorithms.coarsening.ranks.state import State
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs import MAX_INT32, Graph, distinct, id_dtype, ranks
from portpart.primitives import (
    Message,
    NameIndex,
    Part,
    Talk,
    gather,
    grouped,
    lower_bound,
    name_index,
    offsets_from_counts,
    place_of,
    places_among_ranks,
    positions_of,
    put_one,
)


@dataclass(frozen=True)
class RankClusters:
    """The clusters of the vertices of a rank, own ones and ghosts.

    Attributes
    ----------
    cluster : array of int32 or int64
        The number of each vertex's cluster among those of all ranks, in the order of leaders.
    first : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r has the leaders of the clusters ``first[r] ... first[r + 1] - 1``.
    foreign : array of int64
        The clusters of these vertices that other ranks have, ascending.
    members : array of int32
        The number that this rank gives each vertex's cluster: own clusters from 0 on, then the
        foreign ones.
    global_ids : array of int64, or None
        Global ids of the clusters that this rank has, if they differ from the numbers.
    """

    cluster: Array
    first: np.ndarray
    foreign: Array
    members: Array
    global_ids: Array | None


def numbered(state: State, ghosts_know: bool) -> Talk[RankClusters]:
    """Number the clusters.

    Parameters
    ----------
    state : State
    ghosts_know : bool
        Whether leaders of ghosts are known; otherwise ghosts receive the numbers of clusters.
    """
    space, graph, rounds = state.space, state.graph, state.rounds
    leads, marks = space.empty(state.own, np.int8), space.zeros(
        state.handles.capacity - state.own, np.int8)
    space.parallel_for(state.own, mark_leader, rounds, leads)
    space.parallel_for(state.local if ghosts_know else state.own, mark_foreign, rounds, marks)
    before = offsets_from_counts(space, leads)
    own_clusters, leaders = space.fetch(before[-1:]), positions_of(space, marks)
    names = gather(space, state.handles.names[state.own :], leaders)
    order, counts = grouped(space, graph.owners.first, graph.comm.size, names)
    received = yield Message([Part([names], counts, order=order)],
                             [int(own_clusters()[0])])
    first = np.concatenate([[0], np.cumsum(received.words[:, 0])])
    low, high = (int(each) for each in first[graph.comm.rank : graph.comm.rank + 2])
    requests = received.parts[0]
    replies = space.empty(len(requests.columns[0]), np.int64)
    space.parallel_for(len(replies), number_leader, ranks.owned(graph, requests.columns[0]), before,
                       low, replies)
    kinds = [np.int32 if first[-1] <= MAX_INT32 else np.int64]
    received = yield Message([Part([replies], requests.counts, kinds)])
    numbers = space.empty(len(marks), np.int64)
    places = gather(space, leaders, order)
    space.parallel_for(len(places), put_one, places, received.parts[0].columns[0], numbers)
    cluster = space.empty(state.local, id_dtype(int(first[-1])))
    space.parallel_for(state.local if ghosts_know else state.own, write_number, rounds, before,
                       low, numbers, cluster)
    foreign = received.parts[0].columns[0]
    if not ghosts_know:
        received = yield Message([ranks.values_for_ghosts(space, graph.halo, [cluster], kinds)])
        cluster[state.own :] = received.parts[0].columns[0]
        foreign = merging.outside_of(space, cluster, low, high)
    foreign = distinct(space, foreign)
    members = space.empty(state.local, np.int32)
    space.parallel_for(state.local, write_member, cluster, low, high - low,
                       name_index(space, foreign, int(first[-1])), members)
    return RankClusters(cluster, first, foreign, members, (yield from _ids_of(state, leads)))


def _ids_of(state: State, leads: Array) -> Talk[Array | None]:
    """Return the global ids of the clusters that own vertices lead."""
    space, graph = state.space, state.graph
    if not graph.are_moved:
        return None
    ids = gather(space, graph.global_ids, positions_of(space, leads))
    return (yield from places_among_ranks(graph.comm, space, ids, graph.totals.num_vertices))


@kl.kernel
def mark_leader(v, rounds: ClusterRounds, leads):
    """leads[v] = whether own vertex v leads a cluster."""
    leads[v] = kl.int8(rounds.cluster[v] == v)


@kl.kernel
def number_leader(i, leaders, before, low, numbers):
    """numbers[i] = the number of the cluster that own vertex leaders[i] leads."""
    numbers[i] = low + before[leaders[i]]


@kl.kernel
def mark_foreign(v, rounds: ClusterRounds, marks):
    """Mark the cluster of v if another rank has its leader; all threads store the same value."""
    if rounds.cluster[v] >= rounds.vertices:
        marks[rounds.cluster[v] - rounds.vertices] = kl.int8(1)


@kl.kernel
def write_number(v, rounds: ClusterRounds, before, low, numbers, cluster):
    """cluster[v] = the number of v's cluster."""
    leader = kl.int64(rounds.cluster[v])
    if leader < rounds.vertices:
        cluster[v] = low + before[leader]
    else:
        cluster[v] = numbers[leader - rounds.vertices]


@kl.kernel
def write_member(v, cluster, low, own, foreign: NameIndex, members):
    """members[v] = the number that this rank gives v's cluster."""
    number = kl.int64(cluster[v]) - low
    if number < 0 or number >= own:
        number = own + place_of(cluster[v], foreign)
    members[v] = kl.int32(number)


def contract_ranks(graph: ranks.DistributedGraph, clusters: RankClusters,
                   weight_type: np.dtype) -> Talk[ranks.DistributedGraph]:
    """Return the quotient of a graph: parallel arcs are added, arcs inside a cluster are removed.

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
    made = merging.rows_of(Graph(local.offsets, local.targets, local.weights, local.vertex_weights,
                                 space),
                           clusters.members, own + len(foreign), weight_type)
    mass_kind = np.dtype(np.int32 if graph.totals.total_vertex_weight <= MAX_INT32 else np.int64)
    received = yield Message(_shipped(space, made, low, own, clusters, mass_kind))
    arrived = merging.ArrivedRows(*received.parts[0].columns, *received.parts[1].columns)
    if len(arrived.names):
        made, foreign = merging.merged(space, made, arrived, foreign, low, own, int(first[-1]))
    ends = int(space.to_host(made.offsets[own : own + 1])[0])
    part = ranks.LocalPart(made.offsets[: own + 1], made.targets[:ends], made.weights[:ends],
                           made.vertex_weights[:own], foreign, clusters.global_ids)
    return (yield from ranks.put_together(graph.comm, space, first, part,
                                          graph.totals.total_vertex_weight))


def _shipped(space: ExecutionSpace, made: merging.ClusterRows, low: int, own: int,
             clusters: RankClusters, mass_kind: np.dtype) -> list[Part]:
    """Return the rows of clusters that other ranks own, and their arcs."""
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
    rows_of_ranks, arcs_of_ranks = (wait() for wait in [space.fetch(bounds), space.fetch(ends)])
    begin, end = int(arcs_of_ranks[0]), int(arcs_of_ranks[-1])
    heads = space.empty(end - begin, np.int32)
    space.parallel_for(len(heads), name_head, made.targets[begin:end], low, own, foreign, heads)
    return [Part([foreign, degrees, made.vertex_weights[own:]], np.diff(rows_of_ranks),
                 [np.int32, np.int32, mass_kind], places),
            Part([heads, made.weights[begin:end]], np.diff(arcs_of_ranks))]


@kl.kernel
def measure_row(i, offsets, masses, own, has_members, degrees):
    """Store the length of a foreign cluster's row, and whether the row must be sent."""
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
    """heads[arc] = the number of the head among the clusters of all ranks."""
    target = kl.int64(targets[arc])
    heads[arc] = kl.int32(low + target if target < own else foreign[target - own])
