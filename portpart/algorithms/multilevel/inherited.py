"""Blocks of new vertices from their neighbours, and numbers of new blocks from the old ones."""

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

# Blocks for vertices that have none yet, from those of their neighbours; on the host -----------


NONE = -1

MAX_ROUNDS = 64
"""Vertices that are farther from any block are distributed."""


def inherited(graph: EitherGraph, known: np.ndarray, balance: Balance) -> np.ndarray:
    """A block for every vertex; known ones are kept.

    In rounds, a vertex without one takes the block that most weight ties it to; in a hypergraph a
    net stands for the block of most of its pins.  The rest fills the room of the blocks.

    Parameters
    ----------
    known : numpy.ndarray of int32, shape (n,)
        -1 where there is none.

    Returns
    -------
    numpy.ndarray of int32, shape (n,)
    """
    part = known.copy()
    for _ in range(MAX_ROUNDS):
        owners, blocks, weights = _ties(graph, part)
        if len(owners) == 0:
            break
        found = _majority(owners, blocks, weights, len(part))
        part = np.where(part == NONE, found, part)
    return _spread(part, host_vertex_weights(graph), balance)


def _ties(graph: EitherGraph, part: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What ties vertices without a block to blocks, one entry an arc or a net."""
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
    tied = (blocks != NONE) & (weights > 0)
    return owners[tied], blocks[tied], weights[tied]


def _entries(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each entry of some rows, the row and the place."""
    lengths = (offsets[rows + 1] - offsets[rows]).astype(np.int64)
    ends = np.cumsum(lengths)
    places = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    return np.repeat(rows, lengths), places + np.repeat(offsets[rows] - (ends - lengths), lengths)


def _blocks_of_nets(graph: Hypergraph, part: np.ndarray) -> np.ndarray:
    """The block of most pins of each net, -1 if no pin has one."""
    offsets = graph.space.to_host(graph.net_offsets)
    nets = np.repeat(np.arange(graph.num_nets), np.diff(offsets))
    blocks = part[graph.space.to_host(graph.net_pins)]
    known = blocks != NONE
    ones = np.ones(int(known.sum()), np.int64)
    return _majority(nets[known], blocks[known], ones, graph.num_nets)


def _majority(owners: np.ndarray, blocks: np.ndarray, weights: np.ndarray,
              count: int) -> np.ndarray:
    """The block of the largest weight of each owner, the first of equal ones; -1 without any."""
    found = np.full(count, NONE, np.int32)
    if len(owners) == 0:
        return found
    order = np.lexsort((blocks, owners))
    owners, blocks, weights = owners[order], blocks[order], weights[order]
    begins = np.flatnonzero(np.append(True, (np.diff(owners) != 0) | (np.diff(blocks) != 0)))
    sums, owners, blocks = np.add.reduceat(weights, begins), owners[begins], blocks[begins]
    order = np.lexsort((-blocks, sums, owners))
    found[owners[order]] = blocks[order]  # the last one of each owner stays
    return found


def _host_weights(graph: EitherGraph, weights: Array | None, count: int) -> np.ndarray:
    if weights is None:
        return np.ones(count, np.int64)
    return np.asarray(graph.space.to_host(weights)).astype(np.int64)


def _spread(part: np.ndarray, weights: np.ndarray, balance: Balance) -> np.ndarray:
    """The vertices that have no block still fill the room of the blocks, one by one."""
    lost = np.flatnonzero(part == NONE)
    if len(lost) == 0:
        return part
    known = part != NONE
    filled = block_weights_on_host(part[known], weights[known], balance.num_blocks)
    room = np.cumsum(np.maximum(balance.limits - filled, 0).astype(np.float64))
    begins = np.cumsum(weights[lost].astype(np.float64)) - weights[lost]
    places = np.searchsorted(room, begins, side="right")
    part[lost] = np.minimum(places, balance.num_blocks - 1)
    return part


# Renumbers new blocks after the previous ones, so that most vertices stay ----------------------


MAX_MATCHED = 2048
"""With more blocks the best numbering takes too long; a greedy one has to do."""


def renumbered(space: ExecutionSpace, part: Array, previous_blocks: PreviousBlocks,
               balance: Balance) -> Array:
    """The same blocks, renumbered so that the saved migration cost is largest.

    Blocks that may not weigh the same do not change numbers.
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
    """Blocks by what they may and are meant to weigh."""
    kinds = np.unique(np.stack([balance.limits, balance.means]), axis=1, return_inverse=True)[1]
    kinds = kinds.reshape(-1)
    return [np.flatnonzero(kinds == kind) for kind in range(int(kinds.max()) + 1)]


def _names(overlap: csr_array) -> np.ndarray:
    if overlap.shape[0] > MAX_MATCHED:
        return greedy_names(overlap)
    return best_names(overlap.toarray())
