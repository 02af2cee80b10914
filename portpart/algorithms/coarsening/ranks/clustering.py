"""Clustering over several ranks: the clusters that `clustering` finds on one device.

The host runs the rounds.  Own vertices join own clusters as on one device.  In each round ranks
exchange

    chains of proposals that lead to other ranks, and their continuations, until all have ended
    requests to clusters of other ranks, and replies
    granted requests, and replies, if a cluster has too little capacity
    clusters of vertices that are ghosts elsewhere, and weights of watched clusters
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.algorithms.coarsening import ClusteringOptions, list_rest, list_single
from portpart.algorithms.coarsening.ranks.capacity import ClusterCapacity
from portpart.algorithms.coarsening.ranks.chains import (
    Chains,
    Waiting,
    begin_chain,
    end_chain,
    end_long_chain,
    extend_chain,
    follow_on,
    follow_own,
    list_exit,
    name_next,
)
from portpart.algorithms.coarsening.ranks.contraction import RankClusters, numbered
from portpart.algorithms.coarsening.ranks.groups import group_single
from portpart.algorithms.coarsening.ranks.state import State
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs.ranks import DistributedGraph, values_for_ghosts
from portpart.primitives import Message, Part, Talk, grouped


class ProposalChains:
    """The chains of proposals of a rank, followed until all of them have ended: the host's part.

    Parameters
    ----------
    state : State
        Vertices on the list have made their proposals.
    """

    def __init__(self, state: State) -> None:
        self._state, self._space, space = state, state.space, state.space
        count, _ = state.num_listed()
        self._waiting = Waiting.allocate(space, count).over(
            Waiting.own_words(space.zeros(len(Waiting.own_words.indices), np.int64)))
        self._slots = space.empty(state.own, np.int32)
        space.parallel_for(count, follow_own, state.listed, state.csr, state.rounds, self._waiting)
        self._count, num_exits, _, _ = self._lengths()
        exits = space.empty(num_exits, np.int32)
        space.parallel_for(self._count, list_exit, self._waiting, exits)
        self._exits = self._begun(exits)
        self._current, self._longer = self._exits, space.empty(0, np.int32)

    def _lengths(self) -> list[int]:
        """Return the words of waiting vertices."""
        lengths: list[int] = self._space.to_host(self._waiting.own_words.array).tolist()
        return lengths

    def decided(self, requests: Callable[[bool], Part]) -> Talk[Part]:
        """Store which vertices move.

        Parameters
        ----------
        requests : callable
            Returns the rows to send to other ranks once all chains of this one have ended, or none
            if its argument is False.

        Returns
        -------
        Part
            These rows from all ranks.
        """
        arrived: list[Part] = []
        are_sent = False
        while True:
            still_open, counts = self._still_open()
            sends = not (len(still_open) or are_sent)
            are_sent = are_sent or sends
            current = self._current
            sent = Part([current.last, current.next, current.reached], counts, order=still_open)
            received = yield Message([sent, requests(sends)], [len(still_open)])
            arriving, part = received.parts
            arrived.append(part)
            if not received.words[:, 0].any():
                return self._by_rank(arrived)
            received = yield Message([self._replies(arriving)])
            last, further, reached = received.parts[0].columns
            self._space.parallel_for(len(still_open), extend_chain, still_open,
                                     Chains(last, further, reached), current)

    def _begun(self, ids: Array) -> Chains:
        """Return the chains of some waiting vertices."""
        state, kind = self._state, self._state.handles.names.dtype
        count = len(ids)
        chains = Chains(*(self._space.empty(count, each) for each in (kind, kind, np.int32)))
        self._space.parallel_for(count, begin_chain, ids, self._waiting, state.handles.identities,
                                 state.rounds, chains, self._slots)
        return chains

    def _still_open(self) -> tuple[Array, np.ndarray]:
        """Return chains to send to the owners of their next vertices, in the order of these, and
        how many each owner gets; if there are none, store which vertices move.
        """
        found, counts = self._open()
        if self._current is self._exits and not len(found):
            longer = self._space.empty(self._count, np.int32)
            self._space.parallel_for(self._count, end_chain, self._waiting, self._state.rounds,
                                     self._exits, self._slots, longer)
            self._longer = longer[: self._lengths()[-1] if self._count else 0]
            self._current = self._begun(self._longer)
            found, counts = self._open()
        if not len(found):
            self._space.parallel_for(len(self._longer), end_long_chain, self._longer,
                                     self._waiting, self._state.rounds, self._current)
        return found, counts

    def _open(self) -> tuple[Array, np.ndarray]:
        space, graph, current = self._space, self._state.graph, self._current
        names = space.empty(len(current.next), current.next.dtype)
        space.parallel_for(len(names), name_next, current, names)
        return grouped(space, graph.owners.first, graph.comm.size, names)

    def _replies(self, arrived: Part) -> Part:
        last, further, reached = arrived.columns
        state = self._state
        self._space.parallel_for(len(last), follow_on, Chains(last, further, reached), state.first,
                                 state.csr, state.handles.names, state.rounds, self._exits,
                                 self._slots)
        return arrived

    def _by_rank(self, parts: list[Part]) -> Part:
        """Return the rows of several messages, one of each rank, in the order of the ranks."""
        filled = [each for each in parts if each.counts.any()]
        if len(filled) < 2:
            return (filled or parts)[0]
        rows: dict[int, tuple[Part, int, int]] = {}
        for part in filled:
            ends = part.counts.cumsum().tolist()
            rows.update((rank, (part, ends[rank] - int(part.counts[rank]), ends[rank]))
                        for rank in np.flatnonzero(part.counts).tolist())
        counts = np.sum([part.counts for part in filled], axis=0)
        columns = []
        for number, column in enumerate(filled[0].columns):
            whole, behind = self._space.empty(int(counts.sum()), column.dtype), 0
            for rank in sorted(rows):
                part, first, end = rows[rank]
                whole[behind : behind + end - first] = part.columns[number][first:end]
                behind += end - first
            columns.append(whole)
        return Part(columns, counts)


NO_LIMIT = 2**62


def cluster_ranks(graph: DistributedGraph, max_weight: int, seed: int,
                  options: ClusteringOptions, label: Array | None = None) -> Talk[RankClusters]:
    """Return clusters of at most `max_weight`, the same as on one device.

    Parameters
    ----------
    graph : DistributedGraph
    max_weight : int
        Maximum weight of a cluster of several vertices.
    seed : int
        Breaks ties.
    options : ClusteringOptions
        Without rounds of improvement.
    label : array of int32, shape (own vertices,), optional
        Only vertices of equal label share a cluster.  Ghosts receive theirs once.

    Raises
    ------
    InputError
        If there are rounds of improvement.
    """
    if options.improve_rounds:
        raise InputError("clustering over several ranks has no rounds of improvement")
    state = State(graph, max_weight, seed, label)
    if state.rounds.label is not None:
        yield from send_labels(state, state.rounds.label)
    left = 0
    for turn in range(options.join_rounds):
        if turn == 0:
            state.propose_among_single()
        else:
            state.propose_among_clusters(state.rounds)
        moves, capacity = ProposalChains(state), ClusterCapacity(state, turn)
        arrived = yield from moves.decided(capacity.requests)
        yield from capacity.admitted(arrived)
        last = turn + 1 == options.join_rounds
        left = yield from capacity.update_ghosts(list_single if last else list_rest)
    are_many = 1000 * left > int(1000 * options.max_left) * graph.totals.num_vertices
    if are_many:
        state.propose_among_clusters(state.rounds.replaced(max_weight=NO_LIMIT))
        yield from group_single(state)
    return (yield from numbered(state, not are_many))


def send_labels(state: State, labels: Array) -> Talk[None]:
    """Send the labels of own vertices to their ghosts."""
    received = yield Message([values_for_ghosts(state.space, state.graph.halo, [labels])])
    labels[state.own : state.local] = received.parts[0].columns[0]
