"""The vertices that iterations touch, listed once each, in any order.

One list has all that are, or were, on a boundary; now and then vertices that are in the interior
again are removed.  Few of the others are movable: their best target passes Jet's filter, or they
lose nothing.  These are on a second list, which label propagation visits and rids of vertices that
are no longer movable.  What a list keeps goes to the other half of its array.
"""

from __future__ import annotations

from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache
from portpart.backends import language as kl
from portpart.graphs.rows import Csr

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
    return v


@kl.device
def boundary_vertex(i, active: ActiveSets):
    """Vertex i of the first list."""
    return active.boundary[active.boundary_begin + i]


@kl.device
def reset_flags(v, active: ActiveSets):
    """Vertex v is on no list."""
    active.flags[v] = kl.int8(0)
    return v


@kl.device
def has_low_degree(v, graph: Csr, figures: Figures):
    """Whether v leaves a heavy block for little: such vertices are always listed."""
    return 2 * (kl.int64(graph.end[v]) - kl.int64(graph.begin[v])) <= figures.mean_degree


@kl.device
def is_movable(v, cache: GainCache):
    """Whether v, which is on the first list, belongs on the second."""
    return cache.best_target[v] >= 0 or cache.gain[v] >= 0


@kl.device
def list_movable(v, active: ActiveSets):
    """Put v on the list of movable vertices, once."""
    if active.flags[v] & IS_MOVABLE == 0:
        active.flags[v] |= kl.int8(IS_MOVABLE)
        place = kl.atomic_next(active, ActiveSets.movable)
        active.movable_list[active.movable_begin + place] = kl.int32(v)
    return v


@kl.device
def movable_vertex(i, active: ActiveSets):
    """Vertex i of the list of movable ones."""
    return active.movable_list[active.movable_begin + i]


@kl.device
def list_movable_at(place, v, active: ActiveSets):
    """Put v at a place of the lists of movable vertices, which lie side by side."""
    active.movable_list[place] = kl.int32(v)
    return v


@kl.device
def keep_if_movable(v, cache: GainCache, active: ActiveSets, figures: Figures):
    """Carry v over to the next list of movable vertices, if it still is one."""
    if is_movable(v, cache):
        begin = figures.vertices - active.movable_begin
        place = kl.atomic_next(active, ActiveSets.next_movable)
        active.movable_list[begin + place] = kl.int32(v)
    else:
        active.flags[v] = kl.int8(ON_BOUNDARY)
    return v


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
    return active.movable


@kl.device
def is_idle(cache: GainCache, active: ActiveSets, lengths):
    """Whether no vertex can move any more: none is movable, and none has to be examined."""
    return (kl.value_or(lengths, MOVABLE, active.movable) == 0
            and kl.value_or(lengths, MARKED, cache.marked) == 0)


@kl.device
def should_compact(active: ActiveSets, lengths):
    """Whether the first list has become much longer than what it kept."""
    return (kl.value_or(lengths, LISTED, active.on_boundary) > FEW
            and kl.value_or(lengths, LISTED, active.on_boundary)
            > 2 * kl.value_or(lengths, KEPT, active.kept))


@kl.device
def are_few(active: ActiveSets):
    """Whether the first list is looked through quickly."""
    return kl.value_or(active.lengths, LISTED, active.on_boundary) <= FEW


@kl.device
def plan_tidying(active: ActiveSets, lengths):
    """Decide whether interior vertices are removed from the first list."""
    active.needs_compaction = kl.int64(should_compact(active, lengths))
    return active.needs_compaction


@kl.device
def turn_on_boundary(active: ActiveSets, figures: Figures):
    """The first list that has been kept takes the place of the other."""
    active.on_boundary = active.next_on_boundary
    active.kept = active.next_on_boundary
    active.next_on_boundary = 0
    active.boundary_begin = figures.vertices - active.boundary_begin
    return active.on_boundary


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
