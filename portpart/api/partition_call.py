"""The public functions that partition graphs, and the list of algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from portpart.algorithms.multilevel import Progress
from portpart.api.call_options import CallOptions
from portpart.api.progress import takes_progress
from portpart.api.request import checked_request
from portpart.api.results import PartitionResult
from portpart.graphs.ranks import RankGraph

if TYPE_CHECKING:
    from portpart.graphs import Blocks, GraphLike, Numbers
    from portpart.options import Configuration


@takes_progress
def partition(
    graph: GraphLike,
    k: int,
    *,
    imbalance: float | str = 0.03,
    vertex_weights: Numbers | None = None,
    edge_weights: Numbers | None = None,
    net_weights: Numbers | None = None,
    target: Numbers | None = None,
    fixed: Blocks | None = None,
    initial: Blocks | None = None,
    min_block_weight: int | None = None,
    objective: str | None = None,
    vertex_sizes: Numbers | None = None,
    algorithm: str | None = None,
    preset: str | Configuration = "default",
    device: str = "auto",
    devices: str | Sequence[int | str] | None = None,
    seed: int | None = 0,
    threads: int | None = None,
    starts: int | None = None,
    time_limit: float | None = None,
    rounds: int | str | None = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    progress: Progress | bool | None = None,
) -> PartitionResult:
    """Partition a graph or a hypergraph into `k` blocks of nearly equal weight.

    Parameters
    ----------
    graph : Graph, Hypergraph, RankGraph, sparse matrix, tuple, edge list, network, frame or path
        Any input of :func:`portpart.as_graph`; a hypergraph made by
        :func:`portpart.as_hypergraph`, or a hypergraph file, recognised by its suffix (``.hgr``,
        ``.nets`` ...); or a graph of several MPI ranks made by :func:`portpart.distributed_graph`.
        Then all ranks make the call with the same options, and some options are not available
        (:doc:`/howto/distributed`).
    k : int
        Number of blocks.  No block is empty if at least `k` vertices have positive weight, unless
        `target` or `fixed` prevent it.
    imbalance : float, default 0.03
        A block weighs at most (1 + imbalance) times the average.  The limit is
        ``floor((1 + imbalance) * ceil(W / k))``.  ``"3%"``, ``"1/30"``, `Fraction` and `Decimal`
        are also accepted.  All are read as exact numbers.
    vertex_weights : array_like, dict or str, optional
        Weights of the vertices.  As in :func:`portpart.as_graph`.
    edge_weights : array_like or str, optional
        Weights of the edges.  As in :func:`portpart.as_graph`.
    net_weights : array_like of int, shape (m,), or dict, optional
        Weights of the nets of a hypergraph.  As in :func:`portpart.as_hypergraph`.
    target : array_like, shape (k,), optional
        Target share of each block in the total weight.  Integers or fractions; only their ratios
        count.  Block b weighs at most ``floor((1 + imbalance) * ceil(target_b))`` with
        ``target_b = W * target[b] / sum(target)``, in exact arithmetic.  A block with a share of 0
        has the limit 0.
    fixed : array_like of int, shape (n,), or dict, optional
        Fixed block of each vertex, -1 for free vertices.  The keys of a dict, or the index of a
        Series, are names of vertices (nodes of NetworkX, text of a frame), or numbers if vertices
        have no names.  On several MPI ranks, each rank gives the blocks of its vertices, also
        for `initial`.
    initial : array_like of int, shape (n,), dict, PartitionResult or Session, optional
        Initial partition, which is improved.  The result is never worse: the balance is compared
        first, then the objective.
    min_block_weight : int, optional
        Minimum weight of every block.
    objective : str, optional
        Objective that is minimised.  For a graph ``"cut"`` (default), the weight of the edges
        between blocks, or ``"volume"``, the communication volume: each vertex sends its size to
        every other block that has a neighbour of it.  For a hypergraph the cost of a net with pins
        in b > 1 blocks: ``"km1"`` (default), its weight times b - 1; ``"cut"``, its weight; or
        ``"soed"``, its weight times b.
    vertex_sizes : array_like of int, shape (n,), optional
        Sizes of the vertices.  With ``"volume"``, the amount of data that each vertex sends; 1 by
        default.
    algorithm : str, optional
        Name of the algorithm.  One of :func:`portpart.list_algorithms`; ``"portpart"`` by default.
    preset : str or configuration, default "default"
        Name of a preset of the algorithm, or a configuration.  Presets are ``"fast"``,
        ``"default"``, ``"strong"`` and ``"best"``; :func:`portpart.list_algorithms` has the
        presets of the other algorithms.  A configuration, such as `portpart.PortpartConfig` or
        `portpart.JetConfig`, also selects the algorithm.
    device : str, default "auto"
        Device that the call works on.  ``"cpu"``, ``"cuda"``, ``"cuda:N"``; ``"auto"`` is the
        device that has the graph's arrays.
    devices : sequence of int or str, or "all", optional
        GPUs that work together on the graph.  A list of their numbers, also with repetitions, or
        ``"all"``.  Each has a range of the rows.  The partition is that of one device.  As with
        graphs of several ranks, some options are not available (:doc:`/howto/distributed`).
    seed : int, default 0
        Seed of all random numbers.  None means 0, so every result can be reproduced.
    threads : int, optional
        Maximum number of CPU threads.  By default those of the space of a `Graph`, or all.
    starts : int, optional
        Number of initial partitions of the coarsest graph.  The best is used.  The default is that
        of the preset.
    time_limit : float, optional
        Seconds after which no new step begins.  Steps are starts and passes.  Steps that have begun
        are finished, so the call may take longer.  The result depends on the speed of the machine.
    rounds : int or "until_limit", optional
        Number of rounds of a population after the search of the preset.  The population holds up to
        24 partitions.  A round combines two of them, coarsens inside the blocks of one and refines
        again, or makes one from scratch.  The result is no worse than without rounds.
        ``"until_limit"`` requires `time_limit`.  Only the preset ``"best"`` of ``"portpart"`` and
        configurations with `search.population` have rounds.  Ctrl-C ends them: the call returns the
        best partition so far, once there is one.  At the time limit too, the round that has begun
        is left.
    symmetrize : bool, "sum" or "max", default False
        Accept a directed graph.  The value selects how the weights of both directions are
        combined, as in :func:`portpart.as_graph`.
    weights : {"keep", "ignore", "abs", "round"} or bool, optional
        Treatment of edge weights that are negative or not integers.  As in
        :func:`portpart.as_graph`.
    weight_scale : float, optional
        Scale of weights that are rounded.  ``"round"`` and ``"abs"`` multiply by it;
        ``stats["weight_scale"]`` has its value.  The cut is the sum of rounded weights.
    progress : bool or callable, optional
        Progress reports.  True draws a progress line in a terminal (on stderr) or a notebook, and
        removes it at the end.  A callable is called as ``progress(phase, level,
        number_of_levels)``: when coarsening, the initial partition and the finish begin, after each
        level, and with ``"done"`` at the end.  After each of the `rounds` the phase is
        ``"round 7, best 596"``.

    Returns
    -------
    PartitionResult
        On several ranks a `RankPartitionResult` with the blocks of the rank's vertices.

    Raises
    ------
    InputError
        If the graph or an option is invalid, or constraints contradict each other; raised before
        any work starts.
    DeviceUnavailable
        If the device cannot be used; the message gives the reason.
    OutOfMemory
        If the memory of the device or of the host is too small.

    Warns
    -----
    UserWarning
        If `imbalance` is above 1, as a percentage would be.
    UserWarning
        If a limit or the minimum weight is missed.  The message names a vertex that is too heavy,
        or a block whose fixed vertices are.

    Notes
    -----
    The same graph, options and seed give the same partition on every device and any number of
    threads, bit for bit, unless a `time_limit` is given.  With `rounds`, a `time_limit` changes
    only the number of completed rounds: the same number as `rounds` gives the same partition.  Time
    is O(n + m) for each of O(log n) levels.  :func:`portpart.memory_estimate` returns the memory
    that is needed.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(8, 8)
    >>> result = portpart.partition(grid, 2)
    >>> result.cut, result.feasible
    (8, True)
    >>> portpart.partition(grid, 2, target=[1, 3]).block_weight_limits
    array([16, 49])
    """
    asked = CallOptions(
        k, imbalance=imbalance, vertex_weights=vertex_weights, edge_weights=edge_weights,
        net_weights=net_weights, target=target, fixed=fixed, initial=initial,
        min_block_weight=min_block_weight, objective=objective, vertex_sizes=vertex_sizes,
        algorithm=algorithm, preset=preset, device=device, devices=devices, seed=seed,
        threads=threads, starts=starts, time_limit=time_limit, rounds=rounds, symmetrize=symmetrize,
        weights=weights, weight_scale=weight_scale, progress=progress)
    if isinstance(graph, RankGraph):
        from portpart.api.rank_call import partition_of_ranks  # kernels that others do without

        return partition_of_ranks(graph, asked)
    if devices is not None:
        from portpart.api.devices import partition_on_devices

        return partition_on_devices(graph, asked)
    call = checked_request(graph, asked)
    part, block_weights = call.partition(call.problem)
    return PartitionResult(**call.facts(part, block_weights, call.problem.trace))
