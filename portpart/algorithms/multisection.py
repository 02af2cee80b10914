"""Hierarchical multisection: the task graph is divided along the machine's hierarchy (GPU-HM).

P. Samoldekin, C. Schulz, H. Woydt, GPU-Accelerated Algorithms for Process Mapping, 2026, section
4.1; after K. von Kirchbach, C. Schulz, J. L. Traeff (2020) and, for the adaptive imbalance,
C. Schulz, H. Woydt (2025).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.balance.overload import host_vertex_weights, repaired
from portpart.algorithms.multilevel.mapping_problem import MappingProblem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.placement.combining import Sections
from portpart.algorithms.placement.section_limits import section_balance, uneven_balance
from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph
from portpart.primitives.histogram import histogram

SEEDS_OF_LEVELS = 10**12
"""Distance between the seeds of levels."""

Divide = Callable[[MappingProblem, Sections], Array]
"""Divides the blocks of a level, as `partition_sections` does."""


def multisection(problem: MappingProblem, divide: Divide, room: float = 0.0,
                 note: Mapping[str, Any] = MappingProxyType({})) -> Array:
    """Map the graph: partition it onto the outermost level, then all its blocks onto the next one.

    Parameters
    ----------
    problem : MappingProblem
        The machine is a hierarchy.
    divide : callable
        Divides all blocks of a level at once.
    room : float
        As for `adaptive_limit`.
    note : mapping
        What is reported of each level besides the numbers of sections and of their blocks.

    Returns
    -------
    array of int32, shape (n,)
        Processing element of each vertex.
    """
    graph, topology, space = problem.graph, problem.topology, problem.space
    part = space.zeros(graph.num_vertices, np.int32)
    blocks, elements = 1, topology.num_elements
    for depth, arity in reversed(list(enumerate(topology.arities, 1))):
        if arity == 1:
            continue
        with problem.trace.phase(f"level {depth}"):
            fixed = _fixed_on_level(problem, elements // arity)
            levels_left = sum(width > 1 for width in topology.arities[:depth])
            balance = _level_balance(problem, part, blocks, arity, levels_left, room, fixed)
            first_block = None if blocks == 1 else _first_blocks(graph, part, arity)
            outside = topology.outside(depth)
            level = replace(problem, balance=balance, topology=outside,
                            distances=distances_on(space, outside),
                            seed=(problem.seed + SEEDS_OF_LEVELS * depth) % 2**62,
                            trace=Trace(space, graph, problem.trace.nested()),
                            constraints=replace(problem.constraints, fixed=fixed))
            problem.trace.sections.append({"level": depth, "sections": blocks, "blocks": arity,
                                           **note})
            found = divide(level, Sections(blocks, arity, first_block))
            part, _ = repaired(graph, found, balance, fixed)
            problem.trace.repaired(found, part)
        blocks, elements = blocks * arity, elements // arity
    return part


def _fixed_on_level(problem: MappingProblem, size: int) -> Array | None:
    """The block of `size` elements that a fixed vertex has to be in, -1 for the others."""
    fixed, n = problem.constraints.fixed, problem.graph.num_vertices
    if fixed is None or size == 1:
        return fixed
    blocks = problem.space.empty(n, np.int32)
    problem.space.parallel_for(n, find_block_around, fixed, size, blocks)
    return blocks


def _level_balance(problem: MappingProblem, part: Array, blocks: int, arity: int, levels_left: int,
                   room: float, fixed: Array | None) -> Balance:
    """Limits of the blocks that those of `part` are divided into, no less than is fixed there."""
    graph, space, k = problem.graph, problem.space, blocks * arity
    weights = space.to_host(histogram(space, part, blocks, graph.vertex_weights))
    if problem.balance.are_alike:
        balance = section_balance(weights, arity, problem.num_blocks // blocks,
                                  problem.balance.max_block_weight, levels_left, room)
    else:
        limits = problem.balance.limits.reshape(k, -1)
        capacities = [sum(row) for row in limits.tolist()]
        balance = uneven_balance(weights, capacities, levels_left, room)
    if fixed is None:
        return balance
    inside = graph.space.to_host(fixed)
    fixed_weight = np.zeros(k, np.int64)
    np.add.at(fixed_weight, inside[inside >= 0], host_vertex_weights(graph)[inside >= 0])
    limits = np.maximum(balance.limits, fixed_weight)
    return Balance(k, int(limits.max()), balance.mean_block_weight, limits, balance.means,
                   balance.imbalance)


def _first_blocks(graph: Graph, part: Array, arity: int) -> Array:
    """The first of the blocks that the block of each vertex is divided into."""
    label = graph.space.empty(graph.num_vertices, np.int32)
    graph.space.parallel_for(graph.num_vertices, write_first_block, part, arity, label)
    return label


@kl.kernel
def find_block_around(v, fixed, size, blocks):
    """blocks[v] = block of `size` elements around the one that v is fixed to, -1 if it is free."""
    blocks[v] = fixed[v]
    if fixed[v] >= 0:
        blocks[v] = fixed[v] // size


@kl.kernel
def write_first_block(v, part, arity, label):
    """label[v] = first of the blocks that v may end up in."""
    label[v] = kl.int32(kl.int64(part[v]) * arity)
