"""What blocks weigh and may weigh: how other modules change it."""

from __future__ import annotations

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.backends import language as kl


@kl.device
def add_block_weight(block, weight, blocks: Blocks):
    """Add to what a block weighs; atomic, independent of order."""
    kl.atomic_add(blocks.weight, kl.int64(block), weight)
    return weight


@kl.device
def set_move_cost(v, price, blocks: Blocks):
    """Set the migration cost of v; the array must exist."""
    blocks.move_cost[v] = price  # type: ignore[index]
    return price


@kl.device
def set_limit(b, limit, blocks: Blocks):
    """Set what block b may weigh."""
    blocks.limits[b] = kl.int64(limit)
    return limit


@kl.device
def set_limits(b, limit, mean, open_below, blocks: Blocks):
    """Set what block b may weigh, its share of all weight, and when it takes vertices of others."""
    blocks.limits[b] = limit
    blocks.means[b] = mean
    blocks.open_below[b] = open_below
    return limit
