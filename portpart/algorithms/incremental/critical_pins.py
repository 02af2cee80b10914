"""iHyperG's update after edits, with a pseudo block (dissertation, chapter 4).

New vertices enter the pseudo block.  A single pass (algorithm 16) then evicts as few vertices from
overloaded blocks as restore the limits.  The score of a vertex is the weight of nets of which it is
the only pin in its block, minus the weight of its other nets; the highest scores leave.  Then the
critical pins of edited nets enter: pins that are alone in their block.  Vertices move from the
pseudo block to the blocks of their nets as in iG-kway (`pseudo_rounds.py`).  Two vertices are
adjacent if they share a net of few pins.

The nets of a pending vertex still count it in its old block, so their state is that of a
partition.  Blocks that are overloaded in the end are rebalanced as in Jet.
"""

from __future__ import annotations

from typing import ClassVar

from portpart.algorithms import objectives
from portpart.algorithms.edits import Changes, begins_row
from portpart.algorithms.incremental.edits import EditCounts
from portpart.algorithms.incremental.net_changes import NET_TEAM, NetEditCounts
from portpart.algorithms.incremental.nets import EditedNetSteps
from portpart.algorithms.incremental.pseudo import BLOCKS_TEAM, PseudoBlock
from portpart.algorithms.incremental.pseudo_rounds import (
    WAITS,
    Pseudo,
    PseudoWords,
    comes_first,
    lay_out_entry,
    list_if_first,
    weigh_blocks,
)
from portpart.algorithms.refinement import (
    LOCAL,
    Figures,
    Journal,
    Piece,
    Recording,
    count_activated,
    forget_dirty,
    prefix,
    record_accounts,
    record_ends,
)
from portpart.algorithms.refinement.blocks import (
    Blocks,
    add_block_weight,
    find_overloaded,
    free_capacity,
)
from portpart.algorithms.refinement.gains import ActiveSets, GainCache, UnratedList, empty_marked
from portpart.algorithms.refinement.moves import (
    NEVER,
    Moves,
    keep_moves,
    lock,
    lock_once,
    mark_moved,
    propose_move,
)
from portpart.backends import language as kl

NONE = -1


def record_eviction(this: Recording) -> None:
    """Record how vertices enter the pseudo block."""
    program, level, words = this.program, this.run.level, prefix.sequence_of(this).words
    counts = program.find("counts", EditCounts)
    program.launch(1, begin_eviction, team=BLOCKS_TEAM)
    program.launch(words.examined, evict_if_new)
    program.launch(1, plan_eviction, team=BLOCKS_TEAM)
    with program.if_nonzero(words.overloaded):
        program.launch(level.vertices, list_of_heavy, team=this.widths.team)
        program.launch(level.moves, lift_score)
        program.launch(1, begin_order)
        prefix.record_order(this, prefix.fill_key, prefix.order_by_gain_next)
        program.launch(level.moves, lay_out_entry)
        program.launch(1, evict_first, team=prefix.WIDEST)
        program.launch(1, end_eviction)
    program.launch(counts.changed, evict_if_critical, team=NET_TEAM)


@kl.kernel
def begin_eviction(_, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
                  journal: Journal, sequence: Pseudo):
    """Start with an empty pseudo block and examine all active vertices.  Called by one team."""
    weigh_blocks(moves, blocks, figures)
    if kl.lane() == 0:
        count_activated(cache, journal)
        sequence.words.members = 0
        sequence.words.examined = cache.marked
        sequence.words.worst = 0


@kl.device
def evict(v, graph: objectives.NetRows, moves: Moves, blocks: Blocks, sequence: Pseudo):
    """Move v to the pseudo block, unless it is there or fixed.  Atomic; called by one lane.

    The list may be in any order.
    """
    if kl.value_or(blocks.fixed, v, NONE) < 0:
        if lock_once(v, WAITS, moves):
            sequence.members[kl.atomic_next(sequence.words, PseudoWords.members)] = kl.int32(v)
            add_block_weight(moves.part[v], -kl.value_or(graph.vertex_weights, v, 1), blocks)


@kl.kernel
def evict_if_new(i, graph: objectives.NetRows, moves: Moves, cache: GainCache, blocks: Blocks,
                 journal: Journal, sequence: Pseudo):
    """Move active vertex i to the pseudo block if it is new."""
    v = cache.dirty_list[i]
    if journal.previous[v] == NONE:
        evict(v, graph, moves, blocks, sequence)


@kl.kernel
def plan_eviction(_, net_counts: NetEditCounts, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """Store whether a block is overloaded and vertices may move.  Called by one team."""
    overloaded = find_overloaded(blocks, figures)
    if kl.lane() == 0:
        sequence.words.overloaded = overloaded * net_counts.activates


@kl.device
def score_of(v, graph: objectives.NetRows, part):
    """Return the weight of nets whose only pin in its block is v, minus that of its other nets.

    Called by all lanes of a team.
    """
    score = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        net = graph.targets[place]
        if objectives.size_of_net(net, graph.nets) > 1:
            weight = kl.value_or(graph.nets.weights, net, 1)
            score += weight if objectives.is_alone(net, part[v], graph) else -weight
    return kl.team_sum(score)


@kl.kernel
def list_of_heavy(v, graph: objectives.NetRows, moves: Moves, blocks: Blocks, figures: Figures,
                  sequence: Pseudo):
    """List v with its score if its block is overloaded and v may leave; in any order."""
    weight = kl.value_or(graph.vertex_weights, v, 1)
    here = moves.part[v]
    is_eviction_candidate = moves.locked_in[v] == NEVER and kl.value_or(blocks.fixed, v, NONE) < 0
    if is_eviction_candidate and weight > 0 and free_capacity(here, blocks, figures) < 0:
        score = score_of(v, graph, moves.part)
        if kl.lane() == 0:
            sequence.gain[v] = score
            kl.atomic_max(sequence.words, PseudoWords.worst, -score)
            propose_move(v, here, moves)


@kl.kernel
def lift_score(i, moves: Moves, sequence: Pseudo):
    """Shift the score of listed vertex i so that it is not negative."""
    v = moves.listed[i]
    prefix.note_gain(v, sequence.gain[v] + sequence.words.worst, sequence)


@kl.kernel
def begin_order(_, moves: Moves, figures: Figures, sequence: prefix.MoveSequence):
    """Request a sort of the listed vertices, by vertex first."""
    prefix.order_by_vertex(1, moves, figures, sequence)


@kl.kernel
def evict_first(_, graph: objectives.NetRows, moves: Moves, blocks: Blocks, figures: Figures,
                 sequence: Pseudo):
    """Evict the first listed vertices of each overloaded block until it is within its limit.

    Called by one team.
    """
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        sequence.block_weight[b] = blocks.weight[b]
    kl.team_sync()
    base = kl.int64(0)
    while base < moves.moves:
        i = base + kl.lane()
        leaves = False
        if i < moves.moves:
            here = sequence.other_keys[i]
            offered = prefix.weight_offered(i, base, sequence)
            left = sequence.block_weight[here] + sequence.keys[i] - offered
            leaves = left > blocks.limits[here] + figures.slack
        kl.team_sync()
        if leaves:
            evict(moves.listed[i], graph, moves, blocks, sequence)
            kl.team_atomic_add(sequence.block_weight, sequence.other_keys[i], -sequence.keys[i])
        kl.team_sync()
        base += kl.team_size()


@kl.kernel
def end_eviction(_, moves: Moves, sequence: Pseudo):
    """Empty the list of moves."""
    keep_moves(0, moves)
    sequence.words.worst = 0


@kl.device
def may_have_lone_pin(net, graph: objectives.NetRows):
    """Whether a net may have a pin that is alone in its block; exact if the net has sets."""
    result = objectives.size_of_net(net, graph.nets) > 1
    if result and objectives.has_words(net, graph.sets):
        result = False
        for word in range(graph.sets.width):
            place = objectives.place_of_word(net, word * objectives.BITS, graph.sets)
            if graph.sets.bits[place + 1] != 0:
                result = True
    return result


@kl.device
def has_changed(i, number, pins: Changes):
    """Whether the pins of the net whose changes begin at i have changed."""
    result = False
    net = pins.keys[i] >> 32
    for j in range(i, number):
        if pins.keys[j] >> 32 != net:
            break
        if pins.was[j] != pins.will[j]:
            result = True
            break
    return result


@kl.kernel
def evict_if_critical(i, pins: Changes, counts: EditCounts, net_counts: NetEditCounts,
                      graph: objectives.NetRows, moves: Moves, blocks: Blocks, sequence: Pseudo):
    """Evict the critical pins of the net whose changes begin at i, if pins may be activated."""
    if net_counts.activates != 0 and begins_row(i, pins.keys):
        net = kl.int32(pins.keys[i] >> 32)
        if may_have_lone_pin(net, graph) and has_changed(i, counts.changed, pins):
            for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net],
                               kl.team_size()):
                v = graph.nets.pins[place]
                if objectives.is_alone(net, moves.part[v], graph):
                    evict(v, graph, moves, blocks, sequence)


@kl.kernel
def list_first_on_nets(i, graph: objectives.NetRows, moves: Moves, active: ActiveSets,
                       unrated: UnratedList, figures: Figures, sequence: Pseudo):
    """List a vertex if it precedes all pending vertices that share a net with it.

    Otherwise it stays pending.  Nets of many pins are ignored, because only one of their pins would
    move in each round.
    """
    v = active.movable_list[sequence.words.begin + i]
    beaten = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        net = graph.targets[place]
        if objectives.size_of_net(net, graph.nets) <= objectives.MAX_SMALL:
            for pin in range(graph.nets.begin[net], graph.nets.end[net]):
                u = graph.nets.pins[pin]
                if moves.locked_in[u] == WAITS and comes_first(u, v, figures, sequence.words):
                    beaten = kl.int64(1)
    list_if_first(v, beaten, active, unrated, figures, sequence)


@kl.kernel
def rate_loss(i, graph: objectives.NetRows, moves: Moves, sequence: Pseudo,
              net_cost: kl.StaticValue):
    """Store the cost of a move: the connectivity of the vertex to all blocks except its target."""
    v = moves.listed[i]
    here = kl.int64(moves.part[v])
    total = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        total += objectives.net_connection(graph.targets[place], here, graph, net_cost)
    total = kl.team_sum(total)
    if kl.lane() == 0:
        sequence.gain[v] = total - sequence.gain[v]
        kl.atomic_max(sequence.words, PseudoWords.worst, sequence.gain[v])


@kl.kernel
def turn_loss(i, moves: Moves, sequence: Pseudo):
    """Convert the cost of a move to a gain that is not negative."""
    v = moves.listed[i]
    sequence.gain[v] = sequence.words.worst - sequence.gain[v]
    if i == 0:
        prefix.set_top_gain(sequence.words.worst, sequence.prefix)


@kl.kernel
def decide_entry(i, graph: objectives.NetRows, moves: Moves, blocks: Blocks, figures: Figures,
                 sequence: Pseudo):
    """Mark the move of a vertex and add its weight to its block; atomic, independent of order."""
    v = moves.listed[i]
    add_block_weight(moves.target[v], kl.value_or(graph.vertex_weights, v, 1), blocks)
    mark_moved(v, figures.iteration, moves)
    lock(v, NEVER, moves)
    if i == 0:
        sequence.words.worst = 0


@kl.kernel
def plan_forgetting(_, cache: GainCache, sequence: Pseudo):
    """Unmark all vertices if no block is overloaded, so that none is examined."""
    sequence.words.examined = 0
    if sequence.words.overloaded == 0:
        sequence.words.examined = cache.marked
        empty_marked(cache)


class CriticalPins(PseudoBlock):
    """A pseudo block for pins around edits; afterwards only rebalancing moves vertices."""

    holds_heavy = True
    list_first: ClassVar[kl.Kernel] = list_first_on_nets

    def leave(self, this: Recording) -> None:
        """Record the eviction of critical pins and of vertices of overloaded blocks."""
        record_eviction(this)

    def rate(self, this: Recording) -> None:
        """Record that moves are sorted by their cost."""
        this.program.launch(this.run.level.moves, rate_loss, team=this.widths.team)
        this.program.launch(this.run.level.moves, turn_loss)

    def enter(self, this: Recording) -> None:
        """Record how vertices enter blocks, and the updates of their nets."""
        this.program.launch(this.run.level.moves, decide_entry)
        record_accounts(this)
        with this.program.side_by_side():
            record_ends(this)

    def settle(self, this: Recording) -> None:
        """Record that no vertex is examined next, unless a block is overloaded."""
        this.program.launch(1, plan_forgetting)
        this.program.launch(prefix.sequence_of(this).words.examined, forget_dirty)


CRITICAL_PINS: tuple[Piece, ...] = (*LOCAL, CriticalPins(), EditedNetSteps())
"""Refinement around edits of hypergraphs with a pseudo block."""
