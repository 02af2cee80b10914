"""The vertices that iterations touch, listed once each, in any order.

One list has all that are, or were, on a boundary.  Few of them are eager: their best destination
passes Jet's filter, or they lose nothing.  Those are on a second list, which label propagation
goes through and rids of the ones that are eager no longer; what it keeps goes to the other half of
the array.
"""

from __future__ import annotations

from portpart.algorithms.refinement import state as at
from portpart.backends.language import atomic_next, device, int8, int32

ON_BOUNDARY = 1
"""Flag of a vertex on the list of those on a boundary."""

IS_EAGER = 2
"""Flag of a vertex on the list of eager ones."""

EAGER = at.EAGER
EAGER_BEGIN = at.EAGER_BEGIN
LISTED = at.LISTED
NEXT_EAGER = at.NEXT_EAGER
VERTICES = at.VERTICES


@device
def list_vertex(v, listed, boundary, state):
    """Put v on the list of vertices on a boundary, once."""
    if listed[v] & ON_BOUNDARY == 0:
        listed[v] |= int8(ON_BOUNDARY)
        boundary[atomic_next(state, LISTED)] = int32(v)
    return v


@device
def is_eager(v, cached, gain):
    """Whether v, which is on the first list, belongs on the second."""
    return cached[v] >= 0 or gain[v] >= 0


@device
def list_eager(v, listed, eager_list, state):
    """Put v on the list of eager vertices, once."""
    if listed[v] & IS_EAGER == 0:
        listed[v] |= int8(IS_EAGER)
        place = atomic_next(state, EAGER)
        eager_list[state[EAGER_BEGIN] + place] = int32(v)
    return v


@device
def keep_if_eager(v, cached, gain, listed, eager_list, state):
    """Carry v over to the next list of eager vertices, if it still is one."""
    if is_eager(v, cached, gain):
        begin = state[VERTICES] - state[EAGER_BEGIN]
        place = atomic_next(state, NEXT_EAGER)
        eager_list[begin + place] = int32(v)
    else:
        listed[v] = int8(ON_BOUNDARY)
    return v
