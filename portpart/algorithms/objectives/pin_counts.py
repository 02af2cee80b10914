"""Counting the pins of large nets in each block; nothing else stores into their counters."""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import BITS, NetRows, PinCounts, PinSets
from portpart.backends.language import (
    atomic_add,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_atomic_add,
    team_size,
    team_sync,
)

PIECE = 2**16
"""Pins of a net that one team counts where nets are counted in pieces."""


@device
def clear_counters(row, sets: PinSets, pin_counts: PinCounts):
    """Counters of a row are zero; returns where they begin.  All lanes of a team together."""
    first = int64(row) * sets.blocks
    for block in range(lane(), sets.blocks, team_size()):
        pin_counts.counts[first + block] = 0
    team_sync()
    return first


@device
def count_pins(net, first, graph: NetRows, pin_counts: PinCounts, part):
    """Count the pins of a net in counters from `first` on.  All lanes of a team together."""
    for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
        team_atomic_add(pin_counts.counts, first + part[graph.nets.pins[place]], 1)
    team_sync()
    return net


@device
def add_pins(row, block, number, sets: PinSets, pin_counts: PinCounts):
    """Count so many pins more in a block, if the net has a row of counters; atomic, order-free."""
    if row >= 0:
        atomic_add(pin_counts.counts, int64(row) * sets.blocks + block, number)
    return number


@device
def move_pin(row, here, there, sets: PinSets, pin_counts: PinCounts):
    """Count a pin in block `there` that was in `here`, if there are counters.

    Atomic, order-free.
    """
    if row >= 0:
        first = int64(row) * sets.blocks
        atomic_add(pin_counts.counts, first + here, -1)
        atomic_add(pin_counts.counts, first + there, 1)
    return row


@device
def shift_pin(first, here, there, pin_counts: PinCounts):
    """The same in counters from `first` on, which only this team uses."""
    team_atomic_add(pin_counts.counts, first + here, -1)
    team_atomic_add(pin_counts.counts, first + there, 1)
    return there


@device
def restore_counter(place, count, pin_counts: PinCounts):
    """Set a counter to what it was."""
    pin_counts.counts[place] = count
    return count


@kernel
def count_piece(i, graph: NetRows, pin_counts: PinCounts, part, pieces):
    """Count PIECE pins of a net with counters, of so many pieces for each; counters were zero.

    For nets that would take one team long.  Few blocks are counted in scratch memory first.
    """
    counts = team_array(int32, BITS)
    row = i // pieces
    if row < graph.sets.large:
        net = graph.sets.net_of_row[row]
        k = graph.sets.blocks
        begin = int64(graph.nets.begin[net]) + i % pieces * PIECE
        end = min(begin + PIECE, int64(graph.nets.end[net]))
        if k <= BITS:
            for block in range(lane(), k, team_size()):
                counts[block] = 0
            team_sync()
            for place in range(begin + lane(), end, team_size()):
                team_atomic_add(counts, part[graph.nets.pins[place]], 1)
            team_sync()
            for block in range(lane(), k, team_size()):
                if counts[block] != 0:
                    atomic_add(pin_counts.counts, row * k + block, counts[block])
        else:
            for place in range(begin + lane(), end, team_size()):
                atomic_add(pin_counts.counts, row * k + part[graph.nets.pins[place]], 1)
