"""What a mapping of processes to processing elements costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.topology import Topology, checked_topology
from portpart.metrics.view import PartitionView

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def mapping_cost(graph: Any, part: Any, topology: Topology) -> int:
    """Communication cost J: the sum of weight times distance over all edges, each edge once.

    The papers on process mapping sum over both directions of every edge: twice this.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes
    part : array_like of int, shape (n,), MappingResult or Session
        Processing element of each vertex; device arrays are copied to the host.
    topology : Topology

    Returns
    -------
    int
        Exact; refused where it does not fit 64 bits.

    Examples
    --------
    >>> import portpart
    >>> from portpart.metrics import mapping_cost
    >>> machine = portpart.Topology("2:2", "1:10")
    >>> mapping_cost([(0, 1), (1, 2), (2, 3), (3, 0)], [0, 1, 2, 3], machine)
    22
    """
    return int(sum(level_costs(graph, part, topology).tolist()))


def level_costs(graph: Any, part: Any, topology: Topology) -> np.ndarray:
    """J by the innermost level that the ends of an edge share; the sum is :func:`mapping_cost`.

    Parameters
    ----------
    graph, part, topology
        As for :func:`mapping_cost`.

    Returns
    -------
    numpy.ndarray of int64, shape (number of levels,)
        One entry if the topology is a matrix.

    Examples
    --------
    >>> import portpart
    >>> machine = portpart.Topology("2:2", "1:10")
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.level_costs(path, [0, 1, 2, 3], machine)
    array([ 2, 10])
    """
    here, there, weights = _cut_arcs(graph, part, topology)
    return level_costs_of(topology, here, there, weights)


def level_costs_of(topology: Topology, here: np.ndarray, there: np.ndarray,
                   weights: np.ndarray) -> np.ndarray:
    """:func:`level_costs` of arcs between elements, both directions of each edge."""
    if topology.is_hierarchy:
        group, distances = topology.level(here, there), [0, *topology.level_distances]
    else:
        distinct, group = np.unique(topology.distance(here, there), return_inverse=True)
        distances = distinct.tolist()
    sums = np.zeros(len(distances), np.int64)
    np.add.at(sums, group, weights)
    costs = [weight // 2 * distance for weight, distance in zip(sums.tolist(), distances)]
    costs = costs[1:] if topology.is_hierarchy else [sum(costs)]
    if sum(costs) >= 2**63:
        raise InputError(f"edges that weigh {int(weights.sum()) // 2} between elements at "
                         f"distances of up to {topology.max_distance} cost more than 64 bits hold")
    return np.array(costs, np.int64)


def cost_facts(costs: np.ndarray) -> dict[str, int | str]:
    """The communication cost and its parts by level, as they are shown."""
    levels = " + ".join(f"{cost:,}" for cost in costs.tolist())
    return {"communication cost": int(costs.sum()), "cost by level": levels}


def traffic_matrix(graph: Any, part: Any, k: int | None = None) -> csr_array:
    """Weight of the edges between each two processing elements.

    Parameters
    ----------
    graph, part
        As for :func:`mapping_cost`.
    k : int, optional
        Number of elements; default: the largest one in `part` plus one.

    Returns
    -------
    scipy.sparse.csr_array of int64, shape (k, k)
        Symmetric: an edge counts in both entries of its pair.  Nothing on the diagonal.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.traffic_matrix(path, [0, 1, 1, 0]).toarray()
    array([[0, 2],
           [2, 0]])
    """
    from scipy.sparse import coo_array

    view = PartitionView(graph, part, k)
    pairs = view.part[view.cut_arc_tails], view.part[view.cut_arc_heads]
    matrix = coo_array((view.cut_arc_weights, pairs), shape=(view.k, view.k)).tocsr()
    matrix.sort_indices()
    return matrix


def _cut_arcs(graph: Any, part: Any,
              topology: Topology) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    view = PartitionView(graph, part, checked_topology(topology).num_elements)
    return view.part[view.cut_arc_tails], view.part[view.cut_arc_heads], view.cut_arc_weights
