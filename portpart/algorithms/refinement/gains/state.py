"""Gains of vertices, and lists of vertices: active ones, stale ones, those to be rated."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import Figures, RefinementSizes
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, degree_of

# Gains of vertices, and lists of the vertices that iterations change ---------------------------


class GainCache(kl.Record):
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

    best_target: Array = kl.work(np.int32, "vertices")
    gain: Array = kl.work(np.int64, "vertices")
    is_dirty: Array = kl.work(np.int32, "vertices")
    dirty_list: Array = kl.work(np.int32, "vertices")
    filter_ratio: float = 0.0

    dirty: int = kl.word()  # vertices whose best target is stale
    dirty_groups: int = kl.word()  # groups of these
    group: int = kl.word()  # and now
    max_in_group: int = kl.word()  # vertices in a group, at most
    marked: int = kl.word()  # vertices put on the list of dirty ones


def two_halves(size: RefinementSizes) -> int:
    """A list and the next one, side by side."""
    return 2 * size.vertices


class ActiveSets(kl.Record):
    """Lists of the vertices that iterations touch (`state.py`).

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
        partition was evaluated last, by the constants of `state.py`.
    """

    flags: Array = kl.work(np.int8, "vertices")
    boundary: Array = kl.work(np.int32, two_halves)
    movable_list: Array = kl.work(np.int32, two_halves)
    hub_list: Array = kl.work(np.int32, "hubs")
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


class UnratedList(kl.Record):
    """Vertices whose best block is not known and has to be found.

    Attributes
    ----------
    vertices, hub_vertices : array of int32
        In any order; a hub is on both lists.
    """

    vertices: Array = kl.work(np.int32, "vertices")
    hub_vertices: Array = kl.work(np.int32, "hubs")

    unrated: int = kl.word()  # vertices on the list
    unrated_hubs: int = kl.word()  # hubs among them


# The vertices that iterations touch, listed once each, in any order ----------------------------
#
# One list has all that are, or were, on a boundary; now and then vertices that are in the interior
# again are removed.  Few of the others are movable: their best target passes Jet's filter, or they
# lose nothing.  These are on a second list, which label propagation visits and rids of vertices
# that
# are no longer movable.  What a list keeps goes to the other half of its array.


ON_BOUNDARY = 1
"""Flag of a vertex on the first list."""

IS_MOVABLE = 2
"""Flag of a vertex on the list of movable ones."""

WAS_ON_BOUNDARY = 4
"""Flag of a vertex that the first list is rid of: it may be on a boundary of the best partition."""

FEW = 2**15
"""A list of this many vertices is looked through quickly."""

LONG = 2**14
"""A list of more vertices is processed by single lanes, if none has many neighbours: this many
vertices at once hide latencies.  Vertices of a short one are done sooner by several lanes each.
"""

MANY = 2**18
"""From a list of more vertices, the ones that a rebalancing is about are gathered first.  Few lanes
of every warp would have much to do, while the others wait; and each warp would add to the same
word, which takes longer than all the rest.
"""

NONE = -1

MOVABLE, MARKED, LISTED, KEPT = range(4)
"""Places in `ActiveSets.lengths`: movable vertices that have been kept, vertices that are marked as
stale, the first list, and what it kept."""

NUM_LENGTHS = 4


@kl.device
def uses_lanes(one_lane, length, figures: Figures):
    """Whether a list of that length is work for single lanes, or for teams, as asked."""
    return kl.int64(length > figures.long) == one_lane


@kl.device
def list_on_boundary(v, active: ActiveSets):
    """Put v on the list of vertices on a boundary, once."""
    if active.flags[v] & ON_BOUNDARY == 0:
        active.flags[v] |= kl.int8(ON_BOUNDARY)
        place = kl.atomic_next(active, ActiveSets.on_boundary)
        active.boundary[active.boundary_begin + place] = kl.int32(v)


@kl.device
def boundary_vertex(i, active: ActiveSets):
    """Vertex i of the first list."""
    return active.boundary[active.boundary_begin + i]


@kl.device
def reset_flags(v, active: ActiveSets):
    """Vertex v is on no list."""
    active.flags[v] = kl.int8(0)


@kl.device
def has_low_degree(v, graph: Csr, figures: Figures):
    """Whether v leaves a heavy block for little: such vertices are always listed."""
    return 2 * (kl.int64(graph.end[v]) - kl.int64(graph.begin[v])) <= figures.mean_degree


@kl.device
def may_move(target, gain):
    """Whether a vertex of the first list belongs on the second, by what the cache holds of it."""
    return target >= 0 or gain >= 0


@kl.device
def list_movable(v, active: ActiveSets):
    """Put v on the list of movable vertices, once."""
    if active.flags[v] & IS_MOVABLE == 0:
        active.flags[v] |= kl.int8(IS_MOVABLE)
        place = kl.atomic_next(active, ActiveSets.movable)
        active.movable_list[active.movable_begin + place] = kl.int32(v)


@kl.device
def movable_vertex(i, active: ActiveSets):
    """Vertex i of the list of movable ones."""
    return active.movable_list[active.movable_begin + i]


@kl.device
def list_movable_at(place, v, active: ActiveSets):
    """Put v at a place of the lists of movable vertices, which lie side by side."""
    active.movable_list[place] = kl.int32(v)


@kl.device
def keep_if_movable(v, cache: GainCache, active: ActiveSets, figures: Figures):
    """Carry v over to the next list of movable vertices, if it still is one."""
    if may_move(cache.best_target[v], cache.gain[v]):
        begin = figures.vertices - active.movable_begin
        place = kl.atomic_next(active, ActiveSets.next_movable)
        active.movable_list[begin + place] = kl.int32(v)
    else:
        active.flags[v] = kl.int8(ON_BOUNDARY)


@kl.kernel
def keep_movable(i, cache: GainCache, active: ActiveSets, figures: Figures):
    """Carry movable vertex i over to the next list, if it still is one."""
    keep_if_movable(movable_vertex(i, active), cache, active, figures)


@kl.device
def swap_movable(active: ActiveSets, figures: Figures):
    """The list of movable vertices that has been kept takes the place of the other."""
    active.movable = active.next_movable
    active.next_movable = 0
    active.movable_begin = figures.vertices - active.movable_begin


@kl.device
def is_idle(cache: GainCache, active: ActiveSets, lengths):
    """Whether no vertex can move any more: none is movable, and none has to be examined."""
    return (kl.value_or(lengths, MOVABLE, active.movable) == 0
            and kl.value_or(lengths, MARKED, cache.marked) == 0)


@kl.device
def are_few(active: ActiveSets):
    """Whether the first list is looked through quickly."""
    return kl.value_or(active.lengths, LISTED, active.on_boundary) <= FEW


@kl.device
def plan_tidying(active: ActiveSets, lengths):
    """Interior vertices are removed from the first list if it is much longer than what it kept."""
    listed = kl.value_or(lengths, LISTED, active.on_boundary)
    active.needs_compaction = kl.int64(
        listed > FEW and listed > 2 * kl.value_or(lengths, KEPT, active.kept))


@kl.device
def turn_on_boundary(active: ActiveSets, figures: Figures):
    """The first list that has been kept takes the place of the other."""
    active.on_boundary = active.next_on_boundary
    active.kept = active.next_on_boundary
    active.next_on_boundary = 0
    active.boundary_begin = figures.vertices - active.boundary_begin


@kl.kernel
def keep_on_boundary(i, graph: Csr, cache: GainCache, active: ActiveSets, figures: Figures):
    """Carry vertex i over to the next list, unless it is in the interior and on no other."""
    v = boundary_vertex(i, active)
    inside = cache.best_target[v] == NONE and active.flags[v] & IS_MOVABLE == 0
    if inside and not has_low_degree(v, graph, figures):
        active.flags[v] = kl.int8(WAS_ON_BOUNDARY)
    else:
        begin = figures.vertices - active.boundary_begin
        place = kl.atomic_next(active, ActiveSets.next_on_boundary)
        active.boundary[begin + place] = v


# The list of vertices whose best target is stale, and the state of a reset vertex --------------


ENOUGH_GROUPS = 2048
"""Teams to look through a list at the same time: more would take turns on a GPU."""


@kl.device
def mark_dirty(v, cache: GainCache):
    """Put v on the list of vertices to refresh, once."""
    if kl.atomic_load(cache.is_dirty, v) == 0:
        if kl.atomic_cas(cache.is_dirty, v, kl.int32(0), kl.int32(1)) == 0:
            cache.dirty_list[kl.atomic_next(cache, GainCache.marked)] = kl.int32(v)


@kl.device
def unmark(v, cache: GainCache):
    """Vertex v, which is on no list any more, is not stale."""
    cache.is_dirty[v] = kl.int32(0)


@kl.device
def never_mark(v, cache: GainCache):
    """Have `mark_dirty` pass over v."""
    cache.is_dirty[v] = kl.int32(1)


@kl.device
def reset_gain(v, cache: GainCache):
    """Nothing is known of v, which is on no list."""
    cache.best_target[v] = kl.int32(NONE)
    cache.gain[v] = 0
    unmark(v, cache)


@kl.device
def empty_marked(cache: GainCache):
    """No vertex is marked any more, or all that are have been dealt with."""
    cache.marked = 0


@kl.device
def plan_refreshing(cache: GainCache):
    """Marked vertices are stale; set how a team shares them."""
    cache.dirty = cache.marked
    cache.group = max(1, min(cache.max_in_group, cache.marked // ENOUGH_GROUPS))
    cache.dirty_groups = (cache.marked + cache.group - 1) // cache.group
    empty_marked(cache)


# The list of vertices whose best block has to be found -----------------------------------------


@kl.device
def add_unrated(v, unrated: UnratedList):
    """List v, which no other list has.  Atomic; the order of the list is free."""
    unrated.vertices[kl.atomic_next(unrated, UnratedList.unrated)] = kl.int32(v)


@kl.device
def list_unrated(v, graph: Csr, unrated: UnratedList, figures: Figures):
    """List v, on both lists if it is a hub.  Atomic; the order of the lists is free."""
    add_unrated(v, unrated)
    if degree_of(v, graph) > figures.hub_degree:
        unrated.hub_vertices[kl.atomic_next(unrated, UnratedList.unrated_hubs)] = kl.int32(v)


@kl.device
def empty_unrated(unrated: UnratedList):
    """No vertex is listed."""
    unrated.unrated = 0
    unrated.unrated_hubs = 0
