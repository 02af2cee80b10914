"""Final balance: a sequential repair on the host, and the number of blocks that can be filled."""

from __future__ import annotations

import heapq

import numpy as np

from portpart.algorithms.final_balance.packing import packed_within
from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement.blocks import heavy_weights
from portpart.backends.programs import Array
from portpart.graphs import EitherGraph
from portpart.primitives import histogram

# A sequential repair on the host, if refinement leaves blocks too heavy ------------------------
#
# Refinement nearly always ends within the limits. With few heavy vertices or without slack it may
# not. Then vertices move one by one. If that fails, they are packed again: heaviest first, then by
# search. Fixed vertices never move.


def repaired(graph: EitherGraph, part: Array, balance: Balance,
             fixed: Array | None = None,
             block_weights: np.ndarray | None = None) -> tuple[Array, np.ndarray]:
    """Return `part` with every block within its limit, if one is found, and the block weights.

    Parameters
    ----------
    graph : Graph or Hypergraph
    part : array of int32, shape (n,)
        Returned as it is if no block is too heavy.
    balance : Balance
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more stay in their blocks.
    block_weights : numpy.ndarray of int64, shape (k,), optional
        Those of `part`, if they are known.

    Returns
    -------
    part : array of int32, shape (n,)
    block_weights : numpy.ndarray of int64, shape (k,)
    """
    space = graph.space
    if block_weights is None:
        block_weights = space.to_host(histogram(space, part, balance.num_blocks,
                                                graph.vertex_weights))
    blocks = block_weights.copy()
    if balance.overload(blocks) <= 0:
        return part, blocks
    moved, weights = space.to_host(part).copy(), host_vertex_weights(graph)
    balance = attainable(balance, moved, weights)
    if balance.overload(blocks) <= 0:
        return part, blocks
    free = np.ones(len(moved), bool) if fixed is None else space.to_host(fixed) < 0
    blocks = _repair(moved, weights, free, balance)
    return space.asarray(moved), blocks


def with_heavy_apart(graph: EitherGraph, parts: Array, balance: Balance,
                     fixed: Array | None = None) -> Array:
    """Distribute heavy vertices if those of one block together exceed its limit.

    Other vertices are left to refinement, which does not move heavy ones.
    """
    space, n = graph.space, graph.num_vertices
    weights = space.to_host(heavy_weights(graph, int(balance.limits.min())))
    free = np.ones(n, bool) if fixed is None else space.to_host(fixed) < 0
    moved = space.to_host(parts).copy()
    # one transfer, because each wait for a device takes longer than to copy a few partitions
    changed = [_spread_heavy(part, weights, free, balance) for part in moved]
    return space.asarray(moved) if any(changed) else parts


def _spread_heavy(part: np.ndarray, weights: np.ndarray, free: np.ndarray,
                  balance: Balance) -> bool:
    """Repair `part` in place if a block is too heavy; return whether that was so."""
    balance = attainable(balance, part, weights)
    if balance.overload(block_weights_on_host(part, weights, balance.num_blocks)) <= 0:
        return False
    _repair(part, weights, free, balance)
    return True


def attainable(balance: Balance, part: np.ndarray, weights: np.ndarray) -> Balance:
    """Return the balance with limits raised for blocks of vertices that exceed every limit.

    Such a block cannot be lighter than its heavy vertex.
    """
    heavy = np.flatnonzero(weights > balance.limits.max())
    if len(heavy) == 0:
        return balance
    limits = balance.limits.copy()
    np.maximum.at(limits, part[heavy], weights[heavy])
    return balance.with_limits(limits)


def host_vertex_weights(graph: EitherGraph) -> np.ndarray:
    """Return the weight of each vertex, int64, on the host."""
    if graph.vertex_weights is None:
        return np.ones(graph.num_vertices, np.int64)
    return graph.space.to_host(graph.vertex_weights)


def block_weights_on_host(part: np.ndarray, weights: np.ndarray, num_blocks: int) -> np.ndarray:
    """Return the weight of each block, int64."""
    blocks = np.zeros(num_blocks, np.int64)
    np.add.at(blocks, part, weights)
    return blocks


def _repair(part: np.ndarray, weights: np.ndarray, free: np.ndarray,
            balance: Balance) -> np.ndarray:
    """Repair `part` in place; return its block weights."""
    k = balance.num_blocks
    blocks = block_weights_on_host(part, weights, k)
    move_out(part, weights, free, blocks, balance.limits)
    if balance.overload(blocks) > 0:
        packed = _packed(part, weights, free, balance.limits)
        packed_blocks = block_weights_on_host(packed, weights, k)
        if balance.overload(packed_blocks) < balance.overload(blocks):
            part[:], blocks = packed, packed_blocks
    if balance.overload(blocks) > 0 and _search(part, weights, free, balance):
        blocks = block_weights_on_host(part, weights, k)
    return blocks


class _Capacities:
    """The blocks by free capacity, largest first; block weights may change."""

    def __init__(self, blocks: list[int], limits: list[int]) -> None:
        self.blocks, self.limits = blocks, limits
        self.heap = [(weight - limit, block)
                     for block, (weight, limit) in enumerate(zip(blocks, limits))]
        heapq.heapify(self.heap)

    def widest(self) -> int:
        """Return the block with the largest free capacity, the first of equal ones."""
        while True:
            filled, block = self.heap[0]
            now = self.blocks[block] - self.limits[block]
            if filled == now:
                return block
            heapq.heapreplace(self.heap, (now, block))


def move_out(part: np.ndarray, weights: np.ndarray, free: np.ndarray,
             blocks: np.ndarray, limits: np.ndarray) -> None:
    """Move vertices out of overloaded blocks, light ones first, to the largest free capacity.

    Changes `part` and the block weights in place.
    """
    heavy = np.flatnonzero((blocks > limits)[part] & (weights > 0) & free)
    heavy = heavy[np.lexsort((weights[heavy], part[heavy]))]
    filled, max_weights = blocks.tolist(), limits.tolist()
    capacities, done = _Capacities(filled, max_weights), -1
    for v, block, weight in zip(heavy.tolist(), part[heavy].tolist(), weights[heavy].tolist()):
        if block == done:
            continue
        there = capacities.widest()
        if filled[block] <= max_weights[block] or filled[there] + weight > max_weights[there]:
            done = block
            continue
        filled[block] -= weight
        filled[there] += weight
        part[v] = there
    blocks[:] = filled


def _packed(part: np.ndarray, weights: np.ndarray, free: np.ndarray,
            limits: np.ndarray) -> np.ndarray:
    """Repack free vertices, heaviest first: to their own block if they fit, else the freest one."""
    result = part.copy()
    filled = block_weights_on_host(part[~free], weights[~free], len(limits)).tolist()
    max_weights = limits.tolist()
    capacities = _Capacities(filled, max_weights)
    order = np.argsort(-weights, kind="stable")
    order = order[free[order]]
    chosen = []
    for block, weight in zip(part[order].tolist(), weights[order].tolist()):
        if filled[block] + weight > max_weights[block]:
            block = capacities.widest()
        filled[block] += weight
        chosen.append(block)
    result[order] = chosen
    return result


def _search(part: np.ndarray, weights: np.ndarray, free: np.ndarray, balance: Balance) -> bool:
    """Put free vertices into the blocks that a search returns; return False if it finds none."""
    limits = balance.limits
    fixed_weights = block_weights_on_host(part[~free], weights[~free], len(limits))
    if (fixed_weights > limits).any():
        return False
    heaviest_first = np.argsort(-weights, kind="stable")
    heaviest_first = heaviest_first[(weights[heaviest_first] > 0) & free[heaviest_first]]
    several, capacities = weights[heaviest_first], limits - fixed_weights
    found = balance.known.once(
        "packed within", lambda: packed_within(several.tolist(), capacities.tolist()), several,
        capacities)
    if found is None:
        return False
    part[heaviest_first] = found
    return True


# The number of blocks that can be filled -------------------------------------------------------


def nonempty_weight(graph: EitherGraph, num_blocks: int) -> int:
    """Return 1 if enough vertices have weight that no block must be empty, else 0."""
    if graph.vertex_weights is None:
        return int(graph.num_vertices >= num_blocks)
    return int(int((graph.vertex_weights > 0).sum()) >= num_blocks)


def max_filled(graph: EitherGraph, limits: np.ndarray, fixed_weights: np.ndarray,
                fixed: Array | None = None) -> int:
    """Return how many blocks can have weight at once; 0 if fewer than `k` vertices have weight.

    If the limits can be kept, a partition within the limits exists with this many filled blocks: an
    empty block gets its vertex from a block of several vertices, maybe through blocks that pass on
    their only one. A vertex too heavy for every block still fills one.

    Parameters
    ----------
    limits, fixed_weights : numpy.ndarray of int64, shape (k,)
        Limits of the blocks and weights of the vertices fixed there.
    fixed : array of int32, shape (n,), optional
        As in `filled`.
    """
    if nonempty_weight(graph, len(limits)) == 0:
        return 0
    weights = host_vertex_weights(graph)
    free = weights > 0
    if fixed is not None:
        free &= graph.space.to_host(fixed) < 0
    return filled_by(np.sort(weights[free]), limits, fixed_weights)


def filled_by(lightest: np.ndarray, limits: np.ndarray, fixed_weights: np.ndarray) -> int:
    """Return how many blocks can have weight at once, if enough vertices have weight.

    Parameters
    ----------
    lightest : numpy.ndarray of int64
        Weights of free vertices, ascending and positive; the k lightest suffice.
    limits, fixed_weights : numpy.ndarray of int64, shape (k,)
        As in `max_filled`.
    """
    empty, largest = np.sort(limits[fixed_weights == 0]), int((limits - fixed_weights).max())
    first = lightest[: len(empty)].tolist()
    filled_ones = 0
    for limit in empty.tolist():
        if filled_ones < len(first) and (
                first[filled_ones] <= limit or first[filled_ones] > largest):
            filled_ones += 1
    return len(limits) - len(empty) + filled_ones
