"""Blocks of new vertices from their neighbours; numbers of new blocks from previous ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms.final_balance import block_weights_on_host, host_vertex_weights
from portpart.algorithms.initial import best_names, greedy_names
from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import EitherGraph, Graph, Hypergraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Blocks for vertices without a block, from their neighbours; on the host -----------------------


NONE = -1

MAX_ROUNDS = 64
"""Vertices farther from any block are distributed over the free capacity."""


def inherited(graph: EitherGraph, known: np.ndarray, balance: Balance) -> np.ndarray:
    """Return a block for every vertex; known blocks are kept.

    In each round, a vertex without a block gets the block with the largest connectivity. In a
    hypergraph, a net counts for the block of most of its pins. The remaining vertices fill the
    free capacity of the blocks.

    Parameters
    ----------
    known : numpy.ndarray of int32, shape (n,)
        -1 for vertices without a block.

    Returns
    -------
    numpy.ndarray of int32, shape (n,)
    """
    part = known.copy()
    for _ in range(MAX_ROUNDS):
        owners, blocks, weights = _connections(graph, part)
        if len(owners) == 0:
            break
        found = _majority(owners, blocks, weights, len(part))
        part = np.where(part == NONE, found, part)
    return _spread(part, host_vertex_weights(graph), balance)


def _connections(graph: EitherGraph, part: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vertices without a block, and block and weight of each of their arcs or nets."""
    lost = np.flatnonzero(part == NONE).astype(np.int64)
    if isinstance(graph, Graph):
        owners, places = _entries(graph.space.to_host(graph.offsets), lost)
        blocks = part[graph.space.to_host(graph.targets)[places]]
        weights = _host_weights(graph, graph.weights, graph.num_arcs)[places]
    else:
        owners, places = _entries(graph.space.to_host(graph.vertex_offsets), lost)
        nets = graph.space.to_host(graph.vertex_nets)[places]
        blocks = _blocks_of_nets(graph, part)[nets]
        weights = _host_weights(graph, graph.net_weights, graph.num_nets)[nets]
    connected = (blocks != NONE) & (weights > 0)
    return owners[connected], blocks[connected], weights[connected]


def _entries(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the place of each entry of some rows."""
    lengths = (offsets[rows + 1] - offsets[rows]).astype(np.int64)
    ends = np.cumsum(lengths)
    places = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    return np.repeat(rows, lengths), places + np.repeat(offsets[rows] - (ends - lengths), lengths)


def _blocks_of_nets(graph: Hypergraph, part: np.ndarray) -> np.ndarray:
    """Return the block of most pins of each net, -1 if no pin has a block."""
    offsets = graph.space.to_host(graph.net_offsets)
    nets = np.repeat(np.arange(graph.num_nets), np.diff(offsets))
    blocks = part[graph.space.to_host(graph.net_pins)]
    known = blocks != NONE
    ones = np.ones(int(known.sum()), np.int64)
    return _majority(nets[known], blocks[known], ones, graph.num_nets)


def _majority(owners: np.ndarray, blocks: np.ndarray, weights: np.ndarray,
              count: int) -> np.ndarray:
    """Return the block with the largest weight of each owner, -1 without any.

    The smallest of equally heavy blocks wins.
    """
    found = np.full(count, NONE, np.int32)
    if len(owners) == 0:
        return found
    order = np.lexsort((blocks, owners))
    owners, blocks, weights = owners[order], blocks[order], weights[order]
    begins = np.flatnonzero(np.append(True, (np.diff(owners) != 0) | (np.diff(blocks) != 0)))
    sums, owners, blocks = np.add.reduceat(weights, begins), owners[begins], blocks[begins]
    order = np.lexsort((-blocks, sums, owners))
    found[owners[order]] = blocks[order]  # the last entry of each owner remains
    return found


def _host_weights(graph: EitherGraph, weights: Array | None, count: int) -> np.ndarray:
    if weights is None:
        return np.ones(count, np.int64)
    return np.asarray(graph.space.to_host(weights)).astype(np.int64)


def _spread(part: np.ndarray, weights: np.ndarray, balance: Balance) -> np.ndarray:
    """Fill the free capacity of the blocks with the vertices that have no block, in order."""
    lost = np.flatnonzero(part == NONE)
    if len(lost) == 0:
        return part
    known = part != NONE
    filled = block_weights_on_host(part[known], weights[known], balance.num_blocks)
    capacity = np.cumsum(np.maximum(balance.limits - filled, 0).astype(np.float64))
    begins = np.cumsum(weights[lost].astype(np.float64)) - weights[lost]
    places = np.searchsorted(capacity, begins, side="right")
    part[lost] = np.minimum(places, balance.num_blocks - 1)
    return part


# Numbers of new blocks after the previous ones, so that most vertices stay ---------------------


MAX_MATCHED = 2048
"""With more blocks the best numbering takes too long; a greedy one is used."""


def renumbered(space: ExecutionSpace, part: Array, previous_blocks: PreviousBlocks,
               balance: Balance) -> Array:
    """Renumber blocks so that the saved migration cost is largest.

    Only blocks of equal limit and mean weight exchange numbers.
    """
    from scipy.sparse import coo_array

    k, blocks = balance.num_blocks, space.to_host(part)
    overlap = coo_array((space.to_host(previous_blocks.move_cost),
                         (blocks, space.to_host(previous_blocks.previous))),
                        shape=(k, k)).tocsr()
    names = np.arange(k, dtype=np.int32)
    for alike in _alike(balance):
        names[alike] = alike[_names(overlap[alike][:, alike])]
    return space.asarray(names[blocks])


def _alike(balance: Balance) -> list[np.ndarray]:
    """Group the blocks by limit and mean weight."""
    kinds = np.unique(np.stack([balance.limits, balance.means]), axis=1, return_inverse=True)[1]
    kinds = kinds.reshape(-1)
    return [np.flatnonzero(kinds == kind) for kind in range(int(kinds.max()) + 1)]


def _names(overlap: csr_array) -> np.ndarray:
    if overlap.shape[0] > MAX_MATCHED:
        return greedy_names(overlap)
    return best_names(overlap.toarray())
