"""Reductions to one number, in two steps: one team per tile, then one team over the tiles."""

from __future__ import annotations

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Kernel,
    atomic_min,
    int64,
    kernel,
    lane,
    team_max,
    team_min,
    team_size,
    team_sum,
)

TILE = 8192
"""Elements that one team reduces."""

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


def sum_of(space: ExecutionSpace, values: Array) -> int:
    """Sum of integers, in int64; 0 for none.  Synchronises."""
    return _reduce(space, values, sum_tile)


def max_of(space: ExecutionSpace, values: Array) -> int:
    """Largest integer; the smallest int64 for none.  Synchronises."""
    return _reduce(space, values, max_tile) if len(values) else INT64_MIN


def min_of(space: ExecutionSpace, values: Array) -> int:
    """Smallest integer; the largest int64 for none.  Synchronises."""
    return _reduce(space, values, min_tile) if len(values) else INT64_MAX


def argmax_of(space: ExecutionSpace, values: Array) -> int:
    """Position of the largest integer, the first one of equals; -1 for none.  Synchronises."""
    if not len(values):
        return -1
    top = max_of(space, values)
    first = space.full(1, len(values), np.int64)
    tiles = -(-len(values) // TILE)
    space.parallel_for(tiles, first_equal_in_tile, values, top, len(values), first, team=256)
    return int(space.to_host(first)[0])


def _reduce(space: ExecutionSpace, values: Array, tile_kernel: Kernel) -> int:
    while len(values) != 1:
        tiles = max(1, -(-len(values) // TILE))
        result = space.empty(tiles, np.int64)
        space.parallel_for(tiles, tile_kernel, values, len(values), result, team=256)
        values = result
    return int(space.to_host(values)[0])


@kernel
def sum_tile(tile, values, size, result):
    """result[tile] = sum of the tile."""
    total = int64(0)
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        total += int64(values[i])
    total = team_sum(total)
    if lane() == 0:
        result[tile] = total


@kernel
def max_tile(tile, values, size, result):
    """result[tile] = largest of the tile."""
    top = int64(INT64_MIN)
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        top = max(top, int64(values[i]))
    top = team_max(top)
    if lane() == 0:
        result[tile] = top


@kernel
def min_tile(tile, values, size, result):
    """result[tile] = smallest of the tile."""
    low = int64(INT64_MAX)
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        low = min(low, int64(values[i]))
    low = team_min(low)
    if lane() == 0:
        result[tile] = low


@kernel
def first_equal_in_tile(tile, values, wanted, size, first):
    """first[0] = least position whose value is `wanted`; atomic, order-free."""
    found = size
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        if int64(values[i]) == wanted:
            found = min(found, i)
    found = team_min(found)
    if lane() == 0 and found < size:
        atomic_min(first, 0, found)
