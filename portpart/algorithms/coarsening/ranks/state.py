"""The state of a rank while clusters of a graph of several ranks are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms import coarsening
from portpart.algorithms.coarsening.ranks.rounds import Border, begin_ghost, change_handle
from portpart.backends.language import int32, int64
from portpart.backends.programs import Array
from portpart.graphs import MAX_INT32, Csr, team_for_all
from portpart.graphs.ranks import DistributedGraph, Handles
from portpart.primitives import SLOTS

NO_DEGREE = 2**31
WIDE_TEAM, TEAM = 32, 8


class State:
    """Clusters and proposals of the vertices of a rank.

    Attributes
    ----------
    first : int
        The first vertex of the rank.
    handles : Handles
        Handles of leaders.
    rounds : ClusterRounds
        Indexed by handles: clusters of own vertices and ghosts, weights of all clusters, proposals
        and requests of own vertices, and requests to them.  Labels of own vertices, and of ghosts
        once they are received.
    listed : VertexList
        Own vertices that take part in the round.
    border : Border
    weight_kind : dtype
        Type of cluster weights in messages.
    """

    def __init__(self, graph: DistributedGraph, max_weight: int, seed: int,
                 label: Array | None = None) -> None:
        self.graph, self.space, space = graph, graph.space, graph.space
        own, ghosts = graph.local.num_vertices, graph.num_ghosts
        self.own, self.local = own, own + ghosts
        self.first = int(graph.first[graph.comm.rank])
        self.handles = Handles(graph, ghosts)  # a ghost receives one leader at most
        self.weight_kind = np.dtype(
            np.int32 if graph.totals.total_vertex_weight <= MAX_INT32 else np.int64)
        longest = graph.local.max_degree
        self.sizes: coarsening.FineSizes = (
            coarsening.sizes_of(graph.local)._replace(max_degree=longest))
        capacity = self.handles.capacity
        lengths: dict[str, tuple[int, type]] = {
            "cluster": (self.local, np.int32), "proposal": (own, np.int32),
            "moves": (own, np.int8), "join_requests": (own, np.int8), "requested": (own, np.int64),
            "granted": (own, np.int64), "cluster_weight": (capacity, np.int64),
            "others": (capacity, np.int32)}
        made: dict[str, Any] = {name: space.empty(*each) for name, each in lengths.items()}
        labels = None if label is None else space.empty(capacity, np.int32)
        if labels is not None:
            labels[:own] = label
        self.rounds = coarsening.ClusterRounds(seed=seed, max_weight=max_weight, label=labels,
                                               **made).over(
            coarsening.ClusterRounds.own_words(space.zeros(3, np.int64)))
        self.rounds.own_words.array[:1] = own
        self.listed, self.spare = self._list(), self._list()
        self._num_listed: Any = None  # or a function that waits for it
        self.border = Border.allocate(space, graph.halo.num_border)
        space.parallel_for(own, coarsening.begin_single, self.csr, self.rounds)
        space.parallel_for(ghosts, begin_ghost, self.csr, self.rounds)

    @property
    def csr(self) -> Csr:
        """The rows with global ids by handles; on a single rank handles are the ids."""
        ids = None if self.graph.is_alone else self.handles.global_ids
        return self.graph.local.csr.replaced(global_ids=ids)

    def _list(self) -> coarsening.VertexList:
        return coarsening.VertexList.allocate(self.space, self.sizes).over(
            coarsening.VertexList.own_words(self.space.zeros(2, np.int64)))

    def num_listed(self) -> tuple[int, int]:
        """Return the number of vertices on the list, and of wide ones among them."""
        if not isinstance(self._num_listed, tuple):
            self._num_listed = tuple(self._num_listed().tolist())
        return self._num_listed

    def _fetch_num_listed(self) -> None:
        self._num_listed = self.space.fetch(self.listed.own_words.array)

    def propose_among_single(self) -> None:
        """List all vertices, which are single, and compute their proposals."""
        proposal = coarsening.propose_neighbour.bound(by=coarsening.HEAVY_EDGE.of_neighbours)
        self.space.parallel_for(self.own, coarsening.list_singles, self.csr, self.rounds,
                                self.listed, coarsening.MAX_NARROW)
        self._fetch_num_listed()
        self.space.parallel_for(self.own, proposal, None, self.csr, self.rounds, NO_DEGREE,
                                team=team_for_all(self.graph.local))

    def propose_among_clusters(self, rounds: coarsening.ClusterRounds) -> None:
        """Compute the proposals of the listed vertices."""
        space, (length, wide) = self.space, self.num_listed()
        rows = coarsening.HashRows.allocate(space, self.sizes).over(
            coarsening.HashRows.own_words(space.zeros(1, np.int64)))
        element = int32 if self.sizes.sum_type == np.int32 else int64
        by = coarsening.RowRating(SLOTS[self.sizes.sum_type.itemsize][WIDE_TEAM], element,
                                  coarsening.HEAVY_EDGE)
        space.parallel_for(wide, coarsening.propose_cluster_by_row.bound(by=by), self.listed.wide,
                           self.csr, rounds, rows, coarsening.MAX_NARROW, NO_DEGREE, team=WIDE_TEAM)
        space.parallel_for(length, coarsening.propose_cluster.bound(by=coarsening.HEAVY_EDGE),
                           self.listed.active, self.csr, rounds, team=TEAM)

    def reserve_handles(self, count: int) -> None:
        """Make sure that this many more leaders can get handles, which may change others."""
        changed = self.handles.reserve(count)
        if changed is not None:
            self.space.parallel_for(self.local, change_handle, changed, self.rounds)

    def list_next(self, then: Any) -> None:
        """List the vertices of the next round, or in the end the single ones."""
        self.spare.own_words.array[:] = 0
        if then is coarsening.list_rest:
            self.space.parallel_for(self.num_listed()[0], then, self.csr, self.rounds,
                                    self.listed, self.spare)
        else:
            self.space.parallel_for(self.own, then, self.csr, self.rounds, self.spare)
        self.listed, self.spare = self.spare, self.listed
        self._fetch_num_listed()
