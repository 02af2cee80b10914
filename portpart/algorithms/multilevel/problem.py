"""The input of partitioners and mappers: the problem and its constraints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic

import numpy as np

from portpart.algorithms import objectives
from portpart.algorithms.coarsening import AnyGraph
from portpart.algorithms.final_balance import block_weights_on_host, host_vertex_weights
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, EitherGraph, Hypergraph, Topology
from portpart.primitives import gather, max_of

if TYPE_CHECKING:
    from portpart.options import Configuration

# Constraints of a partition besides balance ----------------------------------------------------


FREE = -1
"""The block of a vertex that is not fixed."""


def never() -> bool:
    """Return False: there is no deadline."""
    return False


def deadline_check(space: ExecutionSpace, deadline: float) -> Callable[[], bool]:
    """Return a check whether `deadline`, a reading of ``time.perf_counter``, is over.

    The check waits for the device.
    """
    if deadline == math.inf:
        return never

    def is_late() -> bool:
        space.synchronize()
        return time.perf_counter() > deadline

    return is_late


@dataclass(frozen=True, eq=False)
class Constraints:
    """Fixed vertices, an initial partition, previous blocks, a limit of time.

    Attributes
    ----------
    fixed : array of int32, shape (n,), optional
        The block of a fixed vertex, -1 for the others.
    initial : array of int32, shape (n,), optional
        A partition to start from. Fixed vertices are in their blocks.
    out_of_time : callable
        Called where a run can end early with a complete partition.
    previous_blocks : PreviousBlocks, optional
        Blocks that vertices leave at a migration cost: those of `initial`.
    grows : bool
        Whether new partitions are grown although there are previous blocks.
    is_brief : bool
        Whether coarsening ends when levels are barely smaller, and each level is refined once.
    rounds : float
        Rounds of a population after the search; infinite: until time is over.
    """

    fixed: Array | None = None
    initial: Array | None = None
    out_of_time: Callable[[], bool] = never
    previous_blocks: PreviousBlocks | None = None
    grows: bool = True
    is_brief: bool = False
    rounds: float = 0

    def label(self, space: ExecutionSpace, part: Array | None) -> Array | None:
        """Return an int32 label per vertex; vertices of different labels must not be merged.

        Labels differ if the blocks in `part`, fixed blocks, or previous blocks differ.
        """
        if self.previous_blocks is not None and part is not self.previous_blocks.previous:
            part = _pairs(space, self.previous_blocks.previous, part)
        if part is None or self.fixed is None:
            return self.fixed if part is None else part
        label = space.empty(len(part), np.int32)
        space.parallel_for(len(part), mark_fixed, self.fixed, part, label)
        return label

    def moved(self, space: ExecutionSpace, other: ExecutionSpace) -> Constraints:
        """Copy the arrays from `space` to another space."""
        fixed, initial = (None if array is None else other.asarray(space.to_host(array))
                          for array in (self.fixed, self.initial))
        return Constraints(fixed, initial, self.out_of_time)


def _pairs(space: ExecutionSpace, previous: Array, part: Array | None) -> Array:
    """Number the pairs of previous and current block."""
    if part is None:
        return previous
    if space.is_dry_run:
        return space.copy(previous)
    pairs = space.to_host(previous).astype(np.int64) << 32 | space.to_host(part)
    return space.asarray(np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int32))


UNCONSTRAINED = Constraints()


@kl.kernel
def mark_fixed(v, fixed, part, label):
    """Keep the label of v; a fixed vertex gets the label of its fixed block."""
    label[v] = part[v]
    if fixed[v] >= 0:
        label[v] = kl.int32(-2) - fixed[v]


# The input of a partitioner: one value from the public function to the last start --------------


@dataclass(frozen=True, eq=False)
class Problem(Generic[AnyGraph]):
    """A graph or a hypergraph to partition.

    Attributes
    ----------
    graph : Graph or Hypergraph
    balance : Balance
        The number of blocks and their limits.
    seed : int
    trace : Trace
        Collects statistics.
    constraints : Constraints
    objective : Objective
        The value that is minimised; by default the cut.
    evaluation : Evaluation, optional
        Evaluates the partition of a single walk before the host waits for it.
    """

    graph: AnyGraph
    balance: objectives.Balance
    seed: int
    trace: Trace
    constraints: Constraints = UNCONSTRAINED
    objective: objectives.Objective = objectives.CUT
    evaluation: objectives.Evaluation | None = None

    @property
    def space(self) -> ExecutionSpace:
        """The execution space of the graph."""
        return self.graph.space

    @property
    def rows(self) -> Csr:
        """The rows of the vertices, with the pin state if the objective needs it."""
        return rows_of(self.graph, self.num_blocks)

    @property
    def num_blocks(self) -> int:
        """Number of blocks."""
        return self.balance.num_blocks


def rows_of(graph: EitherGraph, num_blocks: int) -> Csr:
    """Return the rows of the vertices; for hypergraphs with a pin state that is not yet counted."""
    return objectives.net_rows(graph, num_blocks) if isinstance(graph, Hypergraph) else graph.csr


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem that is solved instead of another one.

    Attributes
    ----------
    problem : Problem
    places : array of int32, shape (n,), optional
        The number of each vertex in `problem`; None if the numbers are the same.
    config : Configuration, optional
        The options for this problem, if they differ.
    """

    problem: Problem
    places: Array | None = None
    config: Configuration | None = None

    def in_given_order(self, part: Array) -> Array:
        """Return the blocks in the order of the other problem's vertices."""
        return part if self.places is None else gather(self.problem.space, part, self.places)


# The input of a mapper -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class MappingProblem(Problem):
    """A graph to map to a machine; blocks are its processing elements.

    Attributes
    ----------
    topology : Topology
    distances : Distances
        Distances of the topology, in the space of the graph. They define the objective.
    """

    topology: Topology
    distances: objectives.Distances

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", objectives.communication_cost(self.distances))

    def of_the_cut(self) -> Problem:
        """Return the problem with the cut as objective, which ignores distances."""
        return Problem(self.graph, self.balance, self.seed, self.trace, self.constraints)


# Vertices that exceed every limit, such as macros of a circuit, get a block each ---------------
#
# With such vertices no partition is within the limits, and refinement would only reduce overload.
# So each of them is fixed to a block whose limit is raised to its weight. The other vertices are
# distributed over the other blocks, within their limits.


def with_own_blocks(problem: Problem) -> Problem:
    """Fix vertices that exceed every limit to separate blocks; otherwise return the problem.

    Each gets its block of the initial partition, or the block with the largest free capacity. Waits
    for the device if vertices have weights.
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
    """Copy blocks of vertices to the host, if there are any."""
    return None if blocks is None else problem.space.to_host(blocks).copy()


@dataclass(frozen=True, eq=False)
class OversizedVertices:
    """Fixed vertices and the limits of their blocks; `give` changes both.

    Attributes
    ----------
    weights : numpy.ndarray of int64, shape (n,)
    fixed : numpy.ndarray of int32, shape (n,)
    limits : numpy.ndarray of int64, shape (k,)
    capacity : numpy.ndarray of int64, shape (k,)
        Free capacity: limits minus fixed weights.
    """

    weights: np.ndarray
    fixed: np.ndarray
    limits: np.ndarray
    capacity: np.ndarray

    @classmethod
    def of(cls, weights: np.ndarray, fixed: np.ndarray | None,
           limits: np.ndarray) -> OversizedVertices:
        """Return the state before any heavy vertex is fixed."""
        if fixed is None:
            return cls(weights, np.full(len(weights), FREE, np.int32), limits.copy(), limits.copy())
        held = fixed != FREE
        return cls(weights, fixed, limits.copy(),
                   limits - block_weights_on_host(fixed[held], weights[held], len(limits)))

    def too_heavy(self) -> np.ndarray:
        """Return the vertices that no block has capacity for, heaviest first."""
        found = np.flatnonzero((self.fixed == FREE) & (self.weights > self.capacity.max()))
        return found[np.argsort(-self.weights[found], kind="stable")]

    def give(self, heavy: np.ndarray, start: np.ndarray | None) -> None:
        """Fix each vertex to a separate block, while there are blocks."""
        left = dict.fromkeys(np.argsort(-self.capacity, kind="stable").tolist())
        for v in heavy.tolist():
            if not left:
                return
            block = next(iter(left)) if start is None else int(start[v])
            block = block if block in left else next(iter(left))
            del left[block]
            self.fixed[v] = block
            self.limits[block] += max(0, int(self.weights[v]) - int(self.capacity[block]))
