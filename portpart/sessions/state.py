"""The state of a session: applies batches, updates the partition, and undoes both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from portpart.algorithms.edits import Batch, Mark, Update, fixings_of
from portpart.algorithms.final_balance import max_filled
from portpart.algorithms.incremental import (
    IncrementalRefiner,
    MoveLog,
    PartitionFigures,
    RoundResult,
)
from portpart.algorithms.multilevel import Progress
from portpart.algorithms.objectives import NET_COSTS, net_values
from portpart.algorithms.recipes import entry_of
from portpart.api import FREE, Bounds, LimitRule, Request, fixed_weights
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs import Graph
from portpart.sessions import levels
from portpart.sessions.update import EscalationState


@dataclass(frozen=True, eq=False)
class SessionMark:
    """A state of a session that `Session.undo` restores."""

    edits: Mark
    position: int


class FixedVertices(NamedTuple):
    """Vertices that are fixed to blocks.

    Attributes
    ----------
    blocks : array of int32, or None
        The fixed block of each id, -1 for free ids; None if all are free.
    weight : numpy.ndarray of int64, shape (k,)
        Weight of the vertices that are fixed to each block.
    """

    blocks: Array | None
    weight: np.ndarray


class UndoStep(NamedTuple):
    """The record that restores the state before a batch.

    Attributes
    ----------
    moves : MoveLog, or None
        The moves of the refinement around the edits.
    part : array of int32, or None
        The partition before all levels were refined, or before vertices were moved to their fixed
        blocks; None if neither was done.
    before : RoundResult
    ledger : EscalationState
    fixed : FixedVertices, or None
        The fixed vertices before, if the batch changed them.
    """

    moves: MoveLog | None
    part: Array | None
    before: RoundResult
    ledger: EscalationState
    fixed: FixedVertices | None


class RoundReport(NamedTuple):
    """The effort used for a batch, and the moves of its round.

    Attributes
    ----------
    effort : str
    moved, migration, affected : int
    """

    effort: str
    moved: int
    migration: int
    affected: int


class SessionState:
    """An edited graph, its partition, and the undo log of marks.

    Parameters
    ----------
    request : Request
        The request for the first partition.
    edited : EditableGraph or EditableHypergraph
    part, sizes, fixed : array or None
        Blocks, sizes and fixed blocks of all ids.
    session_options : SessionOptions
    fixed_weight : numpy.ndarray of int64, shape (k,), optional
        Weight of the vertices that are fixed to each block; by default from the request.
    known : PartitionFigures, optional
        Cost and weights of the blocks, if known.
    """

    def __init__(self, request: Request, edited: Any, part: Array, sizes: Array | None,
                 fixed: Array | None, session_options: levels.SessionOptions,
                 fixed_weight: np.ndarray | None = None, known: PartitionFigures
                 | None = None) -> None:
        self.request, self.edited, self.options = request, edited, session_options
        self.sums = levels.Sums(request, session_options, sizes)
        self._set_rule(request.bounds.fixed_weight if fixed_weight is None else fixed_weight)
        self.log: list[UndoStep] = []
        self.begin = 0
        self.marks: WeakSet[SessionMark] = WeakSet()
        self.unfinished: Callable[[], None] | None = None
        self.follow(part, sizes, fixed, known)
        self.ledger = self._settled(0)

    def _set_rule(self, weight: np.ndarray) -> None:
        """Set the rule of the block limits for the fixed weight of each block."""
        session_options, k = self.options, self.request.problem.num_blocks
        self.fixed_weight = weight
        self.rule = LimitRule(k, session_options.imbalance, session_options.target, weight,
                              session_options.min_weight)
        self._bounds: tuple[int, Bounds | None] = (-1, None)
        self._judged: tuple[RoundResult | None, bool] = (None, False)

    def follow(self, part: Array, sizes: Array | None, fixed: Array | None,
               known: PartitionFigures | None) -> None:
        """Start to update these blocks after edits."""
        problem = self.request.problem
        self.edited.num_blocks = problem.num_blocks
        self._bounds = (-1, None)
        self.incremental = IncrementalRefiner(self.edited, part,
                                              lambda total: self.bounds(total).balance,
                                              problem.objective, problem.seed,
                                              ceil(self.options.factor), sizes,
                                              fixed, entry_of(self.request.config).around, known)

    def bounds(self, total: int) -> Bounds:
        """Return the limits of the blocks for a total vertex weight."""
        known, bounds = self._bounds
        if bounds is None or known != total:
            bounds = self.rule.bounds(total, self._max_filled)
            self._bounds = total, bounds
        return bounds

    def _max_filled(self, limits: np.ndarray) -> int:
        live = self.incremental.live_partition()
        return max_filled(levels.made(self.edited), limits, self.fixed_weight, live.fixed)

    @property
    def last(self) -> RoundResult:
        """The result of the last round."""
        return self.incremental.last

    @property
    def feasible(self) -> bool:
        """Whether the partition is within its limits."""
        last, known = self._judged
        if last is not self.last:
            known = self.bounds(self.edited.vertices.total_weight).kept_by(self.last.weights)
            self._judged = self.last, known
        return known

    def apply(self, batch: Batch, chosen: str,
              progress: Progress | None = None) -> tuple[Update, RoundReport]:
        """Apply a batch and update the partition; an error restores the previous state."""
        incremental = self.incremental
        incremental.reserve()
        before, ledger = self.last, self.ledger
        fits, marked = self.sums.surely_fit(self.edited, batch), bool(self.marks)
        update = self._edit(batch, refine := chosen not in ("none", "full"), fits)
        local, moves, part, fixed = None, None, None, None
        try:
            self.sums.follow(batch)
            if not fits:
                self.sums.check(self.edited, incremental.live_partition)
            if batch.fixings:
                fixed = self._fix(batch)
                incremental.refit()
            local = incremental.follow(update, refine)
            if marked or batch.fixings:  # another round may follow, which overwrites the moves
                moves = incremental.moves(local).kept(self.edited.space)
            done, part = self._improve(update, chosen, local, progress, bool(batch.fixings))
            step = UndoStep(moves, part, before, ledger, fixed) if marked else None
        except BaseException:
            if moves is None and local is not None:
                moves = incremental.moves(local)
            step = UndoStep(moves, part, before, ledger, fixed)
            self.unfinished = partial(self._break_off, batch, update, step)
            self.finish()
            raise
        if step is None:
            self.begin += len(self.log) + 1
            self.log.clear()
        else:
            self.log.append(step)
        return update, done

    def _edit(self, batch: Batch, refine: bool, fits: bool) -> Update:
        """Apply a batch; if sums cannot overflow, start the round before it is applied."""
        applying = self.edited.begin(batch)
        try:
            early = self.edited.space.runs_behind and fits and not batch.fixings
            expected = applying.expect() if early else None
            if expected is not None:
                self.incremental.follow_early(expected, refine)
            update = self.edited.end(applying)
        except BaseException:
            self.incremental.give_up()
            raise
        if not applying.prediction_held:
            self.incremental.give_up()
        return update

    def finish(self) -> None:
        """Restore the state before an interrupted batch, if that has not been done."""
        if self.unfinished is not None:
            self.unfinished()
            self.unfinished = None

    def _break_off(self, batch: Batch, update: Update, step: UndoStep) -> None:
        """Restore the state before a batch; may be repeated after an error.

        Without moves in the step, the round itself was interrupted.
        """
        if batch.applied:
            self.edited.undo_last(update)
            self.sums.undo(update.num_changes)
            batch.applied = False
        if step.fixed is not None:
            self._set_fixed(step.fixed)
        if step.moves is None:
            self.incremental.restore_previous()
        else:
            self._return(step)
            self.incremental.recount(step.before)
        if step.fixed is not None:
            self.incremental.refit()
        self.ledger = step.ledger

    def _fix(self, batch: Batch) -> FixedVertices:
        """Fix and release vertices for a batch, and return the previous fixed vertices."""
        incremental, space = self.incremental, self.edited.space
        ids, blocks = fixings_of(batch)
        count, k = self.edited.vertices.count, self.request.problem.num_blocks
        before = FixedVertices(incremental.fixed, self.fixed_weight)
        fixed = space.full(count, FREE, np.int32)
        if incremental.fixed is not None:
            fixed[:] = incremental.fixed[:count]
        fixed[space.asarray(ids)] = space.asarray(blocks)
        if bool((fixed != FREE).any()):
            self._set_fixed(FixedVertices(fixed, fixed_weights(incremental.rows, fixed, k)))
        else:
            self._set_fixed(FixedVertices(None, np.zeros(k, np.int64)))
        return before

    def _set_fixed(self, fixed: FixedVertices) -> None:
        """Replace the fixed vertices; call `refit` of `incremental` next."""
        self._set_rule(fixed.weight)
        self.incremental.fix(fixed.blocks)

    def _improve(self, update: Update, chosen: str, local: RoundResult, progress: Progress | None,
                 may_be_misplaced: bool) -> tuple[RoundReport, Array | None]:
        """Move vertices to their fixed blocks and refine around them, or all levels, if required.

        Otherwise blocks that are still overloaded are repaired vertex by vertex.  Also return the
        partition before these moves, if there were any.
        """
        incremental, edits, affected = self.incremental, update.num_changes, local.affected
        wrong = incremental.misplaced() if may_be_misplaced else None
        old, part = (None, None) if wrong is None else self._so_far(update)
        try:
            if wrong is not None:
                edits += self._put_in_place(wrong)
                if chosen not in ("none", "full"):
                    affected += incremental.refine_near(wrong).affected
            self.ledger = self.ledger._replace(edits=self.ledger.edits + edits)
            effort = self._effort() if chosen == "auto" else chosen
            is_local = effort in ("none", "local")
            if not is_local or not (effort == "none" or self.feasible or self.ledger.hopeless):
                found, effort = self._refined(effort, chosen == "auto", progress)
                if part is None:
                    old, part = self._so_far(update)
                incremental.restart(found)
                self.ledger = (self.ledger._replace(hopeless=not self.feasible) if is_local
                               else self._settled(0))
        except BaseException:
            if part is not None:
                incremental.write(part)
            raise
        moved = (local.moved, local.migration) if old is None else incremental.away(old)
        return RoundReport(effort, *moved, affected), part

    def _so_far(self, update: Update) -> tuple[Array, Array]:
        """Return the blocks before the batch, and after refinement around its edits."""
        return self.incremental.before(update), self.edited.space.copy(self.incremental.part)

    def _put_in_place(self, wrong: Array) -> int:
        """Move vertices to their fixed blocks, and return the number of their arcs or pins."""
        incremental, csr, count = self.incremental, self.edited.csr, len(wrong)
        placed = self.edited.space.copy(incremental.part)
        placed[wrong] = incremental.existing_fixed()[wrong]
        incremental.restart(placed)
        return int((csr.end[:count] - csr.begin[:count])[wrong].sum())

    def _refined(self, effort: str, may_renew: bool,
                 progress: Progress | None) -> tuple[Array, str]:
        """Return refined or repaired blocks of all ids, and the effort that was used."""
        incremental = self.incremental
        live = incremental.live_partition()
        request = levels.request_for(self.request, levels.made(self.edited), live.fixed,
                                     self.options, progress)
        if effort in ("none", "local"):
            found = levels.within_limits(request, live)
        else:
            found, effort = levels.all_levels(request, live, self.options.factor, effort, may_renew)
        return incremental.of_all(found), effort

    def _effort(self) -> str:
        edited = self.edited
        if not self.options.escalates:
            return "local"
        return self.ledger.effort(self.last.cost, edited.pair_weight, edited.num_pairs,
                                  self.feasible)

    def _settled(self, edits: int) -> EscalationState:
        return EscalationState(edits, self.last.cost, self.edited.pair_weight, not self.feasible)

    def mark(self) -> SessionMark:
        """Return a mark of the current state."""
        mark = SessionMark(self.edited.mark(), self.begin + len(self.log))
        self.marks.add(mark)
        return mark

    def undo(self, mark: SessionMark) -> bool:
        """Restore the state of a mark, and return whether that changes anything."""
        if mark not in self.marks:
            raise InputError("the mark belongs to another session or to a state before compact(), "
                             "or it was undone")
        at = mark.position - self.begin
        steps = self.log[at:]
        by_edits = all(step.part is None for step in steps)
        for step in reversed(steps):
            self._return(step, by_edits)
        undone = self.edited.undo(mark.edits)
        self.sums.undo(sum(update.num_changes for update in undone))
        fixed = next((step.fixed for step in steps if step.fixed is not None), None)
        if fixed is not None:
            self._set_fixed(fixed)
        if steps:
            self.incremental.recount(steps[0].before, undone if by_edits else None)
            self.ledger = steps[0].ledger
        if fixed is not None:
            self.incremental.refit()
        del self.log[at:]
        for other in list(self.marks):
            if other.position > mark.position:
                self.marks.discard(other)
        return bool(steps)

    def _return(self, step: UndoStep, undoing: bool = False) -> None:
        """Restore the blocks before a round; call `recount` of `incremental` next."""
        if step.part is not None:
            self.incremental.write(step.part)
        if step.moves is not None:
            self.incremental.undo(step.moves, undoing)

    def measured(self, name: str) -> int:
        """Return a value of the partition other than the objective."""
        graph, live = levels.made(self.edited), self.incremental.live_partition()
        if isinstance(graph, Graph) or name not in (*NET_COSTS, "cut"):
            raise AttributeError(f"a graph has a cut, no {name}")
        return net_values(graph, live.part, self.request.problem.num_blocks, NET_COSTS)[name]

    def compact(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Renumber the existing ids and return the new ones; an error changes nothing."""
        live = self.incremental.live_partition()
        edited, incremental, bounds = vars(self.edited).copy(), self.incremental, self._bounds
        try:
            renamed = self.edited.compact()
            self.follow(live.part, live.sizes, live.fixed,
                        PartitionFigures(self.last.cost, self.last.weights))
        except BaseException:
            vars(self.edited).clear()
            vars(self.edited).update(edited)
            self.incremental, self._bounds = incremental, bounds
            raise
        self.log.clear()
        self.marks = WeakSet()
        return renamed
