"""Hierarchical multisection: the task graph is divided along the machine's hierarchy (GPU-HM).

P. Samoldekin, C. Schulz, H. Woydt, GPU-Accelerated Algorithms for Process Mapping, 2026, section
4.1; after K. von Kirchbach, C. Schulz, J. L. Traeff (2020) and, for the adaptive imbalance,
C. Schulz, H. Woydt (2025).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.balance.overload import host_vertex_weights, repaired
from portpart.algorithms.mapping.problem import MappingProblem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.placement.combining import Sections
from portpart.backends.interface import Array
from portpart.backends.language import int32, int64, kernel
from portpart.graphs.graph import Graph
from portpart.primitives.histogram import histogram

SEEDS_OF_LEVELS = 10**12
"""Distance between the seeds of levels."""

Divide = Callable[[MappingProblem, Sections], Array]
"""Divides the blocks of a level, as `partition_sections` does."""


def multisection(problem: MappingProblem, divide: Divide, room: float = 0.0) -> Array:
    """Map the graph: partition it onto the outermost level, then all its blocks onto the next one.

    Parameters
    ----------
    problem : MappingProblem
        The machine is a hierarchy.
    divide : callable
        Divides all blocks of a level at once.
    room : float
        As for `adaptive_limit`.

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
                            trace=Trace(space, graph, problem.trace.told_inside()),
                            constraints=replace(problem.constraints, fixed=fixed))
            part = divide(level, Sections(blocks, arity, first_block))
            part, _ = repaired(graph, part, balance, fixed)
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
    held = np.zeros(k, np.int64)
    np.add.at(held, inside[inside >= 0], host_vertex_weights(graph)[inside >= 0])
    limits = np.maximum(balance.limits, held)
    return replace(balance, max_block_weight=int(limits.max()), limits=limits)


def section_balance(weights: np.ndarray, arity: int, elements: int, limit: int,
                    levels_left: int, room: float = 0.0) -> Balance:
    """Limits of the blocks that subgraphs of these weights are divided into, `arity` each."""
    total = int(weights.sum())
    limits = [min(total, adaptive_limit(limit, weight, elements, arity, levels_left, room))
              for weight in weights.tolist()]
    if len(limits) == 1:
        return Balance(arity, limits[0], int(weights[0]) // arity)
    means = weights // arity
    return Balance(len(limits) * arity, max(limits), int(means.max()),
                   np.repeat(np.array(limits, np.int64), arity), np.repeat(means, arity))


def uneven_balance(weights: np.ndarray, capacities: list[int], levels_left: int,
                   room: float = 0.0) -> Balance:
    """The same for blocks whose elements may weigh so much together, in the order of blocks."""
    total, arity = int(weights.sum()), len(capacities) // len(weights)
    limits, means = [], []
    for section, weight in enumerate(weights.tolist()):
        own = capacities[section * arity : (section + 1) * arity]
        whole = max(1, sum(own))
        spread = _root(whole * weight ** (levels_left - 1), levels_left)
        for capacity in own:
            means.append(weight * capacity // whole)
            limits.append(min(total, _with_room(-(-weight * capacity // whole),
                                                spread * capacity // whole, capacity, room)))
    return Balance(len(capacities), max(limits), max(means), np.array(limits, np.int64),
                   np.array(means, np.int64))


def adaptive_limit(limit: int, weight: int, elements: int, arity: int, levels_left: int,
                   room: float = 0.0) -> int:
    """What each of `arity` blocks of a subgraph may weigh (equation 2), in exact arithmetic.

    The room that the subgraph has is spread over the levels that are left: with the paper's
    epsilon' the blocks weigh at most (1 + epsilon') * weight / arity, and
    (1 + epsilon') ** levels_left = limit * elements / weight.

    Parameters
    ----------
    limit : int
        What an element may weigh.
    weight, elements : int
        Of the subgraph.
    levels_left : int
        Partitions on the way to single elements, this one included.
    room : float
        Share of what the paper leaves to the levels further in that this one gets besides.

    Examples
    --------
    >>> adaptive_limit(103, 800, 8, 2, 3), adaptive_limit(103, 404, 4, 4, 1)
    (404, 103)
    >>> adaptive_limit(103, 800, 8, 2, 3, room=0.5)
    408
    """
    mean = -(-weight // arity)
    spread = _root(limit * elements * weight ** (levels_left - 1), levels_left) // arity
    return _with_room(mean, spread, limit * elements // arity, room)


def _with_room(mean: int, spread: int, capacity: int, room: float) -> int:
    """A limit between what the paper gives a level and all that the elements may weigh."""
    return max(mean, spread + int(Fraction(float(room)) * max(0, capacity - spread)))


def _root(value: int, degree: int) -> int:
    """Largest integer whose power does not exceed `value`."""
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle)
    return low


def _first_blocks(graph: Graph, part: Array, arity: int) -> Array:
    """The first of the blocks that the block of each vertex is divided into."""
    label = graph.space.empty(graph.num_vertices, np.int32)
    graph.space.parallel_for(graph.num_vertices, write_first_block, part, arity, label)
    return label


@kernel
def find_block_around(v, fixed, size, blocks):
    """blocks[v] = block of `size` elements around the one that v is fixed to, -1 if it is free."""
    blocks[v] = fixed[v]
    if fixed[v] >= 0:
        blocks[v] = fixed[v] // size


@kernel
def write_first_block(v, part, arity, label):
    """label[v] = first of the blocks that v may end up in."""
    label[v] = int32(int64(part[v]) * arity)
