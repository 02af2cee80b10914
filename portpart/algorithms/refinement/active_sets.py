"""The vertices that iterations touch, listed once each, in any order.

One list has all that are, or were, on a boundary; now and then it is rid of those that are in the
interior again.  Few of the others are eager: their best destination passes Jet's filter, or they
lose nothing.  Those are on a second list, which label propagation goes through and rids of the ones
that are eager no longer.  What a list keeps goes to the other half of its array.
"""

from __future__ import annotations

from portpart.algorithms.refinement import state as at
from portpart.backends.language import atomic_next, device, int8, int32, int64, kernel

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
def is_for(lone, length, state):
    """Whether a list of that length is work for lone lanes, or for teams, as asked."""
    return int64(length > state[at.LONG]) == lone


@device
def list_vertex(v, listed, boundary, state):
    """Put v on the list of vertices on a boundary, once."""
    if listed[v] & ON_BOUNDARY == 0:
        listed[v] |= int8(ON_BOUNDARY)
        place = atomic_next(state, at.LISTED)
        boundary[state[at.LISTED_BEGIN] + place] = int32(v)
    return v


@device
def listed_vertex(i, boundary, state):
    """Vertex i of the first list."""
    return boundary[state[at.LISTED_BEGIN] + i]


@device
def has_low_degree(v, offsets, state):
    """Whether v leaves a heavy block for little: such vertices are always listed."""
    return 2 * (int64(offsets[v + 1]) - int64(offsets[v])) <= state[at.MEAN_DEGREE]


@device
def is_eager(v, cached, gain):
    """Whether v, which is on the first list, belongs on the second."""
    return cached[v] >= 0 or gain[v] >= 0


@device
def list_eager(v, listed, eager_list, state):
    """Put v on the list of eager vertices, once."""
    if listed[v] & IS_EAGER == 0:
        listed[v] |= int8(IS_EAGER)
        place = atomic_next(state, at.EAGER)
        eager_list[state[at.EAGER_BEGIN] + place] = int32(v)
    return v


@device
def eager_vertex(i, eager_list, state):
    """Vertex i of the list of eager ones."""
    return eager_list[state[at.EAGER_BEGIN] + i]


@device
def keep_if_eager(v, cached, gain, listed, eager_list, state):
    """Carry v over to the next list of eager vertices, if it still is one."""
    if is_eager(v, cached, gain):
        begin = state[at.VERTICES] - state[at.EAGER_BEGIN]
        place = atomic_next(state, at.NEXT_EAGER)
        eager_list[begin + place] = int32(v)
    else:
        listed[v] = int8(ON_BOUNDARY)
    return v


@kernel
def keep_eager(i, eager_list, cached, gain, listed, state):
    """Carry eager vertex i over to the next list, if it still is one."""
    keep_if_eager(eager_vertex(i, eager_list, state), cached, gain, listed, eager_list, state)


@device
def turn_eager(state):
    """The list of eager vertices that has been kept takes the place of the other."""
    state[at.EAGER] = state[at.NEXT_EAGER]
    state[at.NEXT_EAGER] = 0
    state[at.EAGER_BEGIN] = state[at.VERTICES] - state[at.EAGER_BEGIN]
    return state[at.EAGER]


@device
def is_crowded(state):
    """Whether the first list has become much longer than what it kept."""
    return state[at.LISTED] > FEW and state[at.LISTED] > 2 * state[at.KEPT]


@device
def plan_gathering(state):
    """Set the work sizes of the two ways to go through the first list for a rebalancing.

    Until then each vertex that is marked as dirty may be put on the list.
    """
    listed = state[at.LISTED] + state[at.MARKED]
    gathers = listed > state[at.MANY_LISTED]
    state[at.SINGLE] = 0 if gathers else listed
    state[at.BATCHES] = (listed + BATCH - 1) // BATCH if gathers else 0
    return listed


@kernel
def keep_on_boundary(i, boundary, offsets, cached, listed, state):
    """Carry vertex i over to the next list, unless it is in the interior and on no other."""
    v = listed_vertex(i, boundary, state)
    inside = cached[v] == NONE and listed[v] & IS_EAGER == 0
    if inside and not has_low_degree(v, offsets, state):
        listed[v] = int8(WAS_LISTED)
    else:
        begin = state[at.VERTICES] - state[at.LISTED_BEGIN]
        place = atomic_next(state, at.NEXT_LISTED)
        boundary[begin + place] = v


@kernel
def turn_boundary(_, state):
    """The list that has been kept takes the place of the other."""
    state[at.LISTED] = state[at.NEXT_LISTED]
    state[at.KEPT] = state[at.NEXT_LISTED]
    state[at.NEXT_LISTED] = 0
    state[at.LISTED_BEGIN] = state[at.VERTICES] - state[at.LISTED_BEGIN]
    plan_gathering(state)
