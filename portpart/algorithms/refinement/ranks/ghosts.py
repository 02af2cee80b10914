"""Ghosts of a level that is refined: which values of their vertices they get, and when.

A ghost gets the best target and the gain of its vertex when these have changed, and each move of
it.  A ghost is never stale: its owner updates it.
"""

from __future__ import annotations

from portpart import primitives
from portpart.algorithms.refinement import Figures, Piece, Recording, gains
from portpart.algorithms.refinement.incumbent import Incumbent, list_unsaved, reset_saved, set_best
from portpart.algorithms.refinement.moves import Moves, join_target, lock, mark_moved, reset_move
from portpart.algorithms.refinement.ranks.state import NONE, Changed, Sent
from portpart.backends import language as kl
from portpart.backends.programs import Array, Element
from portpart.graphs.ranks import GhostRows

TEAM = 8
"""Number of lanes that visit the neighbours of a ghost."""


class Arriving(kl.Scope):
    """Records with arriving items and the ghosts that they are for."""

    halo: primitives.Halo
    mail: primitives.Mail
    owners: primitives.Owners


class GhostState(kl.Scope):
    """Records with the state of ghosts."""

    moves: Moves
    cache: gains.GainCache
    incumbent: Incumbent
    figures: Figures


@kl.kernel
def begin_ghost(i, moves: Moves, cache: gains.GainCache, active: gains.ActiveSets,
                incumbent: Incumbent, figures: Figures):
    """Reset ghost i in its block."""
    g = figures.vertices + i
    set_best(g, moves.part[g], incumbent)
    gains.reset_gain(g, cache)
    gains.never_mark(g, cache)
    reset_move(g, moves)
    gains.reset_flags(g, active)
    reset_saved(g, incumbent)


@kl.kernel
def begin_entry(entry, sent: Sent):
    """Set what was sent to ghosts to the values that `begin_ghost` sets."""
    sent.target[entry] = kl.int32(NONE)
    sent.gain[entry] = 0


@kl.kernel
def clear_changed(_, changed: Changed):
    """Empty the list of changes to send.  One item."""
    changed.count = 0


@kl.kernel
def list_changed(i, halo: primitives.Halo, cache: gains.GainCache, sent: Sent, changed: Changed):
    """List updated vertex i if its ghosts have other values."""
    v = cache.dirty_list[i]
    place = primitives.place_of(v, halo.border)
    entry = kl.int64(halo.begin[place])
    if entry < primitives.end_of_entries(v, place, halo):
        if sent.target[entry] != cache.best_target[v] or sent.gain[entry] != cache.gain[v]:
            sent.target[entry] = cache.best_target[v]
            sent.gain[entry] = cache.gain[v]
            changed.listed[kl.atomic_next(changed, Changed.count)] = kl.int32(v)


@kl.kernel
def note_arrival(i, state: GhostState, arriving: Arriving, ghost_rows: GhostRows,
                 layout: primitives.MailLayout):
    """Mark a ghost as moving and its neighbours as stale.  Called by one team."""
    g = primitives.ghost_of(i, arriving.halo, arriving.mail, arriving.owners, layout)
    if kl.lane() == 0:
        mark_moved(g, state.figures.iteration, state.moves)
        if state.figures.balanced != 0:
            lock(g, state.figures.iteration, state.moves)
        list_unsaved(g, state.incumbent)
    ghost = g - state.figures.vertices
    for entry in range(ghost_rows.begin[ghost] + kl.lane(), ghost_rows.begin[ghost + 1],
                       kl.team_size()):
        gains.mark_dirty(ghost_rows.neighbours[entry], state.cache)


@kl.kernel
def move_ghost(i, moves: Moves, arriving: Arriving, layout: primitives.MailLayout):
    """Move a ghost to its target."""
    join_target(primitives.ghost_of(i, arriving.halo, arriving.mail, arriving.owners, layout),
                moves)


class GhostSteps(Piece):
    """The messages to ghosts: gains and moves."""

    def begin(self, this: Recording) -> None:
        """Reset the ghosts in their blocks."""
        sent = this.program.find("sent", Sent)
        with this.program.side_by_side():
            this.program.launch(sent.num_ghosts, begin_ghost)
            this.program.launch(sent.num_entries, begin_entry)
            this.program.launch(1, primitives.clear_arrived)

    def refresh_hubs(self, this: Recording) -> None:
        """Send the gains that have changed."""
        program, level, cache = this.program, this.run.level, this.run.cache
        changed = program.find("changed", Changed)
        program.launch(1, clear_changed)
        program.launch(level.dirty, list_changed)
        self._push(this, [cache.best_target, cache.gain], changed.listed, changed.count,
                   narrow=this.widths.counter is kl.int32)

    def account(self, this: Recording) -> None:
        """Send the moves, and mark the neighbours of moving ghosts as stale."""
        moves, arrived = this.run.moves, self._arrived(this)
        self._push(this, [moves.target], moves.listed, this.run.level.moves)
        this.program.launch(arrived, note_arrival, team=TEAM, layout=self._layout(this))

    def end(self, this: Recording) -> None:
        """Move the ghosts."""
        this.program.launch(self._arrived(this), move_ghost, layout=self._layout(this))

    def _push(self, this: Recording, fields: list[Array], listed: Array, count: Element | int,
              narrow: bool = False) -> None:
        find = this.program.find
        primitives.record_push(this.program, find("halo", primitives.Halo),
                               find("mail", primitives.Mail), fields, listed, count, narrow=narrow)

    def _arrived(self, this: Recording) -> Element:
        mail = this.program.find("mail", primitives.Mail)
        return mail.items[0]

    def _layout(self, this: Recording) -> primitives.MailLayout:
        """Return the layout of a move in messages."""
        halo = this.program.find("halo", primitives.Halo)
        return primitives.layout_of(halo.places, [this.run.moves.target])
