"""Kernels of a round of clustering over several ranks: `cluster_rounds` with remote leaders.

A cluster has the handle of its leader.  Owners of leaders reply to requests.  A rank adds up the
requests of its vertices to a cluster of another rank, and sends one request for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening import (
    IS_GRANTED,
    IS_REQUESTED,
    ClusterRounds,
    VertexList,
    is_granted,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr
from portpart.graphs.ranks import Identities
from portpart.primitives import Halo, rank_of

IS_WATCHED = -1
"""Replaces the weight of a request: the rank only watches how the cluster's weight changes."""

HAS_JOINED = 3
"""Replaces the request of a vertex that has joined a cluster."""

REFUSED = -1
"""Replaces the weight of a cluster whose leader moves."""


class ForeignRequests(kl.Record):
    """Requests to clusters of other ranks; the size is the number of handles that are not own.

    Attributes
    ----------
    places : array of int32
        The number of the request to each cluster; 0 for clusters without one.
    sums : array of int64
        The weight of the vertices that request to join.
    handles : array of int32
        The requested clusters.
    """

    places: Array = kl.work(np.int32, int, zeros=True)
    sums: Array = kl.work(np.int64, int, zeros=True)
    handles: Array = kl.work(np.int32, int)

    length: int = kl.word()


class Replies(kl.Record):
    """Replies of owners to requests.

    Attributes
    ----------
    totals : array of int64
        The weight of a cluster with all requests, or `REFUSED`.
    sums : array of int64
        The weight of requests granted here.
    num_granted : array of int32
        The number of these requests.
    granted : array of int64
        The weight of a cluster with all requests granted on any rank.
    """

    totals: Array
    sums: Array
    num_granted: Array
    granted: Array


class Arrived(kl.Record):
    """Requests for clusters of own vertices.

    Attributes
    ----------
    leaders : array of int32
    weights : array of int64
        The weight of the vertices that request to join, or `IS_WATCHED`.
    """

    leaders: Array
    weights: Array


class Border(kl.Record):
    """Own vertices that are ghosts elsewhere; the size is their number.

    Attributes
    ----------
    changed : array of int32
        Places in the border of vertices that have joined a cluster in this round, or lead one that
        has been joined.
    """

    changed: Array = kl.work(np.int32, int)

    length: int = kl.word()


class GhostItems(kl.Record):
    """Updates for ghosts.

    Attributes
    ----------
    places : array of int32
    leaders : array of int32 or int64
        The name of the leader of the vertex's cluster.
    weights : array of int64
        The weight of the cluster.
    leader_ids : array of int32 or int64, or None
        The global id of the leader, if it differs from the name.
    """

    places: Array
    leaders: Array
    weights: Array
    leader_ids: Any = None


@kl.kernel
def begin_ghost(i, graph: Csr, rounds: ClusterRounds):
    """Make ghost i a cluster with a single member."""
    v = rounds.vertices + i
    rounds.cluster[v] = kl.int32(v)
    rounds.cluster_weight[v] = kl.value_or(graph.vertex_weights, v, 1)
    rounds.others[v] = kl.int32(0)


@kl.kernel
def change_handle(v, changed, rounds: ClusterRounds):
    """Replace the handle of v's cluster by the changed one."""
    rounds.cluster[v] = changed[rounds.cluster[v]]


@kl.kernel
def request_capacity(i, listed: VertexList, graph: Csr, rounds: ClusterRounds,
                     requested: ForeignRequests):
    """If v moves, request to join the cluster that it proposes.

    A request to an own leader that stays is entered at once, one to another rank in `requested`.
    Atomic; only the list depends on the order.
    """
    v = listed.active[i]
    rounds.join_requests[v] = kl.int8(0)
    if rounds.moves[v] != 0:
        c = kl.int64(rounds.proposal[v])
        weight = kl.value_or(graph.vertex_weights, v, 1)
        if c >= rounds.vertices:
            rounds.join_requests[v] = kl.int8(IS_REQUESTED)
            kl.atomic_add(requested.sums, c - rounds.vertices, weight)
            if kl.atomic_add(requested.places, c - rounds.vertices, 1) == 0:
                requested.handles[kl.atomic_next(requested, ForeignRequests.length)] = kl.int32(c)
        elif rounds.moves[c] == 0:
            rounds.join_requests[v] = kl.int8(IS_REQUESTED)
            kl.atomic_add(rounds.requested, c, weight)


@kl.kernel
def name_requested(number, requested: ForeignRequests, known, watched, names):
    """Write the name of a requested cluster or, behind these, of one that is watched."""
    handle = kl.int64(0)
    if number < requested.length:
        handle = kl.int64(requested.handles[number])
    else:
        handle = kl.int64(watched[number - requested.length])
    names[number] = known[handle]


@kl.kernel
def write_request(i, order, given, requested: ForeignRequests, own, names, weights):
    """Write request i, to join a cluster or to watch it."""
    number = kl.int64(order[i])
    weights[i] = kl.int64(IS_WATCHED)
    if number < requested.length:
        place = requested.handles[number] - own
        weights[i] = requested.sums[place]
        requested.places[place] = kl.int32(i)
    names[i] = given[number]


@kl.kernel
def enter_request(i, arrived: Arrived, rounds: ClusterRounds):
    """Enter a request to a leader that stays.  Atomic; the result does not depend on the order."""
    c = arrived.leaders[i]
    if arrived.weights[i] != IS_WATCHED and rounds.moves[c] == 0:
        kl.atomic_add(rounds.requested, c, arrived.weights[i])


@kl.kernel
def reply(i, arrived: Arrived, rounds: ClusterRounds, totals, overfull):
    """Store the weight of a cluster with all requests; overfull[0] = 1 if one is too heavy."""
    c = arrived.leaders[i]
    total = kl.int64(REFUSED)
    if arrived.weights[i] != IS_WATCHED and rounds.moves[c] == 0:
        total = kl.int64(rounds.requested[c])
        if total > rounds.max_weight:
            overfull[0] = 1
    totals[i] = total


@kl.kernel
def grant_requests(i, listed: VertexList, graph: Csr, rounds: ClusterRounds,
                   requested: ForeignRequests, replies: Replies, turn):
    """If a cluster gets too many requests, grant about as many as fill half of its free capacity.

    Atomic; the result does not depend on the order.
    """
    v = listed.active[i]
    if rounds.join_requests[v] != 0:
        c = kl.int64(rounds.proposal[v])
        place = kl.int64(0)
        total = kl.int64(0)
        if c >= rounds.vertices:
            place = kl.int64(requested.places[c - rounds.vertices])
            total = replies.totals[place]
        else:
            total = kl.int64(rounds.requested[c])
        if total == REFUSED:
            rounds.join_requests[v] = kl.int8(0)
        elif total > rounds.max_weight:
            if is_granted(v, total, rounds.cluster_weight[c], graph, rounds, turn):
                rounds.join_requests[v] = kl.int8(IS_GRANTED)
                weight = kl.value_or(graph.vertex_weights, v, 1)
                if c >= rounds.vertices:
                    kl.atomic_add(replies.sums, place, weight)
                    kl.atomic_add(replies.num_granted, place, 1)
                else:
                    kl.atomic_add(rounds.granted, c, weight)


@kl.kernel
def enter_granted(i, arrived: Arrived, rounds: ClusterRounds):
    """Enter granted requests.  Atomic; the result does not depend on the order."""
    kl.atomic_add(rounds.granted, arrived.leaders[i], arrived.weights[i])


@kl.kernel
def reply_granted(i, arrived: Arrived, rounds: ClusterRounds, totals):
    """totals[i] = the weight of a cluster with all granted requests."""
    totals[i] = rounds.granted[arrived.leaders[i]]


@kl.kernel
def join_clusters(i, listed: VertexList, graph: Csr, rounds: ClusterRounds,
                  requested: ForeignRequests, replies: Replies, round_number):
    """Move v if all requests fit, or if v's request is granted and all granted ones fit.

    Atomic; the result does not depend on the order.
    """
    v = listed.active[i]
    if rounds.join_requests[v] != 0:
        c = kl.int64(rounds.proposal[v])
        total = kl.int64(0)
        granted = kl.int64(0)
        if c >= rounds.vertices:
            place = requested.places[c - rounds.vertices]
            total = replies.totals[place]
            granted = replies.granted[place]
        else:
            total = kl.int64(rounds.requested[c])
            granted = kl.int64(rounds.granted[c])
        fits = total <= rounds.max_weight
        if fits or (rounds.join_requests[v] == IS_GRANTED and granted <= rounds.max_weight):
            rounds.cluster[v] = kl.int32(c)
            rounds.others[c] = kl.int32(round_number)
            rounds.join_requests[v] = kl.int8(HAS_JOINED)
            if c >= rounds.vertices:
                rounds.cluster_weight[c] = total if fits else granted
            else:
                kl.atomic_add(rounds.cluster_weight, c, kl.value_or(graph.vertex_weights, v, 1))


@kl.kernel
def admit_request(i, arrived: Arrived, rounds: ClusterRounds, of_granted, round_number):
    """Add vertices of another rank to an own cluster: all that request it, or the granted ones."""
    c = arrived.leaders[i]
    fits = rounds.requested[c] <= rounds.max_weight
    if of_granted != 0:
        fits = not fits and rounds.granted[c] <= rounds.max_weight
    if fits and arrived.weights[i] != IS_WATCHED and rounds.moves[c] == 0:
        kl.atomic_add(rounds.cluster_weight, c, arrived.weights[i])
        rounds.others[c] = kl.int32(round_number)


@kl.kernel
def number_granted(i, replies: Replies, numbers):
    """numbers[i] = i if vertices are granted their request here, else -1."""
    numbers[i] = kl.int32(i if replies.num_granted[i] != 0 else -1)


@kl.kernel
def number_changed(i, arrived: Arrived, rounds: ClusterRounds, round_number, numbers):
    """numbers[i] = i if a cluster is watched and has been joined, else -1."""
    is_changed = (arrived.weights[i] == IS_WATCHED
                  and rounds.others[arrived.leaders[i]] == round_number)
    numbers[i] = kl.int32(i if is_changed else -1)


@kl.kernel
def list_changed(i, border: Border, rounds: ClusterRounds, round_number, halo: Halo, counts):
    """List a vertex of the border if it has joined a cluster, or leads one that was joined, and
    count the ranks that have it as a ghost.  Atomic.
    """
    v = halo.border.names[i]
    if rounds.join_requests[v] == HAS_JOINED or rounds.others[v] == round_number:
        border.changed[kl.atomic_next(border, Border.length)] = kl.int32(i)
        for entry in range(halo.begin[i], halo.begin[i + 1]):
            kl.atomic_add(counts, halo.ranks[entry], 1)
    if rounds.join_requests[v] == HAS_JOINED:
        rounds.join_requests[v] = kl.int8(0)


@kl.kernel
def reset_requests(i, arrived: Arrived, rounds: ClusterRounds):
    """Reset a cluster that other ranks have requested to join, for the next round."""
    c = arrived.leaders[i]
    rounds.requested[c] = rounds.cluster_weight[c]
    rounds.granted[c] = rounds.cluster_weight[c]


@kl.kernel
def reset_listed(i, listed: VertexList, rounds: ClusterRounds):
    """Reset v and the own cluster that it has requested to join, for the next round."""
    v = listed.active[i]
    rounds.moves[v] = kl.int8(0)
    if rounds.join_requests[v] != 0:
        c = kl.int64(rounds.proposal[v])
        if c < rounds.vertices:
            rounds.requested[c] = rounds.cluster_weight[c]
            rounds.granted[c] = rounds.cluster_weight[c]


@kl.kernel
def write_items(i, border: Border, halo: Halo, identities: Identities, rounds: ClusterRounds,
                next_item, items: GhostItems, are_moved: kl.StaticValue):
    """Write the updates of a vertex's ghosts.  Atomic; in any order."""
    at = border.changed[i]
    leader = rounds.cluster[halo.border.names[at]]
    for entry in range(halo.begin[at], halo.begin[at + 1]):
        item = kl.atomic_add(next_item, halo.ranks[entry], 1)
        items.places[item] = halo.places[entry]
        items.leaders[item] = identities.names[leader]
        if are_moved:
            items.leader_ids[item] = identities.global_ids[leader]
        items.weights[item] = rounds.cluster_weight[leader]


@kl.device
def ghost_of_item(i, firsts, size, halo: Halo, items: GhostItems):
    """Return the ghost of item i; items of rank r begin at firsts[r]."""
    return halo.ghost_first[rank_of(firsts, i, size)] + items.places[i]


@kl.kernel
def enter_ghost(i, firsts, size, halo: Halo, items: GhostItems, handles, rounds: ClusterRounds):
    """Store the cluster of a ghost that has joined or leads one, and a foreign one's weight."""
    ghost = ghost_of_item(i, firsts, size, halo, items)
    handle = kl.int64(handles[i])
    rounds.cluster[ghost] = kl.int32(handle)
    if handle >= rounds.vertices:
        rounds.cluster_weight[handle] = items.weights[i]
        rounds.others[handle] = kl.int32(1)


@kl.kernel
def label_leader(i, firsts, size, halo: Halo, items: GhostItems, handles, label):
    """Give a leader that is no ghost the label of a ghost of its cluster.

    All threads write the same value.
    """
    handle = handles[i]
    if handle >= halo.ghost_first[size]:
        label[handle] = label[ghost_of_item(i, firsts, size, halo, items)]


@kl.kernel
def enter_weight(i, handles, weights, rounds: ClusterRounds):
    """Store the weight of a watched cluster."""
    rounds.cluster_weight[handles[i]] = weights[i]
