"""iHyperG's way to follow edits: by a pseudo block (dissertation, chapter 4).

Critical pins of edited nets and new vertices enter the pseudo block, after vertices of blocks that
are too heavy (`critical_leaving.py`).  From there they go where their nets lead, as in iG-kway
(`pseudo_rounds.py`), with nets in place of arcs: vertices are adjacent that share a net of few
pins.

While a vertex waits its nets still count it where it was, so that their state stays that of a
partition.  Blocks that are too heavy in the end are relieved as in Jet.
"""

from __future__ import annotations

from typing import ClassVar

from portpart.algorithms.incremental.critical_leaving import record_leaving
from portpart.algorithms.incremental.nets import EditedNetSteps
from portpart.algorithms.incremental.pseudo import PseudoBlock
from portpart.algorithms.incremental.pseudo_rounds import comes_first, list_if_first
from portpart.algorithms.incremental.pseudo_state import WAITS, Pseudo, PseudoWords
from portpart.algorithms.objectives import MAX_SMALL, NetRows, net_connection, size_of_net
from portpart.algorithms.refinement import (
    LOCAL,
    Figures,
    Piece,
    Recording,
    forget_dirty,
    record_accounts,
    record_ends,
)
from portpart.algorithms.refinement.blocks import Blocks, add_block_weight
from portpart.algorithms.refinement.gains import ActiveSets, GainCache, UnratedList, empty_marked
from portpart.algorithms.refinement.moves import NEVER, Moves, lock, mark_moved
from portpart.algorithms.refinement.prefix import sequence_of, set_top_gain
from portpart.backends import language as kl


@kl.kernel
def list_first_on_nets(i, graph: NetRows, moves: Moves, active: ActiveSets, unrated: UnratedList,
                       figures: Figures, sequence: Pseudo):
    """List a vertex if it comes before all that wait and share a net with it, else it waits.

    Nets of many pins do not count: of their pins one would move in each round.
    """
    v = active.movable_list[sequence.words.begin + i]
    beaten = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        net = graph.targets[place]
        if size_of_net(net, graph.nets) <= MAX_SMALL:
            for pin in range(graph.nets.begin[net], graph.nets.end[net]):
                u = graph.nets.pins[pin]
                if moves.locked_in[u] == WAITS and comes_first(u, v, figures, sequence.words):
                    beaten = kl.int64(1)
    list_if_first(v, beaten, active, unrated, figures, sequence)


@kl.kernel
def rate_loss(i, graph: NetRows, moves: Moves, sequence: Pseudo, net_cost: kl.StaticValue):
    """What a move costs: the ties of the vertex that lead to other blocks than its target."""
    v = moves.listed[i]
    here = kl.int64(moves.part[v])
    total = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        total += net_connection(graph.targets[place], here, graph, net_cost)
    total = kl.team_sum(total)
    if kl.lane() == 0:
        sequence.gain[v] = total - sequence.gain[v]
        kl.atomic_max(sequence.words, PseudoWords.worst, sequence.gain[v])


@kl.kernel
def turn_loss(i, moves: Moves, sequence: Pseudo):
    """Moves that cost least gain most, of a number that is not negative."""
    v = moves.listed[i]
    sequence.gain[v] = sequence.words.worst - sequence.gain[v]
    if i == 0:
        set_top_gain(sequence.words.worst, sequence.prefix)


@kl.kernel
def decide_entry(i, graph: NetRows, moves: Moves, blocks: Blocks, figures: Figures,
                 sequence: Pseudo):
    """A vertex is to enter its block; atomic, independent of order."""
    v = moves.listed[i]
    add_block_weight(moves.target[v], kl.value_or(graph.vertex_weights, v, 1), blocks)
    mark_moved(v, figures.iteration, moves)
    lock(v, NEVER, moves)
    if i == 0:
        sequence.words.worst = 0


@kl.kernel
def plan_forgetting(_, cache: GainCache, sequence: Pseudo):
    """Vertices that are stale are examined only where a block is too heavy."""
    sequence.words.asked = 0
    if sequence.words.overloaded == 0:
        sequence.words.asked = cache.marked
        empty_marked(cache)


class CriticalPins(PseudoBlock):
    """A pseudo block for pins around edits; later, while blocks are balanced, none moves."""

    holds_heavy = True
    list_first: ClassVar[kl.Kernel] = list_first_on_nets

    def leave(self, this: Recording) -> None:
        """Record which vertices leave their blocks: critical pins, and others of heavy blocks."""
        record_leaving(this)

    def rate(self, this: Recording) -> None:
        """Record that moves are sorted by what they cost."""
        this.program.launch(this.run.level.moves, rate_loss, team=this.widths.team)
        this.program.launch(this.run.level.moves, turn_loss)

    def enter(self, this: Recording) -> None:
        """Record how vertices enter blocks, which changes what is known of their nets."""
        this.program.launch(this.run.level.moves, decide_entry)
        record_accounts(this)
        with this.program.side_by_side():
            record_ends(this)

    def settle(self, this: Recording) -> None:
        """Record which vertices are examined next."""
        this.program.launch(1, plan_forgetting)
        this.program.launch(sequence_of(this).words.asked, forget_dirty)


CRITICAL_PINS: tuple[Piece, ...] = (*LOCAL, CriticalPins(), EditedNetSteps())
"""Refinement around edits of hypergraphs by a pseudo block."""
