"""The gain cache: each vertex's best target block and the gain of going there (Jet, section 4.1).

A target that fails Jet's filter is kept as a number below zero; the cache holds until a neighbour
moves.  The paper keeps a row of connectivity for every vertex up to date; counting the neighbours
of the few neighbours of a move again takes no memory and fewer dependent accesses.
"""

from __future__ import annotations

from portpart.algorithms.objectives.connectivity import ConnectivityTable
from portpart.algorithms.objectives.objective import BlockScore, Found, Rules, Tables
from portpart.algorithms.refinement.blocks.previous_blocks import has_moved
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.active_sets import (
    ON_BOUNDARY,
    has_low_degree,
    is_movable,
    list_movable,
    list_on_boundary,
    reset_flags,
)
from portpart.algorithms.refinement.gains.candidate import BlockSearch, best_candidate
from portpart.algorithms.refinement.gains.dirty_list import reset_gain
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.algorithms.refinement.incumbent.unsaved_list import reset_saved, set_best
from portpart.algorithms.refinement.level import More
from portpart.algorithms.refinement.moves.list_moves import reset_move
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction, Scope
from portpart.graphs.rows import Csr, degree_of

NONE = -1


class Propagating(Scope):
    """What says which moves pay, and keeps the best ones."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    figures: Figures


@kl.kernel
def begin_vertex(v, graph: Csr, moves: Moves, cache: GainCache, active: ActiveSets,
                 incumbent: Incumbent, figures: Figures):
    """Reset vertex v: unlock it, and mark it stale if it may be on the boundary."""
    set_best(v, moves.part[v], incumbent)
    reset_gain(v, cache)
    reset_move(v, moves)
    reset_flags(v, active)
    reset_saved(v, incumbent)
    leaves_for_little = has_low_degree(v, graph, figures)
    if leaves_for_little:
        list_on_boundary(v, active)
    if leaves_for_little or incumbent.touched[v] != 0:
        cache.is_dirty[v] = kl.int32(1)
        cache.dirty_list[kl.atomic_next(cache, GainCache.marked)] = kl.int32(v)
    if degree_of(v, graph) > figures.hub_degree:
        active.hub_list[kl.atomic_next(active, ActiveSets.hubs)] = kl.int32(v)


@kl.device
def failed(block):
    """What the cache holds of a best target that fails the filter; and that from this."""
    return kl.int32(-2 - block)


@kl.device
def any_block(v, block, graph: Csr, blocks: Blocks, figures: Figures):
    """Every block may be a target."""
    return True


@kl.device
def keep_best_target(v, moves: Moves, cache: GainCache, active: ActiveSets, blocks: Blocks,
                     tables: Tables, found: Found, rules: Rules):
    """Cache v's best target, its gain, and whether it passes Jet's filter (4.3).  Called by one
    lane.

    What a move loses is compared with what v's arcs inside its block gain in distance; with a
    filter ratio of 0 no move may lose.  Fixed vertices fail.
    """
    block = kl.int32(found.block)
    value = found.value
    kept = kl.int64(0)
    if block == NONE:
        value = rules.unknown(found, tables)
    else:
        kept = found.own * rules.distance(moves.part[v], block, tables)
    gain = value - found.here
    passes = gain >= 0 or -gain < kl.int64(cache.filter_ratio * kl.float64(kept))
    passes = passes and kl.value_or(blocks.fixed, v, NONE) == NONE
    cache.best_target[v] = block if passes else failed(block)
    cache.gain[v] = gain
    cache.is_dirty[v] = kl.int32(0)
    list_on_boundary(v, active)
    if is_movable(v, cache):
        list_movable(v, active)
    return gain


@kl.device
def refresh_gain(v, graph: Csr, state: Propagating, connections: ConnectivityTable, tables: Tables,
                 found: Found,
                 more: More, search: BlockSearch):
    """Bring the best target of v up to date.  All lanes of a team together.

    Nothing is known of an interior vertex in its previous block that is not on the list.
    """
    is_boundary = state.active.flags[v] & ON_BOUNDARY != 0
    if not is_boundary:
        is_boundary = has_moved(v, state.moves.part, state.blocks)
    if not is_boundary:
        is_boundary = search.rules.is_boundary(v, graph, state.moves.part)
    if is_boundary:
        best_candidate(v, graph, state, connections, tables, found, search)
        if search.rules.note:
            search.rules.note(v, graph, state.moves.part, found)
        if kl.lane() == 0:
            keep_best_target(v, state.moves, state.cache, state.active, state.blocks, tables, found,
                             search.rules)
    elif kl.lane() == 0:
        reset_gain(v, state.cache)
    return is_boundary


def refreshed(rules: Rules, valuation: BlockScore) -> DeviceFunction:
    """`refresh_gain` for an objective and a way to value blocks."""
    return refresh_gain.bound(search=BlockSearch(rules, valuation, any_block))
