"""Traffic between blocks, and better places for them: elements of a machine, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms.coarsening import Clusters, contract
from portpart.algorithms.objectives import Balance, Objective
from portpart.algorithms.placement.swaps import MAX_SWAPPED, swapped_places
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import MAX_INT32, Csr, Graph, team_for_all
from portpart.primitives import gather, positions_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def traffic_of(graph: Graph, part: Array, num_elements: int) -> csr_array:
    """Return the weight between each two elements, on the host; symmetric, int64, no zeros.

    Rows are sorted. The weights are counted in a table of all pairs if that has no more entries
    than the graph has arcs; else by contraction, which also examines the arcs inside blocks.
    """
    space = graph.space
    if has_table(graph.num_arcs, num_elements):
        return _from_table(graph, part, num_elements)
    count = space.asarray(np.array([num_elements]))
    clusters = Clusters(num_elements, cluster=part, count=count)
    matrix = contract(graph, clusters).to_scipy()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix.astype(np.int64)


def has_table(num_arcs: int, num_elements: int) -> bool:
    """Whether the traffic is counted in a table."""
    return num_elements**2 <= min(num_arcs, MAX_INT32)


def _from_table(graph: Graph, part: Array, num_elements: int) -> csr_array:
    from scipy.sparse import csr_array

    space = graph.space
    table = space.zeros(num_elements**2, np.int64)
    space.parallel_for(graph.num_vertices, add_traffic, graph.csr, part, num_elements, table,
                       team=team_for_all(graph))
    pairs = positions_of(space, table)
    weights = space.to_host(gather(space, table, pairs))
    rows, columns = np.divmod(space.to_host(pairs), num_elements)
    offsets = np.searchsorted(rows, np.arange(num_elements + 1)).astype(np.int32)
    return csr_array((weights, columns, offsets), shape=(num_elements, num_elements))


@kl.kernel
def add_traffic(v, graph: Csr, part, num_elements, table):
    """Add the arcs of v that leave its block to the table. Atomic, independent of order."""
    here = part[v]
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        there = part[graph.targets[arc]]
        if there != here:
            kl.atomic_add(table, kl.int64(here) * num_elements + there, kl.value_or(graph.weights,
                                                                                    arc, 1))


def with_swaps(graph: Graph, part: Array, traffic: csr_array, objective: Objective,
               seed: int, places: Callable[[Graph], Array | None] = lambda blocks: None,
               group: np.ndarray | None = None) -> tuple[Array, csr_array]:
    """Return the mapping with blocks on better elements, and its traffic.

    With more than `MAX_SWAPPED` blocks both are unchanged. Whole blocks swap places, so no block
    becomes heavier.

    Parameters
    ----------
    places : callable
        Returns the initial element for each block of the graph of blocks; None: block b on b.
    group : numpy.ndarray of int32, shape (k,), optional
        Blocks swap places only within groups of elements, from their present ones.
    """
    space, k = graph.space, traffic.shape[0]
    if k > MAX_SWAPPED:
        return part, traffic
    offsets, targets = (space.asarray(array, np.int32)
                        for array in (traffic.indptr, traffic.indices))
    blocks = Graph(offsets, targets, space.asarray(traffic.data), None, space)
    if group is None:
        place = swapped_places(blocks, objective, seed, places(blocks))
    else:
        place = swapped_places(blocks, objective, seed, None, space.asarray(group, np.int32))
    at = np.argsort(space.to_host(place))  # the block on each element
    moved = traffic[at][:, at].tocsr()
    moved.sort_indices()
    return gather(space, place, part), moved


def swap_groups(graph: Graph, balance: Balance, fixed: Array | None) -> np.ndarray | None:
    """Return groups of elements within which blocks may swap; None if all may.

    Elements of a group have the same limit. An element with fixed vertices has a group for itself.

    Parameters
    ----------
    fixed : array of int32, shape (n,), or None
        The block of a fixed vertex, -1 for the others.
    """
    if balance.are_alike and fixed is None:
        return None
    groups = np.unique(balance.limits, return_inverse=True)[1].astype(np.int32)
    if fixed is not None:
        anchors = graph.space.to_host(fixed)
        taken = np.unique(anchors[anchors >= 0])
        groups[taken] = balance.num_blocks + np.arange(len(taken))
    return groups


def well_placed(graph: Graph, part: Array, balance: Balance, objective: Objective, seed: int,
                fixed: Array | None = None) -> Array:
    """Return the partition after swaps of blocks; unchanged if all blocks are equally distant."""
    if objective.rules.is_cut:
        return part
    group = swap_groups(graph, balance, fixed)
    traffic = traffic_of(graph, part, balance.num_blocks)
    return with_swaps(graph, part, traffic, objective, seed, group=group)[0]
