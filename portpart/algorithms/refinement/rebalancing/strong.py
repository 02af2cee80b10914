"""Jetrs: strong rebalancing, the cookie cutter (Jet, section 4.2, algorithm 4.3).

The leaving vertices, in the order of their ids, are laid out in a row, and so are the free
capacities of the blocks.  A vertex begins at the sum of the weights of the leaving vertices before
it.  Tiles of vertices are summed up, and each tile is visited again to move its vertices.
"""

from __future__ import annotations

from portpart.algorithms.refinement import Deciding, Figures, Recording
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.moves import Moves, add_move_to
from portpart.algorithms.refinement.rebalancing.rule import RebalancingRule, empty_slot
from portpart.algorithms.refinement.rebalancing.state import STAYS, Rebalancing
from portpart.backends import language as kl
from portpart.graphs import Csr
from portpart.primitives import TEAM, row_at, scan_tile_sums

NONE = -1

ROWS = 4
"""Number of rows of a tile, as wide as a team, that are loaded together."""


class Weights(kl.StaticArray, size=ROWS):
    """A weight for each row."""


def record_weight_change(this: Recording) -> None:
    """Record how the position of each tile in the row of all leaving vertices is computed."""
    program, level, own = this.program, this.run.level, this.run.rebalancing
    program.launch(level.candidates, keep_above_threshold)
    program.launch(level.tiles, weigh_tile, team=TEAM)
    program.parallel_for(1, scan_tile_sums, own.tile_sums, level.tiles.slot, level.tiles.index,
                         team=256)


def record_leaving(this: Recording, rule: RebalancingRule) -> None:
    """Record how leaving vertices fill the capacities of the blocks, one block after another.

    `rule` says whether vertices that do not fit wait.
    """
    program, level = this.program, this.run.level
    if rule.waits:
        program.launch(level.blocks, clear_pending)
        program.launch(level.tiles, leave_tile, team=TEAM, leave=leave_where_it_fits)
        program.launch(1, place_pending, team=256)
    else:
        program.launch(level.tiles, leave_tile, team=TEAM, leave=evict_strongly)


@kl.device
def let_stay(v, rebalancing: Rebalancing):
    """Let v stay, unless it is rated later."""
    rebalancing.slot_of[v] = STAYS


@kl.device
def set_place(v, place, rebalancing: Rebalancing):
    """Store a place of v, which leaves."""
    rebalancing.slot_of[v] = kl.int32(place)


@kl.kernel
def keep_above_threshold(i, moves: Moves, rebalancing: Rebalancing):
    """Empty the bucket of candidate i, and let it stay if its slot is above the threshold."""
    v = rebalancing.listed[i]
    slot = empty_slot(moves.part[v], kl.int64(rebalancing.slot_of[v]), rebalancing)
    if slot > rebalancing.threshold[moves.part[v]]:
        let_stay(v, rebalancing)


@kl.device
def leaving_weight(v, end, graph: Csr, rebalancing: Rebalancing):
    """Return the weight of v if it leaves and v < end, else 0."""
    weight = kl.int64(0)
    if v < end:
        if rebalancing.slot_of[v] != STAYS:
            weight = kl.int64(kl.value_or(graph.vertex_weights, v, 1))
    return weight


@kl.kernel
def weigh_tile(tile, graph: Csr, rebalancing: Rebalancing, figures: Figures):
    """Sum up the weight of the leaving vertices of a tile."""
    total = kl.int64(0)
    end = min((tile + 1) * rebalancing.tile, figures.vertices)
    width = kl.int64(kl.team_size())
    for base in range(tile * rebalancing.tile, end, ROWS * width):
        v = base + kl.lane()
        for j in kl.static_range(ROWS):
            total += leaving_weight(v + j * width, end, graph, rebalancing)
    total = kl.team_sum(total)
    if kl.lane() == 0:
        rebalancing.tile_sums[tile] = total


@kl.device
def put_behind(tile, weight, rebalancing: Rebalancing):
    """Move the leaving vertices of a tile back in the row, by this weight."""
    rebalancing.tile_sums[tile] += weight


@kl.device
def end_of_row(blocks: Blocks):
    """Return where the last interval of free capacity ends."""
    return blocks.capacity_begin[blocks.destinations]


@kl.device
def place_at(position, blocks: Blocks):
    """Return the place, in `destination`, of the block whose interval covers a position."""
    return row_at(position, blocks.capacity_begin, blocks.destinations)


@kl.device
def enter_place(v, place, moves: Moves, blocks: Blocks, figures: Figures):
    """List the move of v to the block at that place."""
    add_move_to(v, blocks.destination[place], moves, figures)


@kl.device
def evict_strongly(v, weight, position, state: Deciding, rule: RebalancingRule):
    """Move a leaving vertex to the block whose capacity covers its position in the row.

    The position is that of its beginning or, if the rule is `nearest`, of its middle: then the
    weights of blocks are as close to their limits as possible.
    """
    place = position
    if rule.nearest:
        place += weight // 2
    if place < end_of_row(state.blocks):
        enter_place(v, place_at(place, state.blocks), state.moves, state.blocks, state.figures)


@kl.kernel
def clear_pending(b, rebalancing: Rebalancing):
    """Mark block b as having no pending vertex; thresholds are not needed any more."""
    rebalancing.threshold[b] = NONE


@kl.device
def fits(weight, place, position, blocks: Blocks):
    """Whether at least half of a vertex fits into the interval in which it begins at `position`."""
    return weight // 2 <= blocks.capacity_begin[place + 1] - position


@kl.device
def leave_where_it_fits(v, weight, position, state: Deciding, rule: RebalancingRule):
    """Move a leaving vertex to the block in whose interval it begins, or keep it pending.

    At most one vertex per interval does not fit.  It is stored in the array of thresholds.
    """
    place = kl.int64(NONE)
    if position < end_of_row(state.blocks):
        place = place_at(position, state.blocks)
        if fits(weight, place, position, state.blocks):
            enter_place(v, place, state.moves, state.blocks, state.figures)
        else:
            state.rebalancing.threshold[place] = v


@kl.kernel
def leave_tile(tile, graph: Csr, state: Deciding, rule: RebalancingRule, leave: kl.StaticValue):
    """Move the leaving vertices of a tile to the blocks that `leave` finds from their positions.

    Several rows are loaded before the first one is processed, so that their latencies overlap.  A
    tile without leaving vertices is skipped.
    """
    before = state.rebalancing.tile_sums[tile]
    behind = before
    if tile + 1 < state.rebalancing.tiles:
        behind = min(state.rebalancing.tile_sums[tile + 1], end_of_row(state.blocks))
    end = min((tile + 1) * state.rebalancing.tile, state.figures.vertices)
    width = kl.int64(kl.team_size())
    base = tile * state.rebalancing.tile
    weights = Weights()
    while before < behind:
        v = base + kl.lane()
        for j in kl.static_range(ROWS):
            weights[j] = leaving_weight(v + j * width, end, graph, state.rebalancing)
        for j in kl.static_range(ROWS):
            until = before + kl.team_scan(weights[j])
            if weights[j] != 0:
                leave(v + j * width, weights[j], until - weights[j], state, rule)
            before = kl.team_last(until)
        base += ROWS * width


@kl.kernel
def place_pending(_, graph: Csr, moves: Moves, blocks: Blocks, rebalancing: Rebalancing,
                  figures: Figures):
    """Place the pending vertices after the others until no capacity is left.  Called by one team.

    The entry of a vertex that fits is cleared; a single lane reads and writes an entry.
    """
    tail = rebalancing.tile_sums[rebalancing.tiles - 1]
    count = blocks.destinations
    end = end_of_row(blocks)
    pending = kl.int64(1)
    while pending != 0 and tail < end:
        pending = kl.int64(0)
        base = kl.int64(0)
        while base < count:
            p = base + kl.lane()
            v = kl.int64(NONE)
            weight = kl.int64(0)
            if p < count:
                v = rebalancing.threshold[p]
            if v != NONE:
                weight = kl.int64(kl.value_or(graph.vertex_weights, v, 1))
            until = kl.team_scan(weight)
            position = tail + until - weight
            if v != NONE and position < end:
                place = place_at(position, blocks)
                if fits(weight, place, position, blocks):
                    enter_place(v, place, moves, blocks, figures)
                    rebalancing.threshold[p] = NONE
                else:
                    pending = kl.int64(1)
            tail += kl.team_last(until)
            base += kl.team_size()
        pending = kl.team_max(pending)
