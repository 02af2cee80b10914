"""Vertices too heavy for any block have one to themselves, as macros of a circuit may.

No partition keeps the limits then, and refinement, which goes by them, would examine weights only.
So each of these vertices is fixed to a block that may weigh as much, and takes no others; those
are divided among the other blocks, within their limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from portpart.algorithms.balance.overload import block_weights_on_host, host_vertex_weights
from portpart.algorithms.multilevel.constraints import FREE
from portpart.algorithms.multilevel.problem import Problem
from portpart.backends.interface import Array
from portpart.primitives.reduce import max_of


def with_own_blocks(problem: Problem) -> Problem:
    """The same problem, but where vertices that are not fixed weigh more than any block may.

    They go to the blocks of an initial partition, one to each, or to those of the largest limits.
    Waits for the device where vertices have weights.
    """
    graph, limits, wanted = problem.graph, problem.balance.limits, problem.constraints
    if graph.vertex_weights is None or graph.num_vertices <= problem.num_blocks:
        return problem
    if max_of(problem.space, graph.vertex_weights) <= int(limits.min()):
        return problem
    weights = host_vertex_weights(graph)
    own = OversizedVertices.of(weights, _on_host(problem, wanted.fixed), limits)
    heavy = own.too_heavy()
    if len(heavy) == 0:
        return problem
    start = _on_host(problem, wanted.initial)
    own.give(heavy, start)
    constraints = replace(wanted, fixed=problem.space.asarray(own.fixed))
    if start is not None:
        start = np.where(own.fixed == FREE, start, own.fixed).astype(np.int32)
        constraints = replace(constraints, initial=problem.space.asarray(start))
    return replace(problem, balance=problem.balance.with_limits(own.limits),
                   constraints=constraints)


def _on_host(problem: Problem, blocks: Array | None) -> np.ndarray | None:
    """A copy of blocks of vertices, if there are any."""
    return None if blocks is None else problem.space.to_host(blocks).copy()


@dataclass(frozen=True, eq=False)
class OversizedVertices:
    """What is fixed to blocks, and what they may weigh, which `give` changes.

    Attributes
    ----------
    weights : numpy.ndarray of int64, shape (n,)
    fixed : numpy.ndarray of int32, shape (n,)
    limits : numpy.ndarray of int64, shape (k,)
    room : numpy.ndarray of int64, shape (k,)
        The limits less what is fixed.
    """

    weights: np.ndarray
    fixed: np.ndarray
    limits: np.ndarray
    room: np.ndarray

    @classmethod
    def of(cls, weights: np.ndarray, fixed: np.ndarray | None,
           limits: np.ndarray) -> OversizedVertices:
        """The blocks before any heavy vertex has one."""
        if fixed is None:
            return cls(weights, np.full(len(weights), FREE, np.int32), limits.copy(),
                       limits.copy())
        held = fixed != FREE
        return cls(weights, fixed, limits.copy(),
                   limits - block_weights_on_host(fixed[held], weights[held], len(limits)))

    def too_heavy(self) -> np.ndarray:
        """The vertices that fit nowhere, the heaviest first."""
        found = np.flatnonzero((self.fixed == FREE) & (self.weights > self.room.max()))
        return found[np.argsort(-self.weights[found], kind="stable")]

    def give(self, heavy: np.ndarray, start: np.ndarray | None) -> None:
        """Fix each to a separate block, as long as there are any."""
        left = dict.fromkeys(np.argsort(-self.room, kind="stable").tolist())
        for v in heavy.tolist():
            if not left:
                return
            block = next(iter(left)) if start is None else int(start[v])
            block = block if block in left else next(iter(left))
            del left[block]
            self.fixed[v] = block
            self.limits[block] += max(0, int(self.weights[v]) - int(self.room[block]))

