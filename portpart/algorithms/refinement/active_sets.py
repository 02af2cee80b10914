"""The vertices that iterations touch, listed once each, in any order.

One list has all that are, or were, on a boundary; now and then it is rid of those that are in the
interior again.  Few of the others are eager: their best destination passes Jet's filter, or they
lose nothing.  Those are on a second list, which label propagation goes through and rids of the ones
that are eager no longer.  What a list keeps goes to the other half of its array.
"""

from __future__ import annotations

from portpart.algorithms.refinement.state import ActiveSets, GainCache, Level, Run
from portpart.backends.language import atomic_next, device, int8, int32, int64, kernel
from portpart.graphs.rows import Csr

ON_BOUNDARY = 1
"""Flag of a vertex on the first list."""

IS_EAGER = 2
"""Flag of a vertex on the list of eager ones."""

WAS_LISTED = 4
"""Flag of a vertex that the first list is rid of: it may be on a boundary of the best partition."""

FEW = 2**15
"""A list of so many vertices is looked through in no time."""

LONG = 2**14
"""A list of more vertices is gone through by lone lanes, if none has many neighbours: so many
vertices at once hide what each waits for.  Of a short one each vertex is done sooner by several."""

MANY = 2**18
"""From a list of more vertices, those that a rebalancing is about are gathered first.  Few lanes of
every warp would have much to do, while the others wait; and each warp would add to the same word,
which takes longer than all the rest."""

BATCH = 256
"""Vertices that a team gathers from before it adds to that word."""

NONE = -1


@device
def is_for(lone, length, level: Level):
    """Whether a list of that length is work for lone lanes, or for teams, as asked."""
    return int64(length > level.long) == lone


@device
def list_vertex(v, active: ActiveSets, level: Level):
    """Put v on the list of vertices on a boundary, once."""
    if active.flags[v] & ON_BOUNDARY == 0:
        active.flags[v] |= int8(ON_BOUNDARY)
        place = atomic_next(level, Level.listed)
        active.boundary[level.listed_begin + place] = int32(v)
    return v


@device
def listed_vertex(i, active: ActiveSets, level: Level):
    """Vertex i of the first list."""
    return active.boundary[level.listed_begin + i]


@device
def has_low_degree(v, graph: Csr, level: Level):
    """Whether v leaves a heavy block for little: such vertices are always listed."""
    return 2 * (int64(graph.end[v]) - int64(graph.begin[v])) <= level.mean_degree


@device
def is_eager(v, cache: GainCache):
    """Whether v, which is on the first list, belongs on the second."""
    return cache.best_target[v] >= 0 or cache.gain[v] >= 0


@device
def list_eager(v, active: ActiveSets, level: Level):
    """Put v on the list of eager vertices, once."""
    if active.flags[v] & IS_EAGER == 0:
        active.flags[v] |= int8(IS_EAGER)
        place = atomic_next(level, Level.eager)
        active.movable[level.eager_begin + place] = int32(v)
    return v


@device
def eager_vertex(i, active: ActiveSets, level: Level):
    """Vertex i of the list of eager ones."""
    return active.movable[level.eager_begin + i]


@device
def keep_if_eager(v, cache: GainCache, active: ActiveSets, level: Level):
    """Carry v over to the next list of eager vertices, if it still is one."""
    if is_eager(v, cache):
        begin = level.vertices - level.eager_begin
        place = atomic_next(level, Level.next_eager)
        active.movable[begin + place] = int32(v)
    else:
        active.flags[v] = int8(ON_BOUNDARY)
    return v


@kernel
def keep_eager(i, run: Run):
    """Carry eager vertex i over to the next list, if it still is one."""
    keep_if_eager(eager_vertex(i, run.active, run.level), run.cache, run.active, run.level)


@device
def turn_eager(level: Level):
    """The list of eager vertices that has been kept takes the place of the other."""
    level.eager = level.next_eager
    level.next_eager = 0
    level.eager_begin = level.vertices - level.eager_begin
    return level.eager


@device
def is_crowded(level: Level):
    """Whether the first list has become much longer than what it kept."""
    return level.listed > FEW and level.listed > 2 * level.kept


@device
def plan_gathering(level: Level):
    """Set the work sizes of the two ways to go through the first list for a rebalancing.

    Until then each vertex that is marked as dirty may be put on the list.
    """
    listed = level.listed + level.marked
    gathers = listed > level.many_listed
    level.single = 0 if gathers else listed
    level.batches = (listed + BATCH - 1) // BATCH if gathers else 0
    return listed


@kernel
def keep_on_boundary(i, graph: Csr, run: Run):
    """Carry vertex i over to the next list, unless it is in the interior and on no other."""
    v = listed_vertex(i, run.active, run.level)
    inside = run.cache.best_target[v] == NONE and run.active.flags[v] & IS_EAGER == 0
    if inside and not has_low_degree(v, graph, run.level):
        run.active.flags[v] = int8(WAS_LISTED)
    else:
        begin = run.level.vertices - run.level.listed_begin
        place = atomic_next(run.level, Level.next_listed)
        run.active.boundary[begin + place] = v


@kernel
def turn_boundary(_, run: Run):
    """The list that has been kept takes the place of the other."""
    run.level.listed = run.level.next_listed
    run.level.kept = run.level.next_listed
    run.level.next_listed = 0
    run.level.listed_begin = run.level.vertices - run.level.listed_begin
    plan_gathering(run.level)
