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
from portpart.algorithms.refinement.by_degree import More
from portpart.algorithms.refinement.candidate import Search, best_candidate
from portpart.algorithms.refinement.loss_buckets import (
    chance,
    empty_slot,
    enter_bucket,
)
from portpart.algorithms.refinement.relief import Relief
from portpart.algorithms.refinement.state import Level, Run
from portpart.backends.language import (
    DeviceFunction,
    Static,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_last,
    team_max,
    team_scan,
    team_size,
    value_or,
)
from portpart.graphs.rows import Csr

NONE = -1


@device
def has_room(v, block, graph: Csr, run: Run, relief: Relief):
    """Whether a block takes vertices of others."""
    return relief.rooms.room_of(block, run.blocks, run.level) > 0


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


@device
def rate(v, graph: Csr, run: Run, ties: Ties, tables: Tables, found: Found, more: More,
         rating: Rating):
    """Find target and loss of a vertex that may leave, and its bucket.

    Weak: the loss is measured against the best target (equation 4.9), strong: against what
    vertices can count on that go where there is room (equation 4.10).  A vertex that
    touches no block with room goes to one chosen by a hash.  All lanes of a team together.
    """
    best_candidate(v, graph, run, ties, tables, found, rating.search)
    if lane() == 0:
        block = int32(found.block)
        value = found.value
        if block == NONE or run.level.strong != 0:
            value = rating.search.rules.unknown(found, tables)
        if block == NONE:
            block = run.blocks.destinations[chance(v, run.level) % run.level.destinations]
        run.moves.target[v] = block
        enter_bucket(v, found.here - value, value_or(graph.vertex_weights, v, 1), run.moves,
                     run.buckets, run.level, rating.relief)
    return v


@dataclass(frozen=True)
class Rated:
    """`rate` for a relief: a body, of an objective and a way to value blocks."""

    relief: Relief

    def __call__(self, rules: Rules, valuation: Valuation) -> DeviceFunction:
        admits = has_room.bound(relief=self.relief)
        return rate.bound(rating=Rating(Search(rules, valuation, admits, counts=rules.is_cut),
                                        self.relief))


@kernel
def leave_weakly(i, run: Run):
    """Weak rebalancing: a vertex up to the threshold moves to its own best target.

    The buckets are emptied.
    """
    v = run.leavers.listed[i]
    slot = empty_slot(run.moves.part[v], int64(run.buckets.slot_of[v]), run.buckets)
    if slot <= run.buckets.threshold[run.moves.part[v]]:
        run.moves.moved_in[v] = int32(run.level.iteration)
        run.moves.listed[atomic_next(run.level, Level.moves)] = v


@kernel
def weigh_leaving(i, graph: Csr, run: Run):
    """Strong rebalancing: leaving[v] = weight of a vertex up to the threshold.

    The buckets are emptied.
    """
    v = run.leavers.listed[i]
    slot = empty_slot(run.moves.part[v], int64(run.buckets.slot_of[v]), run.buckets)
    if slot <= run.buckets.threshold[run.moves.part[v]]:
        run.leavers.leaving[v] = value_or(graph.vertex_weights, v, 1)


@device
def place_at(position, run: Run):
    """Which block's room, of those in a row, covers a position before the end of the row."""
    low = int64(0)
    high = run.level.destinations
    while high - low > 1:
        middle = (low + high) >> 1
        if run.blocks.room[middle] <= position:
            low = middle
        else:
            high = middle
    return low


@device
def enter_place(v, place, run: Run):
    """Let v move to the block of that place."""
    run.moves.target[v] = run.blocks.destinations[place]
    run.moves.moved_in[v] = int32(run.level.iteration)
    run.moves.listed[atomic_next(run.level, Level.moves)] = v
    return v


@kernel
def leave_strongly(i, run: Run, relief: Relief):
    """A leaving vertex goes to the block whose room covers its position among the leaving.

    That is where it begins, or its middle: then blocks come as near to their rooms as they can.
    """
    v = run.leavers.listed[i]
    position = run.leavers.position[v]
    if relief.nearest:
        position += run.leavers.leaving[v] // 2
    end = run.blocks.room[run.level.destinations]
    if run.leavers.leaving[v] != 0 and position < end:
        enter_place(v, place_at(position, run), run)


@kernel
def clear_waiting(b, run: Run):
    """Nobody waits behind the room of a block; thresholds have done their work."""
    run.buckets.threshold[b] = NONE


@device
def fits(v, place, position, run: Run):
    """Whether at least half of v, which begins at a position in a room, lies within it."""
    return run.leavers.leaving[v] // 2 <= run.blocks.room[place + 1] - position


@kernel
def leave_where_it_fits(i, run: Run):
    """A leaving vertex goes to the block in whose room it begins, or waits if it does not fit.

    One vertex at most reaches beyond the end of a room.  It is kept in the place of a threshold.
    """
    v = run.leavers.listed[i]
    position = run.leavers.position[v]
    end = run.blocks.room[run.level.destinations]
    if run.leavers.leaving[v] != 0 and position < end:
        place = place_at(position, run)
        if fits(v, place, position, run):
            enter_place(v, place, run)
        else:
            run.buckets.threshold[place] = v


@kernel
def place_waiting(_, run: Run):
    """Those that wait follow behind all others, again and again while room is left.  One team.

    Those that fit leave their place, which one lane only reads and writes.
    """
    tail = run.leavers.position[run.level.vertices]
    count = run.level.destinations
    end = run.blocks.room[count]
    waiting = int64(1)
    while waiting != 0 and tail < end:
        waiting = int64(0)
        base = int64(0)
        while base < count:
            p = base + lane()
            v = int64(NONE)
            weight = int64(0)
            if p < count:
                v = run.buckets.threshold[p]
            if v != NONE:
                weight = run.leavers.leaving[v]
            until = team_scan(weight)
            position = tail + until - weight
            if v != NONE and position < end:
                place = place_at(position, run)
                if fits(v, place, position, run):
                    enter_place(int32(v), place, run)
                    run.buckets.threshold[p] = NONE
                else:
                    waiting = int64(1)
            tail += team_last(until)
            base += team_size()
        waiting = team_max(waiting)
