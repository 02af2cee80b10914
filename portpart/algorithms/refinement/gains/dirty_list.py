"""The list of vertices whose best target is stale, and the state of a reset vertex."""

from __future__ import annotations

from portpart.algorithms.refinement.gains.state import GainCache
from portpart.backends import language as kl

NONE = -1

ENOUGH_GROUPS = 2048
"""Teams to look through a list at the same time: more would take turns on a GPU."""


@kl.device
def mark_dirty(v, cache: GainCache):
    """Put v on the list of vertices to refresh, once."""
    if kl.atomic_load(cache.is_dirty, v) == 0:
        if kl.atomic_cas(cache.is_dirty, v, kl.int32(0), kl.int32(1)) == 0:
            cache.dirty_list[kl.atomic_next(cache, GainCache.marked)] = kl.int32(v)
    return v


@kl.device
def unmark(v, cache: GainCache):
    """Vertex v, which is on no list any more, is not stale."""
    cache.is_dirty[v] = kl.int32(0)
    return v


@kl.device
def never_mark(v, cache: GainCache):
    """Have `mark_dirty` pass over v."""
    cache.is_dirty[v] = kl.int32(1)
    return v


@kl.device
def reset_gain(v, cache: GainCache):
    """Nothing is known of v, which is on no list."""
    cache.best_target[v] = kl.int32(NONE)
    cache.gain[v] = 0
    return unmark(v, cache)


@kl.device
def empty_marked(cache: GainCache):
    """No vertex is marked any more, or all that are have been dealt with."""
    cache.marked = 0
    return cache.marked


@kl.device
def plan_refreshing(cache: GainCache):
    """Marked vertices are stale; set how a team shares them."""
    cache.dirty = cache.marked
    cache.group = max(1, min(cache.max_in_group, cache.marked // ENOUGH_GROUPS))
    cache.dirty_groups = (cache.marked + cache.group - 1) // cache.group
    empty_marked(cache)
    return cache.dirty
