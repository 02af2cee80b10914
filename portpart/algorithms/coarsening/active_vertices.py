"""The vertices that are active in a round, and the ones still active in the next one."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.work import WorkRecord

NO_LAST_ROUND = 2**62


class ActiveVertices(WorkRecord):
    """Active vertices of n; their order depends on the threads, no result depends on that order.

    Attributes
    ----------
    listed : array of int32, shape (2 n + 1,)
        The lists of even and of odd rounds; the last element is spare.
    """

    listed: Array = work(np.int32, lambda sizes: 2 * sizes.vertices + 1)

    vertices: int = kl.word()  # vertices of the graph
    count: int = kl.word()  # active in this round
    next_count: int = kl.word()  # and in the next one
    round: int = kl.word()


@kl.device
def place_of(i, active: ActiveVertices):
    """Where active vertex i stands."""
    return (active.round & 1) * active.vertices + i


@kl.device
def stay_active(v, active: ActiveVertices):
    """Put v on the list of the next round."""
    place = kl.atomic_next(active, ActiveVertices.next_count)
    active.listed[((active.round + 1) & 1) * active.vertices + place] = kl.int32(v)
    return place


@kl.kernel
def begin_next_round(_, active: ActiveVertices, last_round):
    """The vertices that stay are active in the next round, if there is one."""
    active.count = active.next_count
    active.next_count = 0
    if active.round == last_round:
        active.count = 0
    active.round += 1
