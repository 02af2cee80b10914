"""What a partitioner or a mapper is given: the problem and its constraints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from portpart.algorithms.coarsening import AnyGraph
from portpart.algorithms.final_balance import block_weights_on_host, host_vertex_weights
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives import (
    CUT,
    Balance,
    Distances,
    Objective,
    communication_cost,
    net_rows,
)
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, EitherGraph, Hypergraph, Topology
from portpart.primitives import gather, max_of

# Constraints of a partition besides balance ----------------------------------------------------


FREE = -1
"""The block of a vertex that is not fixed."""


def never() -> bool:
    """There is time."""
    return False


def deadline_check(space: ExecutionSpace, deadline: float) -> Callable[[], bool]:
    """Whether the device is still at work at `deadline`, a reading of ``time.perf_counter``."""
    if deadline == math.inf:
        return never

    def is_late() -> bool:
        space.synchronize()
        return time.perf_counter() > deadline

    return is_late


@dataclass(frozen=True, eq=False)
class Constraints:
    """Vertices that must not move, a partition to start from, a limit of time.

    Attributes
    ----------
    fixed : array of int32, shape (n,), optional
        The block of a fixed vertex, -1 for the others.
    initial : array of int32, shape (n,), optional
        A partition to improve, in which fixed vertices are where they have to be.
    out_of_time : callable
        Asked where work can end early with a whole partition.
    previous_blocks : PreviousBlocks, optional
        Blocks that it costs to be away from: those of `initial`.
    grows : bool
        Whether partitions are also grown where there are previous blocks.
    is_brief : bool
        Whether coarsening ends where levels are barely smaller, and each is refined once.
    rounds : float
        Rounds of a population after the search; infinite until there is no time.
    """

    fixed: Array | None = None
    initial: Array | None = None
    out_of_time: Callable[[], bool] = never
    previous_blocks: PreviousBlocks | None = None
    grows: bool = True
    is_brief: bool = False
    rounds: float = 0

    def label(self, space: ExecutionSpace, part: Array | None) -> Array | None:
        """int32, one per vertex: vertices of different labels must not be merged.

        They differ in `part`, in the block that they are fixed to, or in their previous block.
        """
        if self.previous_blocks is not None and part is not self.previous_blocks.previous:
            part = _pairs(space, self.previous_blocks.previous, part)
        if part is None or self.fixed is None:
            return self.fixed if part is None else part
        label = space.empty(len(part), np.int32)
        space.parallel_for(len(part), mark_fixed, self.fixed, part, label)
        return label

    def moved(self, space: ExecutionSpace, other: ExecutionSpace) -> Constraints:
        """The same with the arrays, which are in `space`, in another one."""
        fixed, initial = (None if array is None else other.asarray(space.to_host(array))
                          for array in (self.fixed, self.initial))
        return Constraints(fixed, initial, self.out_of_time)


def _pairs(space: ExecutionSpace, previous: Array, part: Array | None) -> Array:
    """A number for each pair of previous and current block."""
    if part is None:
        return previous
    if space.is_dry_run:
        return space.copy(previous)
    pairs = space.to_host(previous).astype(np.int64) << 32 | space.to_host(part)
    return space.asarray(np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int32))


UNCONSTRAINED = Constraints()


@kl.kernel
def mark_fixed(v, fixed, part, label):
    """The label of v is its own, and one for each block if it is fixed."""
    label[v] = part[v]
    if fixed[v] >= 0:
        label[v] = kl.int32(-2) - fixed[v]


# What a partitioner is given: one value from the public function to the last start -------------


@dataclass(frozen=True, eq=False)
class Problem(Generic[AnyGraph]):
    """A graph or a hypergraph to divide.

    Attributes
    ----------
    graph : Graph or Hypergraph
    balance : Balance
        The number of blocks and what they may weigh.
    seed : int
    trace : Trace
        Collects what is done.
    constraints : Constraints
    objective : Objective
        What is minimised: the cut, if nothing else is said.
    """

    graph: AnyGraph
    balance: Balance
    seed: int
    trace: Trace
    constraints: Constraints = UNCONSTRAINED
    objective: Objective = CUT

    @property
    def space(self) -> ExecutionSpace:
        """Where the graph is, and the work is done."""
        return self.graph.space

    @property
    def rows(self) -> Csr:
        """The rows of the vertices, with the state of nets where these cost something."""
        return rows_of(self.graph, self.num_blocks)

    @property
    def num_blocks(self) -> int:
        """Number of blocks."""
        return self.balance.num_blocks


def rows_of(graph: EitherGraph, num_blocks: int) -> Csr:
    """The rows of the vertices, with the state of nets, yet to be found, where there are nets."""
    return net_rows(graph, num_blocks) if isinstance(graph, Hypergraph) else graph.csr


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem that is walked through in place of another one.

    Attributes
    ----------
    problem : Problem
    places : array of int32, shape (n,), optional
        The number of each vertex in it; None if they have their own.
    """

    problem: Problem
    places: Array | None = None

    def in_given_order(self, part: Array) -> Array:
        """The blocks of the vertices of the other problem."""
        return part if self.places is None else gather(self.problem.space, part, self.places)


# What a mapper is given ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class MappingProblem(Problem):
    """A graph to map to a machine; blocks are its processing elements.

    Attributes
    ----------
    topology : Topology
    distances : Distances
        Those of the topology, in the space of the graph: the objective is the cost at these.
    """

    topology: Topology
    distances: Distances

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", communication_cost(self.distances))

    def of_the_cut(self) -> Problem:
        """The same graph with blocks that are far from each other alike."""
        return Problem(self.graph, self.balance, self.seed, self.trace, self.constraints)


# Vertices too heavy for any block have one to themselves, as macros of a circuit may -----------
#
# No partition keeps the limits then, and refinement, which goes by them, would examine weights
# only.
# So each of these vertices is fixed to a block that may weigh as much, and takes no others; those
# are divided among the other blocks, within their limits.


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
