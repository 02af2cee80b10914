"""Gains of vertices, and lists of active, stale and unrated vertices."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import Figures, RefinementSizes
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, degree_of

# Gains of vertices, and lists of the vertices that iterations visit ----------------------------


class GainCache(kl.Record):
    """The best target of each vertex and the gain of moving there.

    Attributes
    ----------
    best_target : array of int32, shape (n,)
        Below zero if a vertex is connected to no other block or fails Jet's filter
        (`gain_cache.py`).
    gain : array of int64, shape (n,)
    is_dirty : array of int32, shape (n,)
        Whether a vertex is stale, that is, on `dirty_list`.
    dirty_list : array of int32
    filter_ratio : float
        Jet's c: the share of the connectivity to its block that a move may lose.
    """

    best_target: Array = kl.work(np.int32, "vertices")
    gain: Array = kl.work(np.int64, "vertices")
    is_dirty: Array = kl.work(np.int32, "vertices")
    dirty_list: Array = kl.work(np.int32, "vertices")
    filter_ratio: float = 0.0

    dirty: int = kl.word()  # vertices whose best target is stale
    dirty_groups: int = kl.word()  # groups of stale vertices
    group: int = kl.word()  # vertices in a group now
    max_in_group: int = kl.word()  # vertices in a group, at most
    marked: int = kl.word()  # vertices put on `dirty_list`


def two_halves(size: RefinementSizes) -> int:
    """Return the length of a list and the next one, stored side by side."""
    return 2 * size.vertices


class ActiveSets(kl.Record):
    """Lists of the vertices that iterations visit.

    Attributes
    ----------
    flags : array of int8, shape (n,)
        The lists that a vertex is on.
    boundary, movable_list : array of int32
        Vertices that are or were on a boundary, and movable ones among them.  The next list is in
        the other half.
    hub_list : array of int32
    lengths : array of int64, or None
        For a graph on several ranks: total lengths of the lists of all ranks at the last
        evaluation, at the places MOVABLE, MARKED, LISTED and KEPT.
    """

    flags: Array = kl.work(np.int8, "vertices")
    boundary: Array = kl.work(np.int32, two_halves)
    movable_list: Array = kl.work(np.int32, two_halves)
    hub_list: Array = kl.work(np.int32, "hubs")
    lengths: Array | None = None

    on_boundary: int = kl.word()  # vertices of low degree, or that are or were on a boundary
    movable: int = kl.word()  # vertices whose best target passes the filter, or did so
    next_movable: int = kl.word()  # movable vertices that the next propagation starts from
    hubs: int = kl.word()  # vertices of high degree
    boundary_begin: int = kl.word()  # where `boundary` begins, in one half of its array
    movable_begin: int = kl.word()  # where `movable_list` begins
    next_on_boundary: int = kl.word()  # length of the next `boundary`
    kept: int = kl.word()  # length of `boundary` when it was last compacted
    needs_compaction: int = kl.word()  # interior vertices must be removed from `boundary`


class UnratedList(kl.Record):
    """Vertices whose best block must be computed.

    Attributes
    ----------
    vertices, hub_vertices : array of int32
        In any order; a hub is on both lists.
    """

    vertices: Array = kl.work(np.int32, "vertices")
    hub_vertices: Array = kl.work(np.int32, "hubs")

    unrated: int = kl.word()  # vertices on the list
    unrated_hubs: int = kl.word()  # hubs among them


# The vertices that iterations visit, listed once each, in any order ----------------------------
#
# The first list has all vertices that are or were on a boundary; vertices that are in the interior
# again are removed from time to time.  Few of these vertices are movable: their best target passes
# Jet's filter, or the move loses nothing.  Movable vertices are on a second list, which label
# propagation visits; it removes vertices that are no longer movable.  A list is compacted into the
# other half of its array.


ON_BOUNDARY = 1
"""Flag of a vertex on the first list."""

IS_MOVABLE = 2
"""Flag of a vertex on the list of movable vertices."""

WAS_ON_BOUNDARY = 4
"""Flag of a vertex removed from the first list: it may be on a boundary of the best partition."""

FEW = 2**15
"""A list of at most this many vertices is scanned quickly."""

LONG = 2**14
"""A longer list is processed by single lanes if no vertex has many neighbours, because the many
vertices at once hide latencies.  On a shorter list each vertex gets several lanes, which is faster.
"""

MANY = 2**18
"""From a longer list, the eviction candidates are gathered first.  Otherwise few lanes of each warp
would have much work while the others wait, and each warp would add to the same word, which takes
longer than all the rest.
"""

NONE = -1

MOVABLE, MARKED, LISTED, KEPT = range(4)
"""Places in `ActiveSets.lengths`: movable vertices kept, vertices marked as stale, length of the
first list, and its length when it was compacted."""

NUM_LENGTHS = 4


@kl.device
def uses_lanes(one_lane, length, figures: Figures):
    """Whether a list of this length is processed by single lanes (one_lane 1) or by teams (0)."""
    return kl.int64(length > figures.long) == one_lane


@kl.device
def list_on_boundary(v, active: ActiveSets):
    """Put v on the list of boundary vertices, once."""
    if active.flags[v] & ON_BOUNDARY == 0:
        active.flags[v] |= kl.int8(ON_BOUNDARY)
        place = kl.atomic_next(active, ActiveSets.on_boundary)
        active.boundary[active.boundary_begin + place] = kl.int32(v)


@kl.device
def boundary_vertex(i, active: ActiveSets):
    """Return vertex i of the list of boundary vertices."""
    return active.boundary[active.boundary_begin + i]


@kl.device
def reset_flags(v, active: ActiveSets):
    """Mark v as being on no list."""
    active.flags[v] = kl.int8(0)


@kl.device
def has_low_degree(v, graph: Csr, figures: Figures):
    """Whether v has at most half the mean degree.

    Such a vertex leaves an overloaded block at a small loss, so it is always listed.
    """
    return 2 * (kl.int64(graph.end[v]) - kl.int64(graph.begin[v])) <= figures.mean_degree


@kl.device
def may_move(target, gain):
    """Whether a vertex is movable, given its cached target and gain."""
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
    """Return vertex i of the list of movable vertices."""
    return active.movable_list[active.movable_begin + i]


@kl.device
def list_movable_at(place, v, active: ActiveSets):
    """Store v at a place of the two lists of movable vertices, which are side by side."""
    active.movable_list[place] = kl.int32(v)


@kl.device
def keep_if_movable(v, cache: GainCache, active: ActiveSets, figures: Figures):
    """Put v on the next list of movable vertices if it is still movable."""
    if may_move(cache.best_target[v], cache.gain[v]):
        begin = figures.vertices - active.movable_begin
        place = kl.atomic_next(active, ActiveSets.next_movable)
        active.movable_list[begin + place] = kl.int32(v)
    else:
        active.flags[v] = kl.int8(ON_BOUNDARY)


@kl.kernel
def keep_movable(i, cache: GainCache, active: ActiveSets, figures: Figures):
    """Put movable vertex i on the next list if it is still movable."""
    keep_if_movable(movable_vertex(i, active), cache, active, figures)


@kl.device
def swap_movable(active: ActiveSets, figures: Figures):
    """Replace the list of movable vertices by the next one."""
    active.movable = active.next_movable
    active.next_movable = 0
    active.movable_begin = figures.vertices - active.movable_begin


@kl.device
def is_idle(cache: GainCache, active: ActiveSets, lengths):
    """Whether no vertex can move: none is movable, and none is stale."""
    return (kl.value_or(lengths, MOVABLE, active.movable) == 0
            and kl.value_or(lengths, MARKED, cache.marked) == 0)


@kl.device
def are_few(active: ActiveSets):
    """Whether the list of boundary vertices is short enough to be scanned quickly."""
    return kl.value_or(active.lengths, LISTED, active.on_boundary) <= FEW


@kl.device
def plan_tidying(active: ActiveSets, lengths):
    """Request compaction of the first list if it is twice as long as after the last one."""
    listed = kl.value_or(lengths, LISTED, active.on_boundary)
    active.needs_compaction = kl.int64(
        listed > FEW and listed > 2 * kl.value_or(lengths, KEPT, active.kept))


@kl.device
def turn_on_boundary(active: ActiveSets, figures: Figures):
    """Replace the list of boundary vertices by the next one."""
    active.on_boundary = active.next_on_boundary
    active.kept = active.next_on_boundary
    active.next_on_boundary = 0
    active.boundary_begin = figures.vertices - active.boundary_begin


@kl.kernel
def keep_on_boundary(i, graph: Csr, cache: GainCache, active: ActiveSets, figures: Figures):
    """Put vertex i on the next list, unless it is in the interior and on no other list."""
    v = boundary_vertex(i, active)
    inside = cache.best_target[v] == NONE and active.flags[v] & IS_MOVABLE == 0
    if inside and not has_low_degree(v, graph, figures):
        active.flags[v] = kl.int8(WAS_ON_BOUNDARY)
    else:
        begin = figures.vertices - active.boundary_begin
        place = kl.atomic_next(active, ActiveSets.next_on_boundary)
        active.boundary[begin + place] = v


# The list of stale vertices, and the state of a reset vertex -----------------------------------


ENOUGH_GROUPS = 2048
"""Number of teams that examine a list at the same time; a GPU would run more one after another."""


@kl.device
def mark_dirty(v, cache: GainCache):
    """Put v on the list of stale vertices, once."""
    if kl.atomic_load(cache.is_dirty, v) == 0:
        if kl.atomic_cas(cache.is_dirty, v, kl.int32(0), kl.int32(1)) == 0:
            cache.dirty_list[kl.atomic_next(cache, GainCache.marked)] = kl.int32(v)


@kl.device
def propose_once(v, target, gain, cache: GainCache):
    """Set the target of v and its gain for this iteration; v becomes stale.  Called by one lane."""
    cache.best_target[v] = target
    cache.gain[v] = gain
    mark_dirty(v, cache)


@kl.device
def unmark(v, cache: GainCache):
    """Mark v, which is on no list, as not stale."""
    cache.is_dirty[v] = kl.int32(0)


@kl.device
def never_mark(v, cache: GainCache):
    """Make `mark_dirty` skip v."""
    cache.is_dirty[v] = kl.int32(1)


@kl.device
def reset_gain(v, cache: GainCache):
    """Reset the cache of v, which is on no list."""
    cache.best_target[v] = kl.int32(NONE)
    cache.gain[v] = 0
    unmark(v, cache)


@kl.device
def empty_marked(cache: GainCache):
    """Empty the list of marked vertices."""
    cache.marked = 0


@kl.device
def plan_refreshing(cache: GainCache):
    """Make the marked vertices the stale ones, and set how many of them a team examines."""
    cache.dirty = cache.marked
    cache.group = max(1, min(cache.max_in_group, cache.marked // ENOUGH_GROUPS))
    cache.dirty_groups = (cache.marked + cache.group - 1) // cache.group
    empty_marked(cache)


# The list of vertices whose best block must be computed ----------------------------------------


@kl.device
def add_unrated(v, unrated: UnratedList):
    """List v, which is not listed yet.  Atomic; the order of the list is arbitrary."""
    unrated.vertices[kl.atomic_next(unrated, UnratedList.unrated)] = kl.int32(v)


@kl.device
def list_unrated(v, graph: Csr, unrated: UnratedList, figures: Figures):
    """List v, on both lists if it is a hub.  Atomic; the order of the lists is arbitrary."""
    add_unrated(v, unrated)
    if degree_of(v, graph) > figures.hub_degree:
        unrated.hub_vertices[kl.atomic_next(unrated, UnratedList.unrated_hubs)] = kl.int32(v)


@kl.device
def empty_unrated(unrated: UnratedList):
    """Empty both lists."""
    unrated.unrated = 0
    unrated.unrated_hubs = 0
