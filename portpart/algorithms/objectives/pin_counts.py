"""Counting the pins of large nets in each block; no other file stores into their counters."""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import BITS, NetRows, PinCounts, PinSets
from portpart.backends import language as kl

PIECE = 2**16
"""Number of pins of a net that one team counts, if nets are counted in pieces."""


@kl.device
def clear_counters(row, sets: PinSets, pin_counts: PinCounts):
    """Clear the counters of a row, and return where they begin.  Called by all lanes of a team."""
    first = kl.int64(row) * sets.blocks
    for block in range(kl.lane(), sets.blocks, kl.team_size()):
        pin_counts.counts[first + block] = 0
    kl.team_sync()
    return first


@kl.device
def count_pins(net, first, graph: NetRows, pin_counts: PinCounts, part):
    """Count the pins of a net in counters from `first` on.  Called by all lanes of a team."""
    for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net], kl.team_size()):
        kl.team_atomic_add(pin_counts.counts, first + part[graph.nets.pins[place]], 1)
    kl.team_sync()
    return net


@kl.device
def add_pins(row, block, number, sets: PinSets, pin_counts: PinCounts):
    """Add to the number of pins in a block, if the net has counters.

    Atomic, independent of order.
    """
    if row >= 0:
        kl.atomic_add(pin_counts.counts, kl.int64(row) * sets.blocks + block, number)


@kl.device
def move_pin(row, here, there, sets: PinSets, pin_counts: PinCounts):
    """Move a pin from block `here` to `there` in the counters, if there are any.

    Atomic, independent of order.
    """
    if row >= 0:
        first = kl.int64(row) * sets.blocks
        kl.atomic_add(pin_counts.counts, first + here, -1)
        kl.atomic_add(pin_counts.counts, first + there, 1)


@kl.device
def shift_pin(first, here, there, pin_counts: PinCounts):
    """Move a pin between blocks in the counters from `first` on, which only this team uses."""
    kl.team_atomic_add(pin_counts.counts, first + here, -1)
    kl.team_atomic_add(pin_counts.counts, first + there, 1)


@kl.device
def restore_counter(place, count, pin_counts: PinCounts):
    """Set a counter to its former value."""
    pin_counts.counts[place] = count


@kl.kernel
def count_piece(i, graph: NetRows, pin_counts: PinCounts, part, pieces):
    """Count PIECE pins of a net with counters, which were zero; each net has `pieces` pieces.

    For nets that would take one team long.  If blocks are few, they are counted in scratch memory
    first.
    """
    counts = kl.team_array(kl.int32, BITS)
    row = i // pieces
    if row < graph.sets.large:
        net = graph.sets.net_of_row[row]
        k = graph.sets.blocks
        begin = kl.int64(graph.nets.begin[net]) + i % pieces * PIECE
        end = min(begin + PIECE, kl.int64(graph.nets.end[net]))
        if k <= BITS:
            for block in range(kl.lane(), k, kl.team_size()):
                counts[block] = 0
            kl.team_sync()
            for place in range(begin + kl.lane(), end, kl.team_size()):
                kl.team_atomic_add(counts, part[graph.nets.pins[place]], 1)
            kl.team_sync()
            for block in range(kl.lane(), k, kl.team_size()):
                if counts[block] != 0:
                    kl.atomic_add(pin_counts.counts, row * k + block, counts[block])
        else:
            for place in range(begin + kl.lane(), end, kl.team_size()):
                kl.atomic_add(pin_counts.counts, row * k + part[graph.nets.pins[place]], 1)
