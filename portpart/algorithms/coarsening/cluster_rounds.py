"""A round of clustering: active vertices, which of them move, and free capacity."""

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
"""Vertices with more arcs for each lane get the widest team: they must not hold up the others."""

MAX_DEPTH = 32
"""Most proposals that are followed; chains of heavier and heavier edges can be longer."""

LEAVES, ENDS, JOINS, IS_LONG = 0, 1, 2, 3
"""How far a chain is known: to a proposal of a vertex of another rank, to its root, to a proposal
of a cluster of several, or over `MAX_DEPTH` proposals.
"""

AT, STATE = 8, 6
DEPTH_MASK, REACHED_MASK = (1 << STATE) - 1, (1 << AT) - 1
"""What `walked` returns: a vertex, and what has been reached, which is a state and a depth."""

CHANCE = 0.5
"""Share of a cluster's room that is given away if too many ask: more would often be too many."""

IS_REQUESTED, IS_GRANTED = 1, 2

ISOLATED_KEYS = 64
"""Vertices without neighbours of their label share this many keys as preferred clusters."""


def of_wide(sizes: FineSizes) -> int:
    """An element for each vertex that is not narrow."""
    return sizes.arcs // (MAX_NARROW + 1) if sizes.max_degree > MAX_NARROW else 0


def of_keys(sizes: FineSizes) -> int:
    """An element for each vertex, and for each key of isolated ones."""
    return sizes.vertices + ISOLATED_KEYS


class VertexList(kl.Record):
    """Vertices that take part in a round; no result depends on their order.

    Attributes
    ----------
    active : array of int32
    wide : array of int32
        Those of high degree once more.
    """

    active: Array = kl.work(np.int32, of_keys)
    wide: Array = kl.work(np.int32, of_wide)

    length: int = kl.word()
    wide_length: int = kl.word()


class ClusterRounds(Proposals):
    """Moves of a round, and requests to join clusters.

    Arrays have an element for each vertex, and more where what is left over is grouped in them.

    Attributes
    ----------
    others : array of int32
        Members of the cluster that a vertex leads, without itself.
    moves, join_requests : array of int8
        Whether a vertex moves; whether it asks for room and is chosen.
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
    """Every vertex leads a cluster of itself."""
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
    """Whether v is a cluster of itself."""
    return rounds.cluster[v] == v and rounds.others[v] == 0


@kl.device
def append(v, graph: Csr, listed: VertexList):
    """Put v on the lists."""
    listed.active[kl.atomic_next(listed, VertexList.length)] = kl.int32(v)
    if degree_of(v, graph) > MAX_NARROW:
        listed.wide[kl.atomic_next(listed, VertexList.wide_length)] = kl.int32(v)
    return v


@kl.kernel
def list_singles(v, graph: Csr, rounds: ClusterRounds, listed: VertexList, max_degree):
    """All vertices are active; those of higher degrees are wide."""
    listed.active[v] = kl.int32(v)
    if degree_of(v, graph) > max_degree:
        listed.wide[kl.atomic_next(listed, VertexList.wide_length)] = kl.int32(v)
    if v == 0:
        listed.length = rounds.vertices


@kl.kernel
def empty_lists(_, listed: VertexList):
    """Empty the lists that come next."""
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
    """Let v be active in this turn if a hash says so, unless it leads others."""
    if rounds.cluster[v] != v or rounds.others[v] == 0:
        if (hash_of(global_id(v, graph), mixed(rounds.seed) ^ (turn >> 1)) ^ turn) & 1 == 0:
            append(v, graph, listed)


@kl.kernel
def list_single(v, graph: Csr, rounds: ClusterRounds, listed: VertexList):
    """List the vertices that are single still."""
    if is_single(v, rounds):
        append(v, graph, listed)


@kl.kernel
def check_single_share(_, rounds: ClusterRounds, listed: VertexList, max_left):
    """Whether more than this many thousandths of all vertices are left."""
    rounds.too_many_left = kl.int64(1000 * listed.length > max_left * rounds.vertices)


@kl.device
def walked(v, depth, graph: Csr, rounds: ClusterRounds):
    """Follow the proposals of vertices of this rank from v, which this many proposals have led to.

    A root has no proposal, or is one of two vertices that propose each other.
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
    """Whether a vertex moves whose chain has ended with the vertex that has a global id there."""
    odd = kl.int64(reached) & DEPTH_MASK
    state = kl.int64(reached) >> STATE
    if state == JOINS:
        odd += 1
    elif state == IS_LONG:
        odd += hash_of(kl.value_or(global_ids, at, at), seed) & 1
    return kl.int8(odd & 1)


@kl.kernel
def grant_odd_depth(i, listed: VertexList, graph: Csr, rounds: ClusterRounds):
    """Move the vertices at odd depth in the trees that proposals of single vertices form.

    A vertex that proposes a cluster of several is at depth one.  Chains that are too long begin
    with a hash.
    """
    v = listed.active[i]
    chain = walked(v, 0, graph, rounds)
    rounds.moves[v] = moves_by(chain & REACHED_MASK, graph.global_ids, chain >> AT, rounds.seed)


@kl.kernel
def move_all(i, listed: VertexList, graph: Csr, rounds: ClusterRounds):
    """Move every vertex that proposes another cluster."""
    v = listed.active[i]
    rounds.moves[v] = kl.int8(rounds.proposal[v] != NO_VERTEX
                              and rounds.proposal[v] != rounds.cluster[v])


@kl.kernel
def request_join(i, listed: VertexList, graph: Csr, rounds: ClusterRounds):
    """If v moves and the leader that it proposes stays, request capacity there; atomic, independent
    of order.
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
    """Whether a hash grants v's request to a cluster of a weight, which is `total` with all."""
    room = kl.float64(rounds.max_weight - weight)
    chance = CHANCE * room / kl.float64(total - weight)
    return is_drawn(hash_of(global_id(v, graph), mixed(rounds.seed) ^ turn), chance)


@kl.kernel
def grant_random(i, listed: VertexList, graph: Csr, rounds: ClusterRounds, turn):
    """Where too many ask, choose about as many as fill half of the room; atomic, independent of
    order.
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
    """Move v if all requests fit, or if v's is granted and all granted ones fit; atomic,
    independent of order.
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
    """Make the marks of v and of the cluster it asked ready for the next round, and rows free.

    A cluster that members left keeps its old weight until the next request: safe, if strict.
    """
    v = listed.active[i]
    if i == 0:
        rows.taken = 0
    rounds.moves[v] = kl.int8(0)
    if rounds.join_requests[v] != 0:
        c = rounds.proposal[v]
        rounds.requested[c] = rounds.cluster_weight[c]
        rounds.granted[c] = rounds.cluster_weight[c]
