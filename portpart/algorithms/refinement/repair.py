"""The last word on balance: a sequential repair on the host, for what refinement left too heavy.

Refinement nearly always ends balanced.  With few heavy vertices or no slack it may not; then
vertices move one by one, and if that fails too the vertices are packed anew: heaviest first, then
by search.
"""

from __future__ import annotations

import heapq

import numpy as np

from portpart.algorithms.refinement.balance import Balance
from portpart.algorithms.refinement.packing import packed_within
from portpart.backends.interface import Array
from portpart.graph import Graph
from portpart.primitives.histogram import histogram


def repaired(graph: Graph, part: Array, balance: Balance) -> tuple[Array, np.ndarray]:
    """`part` with every block within the limit, if one can be found, and the block weights.

    Parameters
    ----------
    graph : Graph
    part : array of int32, shape (n,)
        Returned as it is if it is balanced.
    balance : Balance

    Returns
    -------
    part : array of int32, shape (n,)
    block_weights : numpy.ndarray of int64, shape (k,)
    """
    space = graph.space
    blocks = space.to_host(histogram(space, part, balance.num_blocks, graph.vertex_weights)).copy()
    if blocks.max(initial=0) <= balance.max_block_weight:
        return part, blocks
    weights = _vertex_weights(graph)
    moved = space.to_host(part).copy()
    _move_out(moved, weights, blocks, balance.max_block_weight)
    if blocks.max() > balance.max_block_weight:
        packed = _packed(moved, weights, balance)
        packed_blocks = _block_weights(packed, weights, balance.num_blocks)
        if packed_blocks.max() < blocks.max():
            moved, blocks = packed, packed_blocks
    if blocks.max() > balance.max_block_weight and _search(moved, weights, balance):
        blocks = _block_weights(moved, weights, balance.num_blocks)
    return space.asarray(moved), blocks


def _vertex_weights(graph: Graph) -> np.ndarray:
    if graph.vertex_weights is None:
        return np.ones(graph.num_vertices, np.int64)
    return graph.space.to_host(graph.vertex_weights)


def _block_weights(part: np.ndarray, weights: np.ndarray, num_blocks: int) -> np.ndarray:
    blocks = np.zeros(num_blocks, np.int64)
    np.add.at(blocks, part, weights)
    return blocks


def _move_out(part: np.ndarray, weights: np.ndarray, blocks: np.ndarray, limit: int) -> None:
    """Move vertices of too heavy blocks, light ones first, to the lightest block that has room."""
    lightest = [(int(weight), block) for block, weight in enumerate(blocks)]
    heapq.heapify(lightest)
    for block in np.flatnonzero(blocks > limit):
        members = np.flatnonzero((part == block) & (weights > 0))
        for v in members[np.argsort(weights[members], kind="stable")]:
            if blocks[block] <= limit or not _give(int(v), part, weights, blocks, limit, lightest):
                break


def _give(v: int, part: np.ndarray, weights: np.ndarray, blocks: np.ndarray, limit: int,
          lightest: list[tuple[int, int]]) -> bool:
    """Move v to the lightest block; False if even that one has no room."""
    while lightest[0][0] != blocks[lightest[0][1]]:
        _, stale = heapq.heappop(lightest)
        heapq.heappush(lightest, (int(blocks[stale]), stale))
    _, there = lightest[0]
    if blocks[there] + weights[v] > limit:
        return False
    blocks[part[v]] -= weights[v]
    blocks[there] += weights[v]
    part[v] = there
    heapq.heapreplace(lightest, (int(blocks[there]), there))
    return True


def _packed(part: np.ndarray, weights: np.ndarray, balance: Balance) -> np.ndarray:
    """All vertices packed anew, heaviest first: where they were if it fits, else the lightest."""
    result = part.copy()
    blocks = [0] * balance.num_blocks
    lightest = [(0, block) for block in range(balance.num_blocks)]
    for v in np.argsort(-weights, kind="stable"):
        weight, block = int(weights[v]), int(part[v])
        if blocks[block] + weight > balance.max_block_weight:
            while lightest[0][0] != blocks[lightest[0][1]]:
                _, stale = heapq.heappop(lightest)
                heapq.heappush(lightest, (blocks[stale], stale))
            block = lightest[0][1]
        blocks[block] += weight
        result[v] = block
    return result


def _search(part: np.ndarray, weights: np.ndarray, balance: Balance) -> bool:
    """Put all vertices into blocks that a search has found for them; False if it finds none."""
    heaviest_first = np.argsort(-weights, kind="stable")
    heaviest_first = heaviest_first[weights[heaviest_first] > 0]
    found = packed_within(weights[heaviest_first].tolist(), balance.num_blocks,
                          balance.max_block_weight)
    if found is None:
        return False
    part[heaviest_first] = found
    return True
