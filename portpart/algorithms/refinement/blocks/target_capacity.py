"""Which blocks accept vertices of overloaded ones, and up to which weight.

In Jet any block below its limit does.  A block that has just lost its overload has a little
capacity, for which many vertices lose least; they come back, and weak rebalancing alternates
between few blocks, as on hypergraphs of large nets with many small blocks.  There a block that was
too heavy accepts no vertex until all are within their limits.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction, Static, StaticValue


@dataclass(frozen=True)
class TargetCapacity(Static):
    """The weight that blocks within their limits accept from others, as device functions.

    Attributes
    ----------
    free_capacity : DeviceFunction
        ``free_capacity(b, blocks, figures)``: what block b still accepts.
    note_weight : DeviceFunction
        ``note_weight(b, weight, blocks, figures)``: takes the weight of each block now.
    find : DeviceFunction
        ``find(blocks, now, figures)``: lists the blocks with free capacity, and says whether all
        had to be opened again; all lanes of a team together.  The words of `now` and `figures` may
        be copies.
    """

    free_capacity: DeviceFunction
    note_weight: DeviceFunction
    find: DeviceFunction


@kl.device
def free_below_limit(b, blocks: Blocks, figures: Figures):
    """What block b is short of the weight below which it takes vertices."""
    return blocks.open_below[b] + figures.slack - blocks.weight[b]


@kl.device
def free_if_open(b, blocks: Blocks, figures: Figures):
    """The same if block b was never too heavy since vertices last moved for gains."""
    return blocks.opening[b] - blocks.weight[b]


@kl.device
def ignore_weight(b, weight, blocks: Blocks, figures: Figures):
    """The weight of a block is not needed later."""
    return weight


@kl.device
def open_block(b, blocks: Blocks, figures: Figures):
    """Block b takes vertices."""
    blocks.opening[b] = blocks.open_below[b] + figures.slack
    return b


@kl.device
def close_if_heavy(b, weight, blocks: Blocks, figures: Figures):
    """Close block b if it is overloaded; after moves for gains all blocks are open again."""
    if figures.iteration < 0 or figures.balanced != 0:
        open_block(b, blocks, figures)
    if weight > blocks.limits[b] + figures.slack:
        blocks.opening[b] = 0
    return weight


@kl.device
def list_destinations(blocks: Blocks, now: Blocks, figures: Figures, free_capacity: StaticValue):
    """List the blocks with room in their order, and where the room of each one starts.

    All lanes of one team together; returns the number of blocks listed.
    """
    listed = kl.int64(0)
    total = kl.int64(0)
    base = kl.int64(0)
    num_blocks = figures.blocks
    while base < num_blocks:
        b = base + kl.lane()
        free = kl.int64(0)
        if b < num_blocks:
            free = max(kl.int64(0), free_capacity(b, blocks, figures))
        opens = kl.int64(0)
        if free > 0:
            opens = kl.int64(1)
        place = kl.team_scan(opens)
        until = kl.team_scan(free)
        if free > 0:
            blocks.destination[listed + place - 1] = kl.int32(b)
            blocks.room[listed + place - 1] = total + until - free
        listed += kl.team_last(place)
        total += kl.team_last(until)
        base += kl.team_size()
    if kl.lane() == 0:
        blocks.room[listed] = total
        now.destinations = listed
    return listed


@kl.device
def find_open(blocks: Blocks, now: Blocks, figures: Figures):
    """List the blocks with room, which are always open."""
    list_destinations(blocks, now, figures, free_below_limit)
    return False


@kl.device
def find_or_open(blocks: Blocks, now: Blocks, figures: Figures):
    """List the blocks with capacity; if none is left, open all again, and return True."""
    found = list_destinations(blocks, now, figures, free_if_open)
    if found == 0:
        for b in range(kl.lane(), figures.blocks, kl.team_size()):
            open_block(b, blocks, figures)
        kl.team_sync()
        list_destinations(blocks, now, figures, free_if_open)
    return found == 0


OPEN = TargetCapacity(free_below_limit, ignore_weight, find_open)
CLOSING = TargetCapacity(free_if_open, close_if_heavy, find_or_open)
