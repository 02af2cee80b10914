"""Sets of nets that have been edited: they may need counters now, or need none any longer.

A net keeps a row of counters that it does not need, for the time when it needs one again.
"""

from __future__ import annotations

from portpart.algorithms.objectives.net_sets import NONE, store_large, store_small, take_row
from portpart.algorithms.objectives.pin_counts import clear_counters, count_pins
from portpart.algorithms.objectives.pin_state import (
    PRESENT_CHANGED,
    NetRows,
    PinCounts,
    PinSets,
)
from portpart.backends import language as kl


@kl.device
def reserved_row(row):
    """What stands for a row of counters of a net that needs none now; and the row for that."""
    return kl.int32(-2 - row)


@kl.device
def row_for(net, row, sets: PinSets):
    """The row of a net that needs counters: that reserved for it, or one that is free.

    In any order.
    """
    taken = kl.int64(0)
    if row == NONE:
        taken = kl.int64(take_row(net, sets))
    else:
        taken = kl.int64(reserved_row(row))
        sets.row[net] = kl.int32(taken)
    return taken


@kl.device
def find_small(net, size, blocks, graph: NetRows, part):
    """Make the sets of a net without counters again; returns what changes.

    What it lists is written in any case: its pins may have moved.  All lanes of a team together.
    """
    begin = kl.int64(graph.nets.begin[net])
    row = kl.int64(graph.sets.row[net])
    kl.team_sync()
    if kl.lane() == 0:
        if row >= 0:
            graph.sets.row[net] = reserved_row(row)
        if graph.sets.width != 1:
            graph.sets.connectivity[net] = kl.int32(0)
    for j in range(kl.lane(), size, kl.team_size()):
        blocks[j] = part[graph.nets.pins[begin + j]]
    kl.team_sync()
    return store_small(net, size, blocks, graph)


@kl.device
def find_large(net, graph: NetRows, pin_counts: PinCounts, part):
    """Make the sets of a net with counters again, which are counted if they have not been.

    Returns what changes.  All lanes of a team together.
    """
    row = kl.int64(graph.sets.row[net])
    changed = kl.int64(0)
    kl.team_sync()
    if row < 0:
        taken = kl.int64(0)
        if kl.lane() == 0:
            taken = row_for(net, row, graph.sets)
        first = clear_counters(kl.team_sum(taken), graph.sets, pin_counts)
        count_pins(net, first, graph, pin_counts, part)
    changed = store_large(net, graph.sets, pin_counts)
    if row < 0 and graph.sets.width != 1:
        changed = kl.int64(PRESENT_CHANGED)
    return changed
