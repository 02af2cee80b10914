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
from portpart.algorithms.coarsening.rank_hierarchy import Fold
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.trace import Progress, Trace
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.total import cost_sums
from portpart.algorithms.partitioners import DEFAULT, find, lookup
from portpart.algorithms.portpart_ranks import (
    block_weights,
    partition_ranks,
    require_possible,
)
from portpart.api.bounds import Bounds
from portpart.api.device import broken_bound, checked_seed, warn_of_percents
from portpart.api.memory_check import check_memory_limit
from portpart.api.progress import checked_progress
from portpart.api.rank_constraints import bounds_of_ranks, constraints_of_rank, own_weights
from portpart.api.rank_results import RankPartitionResult
from portpart.api.version import __version__
from portpart.backends.communication.calls import agree, from_first_rank, sum_over_ranks
from portpart.backends.communication.plan import planned
from portpart.backends.interface import Array, ExecutionSpace
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

INSTEAD = "gather() makes a graph that one device partitions so"

OF_ROWS = ("vertex_weights", "edge_weights", "net_weights", "symmetrize", "weights",
           "weight_scale")
"""What is said of a graph when it is made."""

NOT_YET = ("devices", "min_block_weight", "vertex_sizes", "time_limit")

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
    wanted : Constraints
        Of the vertices of this rank.
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
    wanted: Constraints
    begin: float

    @property
    def agreed(self) -> dict[str, str]:
        """What all ranks must have been given, as text; a number however it is written."""
        shares = None if self.target is None else exact_target(self.k, self.target)
        given = {"the version of portpart": __version__, "the version of pymetis": _pymetis(),
                 "k": self.k, "imbalance": exact_fraction(self.imbalance),
                 "target": shares and ", ".join(map(str, shares)), "preset": self.config,
                 "seed": self.seed, "fixed": _whether(self.wanted.fixed),
                 "initial": _whether(self.wanted.initial)}
        return {name: _short(str(value)) for name, value in given.items()}


def partition_of_ranks(graph: RankGraph, **given: Any) -> RankPartitionResult:
    """Partition a graph of several ranks; takes the options of `portpart.partition`."""
    facts, problem = graph.call(lambda rows: divided(rows, given))
    result = RankPartitionResult(**{**facts, "part": graph.as_given(facts["part"])},
                                 first=graph.first, num_vertices=graph.num_vertices,
                                 calls=graph.calls)
    if graph.rank == 0:
        warn_of_percents(given["imbalance"], 5)
        if problem:
            warnings.warn(problem, UserWarning, stacklevel=4)
    return result


def divided(rows: DistributedGraph, given: Mapping[str, Any],
            fold: Fold | None = None) -> tuple[dict[str, Any], str]:
    """Partition a graph as the options of `portpart.partition` say.  All ranks call it.

    Parameters
    ----------
    rows : DistributedGraph
    given : mapping
    fold : Fold, optional
        Which levels every rank has as a whole; the default depends on the kind of device.

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
    if call.threads is not None and rows.space.kind == "cpu":
        space = planned(comm, lambda: backends.space("cpu", threads=call.threads))
        rows = replace(rows, local=rows.local.to(space))
    planned(comm, lambda: check_memory_limit(rows.space, call.k))
    bounds = bounds_of_ranks(rows, call.k, call.imbalance, call.target, call.wanted.fixed)
    trace = Trace(rows.space, cast(Any, rows), call.progress if comm.rank == 0 else None)
    found = partition_ranks(rows, bounds.balance, call.config, call.seed, trace, fold,
                            wanted=call.wanted)
    with trace.phase("finish"):
        part, weights, cut = _no_worse(rows, *found, call, bounds)
    feasible = bounds.kept_by(weights)
    problem = "" if feasible else broken_bound(lambda: _heaviest(rows), weights, bounds,
                                               call.target)
    of_first = json.loads(from_first_rank(comm, json.dumps(
        {"stats": trace.summary(), "seconds": time.perf_counter() - call.begin}, default=int)))
    return {
        "part": part, "cut": cut, "k": call.k, "feasible": feasible,
        "imbalance": imbalance_of(weights, call.target), "block_weights": weights,
        "max_block_weight_allowed": bounds.max_limit, "block_weight_limits": bounds.limits,
        "seconds": of_first["seconds"], "stats": {**of_first["stats"], "ranks": comm.size}}, problem


def _no_worse(rows: DistributedGraph, part: Array, weights: np.ndarray, call: RankCall,
              bounds: Bounds) -> tuple[Array, np.ndarray, int]:
    """A partition, or the initial one if that is better; what blocks weigh, and the cut."""
    cut, first = _cut(rows, part), call.wanted.initial
    if first is not None:
        before, cut_before = block_weights(rows, first, call.k), _cut(rows, first)
        if bounds.rank(before, cut_before) < bounds.rank(weights, cut):
            return rows.space.copy(first), before, cut_before
    return part, weights, cut


def _whether(given: Array | None) -> str:
    """Whether something is given."""
    return "not given" if given is None else "given"


def _checked(rows: DistributedGraph, given: Mapping[str, Any], begin: float) -> RankCall:
    """The options, checked; refuses what ranks cannot do."""
    check_options(given)
    check_device(given["device"], rows.space)
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
    wanted = constraints_of_rank(rows, k, given["fixed"], given["initial"])
    return RankCall(k, seed, imbalance, target, config, threads,
                    checked_progress(given["progress"]), wanted, begin)


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
    found, config = find(given["algorithm"], given["preset"])
    if found.name != DEFAULT:
        raise InputError(f"algorithm {shown(found.name)} is not for graphs of several ranks, which "
                         f"have {DEFAULT!r}; {instead}")
    require_possible(config)


def check_device(device: Any, space: ExecutionSpace) -> None:
    """Raise unless a call asks for where the rows of a rank are."""
    named = "cpu" if device == "cpu:0" else device
    if named not in ("auto", space.kind, space.name):
        raise InputError(f"device is {shown(device)}, and the rows of this rank are on "
                         f"{space.name}; portpart.distributed_graph and read_distributed take "
                         "device=")


def _heaviest(rows: DistributedGraph) -> tuple[int, int]:
    """The heaviest vertex of all ranks, the first one of equals, and its weight."""
    weights, comm = rows.space.asarray(own_weights(rows)), rows.comm
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
    """A short text that distinguishes a long one from others."""
    if len(text) <= LONGEST:
        return text
    from hashlib import sha256

    return f"{text[:40]}... ({sha256(text.encode()).hexdigest()[:16]})"
