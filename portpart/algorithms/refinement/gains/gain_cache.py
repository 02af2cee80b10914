"""The gain cache: each vertex's best target block and its gain (Jet, section 4.1)."""

from __future__ import annotations

from portpart.algorithms import objectives
from portpart.algorithms.refinement import DIRTY, ByDegree, Deciding, Figures, Piece, Recording
from portpart.algorithms.refinement.blocks import Blocks, has_moved
from portpart.algorithms.refinement.gains.candidate import BlockSearch, best_candidate
from portpart.algorithms.refinement.gains.state import (
    ON_BOUNDARY,
    ActiveSets,
    GainCache,
    has_low_degree,
    list_movable,
    list_on_boundary,
    may_move,
    reset_flags,
    reset_gain,
)
from portpart.algorithms.refinement.incumbent import Incumbent, reset_saved, set_best
from portpart.algorithms.refinement.moves import Moves, reset_move
from portpart.backends import language as kl
from portpart.backends.language.records import Nothing
from portpart.backends.programs import Element
from portpart.graphs import Csr, degree_of

# The gain cache: the best target of each vertex, and the gain of moving there (Jet, section 4.1)
#
# A target that fails Jet's filter is stored as a number below zero.  An entry is valid until a
# neighbour moves.  The paper updates a row of connectivity for each vertex.  Counting again the
# neighbours of the few neighbours of a move takes no memory and fewer dependent accesses.


NONE = -1


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
    """Return the cache's code of a best target that fails the filter, or the target of a code."""
    return kl.int32(-2 - block)


@kl.device
def any_block(v, block, graph: Csr, blocks: Blocks, figures: Figures):
    """Return True: every block may be a target."""
    return True


@kl.device
def keep_best_target(v, moves: Moves, cache: GainCache, active: ActiveSets, blocks: Blocks,
                     tables: objectives.Tables, found: objectives.BestTarget,
                     rules: objectives.Rules):
    """Cache the best target of v and its gain; the sign says whether it passes Jet's filter (4.3).

    The loss of a move is compared with what the arcs of v inside its block gain in distance.  With
    a filter ratio of 0 no move may lose.  Fixed vertices fail.  Called by one lane.
    """
    block = kl.int32(found.block)
    value = found.value
    kept = kl.int64(0)
    if block == NONE:
        value = rules.untouched_score(found, tables)
    else:
        kept = found.own * rules.distance(moves.part[v], block, tables)
    gain = value - found.here
    passes = gain >= 0 or -gain < kl.int64(cache.filter_ratio * kl.float64(kept))
    passes = passes and kl.value_or(blocks.fixed, v, NONE) == NONE
    target = block if passes else failed(block)
    cache.best_target[v] = target
    cache.gain[v] = gain
    cache.is_dirty[v] = kl.int32(0)
    list_on_boundary(v, active)
    if may_move(target, gain):
        list_movable(v, active)


@kl.device
def refresh_gain(v, graph: Csr, state: Deciding, connections: objectives.ConnectivityTable,
                 tables: objectives.Tables, found: objectives.BestTarget,
                 more: kl.Record, search: BlockSearch):
    """Recompute the best target of v.  Called by all lanes of a team.

    The entry of an interior vertex is reset, if the vertex is in its previous block and not on the
    list of boundary vertices.
    """
    is_boundary = state.active.flags[v] & ON_BOUNDARY != 0
    if not is_boundary:
        is_boundary = has_moved(v, state.moves.part, state.blocks)
    if not is_boundary:
        is_boundary = search.rules.is_boundary(v, graph, state.moves.part)
    if is_boundary:
        best_candidate(v, graph, state, connections, tables, found, search)
        if search.valuation.note:
            search.valuation.note(connections, found)
        elif search.rules.note:
            search.rules.note(v, graph, state.moves.part, found)
        if kl.lane() == 0:
            keep_best_target(v, state.moves, state.cache, state.active, state.blocks, tables, found,
                             search.rules)
    elif kl.lane() == 0:
        reset_gain(v, state.cache)


def refreshed(rules: objectives.Rules, valuation: objectives.BlockScore) -> kl.DeviceFunction:
    """Return `refresh_gain` for an objective and a block score."""
    return refresh_gain.bound(search=BlockSearch(rules, valuation, any_block))


# The gain cache as a piece: it recomputes the gains that moves have changed --------------------


class GainSteps(Piece):
    """The gain cache, and the lists of vertices that iterations visit."""

    def begin(self, this: Recording) -> None:
        """Reset all vertices."""
        this.program.launch(this.run.level.vertices, begin_vertex)

    def refresh(self, this: Recording) -> None:
        """Recompute the best targets of stale vertices."""
        program, level, widths = this.program, this.run.level, this.widths
        kernels = ByDegree(refreshed, DIRTY, this.rules)
        for team, one_lane in widths.of_list(widths.team):
            max_degree = widths.one_lane if one_lane else widths.max_low_degree
            if max_degree >= 0:
                program.launch(level.dirty, kernels.low_degree(widths.counter, max_degree),
                               team=team, one_lane=one_lane, more=Nothing())
        launch_high_degree(this, level.dirty_groups, kernels)
        if not widths.summed:
            launch_hubs(this, level.hubs, kernels)

    def refresh_hubs(self, this: Recording) -> None:
        """Recompute the best targets of hubs whose connectivity has been summed up."""
        if this.widths.summed:
            launch_hubs(this, this.run.level.hubs, ByDegree(refreshed, DIRTY, this.rules))


def launch_by_degree(this: Recording, count: Element, hubs: Element, kernels: ByDegree,
                     more: kl.Record | None = None) -> None:
    """Launch the kernels for vertices with few neighbours, with many neighbours, and for hubs.

    A kernel for vertices that the graph does not have is not launched.  `more` is passed to each
    kernel.
    """
    widths = this.widths
    with this.program.side_by_side():
        if widths.max_low_degree >= 0:
            this.program.launch(count, kernels.low_degree(widths.counter, widths.max_low_degree),
                                team=widths.team, one_lane=0, more=more or Nothing())
        launch_high_degree(this, count, kernels, more)
        launch_hubs(this, hubs, kernels, more)


def launch_high_degree(this: Recording, count: Element, kernels: ByDegree,
                       more: kl.Record | None = None) -> None:
    """Launch the kernel for vertices with many neighbours, if there are any."""
    if this.widths.high_degree:
        this.program.launch(count, kernels.high_degree(this.widths.counter),
                            team=this.rules.team_of_high_degree, more=more or Nothing())


def launch_hubs(this: Recording, hubs: Element, kernels: ByDegree,
                more: kl.Record | None = None) -> None:
    """Launch the kernel for hubs, if there are any.  With summed connectivity, lanes are fewer."""
    widths = this.widths
    if widths.hubs:
        this.program.launch(hubs, kernels.of_hub(widths.counter, widths.summed),
                            team=objectives.COUNTING_TEAM if widths.summed else objectives.HUB_TEAM,
                            more=more or Nothing())
