"""Numbers of clusters among those of all ranks, in the order of their leaders.

They are the names of the coarse vertices.  Where names are not global ids, clusters get global ids
besides, in the order of those of their leaders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.coarsening import ClusterRounds
from portpart.algorithms.coarsening.ranks.merging import mark_outside
from portpart.algorithms.coarsening.ranks.state import State
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import MAX_INT32, distinct, id_dtype
from portpart.graphs.ranks import owned, values_for_ghosts
from portpart.primitives import (
    Message,
    NameIndex,
    Part,
    Talk,
    gather,
    grouped,
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
        The number of the cluster, among those of all ranks in the order of their leaders.
    first : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r has the leaders of the clusters ``first[r] ... first[r + 1] - 1``.
    foreign : array of int64
        The clusters that other ranks have, ascending.
    members : array of int32
        The cluster by a number that this rank gives it: own clusters from 0 on, then the foreign
        ones.
    global_ids : array of int64, or None
        Of the clusters that this rank has, where they are not the numbers.
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
        Whether ghosts know their leaders; else they receive their numbers.
    """
    space, graph, rounds = state.space, state.graph, state.rounds
    leads, marks = space.empty(state.own, np.int8), space.zeros(
        state.handles.capacity - state.own, np.int8)
    space.parallel_for(state.own, mark_leader, rounds, leads)
    space.parallel_for(state.local if ghosts_know else state.own, mark_foreign, rounds, marks)
    before, leaders = offsets_from_counts(space, leads), positions_of(space, marks)
    names = gather(space, state.handles.names[state.own :], leaders)
    order, counts = grouped(space, graph.owners, graph.comm.size, names)
    received = yield Message([Part([gather(space, names, order)], counts)],
                             [int(space.to_host(before[-1:])[0])])
    first = np.concatenate([[0], np.cumsum(received.words[:, 0])])
    low, high = (int(each) for each in first[graph.comm.rank : graph.comm.rank + 2])
    asked = received.parts[0]
    answers = space.empty(len(asked.columns[0]), np.int64)
    space.parallel_for(len(answers), number_leader, owned(graph, asked.columns[0]), before, low,
                       answers)
    kinds = [np.int32 if first[-1] <= MAX_INT32 else np.int64]
    received = yield Message([Part([answers], asked.counts, kinds)])
    numbers = space.empty(len(marks), np.int64)
    asked_of = gather(space, leaders, order)
    space.parallel_for(len(asked_of), put_one, asked_of, received.parts[0].columns[0], numbers)
    cluster = space.empty(state.local, id_dtype(int(first[-1])))
    space.parallel_for(state.local if ghosts_know else state.own, write_number, rounds, before,
                       low, numbers, cluster)
    foreign = received.parts[0].columns[0]
    if not ghosts_know:
        received = yield Message([values_for_ghosts(space, graph.halo, [cluster], kinds)])
        cluster[state.own :] = received.parts[0].columns[0]
        foreign = _foreign(space, cluster, low, high)
    foreign = distinct(space, foreign)
    members = space.empty(state.local, np.int32)
    space.parallel_for(state.local, write_member, cluster, low, high - low,
                       name_index(space, foreign, int(first[-1])), members)
    return RankClusters(cluster, first, foreign, members, (yield from _ids_of(state, leads)))


def _ids_of(state: State, leads: Array) -> Talk[Array | None]:
    """The global ids of the clusters that own vertices lead."""
    space, graph = state.space, state.graph
    if not graph.are_moved:
        return None
    ids = gather(space, graph.global_ids, positions_of(space, leads))
    return (yield from places_among_ranks(graph.comm, space, ids, graph.totals.num_vertices))


def _foreign(space: ExecutionSpace, cluster: Array, low: int, high: int) -> Array:
    """The clusters of other ranks, as often as they come."""
    outside = space.empty(len(cluster), np.int8)
    space.parallel_for(len(cluster), mark_outside, cluster, low, high, outside)
    return gather(space, cluster, positions_of(space, outside))


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
    """members[v] = the number that the rank itself gives v's cluster."""
    number = kl.int64(cluster[v]) - low
    if number < 0 or number >= own:
        number = own + place_of(cluster[v], foreign)
    members[v] = kl.int32(number)
