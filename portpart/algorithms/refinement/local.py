"""Localized refinement: around a few vertices, without work for the others.

Between two runs the arrays of refinement are reset: no vertex is on a list, no best target is
cached, and the partition is the best one, whose blocks are the previous blocks.  A run begins with
active vertices, whose best targets are computed; moves activate their neighbours.  At the end,
vertices moved since the best partition move back, all examined vertices are reset, and the block of
a vertex becomes its previous block.  If the active vertices do not suffice to relieve an overloaded
block, all vertices are examined, as in other runs.
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
        Objective of the partition, without migration costs.
    iterations : int
    affected : int
        Vertices that were activated.
    moved, migration : int
        Number of vertices that have left their previous block, and their total size.
    journaled : int
        Number of vertices that have moved in a best partition, even if they moved back later.
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
        Migration size of a vertex; None means 1.
    migration_factor : int
        Cost of moving a vertex of size 1.
    report : LocalReport
    weights : array of int64, shape (k,)
        Block weights at the end.
    previous : array of int32, shape (n,)
        Blocks of vertices when the run began; -1 for new ones.
    listed, left : array of int32
        Vertices moved in best partitions, and the previous block that each has left, -1 if none.
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
        Records the program, of which `record_local` is a part.
    records : dict
        Its records in addition to those of refinement; the journal is one, and `refine_around` adds
        the words that a run begins with, ``begun``.
    key : tuple
        Values that its code also depends on.
    size : int
        Number of vertices or edges that it begins with.
    """

    record: Callable[[Recording], None]
    records: dict[str, kl.Record | kl.Words]
    key: tuple[Any, ...]
    size: int


@kl.device
def reset_vertex(v, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent):
    """Reset v: it is on no list and not locked, and its target is not cached."""
    reset_gain(v, cache)
    reset_move(v, moves)
    reset_flags(v, active)
    reset_saved(v, incumbent)
    set_touched(v, 0, incumbent)


@kl.device
def set_previous_block(v, block, journal: Journal):
    """Set the previous block of v; -1 if it has none."""
    journal.previous[v] = kl.int32(block)


@kl.kernel
def reset_each_vertex(v, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent,
                      previous):
    """Reset v in its current block."""
    reset_vertex(v, moves, cache, active, incumbent)
    set_best(v, moves.part[v], incumbent)
    previous[v] = moves.part[v]


@kl.kernel
def begin_level(word, begun: LevelWords, level: LevelWords):
    """Set a word to the value that a run begins with."""
    level[word] = begun[word]


@kl.kernel
def begin_report(_, journal: Journal):
    """Reset the counts of the report."""
    journal.report.affected = 0
    journal.report.moved = 0
    journal.report.migration = 0
    journal.report.journaled = 0


@kl.device
def count_activated(cache: GainCache, journal: Journal):
    """Store the number of active vertices.  Called by one lane."""
    journal.report.affected = cache.marked


@kl.kernel
def save_and_note(i, moves: Moves, incumbent: Incumbent, blocks: Blocks, journal: Journal):
    """Save vertex and block i if this partition is the best, and list the vertex once."""
    if i < incumbent.saved_vertices:
        v = save_vertex(i, moves, incumbent)
        if incumbent.touched[v] == 0:
            set_touched(v, 1, incumbent)
            journal.listed[kl.atomic_next(journal.report, LocalReport.journaled)] = v
    save_block(i, moves, incumbent, blocks)


@kl.kernel
def move_back(i, moves: Moves, incumbent: Incumbent, figures: Figures):
    """Move vertex i of the unsaved list back, if it has moved since the best partition."""
    v = incumbent.unsaved_list[i]
    there = incumbent.best[v]
    if moves.part[v] != there:
        commit_move(v, there, moves, figures)


@kl.kernel
def reset_listed(i, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent):
    """Reset vertex i of the list of boundary vertices."""
    reset_vertex(active.boundary[active.boundary_begin + i], moves, cache, active, incumbent)


@kl.kernel
def reset_unsaved(i, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent):
    """Reset vertex i of the list of vertices that had to move back."""
    reset_vertex(incumbent.unsaved_list[i], moves, cache, active, incumbent)


@kl.kernel
def forget_dirty(i, cache: GainCache):
    """Unmark stale vertex i."""
    unmark(cache.dirty_list[i], cache)


@kl.kernel
def reset_journal(i, moves: Moves, cache: GainCache, active: ActiveSets, incumbent: Incumbent,
                  journal: Journal):
    """Reset vertex i of the journal; its block becomes its previous block."""
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
    """Return vertex i of a list to the block that it left, its previous block again."""
    v = listed[i]
    if left[i] >= 0:
        join_block(v, left[i], moves)
        set_best(v, left[i], incumbent)
        set_previous_block(v, left[i], journal)


@kl.kernel
def write_report(_, moves: Moves, blocks: Blocks, figures: Figures, journal: Journal):
    """Write the report.  Called by one team."""
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
    """Record the start of a run and of its report, side by side with other starts."""
    this.program.launch(SIZE, begin_level)
    this.program.launch(1, begin_report)


def record_local(this: Recording) -> None:
    """Record a run around vertices that are already marked; `record_end` must follow.

    A piece that activates more vertices updates their number in the report by `count_activated`.
    """
    for piece in this.pieces:
        piece.activate(this)
    record_iterations(this)
    _record_reset(this)


def record_end(this: Recording) -> None:
    """Record the report of a run, side by side with other ends."""
    this.program.launch(1, write_report, team=SUM_TEAM)


def _record_reset(this: Recording) -> None:
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
        program.launch(level.on_boundary, reset_listed)
        program.launch(level.dirty, forget_dirty)
        program.launch(level.marked, forget_dirty)
        program.launch(level.unsaved, reset_unsaved)
        program.launch(journal.report.journaled, reset_journal)


def journal_for(space: ExecutionSpace, sizes: RefinementSizes, migration_factor: int,
                vertex_sizes: Array | None, numbers: Array) -> Journal:
    """Allocate a journal; its report and the weights are views of `numbers`."""
    words = len(LocalReport.indices)
    return Journal.allocate(space, sizes, vertex_sizes=vertex_sizes,
                            migration_factor=migration_factor,
                            report=LocalReport(numbers[:words]), weights=numbers[words:])
