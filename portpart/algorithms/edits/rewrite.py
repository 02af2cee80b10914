"""Rewrites rows: deleted elements are removed, inserted ones are merged.

First the capacity that rows need is computed and allocated, then rows are written.  An outgrown row
moves to a new place behind all rows; the places are prefix sums over the changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart import graphs
from portpart.algorithms.edits.counters import EditCounters, new_counters, read
from portpart.algorithms.edits.operations import LOW_HALF, Changes
from portpart.algorithms.edits.wide_rows import (
    ChangedRowPlaces,
    Wide,
    added,
    begins_row,
    end_of_row,
    is_wide,
    move_wide,
    moving_from,
    removed,
    wide_rows,
)
from portpart.backends import language as kl
from portpart.primitives import lower_bound, offsets_from_counts


class RowRewrite(NamedTuple):
    """Planned changes of rows, and of wide rows if there are any."""

    store: graphs.RowStore
    changes: Changes
    places: ChangedRowPlaces
    wide: Wide | None = None


def planned(store: graphs.RowStore, changes: Changes, counters: EditCounters) -> RowRewrite:
    """Return a plan with the new places of rows, and count the space that they claim."""
    space, length = store.space, changes.length_of("keys")
    before = offsets_from_counts(space, changes.deltas)
    spaces = space.empty(length, np.int64)
    space.parallel_for(length, find_capacity, changes, before, length, store.rows, store.growth,
                       spaces, counters)
    begin = offsets_from_counts(space, spaces)
    space.parallel_for(1, write_totals, begin, before, length, counters)
    return RowRewrite(store, changes, ChangedRowPlaces(before, begin, 0, length, store.growth.wide))


def reserve(row_rewrite: RowRewrite, counters: EditCounters,
            total_weight: int) -> tuple[RowRewrite, int]:
    """Allocate memory for the new places, and for weights up to a total.

    Return the plan, and the space that it claims.  If the pool is too small, rows are compacted
    first, if that frees enough space.  Then more rows may need new places.

    Parameters
    ----------
    counters : EditCounters
        On the host.
    """
    store, claimed = row_rewrite.store, int(counters.claimed)
    if store.rows.weights is not None or counters.unusual:
        store.reserve_weights(np.int32 if total_weight <= graphs.MAX_INT32 else np.int64)
    if not store.lent and not store.fits(claimed):
        store.compact(if_slack=True)
        numbers, (again,) = new_counters(store.space, 1)
        row_rewrite = planned(store, row_rewrite.changes, again)
        counters = read(store.space, numbers)[0]
        claimed = int(counters.claimed)
    store.reserve(claimed)
    places = row_rewrite.places
    places = places.replaced(first=store.used)
    wide = wide_rows(store, row_rewrite.changes, places) if counters.wide else None
    return row_rewrite._replace(places=places, wide=wide), claimed


def apply_rows(row_rewrite: RowRewrite, claimed: int) -> None:
    """Write the rows; allocates no memory."""
    store, changes, places, wide = row_rewrite
    rewrite = rewrite_row.bound(weighted=store.rows.weights is not None)
    if wide is not None:
        move_wide(store, changes, places, wide)
    store.space.parallel_for(places.length, rewrite, changes, places, store.rows, team=graphs.TEAM)
    store.used += claimed


@kl.kernel
def find_capacity(i, changes: Changes, before, length, rows: graphs.EditableRows,
                  growth: graphs.RowGrowth, spaces, counters: EditCounters):
    """Set spaces[i] to the capacity of a row's new place if its changes begin at i, else to 0."""
    capacity = kl.int64(0)
    if begins_row(i, changes.keys):
        row = kl.int64(changes.keys[i]) >> 32
        deltas = before[end_of_row(i, changes.keys, length)] - before[i]
        count = kl.int64(rows.end[row]) - kl.int64(rows.begin[row])
        needed = count + added(deltas) - removed(deltas)
        if needed > rows.capacity[row]:
            capacity = graphs.capacity_for(needed, growth)
        moving = count - moving_from(i, capacity, changes, rows)
        if moving > growth.wide and (deltas != 0 or capacity > 0):
            kl.atomic_add(counters, EditCounters.wide, moving)
    spaces[i] = capacity


@kl.kernel
def write_totals(_, begin, before, length, counters: EditCounters):
    """Store the sums over all changes."""
    counters.claimed = begin[length]
    counters.deltas = before[length]


@kl.kernel
def rewrite_row(i, changes: Changes, places: ChangedRowPlaces, rows: graphs.EditableRows,
                weighted: kl.StaticValue):
    """Rewrite the row whose changes begin at i."""
    if begins_row(i, changes.keys):
        row = kl.int64(changes.keys[i]) >> 32
        stop = end_of_row(i, changes.keys, places.length)
        place = kl.int64(rows.begin[row])
        capacity = places.begin[i + 1] - places.begin[i]
        new = places.first + places.begin[i] if capacity > 0 else place
        kept = kl.int64(0)
        deltas = places.before[stop] - places.before[i]
        if deltas == 0 and capacity == 0:
            kept = weigh_elements(i, stop, row, changes, rows, weighted)
        elif is_wide(i, stop, changes, places, rows):
            kept = kl.int64(rows.end[row]) - place - removed(deltas)
            kept += added_to_row(i, stop, new, changes, places, rows, weighted)
        else:
            kept = kept_in_row(i, stop, row, changes, rows, weighted)
            kl.team_sync()
            if added(deltas) > 0 or new != place:
                kept = spread_row(i, stop, kept, new, changes, places, rows, weighted)
                kept += added_to_row(i, stop, new, changes, places, rows, weighted)
        kl.team_sync()
        if kl.lane() == 0:
            graphs.place_row(row, new, new + kept, rows)
            if capacity > 0:
                graphs.set_capacity(row, capacity, rows)


@kl.device
def weigh_elements(i, stop, row, changes: Changes, rows: graphs.EditableRows,
                   weighted: kl.StaticValue):
    """Set weights in a row that keeps all its elements, and return their number."""
    if weighted:
        for change in range(i + kl.lane(), stop, kl.team_size()):
            if changes.was[change] >= 0:
                place = kl.int64(rows.begin[row]) + changes.ranks[change]
                graphs.set_weight(place, changes.will[change], rows)
    return kl.int64(rows.end[row]) - kl.int64(rows.begin[row])


@kl.device
def kept_in_row(i, stop, row, changes: Changes, rows: graphs.EditableRows,
                weighted: kl.StaticValue):
    """Set weights, close the gaps of deleted elements, and return the number of those left.

    All elements move toward the beginning, so a team reads a stretch of the row and then writes it.
    """
    begin = kl.int64(rows.begin[row])
    count = kl.int64(rows.end[row]) - begin
    left = min(kl.int64(changes.ranks[i]), count)
    for base in range(left, count, kl.team_size()):
        at = base + kl.lane()
        element = kl.int64(0)
        weight = kl.int64(-1)
        if at < count:
            element = kl.int64(rows.elements[begin + at])
            weight = kl.value_or(rows.weights, begin + at, 1)
            change = lower_bound(changes.keys, i, stop, (row << 32) | element)
            if change < stop and changes.keys[change] == (row << 32) | element:
                weight = changes.will[change]
        until = kl.team_scan(kl.int64(weight >= 0))
        kl.team_sync()
        if weight >= 0:
            graphs.put(rows, begin + left + until - 1, element, weight, weighted)
        left += kl.team_last(until)
        kl.team_sync()
    return left


@kl.device
def spread_row(i, stop, count, new, changes: Changes, places: ChangedRowPlaces,
               rows: graphs.EditableRows, weighted: kl.StaticValue):
    """Move elements, the last ones first, to open gaps for new ones; return their number."""
    row = kl.int64(changes.keys[i]) >> 32
    begin = kl.int64(rows.begin[row])
    first = kl.int64(changes.ranks[i]) if new == begin else kl.int64(0)
    for base in range(0, count - first, kl.team_size()):
        at = count - 1 - base - kl.lane()
        element = kl.int64(0)
        weight = kl.int64(0)
        shift = kl.int64(0)
        if at >= first:
            element = kl.int64(rows.elements[begin + at])
            weight = kl.value_or(rows.weights, begin + at, 1)
            change = lower_bound(changes.keys, i, stop, (row << 32) | element)
            shift = added(places.before[change] - places.before[i])
        kl.team_sync()
        if at >= first:
            graphs.put(rows, new + at + shift, element, weight, weighted)
        kl.team_sync()
    return count


@kl.device
def added_to_row(i, stop, new, changes: Changes, places: ChangedRowPlaces,
                 rows: graphs.EditableRows, weighted: kl.StaticValue):
    """Write new elements into the gaps, and return their number."""
    for change in range(i + kl.lane(), stop, kl.team_size()):
        if changes.deltas[change] >= kl.int64(1) << 32:
            deltas = places.before[change] - places.before[i]
            at = kl.int64(changes.ranks[change]) + added(deltas) - removed(deltas)
            graphs.put(rows, new + at, changes.keys[change] & LOW_HALF, changes.will[change],
                       weighted)
    return added(places.before[stop] - places.before[i])
