"""A partition that follows edits: accounts by the edits alone, and refinement around them."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.edits.editable import EditableGraph
from portpart.algorithms.edits.operations import Changes
from portpart.algorithms.edits.update import Update
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement.moves import mark_dirty
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.outcomes import Outcome
from portpart.algorithms.refinement.refiner import Refiner
from portpart.algorithms.refinement.state import Run
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import atomic_add, device, int32, int64, kernel, value_or
from portpart.graphs.rows import Csr
from portpart.primitives.reduce import STRIPES

NONE = -1

MAX_DEGREE = 2**31 - 1
"""What may be the highest degree: to know it would take a look at all vertices."""

ROUNDS = 4
"""A new vertex waits so often for a neighbour to be placed."""

MAX_SEEN = 64
"""Neighbours that are compared to place a vertex."""

OPTIONS = RefinementOptions(stall_limit=4)
TEMPERATURE = 0.3


class Edited:
    """Rows of an edited graph as refinement sees them; nothing is counted anew."""

    def __init__(self, graph: EditableGraph, weights: Array, mean_degree: float) -> None:
        self.graph, self.weights, self.mean_degree = graph, weights, mean_degree

    @property
    def space(self) -> ExecutionSpace:
        return self.graph.space

    @property
    def num_vertices(self) -> int:
        return self.graph.vertices.count

    @property
    def num_entries(self) -> int:
        return self.graph.num_pairs

    @property
    def max_degree(self) -> int:
        return MAX_DEGREE

    @property
    def total_vertex_weight(self) -> int:
        return self.graph.vertices.total_weight

    @property
    def weight_sum_dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int64)

    @property
    def vertex_weights(self) -> Array:
        return self.weights

    @property
    def type_key(self) -> tuple[Any, ...]:
        rows = self.graph.arcs.rows
        return ("edited", rows.begin.dtype, None if rows.weights is None else rows.weights.dtype)

    @property
    def csr(self) -> Csr:
        rows = self.graph.csr
        return Csr(rows.begin, rows.end, rows.targets, rows.weights,
                   self.weights[: self.num_vertices])

    def mean_joint_weight(self, factor: int) -> int:
        return self.graph.pair_weight * factor // max(1, self.graph.num_pairs)


@kernel
def account_pair(i, changes: Changes, run: Run):
    """Add what a changed pair costs more: both directions are there, sums are twice the cost."""
    will = max(int64(0), int64(changes.will[i]))
    was = max(int64(0), int64(changes.was[i]))
    if will != was:
        u = changes.keys[i] >> 32
        v = changes.keys[i] & 0xFFFFFFFF
        if run.moves.part[u] != run.moves.part[v]:
            atomic_add(run.moves.cost_sums, i % STRIPES, will - was)


@kernel
def wake_end(i, changes: Changes, run: Run):
    """The end of a changed pair, and each pair is there from both, is to be looked at."""
    if changes.will[i] != changes.was[i]:
        mark_dirty(int32(changes.keys[i] >> 32), run.cache, run.level)


@device
def tied_most(v, graph: Csr, part):
    """The block that v is tied to most, of equal ones the smaller; -1 if no neighbour has one."""
    best = int64(NONE)
    most = int64(0)
    begin = int64(graph.begin[v])
    end = min(begin + MAX_SEEN, int64(graph.end[v]))
    for arc in range(begin, end):
        block = int64(part[graph.targets[arc]])
        if block >= 0:
            total = int64(0)
            for other in range(begin, end):
                if part[graph.targets[other]] == block:
                    total += value_or(graph.weights, other, 1)
            if total > most or (total == most and block < best):
                most = total
                best = block
    return best


@kernel
def choose_block(i, first, graph: Csr, run: Run):
    """Choose a block for new vertex first + i that has none."""
    v = first + i
    run.moves.target[v] = run.moves.part[v]
    if run.moves.part[v] < 0:
        run.moves.target[v] = int32(tied_most(v, graph, run.moves.part))


@kernel
def take_block(i, first, run: Run):
    """Place new vertex first + i where it has chosen."""
    run.moves.part[first + i] = run.moves.target[first + i]


@kernel
def place_rest(i, first, k, run: Run):
    """New vertices without neighbours go to the lightest block, as it was before."""
    v = first + i
    if run.moves.part[v] < 0:
        best = int64(0)
        for b in range(1, k):
            if run.blocks.weight[b] < run.blocks.weight[best]:
                best = int64(b)
        run.moves.part[v] = int32(best)


@kernel
def weigh_birth(i, first, weights, k, run: Run):
    """Count new vertex first + i."""
    v = first + i
    run.incumbent.best[v] = run.moves.part[v]
    atomic_add(run.moves.weight_sums, int64(run.moves.part[v]), weights[v])
    mark_dirty(int32(v), run.cache, run.level)


@kernel
def weigh_death(i, died, weights, run: Run):
    """A dead vertex weighs nothing."""
    v = int64(died[i])
    if v >= 0:
        atomic_add(run.moves.weight_sums, int64(run.moves.part[v]), -weights[v])
        weights[v] = 0


class Following:
    """A partition of an edited graph that follows its batches.

    Parameters
    ----------
    graph : EditableGraph
    part : array of int32
        Of the ids given out so far.
    limits : callable
        From the total weight, the balance of the blocks.
    objective : Objective
    seed : int
    """

    def __init__(self, graph: EditableGraph, part: Array, balance_of: Any, objective: Objective,
                 seed: int) -> None:
        self.graph, self.balance_of, self.objective, self.seed = graph, balance_of, objective, seed
        space, n = graph.space, graph.vertices.count
        capacity = max(1024, n + n // 4)
        self.weights = space.full(capacity, 0, np.int64)
        given = graph.vertices.weights_of_all()
        self.weights[:n] = 1 if given is None else given
        mean = graph.num_pairs / max(1, n)
        self.rows = Edited(graph, self.weights, mean)
        self.total = graph.vertices.total_weight
        self.refiner = Refiner(space, Sized(self.rows, capacity), balance_of(self.total), OPTIONS,
                               seed, objective=objective)
        self.refiner.start(self.rows, part)
        self.refiner.rest(Sized(self.rows, capacity))

    def apply(self, update: Update) -> Outcome:
        """Follow a batch."""
        space, rows, refiner = self.graph.space, self.rows, self.refiner
        k = refiner.balance.num_blocks
        run = refiner.run
        for birth in update.births:
            first, end = birth.first, birth.first + birth.number
            self.weights[first:end] = 1 if birth.weights is None else space.asarray(birth.weights)
            run.moves.part[first:end] = NONE
            for _ in range(ROUNDS):
                space.parallel_for(birth.number, choose_block, first, rows.csr, run)
                space.parallel_for(birth.number, take_block, first, run)
            space.parallel_for(birth.number, place_rest, first, k, run)
        for _, died in update.died:
            space.parallel_for(len(died), weigh_death, died, self.weights, run)
        for changes in update.changes:
            space.parallel_for(len(changes.keys), account_pair, changes, run)
        if self.graph.vertices.total_weight != self.total:
            self._set_balance()

        def wake(run: Run) -> None:
            for birth in update.births:
                space.parallel_for(birth.number, weigh_birth, birth.first, self.weights, k, run)
            for changes in update.changes:
                space.parallel_for(len(changes.keys), wake_end, changes, run)

        return refiner.refine_around(rows, wake, TEMPERATURE)

    def _set_balance(self) -> None:
        self.total = self.graph.vertices.total_weight
        refiner, space = self.refiner, self.graph.space
        balance: Balance = self.balance_of(self.total)
        refiner.balance = balance
        blocks = refiner.run.blocks
        blocks.limits[:] = space.asarray(balance.limits)
        blocks.means[:] = space.asarray(balance.means)
        blocks.open_below[:] = space.asarray(balance.open_below)


class Sized:
    """The same rows, for which room is made."""

    def __init__(self, rows: Edited, capacity: int) -> None:
        self.rows, self.num_vertices = rows, capacity

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rows, name)
