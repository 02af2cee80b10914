"""Handles: local numbers of vertices of any rank, by which arrays have elements for them.

The handles of own vertices and ghosts are their local numbers in the rows of the rank.  Those of
remote vertices, behind these, are slots of a hash table.
"""

from __future__ import annotations

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import MAX_INT32
from portpart.graphs.ranks.rank_rows import DistributedGraph

UNKNOWN = -1

SLOTS_FOR_FOUR = 5
"""Slots of the hash table for four remote vertices."""


class VertexHandles(kl.Record):
    """Vertices that have handles.

    Attributes
    ----------
    ghosts : NameIndex
        The names of ghosts.
    names : array of int32 or int64
        The name of each handle.  From `local` on it is a hash table of remote vertices, with
        `EMPTY` where no vertex has the handle.
    listed : array of int32
        The handles of remote vertices, in any order.
    low, own : int
        The first own vertex, and the number of own vertices.
    local, end : int
        The first handle of remote vertices, and the number of handles.
    num_remote : int
        Number of remote vertices.
    """

    ghosts: primitives.NameIndex
    names: Array
    listed: Array
    low: int = kl.word()
    own: int = kl.word()
    local: int = kl.word()
    end: int = kl.word()
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
        Maximum number of vertices that are neither own nor ghosts, unless `reserve` raises it.

    Attributes
    ----------
    names : array of int32 or int64
        The name of each handle, or `EMPTY`.
    capacity : int
        Number of handles.
    """

    def __init__(self, graph: DistributedGraph, max_remote: int) -> None:
        self.graph, self.space, self.local = graph, graph.space, len(graph.names)
        self._ghosts = primitives.name_index(self.space, graph.ghost_names,
                                             graph.totals.num_vertices)
        self._make(max_remote)

    def _make(self, max_remote: int) -> None:
        """Make a table without remote vertices."""
        graph, space = self.graph, self.space
        self._max_remote, self._moved_ids = max_remote, None
        self.capacity = self.local + (SLOTS_FOR_FOUR * max_remote + 3) // 4
        self.names: Array = self._longer(graph.names)
        if graph.are_moved:
            self._moved_ids = self._longer(graph.global_ids)
        words = [int(graph.first[graph.comm.rank]), graph.local.num_vertices, self.local,
                 self.capacity, 0]
        self._known = VertexHandles(
            self._ghosts, self.names, space.empty(max_remote, np.int32)).over(
            VertexHandles.own_words(space.asarray(np.array(words))))

    def _longer(self, values: Array) -> Array:
        """Return the values for own vertices and ghosts, with slots for remote vertices."""
        if self.capacity == len(values):
            return values
        result = self.space.empty(self.capacity, values.dtype)
        self.space.parallel_for(self.capacity, begin_handle, values, self.local, result)
        return result

    @property
    def global_ids(self) -> Array:
        """The global id of each handle; the array `names` if these are the same."""
        return self.names if self._moved_ids is None else self._moved_ids

    @property
    def identities(self) -> Identities:
        """Names and global ids, for kernels."""
        return Identities(self.names, self.global_ids)

    @property
    def listed(self) -> Array:
        """The handles of remote vertices, in any order; the array may be longer."""
        return self._known.listed

    @property
    def num_remote(self) -> Array:
        """The number of remote vertices, as an array of one element."""
        return self._known.own_words.array[VertexHandles.num_remote :]

    def of(self, names: Array, global_ids: Array | None = None) -> Array:
        """Return the handles of vertices; vertices without a handle get one.

        Parameters
        ----------
        names : array of int32 or int64
        global_ids : array of int32 or int64, optional
            Needed if they differ from names and vertices may have no handle.
        """
        result, has_ids = self.space.empty(len(names), np.int32), self._moved_ids is not None
        self.space.parallel_for(
            len(names), find_handle.bound(has_ids=has_ids and global_ids is not None), names,
            global_ids if has_ids else None, self._known, self._moved_ids, result)
        return result

    def reserve(self, count: int) -> Array | None:
        """Make sure that this many more vertices can get handles.

        Returns
        -------
        array of int32, or None
            If handles have changed, the new handle for each old one that a vertex has.
        """
        space = self.space
        remote = int(space.to_host(self.num_remote)[0])
        if remote + count <= self._max_remote:
            return None
        listed = self.listed[:remote]
        names, ids = (primitives.gather(space, each, listed) for each in (self.names,
                                                                          self.global_ids))
        changed = primitives.iota(space, self.capacity)
        self._make(remote + count)
        space.parallel_for(remote, primitives.put_one, listed, self.of(names, ids), changed)
        return changed


@kl.kernel
def begin_handle(handle, given, local, values):
    """Set the value of a handle of an own vertex or a ghost; others have no vertex."""
    values[handle] = given[handle] if handle < local else kl.int64(primitives.EMPTY)


@kl.device
def known_handle(name, known: VertexHandles):
    """Return the handle of an own vertex or a ghost, or UNKNOWN."""
    handle = kl.int64(UNKNOWN)
    if name >= known.low and name < known.low + known.own:
        handle = name - known.low
    else:
        place = primitives.place_of(name, known.ghosts)
        if known.own + place < known.local:
            if known.ghosts.names[place] == name:
                handle = known.own + place
    return handle


@kl.device
def remote_handle(name, known: VertexHandles):
    """Return the handle of a remote vertex, which gets one if it has none.  Atomic."""
    handle = primitives.first_slot(name & MAX_INT32, known.local, known.end)
    found = kl.atomic_cas(known.names, handle, primitives.EMPTY, name)
    while found != primitives.EMPTY and found != name:
        handle += 1
        if handle == known.end:
            handle = known.local
        found = kl.atomic_cas(known.names, handle, primitives.EMPTY, name)
    if found == primitives.EMPTY:
        known.listed[kl.atomic_next(known, VertexHandles.num_remote)] = kl.int32(handle)
    return handle


@kl.kernel
def find_handle(i, names, given, known: VertexHandles, global_ids, handles,
                has_ids: kl.StaticValue):
    """Write the handle of vertex i, and the global id of a remote one; all threads store the same.

    Atomic; which handle a remote vertex gets depends on the order.
    """
    name = kl.int64(names[i])
    handle = known_handle(name, known)
    if handle == UNKNOWN:
        handle = remote_handle(name, known)
        if has_ids:
            global_ids[handle] = given[i]
    handles[i] = kl.int32(handle)
