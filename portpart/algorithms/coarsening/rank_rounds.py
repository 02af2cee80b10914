"""Kernels of a round of clustering over several ranks: `cluster_rounds`, where leaders are remote.

A cluster is named by the global id of its leader.  On a rank it has a *handle*: own vertices and
ghosts are their own, leaders further away come behind them.  Owners of leaders keep the books.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.cluster_rounds import (
    ASKS,
    CHANCE,
    IS_CHOSEN,
    Rounds,
    VertexList,
    is_root,
)
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.language import Record
from portpart.backends.work import WorkRecord
from portpart.graphs.rows import Csr, global_id
from portpart.primitives.bisection import lower_bound
from portpart.primitives.hashing import hash_of, is_drawn, mixed
from portpart.primitives.team_winner import NOBODY


class Chains(WorkRecord):
    """Wishes that are followed from own vertices; sizes are the number of these.

    Attributes
    ----------
    at : array of int64
        The global id of the vertex that has been reached.
    depth : array of int32
        Wishes that have been followed, but for one at the root.
    is_open : array of int8
        Whether the vertex that has been reached may wish for another one.
    """

    at: Array = work(np.int64, int)
    depth: Array = work(np.int32, int)
    is_open: Array = work(np.int8, int)


class Requests(WorkRecord):
    """Requests to join clusters, by the names of these; sizes are the number of names.

    Attributes
    ----------
    names : array of int64
        Ascending.
    sums, counts : array of int64
        The weight of the vertices that ask, and their number.
    chosen_sums, chosen_counts : array of int64
        The same of those that are chosen.
    """

    names: Array
    sums: Array = work(np.int64, int, zeros=True)
    counts: Array = work(np.int64, int, zeros=True)
    chosen_sums: Array = work(np.int64, int, zeros=True)
    chosen_counts: Array = work(np.int64, int, zeros=True)

    length: int = kl.word()


class Replies(Record):
    """What the owners of clusters reply, by names.

    Attributes
    ----------
    totals : array of int64
        What the cluster would weigh with all that ask, -1 if its leader moves.
    weights : array of int64
        What it weighs.
    chosen : array of int64
        What it would weigh with all that are chosen.
    """

    totals: Array
    weights: Array
    chosen: Array = None


class RemoteLeaders(Record):
    """Leaders that are neither own vertices nor ghosts.

    Attributes
    ----------
    names : array of int64
        Their global ids, ascending.
    """

    names: Array

    length: int = kl.word()


class Books(WorkRecord):
    """Requests for the clusters of own vertices; sizes are the number of these.

    Attributes
    ----------
    asked, chosen : array of int64
        Vertices that ask, and that are chosen.
    """

    asked: Array = work(np.int64, int, zeros=True)
    chosen: Array = work(np.int64, int, zeros=True)


class ChangedVertices(WorkRecord):
    """A list of own vertices; sizes are the number of these."""

    vertices: Array = work(np.int32, int)

    length: int = kl.word()


@kl.kernel
def name_wish(i, listed: VertexList, graph: Csr, rounds: Rounds, wished):
    """wished[v] = the name of the cluster that v wishes for."""
    v = listed.active[i]
    wish = kl.int64(rounds.wish[v])
    if wish != NOBODY:
        wish = global_id(wish, graph)
    wished[v] = wish


@kl.kernel
def reset_chain(v, graph: Csr, chains: Chains):
    """No wish of v is followed."""
    chains.at[v] = global_id(v, graph)
    chains.depth[v] = kl.int32(0)
    chains.is_open[v] = kl.int8(0)


@kl.kernel
def begin_chain(i, listed: VertexList, graph: Csr, rounds: Rounds, wished, chains: Chains,
                num_local):
    """Follow the wish of v; a vertex that wishes for v in turn is a neighbour."""
    v = listed.active[i]
    c = rounds.wish[v]
    if c != NOBODY:
        is_single = rounds.others[c] == 0
        follows = True
        if is_single and c < num_local:
            if wished[c] == global_id(v, graph):
                follows = not is_root(v, c, graph, rounds.seed)
        if follows:
            chains.depth[v] = kl.int32(1)
            if is_single:
                chains.at[v] = wished[v]
                chains.is_open[v] = kl.int8(1)


@kl.kernel
def extend_chain(i, listed: VertexList, chains: Chains, names, count, further: Chains):
    """Go on to where the chain of the vertex that v has reached leads."""
    v = listed.active[i]
    if chains.is_open[v] != 0:
        place = lower_bound(names, 0, count, chains.at[v])
        chains.depth[v] = kl.int32(chains.depth[v] + further.depth[place])
        chains.at[v] = further.at[place]
        chains.is_open[v] = further.is_open[place]


@kl.kernel
def end_chain(i, listed: VertexList, rounds: Rounds, chains: Chains):
    """Vertices at odd depth move; chains that are too long begin with a hash."""
    v = listed.active[i]
    depth = kl.int64(chains.depth[v])
    if chains.is_open[v] != 0:
        depth += hash_of(chains.at[v], rounds.seed) & 1
    rounds.moves[v] = kl.int8(depth & 1)


@kl.kernel
def add_request(i, listed: VertexList, graph: Csr, rounds: Rounds, wished, requests: Requests):
    """Add v to the requests for the cluster that it wishes for; atomic, order-free."""
    v = listed.active[i]
    rounds.asks[v] = kl.int8(0)
    if rounds.moves[v] != 0:
        place = lower_bound(requests.names, 0, requests.length, wished[v])
        kl.atomic_add(requests.sums, place, kl.value_or(graph.vertex_weights, v, 1))
        kl.atomic_add(requests.counts, place, 1)


@kl.kernel
def enter_request(i, asked, sums, counts, rounds: Rounds, books: Books):
    """Enter a request into the books of a leader that stays; atomic, order-free."""
    c = asked[i]
    if rounds.moves[c] == 0:
        kl.atomic_add(rounds.asked, c, sums[i])
        kl.atomic_add(books.asked, c, counts[i])


@kl.kernel
def reply(i, asked, rounds: Rounds, replies: Replies):
    """What a cluster weighs, and would weigh with all that ask."""
    c = asked[i]
    replies.weights[i] = rounds.cluster_weight[c]
    replies.totals[i] = kl.int64(-1) if rounds.moves[c] != 0 else rounds.asked[c]


@kl.kernel
def choose_requests(i, listed: VertexList, graph: Csr, rounds: Rounds, wished,
                    requests: Requests, replies: Replies, turn):
    """Where too many ask, choose about as many as fill half of the room; atomic, order-free."""
    v = listed.active[i]
    if rounds.moves[v] != 0:
        place = lower_bound(requests.names, 0, requests.length, wished[v])
        total = replies.totals[place]
        if total >= 0:
            rounds.asks[v] = kl.int8(ASKS)
        if total > rounds.max_weight:
            room = kl.float64(rounds.max_weight - replies.weights[place])
            chance = CHANCE * room / kl.float64(total - replies.weights[place])
            if is_drawn(hash_of(global_id(v, graph), mixed(rounds.seed) ^ turn), chance):
                rounds.asks[v] = kl.int8(IS_CHOSEN)
                kl.atomic_add(requests.chosen_sums, place,
                              kl.value_or(graph.vertex_weights, v, 1))
                kl.atomic_add(requests.chosen_counts, place, 1)


@kl.kernel
def enter_chosen(i, asked, sums, counts, rounds: Rounds, books: Books):
    """Enter those that are chosen; atomic, order-free."""
    c = asked[i]
    kl.atomic_add(rounds.chosen, c, sums[i])
    kl.atomic_add(books.chosen, c, counts[i])


@kl.kernel
def reply_chosen(i, asked, rounds: Rounds, chosen):
    """chosen[i] = what a cluster would weigh with all that are chosen."""
    chosen[i] = rounds.chosen[asked[i]]


@kl.kernel
def join_by_name(i, listed: VertexList, rounds: Rounds, wished, requests: Requests,
                 replies: Replies, lead, changed: ChangedVertices):
    """Move v if there is room for all that ask, or for all that are chosen; list it."""
    v = listed.active[i]
    if rounds.asks[v] != 0:
        place = lower_bound(requests.names, 0, requests.length, wished[v])
        if replies.totals[place] <= rounds.max_weight or (
                rounds.asks[v] == IS_CHOSEN and replies.chosen[place] <= rounds.max_weight):
            lead[v] = wished[v]
            changed.vertices[kl.atomic_next(changed, ChangedVertices.length)] = kl.int32(v)


@kl.kernel
def settle_leader(c, rounds: Rounds, books: Books, changed: ChangedVertices):
    """What c leads weighs what has joined it; its books are ready for the next round."""
    joined = kl.int64(0)
    weight = rounds.cluster_weight[c]
    if rounds.asked[c] <= rounds.max_weight:
        joined = books.asked[c]
        weight = rounds.asked[c]
    elif rounds.chosen[c] <= rounds.max_weight:
        joined = books.chosen[c]
        weight = rounds.chosen[c]
    if joined > 0:
        rounds.cluster_weight[c] = weight
        rounds.others[c] = kl.int32(rounds.others[c] + joined)
        changed.vertices[kl.atomic_next(changed, ChangedVertices.length)] = kl.int32(c)
    rounds.asked[c] = rounds.cluster_weight[c]
    rounds.chosen[c] = rounds.cluster_weight[c]
    rounds.moves[c] = kl.int8(0)
    books.asked[c] = 0
    books.chosen[c] = 0


@kl.device
def known_handle(name, low, high, ghosts, num_ghosts):
    """The handle of a vertex that is own or a ghost, else -1."""
    handle = kl.int64(NOBODY)
    if name >= low and name < high:
        handle = name - low
    else:
        place = lower_bound(ghosts, 0, num_ghosts, name)
        if place < num_ghosts:
            if ghosts[place] == name:
                handle = high - low + place
    return handle


@kl.kernel
def mark_remote(v, lead, low, high, ghosts, num_ghosts, remote):
    """remote[v] = whether the leader of v's cluster is neither own nor a ghost."""
    remote[v] = kl.int8(known_handle(lead[v], low, high, ghosts, num_ghosts) == NOBODY)


@kl.kernel
def find_handle(v, lead, low, high, ghosts, num_ghosts, remote: RemoteLeaders, rounds: Rounds):
    """The handle of v's cluster; remote leaders stand behind the ghosts, in ascending ids."""
    handle = known_handle(lead[v], low, high, ghosts, num_ghosts)
    if handle == NOBODY:
        handle = high - low + num_ghosts + lower_bound(remote.names, 0, remote.length, lead[v])
    rounds.cluster[v] = kl.int32(handle)


@kl.kernel
def find_single(v, graph: Csr, lead, rounds: Rounds):
    """The handle of v's cluster if v leads it, else none."""
    rounds.cluster[v] = kl.int32(v) if lead[v] == global_id(v, graph) else kl.int32(NOBODY)
