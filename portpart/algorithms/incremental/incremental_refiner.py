"""Incremental repartitioning: updates a partition after edits of a graph or hypergraph.

A batch changes cost and block weights by the contributions of its edits; nothing is recounted.
New vertices are placed, then the surroundings of the edits are refined.  Work proportional to the
whole graph is done once, and again when the capacity for new vertices grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from portpart.algorithms import refinement
from portpart.algorithms.edits import Editable, PredictedOutcome, Update
from portpart.algorithms.incremental import edits
from portpart.algorithms.incremental.round import record_round, updates_of
from portpart.algorithms.objectives import Balance, Objective
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.backends.programs import Array
from portpart.primitives import positions_of

NONE = -1

MIN_CAPACITY = 1024

HALF_MORE = 2**18
"""The slack for new ids is half of up to this many ids, or an eighth of all if that is more."""

OPTIONS = refinement.RefinementOptions(stall_limit=4, slack=0)
FILTER_RATIO = 0.3


class PartitionFigures(NamedTuple):
    """Known figures of a partition.

    Attributes
    ----------
    cost : int
    weights : numpy.ndarray of int64, shape (k,)
        Weights of the blocks.
    """

    cost: int
    weights: np.ndarray


class IncrementalRefiner:
    """A partition of an edited graph, updated after each batch.

    Parameters
    ----------
    graph : EditableGraph or EditableHypergraph
    part : array of int32
        Blocks of all ids given out so far; deleted ids may have any block.
    balance_of : callable
        Returns the balance of the blocks for a total vertex weight.
    objective : Objective
    seed : int
    migration_factor : int
        Cost of moving a vertex of size 1.
    sizes : array of int64, or None
        Sizes of the vertices; None means 1.  New vertices have size 1.
    fixed : array of int32, or None
        Blocks of vertices that must not move, else -1.
    pieces : tuple of Piece, optional
        Refinement around edits; by default with label propagation.
    known : PartitionFigures, optional
        Cost and block weights of the partition, if known.
    """

    def __init__(self, graph: Editable, part: Array, balance_of: Callable[[int], Balance],
                 objective: Objective, seed: int, migration_factor: int = 1,
                 sizes: Array | None = None, fixed: Array | None = None,
                 pieces: tuple[refinement.Piece, ...] | None = None,
                 known: PartitionFigures | None = None) -> None:
        self.graph, self.balance_of, self.objective, self.seed = graph, balance_of, objective, seed
        self.migration_factor, self.sizes, self.fixed = migration_factor, sizes, fixed
        self.updates = updates_of(graph)
        self.pieces = pieces or self.updates.pieces
        self.rows, self.nothing = self.updates.rows(graph), edits.Nothing(graph.space)
        self._before: tuple[int, Balance] | None = None
        graph.prepare()
        self._begin(part, known)

    def _begin(self, part: Array, known: PartitionFigures | None) -> None:
        """Reserve capacity for more vertices, and compute all unknown figures."""
        graph, space, count = self.graph, self.graph.space, self.graph.vertices.count
        self.total = graph.vertices.total_weight
        self.capacity = max(MIN_CAPACITY, count + max(count // 8, min(count, HALF_MORE) // 2))
        rows = self.updates.rows(graph, self.capacity)
        refiner = self.refiner = refinement.Refiner(space, rows, self.balance_of(self.total),
                                                    OPTIONS, self.seed, objective=self.objective,
                                                    pieces=self.pieces)
        self.followed = self.updates.followed(refiner)
        refiner.reserve()
        refiner.run.moves.part[:] = 0
        sizes = self.sizes = self._extended(self.sizes, 1)
        self.fixed = self._extended(self.fixed, -1)
        self._numbers = space.zeros(len(refinement.LocalReport.indices) + refiner.sizes.blocks,
                                    np.int64)
        self.journal = refinement.journal_for(space, refiner.sizes, self.migration_factor, sizes,
                                              self._numbers)
        connections = space.full(self.capacity, self.migration_factor,
                                 np.int64) if sizes is None else sizes * self.migration_factor
        self.previous_blocks = PreviousBlocks(self.journal.previous,
                                              connections) if self.migration_factor else None
        self.restart(part, known)

    def _extended(self, array: Array | None, value: int) -> Array | None:
        if array is None or len(array) >= self.capacity:
            return array
        extended = self.graph.space.full(self.capacity, value, array.dtype)
        extended[: len(array)] = array
        return extended

    def restart(self, part: Array, known: PartitionFigures | None = None) -> None:
        """Start from another partition and compute its figures, and the state of all nets.

        Known figures of a partition of a graph are not computed again.  For net costs they are,
        because the state of the nets is needed.
        """
        refiner, space = self.refiner, self.graph.space
        if known is None or self.objective.rules.net_cost is not None:
            whole = space.zeros(self.graph.vertices.count,
                                np.int32)  # ids not in use may have any block
            whole[: len(part)] = part
            refiner.start(self.rows, whole)
        else:
            refiner.start_with(self.rows, part, known.cost, space.asarray(known.weights))
        refiner.reset(self.updates.rows(self.graph, self.capacity), self.journal)
        space.parallel_for(1, refinement.begin_report, self.journal)
        self._write_report()
        self.last = self._read()

    @property
    def part(self) -> Array:
        """The block of each id; deleted ids have any block."""
        return self.refiner.best[: self.graph.vertices.count]

    def existing_part(self) -> Array:
        """Return the block of each id, -1 for deleted ids."""
        space, vertices = self.graph.space, self.graph.vertices
        vertices.reserve(weighted=True)
        part = space.empty(vertices.count, np.int32)
        space.parallel_for(len(part), edits.write_existing_block, self.refiner.best,
                           vertices.deletions, part)
        return part

    def reserve(self) -> None:
        """Reserve capacity for all ids given out, and read the graph's figures before a batch."""
        self.rows.look()
        if self.graph.vertices.count > self.capacity:
            self._begin(self.graph.space.copy(self.refiner.best[: self.capacity]),
                        PartitionFigures(self.last.cost, self.last.weights))

    def follow(self, update: Update, refine: bool = True) -> edits.RoundResult:
        """Update the partition after an applied batch; without `refine` no vertex moves."""
        if self._before is None:
            self._run(update, refine)
        self._before = None
        self.last = self._read()
        return self.last

    def follow_early(self, expected: PredictedOutcome, refine: bool) -> None:
        """Start the update while the batch is being applied, if all that it needs is known.

        The program does nothing if the prediction fails.  `follow` must be called next if it held,
        else `give_up`.
        """
        self._before = self.total, self.refiner.balance
        try:
            self._run(expected.update, refine, expected)
        except (edits.NotReady, MemoryError):
            self.give_up()

    def give_up(self) -> None:
        """Restore the state before `follow_early`, because the prediction failed."""
        if self._before is not None:
            self.total, self.refiner.balance = self._before
            self._before = None

    def refine_near(self, wrong: Array) -> edits.RoundResult:
        """Refine around the vertices of a mask, which have just been put into their blocks.

        After an error all vertices are in the blocks in which they were put.
        """
        space, count = self.graph.space, self.graph.vertices.count
        near = space.zeros(count, np.int32)
        self.followed.flag_around(self.rows, positions_of(space, wrong), near,
                                  self.refiner.run.moves)
        try:
            self._run(Update(), refine=True, activated=positions_of(space, near))
        except BaseException:
            self.restore_previous()
            raise
        self.last = self._read()
        return self.last

    def _run(self, update: Update, refine: bool, expected: PredictedOutcome | None = None,
             activated: Array | None = None) -> None:
        refiner, updates, early = self.refiner, self.updates, expected is not None
        total = self.graph.vertices.total_weight
        if expected is not None:
            total += expected.inserted - expected.deleted
        limits = self._new_balance(total)
        if limits is not None and not limits.are_alike:
            if early:
                raise edits.NotReady
            refiner.set_balance(limits)
            limits = None
        records = {**edits.records_of(update, self.graph.vertices, self.nothing, refine, limits,
                                      expected, activated),
                   **self.followed.prepare(self.rows, update, refine, early),
                   "journal": self.journal}
        refiner.balance = limits or refiner.balance
        costs = self.previous_blocks is not None
        around = refinement.LocalRefinement(
            lambda this: record_round(this, updates, costs), records,
            (type(updates), records["inserted"].ids is None, self.sizes is None),
            edits.touched(update) if activated is None else len(activated))
        refiner.refine_around(self.rows, around, FILTER_RATIO if refine else None, self.fixed,
                              self.previous_blocks)

    def fix(self, fixed: Array | None) -> None:
        """Replace the fixed blocks of vertices; call `refit` next."""
        self.fixed = self._extended(fixed, NONE)

    def refit(self) -> None:
        """Recompute the block limits, which can change although the total weight does not."""
        self.refiner.set_balance(self.balance_of(self.total))

    def existing_fixed(self) -> Array:
        """Return the block that each id is fixed to, -1 for free and deleted ids."""
        space, part = self.graph.space, self.existing_part()
        if self.fixed is None:
            return space.full(len(part), NONE, np.int32)
        fixed = space.copy(self.fixed[: len(part)])
        fixed[part == NONE] = NONE
        return fixed

    def misplaced(self) -> Array | None:
        """Return a mask of existing vertices outside their fixed blocks; None if there are none."""
        if self.fixed is None:
            return None
        fixed = self.existing_fixed()
        wrong = (fixed != NONE) & (fixed != self.part)
        return wrong if bool(wrong.any()) else None

    def live_partition(self) -> edits.LivePartition:
        """Return the partition of the existing vertices, in the order of their ids."""
        ids = self.graph.vertices.alive()

        def chosen(array: Array | None) -> Array | None:
            if array is None:
                return None
            count = self.graph.vertices.count
            return self.graph.space.copy(array[:count]) if ids is None else array[ids]

        part = chosen(self.part)
        assert part is not None
        return edits.LivePartition(part, chosen(self.sizes), chosen(self.fixed))

    def of_all(self, part: Array) -> Array:
        """Return a partition of the existing vertices as a partition of all ids."""
        ids = self.graph.vertices.alive()
        if ids is None:
            return part
        whole = self.graph.space.copy(self.part)
        whole[ids] = part
        return whole

    def before(self, update: Update) -> Array:
        """Return the blocks before the last round, -1 for ids that do not exist or were new."""
        part, journal = self.existing_part(), self.journal
        space, count = self.graph.space, self.last.journaled
        space.parallel_for(count, edits.write_left, journal.listed, journal.left, part)
        for insertion in update.insertions:
            if insertion.table is self.graph.vertices:
                part[insertion.first : insertion.first + insertion.number] = NONE
        return part

    def away(self, old: Array) -> tuple[int, int]:
        """Return the number of vertices that have left the blocks of `old`, and their size."""
        moved = (old >= 0) & (self.existing_part() != old)
        number = int(moved.sum())
        return number, number if self.sizes is None else int(self.sizes[: len(old)][moved].sum())

    def moves(self, last: edits.RoundResult) -> edits.MoveLog:
        """Return the moves of the last round, for undo; valid until the next round."""
        count = last.journaled
        return edits.MoveLog(self.journal.listed[:count], self.journal.left[:count])

    def undo(self, moves: edits.MoveLog, undoing: bool = False) -> None:
        """Undo the moves of the last round that is not undone.

        `undoing` says that its edits are undone next.
        """
        if undoing:
            self.followed.undo(self.rows, moves, self.refiner.run.moves)
        run = self.refiner.run
        self.graph.space.parallel_for(len(moves.listed), refinement.return_vertex, moves.listed,
                                      moves.left, run.moves, run.incumbent, self.journal)

    def write(self, part: Array) -> None:
        """Replace the blocks; call `recount` next."""
        run, count = self.refiner.run, len(part)
        for array in (run.moves.part, run.incumbent.best, self.journal.previous):
            array[:count] = part

    def recount(self, before: edits.RoundResult, undone: Sequence[Update] | None = None) -> None:
        """Restore cost and weights of an earlier round, to whose end everything has been undone.

        `undone` are the batches undone since then, if all moves were undone by `undo`.
        """
        space, run = self.graph.space, self.refiner.run
        run.moves.weight_sums[:] = 0
        run.moves.weight_sums[: len(before.weights)] = space.asarray(before.weights)
        run.moves.cost_sums[:] = 0
        run.moves.cost_sums[:1] = 2 * before.cost
        if undone is None:
            self.followed.recount(self.rows, run.moves.part)
        else:
            self.followed.follow_back(self.rows, undone, run.moves)
        space.parallel_for(1, refinement.begin_report, self.journal)
        self._write_report()
        limits = self._new_balance(self.graph.vertices.total_weight)
        if limits is not None:
            self.refiner.set_balance(limits)
        self.last = self._read()

    def _write_report(self) -> None:
        run = self.refiner.run
        self.graph.space.parallel_for(1, refinement.write_report, run.moves.over(run.level),
                                      run.blocks, run.level, self.journal, team=refinement.SUM_TEAM)

    def restore_previous(self) -> None:
        """Restore the partition before a round that was interrupted."""
        self.total = self.graph.vertices.total_weight
        self.refiner.set_balance(self.balance_of(self.total))
        previous = self.journal.previous[: self.graph.vertices.count]
        self.restart(previous * (previous >= 0))  # deleted ids may have any block

    def _new_balance(self, total: int) -> Balance | None:
        """Return the balance for a total weight, None if the total has not changed."""
        if total == self.total:
            return None
        self.total = total
        return self.balance_of(total)

    def _read(self) -> edits.RoundResult:
        words = len(refinement.LocalReport.indices)
        numbers = self.graph.space.to_host(self._numbers)
        report = refinement.LocalReport(numbers[:words].tolist())
        return edits.RoundResult(report.cost, report.iterations, report.affected, report.moved,
                                 report.migration, report.journaled, numbers[words:].copy())
