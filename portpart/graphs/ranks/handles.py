"""Handles: local numbers of vertices of any rank, by which arrays have elements for them.

The handles of own vertices and ghosts are their local numbers in the rows of the rank.  Remote
vertices follow, in the order in which they became known.
"""

from __future__ import annotations

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import distinct, flag_label
from portpart.graphs.ranks.rank_rows import DistributedGraph

UNKNOWN = -1


class VertexHandles(kl.Record):
    """Vertices that have handles.

    Attributes
    ----------
    ghosts : NameIndex
        The names of ghosts.
    remote : array of int32 or int64
        Names of remote vertices, ascending.
    handles : array of int32
        Their handles.
    low, own : int
        The first own vertex, and the number of own vertices.
    num_ghosts, num_remote : int
    """

    ghosts: primitives.NameIndex
    remote: Array
    handles: Array
    low: int = kl.word()
    own: int = kl.word()
    num_ghosts: int = kl.word()
    num_remote: int = kl.word()


class Identities(kl.Record):
    """Names and ids of vertices, by their handles.

    Attributes
    ----------
    names, global_ids : array of int32 or int64
    """

    names: Array
    global_ids: Array


class Handles:
    """The handles of a rank.

    Parameters
    ----------
    graph : DistributedGraph
    max_remote : int
        Maximum number of vertices that are neither own nor ghosts.

    Attributes
    ----------
    names : array of int32 or int64
        The name of each handle; the array may be longer.
    global_ids : array of int32 or int64
        The global id of each handle; the same array if these are the names.
    count : int
        Number of handles.
    capacity : int
        Maximum number of handles.
    """

    def __init__(self, graph: DistributedGraph, max_remote: int) -> None:
        self.graph, self.space, self.local = graph, graph.space, len(graph.names)
        self.count, self.capacity = self.local, self.local + max_remote
        self.names: Array = self._longer(graph.names, self.capacity)
        self._moved_ids: Array | None = None
        if graph.are_moved:
            self._moved_ids = self._longer(graph.global_ids, self.capacity)
        self._ghosts = primitives.name_index(self.space, graph.ghost_names,
                                             graph.totals.num_vertices)
        self._list_remote()

    @property
    def global_ids(self) -> Array:
        """The global id of each handle; the array may be longer."""
        return self.names if self._moved_ids is None else self._moved_ids

    @property
    def identities(self) -> Identities:
        """Names and global ids, for kernels."""
        return Identities(self.names, self.global_ids)

    @property
    def remote(self) -> Array:
        """The names of vertices that are neither own nor ghosts, in the order of handles."""
        return self.names[self.local : self.count]

    def of(self, names: Array, global_ids: Array | None = None) -> Array:
        """Return the handles of vertices; vertices without a handle get one.

        Parameters
        ----------
        names : array of int32 or int64
        global_ids : array of int32 or int64, optional
            Needed if they differ from names and vertices may have no handle.
        """
        space, result = self.space, self.space.empty(len(names), np.int32)
        if not len(names):
            return result
        unknown = space.zeros(1, np.int64)
        space.parallel_for(len(names), find_handle, names, None, self._known, result, unknown)
        if space.to_host(unknown)[0]:
            are_new = space.empty(len(names), np.int8)
            space.parallel_for(len(names), flag_label, result, UNKNOWN, are_new)
            new = primitives.positions_of(space, are_new)
            self._append(distinct(space, primitives.gather(space, names, new)))
            space.parallel_for(len(new), find_handle, names, new, self._known, result, unknown)
            if self._moved_ids is not None:
                space.parallel_for(len(new), enter_id, new, result, global_ids, self._moved_ids)
        return result

    def _longer(self, values: Array, length: int) -> Array:
        """Return the values in an array of at least this length; the same array if it suffices."""
        if length == len(values):
            return values
        result = self.space.empty(length, values.dtype)
        self.space.parallel_for(len(values), primitives.copy_one, values, result)
        return result

    def _append(self, names: Array) -> None:
        count = self.count + len(names)
        if count > self.capacity:
            self.capacity = 2 * count
            self.names = self._longer(self.names, self.capacity)
            if self._moved_ids is not None:
                self._moved_ids = self._longer(self._moved_ids, self.capacity)
        self.names[self.count : count] = names
        self.count = count
        self._list_remote()

    def _list_remote(self) -> None:
        graph, space = self.graph, self.space
        ordered, order = self.remote, space.empty(len(self.remote), np.int32)
        if len(ordered):
            ordered, order = primitives.sort_keys(space, ordered)
        space.parallel_for(len(order), shift_number, order, self.local)
        words = [int(graph.first[graph.comm.rank]), graph.local.num_vertices, graph.num_ghosts,
                 len(ordered)]
        self._known = VertexHandles(self._ghosts, ordered, order).over(
            VertexHandles.own_words(space.asarray(np.array(words))))


@kl.kernel
def find_handle(number, names, places, known: VertexHandles, handles, unknown):
    """Write the handle of the vertex at this place, or UNKNOWN; then unknown[0] = 1.  All threads
    store the same value.
    """
    i = kl.value_or(places, number, number)
    name = kl.int64(names[i])
    handle = kl.int64(UNKNOWN)
    if name >= known.low and name < known.low + known.own:
        handle = name - known.low
    else:
        place = primitives.place_of(name, known.ghosts)
        if place < known.num_ghosts:
            if known.ghosts.names[place] == name:
                handle = known.own + place
        if handle == UNKNOWN:
            place = primitives.lower_bound(known.remote, 0, known.num_remote, name)
            if place < known.num_remote:
                if known.remote[place] == name:
                    handle = kl.int64(known.handles[place])
    if handle == UNKNOWN:
        unknown[0] = 1
    handles[i] = kl.int32(handle)


@kl.kernel
def enter_id(i, places, handles, given, global_ids):
    """Store the global id of a vertex with a new handle; all threads store the same value."""
    global_ids[handles[places[i]]] = given[places[i]]


@kl.kernel
def shift_number(i, numbers, by):
    """Add `by` to numbers[i]."""
    numbers[i] += by
