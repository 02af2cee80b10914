"""Constraints of ranks: each gives the blocks of its vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portpart.algorithms.final_balance import filled_by
from portpart.algorithms.multilevel import Constraints
from portpart.algorithms.recipes import block_weights
from portpart.api.bounds import (
    FREE,
    Bounds,
    LimitRule,
    block_array,
    start_with_fixed,
    write_block_or,
)
from portpart.api.vertex_names import blocks_by_vertex, refuse_partial
from portpart.backends.communication import planned, sum_over_ranks
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs import as_array
from portpart.graphs.ranks import DistributedGraph
from portpart.primitives import ship

if TYPE_CHECKING:
    from portpart.graphs import Blocks, Numbers
    from portpart.options import WrittenNumber


class OwnVertices(NamedTuple):
    """The vertices of a rank, as far as blocks are given for them.

    Attributes
    ----------
    names : range
        Their numbers in the whole graph, which mappings go by.
    num_vertices : int
    """

    names: range
    num_vertices: int


def constraints_of_rank(rows: DistributedGraph, k: int, fixed: Blocks | None,
                        initial: Blocks | None) -> Constraints:
    """The constraints of a call, of the vertices of this rank.

    Raises
    ------
    InputError
        If a vertex has no block, or none of 0 ... k - 1, or if these are not the vertices of the
        rank.
    """
    fixed = _blocks(rows, k, fixed, "fixed", FREE)
    initial = _blocks(rows, k, initial, "initial", 0)
    return Constraints(fixed, start_with_fixed(rows.space, initial, fixed))


def _blocks(rows: DistributedGraph, k: int, values: Any, name: str, lowest: int) -> Array | None:
    """The blocks of own vertices as int32."""
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
    """Numbers in words."""
    return f"{numbers[0]} ... {numbers[-1]}" if numbers else "none"


def bounds_of_ranks(rows: DistributedGraph, k: int, imbalance: WrittenNumber,
                    target: Numbers | None, fixed: Array | None) -> Bounds:
    """The bounds of the blocks, equal on all ranks.  All ranks call it."""
    weight = np.zeros(k, np.int64) if fixed is None else _fixed_weights(rows, fixed, k)
    return LimitRule(k, imbalance, target, weight, 0).bounds(
        rows.totals.total_vertex_weight, lambda limits: _max_filled(rows, limits, weight, fixed))


def _fixed_weights(rows: DistributedGraph, fixed: Array, k: int) -> np.ndarray:
    """Weight of the vertices of all ranks that are fixed to each block."""
    def blocks() -> Array:
        found = rows.space.empty(len(fixed), np.int32)
        rows.space.parallel_for(len(fixed), write_block_or, fixed, k, found)
        return found

    return block_weights(rows, planned(rows.comm, blocks), k)


def _max_filled(rows: DistributedGraph, limits: np.ndarray, fixed_weight: np.ndarray,
                fixed: Array | None) -> int:
    """How many blocks can weigh something at once, as `max_filled` has it.  All ranks call it."""
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
    """Weights of the vertices of this rank, on the host."""
    own, weights = rows.local.num_vertices, rows.local.vertex_weights
    return np.ones(own, np.int64) if weights is None else rows.space.to_host(weights[:own])
