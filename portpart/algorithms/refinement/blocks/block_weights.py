"""What blocks weigh and may weigh: how other modules change it."""

from __future__ import annotations

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.backends import language as kl


@kl.device
def free_capacity(b, blocks: Blocks, figures: Figures):
    """How much more block b may weigh."""
    return blocks.limits[b] + figures.slack - blocks.weight[b]


@kl.device
def find_overloaded(blocks: Blocks, figures: Figures):
    """1 if a block is too heavy, else 0.  All lanes of a team together."""
    found = kl.int64(0)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        if free_capacity(b, blocks, figures) < 0:
            found = kl.int64(1)
    return kl.team_max(found)


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
