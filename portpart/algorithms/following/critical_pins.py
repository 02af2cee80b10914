"""iHyperG's way to follow edits: by a pseudo block (dissertation, chapter 4).

Pins that are alone in their block, of nets that were edited, go to the pseudo block, and new
vertices; before, who leaves blocks that are too heavy (`critical_leaving.py`).  From there they go
where their nets lead, as in iG-kway (`pseudo_rounds.py`), with nets in place of arcs: vertices are
adjacent that share a net of few pins.

While a vertex waits its nets still count it where it was, so that their state stays that of a
partition.  Blocks that are too heavy in the end are relieved as in Jet.
"""

from __future__ import annotations

from portpart.algorithms.following.critical_leaving import record_leaving
from portpart.algorithms.following.nets import EditedNetSteps
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
from portpart.algorithms.refinement.gains.by_degree import UNRATED, ByDegree
from portpart.algorithms.refinement.gains.dirty_list import empty_marked
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache, UnratedList
from portpart.algorithms.refinement.gains.steps import launch_by_degree
from portpart.algorithms.refinement.gains.unrated_list import add_unrated
from portpart.algorithms.refinement.level import Run
from portpart.algorithms.refinement.local.around import LOCAL, forget_dirty
from portpart.algorithms.refinement.moves.list_moves import mark_moved, unlock
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.piece import Piece, Recording, record_accounts, record_ends
from portpart.algorithms.refinement.prefix.best_prefix import WIDEST, try_all
from portpart.algorithms.refinement.prefix.trial import (
    fill_key,
    order_by_gain_next,
    record_order,
    set_top_gain,
    trial_of,
)
from portpart.algorithms.refinement.sizes import Sizes
from portpart.backends import language as kl
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import StaticValue
from portpart.backends.work import WorkRecord


class CriticalPins(Piece):
    """A pseudo block for pins around edits; later, while blocks are balanced, none moves."""

    holds_heavy = True

    def records(self, space: ExecutionSpace, sizes: Sizes, run: Run) -> dict[str, WorkRecord]:
        """The pseudo block."""
        return {"trial": pseudo_for(space, sizes, run)}

    def activate(self, this: Recording) -> None:
        """Vertices leave their blocks and come back."""
        program, words = this.program, trial_of(this).words
        record_leaving(this)
        program.launch(1, begin_rounds, team=BLOCKS_TEAM)
        program.launch(words.members, list_waiting)
        with program.while_loop(words.running):
            _record_round(this)
        program.launch(1, look_for_overload, team=BLOCKS_TEAM)
        program.launch(1, plan_forgetting)
        program.launch(words.asked, forget_dirty)


CRITICAL_PINS: tuple[Piece, ...] = (*LOCAL, CriticalPins(), EditedNetSteps())
"""Refinement around edits of hypergraphs by a pseudo block."""


def _record_round(this: Recording) -> None:
    program, level, trial = this.program, this.run.level, trial_of(this)
    program.launch(trial.words.waiting, list_first_on_nets, team=this.widths.team)
    launch_by_degree(this, level.unrated, level.unrated_hubs,
                     ByDegree(strongest_tie, UNRATED, this.rules), trial)
    program.launch(1, try_all, team=WIDEST)
    with program.if_nonzero(trial.sequence.too_heavy):
        program.launch(level.moves, rate_loss, team=this.widths.team)
        program.launch(level.moves, turn_loss)
        record_order(this, fill_key, order_by_gain_next)
        program.launch(level.moves, lay_out_entry)
        program.launch(1, find_prefix, team=WIDEST)
        program.launch(level.moves, drop_move)
        program.launch(1, keep_prefix)
    program.launch(level.moves, decide_entry)
    record_accounts(this)
    with program.side_by_side():
        record_ends(this)
    program.launch(1, end_round, team=BLOCKS_TEAM)


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
