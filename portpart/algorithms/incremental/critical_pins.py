"""iHyperG's way to follow edits: by a pseudo block (dissertation, chapter 4).

New vertices enter the pseudo block.  Then blocks that are too heavy lose vertices in a single pass
(algorithm 16): those with most weight of nets whose only pin they are there, less that of their
other nets; no more than have to go.  Then, of each net that was edited, the pins that are alone in
their block.  From there they go where their nets lead, as in iG-kway
(`pseudo_rounds.py`), with nets in place of arcs: vertices are adjacent that share a net of few
pins.

While a vertex waits its nets still count it where it was, so that their state stays that of a
partition.  Blocks that are too heavy in the end are relieved as in Jet.
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


def record_leaving(this: Recording) -> None:
    """Record which vertices leave."""
    program, level, words = this.program, this.run.level, prefix.sequence_of(this).words
    counts = program.find("counts", EditCounts)
    program.launch(1, begin_leaving, team=BLOCKS_TEAM)
    program.launch(words.asked, evict_if_new)
    program.launch(1, plan_eviction, team=BLOCKS_TEAM)
    with program.if_nonzero(words.overloaded):
        program.launch(level.vertices, list_of_heavy, team=this.widths.team)
        program.launch(level.moves, lift_score)
        program.launch(1, begin_order)
        prefix.record_order(this, prefix.fill_key, prefix.order_by_gain_next)
        program.launch(level.moves, lay_out_entry)
        program.launch(1, find_leavers, team=prefix.WIDEST)
        program.launch(1, end_eviction)
    program.launch(counts.changed, evict_if_critical, team=NET_TEAM)


@kl.kernel
def begin_leaving(_, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
                  journal: Journal, sequence: Pseudo):
    """No vertex has left; all active ones are examined.  Called by one team."""
    weigh_blocks(moves, blocks, figures)
    if kl.lane() == 0:
        count_activated(cache, journal)
        sequence.words.members = 0
        sequence.words.asked = cache.marked
        sequence.words.worst = 0


@kl.device
def evict(v, graph: objectives.NetRows, moves: Moves, blocks: Blocks, sequence: Pseudo):
    """Let v wait in the pseudo block, unless it does or is fixed.  Atomic; one lane.

    The order of the list is free.
    """
    if kl.value_or(blocks.fixed, v, NONE) < 0:
        if lock_once(v, WAITS, moves):
            sequence.members[kl.atomic_next(sequence.words, PseudoWords.members)] = kl.int32(v)
            add_block_weight(moves.part[v], -kl.value_or(graph.vertex_weights, v, 1), blocks)


@kl.kernel
def evict_if_new(i, graph: objectives.NetRows, moves: Moves, cache: GainCache, blocks: Blocks,
                 journal: Journal, sequence: Pseudo):
    """Let an active vertex leave if it is new."""
    v = cache.dirty_list[i]
    if journal.previous[v] == NONE:
        evict(v, graph, moves, blocks, sequence)


@kl.kernel
def plan_eviction(_, net_counts: NetEditCounts, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """Whether a block is too heavy, if any vertex may move.  Called by one team."""
    overloaded = find_overloaded(blocks, figures)
    if kl.lane() == 0:
        sequence.words.overloaded = overloaded * net_counts.activates


@kl.device
def score_of(v, graph: objectives.NetRows, part):
    """Weight of nets that have v alone in its block, less that of its other nets.

    All lanes of a team together.
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
    """List v with its score if its block is too heavy and it may leave; the order is free."""
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
    """Make a score positive."""
    v = moves.listed[i]
    prefix.note_gain(v, sequence.gain[v] + sequence.words.worst, sequence)


@kl.kernel
def begin_order(_, moves: Moves, figures: Figures, sequence: prefix.MoveSequence):
    """Request that listed vertices are sorted, by vertex first."""
    prefix.order_by_vertex(1, moves, figures, sequence)


@kl.kernel
def find_leavers(_, graph: objectives.NetRows, moves: Moves, blocks: Blocks, figures: Figures,
                 sequence: Pseudo):
    """The first vertices of each block that is too heavy leave it, until it is not.  Called by one
    team.
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
    """No vertex moves yet."""
    keep_moves(0, moves)
    sequence.words.worst = 0


@kl.device
def has_lonely(net, graph: objectives.NetRows):
    """Whether a net may have a pin that is alone in its block."""
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
    """Whether the pins of a net are others than before, whose changes begin here."""
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
    """Let the pins of a net that are alone in their block leave, where the net's changes begin.

    None leaves where refinement must not examine any.
    """
    if net_counts.activates != 0 and begins_row(i, pins.keys):
        net = kl.int32(pins.keys[i] >> 32)
        if has_lonely(net, graph) and has_changed(i, counts.changed, pins):
            for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net],
                               kl.team_size()):
                v = graph.nets.pins[place]
                if objectives.is_alone(net, moves.part[v], graph):
                    evict(v, graph, moves, blocks, sequence)


@kl.kernel
def list_first_on_nets(i, graph: objectives.NetRows, moves: Moves, active: ActiveSets,
                       unrated: UnratedList, figures: Figures, sequence: Pseudo):
    """List a vertex if it comes before all that wait and share a net with it, else it waits.

    Nets of many pins do not count: of their pins one would move in each round.
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
    """What a move costs: the ties of the vertex that lead to other blocks than its target."""
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
    """Moves that cost least gain most, of a number that is not negative."""
    v = moves.listed[i]
    sequence.gain[v] = sequence.words.worst - sequence.gain[v]
    if i == 0:
        prefix.set_top_gain(sequence.words.worst, sequence.prefix)


@kl.kernel
def decide_entry(i, graph: objectives.NetRows, moves: Moves, blocks: Blocks, figures: Figures,
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
        this.program.launch(prefix.sequence_of(this).words.asked, forget_dirty)


CRITICAL_PINS: tuple[Piece, ...] = (*LOCAL, CriticalPins(), EditedNetSteps())
"""Refinement around edits of hypergraphs by a pseudo block."""
