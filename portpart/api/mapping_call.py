"""The public function that maps processes, also to more elements than processes."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.final_balance import enforce_limits
from portpart.algorithms.mapping import Mapper, mapper_of, with_starts
from portpart.algorithms.multilevel import FREE, Constraints, MappingProblem, Progress, Trace
from portpart.algorithms.objectives import check_cost, cost_of, distances_on
from portpart.algorithms.placement import swap_groups, traffic_of, with_swaps
from portpart.api.bounds import Bounds, bounds_for
from portpart.api.call_options import CallOptions
from portpart.api.device import (
    graph_on_device,
    infeasibility_message,
    to_callers_memory,
    warn_of_percents,
)
from portpart.api.progress import takes_progress
from portpart.api.request import constraints_of
from portpart.api.results import MappingResult
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.estimate import check_memory, dry_run
from portpart.graphs import Blocks, Graph, GraphLike, Numbers, Topology, checked_topology
from portpart.metrics.balance import imbalance_of, target_shares
from portpart.metrics.quality import level_costs_of
from portpart.primitives import histogram, max_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

    from portpart.options import Configuration

# Fewer processes than elements: idle elements get a vertex without edges -----------------------


def with_idle_elements(graph: Graph, constraints: Constraints, k: int,
                       target: Numbers | None) -> tuple[Graph, Constraints]:
    """Return a graph with as many vertices as elements with a share of the weight.

    Added vertices have no edges, are free, and begin on elements that `initial` does not use.

    Raises
    ------
    InputError
        If vertices must be added, and the given ones differ in weight.
    """
    n = graph.num_vertices
    shares = [1] * k if target is None else target_shares(k, target)
    used = np.flatnonzero(shares)
    idle = len(used) - n
    if idle <= 0:
        return graph, constraints
    if graph.vertex_weights is not None and n and (
            graph.total_vertex_weight != n or max_of(graph.space, graph.vertex_weights) > 1):
        raise InputError(f"there are {len(used)} processing elements for {n} vertices: each vertex "
                         "gets its own element, and weights of vertices cannot count; pass "
                         f"vertex_weights=numpy.ones({n}, int)")
    offsets = graph.space.to_host(graph.offsets)
    longer = np.append(offsets, np.full(idle, offsets[-1], offsets.dtype))
    totals = {name: total for name, total in graph._totals.items() if name != "vertex"}
    fixed, initial = constraints.fixed, constraints.initial
    if fixed is not None:
        fixed = _longer(graph, fixed, np.full(idle, FREE))
    if initial is not None:
        left = np.setdiff1d(used, graph.space.to_host(initial))
        initial = _longer(graph, initial, left[:idle])
    return (replace(graph, offsets=graph.space.asarray(longer), vertex_weights=None, names=None,
                    _totals=totals),
            replace(constraints, fixed=fixed, initial=initial))


def without_idle(graph: Graph, part: Array, weights: np.ndarray,
                 n: int) -> tuple[Array, np.ndarray]:
    """Remove the added vertices; return the elements of the others and the weight of each."""
    added = np.bincount(graph.space.to_host(part[n:]), minlength=len(weights))
    return part[:n], weights - added


def _longer(graph: Graph, blocks: Array, more: np.ndarray) -> Array:
    return graph.space.asarray(np.append(graph.space.to_host(blocks), more).astype(np.int32))


# The public function that maps processes to the processing elements of a machine ---------------


@takes_progress
def map_processes(
    graph: GraphLike,
    hierarchy: ArrayLike | None = None,
    distances: ArrayLike | None = None,
    *,
    topology: Topology | None = None,
    imbalance: float | str = 0.03,
    vertex_weights: Numbers | None = None,
    edge_weights: Numbers | None = None,
    target: Numbers | None = None,
    fixed: Blocks | None = None,
    initial: Blocks | None = None,
    algorithm: str | None = None,
    preset: str | Configuration = "default",
    swaps: bool | None = None,
    device: str = "auto",
    seed: int | None = 0,
    threads: int | None = None,
    starts: int | None = None,
    time_limit: float | None = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    progress: Progress | bool | None = None,
) -> MappingResult:
    """Assign the vertices of a communication graph to the processing elements of a machine.

    The elements get nearly equal weight.  The communication cost J (`cost` of the result), the sum
    of weight times distance over all edges, is minimised.  If there are fewer vertices than
    elements, each vertex gets its own element.

    Parameters
    ----------
    graph : Graph, sparse matrix, tuple, edge list, NetworkX graph, frame or path
        Any input of :func:`portpart.as_graph`; edge weights are volumes of communication.
    hierarchy, distances : str or sequence of int
        The machine, such as ``"4:8:6"`` and ``"1:10:100"``; see :class:`portpart.Topology`.
    topology : Topology, optional
        The machine, instead of `hierarchy` and `distances`.
    imbalance : float, default 0.03
        The weight of an element is at most ``floor((1 + imbalance) * ceil(W / k))``.
    vertex_weights, edge_weights : array_like or str, optional
        As in :func:`portpart.as_graph`.
    target : array_like, shape (k,), optional
        Share of each element in the total weight, as in :func:`portpart.partition`: larger for
        faster elements, 0 for failed ones.
    fixed : array_like of int, shape (n,), or mapping, optional
        Fixed element of each vertex, -1 for free vertices.
    initial : array_like of int, shape (n,), mapping or result, optional
        Initial mapping, which is improved.  The result is never worse: the balance is compared
        first, then the cost.  Multisection refines it with the cost as objective.
    algorithm : str, optional
        ``"hm"``, the default: hierarchical multisection; ``"hm-ultra"``: the same with more
        effort; ``"im"``: integrated mapping, with the cost as objective of refinement;
        ``"two-phase"``: a partition whose blocks are then placed; ``"identity"``: a partition with
        block b on element b.  A matrix of distances needs one of the last three; its default is
        ``"im"``.
    preset : str or configuration, default "default"
        A name: ``"fast"``, ``"default"``, ``"strong"``, ``"best"`` or, as published, ``"paper"``
        for ``"hm"`` and ``"im"``; ``"hm-ultra"`` also has ``"paper"``, ``"two-phase"`` and
        ``"identity"`` also have ``"jet"``.  Or a configuration, which also selects the algorithm:
        `portpart.MultisectionConfig`, `portpart.IntegratedConfig`, `portpart.PartitionedConfig`.
    swaps : bool, optional
        Whether blocks swap places at the end.  Each swap reduces the cost.  The default is that of
        the preset: True, except for ``"identity"``.  The machine may have at most 4096 elements.
        Blocks swap among elements of equal limits to which no vertex is fixed.
    starts : int, optional
        Number of initial mappings of each coarsest graph.  The best is used.  The default is that
        of the preset.
    time_limit : float, optional
        Seconds after which no start, pass or swap begins, as in :func:`portpart.partition`.
    device, seed, threads, symmetrize, weights, weight_scale, progress
        As in :func:`portpart.partition`.  Multisection reports the phases of each level of the
        machine, such as ``"level 3, coarsening"``.

    Returns
    -------
    MappingResult

    Raises
    ------
    InputError
        If the graph, the machine or an option is invalid, or if there are fewer vertices than
        elements and these have different weights; raised before any work starts.
    DeviceUnavailable
        As in :func:`portpart.partition`.
    OutOfMemory
        If the device's memory is too small; raised before any work starts if that is certain.

    Warns
    -----
    UserWarning
        If a limit is exceeded, or `imbalance` is above 1.

    Notes
    -----
    The same graph, options and seed give the same mapping on every device and any number of
    threads, bit for bit, unless a `time_limit` is given.  :func:`portpart.memory_estimate` returns
    the memory that is needed.

    Examples
    --------
    >>> import portpart
    >>> result = portpart.map_processes(portpart.generators.grid_2d(8, 8), "2:2", "1:10")
    >>> result.cost, result.feasible
    (88, True)
    """
    machine = _machine(hierarchy, distances, topology)
    k = machine.num_elements
    options = CallOptions(
        k, imbalance=imbalance, vertex_weights=vertex_weights, edge_weights=edge_weights,
        target=target, fixed=fixed, initial=initial, swaps=swaps, device=device, seed=seed,
        threads=threads, starts=starts, time_limit=time_limit, symmetrize=symmetrize,
        weights=weights, weight_scale=weight_scale, progress=progress).checked()
    warn_of_percents(imbalance)
    mapper, config = mapper_of(algorithm, preset, machine.is_hierarchy)
    mapper.check_fit(machine)
    config = with_starts(config, options.starts, k)
    working = graph_on_device(graph, options)
    space, n, names = working.space, working.num_vertices, working.names
    working, constraints = with_idle_elements(working, constraints_of(working, options), k, target)
    bounds = bounds_for(working, k, imbalance, target, constraints.fixed, 0)
    check_cost(working, machine.max_distance)
    swapped = mapper.swaps_with(config) if options.swaps is None else options.swaps
    space.give_back()
    check_memory(working, machine, swapped)
    trace = Trace(space, working, options.report)
    problem = MappingProblem(working, bounds.balance, options.seed or 0, trace, constraints,
                             topology=machine, distances=distances_on(space, machine))
    part, block_weights, traffic = _no_worse(problem, bounds, *mapped_by(
        mapper, problem, config, swapped))
    feasible = bounds.kept_by(block_weights)
    if not feasible:
        warnings.warn(infeasibility_message(working, block_weights, bounds, target), UserWarning,
                      stacklevel=3)
    part, block_weights = without_idle(working, part, block_weights, n)
    pairs = traffic.tocoo()
    costs = level_costs_of(machine, pairs.row, pairs.col, pairs.data)
    return MappingResult(
        part=to_callers_memory(part, graph, space),
        cut=int(traffic.sum()) // 2, imbalance=imbalance_of(block_weights, target),
        block_weights=block_weights,
        max_block_weight_allowed=bounds.max_limit, block_weight_limits=bounds.limits,
        feasible=feasible, k=k, seconds=time.perf_counter() - options.begin,
        stats={**trace.summary(), "weight_scale": working.weight_scale}, labels=names,
        cost=int(costs.sum()), level_costs=costs, traffic=traffic, topology=machine,
    )


def mapped_by(mapper: Mapper, problem: MappingProblem, config: Any,
              swapped: bool) -> tuple[Array, np.ndarray, csr_array]:
    """Return the mapping, the block weights and the traffic, without checks and result object."""
    graph, balance, k = problem.graph, problem.balance, problem.num_blocks
    dry_run(problem, mapper.map, config)
    found = mapper.map(problem, config)
    with problem.trace.phase("finish"):
        part, weights = enforce_limits(graph, found, balance, fixed=problem.constraints.fixed)
        problem.trace.repaired(found, part)
        traffic = traffic_of(graph, part, k)
    if swapped and not problem.constraints.out_of_time():
        with problem.trace.phase("swaps"):
            group = swap_groups(graph, balance, problem.constraints.fixed)
            part, traffic = with_swaps(graph, part, traffic, problem.objective, problem.seed,
                                       lambda blocks: mapper.places(problem, blocks), group)
            weights = graph.space.to_host(histogram(graph.space, part, k, graph.vertex_weights))
    return part, weights, traffic


def _no_worse(problem: MappingProblem, bounds: Bounds, part: Array, weights: np.ndarray,
              traffic: csr_array) -> tuple[Array, np.ndarray, csr_array]:
    """Return the better of a mapping and the initial one."""
    first, k, graph = problem.constraints.initial, problem.num_blocks, problem.graph
    if first is None:
        return part, weights, traffic
    before = graph.space.to_host(histogram(graph.space, first, k, graph.vertex_weights))
    costs = [cost_of(graph, each, problem.distances) for each in (first, part)]
    if bounds.rank(before, costs[0]) < bounds.rank(weights, costs[1]):
        return graph.space.copy(first), before, traffic_of(graph, first, k)
    return part, weights, traffic


def _machine(hierarchy: ArrayLike | None, distances: ArrayLike | None,
             topology: Topology | None) -> Topology:
    if topology is None:
        if isinstance(hierarchy, Topology):
            raise InputError("hierarchy is a Topology; pass it as topology=")
        if hierarchy is None or distances is None:
            raise InputError("hierarchy and distances are needed, or a topology")
        return Topology(hierarchy, distances)
    if hierarchy is not None or distances is not None:
        raise InputError("either hierarchy and distances or a topology is needed, not both")
    return checked_topology(topology)
