"""Gains of vertices, and lists of the vertices that iterations change."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement.sizes import RefinementSizes, of_vertices
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.work import WorkRecord


class GainCache(WorkRecord):
    """The best target of each vertex and the gain of moving there.

    Attributes
    ----------
    best_target : array of int32, shape (n,)
        Below zero where a vertex touches no other block or fails Jet's filter (`gain_cache.py`).
    gain : array of int64, shape (n,)
    is_dirty : array of int32, shape (n,)
        Whether a vertex is stale, that is on the list of dirty ones.
    dirty_list : array of int32
    filter_ratio : float
        Jet's c: what share of its connectivity a move may lose.
    """

    best_target: Array = work(np.int32, of_vertices)
    gain: Array = work(np.int64, of_vertices)
    is_dirty: Array = work(np.int32, of_vertices)
    dirty_list: Array = work(np.int32, of_vertices)
    filter_ratio: float = 0.0

    dirty: int = kl.word()  # vertices whose best target is stale
    dirty_groups: int = kl.word()  # groups of these
    group: int = kl.word()  # and now
    max_in_group: int = kl.word()  # vertices in a group, at most
    marked: int = kl.word()  # vertices put on the list of dirty ones


def two_halves(size: RefinementSizes) -> int:
    """A list and the next one, side by side."""
    return 2 * size.vertices


class ActiveSets(WorkRecord):
    """Lists of the vertices that iterations touch (`active_sets.py`).

    Attributes
    ----------
    flags : array of int8, shape (n,)
        Which lists a vertex is on.
    boundary, movable_list : array of int32
        Vertices that are, or were, on a boundary; and those of them that may move.  The next list
        is in the other half.
    hub_list : array of int32
    lengths : array of int64, or None
        Of a graph that belongs to several ranks: how long lists of all ranks together were when the
        partition was evaluated last, by the constants of `active_sets.py`.
    """

    flags: Array = work(np.int8, of_vertices)
    boundary: Array = work(np.int32, two_halves)
    movable_list: Array = work(np.int32, two_halves)
    hub_list: Array = work(np.int32, lambda size: size.hubs)
    lengths: Array | None = None

    on_boundary: int = kl.word()  # of low degree, or that are or were on a boundary
    movable: int = kl.word()  # those whose best target passes the filter, and some that did
    next_movable: int = kl.word()  # those of them that the next propagation starts from
    hubs: int = kl.word()  # vertices of high degree
    boundary_begin: int = kl.word()  # where the first list begins, in one half of its array
    movable_begin: int = kl.word()  # the same for the second list
    next_on_boundary: int = kl.word()  # length of the next list
    kept: int = kl.word()  # length of the first list when it was made
    needs_compaction: int = kl.word()  # vertices of the interior must leave the first list


class UnratedList(WorkRecord):
    """Vertices whose best block is not known and has to be found.

    Attributes
    ----------
    vertices, hub_vertices : array of int32
        In any order; a hub is on both lists.
    """

    vertices: Array = work(np.int32, of_vertices)
    hub_vertices: Array = work(np.int32, lambda size: size.hubs)

    unrated: int = kl.word()  # vertices on the list
    unrated_hubs: int = kl.word()  # hubs among them
