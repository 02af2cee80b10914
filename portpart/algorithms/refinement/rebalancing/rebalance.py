"""Jetrw and Jetrs: weak and strong rebalancing (Jet, section 4.2, algorithm 4.3).

Vertices of blocks that are too heavy are rated by what a move would lose; the cheapest leave
(`loss_buckets.py`).  Weak: every vertex goes to its best connected block among those with room;
what label propagation has cached tells most of them.  Strong: the leaving vertices, in the order of
their ids, fill the room of the blocks one after the other (the cookie cutter).
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives.connectivity import Ties
from portpart.algorithms.objectives.objective import Found, Rules, Tables, Valuation
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.candidate import Search, best_candidate
from portpart.algorithms.refinement.level import More
from portpart.algorithms.refinement.moves.list_moves import add_move, add_move_to, set_target
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.rebalancing.loss_buckets import (
    chance,
    empty_slot,
    enter_bucket,
)
from portpart.algorithms.refinement.rebalancing.relief import Relief
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction, Scope, Static
from portpart.graphs.rows import Csr

NONE = -1


class RatingLeavers(Scope):
    """What the loss of a vertex that may leave its block depends on, and where it is kept."""

    moves: Moves
    blocks: Blocks
    rebalancing: Rebalancing
    figures: Figures


@kl.device
def has_room(v, block, graph: Csr, blocks: Blocks, figures: Figures, relief: Relief):
    """Whether a block takes vertices of others."""
    return relief.rooms.room_of(block, blocks, figures) > 0


@dataclass(frozen=True)
class Rating(Static):
    """How vertices that may leave are rated.

    Attributes
    ----------
    search : Search
        How their targets are found.
    relief : Relief
    """

    search: Search
    relief: Relief


@kl.device
def rate(v, graph: Csr, state: RatingLeavers, ties: Ties, tables: Tables, found: Found, more: More,
         rating: Rating):
    """Find target and loss of a vertex that may leave, and its bucket.

    Weak: the loss is measured against the best target (equation 4.9), strong: against what
    vertices can count on that go where there is room (equation 4.10).  A vertex that
    touches no block with room goes to one chosen by a hash.  All lanes of a team together.
    """
    best_candidate(v, graph, state, ties, tables, found, rating.search)
    if kl.lane() == 0:
        block = kl.int32(found.block)
        value = found.value
        if block == NONE or state.rebalancing.strong != 0:
            value = rating.search.rules.unknown(found, tables)
        if block == NONE:
            block = state.blocks.destination[chance(v, state.figures) % state.blocks.destinations]
        set_target(v, block, state.moves)
        enter_bucket(v, found.here - value, kl.value_or(graph.vertex_weights, v, 1), state.moves,
                     state.rebalancing, state.figures, rating.relief)
    return v


@dataclass(frozen=True)
class Rated:
    """`rate` for a relief: a body, of an objective and a way to value blocks."""

    relief: Relief

    def __call__(self, rules: Rules, valuation: Valuation) -> DeviceFunction:
        admits = has_room.bound(relief=self.relief)
        return rate.bound(rating=Rating(Search(rules, valuation, admits, counts=rules.is_cut),
                                        self.relief))


@kl.kernel
def leave_weakly(i, moves: Moves, rebalancing: Rebalancing, figures: Figures):
    """Weak rebalancing: a vertex up to the threshold moves to its own best target.

    The buckets are emptied.
    """
    v = rebalancing.listed[i]
    slot = empty_slot(moves.part[v], kl.int64(rebalancing.slot_of[v]), rebalancing)
    if slot <= rebalancing.threshold[moves.part[v]]:
        add_move(v, moves, figures)


@kl.kernel
def weigh_leaving(i, graph: Csr, moves: Moves, rebalancing: Rebalancing):
    """Strong rebalancing: leaving[v] = weight of a vertex up to the threshold.

    The buckets are emptied.
    """
    v = rebalancing.listed[i]
    slot = empty_slot(moves.part[v], kl.int64(rebalancing.slot_of[v]), rebalancing)
    if slot <= rebalancing.threshold[moves.part[v]]:
        rebalancing.leaving[v] = kl.value_or(graph.vertex_weights, v, 1)


@kl.device
def place_at(position, blocks: Blocks):
    """Which block's room, of those in a row, covers a position before the end of the row."""
    low = kl.int64(0)
    high = blocks.destinations
    while high - low > 1:
        middle = (low + high) >> 1
        if blocks.room[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@kl.device
def enter_place(v, place, moves: Moves, blocks: Blocks, figures: Figures):
    """Let v move to the block of that place."""
    return add_move_to(v, blocks.destination[place], moves, figures)


@kl.kernel
def leave_strongly(i, moves: Moves, blocks: Blocks, rebalancing: Rebalancing, figures: Figures,
                   relief: Relief):
    """A leaving vertex goes to the block whose room covers its position among the leaving.

    That is where it begins, or its middle: then blocks come as near to their rooms as they can.
    """
    v = rebalancing.listed[i]
    position = rebalancing.position[v]
    if relief.nearest:
        position += rebalancing.leaving[v] // 2
    end = blocks.room[blocks.destinations]
    if rebalancing.leaving[v] != 0 and position < end:
        enter_place(v, place_at(position, blocks), moves, blocks, figures)


@kl.kernel
def clear_waiting(b, rebalancing: Rebalancing):
    """Nobody waits behind the room of a block; thresholds have done their work."""
    rebalancing.threshold[b] = NONE


@kl.device
def fits(v, place, position, blocks: Blocks, rebalancing: Rebalancing):
    """Whether at least half of v, which begins at a position in a room, lies within it."""
    return rebalancing.leaving[v] // 2 <= blocks.room[place + 1] - position


@kl.kernel
def leave_where_it_fits(i, moves: Moves, blocks: Blocks, rebalancing: Rebalancing,
                        figures: Figures):
    """A leaving vertex goes to the block in whose room it begins, or waits if it does not fit.

    One vertex at most reaches beyond the end of a room.  It is kept in the place of a threshold.
    """
    v = rebalancing.listed[i]
    position = rebalancing.position[v]
    end = blocks.room[blocks.destinations]
    if rebalancing.leaving[v] != 0 and position < end:
        place = place_at(position, blocks)
        if fits(v, place, position, blocks, rebalancing):
            enter_place(v, place, moves, blocks, figures)
        else:
            rebalancing.threshold[place] = v


@kl.kernel
def place_waiting(_, moves: Moves, blocks: Blocks, rebalancing: Rebalancing, figures: Figures):
    """Those that wait follow behind all others, again and again while room is left.  One team.

    Those that fit leave their place, which one lane only reads and writes.
    """
    tail = rebalancing.position[figures.vertices]
    count = blocks.destinations
    end = blocks.room[count]
    waiting = kl.int64(1)
    while waiting != 0 and tail < end:
        waiting = kl.int64(0)
        base = kl.int64(0)
        while base < count:
            p = base + kl.lane()
            v = kl.int64(NONE)
            weight = kl.int64(0)
            if p < count:
                v = rebalancing.threshold[p]
            if v != NONE:
                weight = rebalancing.leaving[v]
            until = kl.team_scan(weight)
            position = tail + until - weight
            if v != NONE and position < end:
                place = place_at(position, blocks)
                if fits(v, place, position, blocks, rebalancing):
                    enter_place(v, place, moves, blocks, figures)
                    rebalancing.threshold[p] = NONE
                else:
                    waiting = kl.int64(1)
            tail += kl.team_last(until)
            base += kl.team_size()
        waiting = kl.team_max(waiting)
