"""Capacity of clusters in a round of clustering over several ranks: the host's part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from portpart.algorithms.coarsening import list_rest
from portpart.algorithms.coarsening.ranks import rounds
from portpart.algorithms.coarsening.ranks.state import State
from portpart.backends.programs import Array
from portpart.graphs.ranks import owned
from portpart.primitives import Groups, Message, Part, Talk, gather, grouped, grouping, put_one


class ClusterCapacity:
    """Requests of own vertices to join clusters, and those of other ranks.

    Parameters
    ----------
    state : State
        Vertices on the list have made their proposals.
    turn : int
        The number of the round.
    """

    def __init__(self, state: State, turn: int) -> None:
        self._state, self._space, self._turn = state, state.space, turn
        self._size = state.graph.comm.size

    def requests(self, are_ready: bool) -> Part:
        """Return requests to clusters of other ranks, or none while they are not ready.

        They include requests to watch clusters whose leaders are no ghosts.
        """
        state, space, handles = self._state, self._space, self._state.handles
        kinds = [handles.names.dtype, state.weight_kind]
        if not are_ready:
            return Part([space.empty(0, handles.names.dtype), space.empty(0, np.int64)],
                        np.zeros(self._size, np.int64), kinds)
        requested = rounds.ForeignRequests.allocate(space, handles.capacity - state.own).over(
            rounds.ForeignRequests.own_words(space.zeros(1, np.int64)))
        space.parallel_for(state.num_listed()[0], rounds.request_capacity, state.listed, state.csr,
                           state.rounds, requested)
        count = sum(int(wait()[0]) for wait in [
            space.fetch(each) for each in (requested.own_words.array, handles.num_remote)])
        given = space.empty(count, handles.names.dtype)
        space.parallel_for(count, rounds.name_requested, requested, handles.names, handles.listed,
                           given)
        order, self._counts = grouped(space, state.graph.owners.first, self._size, given)
        names, weights = space.empty(len(given), given.dtype), space.empty(len(given), np.int64)
        space.parallel_for(len(given), rounds.write_request, order, given, requested, state.own,
                           names, weights)
        self._requested, self._names = requested, names
        return Part([names, weights], self._counts, kinds)

    def admitted(self, requests: Part) -> Talk[None]:
        """Move vertices to the clusters that they propose, up to their capacity."""
        state, space = self._state, self._space
        arrived = self._arrived = self._of(requests)
        self._arrived_from = requests.counts
        count = len(arrived.leaders)
        totals, overfull = space.empty(count, np.int64), space.zeros(1, np.int64)
        space.parallel_for(count, rounds.enter_request, arrived, state.rounds)
        space.parallel_for(count, rounds.reply, arrived, state.rounds, totals, overfull)
        received = yield Message([Part([totals], requests.counts, [state.weight_kind])],
                                 [int(space.to_host(overfull)[0])])
        totals, = received.parts[0].columns
        made = (space.zeros(len(totals), kind) for kind in (np.int64, np.int32, np.int64))
        replies = rounds.Replies(totals, *made)
        space.parallel_for(state.num_listed()[0], rounds.grant_requests, state.listed, state.csr,
                           state.rounds, self._requested, replies, self._turn)
        granted = None
        if received.words[:, 0].any():
            granted = yield from self._granted(replies)
        self._join(replies, granted)

    def _granted(self, replies: rounds.Replies) -> Talk[rounds.Arrived]:
        """Send granted requests to owners, which return the weights of clusters with these."""
        state, space = self._state, self._space
        numbers = space.empty(len(replies.sums), np.int32)
        space.parallel_for(len(numbers), rounds.number_granted, replies, numbers)
        places, counts = self._in_parts(numbers, self._counts)()
        received = yield Message([Part([self._names, replies.sums], counts,
                                       [self._names.dtype, state.weight_kind], places)])
        part = received.parts[0]
        arrived = self._of(part)
        totals = space.empty(len(arrived.leaders), np.int64)
        space.parallel_for(len(totals), rounds.enter_granted, arrived, state.rounds)
        space.parallel_for(len(totals), rounds.reply_granted, arrived, state.rounds, totals)
        received = yield Message([Part([totals], part.counts, [state.weight_kind])])
        space.parallel_for(len(places), put_one, places, received.parts[0].columns[0],
                           replies.granted)
        return arrived

    def _in_parts(self, numbers: Array, lengths: np.ndarray) -> Callable[[], Groups]:
        """Begin to find the numbers that are not negative, and how many are in parts of these
        lengths of all numbers.
        """
        firsts = self._space.asarray(np.concatenate([[0], lengths.cumsum()]))
        return grouping(self._space, firsts, self._size, numbers)

    def _of(self, requests: Part) -> rounds.Arrived:
        names, weights = requests.columns
        return rounds.Arrived(owned(self._state.graph, names), weights)

    def _join(self, replies: rounds.Replies, granted: rounds.Arrived | None) -> None:
        """Move own vertices to clusters of all ranks, and those of other ranks to own clusters."""
        state, space = self._state, self._space
        space.parallel_for(state.num_listed()[0], rounds.join_clusters, state.listed, state.csr,
                           state.rounds, self._requested, replies, self._turn + 1)
        for arrived, of_granted in ((self._arrived, 0), (granted, 1)):
            if arrived is not None:
                space.parallel_for(len(arrived.leaders), rounds.admit_request, arrived,
                                   state.rounds, of_granted, self._turn + 1)

    def update_ghosts(self, then: Any) -> Talk[int]:
        """Update ghosts, and list the vertices of the next round, or single ones after the last
        round, by a kernel.

        Returns
        -------
        int
            The number of these vertices on all ranks.
        """
        state, space = self._state, self._space
        if then is list_rest:
            space.parallel_for(state.num_listed()[0], rounds.reset_listed, state.listed,
                               state.rounds)
            space.parallel_for(len(self._arrived.leaders), rounds.reset_requests, self._arrived,
                               state.rounds)
        watched, items = self._watched(), self._items()  # the host waits once for all three
        state.list_next(then)
        received = yield Message([items(), watched()], [state.num_listed()[0]])
        enter_items(state, received.parts[0])
        names, weights = received.parts[1].columns
        space.parallel_for(len(names), rounds.enter_weight, state.handles.of(names), weights,
                           state.rounds)
        return int(received.words[:, 0].sum())

    def _watched(self) -> Callable[[], Part]:
        """Begin to list own clusters that other ranks watch and that vertices have joined."""
        state, space, arrived = self._state, self._space, self._arrived
        numbers = space.empty(len(arrived.leaders), np.int32)
        space.parallel_for(len(numbers), rounds.number_changed, arrived, state.rounds,
                           self._turn + 1, numbers)
        grouped_later = self._in_parts(numbers, self._arrived_from)

        def listed() -> Part:
            places, counts = grouped_later()
            return Part([state.handles.names, state.rounds.cluster_weight], counts,
                        [state.handles.names.dtype, state.weight_kind],
                        gather(space, arrived.leaders, places))

        return listed

    def _items(self) -> Callable[[], Part]:
        """Begin to update ghosts of vertices that have joined clusters, or that lead these."""
        state, space, graph = self._state, self._space, self._state.graph
        found = space.zeros(1 + self._size, np.int64)
        border = state.border.over(rounds.Border.own_words(found[:1]))
        space.parallel_for(graph.halo.num_border, rounds.list_changed, border, state.rounds,
                           self._turn + 1, graph.halo, found[1:])
        arrived = space.fetch(found)

        def written() -> Part:
            length, counts = int((read := arrived())[0]), read[1:].copy()
            total, kind = int(counts.sum()), state.handles.names.dtype
            columns = [space.empty(total, np.int32), space.empty(total, kind),
                       space.empty(total, np.int64)]
            kinds = [np.int32, kind, state.weight_kind]
            if graph.are_moved:
                columns.append(space.empty(total, kind))
                kinds.append(kind)
            next_item = space.asarray(np.cumsum(counts) - counts)
            space.parallel_for(length, rounds.write_items.bound(are_moved=graph.are_moved), border,
                               graph.halo, state.handles.identities, state.rounds, next_item,
                               rounds.GhostItems(*columns))
            return Part(columns, counts, kinds)

        return written


def enter_items(state: State, part: Part) -> None:
    """Update ghosts by items that have arrived."""
    space, handles = state.space, state.handles
    items = rounds.GhostItems(*part.columns)
    firsts = space.asarray(np.concatenate([[0], np.cumsum(part.counts)]))
    found = handles.of(items.leaders, items.leader_ids)
    space.parallel_for(len(found), rounds.enter_ghost, firsts, len(part.counts), state.graph.halo,
                       items, found, state.rounds)
    if state.rounds.label is not None:
        space.parallel_for(len(found), rounds.label_leader, firsts, len(part.counts),
                           state.graph.halo, items, found, state.rounds.label)
