"""A call of `portpart.partition` that all ranks of a graph make together.

Each rank gives the constraints of its vertices.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, cast

import numpy as np

from portpart import backends
from portpart.algorithms import recipes
from portpart.algorithms.coarsening.ranks import Fold
from portpart.algorithms.final_balance import filled_by
from portpart.algorithms.multilevel import Constraints, Trace
from portpart.algorithms.objectives import CUT, cost_sums
from portpart.api.bounds import (
    FREE,
    Bounds,
    LimitRule,
    block_array,
    start_with_fixed,
    write_block_or,
)
from portpart.api.call_options import CallOptions
from portpart.api.device import OF_GRAPH, broken_bound, warn_of_percents
from portpart.api.results import RankPartitionResult
from portpart.api.vertex_names import blocks_by_vertex, refuse_partial
from portpart.backends.communication import agree, from_first_rank, planned, sum_over_ranks
from portpart.backends.programs import Array, ExecutionSpace
from portpart.base.version import __version__
from portpart.errors import InputError, shown
from portpart.estimate import check_memory_limit
from portpart.graphs import Blocks, Numbers, as_array
from portpart.graphs.ranks import DistributedGraph, RankGraph, with_ghost_values
from portpart.metrics.balance import exact_target, imbalance_of
from portpart.options import WrittenNumber, exact_fraction, number_of_blocks
from portpart.primitives import Message, Talk, argmax_of, held, max_of, ship, sum_of

INSTEAD = "gather() the graph to use one device"

NOT_YET = ("devices", "min_block_weight", "vertex_sizes", "time_limit", "rounds")

LONGEST = 200
"""Maximum length of text that ranks compare directly; of longer text they compare a digest."""


@dataclass(frozen=True, eq=False)
class RankCall:
    """The checked arguments of a call.

    Attributes
    ----------
    options : CallOptions
        Rank 0 reports progress.
    config : PortpartConfig
    wanted : Constraints
        Constraints of the vertices of this rank.
    """

    options: CallOptions
    config: recipes.PortpartConfig
    wanted: Constraints

    @property
    def agreed(self) -> dict[str, str]:
        """The arguments that must be equal on all ranks, as text; numbers in one notation."""
        options = self.options
        shares = None if options.target is None else exact_target(options.k, options.target)
        given = {"the version of portpart": __version__, "the version of pymetis": _pymetis(),
                 "k": options.k, "imbalance": exact_fraction(options.imbalance),
                 "target": shares and ", ".join(map(str, shares)), "preset": self.config,
                 "seed": options.seed, "fixed": _whether(self.wanted.fixed),
                 "initial": _whether(self.wanted.initial)}
        return {name: _short(str(value)) for name, value in given.items()}


def partition_of_ranks(graph: RankGraph, asked: CallOptions) -> RankPartitionResult:
    """Partition a graph of several ranks."""
    facts, problem = graph.call(lambda rows: divided(rows, asked))
    result = RankPartitionResult(**{**facts, "part": graph.as_given(facts["part"])},
                                 first=graph.first, num_vertices=graph.num_vertices,
                                 calls=graph.calls)
    if graph.rank == 0:
        warn_of_percents(asked.imbalance, 5)
        if problem:
            warnings.warn(problem, UserWarning, stacklevel=4)
    return result


def divided(rows: DistributedGraph, asked: CallOptions,
            fold: Fold | None = None) -> tuple[dict[str, Any], str]:
    """Partition a graph by the options of `portpart.partition`. All ranks call it.

    Parameters
    ----------
    rows : DistributedGraph
    asked : CallOptions
    fold : Fold, optional
        Decides which levels every rank holds whole; the default depends on the kind of device.

    Returns
    -------
    facts : dict
        The fields of a result. They are equal on all ranks, except for ``part``, the blocks of
        own vertices in the memory of the rank.
    problem : str
        Which limits are violated, and why; or empty.
    """
    comm = rows.comm
    call = planned(comm, lambda: _checked(rows, asked))
    agree(comm, call.agreed)
    options, k, target = call.options, call.options.k, call.options.target
    if options.threads is not None and rows.space.kind == "cpu":
        space = planned(comm, lambda: backends.space("cpu", threads=options.threads))
        rows = replace(rows, local=rows.local.to(space))
    planned(comm, lambda: check_memory_limit(rows.space, k))
    bounds = bounds_of_ranks(rows, k, options.imbalance, target, call.wanted.fixed)
    trace = Trace(rows.space, cast(Any, rows), options.report if comm.rank == 0 else None)
    found = recipes.partition_ranks(rows, bounds.balance, call.config, options.seed or 0, trace,
                                    fold, wanted=call.wanted)
    with trace.phase("finish"):
        part, weights, cut = _no_worse(rows, *found, call, bounds)
    feasible = bounds.kept_by(weights)
    problem = "" if feasible else broken_bound(lambda: _heaviest(rows), weights, bounds, target)
    of_first = json.loads(from_first_rank(comm, json.dumps(
        {"stats": trace.summary(), "seconds": time.perf_counter() - options.begin}, default=int)))
    return {
        "part": part, "cut": cut, "k": k, "feasible": feasible,
        "imbalance": imbalance_of(weights, target), "block_weights": weights,
        "max_block_weight_allowed": bounds.max_limit, "block_weight_limits": bounds.limits,
        "seconds": of_first["seconds"], "stats": {**of_first["stats"], "ranks": comm.size}}, problem


def _no_worse(rows: DistributedGraph, part: Array, weights: np.ndarray, call: RankCall,
              bounds: Bounds) -> tuple[Array, np.ndarray, int]:
    """Return the better of a partition and the initial one, its block weights and its cut."""
    cut, first = _cut(rows, part), call.wanted.initial
    if first is not None:
        before, cut_before = recipes.block_weights(rows, first, call.options.k), _cut(rows, first)
        if bounds.rank(before, cut_before) < bounds.rank(weights, cut):
            return rows.space.copy(first), before, cut_before
    return part, weights, cut


def _whether(given: Array | None) -> str:
    """Return whether an array is given, as text."""
    return "not given" if given is None else "given"


def _checked(rows: DistributedGraph, asked: CallOptions) -> RankCall:
    """Return the checked options; refuse options that ranks do not support."""
    check_options(asked)
    check_device(asked.device, rows.space)
    options = asked.checked()
    number_of_blocks(options.k, rows.totals.num_vertices)
    _, config = recipes.lookup(options.algorithm, options.preset, options.starts, options.k)
    wanted = constraints_of_rank(rows, options.k, options.fixed, options.initial)
    return RankCall(options, config, wanted)


def check_options(asked: CallOptions, instead: str = INSTEAD) -> None:
    """Raise for options of `portpart.partition` that several ranks do not support."""
    for name in OF_GRAPH:
        value = getattr(asked, name)
        if value is not None and value is not False:
            raise InputError(f"{name} is for a graph that is made by the call; rows of several "
                             "ranks have what portpart.distributed_graph was given")
    for name in NOT_YET:
        if getattr(asked, name) is not None:
            raise InputError(f"{name} is not for graphs of several ranks; {instead}")
    if asked.objective not in (None, "cut"):
        raise InputError(f"objective is {shown(asked.objective)}; for graphs of several ranks "
                         f"it must be 'cut'; {instead}")
    found, config = recipes.find(asked.algorithm, asked.preset)
    if found.name != recipes.DEFAULT:
        raise InputError(f"algorithm {shown(found.name)} is not for graphs of several ranks, which "
                         f"have {recipes.DEFAULT!r}; {instead}")
    recipes.require_possible(config)


def check_device(device: str, space: ExecutionSpace) -> None:
    """Raise unless a call names the device of the rank's rows."""
    named = "cpu" if device == "cpu:0" else device
    if named not in ("auto", space.kind, space.name):
        raise InputError(f"device is {shown(device)}, and the rows of this rank are on "
                         f"{space.name}; portpart.distributed_graph and read_distributed take "
                         "device=")


def _heaviest(rows: DistributedGraph) -> tuple[int, int]:
    """Return the heaviest vertex of all ranks, the first of equal ones, and its weight."""
    weights, comm = rows.space.asarray(own_weights(rows)), rows.comm
    top = np.array([max_of(rows.space, weights)], np.int64)
    comm.all_reduce(top, 0, 1, "max")
    place = argmax_of(rows.space, weights)
    is_here = place >= 0 and int(rows.space.to_host(weights[place : place + 1])[0]) == top[0]
    vertex = np.array([rows.first[comm.rank] + place if is_here else rows.first[-1]], np.int64)
    comm.all_reduce(vertex, 0, 1, "min")
    return int(vertex[0]), int(top[0])


def _cut(rows: DistributedGraph, part: Array) -> int:
    """Return the weight of the edges between blocks."""
    return held(rows.comm, rows.space, _cut_in_talk(rows, part))


def _cut_in_talk(rows: DistributedGraph, part: Array) -> Talk[int]:
    """Send blocks to ghosts, then the cost of own arcs to all ranks, which add it up."""
    local, space = rows.local, rows.space
    (blocks,), _ = yield from with_ghost_values(space, rows.halo, [part])
    received = yield Message([], [sum_of(space, cost_sums(local, blocks, CUT, local.csr))])
    return int(received.words[:, 0].sum()) // 2


@cache
def _pymetis() -> str:
    """Return the version of pymetis, which may partition the coarsest graph."""
    try:
        return version("pymetis")
    except PackageNotFoundError:
        return "none"


def _short(text: str) -> str:
    """Shorten a long text, with a digest that distinguishes it from others."""
    if len(text) <= LONGEST:
        return text
    from hashlib import sha256

    return f"{text[:40]}... ({sha256(text.encode()).hexdigest()[:16]})"


class OwnVertices(NamedTuple):
    """The vertices of a rank, for which blocks are given.

    Attributes
    ----------
    names : range
        Their numbers in the whole graph; keys of mappings are such numbers.
    num_vertices : int
    """

    names: range
    num_vertices: int


def constraints_of_rank(rows: DistributedGraph, k: int, fixed: Blocks | None,
                        initial: Blocks | None) -> Constraints:
    """Return the constraints of a call for the vertices of this rank.

    Raises
    ------
    InputError
        If a vertex has no block in 0 ... k - 1, or if these are not the vertices of the rank.
    """
    fixed = _blocks(rows, k, fixed, "fixed", FREE)
    initial = _blocks(rows, k, initial, "initial", 0)
    return Constraints(fixed, start_with_fixed(rows.space, initial, fixed))


def _blocks(rows: DistributedGraph, k: int, values: Any, name: str, lowest: int) -> Array | None:
    """Return the blocks of own vertices as int32."""
    if values is None:
        return None
    own = rows.local.num_vertices
    first = int(rows.first[rows.comm.rank])
    vertices = OwnVertices(range(first, first + own), own)
    begins = getattr(values, "first", first)  # a result of ranks
    if isinstance(begins, int) and begins != first:
        raise InputError(f"{name} is a result for a rank whose first vertex is {begins}, and here "
                         f"it is {first}; gather() it and give each rank its part")
    if lowest > FREE:
        refuse_partial(values, name, vertices)
    blocks = as_array(rows.space, blocks_by_vertex(values, name, vertices), name)
    if blocks.shape != (own,):
        raise InputError(f"{name} has shape {tuple(blocks.shape)} for {own} vertices; each rank "
                         f"gives the blocks of its vertices, {_range(vertices.names)} here")
    return block_array(rows.space, blocks, own, k, name, lowest, first)


def _range(numbers: range) -> str:
    """Return a range of numbers as text."""
    return f"{numbers[0]} ... {numbers[-1]}" if numbers else "none"


def bounds_of_ranks(rows: DistributedGraph, k: int, imbalance: WrittenNumber,
                    target: Numbers | None, fixed: Array | None) -> Bounds:
    """Return the limits of the blocks, equal on all ranks. All ranks call it."""
    weight = np.zeros(k, np.int64) if fixed is None else _fixed_weights(rows, fixed, k)
    return LimitRule(k, imbalance, target, weight, 0).bounds(
        rows.totals.total_vertex_weight, lambda limits: _max_filled(rows, limits, weight, fixed))


def _fixed_weights(rows: DistributedGraph, fixed: Array, k: int) -> np.ndarray:
    """Return the weight of the vertices of all ranks that are fixed to each block."""
    def blocks() -> Array:
        found = rows.space.empty(len(fixed), np.int32)
        rows.space.parallel_for(len(fixed), write_block_or, fixed, k, found)
        return found

    return recipes.block_weights(rows, planned(rows.comm, blocks), k)


def _max_filled(rows: DistributedGraph, limits: np.ndarray, fixed_weight: np.ndarray,
                fixed: Array | None) -> int:
    """Return how many blocks can have weight at once, as `max_filled` does. All ranks call it."""
    k, comm, space = len(limits), rows.comm, rows.space
    own = own_weights(rows)
    if int(sum_over_ranks(comm, [(own > 0).sum()])[0]) < k:
        return 0
    free = own > 0 if fixed is None else (own > 0) & (space.to_host(fixed) < 0)
    lightest = np.tile(np.sort(own[free])[:k], comm.size)
    (every,), _ = ship(comm, space, [space.asarray(lightest)],
                       comm.size * [len(lightest) // comm.size])
    return filled_by(np.sort(space.to_host(every)), limits, fixed_weight)


def own_weights(rows: DistributedGraph) -> np.ndarray:
    """Return the weights of the vertices of this rank, on the host."""
    own, weights = rows.local.num_vertices, rows.local.vertex_weights
    return np.ones(own, np.int64) if weights is None else rows.space.to_host(weights[:own])
