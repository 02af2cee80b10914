"""Weights and limits of blocks, blocks that accept vertices, and vertices too heavy to move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement import Figures
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, Structure
from portpart.primitives import max_of

# Weights, limits and capacities of the blocks --------------------------------------------------


class Blocks(kl.Record):
    """Weights and limits of blocks, and the vertices that are fixed to their block.

    Attributes
    ----------
    weight : array of int64, shape (k,)
    limits, means, open_below : array of int64, shape (k,)
        The limit of a block; its weight if every block has its share; and the weight below which it
        accepts vertices of other blocks.
    opening : array of int64, shape (k,)
        Like `open_below`, but blocks that were overloaded accept none (`CLOSING`).
    destination : array of int32
        Blocks with free capacity.
    capacity_begin : array of int64
        Where the interval of each of them begins, if their free capacities are laid out in one row.
    fixed : array of int32, shape (n,), or None
        Vertices with an entry of 0 or more stay in their block.
    previous : array of int32, shape (n,), or None
        Previous blocks of vertices.
    move_cost : array of int64, shape (n,), or None
        Their cost in other blocks (`previous_blocks.py`).
    """

    limits: Array = kl.work(np.int64, "blocks")
    means: Array = kl.work(np.int64, "blocks")
    open_below: Array = kl.work(np.int64, "blocks")
    fixed: Array | None = None
    previous: Array | None = None
    move_cost: Array | None = None
    weight: Array = kl.work(np.int64, "blocks")
    opening: Array = kl.work(np.int64, "blocks")
    destination: Array = kl.work(np.int32, "blocks")
    capacity_begin: Array = kl.work(np.int64, lambda size: size.blocks + 1)

    destinations: int = kl.word()  # blocks with free capacity


# Functions that change weights and limits of blocks --------------------------------------------


LOWEST = -(2**63)


@kl.device
def free_capacity(b, blocks: Blocks, figures: Figures):
    """Return the free capacity of block b; negative if it is overloaded."""
    return blocks.limits[b] + figures.slack - blocks.weight[b]


@kl.device
def first_of_most(blocks: Blocks, figures: Figures, measure: kl.StaticValue):
    """Return the block with the largest measure, the first one if several are equal.

    Called by all lanes of a team.
    """
    most = kl.int64(LOWEST)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        most = max(most, measure(b, blocks, figures))
    most = kl.team_max(most)
    first = kl.int64(figures.blocks)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        if measure(b, blocks, figures) == most:
            first = min(first, kl.int64(b))
    return kl.team_min(first)


@kl.device
def find_overloaded(blocks: Blocks, figures: Figures):
    """Return 1 if a block is overloaded, else 0.  Called by all lanes of a team."""
    found = kl.int64(0)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        if free_capacity(b, blocks, figures) < 0:
            found = kl.int64(1)
    return kl.team_max(found)


@kl.device
def add_block_weight(block, weight, blocks: Blocks):
    """Add to the weight of a block.  Atomic, independent of order."""
    kl.atomic_add(blocks.weight, kl.int64(block), weight)


@kl.device
def set_move_cost(v, cost, blocks: Blocks):
    """Set the migration cost of v; the array must exist."""
    blocks.move_cost[v] = cost  # type: ignore[index]


@kl.device
def set_limit(b, limit, blocks: Blocks):
    """Set the limit of block b."""
    blocks.limits[b] = kl.int64(limit)


@kl.device
def set_limits(b, limit, mean, open_below, blocks: Blocks):
    """Set the limit, the mean weight and the opening weight of block b."""
    blocks.limits[b] = limit
    blocks.means[b] = mean
    blocks.open_below[b] = open_below


# Which blocks accept vertices of overloaded ones, and up to which weight -----------------------
#
# In Jet, any block below its limit does.  A block that has just lost its overload has a little
# capacity, to which many vertices move at the smallest loss.  They come back, and weak rebalancing
# alternates between a few blocks, for example on hypergraphs with large nets and many small blocks.
# There a block that was overloaded accepts no vertex until all blocks are within their limits.


@dataclass(frozen=True)
class TargetCapacity(kl.Static):
    """The weight that blocks accept from others, as device functions.

    Attributes
    ----------
    free_capacity : DeviceFunction
        ``free_capacity(b, blocks, figures)``: the weight that block b still accepts.
    note_weight : DeviceFunction
        ``note_weight(b, weight, blocks, figures)``: called with the current weight of each block.
    find : DeviceFunction
        ``find(blocks, now, figures)``: lists the blocks with free capacity, and returns whether all
        blocks had to be opened again; called by all lanes of a team.  The words of `now` and
        `figures` may be copies.
    """

    free_capacity: kl.DeviceFunction
    note_weight: kl.DeviceFunction
    find: kl.DeviceFunction


@kl.device
def free_below_limit(b, blocks: Blocks, figures: Figures):
    """Return the weight that block b accepts, up to `open_below`."""
    return blocks.open_below[b] + figures.slack - blocks.weight[b]


@kl.device
def free_if_open(b, blocks: Blocks, figures: Figures):
    """Return the weight that block b accepts, up to `opening`.

    It is not positive if block b was overloaded since the last moves for gains.
    """
    return blocks.opening[b] - blocks.weight[b]


@kl.device
def ignore_weight(b, weight, blocks: Blocks, figures: Figures):
    """Do nothing: the weight of a block is not needed."""


@kl.device
def open_block(b, blocks: Blocks, figures: Figures):
    """Let block b accept vertices."""
    blocks.opening[b] = blocks.open_below[b] + figures.slack


@kl.device
def close_if_heavy(b, weight, blocks: Blocks, figures: Figures):
    """Close block b if it is overloaded; after moves for gains, open all blocks first."""
    if figures.iteration < 0 or figures.balanced != 0:
        open_block(b, blocks, figures)
    if weight > blocks.limits[b] + figures.slack:
        blocks.opening[b] = 0


@kl.device
def list_destinations(blocks: Blocks, now: Blocks, figures: Figures, free_capacity: kl.StaticValue):
    """List the blocks with free capacity, and where the interval of each one begins.

    Return the number of blocks listed.  Called by all lanes of one team.
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
            blocks.capacity_begin[listed + place - 1] = total + until - free
        listed += kl.team_last(place)
        total += kl.team_last(until)
        base += kl.team_size()
    if kl.lane() == 0:
        blocks.capacity_begin[listed] = total
        now.destinations = listed
    return listed


@kl.device
def find_open(blocks: Blocks, now: Blocks, figures: Figures):
    """List the blocks with free capacity; return False, since no block was closed."""
    list_destinations(blocks, now, figures, free_below_limit)
    return False


@kl.device
def find_or_open(blocks: Blocks, now: Blocks, figures: Figures):
    """List the blocks with free capacity; if there is none, open all again, and return True."""
    found = list_destinations(blocks, now, figures, free_if_open)
    if found == 0:
        for b in range(kl.lane(), figures.blocks, kl.team_size()):
            open_block(b, blocks, figures)
        kl.team_sync()
        list_destinations(blocks, now, figures, free_if_open)
    return found == 0


OPEN = TargetCapacity(free_below_limit, ignore_weight, find_open)
CLOSING = TargetCapacity(free_if_open, close_if_heavy, find_or_open)


# Vertices that are heavy for a block stay while others move around them ------------------------
#
# A block rarely has capacity for a heavy vertex, such as a macro among the cells of a circuit.
# Where a move gains, propagation would make it nevertheless, and rebalancing would move the vertex
# on, so that no partition in between is balanced.  Other vertices are placed around it instead.


SHARE = 16
"""A heavy vertex weighs more than 1 / SHARE of the limit of a block."""

MANY_MEANS = 2
"""A heavy vertex also weighs more than this many mean vertices."""

NONE = -1


def has_heavy(graph: Structure, balance: Balance) -> bool:
    """Whether a vertex may be heavy for some block.  Waits for the device."""
    if graph.vertex_weights is None:
        return False
    return SHARE * max_of(graph.space, graph.vertex_weights) > int(balance.limits.min())


def heavy_weights(graph: Structure, min_limit: int) -> Array:
    """Return the weight of each vertex that is heavy for a block of this limit, 0 for others."""
    heavy = graph.space.empty(graph.num_vertices, np.int64)
    graph.space.parallel_for(graph.num_vertices, weigh_heavy, graph.csr,
                             max_light(graph, min_limit), heavy)
    return heavy


def max_light(graph: Structure, min_limit: int) -> int:
    """Return the maximum weight of a vertex that is not heavy for a block of this limit."""
    whole = graph.whole
    mean = MANY_MEANS * whole.total_vertex_weight // max(1, whole.num_vertices)
    return max(mean, min_limit // SHARE)


def with_heavy(graph: Structure, part: Array, limits: Array, min_limit: int,
               fixed: Array | None) -> Array:
    """Return the block of each vertex that stays, else -1.

    A fixed vertex stays; so does a heavy one, if the heavy vertices of its block fit there.

    Parameters
    ----------
    part : array of int32
    limits : array of int64, shape (k,)
    min_limit : int
        The lowest of them.
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more are fixed.
    """
    space, n = graph.space, graph.num_vertices
    light, weights = max_light(graph, min_limit), space.zeros(len(limits), np.int64)
    space.parallel_for(n, add_heavy, graph.csr, light, part, weights)
    held = space.empty(n, np.int32)
    space.parallel_for(n, hold_vertex, graph.csr, light, part, weights, limits, fixed, held)
    return held


@kl.kernel
def weigh_heavy(v, graph: Csr, light, heavy):
    """heavy[v] = the weight of v if it is above `light`, else 0."""
    weight = kl.value_or(graph.vertex_weights, v, 1)
    heavy[v] = weight if weight > light else kl.int64(0)


@kl.kernel
def add_heavy(v, graph: Csr, light, part, block_weights):
    """Add the weight of v, if it is heavy, to its block.  Atomic, independent of order."""
    weight = kl.value_or(graph.vertex_weights, v, 1)
    if weight > light:
        kl.atomic_add(block_weights, part[v], weight)


@kl.kernel
def hold_vertex(v, graph: Csr, light, part, block_weights, limits, fixed, held):
    """held[v] = the block of v if v stays, else -1."""
    block = part[v]
    heavy = kl.value_or(graph.vertex_weights, v, 1) > light
    stays = heavy and block_weights[block] <= limits[block]
    held[v] = block if stays or kl.value_or(fixed, v, NONE) != NONE else kl.int32(NONE)
