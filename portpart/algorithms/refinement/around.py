"""Refinement around a few vertices: nothing in it takes time for the others.

Between two runs the arrays of refinement are at rest: nobody is on a list, nobody's best target is
known, and the partition is the best one.  A run begins with vertices that are woken, whose best
targets are looked for; moves wake their neighbours.  In the end what has moved since the best
partition moves back, and all that was looked at is put to rest.  Only where the vertices around do
not suffice to relieve a block that is too heavy all vertices are looked at, as in other runs.
"""

from __future__ import annotations

from portpart.algorithms.refinement.by_degree import More
from portpart.algorithms.refinement.label_propagation import commit_move
from portpart.algorithms.refinement.moves import move_vertex
from portpart.algorithms.refinement.program import MoveRule, Recording, record_iterations
from portpart.algorithms.refinement.state import Run
from portpart.backends.language import device, int8, int32, kernel

NONE = -1
NEVER = -2


@device
def put_to_rest(v, run: Run):
    """Nothing is known of v, which is on no list and not locked."""
    run.cache.best_target[v] = int32(NONE)
    run.cache.gain[v] = 0
    run.cache.dirty[v] = int32(0)
    run.moves.moved_in[v] = int32(NEVER)
    run.moves.locked_in[v] = int32(NEVER)
    run.active.flags[v] = int8(0)
    run.incumbent.unsaved[v] = int8(0)
    return v


@kernel
def rest_vertex(v, run: Run):
    """Put v to rest, in the block where it is."""
    put_to_rest(v, run)
    run.incumbent.best[v] = run.moves.part[v]


@kernel
def move_back(i, run: Run):
    """A vertex that has moved since the best partition is to move back."""
    v = run.incumbent.unsaved_list[i]
    there = run.incumbent.best[v]
    if run.moves.part[v] != there:
        commit_move(v, there, run.moves, run.level)


@kernel
def rest_listed(i, run: Run):
    """Put vertex i of those on a boundary to rest."""
    put_to_rest(run.active.boundary[run.level.boundary_begin + i], run)


@kernel
def forget_dirty(i, run: Run):
    """Vertex i of those that are out of date is to be left alone; others know nothing of it."""
    run.cache.dirty[run.cache.dirty_list[i]] = int32(0)


def record_around(this: Recording, rule: MoveRule, more: More) -> None:
    """Record a run around vertices that are woken already."""
    record_iterations(this, rule, more)
    _record_rest(this, rule)


def _record_rest(this: Recording, rule: MoveRule) -> None:
    program, level = this.program, this.run.level
    with program.side_by_side():
        program.launch(level.dirty, forget_dirty)
        program.launch(level.unsaved, move_back)
    rule.record_accounting(this)
    program.launch(level.moves, move_vertex)
    with program.side_by_side():
        program.launch(level.on_boundary, rest_listed)
        program.launch(level.marked, forget_dirty)
