"""A round of clustering: active vertices, their moves, and requests to join clusters."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.cluster_ratings import MAX_NARROW, HashRows
from portpart.algorithms.coarsening.options import FineSizes
from portpart.algorithms.coarsening.proposals import Proposals
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, degree_of, global_id
from portpart.primitives import NO_VERTEX, hash_of, is_drawn, mixed

ARCS_OF_LANE = 32
"""Vertices with more arcs per lane get the widest team, so that they do not delay the others."""

MAX_DEPTH = 32
"""Maximum number of proposals that are followed; chains of ever heavier edges can be longer."""

LEAVES, ENDS, JOINS, IS_LONG = 0, 1, 2, 3
"""How far a chain is known: up to a vertex that proposes one of another rank, up to its root, up to
a vertex that proposes a cluster of several vertices, or for `MAX_DEPTH` proposals.
"""

AT, STATE = 8, 6
DEPTH_MASK, REACHED_MASK = (1 << STATE) - 1, (1 << AT) - 1
"""Bits of what `walked` returns: a vertex from `AT` on, a state from `STATE` on, and a depth."""

CHANCE = 0.5
"""Share of a cluster's free capacity that is granted if there are too many requests: a larger share
would often exceed it."""

IS_REQUESTED, IS_GRANTED = 1, 2

ISOLATED_KEYS = 64
"""Number of keys that replace preferred clusters for vertices without neighbours of their label."""


def of_keys(sizes: FineSizes) -> int:
    """Return the number of vertices and of keys of isolated ones."""
    return sizes.vertices + ISOLATED_KEYS


class VertexList(kl.Record):
    """Vertices that take part in a round; no result depends on their order.

    Attributes
    ----------
    active : array of int32
    wide : array of int32
        The vertices of high degree among them.
    """

    active: Array = kl.work(np.int32, of_keys)
    wide: Array = kl.work(np.int32, lambda sizes: sizes.arcs // (MAX_NARROW + 1)
                          if sizes.max_degree > MAX_NARROW else 0)

    length: int = kl.word()
    wide_length: int = kl.word()


class ClusterRounds(Proposals):
    """Moves of a round, and requests to join clusters.

    Arrays have an element for each vertex and for each key of isolated ones.

    Attributes
    ----------
    others : array of int32
        Number of members of the cluster that a vertex leads, without itself.
    moves, join_requests : array of int8
        Whether a vertex moves; whether it requests to join a cluster, and that is granted.
    requested, granted : array of int64
        Weight of a cluster with all requests, and with the granted ones.
    """

    proposal: Array = kl.work(np.int32, of_keys)
    cluster_weight: Array = kl.work(np.int64, of_keys)
    others: Array = kl.work(np.int32, of_keys)
    moves: Array = kl.work(np.int8, of_keys)
    join_requests: Array = kl.work(np.int8, of_keys)
    requested: Array = kl.work(np.int64, of_keys)
    granted: Array = kl.work(np.int64, of_keys)

    vertices: int = kl.word()
    keys: int = kl.word()  # vertices, and keys of isolated ones
    too_many_left: int = kl.word()  # whether too many vertices are single in the end


@kl.kernel
def begin_single(v, graph: Csr, rounds: ClusterRounds):
    """Make v a cluster with a single member."""
    weight = kl.value_or(graph.vertex_weights, v, 1)
    rounds.cluster[v] = kl.int32(v)
    rounds.cluster_weight[v] = weight
    rounds.requested[v] = weight
    rounds.granted[v] = weight
    rounds.others[v] = kl.int32(0)
    rounds.moves[v] = kl.int8(0)
    rounds.join_requests[v] = kl.int8(0)


@kl.device
def is_single(v, rounds: ClusterRounds):
    """Whether v is the only vertex of its cluster."""
    return rounds.cluster[v] == v and rounds.others[v] == 0


@kl.device
def append(v, graph: Csr, listed: VertexList):
    """Append v to the list, and to that of high degrees if it belongs there."""
    listed.active[kl.atomic_next(listed, VertexList.length)] = kl.int32(v)
    if degree_of(v, graph) > MAX_NARROW:
        listed.wide[kl.atomic_next(listed, VertexList.wide_length)] = kl.int32(v)
    return v


@kl.kernel
def list_singles(v, graph: Csr, rounds: ClusterRounds, listed: VertexList, max_degree):
    """Make v active, and wide if its degree is above `max_degree`."""
    listed.active[v] = kl.int32(v)
    if degree_of(v, graph) > max_degree:
        listed.wide[kl.atomic_next(listed, VertexList.wide_length)] = kl.int32(v)
    if v == 0:
        listed.length = rounds.vertices


@kl.kernel
def empty_lists(_, listed: VertexList):
    """Empty the lists."""
    listed.length = 0
    listed.wide_length = 0


@kl.kernel
def list_rest(i, graph: Csr, rounds: ClusterRounds, listed: VertexList, next_listed: VertexList):
    """Keep v active if it is still single and has a proposal."""
    v = listed.active[i]
    if rounds.proposal[v] != NO_VERTEX and is_single(v, rounds):
        append(v, graph, next_listed)


@kl.kernel
def list_movers(v, graph: Csr, rounds: ClusterRounds, listed: VertexList, turn):
    """Make v active in this turn if a hash says so and v leads no other vertex."""
    if rounds.cluster[v] != v or rounds.others[v] == 0:
        if (hash_of(global_id(v, graph), mixed(rounds.seed) ^ (turn >> 1)) ^ turn) & 1 == 0:
            append(v, graph, listed)


@kl.kernel
def list_single(v, graph: Csr, rounds: ClusterRounds, listed: VertexList):
    """List v if it is still single."""
    if is_single(v, rounds):
        append(v, graph, listed)


@kl.kernel
def check_single_share(_, rounds: ClusterRounds, listed: VertexList, max_left):
    """Store whether more than `max_left` thousandths of all vertices are single."""
    rounds.too_many_left = kl.int64(1000 * listed.length > max_left * rounds.vertices)


@kl.device
def walked(v, depth, graph: Csr, rounds: ClusterRounds):
    """Follow the proposals of vertices of this rank from v, which `depth` proposals have led to.

    A root is a vertex without a proposal, or one of two vertices that propose each other.  Returns
    the last vertex, the state and the depth.
    """
    u = kl.int64(v)
    hops = kl.int64(depth)
    state = kl.int64(LEAVES)
    following = True
    while following:
        c = kl.int64(rounds.proposal[u])
        following = False
        if c == NO_VERTEX:
            state = kl.int64(ENDS)
        elif rounds.others[c] > 0:
            state = kl.int64(JOINS)
        elif c < rounds.vertices:
            is_root = hash_of(global_id(u, graph), rounds.seed) > hash_of(global_id(c, graph),
                                                                          rounds.seed)
            if rounds.proposal[c] == u and is_root:
                state = kl.int64(ENDS)
            else:
                hops += 1
                u = c
                following = hops < MAX_DEPTH
                if not following:
                    state = kl.int64(IS_LONG)
    return (u << AT) | (state << STATE) | hops


@kl.device
def moves_by(reached, global_ids, at, seed):
    """Whether a vertex moves, by what its chain has reached and the last vertex's global id."""
    odd = kl.int64(reached) & DEPTH_MASK
    state = kl.int64(reached) >> STATE
    if state == JOINS:
        odd += 1
    elif state == IS_LONG:
        odd += hash_of(kl.value_or(global_ids, at, at), seed) & 1
    return kl.int8(odd & 1)


@kl.kernel
def grant_odd_depth(i, listed: VertexList, graph: Csr, rounds: ClusterRounds):
    """Mark v if it is at odd depth in the trees that proposals of single vertices form.

    A vertex that proposes a cluster of several vertices is at depth one.  In a chain that is too
    long, a hash decides about the last vertex.
    """
    v = listed.active[i]
    chain = walked(v, 0, graph, rounds)
    rounds.moves[v] = moves_by(chain & REACHED_MASK, graph.global_ids, chain >> AT, rounds.seed)


@kl.kernel
def move_all(i, listed: VertexList, graph: Csr, rounds: ClusterRounds):
    """Mark v if it proposes another cluster."""
    v = listed.active[i]
    rounds.moves[v] = kl.int8(rounds.proposal[v] != NO_VERTEX
                              and rounds.proposal[v] != rounds.cluster[v])


@kl.kernel
def request_join(i, listed: VertexList, graph: Csr, rounds: ClusterRounds):
    """If v moves and the proposed leader stays, request to join its cluster.

    Atomic; the result does not depend on the order.
    """
    v = listed.active[i]
    rounds.join_requests[v] = kl.int8(0)
    if rounds.moves[v] != 0:
        c = rounds.proposal[v]
        if rounds.moves[c] == 0:
            rounds.join_requests[v] = kl.int8(IS_REQUESTED)
            kl.atomic_add(rounds.requested, c, kl.value_or(graph.vertex_weights, v, 1))


@kl.device
def is_granted(v, total, weight, graph: Csr, rounds: ClusterRounds, turn):
    """Whether a hash grants v's request to a cluster, whose weight is `total` with all requests."""
    capacity = kl.float64(rounds.max_weight - weight)
    chance = CHANCE * capacity / kl.float64(total - weight)
    return is_drawn(hash_of(global_id(v, graph), mixed(rounds.seed) ^ turn), chance)


@kl.kernel
def grant_random(i, listed: VertexList, graph: Csr, rounds: ClusterRounds, turn):
    """If a cluster gets too many requests, grant about as many as fill half of its free capacity.

    Atomic; the result does not depend on the order.
    """
    v = listed.active[i]
    if rounds.join_requests[v] != 0:
        c = rounds.proposal[v]
        if rounds.requested[c] > rounds.max_weight:
            if is_granted(v, rounds.requested[c], rounds.cluster_weight[c], graph, rounds, turn):
                rounds.join_requests[v] = kl.int8(IS_GRANTED)
                kl.atomic_add(rounds.granted, c, kl.value_or(graph.vertex_weights, v, 1))


@kl.kernel
def join(i, listed: VertexList, graph: Csr, rounds: ClusterRounds):
    """Move v if all requests fit, or if v's request is granted and all granted ones fit.

    Atomic; the result does not depend on the order.
    """
    v = listed.active[i]
    if rounds.join_requests[v] != 0:
        c = rounds.proposal[v]
        if rounds.requested[c] <= rounds.max_weight or (
                rounds.join_requests[v] == IS_GRANTED and rounds.granted[c] <= rounds.max_weight):
            weight = kl.value_or(graph.vertex_weights, v, 1)
            left = rounds.cluster[v]
            if left != v:
                kl.atomic_add(rounds.others, left, -1)
                kl.atomic_add(rounds.cluster_weight, left, -weight)
            kl.atomic_add(rounds.others, c, 1)
            kl.atomic_add(rounds.cluster_weight, c, weight)
            rounds.cluster[v] = c


@kl.kernel
def reset_requests(i, listed: VertexList, rounds: ClusterRounds, rows: HashRows):
    """Reset v and the cluster that it requested to join for the next round, and free all rows.

    If members have left a cluster, `requested` keeps its old weight until the next request: this
    is safe, though strict.
    """
    v = listed.active[i]
    if i == 0:
        rows.taken = 0
    rounds.moves[v] = kl.int8(0)
    if rounds.join_requests[v] != 0:
        c = rounds.proposal[v]
        rounds.requested[c] = rounds.cluster_weight[c]
        rounds.granted[c] = rounds.cluster_weight[c]
