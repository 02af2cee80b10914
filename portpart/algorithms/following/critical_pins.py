"""iHyperG's way to follow edits: by a pseudo block (dissertation, chapter 4).

Pins that are alone in their block, of nets that were edited, go to the pseudo block, and new
vertices; before, who leaves blocks that are too heavy (`critical_leaving.py`).  From there they go
where their nets lead, as in iG-kway (`pseudo_rounds.py`), with nets in place of arcs: vertices are
adjacent that share a net of few pins.

While a vertex waits its nets still count it where it was, so that their state stays that of a
partition.  Blocks that are too heavy in the end are relieved as in Jet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from portpart.algorithms.following.critical_leaving import record_leaving
from portpart.algorithms.following.nets import OnEditedNets
from portpart.algorithms.following.pseudo import BLOCKS_TEAM, look_for_overload
from portpart.algorithms.following.pseudo_rounds import (
    begin_rounds,
    comes_first,
    drop_move,
    end_round,
    find_prefix,
    keep_prefix,
    lay_out_entry,
    list_waiting,
    strongest_tie,
    wait_on,
)
from portpart.algorithms.following.pseudo_state import WAITS, Pseudo, PseudoWords, pseudo_for
from portpart.algorithms.objectives.net_ties import tie_of
from portpart.algorithms.objectives.pin_state import MAX_SMALL, NetRows, size_of_net
from portpart.algorithms.refinement.blocks.block_weights import add_block_weight
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.by_degree import UNRATED
from portpart.algorithms.refinement.gains.dirty_list import empty_marked
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache, UnratedList
from portpart.algorithms.refinement.gains.unrated_list import add_unrated
from portpart.algorithms.refinement.level import Run
from portpart.algorithms.refinement.local.around import forget_dirty
from portpart.algorithms.refinement.moves.list_moves import mark_moved, move_vertex, unlock
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.prefix.best_prefix import WIDEST, try_all
from portpart.algorithms.refinement.prefix.trial import (
    fill_key,
    order_by_gain_next,
    record_order,
    set_top_gain,
)
from portpart.algorithms.refinement.program import Recording, launch_by_degree
from portpart.algorithms.refinement.sizes import Sizes
from portpart.backends import language as kl
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import StaticValue


@dataclass(frozen=True)
class CriticalPins(OnEditedNets):
    """A pseudo block in place of label propagation, for runs around edits alone."""

    loses = False

    @property
    def name(self) -> str:
        return "critical pins"

    def more(self, space: ExecutionSpace, sizes: Sizes, run: Run) -> Pseudo:
        return pseudo_for(space, sizes, run)

    def record_woken(self, this: Recording, more: Any) -> None:
        """Record how vertices leave their blocks and come back."""
        program, words = this.program, more.words
        record_leaving(this, more)
        program.launch(1, begin_rounds, team=BLOCKS_TEAM)
        program.launch(words.members, list_waiting)
        with program.while_loop(words.running):
            self._record_round(this, more)
        program.launch(1, look_for_overload, team=BLOCKS_TEAM)
        program.launch(1, plan_forgetting)
        program.launch(words.asked, forget_dirty)

    def record(self, this: Recording, more: Any) -> None:
        """Record nothing: nobody moves once the blocks are balanced, so that refinement ends."""

    def _record_round(self, this: Recording, more: Any) -> None:
        program, level = this.program, this.run.level
        program.launch(more.words.waiting, list_first_on_nets, team=this.widths.team)
        with program.side_by_side():
            launch_by_degree(this, level.unrated, level.unrated_hubs,
                             this.by_degree(strongest_tie, UNRATED), more)
        program.launch(1, try_all, team=WIDEST)
        with program.if_nonzero(more.sequence.too_heavy):
            program.launch(level.moves, rate_loss, team=this.widths.team)
            program.launch(level.moves, turn_loss)
            record_order(program, this.run, more, fill_key, order_by_gain_next)
            program.launch(level.moves, lay_out_entry)
            program.launch(1, find_prefix, team=WIDEST)
            program.launch(level.moves, drop_move)
            program.launch(1, keep_prefix)
        program.launch(level.moves, decide_entry)
        self.record_accounting(this)
        with program.side_by_side():
            self.record_end(this)
            program.launch(level.moves, move_vertex)
        program.launch(1, end_round, team=BLOCKS_TEAM)


CRITICAL_PINS = CriticalPins()


@kl.kernel
def list_first_on_nets(i, graph: NetRows, moves: Moves, active: ActiveSets, unrated: UnratedList,
                       figures: Figures, trial: Pseudo):
    """List a vertex if it comes before all that wait and share a net with it, else it waits.

    Nets of many pins do not count: of their pins one would move in each round.
    """
    v = active.movable_list[trial.words.begin + i]
    beaten = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        net = graph.targets[place]
        if size_of_net(net, graph.nets) <= MAX_SMALL:
            for pin in range(graph.nets.begin[net], graph.nets.end[net]):
                u = graph.nets.pins[pin]
                if moves.locked_in[u] == WAITS and comes_first(u, v, figures, trial.words):
                    beaten = kl.int64(1)
    beaten = kl.team_max(beaten)
    if kl.lane() == 0:
        if beaten != 0:
            wait_on(v, active, figures, trial)
        else:
            add_unrated(v, unrated)


@kl.kernel
def rate_loss(i, graph: NetRows, moves: Moves, trial: Pseudo, price: StaticValue):
    """What a move costs: the ties of the vertex that lead to other blocks than its target."""
    v = moves.listed[i]
    here = kl.int64(moves.part[v])
    total = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        total += tie_of(graph.targets[place], here, graph, price)
    total = kl.team_sum(total)
    if kl.lane() == 0:
        trial.gain[v] = total - trial.gain[v]
        kl.atomic_max(trial.words, PseudoWords.worst, trial.gain[v])


@kl.kernel
def turn_loss(i, moves: Moves, trial: Pseudo):
    """Moves that cost least gain most, of a number that is not negative."""
    v = moves.listed[i]
    trial.gain[v] = trial.words.worst - trial.gain[v]
    if i == 0:
        set_top_gain(trial.words.worst, trial.sequence)


@kl.kernel
def decide_entry(i, graph: NetRows, moves: Moves, blocks: Blocks, figures: Figures, trial: Pseudo):
    """A vertex is to enter its block; atomic, order-free."""
    v = moves.listed[i]
    add_block_weight(moves.target[v], kl.value_or(graph.vertex_weights, v, 1), blocks)
    unlock(mark_moved(v, moves, figures), moves)
    if i == 0:
        trial.words.worst = 0


@kl.kernel
def plan_forgetting(_, cache: GainCache, trial: Pseudo):
    """Vertices that are out of date are looked at only where a block is too heavy."""
    trial.words.asked = 0
    if trial.words.overloaded == 0:
        trial.words.asked = cache.marked
        empty_marked(cache)
