"""Clustering over several ranks: the clusters that `clustering` finds on one device.

The host walks the rounds.  Own vertices wish by the kernels of one device; what leaders have to
know travels to their owners, and what they weigh comes back.  Ghosts learn the cluster of their
vertex, and what a cluster weighs that their vertex leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.cluster_ratings import (
    HEAVY_EDGE,
    MAX_NARROW,
    HashRows,
    RowRating,
    wish_for_cluster,
    wish_for_cluster_by_row,
    wish_for_neighbour,
)
from portpart.algorithms.coarsening.cluster_rounds import (
    Rounds,
    VertexList,
    begin_single,
    list_leftovers,
    list_rest,
    list_singles,
)
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.rank_groups import group_leftovers
from portpart.algorithms.coarsening.rank_rounds import (
    Books,
    Chains,
    ChangedVertices,
    RemoteLeaders,
    Replies,
    Requests,
    add_request,
    begin_chain,
    choose_requests,
    end_chain,
    enter_chosen,
    enter_request,
    extend_chain,
    find_handle,
    find_single,
    join_by_name,
    mark_remote,
    name_wish,
    reply,
    reply_chosen,
    reset_chain,
    settle_leader,
)
from portpart.algorithms.coarsening.sizes import sizes_of
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import int32, int64
from portpart.errors import InputError
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.route import Route
from portpart.graphs.teams import team_for_all
from portpart.primitives.basic import converted
from portpart.primitives.bisection import lower_bound
from portpart.primitives.hash_rows import SLOTS
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.team_winner import NOBODY

DOUBLINGS = 5
"""Chains of wishes are followed over `MAX_DEPTH` hops: each time as far again."""

NO_LIMIT = 2**62
NO_DEGREE = 2**31
WIDE_TEAM, TEAM = 32, 8


@dataclass(frozen=True)
class RankClusters:
    """The clusters of the vertices of a rank, own ones and ghosts.

    Attributes
    ----------
    cluster : array of int64
        The number of the cluster, among those of all ranks in the order of their leaders.
    first : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r has the leaders of the clusters ``first[r] ... first[r + 1] - 1``.
    """

    cluster: Array
    first: np.ndarray


def cluster_ranks(graph: DistributedGraph, max_weight: int, seed: int,
                  options: ClusteringOptions) -> RankClusters:
    """Clusters of at most `max_weight`, the same as on one device.

    All ranks call it.

    Parameters
    ----------
    graph : DistributedGraph
    max_weight : int
        No cluster of several vertices weighs more.
    seed : int
        Breaks ties.
    options : ClusteringOptions
        Without rounds of improvement.

    Raises
    ------
    InputError
        If there are rounds of improvement.
    """
    if options.improve_rounds:
        raise InputError("clustering over several ranks has no rounds of improvement")
    state = _State(graph, max_weight, seed)
    for turn in range(options.join_rounds):
        if turn == 0:
            state.wish_among_single()
        else:
            state.wish_among_clusters(state.rounds)
        state.admit(turn)
        last = turn + 1 == options.join_rounds
        if last:
            state.mark_single()
        else:
            state.find_handles()
        state.list_next(list_leftovers if last else list_rest)
    left = state.total(state.num_listed())
    if 1000 * left > int(1000 * options.max_left) * graph.totals.num_vertices:
        state.find_handles()
        state.wish_among_clusters(state.rounds.replaced(max_weight=NO_LIMIT))
        state.name_wishes()
        group_leftovers(graph, state.listed, state.num_listed(), state.rounds, state.wished,
                        state.lead)
        graph.push([state.lead])
    return state.numbered()


class _State:
    """What a rank knows of the clusters.

    Attributes
    ----------
    lead : array of int64
        The global id of the leader of the cluster of each own vertex and ghost.
    wished : array of int64
        The leader of the cluster that each of them wishes for, or -1.
    rounds : Rounds
        By handles.
    csr : Csr
        Rows whose global ids are those of handles.
    """

    def __init__(self, graph: DistributedGraph, max_weight: int, seed: int) -> None:
        self.graph, self.space = graph, graph.space
        self.csr, self.own = graph.local.csr, graph.local.num_vertices
        self.low = int(graph.first[graph.comm.rank])
        space, local = self.space, self.own + graph.num_ghosts
        self.lead = space.copy(converted(space, graph.local.global_ids, np.int64))
        self.wished = space.full(local, NOBODY, np.int64)
        types = {"cluster": np.int32, "wish": np.int32, "others": np.int32, "moves": np.int8,
                 "asks": np.int8, "cluster_weight": np.int64, "asked": np.int64,
                 "chosen": np.int64}
        made = {name: space.empty(local, kind) for name, kind in types.items()}
        self.rounds = Rounds(seed=seed, max_weight=max_weight, label=None, total=None,
                             **made).over(Rounds.own_words(space.zeros(3, np.int64)))
        self.rounds.own_words.array[:1] = self.own
        self.books = Books.allocate(space, self.own)
        self.chains = Chains.allocate(space, self.own)
        self.listed, self.spare = self._list(), self._list()
        space.parallel_for(local, begin_single, self.csr, self.rounds)
        space.parallel_for(self.own, reset_chain, self.csr, self.chains)

    def _list(self) -> VertexList:
        sizes = sizes_of(self.graph.local)._replace(max_degree=self.graph.local.max_degree)
        return VertexList.allocate(self.space, sizes).over(
            VertexList.own_words(self.space.zeros(2, np.int64)))

    def num_listed(self, wide: bool = False) -> int:
        """Vertices on the list."""
        return int(self.space.to_host(self.listed.own_words.array)[int(wide)])

    def total(self, number: int) -> int:
        """The sum of a number over the ranks."""
        words = self.space.full(1, number, np.int64)
        self.graph.comm.all_reduce(words, 0, 1, "sum")
        return int(self.space.to_host(words)[0])

    def wish_among_single(self) -> None:
        """All vertices are single, and listed."""
        wish = wish_for_neighbour.bound(by=HEAVY_EDGE)
        self.space.parallel_for(self.own, list_singles, self.csr, self.rounds, self.listed,
                                MAX_NARROW)
        self.space.parallel_for(self.own, wish, None, self.csr, self.rounds, NO_DEGREE,
                                team=team_for_all(self.graph.local))

    def wish_among_clusters(self, rounds: Rounds) -> None:
        """Vertices on the list wish."""
        space, local = self.space, self.graph.local
        sizes = sizes_of(local)._replace(max_degree=local.max_degree)
        rows = HashRows.allocate(space, sizes).over(
            HashRows.own_words(space.zeros(1, np.int64)))
        element = int32 if sizes.sum_type == np.int32 else int64
        by = RowRating(SLOTS[sizes.sum_type.itemsize][WIDE_TEAM], element, HEAVY_EDGE)
        space.parallel_for(self.num_listed(wide=True), wish_for_cluster_by_row.bound(by=by),
                           self.listed.wide, self.csr, rounds, rows, MAX_NARROW, NO_DEGREE,
                           team=WIDE_TEAM)
        space.parallel_for(self.num_listed(), wish_for_cluster.bound(by=HEAVY_EDGE),
                           self.listed.active, self.csr, rounds, team=TEAM)

    def name_wishes(self) -> None:
        """Wishes of listed vertices by the names of the clusters."""
        self.space.parallel_for(self.num_listed(), name_wish, self.listed, self.csr, self.rounds,
                                self.wished)

    def admit(self, turn: int) -> None:
        """Let listed vertices join the clusters that they wish for, as far as there is room."""
        self.name_wishes()
        self.graph.push([self.wished], self.listed.active, self.listed.own_words.array)
        self._choose_by_depth()
        changed = self._joined(turn)
        self.graph.push([self.lead, self.rounds.cluster_weight, self.rounds.others],
                        changed.vertices, changed.own_words.array)

    def _choose_by_depth(self) -> None:
        """Mark vertices at odd depth of the trees of wishes."""
        space, chains, listed, count = self.space, self.chains, self.listed, self.num_listed()
        space.parallel_for(self.own, reset_chain, self.csr, chains)
        space.parallel_for(count, begin_chain, listed, self.csr, self.rounds, self.wished, chains,
                           self.own + self.graph.num_ghosts)
        for _ in range(DOUBLINGS):
            route = Route(self.graph, chains.at[chains.is_open != 0])
            if route.total == 0:
                break
            further = Chains(*route.fetch([chains.at, chains.depth, chains.is_open]))
            space.parallel_for(count, extend_chain, listed, chains, route.names, len(route.names),
                               further)
        space.parallel_for(count, end_chain, listed, self.rounds, chains)

    def _joined(self, turn: int) -> ChangedVertices:
        """Own vertices that have joined clusters, and leaders that have been joined."""
        space, rounds, listed, count = self.space, self.rounds, self.listed, self.num_listed()
        route = Route(self.graph, self.wished[: self.own][rounds.moves[: self.own] != 0])
        names = len(route.names)
        requests = Requests.allocate(space, names, names=route.names).over(
            Requests.own_words(space.full(1, names, np.int64)))
        space.parallel_for(count, add_request, listed, self.csr, rounds, self.wished, requests)
        sums, counts = route.ask([requests.sums, requests.counts])
        asked = route.asked
        space.parallel_for(len(asked), enter_request, asked, sums, counts, rounds, self.books)
        replies = Replies(space.empty(len(asked), np.int64), space.empty(len(asked), np.int64))
        space.parallel_for(len(asked), reply, asked, rounds, replies)
        replies = Replies(*route.answer([replies.totals, replies.weights]))
        space.parallel_for(count, choose_requests, listed, self.csr, rounds, self.wished,
                           requests, replies, turn)
        sums, counts = route.give([requests.chosen_sums, requests.chosen_counts])
        space.parallel_for(len(asked), enter_chosen, asked, sums, counts, rounds, self.books)
        chosen = space.empty(len(asked), np.int64)
        space.parallel_for(len(asked), reply_chosen, asked, rounds, chosen)
        replies = replies.replaced(chosen=route.answer([chosen])[0])
        changed = ChangedVertices.allocate(space, self.own).over(
            ChangedVertices.own_words(space.zeros(1, np.int64)))
        space.parallel_for(count, join_by_name, listed, rounds, self.wished, requests, replies,
                           self.lead, changed)
        space.parallel_for(self.own, settle_leader, rounds, self.books, changed)
        return changed

    def mark_single(self) -> None:
        """Give handles to the clusters of vertices that lead them, others as if they moved away."""
        self.space.parallel_for(self.own, find_single, self.csr, self.lead, self.rounds)

    def find_handles(self) -> None:
        """Give the clusters of all vertices handles, and those further away their weights."""
        space, graph, rounds = self.space, self.graph, self.rounds
        local, ghosts = self.own + graph.num_ghosts, graph.ghost_names
        place = self.lead, self.low, self.low + self.own, ghosts, graph.num_ghosts
        remote = space.empty(local, np.int8)
        space.parallel_for(local, mark_remote, *place, remote)
        route = Route(graph, self.lead[remote != 0])
        leaders = RemoteLeaders(route.names).over(
            RemoteLeaders.own_words(space.full(1, len(route.names), np.int64)))
        space.parallel_for(local, find_handle, *place, leaders, rounds)
        weights, others = route.fetch([rounds.cluster_weight, rounds.others])
        ids = converted(space, graph.local.global_ids, np.int64)
        self.csr = self.csr.replaced(global_ids=joined(space, ids, route.names))
        self.rounds = rounds.replaced(
            cluster_weight=joined(space, rounds.cluster_weight[:local], weights),
            others=joined(space, rounds.others[:local], others))

    def list_next(self, then: Any) -> None:
        """List the vertices of the next round, or those that are single in the end."""
        self.spare.own_words.array[:] = 0
        if then is list_rest:
            self.space.parallel_for(self.num_listed(), then, self.csr, self.rounds, self.listed,
                                    self.spare)
        else:
            self.space.parallel_for(self.own, then, self.csr, self.rounds, self.spare)
        self.listed, self.spare = self.spare, self.listed

    def numbered(self) -> RankClusters:
        """Number the clusters in the order of their leaders."""
        space, graph, comm = self.space, self.graph, self.graph.comm
        leads = self.lead[: self.own] == converted(
            space, graph.local.global_ids, np.int64)[: self.own]
        before = offsets_from_counts(space, leads.astype(np.int8))
        shares = space.zeros(comm.size, np.int64)
        shares[comm.rank : comm.rank + 1] = before[-1:]
        comm.all_reduce(shares, 0, comm.size, "sum")
        first = np.concatenate([[0], np.cumsum(space.to_host(shares))])
        route = Route(graph, self.lead)
        number, = route.fetch([before[:-1] + int(first[comm.rank])])
        result = space.empty(len(self.lead), np.int64)
        space.parallel_for(len(result), look_up, self.lead, route.names, len(route.names), number,
                           result)
        return RankClusters(result, first)


def joined(space: ExecutionSpace, values: Array, more: Array) -> Array:
    """The values of two arrays one after the other."""
    result = space.empty(len(values) + len(more), values.dtype)
    result[: len(values)] = values
    result[len(values) :] = more
    return result


@kl.kernel
def look_up(v, lead, names, count, numbers, result):
    """result[v] = the number of the cluster that v's leader leads."""
    result[v] = numbers[lower_bound(names, 0, count, lead[v])]
