"""A call of `portpart.partition` that all ranks of a graph make together."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import numpy as np

from portpart import backends
from portpart.algorithms.balance.nonempty import filled_by
from portpart.algorithms.multilevel.trace import Progress, Trace
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.total import cost_sums
from portpart.algorithms.partitioners import DEFAULT, find, lookup
from portpart.algorithms.portpart_ranks import partition_ranks, require_one_walk
from portpart.api.bounds import Bounds, BoundsRule
from portpart.api.device import broken_bound, checked_seed, warn_of_percents
from portpart.api.progress import checked_progress
from portpart.api.rank_results import RankPartitionResult
from portpart.api.room import check_room
from portpart.api.version import __version__
from portpart.backends.communication.calls import agree, from_first_rank, sum_over_ranks
from portpart.backends.communication.plan import planned
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.rank_graph import RankGraph
from portpart.metrics.balance import block_weight_limits, exact_target, imbalance_of
from portpart.options import (
    MAX_BLOCKS,
    checked_integer,
    exact_fraction,
    number_of_blocks,
    shown,
)
from portpart.primitives.reduce import argmax_of, max_of, sum_of
from portpart.primitives.ship import ship

INSTEAD = "gather() makes a graph that one device partitions so"

OF_ROWS = ("vertex_weights", "edge_weights", "net_weights", "symmetrize", "weights",
           "weight_scale")
"""What is said of a graph when it is made."""

NOT_YET = ("devices", "fixed", "initial", "min_block_weight", "vertex_sizes", "time_limit")

LONGEST = 200
"""Characters of a value that ranks compare as it is; of others they compare a digest."""


@dataclass(frozen=True, eq=False)
class RankCall:
    """What was asked for, checked.

    Attributes
    ----------
    k, seed : int
    imbalance, target : object
        As in `portpart.partition`.
    config : PortpartConfig
    threads : int or None
    progress : callable or None
        Called on rank 0.
    begin : float
        A reading of ``time.perf_counter``.
    """

    k: int
    seed: int
    imbalance: Any
    target: Any
    config: Any
    threads: int | None
    progress: Progress | None
    begin: float

    @property
    def agreed(self) -> dict[str, str]:
        """What all ranks must have been given, as text; a number however it is written."""
        shares = None if self.target is None else exact_target(self.k, self.target)
        given = {"the version of portpart": __version__, "the version of pymetis": _pymetis(),
                 "k": self.k, "imbalance": exact_fraction(self.imbalance),
                 "target": shares and ", ".join(map(str, shares)), "preset": self.config,
                 "seed": self.seed}
        return {name: _short(str(value)) for name, value in given.items()}


def partition_of_ranks(graph: RankGraph, **given: Any) -> RankPartitionResult:
    """Partition a graph of several ranks; takes the options of `portpart.partition`."""
    facts, problem = graph.call(lambda rows: divided(rows, given))
    result = RankPartitionResult(**facts, first=graph.first, num_vertices=graph.num_vertices,
                                 calls=graph.calls)
    if graph.rank == 0:
        warn_of_percents(given["imbalance"], 5)
        if problem:
            warnings.warn(problem, UserWarning, stacklevel=4)
    return result


def divided(rows: DistributedGraph, given: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Partition a graph as the options of `portpart.partition` say.  All ranks call it.

    Returns
    -------
    facts : dict
        The fields of a result, equal on all ranks but for ``part``, the blocks of own vertices,
        which are in the memory of the rank.
    problem : str
        Why bounds are broken, if they are.
    """
    comm, begin = rows.comm, time.perf_counter()
    call = planned(comm, lambda: _checked(rows, given, begin))
    agree(comm, call.agreed)
    if call.threads is not None:
        space = planned(comm, lambda: backends.space("cpu", threads=call.threads))
        rows = replace(rows, local=rows.local.to(space))
    planned(comm, lambda: check_room(rows.space, call.k))
    bounds = _bounds(rows, call)
    trace = Trace(rows.space, cast(Any, rows), call.progress if comm.rank == 0 else None)
    part, weights = partition_ranks(rows, bounds.balance, call.config, call.seed, trace)
    with trace.phase("finish"):
        cut = _cut(rows, part)
    feasible = bounds.kept_by(weights)
    problem = "" if feasible else broken_bound(lambda: _heaviest(rows), weights, bounds,
                                               call.target)
    told = json.loads(from_first_rank(comm, json.dumps(
        {"stats": trace.summary(), "seconds": time.perf_counter() - call.begin}, default=int)))
    return {
        "part": part, "cut": cut, "k": call.k, "feasible": feasible,
        "imbalance": imbalance_of(weights, call.target), "block_weights": weights,
        "max_block_weight_allowed": bounds.max_limit, "block_weight_limits": bounds.limits,
        "seconds": told["seconds"], "stats": {**told["stats"], "ranks": comm.size}}, problem


def _checked(rows: DistributedGraph, given: Mapping[str, Any], begin: float) -> RankCall:
    """The options, checked; refuses what ranks cannot do."""
    check_options(given)
    k = checked_integer("k", given["k"], 1, MAX_BLOCKS)
    number_of_blocks(k, rows.totals.num_vertices)
    seed, threads, starts = checked_seed(given["seed"]), given["threads"], given["starts"]
    if threads is not None:
        threads = checked_integer("threads", threads, 1, MAX_BLOCKS)
    if starts is not None:
        starts = checked_integer("starts", starts, 1, MAX_BLOCKS)
    imbalance, target = given["imbalance"], given["target"]
    block_weight_limits(0, 1 if target is None else k, imbalance, target)
    _, config = lookup(given["algorithm"], given["preset"], starts, k)
    return RankCall(k, seed, imbalance, target, config, threads,
                    checked_progress(given["progress"]), begin)


def check_options(given: Mapping[str, Any], instead: str = INSTEAD) -> None:
    """Raise for options of `portpart.partition` that several ranks do not have; say what does."""
    for name in OF_ROWS:
        if given.get(name) is not None and given[name] is not False:
            raise InputError(f"{name} is for a graph that is made by the call; rows of several "
                             "ranks have what portpart.distributed_graph was given")
    for name in NOT_YET:
        if given.get(name) is not None:
            raise InputError(f"{name} is not for graphs of several ranks; {instead}")
    if given["objective"] not in (None, "cut"):
        raise InputError(f"objective is {shown(given['objective'])}; for graphs of several ranks "
                         f"it must be 'cut'; {instead}")
    if given["device"] not in ("auto", "cpu", "cpu:0"):
        raise InputError(f"device is {shown(given['device'])}; graphs of several ranks are "
                         f"partitioned on the CPU; {instead}")
    found, config = find(given["algorithm"], given["preset"])
    if found.name != DEFAULT:
        raise InputError(f"algorithm {shown(found.name)} is not for graphs of several ranks, which "
                         f"have {DEFAULT!r}; {instead}")
    require_one_walk(config)


def _bounds(rows: DistributedGraph, call: RankCall) -> Bounds:
    rule = BoundsRule(call.k, call.imbalance, call.target, np.zeros(call.k, np.int64), 0)
    return rule.bounds(rows.totals.total_vertex_weight,
                       lambda limits: _max_filled(rows, limits))


def _max_filled(rows: DistributedGraph, limits: np.ndarray) -> int:
    """How many blocks can weigh something at once, as `max_filled` has it.  All ranks call it."""
    k, comm = len(limits), rows.comm
    own = np.sort(_own_weights(rows))
    lightest = np.tile(own[own > 0][:k], comm.size)
    (every,), _ = ship(comm, rows.space, [rows.space.asarray(lightest)],
                       comm.size * [len(lightest) // comm.size])
    weights = np.sort(rows.space.to_host(every))
    return filled_by(weights, limits, np.zeros(k, np.int64)) if len(weights) >= k else 0


def _own_weights(rows: DistributedGraph) -> np.ndarray:
    """Weights of the vertices of this rank, on the host."""
    own, weights = rows.local.num_vertices, rows.local.vertex_weights
    return np.ones(own, np.int64) if weights is None else rows.space.to_host(weights[:own])


def _heaviest(rows: DistributedGraph) -> tuple[int, int]:
    """The heaviest vertex of all ranks, the first one of equals, and its weight."""
    weights, comm = rows.space.asarray(_own_weights(rows)), rows.comm
    top = np.array([max_of(rows.space, weights)], np.int64)
    comm.all_reduce(top, 0, 1, "max")
    place = argmax_of(rows.space, weights)
    is_here = place >= 0 and int(rows.space.to_host(weights[place : place + 1])[0]) == top[0]
    vertex = np.array([rows.first[comm.rank] + place if is_here else rows.first[-1]], np.int64)
    comm.all_reduce(vertex, 0, 1, "min")
    return int(vertex[0]), int(top[0])


def _cut(rows: DistributedGraph, part: Array) -> int:
    """Weight of the edges between blocks."""
    local, comm = rows.local, rows.comm
    blocks = planned(comm, lambda: rows.space.empty(local.num_vertices + rows.num_ghosts, np.int32))
    blocks[: local.num_vertices] = part
    rows.push([blocks])
    sums = planned(comm, lambda: cost_sums(local, blocks, CUT, local.csr))
    return int(sum_over_ranks(comm, [sum_of(rows.space, sums)])[0]) // 2


def _pymetis() -> str:
    """The version of what may partition the coarsest graph."""
    try:
        return version("pymetis")
    except PackageNotFoundError:
        return "none"


def _short(text: str) -> str:
    """A text that tells a long one from others."""
    if len(text) <= LONGEST:
        return text
    from hashlib import sha256

    return f"{text[:40]}... ({sha256(text.encode()).hexdigest()[:16]})"
