"""The vertices that iterations touch, listed once each, in any order.

One list has all that are, or were, on a boundary; now and then it is rid of those that are in the
interior again.  Few of the others are movable: their best target passes Jet's filter, or they
lose nothing.  Those are on a second list, which label propagation goes through and rids of the ones
that are movable no longer.  What a list keeps goes to the other half of its array.
"""

from __future__ import annotations

from portpart.algorithms.refinement.state import (
    ActiveSets,
    ActiveWords,
    Figures,
    GainCache,
    Level,
    Run,
)
from portpart.backends.language import atomic_next, device, int8, int32, int64, kernel
from portpart.graphs.rows import Csr

ON_BOUNDARY = 1
"""Flag of a vertex on the first list."""

IS_MOVABLE = 2
"""Flag of a vertex on the list of movable ones."""

WAS_ON_BOUNDARY = 4
"""Flag of a vertex that the first list is rid of: it may be on a boundary of the best partition."""

FEW = 2**15
"""A list of so many vertices is looked through in no time."""

LONG = 2**14
"""A list of more vertices is gone through by single lanes, if none has many neighbours: so many
vertices at once hide what each waits for.  Of a short one each vertex is done sooner by several."""

MANY = 2**18
"""From a list of more vertices, those that a rebalancing is about are gathered first.  Few lanes of
every warp would have much to do, while the others wait; and each warp would add to the same word,
which takes longer than all the rest."""

BATCH = 256
"""Vertices that a team gathers from before it adds to that word."""

NONE = -1


@device
def is_for(one_lane, length, level: Figures):
    """Whether a list of that length is work for single lanes, or for teams, as asked."""
    return int64(length > level.long) == one_lane


@device
def list_on_boundary(v, active: ActiveSets, level: ActiveWords):
    """Put v on the list of vertices on a boundary, once."""
    if active.flags[v] & ON_BOUNDARY == 0:
        active.flags[v] |= int8(ON_BOUNDARY)
        place = atomic_next(level, ActiveWords.on_boundary)
        active.boundary[level.boundary_begin + place] = int32(v)
    return v


@device
def boundary_vertex(i, active: ActiveSets, level: ActiveWords):
    """Vertex i of the first list."""
    return active.boundary[level.boundary_begin + i]


@device
def has_low_degree(v, graph: Csr, level: Figures):
    """Whether v leaves a heavy block for little: such vertices are always listed."""
    return 2 * (int64(graph.end[v]) - int64(graph.begin[v])) <= level.mean_degree


@device
def is_movable(v, cache: GainCache):
    """Whether v, which is on the first list, belongs on the second."""
    return cache.best_target[v] >= 0 or cache.gain[v] >= 0


@device
def list_movable(v, active: ActiveSets, level: ActiveWords):
    """Put v on the list of movable vertices, once."""
    if active.flags[v] & IS_MOVABLE == 0:
        active.flags[v] |= int8(IS_MOVABLE)
        place = atomic_next(level, ActiveWords.movable)
        active.movable[level.movable_begin + place] = int32(v)
    return v


@device
def movable_vertex(i, active: ActiveSets, level: ActiveWords):
    """Vertex i of the list of movable ones."""
    return active.movable[level.movable_begin + i]


@device
def keep_if_movable(v, cache: GainCache, active: ActiveSets, level: Level):
    """Carry v over to the next list of movable vertices, if it still is one."""
    if is_movable(v, cache):
        begin = level.vertices - level.movable_begin
        place = atomic_next(level, Level.next_movable)
        active.movable[begin + place] = int32(v)
    else:
        active.flags[v] = int8(ON_BOUNDARY)
    return v


@kernel
def keep_movable(i, run: Run):
    """Carry movable vertex i over to the next list, if it still is one."""
    keep_if_movable(movable_vertex(i, run.active, run.level), run.cache, run.active, run.level)


@device
def turn_movable(level: Level):
    """The list of movable vertices that has been kept takes the place of the other."""
    level.movable = level.next_movable
    level.next_movable = 0
    level.movable_begin = level.vertices - level.movable_begin
    return level.movable


@device
def is_at_rest(level: Level):
    """Whether nobody can move any more: no vertex is movable, and none is to be looked at."""
    return level.movable == 0 and level.marked == 0


@device
def is_crowded(level: ActiveWords):
    """Whether the first list has become much longer than what it kept."""
    return level.on_boundary > FEW and level.on_boundary > 2 * level.kept


@device
def plan_gathering(level: Level):
    """Set the work sizes of the two ways to go through the first list for a rebalancing.

    Until then each vertex that is marked as dirty may be put on the list.
    """
    listed = level.on_boundary + level.marked
    gathers = listed > level.many_on_boundary
    level.single = 0 if gathers else listed
    level.batches = (listed + BATCH - 1) // BATCH if gathers else 0
    return listed


@kernel
def keep_on_boundary(i, graph: Csr, run: Run):
    """Carry vertex i over to the next list, unless it is in the interior and on no other."""
    v = boundary_vertex(i, run.active, run.level)
    inside = run.cache.best_target[v] == NONE and run.active.flags[v] & IS_MOVABLE == 0
    if inside and not has_low_degree(v, graph, run.level):
        run.active.flags[v] = int8(WAS_ON_BOUNDARY)
    else:
        begin = run.level.vertices - run.level.boundary_begin
        place = atomic_next(run.level, Level.next_on_boundary)
        run.active.boundary[begin + place] = v


@kernel
def turn_boundary(_, run: Run):
    """The list that has been kept takes the place of the other."""
    run.level.on_boundary = run.level.next_on_boundary
    run.level.kept = run.level.next_on_boundary
    run.level.next_on_boundary = 0
    run.level.boundary_begin = run.level.vertices - run.level.boundary_begin
    plan_gathering(run.level)
