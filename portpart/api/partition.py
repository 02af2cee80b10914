"""The public functions that partition graphs, and the list of algorithms."""

from __future__ import annotations

from typing import Any

from portpart.algorithms.multilevel import Progress
from portpart.api.call_options import CallOptions
from portpart.api.progress import takes_progress
from portpart.api.request import checked_request
from portpart.api.results import PartitionResult
from portpart.graphs.ranks import RankGraph


@takes_progress
def partition(
    graph: Any,
    k: int,
    *,
    imbalance: float | str = 0.03,
    vertex_weights: Any = None,
    edge_weights: Any = None,
    net_weights: Any = None,
    target: Any = None,
    fixed: Any = None,
    initial: Any = None,
    min_block_weight: int | None = None,
    objective: str | None = None,
    vertex_sizes: Any = None,
    algorithm: str | None = None,
    preset: Any = "default",
    device: str = "auto",
    devices: Any = None,
    seed: int | None = 0,
    threads: int | None = None,
    starts: int | None = None,
    time_limit: float | None = None,
    symmetrize: bool | str = False,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    progress: Progress | bool | None = None,
) -> PartitionResult:
    """Divide a graph or a hypergraph into `k` blocks of nearly equal weight, cutting little.

    Parameters
    ----------
    graph : Graph, Hypergraph, RankGraph, sparse matrix, tuple, edge list, network, frame or path
        Anything :func:`portpart.as_graph` takes, or a hypergraph, which
        :func:`portpart.as_hypergraph` makes; a path is one by its suffix (``.hgr``, ``.nets`` ...).
        Or a graph of several MPI ranks, which :func:`portpart.distributed_graph` makes: then all
        ranks make the call with the same options, some of which are refused
        (:doc:`/howto/distributed`).
    k : int
        Number of blocks.  No block stays empty if there are as many vertices of positive weight,
        unless `target` or `fixed` make it so.
    imbalance : float, default 0.03
        A block weighs at most (1 + imbalance) times the average.  The limit is
        ``floor((1 + imbalance) * ceil(W / k))``.  ``"3%"``, ``"1/30"``, `Fraction` and `Decimal`
        are taken, too, each as the exact number that was written.
    vertex_weights : array_like, dict or str, optional
        Weights of the vertices.  As in :func:`portpart.as_graph`.
    edge_weights : array_like or str, optional
        Weights of the edges.  As in :func:`portpart.as_graph`.
    net_weights : array_like of int, shape (m,), or dict, optional
        Weights of the nets of a hypergraph.  As in :func:`portpart.as_hypergraph`.
    target : array_like, shape (k,), optional
        Share of the weight that each block is to have.  Integers or fractions, of which only the
        ratios count.  Block b weighs at most ``floor((1 + imbalance) * ceil(target_b))`` with
        ``target_b = W * target[b] / sum(target)``, in exact arithmetic; with a share of 0, nothing.
    fixed : array_like of int, shape (n,), or dict, optional
        The block that a vertex has to be in, -1 where that is free.  A dict, or a Series by its
        index, gives blocks for names of vertices (nodes of NetworkX, text of a frame), or for
        numbers where there are none.  Each of several MPI ranks gives the blocks of its vertices,
        here and for `initial`.
    initial : array_like of int, shape (n,), dict, PartitionResult or Session, optional
        A partition to improve.  The result is never worse: balance counts first, then the cut.
    min_block_weight : int, optional
        Minimum weight of every block.
    objective : str, optional
        What is minimised.  Of a graph ``"cut"``, the weight of the edges between blocks, or
        ``"volume"``: each vertex sends its size to every other block that has a neighbour of it.
        Of a hypergraph, from the number b of blocks that a net touches, if there are several:
        ``"km1"``, its weight times b - 1, ``"cut"``, its weight, or ``"soed"``, its weight times b.
        The first of each are the default.
    vertex_sizes : array_like of int, shape (n,), optional
        Sizes of the vertices.  What each sends, with ``"volume"``; 1 by default.
    algorithm : str, optional
        Name of the algorithm.  One of :func:`portpart.list_algorithms`; ``"portpart"`` by default.
    preset : str or configuration, default "default"
        Name of a preset of the algorithm, or a configuration.  Presets are ``"fast"``,
        ``"default"``, ``"strong"`` and ``"best"``; other algorithms than the default have those of
        :func:`portpart.list_algorithms`.  A configuration, such as `portpart.PortpartConfig` or
        `portpart.JetConfig`, also selects the algorithm.
    device : str, default "auto"
        Device that the call works on.  ``"cpu"``, ``"cuda"``, ``"cuda:N"``; ``"auto"`` works where
        the graph's arrays are.
    devices : sequence of int or str, or "all", optional
        GPUs that work together on the graph.  Each has a range of its rows: their numbers, which
        may come several times, or ``"all"``.  The partition is that of one device.  As with graphs
        of several ranks, some options are refused (:doc:`/howto/distributed`).
    seed : int, default 0
        Seed of all random numbers.  None is 0: there is no call whose result cannot be repeated.
    threads : int, optional
        Maximum number of CPU threads.  All by default.
    starts : int, optional
        Number of initial partitions of the coarsest graph.  The best is kept; by default the preset
        says how many.
    time_limit : float, optional
        Seconds after which no new step begins.  Steps are starts and passes.  What has begun is
        finished, so the call may take longer.  How far it gets depends on the machine, and so does
        the result.
    symmetrize : bool, "sum" or "max", default False
        Accept a directed graph.  It defines the weights of two directions, as in
        :func:`portpart.as_graph`.
    weights : {"keep", "ignore", "abs", "round"} or bool, optional
        What becomes of edge weights that are negative or no integers.  As in
        :func:`portpart.as_graph`.
    weight_scale : float, optional
        Scale of weights that are rounded.  ``"round"`` and ``"abs"`` multiply by it;
        ``stats["weight_scale"]`` says what it was.  The cut counts the rounded weights.
    progress : bool or callable, optional
        Progress reports.  True draws a line on stderr, if that is a terminal, or in a
        notebook, which is gone at the end.  A callable is called as ``progress(phase, level,
        number_of_levels)``: when coarsening, the initial partition and the finish begin, after each
        level, and as ``"done"`` in the end.

    Returns
    -------
    PartitionResult
        On ranks a `RankPartitionResult`, with the blocks of the rank's vertices.

    Raises
    ------
    InputError
        Bad graph or option, or bounds that contradict each other, before any work starts.
    DeviceUnavailable
        The device cannot be used; the message says why.
    OutOfMemory
        The memory of the device or of the host does not suffice.

    Warns
    -----
    UserWarning
        If `imbalance` is above 1, which reads like a percentage.
    UserWarning
        If a limit or the least weight cannot be kept; names the vertex if a single one is too
        heavy, and the block if what is fixed there is.

    Notes
    -----
    The same graph, options and seed give the same partition on every device and any number of
    threads, bit for bit, unless there is a `time_limit`.  Time is O(n + m) per level of a
    hierarchy of O(log n) levels.  Memory: :func:`portpart.memory_estimate`.

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
        threads=threads, starts=starts, time_limit=time_limit, symmetrize=symmetrize,
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
