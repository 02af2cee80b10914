"""Localized refinement: around a few vertices, without time for the others.

Between two runs the arrays of refinement are reset: no vertex is on a list, no best target is
known, and the partition is the best one; it holds the previous blocks.  A run begins with active
vertices, whose best targets are determined; moves activate their neighbours.  In the end vertices
moved since the best partition move back, all examined vertices are reset, and the block of a vertex
becomes its previous block.  Only where the vertices around do not suffice to relieve a block that
is too heavy all vertices are examined, as in other runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import (
    ActiveSets,
    GainCache,
    GainSteps,
    reset_flags,
    reset_gain,
    unmark,
)
from portpart.algorithms.refinement.incumbent import (
    Incumbent,
    IncumbentSteps,
    reset_saved,
    save_block,
    save_vertex,
    set_best,
    set_touched,
)
from portpart.algorithms.refinement.label_propagation import ThinningSteps
from portpart.algorithms.refinement.moves import (
    Moves,
    add_cost,
    commit_move,
    join_block,
    reset_move,
    sum_copies,
    twice_the_cost,
)
from portpart.algorithms.refinement.options import Figures, RefinementSizes
from portpart.algorithms.refinement.piece import (
    SIZE,
    LevelWords,
    Piece,
    Recording,
    record_accounts,
    record_ends,
)
from portpart.algorithms.refinement.program import record_iterations
from portpart.algorithms.refinement.rebalancing import RebalancingSteps
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

NONE = -1

SUM_TEAM = 32


class LocalReport(kl.Words):
    """The result of a run around vertices.

    Attributes
    ----------
    cost : int
        Of the partition alone.
    iterations : int
    affected : int
        Vertices that were activated.
    moved, migration : int
        Vertices that have left their previous block, and their size.
    journaled : int
        Vertices that the best partition has had elsewhere, if only for a while.
    """

    cost: int
    iterations: int
    affected: int
    moved: int
    migration: int
    journaled: int


class Journal(kl.Record):
    """The vertices moved in a run around vertices.

    Attributes
    ----------
    vertex_sizes : array of int64, shape (n,), or None
        What is moved with a vertex; None means 1.
    migration_factor : int
        What the move of a vertex of size 1 costs.
    report : LocalReport
    weights : array of int64, shape (k,)
        What the blocks weigh in the end.
    previous : array of int32, shape (n,)
        Where vertices were when it began; -1 for new ones.
    listed, left : array of int32
        Vertices of the best partitions, and the previous block that each has left, -1 if none.
    """

    vertex_sizes: Array | None
    migration_factor: int
    report: LocalReport
    weights: Array
    previous: Array = kl.work(np.int32, "vertices")
    listed: Array = kl.work(np.int32, "vertices")
    left: Array = kl.work(np.int32, "vertices")


class LocalRefinement(NamedTuple):
    """A program around some vertices.

    Attributes
    ----------
    record : callable
        Records it, of which `record_local` is a part.
    records : dict
        Its records in addition to those of refinement; the journal is one, and `refine_around` adds
        words that a run begins with, ``begun``.
    key : tuple
        What else its code depends on.
    size : int
        Vertices or edges that it begins with.
    """

    record: Callable[[Recording], None]
    records: dict[str, kl.Record | kl.Words]
    key: tuple[Any, ...]
    size: int


@kl.device
def reset_vertex(v, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent):
    """Nothing is known of v, which is on no list and not locked."""
    reset_gain(v, cache)
    reset_move(v, moves)
    reset_flags(v, active)
    reset_saved(v, incumbent)
    set_touched(v, 0, incumbent)


@kl.device
def set_previous_block(v, block, journal: Journal):
    """Set the previous block of v, -1 if none."""
    journal.previous[v] = kl.int32(block)


@kl.kernel
def reset_each_vertex(v, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent,
                      previous):
    """Reset v, in the block where it is."""
    reset_vertex(v, moves, cache, active, incumbent)
    set_best(v, moves.part[v], incumbent)
    previous[v] = moves.part[v]


@kl.kernel
def begin_level(word, begun: LevelWords, level: LevelWords):
    """A word is what a run begins with."""
    level[word] = begun[word]


@kl.kernel
def begin_report(_, journal: Journal):
    """No vertex is active and none has moved."""
    journal.report.affected = 0
    journal.report.moved = 0
    journal.report.migration = 0
    journal.report.journaled = 0


@kl.device
def count_activated(cache: GainCache, journal: Journal):
    """Store the number of active vertices.  For one lane."""
    journal.report.affected = cache.marked


@kl.kernel
def save_and_note(i, moves: Moves, incumbent: Incumbent, blocks: Blocks, journal: Journal):
    """Keep vertex and block i if this partition is the best, and list the vertex once."""
    if i < incumbent.saved_vertices:
        v = save_vertex(i, moves, incumbent)
        if incumbent.touched[v] == 0:
            set_touched(v, 1, incumbent)
            journal.listed[kl.atomic_next(journal.report, LocalReport.journaled)] = v
    save_block(i, moves, incumbent, blocks)


@kl.kernel
def move_back(i, moves: Moves, incumbent: Incumbent, figures: Figures):
    """A vertex that has moved since the best partition moves back."""
    v = incumbent.unsaved_list[i]
    there = incumbent.best[v]
    if moves.part[v] != there:
        commit_move(v, there, moves, figures)


@kl.kernel
def rest_listed(i, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent):
    """Reset vertex i of the list of boundary vertices."""
    reset_vertex(active.boundary[active.boundary_begin + i], moves, cache, active, incumbent)


@kl.kernel
def rest_unsaved(i, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent):
    """Reset vertex i of the list of vertices that had to move back."""
    reset_vertex(incumbent.unsaved_list[i], moves, cache, active, incumbent)


@kl.kernel
def forget_dirty(i, cache: GainCache):
    """Unmark vertex i of the stale ones."""
    unmark(cache.dirty_list[i], cache)


@kl.kernel
def reset_journal(i, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent,
                  journal: Journal):
    """Reset vertex i of the journal; its block is its previous block from now on."""
    v = journal.listed[i]
    reset_vertex(v, moves, cache, active, incumbent)
    there = incumbent.best[v]
    left = journal.previous[v]
    if left == there:
        left = kl.int32(NONE)
    if left >= 0:
        size = kl.value_or(journal.vertex_sizes, v, 1)
        kl.atomic_add(journal.report, LocalReport.moved, 1)
        kl.atomic_add(journal.report, LocalReport.migration, size)
        add_cost(i, -2 * journal.migration_factor * size, moves)
    journal.left[i] = left
    journal.previous[v] = there


@kl.kernel
def return_vertex(i, listed, left, moves: Moves, incumbent: Incumbent, journal: Journal):
    """Vertex i of a list goes back to the block that it has left, again its previous block."""
    v = listed[i]
    if left[i] >= 0:
        join_block(v, left[i], moves)
        set_best(v, left[i], incumbent)
        set_previous_block(v, left[i], journal)


@kl.kernel
def write_report(_, moves: Moves, blocks: Blocks, figures: Figures, journal: Journal):
    """Write what has come of it.  Called by one team."""
    sum_copies(moves.weight_sums, blocks.weight, moves, figures)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        journal.weights[b] = blocks.weight[b]
    twice = twice_the_cost(moves)
    if kl.lane() == 0:
        journal.report.cost = twice // 2
        journal.report.iterations = figures.iteration

LOCAL: tuple[Piece, ...] = (
    IncumbentSteps(save_and_note), GainSteps(), RebalancingSteps(), ThinningSteps())
"""Pieces of all runs around some vertices."""


def record_begin(this: Recording) -> None:
    """Record, side by side with what else begins, the words of a run and of its report."""
    this.program.launch(SIZE, begin_level)
    this.program.launch(1, begin_report)


def record_local(this: Recording) -> None:
    """Record a run around vertices that are marked already; then `record_end` is to come.

    A piece that activates more of them updates their number in the report, by `count_activated`.
    """
    for piece in this.pieces:
        piece.activate(this)
    record_iterations(this)
    _record_rest(this)


def record_end(this: Recording) -> None:
    """Record, side by side with what else ends, what has come of a run."""
    this.program.launch(1, write_report, team=SUM_TEAM)


def _record_rest(this: Recording) -> None:
    program, level = this.program, this.run.level
    journal = program.find("journal", Journal)
    with program.if_nonzero(level.unsaved):
        with program.side_by_side():
            program.launch(level.dirty, forget_dirty)
            program.launch(level.unsaved, move_back)
        record_accounts(this)
        with program.side_by_side():
            record_ends(this)
    with program.side_by_side():
        program.launch(level.on_boundary, rest_listed)
        program.launch(level.dirty, forget_dirty)
        program.launch(level.marked, forget_dirty)
        program.launch(level.unsaved, rest_unsaved)
        program.launch(journal.report.journaled, reset_journal)


def journal_for(space: ExecutionSpace, sizes: RefinementSizes, migration_factor: int,
                vertex_sizes: Array | None, numbers: Array) -> Journal:
    """Allocate a journal; its report and the weights are views of `numbers`."""
    words = len(LocalReport.indices)
    return Journal.allocate(space, sizes, vertex_sizes=vertex_sizes,
                            migration_factor=migration_factor,
                            report=LocalReport(numbers[:words]), weights=numbers[words:])
