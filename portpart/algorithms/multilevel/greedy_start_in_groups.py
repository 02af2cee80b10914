"""Partitions that are grown where vertices are fixed: the others are divided by themselves.

Blocks get the shares that fixed vertices leave, and are numbered by what ties them to these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.algorithms.balance.limits import Balance, balance_of
from portpart.algorithms.balance.overload import host_vertex_weights
from portpart.algorithms.coarsening.hierarchy import AnyGraph
from portpart.algorithms.initial.fixed_vertices import FreeCapacity, grown_partition
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.multilevel.constraints import FREE
from portpart.algorithms.multilevel.greedy_start import grown_parts
from portpart.algorithms.objectives.candidates import NO_PARTS, CandidateParts
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.induced import induced


def greedy_start_in_groups(coarsest: AnyGraph, balance: Balance, options: GrowingOptions, seed: int,
                           fixed: Array, plain: Callable[[], Graph]) -> CandidateParts:
    """Partitions with the fixed vertices where they have to be; none for blocks without room.

    Parameters
    ----------
    plain : callable
        Gives the coarsest graph, or the clique graph of the coarsest hypergraph.
    """
    space = coarsest.space
    if space.is_dry_run:
        return grown_parts(coarsest, balance, options, seed)
    anchors = space.to_host(fixed)
    left = FreeCapacity.of(anchors, host_vertex_weights(coarsest), balance.limits)
    if len(left.wide) < 2:
        return NO_PARTS
    inner, free = induced(coarsest, fixed, FREE)
    found = grown_parts(inner, balance_of(left.wanted[left.wide], inner.total_vertex_weight),
                        options, seed)
    matrix = plain().to_scipy() if left.have_neighbours else None
    wide = left.wide.astype(np.int32)
    names, parts = space.asarray(wide), list[Array]()
    for blocks in found:
        if matrix is not None:
            names = space.asarray(left.names(matrix, wide[space.to_host(blocks)])[wide])
        part = space.copy(fixed)
        space.parallel_for(len(free), name_blocks, free, blocks, names, part)
        parts.append(part)
    return CandidateParts.of(space, parts)


def grown_from(space: ExecutionSpace, limits: np.ndarray, fixed: Array | None,
               plain: Callable[[], Graph]) -> list[Array]:
    """One partition whose blocks grow from fixed vertices, if all have some."""
    if fixed is None or space.is_dry_run:
        return []
    anchors = space.to_host(fixed)
    if len(np.unique(anchors[anchors >= 0])) < len(limits):
        return []
    graph = plain()
    part = grown_partition(graph.to_scipy(), anchors, host_vertex_weights(graph), limits)
    return [] if part is None else [space.asarray(part)]


@kl.kernel
def name_blocks(i, vertices, blocks, names, part):
    """part[v] = the number of the block of vertex i of the list."""
    part[vertices[i]] = names[blocks[i]]
