"""The rounds of a session: what is done about a batch, and how it is undone."""

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
    """A state of a session that `Session.undo` goes back to."""

    edits: Mark
    position: int


class FixedVertices(NamedTuple):
    """Vertices that are fixed to blocks.

    Attributes
    ----------
    blocks : array of int32, or None
        The block of each id, -1 of free ones; None if all are free.
    weight : numpy.ndarray of int64, shape (k,)
        What is fixed to each block.
    """

    blocks: Array | None
    weight: np.ndarray


class UndoStep(NamedTuple):
    """How the state before a batch comes back.

    Attributes
    ----------
    moves : MoveLog, or None
        Of the refinement around the edits.
    part : array of int32, or None
        The partition before all levels were refined, if they were, or vertices moved to where
        they are fixed.
    before : RoundResult
    ledger : EscalationState
    fixed : FixedVertices, or None
        What was fixed before, if that is another.
    """

    moves: MoveLog | None
    part: Array | None
    before: RoundResult
    ledger: EscalationState
    fixed: FixedVertices | None


class RoundReport(NamedTuple):
    """What was done about a batch.

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
    """A graph that is edited, a partition that follows, and what they were at marks.

    Parameters
    ----------
    request : Request
        That of the first partition.
    edited : EditableGraph or EditableHypergraph
    part, sizes, fixed : array or None
        Blocks of all ids, what is moved with each, and blocks that they must be in.
    session_options : SessionOptions
    fixed_weight : numpy.ndarray of int64, shape (k,), optional
        Weight of the vertices that are fixed to each block, if the call does not know.
    known : PartitionFigures, optional
        What the blocks cost and weigh, if that is known.
    """

    def __init__(self, request: Request, edited: Any, part: Array, sizes: Array | None,
                 fixed: Array | None, session_options: levels.SessionOptions,
                 fixed_weight: np.ndarray | None = None, known: PartitionFigures
                 | None = None) -> None:
        self.request, self.edited, self.options = request, edited, session_options
        self.sums = levels.Sums(request, session_options, sizes)
        self._weigh_fixed(request.bounds.fixed_weight if fixed_weight is None else fixed_weight)
        self.log: list[UndoStep] = []
        self.begin = 0
        self.marks: WeakSet[SessionMark] = WeakSet()
        self.unfinished: Callable[[], None] | None = None
        self.follow(part, sizes, fixed, known)
        self.ledger = self._settled(0)

    def _weigh_fixed(self, weight: np.ndarray) -> None:
        """Have bounds for what is fixed to each block."""
        session_options, k = self.options, self.request.problem.num_blocks
        self.fixed_weight = weight
        self.rule = LimitRule(k, session_options.imbalance, session_options.target, weight,
                              session_options.min_weight)
        self._bounds: tuple[int, Bounds | None] = (-1, None)
        self._judged: tuple[RoundResult | None, bool] = (None, False)

    def follow(self, part: Array, sizes: Array | None, fixed: Array | None,
               known: PartitionFigures | None) -> None:
        """Have these blocks from now on."""
        problem = self.request.problem
        self.edited.num_blocks = problem.num_blocks
        self._bounds = (-1, None)
        self.incremental = IncrementalRefiner(self.edited, part,
                                              lambda total: self.bounds(total).balance,
                                              problem.objective, problem.seed,
                                              ceil(self.options.price), sizes,
                                              fixed, entry_of(self.request.config).around, known)

    def bounds(self, total: int) -> Bounds:
        """The bounds of the blocks when all vertices weigh so much."""
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
        """The state of the partition."""
        return self.incremental.last

    @property
    def feasible(self) -> bool:
        """Whether it is within its bounds."""
        last, known = self._judged
        if last is not self.last:
            known = self.bounds(self.edited.vertices.total_weight).kept_by(self.last.weights)
            self._judged = self.last, known
        return known

    def apply(self, batch: Batch, wanted: str,
              progress: Progress | None = None) -> tuple[Update, RoundReport]:
        """Apply a batch; if anything fails all is as before."""
        incremental = self.incremental
        incremental.reserve()
        before, ledger = self.last, self.ledger
        fits, marked = self.sums.surely_fit(self.edited, batch), bool(self.marks)
        update = self._edit(batch, refine := wanted not in ("none", "full"), fits)
        local, moves, part, fixed = None, None, None, None
        try:
            self.sums.follow(batch)
            if not fits:
                self.sums.check(self.edited, incremental.live_partition)
            if batch.fixings:
                fixed = self._fix(batch)
                incremental.refit()
            local = incremental.follow(update, refine)
            if marked or batch.fixings:  # after these another round may follow
                moves = incremental.moves(local).kept(self.edited.space)
            done, part = self._gone_on(update, wanted, local, progress, bool(batch.fixings))
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
        """Apply a batch; what follows it begins early, where sums surely fit."""
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
        """Go back to before a batch that was broken off, if there was no memory for that yet."""
        if self.unfinished is not None:
            self.unfinished()
            self.unfinished = None

    def _break_off(self, batch: Batch, update: Update, step: UndoStep) -> None:
        """Go back by a batch; without moves from within a round.  It may be tried again."""
        if batch.applied:
            self.edited.undo_last(update)
            self.sums.undo(update.num_changes)
            batch.applied = False
        if step.fixed is not None:
            self._have_fixed(step.fixed)
        if step.moves is None:
            self.incremental.restore_previous()
        else:
            self._return(step)
            self.incremental.recount(step.before)
        if step.fixed is not None:
            self.incremental.refit()
        self.ledger = step.ledger

    def _fix(self, batch: Batch) -> FixedVertices:
        """Fix vertices as a batch asks for it, and return what was fixed before."""
        incremental, space = self.incremental, self.edited.space
        ids, blocks = fixings_of(batch)
        count, k = self.edited.vertices.count, self.request.problem.num_blocks
        before = FixedVertices(incremental.fixed, self.fixed_weight)
        fixed = space.full(count, FREE, np.int32)
        if incremental.fixed is not None:
            fixed[:] = incremental.fixed[:count]
        fixed[space.asarray(ids)] = space.asarray(blocks)
        if bool((fixed != FREE).any()):
            self._have_fixed(FixedVertices(fixed, fixed_weights(incremental.rows, fixed, k)))
        else:
            self._have_fixed(FixedVertices(None, np.zeros(k, np.int64)))
        return before

    def _have_fixed(self, fixed: FixedVertices) -> None:
        """Have other vertices that are fixed; `refit` of what follows is next."""
        self._weigh_fixed(fixed.weight)
        self.incremental.fix(fixed.blocks)

    def _gone_on(self, update: Update, wanted: str, local: RoundResult, progress: Progress | None,
                 may_be_misplaced: bool) -> tuple[RoundReport, Array | None]:
        """Put fixed vertices in place and refine around them, or all levels, if required.

        Without, what refinement around the edits has left too heavy moves one by one.  Also returns
        the partition before that, if anything was done.
        """
        incremental, edits, affected = self.incremental, update.num_changes, local.affected
        wrong = incremental.misplaced() if may_be_misplaced else None
        old, part = (None, None) if wrong is None else self._so_far(update)
        try:
            if wrong is not None:
                edits += self._put_in_place(wrong)
                if wanted not in ("none", "full"):
                    affected += incremental.refine_near(wrong).affected
            self.ledger = self.ledger._replace(edits=self.ledger.edits + edits)
            effort = self._effort() if wanted == "auto" else wanted
            is_local = effort in ("none", "local")
            if not is_local or not (effort == "none" or self.feasible or self.ledger.hopeless):
                found, effort = self._refined(effort, wanted == "auto", progress)
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
        """Blocks before the batch, and after refinement around its edits."""
        return self.incremental.before(update), self.edited.space.copy(self.incremental.part)

    def _put_in_place(self, wrong: Array) -> int:
        """Move vertices to the blocks that they are fixed to; how many arcs or pins they have."""
        incremental, csr, count = self.incremental, self.edited.csr, len(wrong)
        placed = self.edited.space.copy(incremental.part)
        placed[wrong] = incremental.existing_fixed()[wrong]
        incremental.restart(placed)
        return int((csr.end[:count] - csr.begin[:count])[wrong].sum())

    def _refined(self, effort: str, may_change: bool,
                 progress: Progress | None) -> tuple[Array, str]:
        """Blocks of all ids refined on all levels, or only within their bounds; what was done."""
        incremental = self.incremental
        live = incremental.live_partition()
        request = levels.request_for(self.request, levels.made(self.edited), live.fixed,
                                     self.options, progress)
        if effort in ("none", "local"):
            found = levels.within_bounds(request, live)
        else:
            found, effort = levels.all_levels(request, live, self.options.price, effort, may_change)
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
        """A mark of the state as it is."""
        mark = SessionMark(self.edited.mark(), self.begin + len(self.log))
        self.marks.add(mark)
        return mark

    def undo(self, mark: SessionMark) -> bool:
        """Go back to a mark; whether that is another state."""
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
            self._have_fixed(fixed)
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
        """Go back by a round; accounts are to follow."""
        if step.part is not None:
            self.incremental.write(step.part)
        if step.moves is not None:
            self.incremental.undo(step.moves, undoing)

    def measured(self, name: str) -> int:
        """A value that is not the objective."""
        graph, live = levels.made(self.edited), self.incremental.live_partition()
        if isinstance(graph, Graph) or name not in (*NET_COSTS, "cut"):
            raise AttributeError(f"a graph has a cut, no {name}")
        return net_values(graph, live.part, self.request.problem.num_blocks, NET_COSTS)[name]

    def compact(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Renumber the existing ids and return the new ones.  If it fails nothing has changed."""
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
