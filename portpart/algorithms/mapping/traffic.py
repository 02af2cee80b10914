"""The traffic between processing elements, and better places for the blocks it runs between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms.coarsening.contraction import Clusters, contract
from portpart.algorithms.mapping.distances import Distances
from portpart.algorithms.mapping.swaps import MOST_SWAPPED, swapped_places
from portpart.backends.interface import Array
from portpart.graph import Graph
from portpart.primitives.basic import gather

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def traffic_of(graph: Graph, part: Array, num_elements: int) -> csr_array:
    """Weight between each two elements, on the host; symmetric, rows sorted, int64."""
    count = graph.space.asarray(np.array([num_elements]))
    matrix = contract(graph.space, graph, Clusters(part, count, num_elements)).to_scipy()
    matrix.sort_indices()
    return matrix.astype(np.int64)


def with_swaps(graph: Graph, part: Array, traffic: csr_array, distances: Distances,
               seed: int, places: Callable[[Graph], Array | None] = lambda blocks: None,
               ) -> tuple[Array, csr_array]:
    """The mapping with blocks on better elements, and its traffic; unchanged if they are too many.

    Whole blocks change places, so no block becomes heavier.

    Parameters
    ----------
    places : callable
        Element for each block of the graph of blocks, from where swaps start; None: block b on b.
    """
    space, k = graph.space, traffic.shape[0]
    if k > MOST_SWAPPED:
        return part, traffic
    offsets, targets = (space.asarray(array, np.int32)
                        for array in (traffic.indptr, traffic.indices))
    blocks = Graph(offsets, targets, space.asarray(traffic.data), None, space)
    place = swapped_places(blocks, distances, seed, places(blocks))
    at = np.argsort(space.to_host(place))  # the block on each element
    moved = traffic[at][:, at].tocsr()
    moved.sort_indices()
    return gather(space, place, part), moved
