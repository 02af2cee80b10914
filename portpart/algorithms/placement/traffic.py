"""Traffic between blocks, and better places for them: elements of a machine, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from portpart.algorithms.coarsening import Clusters, contract
from portpart.algorithms.objectives import Balance, Objective
from portpart.algorithms.placement.swaps import MAX_SWAPPED, swapped_places
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import MAX_INT32, Csr, Graph, team_for_all
from portpart.primitives import gather, positions_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Traffic(NamedTuple):
    """The weight between each two elements: a symmetric matrix in rows, on the host.

    Rows are sorted and have no zeros.
    """

    offsets: np.ndarray
    targets: np.ndarray
    weights: np.ndarray

    def to_scipy(self) -> csr_array:
        """Return the matrix."""
        from scipy.sparse import csr_array

        return csr_array((self.weights, self.targets, self.offsets), (len(self.offsets) - 1,) * 2)


def traffic_of(graph: Graph, part: Array, num_elements: int) -> csr_array:
    """Return the weight between each two elements, on the host; symmetric, int64, no zeros.

    Rows are sorted.
    """
    return _traffic_of(graph, part, num_elements).to_scipy()


def _traffic_of(graph: Graph, part: Array, num_elements: int) -> Traffic:
    """Return the weights, which are counted in a table of all pairs if that has no more entries
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
    return Traffic(matrix.indptr, matrix.indices, matrix.data.astype(np.int64, copy=False))


def has_table(num_arcs: int, num_elements: int) -> bool:
    """Whether the traffic is counted in a table."""
    return num_elements**2 <= min(num_arcs, MAX_INT32)


def _from_table(graph: Graph, part: Array, num_elements: int) -> Traffic:
    space = graph.space
    table = space.zeros(num_elements**2, np.int64)
    space.parallel_for(graph.num_vertices, add_traffic, graph.csr, part, num_elements, table,
                       team=team_for_all(graph))
    pairs = positions_of(space, table)
    weights = space.to_host(gather(space, table, pairs))
    rows, columns = np.divmod(space.to_host(pairs), num_elements)
    offsets = np.searchsorted(rows, np.arange(num_elements + 1))
    return Traffic(offsets.astype(np.int32), columns.astype(np.int32), weights)


@kl.kernel
def add_traffic(v, graph: Csr, part, num_elements, table):
    """Add the arcs of v that leave its block to the table. Atomic, independent of order."""
    here = part[v]
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        there = part[graph.targets[arc]]
        if there != here:
            kl.atomic_add(table, kl.int64(here) * num_elements + there, kl.value_or(graph.weights,
                                                                                    arc, 1))


def numbered_alike(blocks: Graph) -> None:
    """Return no initial places: block b is on element b."""


def with_swaps(graph: Graph, part: Array, traffic: csr_array, objective: Objective,
               seed: int, places: Callable[[Graph], Array | None] = numbered_alike,
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
    place = _places(space, Traffic(traffic.indptr, traffic.indices, traffic.data), objective, seed,
                    places, group)
    at = np.argsort(space.to_host(place))  # the block on each element
    moved = traffic[at][:, at].tocsr()
    moved.sort_indices()
    return gather(space, place, part), moved


def _places(space: ExecutionSpace, traffic: Traffic, objective: Objective, seed: int,
            places: Callable[[Graph], Array | None], group: np.ndarray | None) -> Array:
    """Return the element of each block after swaps."""
    offsets, targets = (space.asarray(array, np.int32)
                        for array in (traffic.offsets, traffic.targets))
    blocks = Graph(offsets, targets, space.asarray(traffic.weights), None, space)
    if group is None:
        return swapped_places(blocks, objective, seed, places(blocks))
    return swapped_places(blocks, objective, seed, None, space.asarray(group, np.int32))


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
    k = balance.num_blocks
    if objective.rules.is_cut or k > MAX_SWAPPED:
        return part
    group = swap_groups(graph, balance, fixed)
    place = _places(graph.space, _traffic_of(graph, part, k), objective, seed, numbered_alike,
                    group)
    return gather(graph.space, place, part)
