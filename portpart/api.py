"""The public functions that partition graphs."""

from __future__ import annotations

import operator
import time
import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from portpart import backends
from portpart.algorithms.refinement.balance import Balance
from portpart.algorithms.refinement.best import cut_of
from portpart.algorithms.refinement.repair import repaired
from portpart.algorithms.tracing import Progress, Trace
from portpart.backends.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graph import Graph, as_graph
from portpart.metrics.balance import block_weight_limit, imbalance_of
from portpart.presets import lookup
from portpart.primitives.reduce import argmax_of, max_of
from portpart.result import PartitionResult

MAX_BLOCKS = 2**31 - 1
MAX_SEED = 2**62
MAX_IMBALANCE = 2**31
"""From here on a limit is none, whatever k is."""


def partition(
    graph: Any,
    k: int,
    *,
    imbalance: float = 0.03,
    vertex_weights: Any = None,
    edge_weights: Any = None,
    algorithm: str = "jet",
    preset: Any = "default",
    device: str = "auto",
    seed: int = 0,
    threads: int | None = None,
    symmetrize: bool = False,
    progress: Progress | None = None,
) -> PartitionResult:
    """Divide a graph into `k` blocks of nearly equal weight, cutting few edges.

    Parameters
    ----------
    graph : Graph, sparse matrix, tuple, edge list, NetworkX graph or path
        Anything :func:`portpart.as_graph` takes.
    k : int
        Number of blocks, at least 1.  With more blocks than vertices some stay empty.
    imbalance : float, default 0.03
        Every block weighs at most ``floor((1 + imbalance) * ceil(W / k))``.
    vertex_weights, edge_weights : array_like or str, optional
        As in :func:`portpart.as_graph`.
    algorithm : str, default "jet"
        ``"jet"`` or ``"portpart"``.
    preset : str or configuration, default "default"
        A name (``"fast"``, ``"default"``; with Jet ``"ultra"``, with portpart ``"strong"`` and
        ``"best"``) or an object: `portpart.JetConfig`, `portpart.PortpartConfig`.
    device : str, default "auto"
        ``"cpu"``, ``"cuda"``, ``"cuda:N"``; ``"auto"`` works where the graph's arrays are.
    seed : int, default 0
    threads : int, optional
        CPU threads; all by default.
    symmetrize : bool, default False
        Accept a directed graph and ignore the directions.
    progress : callable, optional
        Called as ``progress(phase, level, number_of_levels)``.

    Returns
    -------
    PartitionResult

    Raises
    ------
    InputError
        Bad graph or option, before any work starts.
    DeviceUnavailable
        The device cannot be used; the message says why.
    OutOfMemory
        The device's memory does not suffice.

    Warns
    -----
    UserWarning
        If the limit cannot be kept; names the vertex if a single one is heavier.

    Notes
    -----
    The same graph, k, seed and preset give the same partition on every device and any number of
    threads, bit for bit.  Time is O(n + m) per level of a hierarchy of O(log n) levels.  Memory:
    :func:`portpart.memory_estimate`.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(8, 8)
    >>> result = portpart.partition(grid, 2)
    >>> result.cut, result.feasible
    (8, True)
    """
    start = time.perf_counter()
    k = _checked_integer("k", k, 1, MAX_BLOCKS)
    seed = _checked_integer("seed", seed, 0, MAX_SEED)
    if threads is not None:
        threads = _checked_integer("threads", threads, 1, MAX_BLOCKS)
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {progress!r}; it must be callable")
    block_weight_limit(0, k, imbalance)  # refuses a bad imbalance before any work
    run, config = lookup(algorithm, preset)
    working = _graph_on_device(graph, vertex_weights, edge_weights, symmetrize, device, threads)
    total = working.total_vertex_weight
    limit = block_weight_limit(total, k, imbalance)
    # no block is heavier than the total, which keeps a large limit within 64 bits
    balance = Balance(k, min(limit, total), total // k)
    trace = Trace(working.space, working, progress)
    part = run(working, balance, _as_float(imbalance), config, seed, trace)
    with trace.phase("finish"):
        part, weights = repaired(working, part, balance)
        cut = cut_of(working, part)
    feasible = bool(weights.max(initial=0) <= balance.max_block_weight)
    if not feasible:
        warnings.warn(_why_too_heavy(working, weights, balance), UserWarning, stacklevel=2)
    return PartitionResult(
        part=_where_the_graph_was(part, graph, working.space),
        cut=cut, imbalance=imbalance_of(weights), block_weights=weights,
        max_block_weight_allowed=limit, feasible=feasible, k=k,
        seconds=time.perf_counter() - start, stats=trace.summary(),
    )


def _checked_integer(name: str, value: Any, low: int, high: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}; it must be an integer") from None
    if not low <= number <= high:
        raise InputError(f"{name} is {number}; it must be between {low} and {high}")
    return number


def _as_float(imbalance: Any) -> float:
    """An imbalance that `block_weight_limit` has accepted, which may be a text, as a number."""
    return float(min(Fraction(str(imbalance)), Fraction(MAX_IMBALANCE)))


def _graph_on_device(graph: Any, vertex_weights: Any, edge_weights: Any, symmetrize: bool,
                     device: str, threads: int | None) -> Graph:
    """The checked graph in the memory of the space that will work on it."""
    if not isinstance(device, str):
        raise InputError(f"device is {device!r}; it must be 'auto', 'cpu', 'cuda' or 'cuda:N'")
    if device == "auto":
        device = "cuda" if _is_on_device(graph) else "cpu"
        space = None if device == "cuda" else backends.space(device, threads=threads)
    else:
        space = backends.space(device, threads=threads)
    made = as_graph(graph, vertex_weights=vertex_weights, edge_weights=edge_weights,
                    symmetrize=symmetrize, space=space)
    return made if space is None else made.to(space)


def _is_on_device(graph: Any) -> bool:
    """Whether the arrays of `graph` lie in a GPU's memory."""
    if isinstance(graph, Graph):
        return graph.space.kind == "cuda"
    holders = graph if isinstance(graph, tuple) else (graph, getattr(graph, "data", None))
    return any(hasattr(holder, "__cuda_array_interface__") for holder in holders)


def _where_the_graph_was(part: Any, graph: Any, space: ExecutionSpace) -> Any:
    """`part` in the kind of memory that the caller's graph is in."""
    if not _is_on_device(graph):
        return space.to_host(part)
    return part if space.kind == "cuda" else backends.space("cuda").asarray(part)


def _why_too_heavy(graph: Graph, weights: np.ndarray, balance: Balance) -> str:
    limit = balance.max_block_weight
    heaviest = argmax_of(graph.space, graph.vertex_weights)
    weight = max_of(graph.space, graph.vertex_weights)
    if weight > limit:
        return (f"vertex {heaviest} weighs {weight}, more than the {limit} a block may weigh; "
                "its block exceeds the limit")
    return (f"no partition within the limit of {limit} per block was found; the heaviest block "
            f"weighs {weights.max()}: allow more imbalance")
