"""How vertices leave the pseudo block (iG-kway, dissertation 3.5, algorithm 13).

In a round each vertex without a neighbour of smaller id in the pseudo block moves to its most
connected block with free capacity; of equal ones to that with most capacity, then the first.  If
that is too much for a block, the longest prefix of moves that fits is made, in the order of
connection, the strongest first, then of ids.  After a round without moves, vertices that fit
nowhere go to the block with most capacity; rebalancing relieves what is too heavy then.

A path of new vertices would take as many rounds as it is long: after `ROUNDS_BY_ID` smaller hashes
come first, and few rounds are left.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.objectives import (
    BestTarget,
    BlockScore,
    Connectivity,
    ConnectivityTable,
    Rules,
    Tables,
)
from portpart.algorithms.refinement import Figures, RefinementSizes, Run
from portpart.algorithms.refinement.blocks import (
    Blocks,
    add_block_weight,
    first_of_most,
    free_capacity,
)
from portpart.algorithms.refinement.gains import (
    ActiveSets,
    UnratedList,
    add_unrated,
    empty_unrated,
    list_movable_at,
)
from portpart.algorithms.refinement.moves import (
    Moves,
    copy_for,
    join_target,
    keep_moves,
    propose_move,
    sum_copies,
)
from portpart.algorithms.refinement.prefix import (
    MoveSequence,
    PrefixWords,
    exceeds,
    note_gain,
    set_top_gain,
    weight_offered,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr
from portpart.primitives import hash_of, sort_arrays

PASSES = 2
"""Active vertices leave their blocks, then neighbours of these."""

LOWEST = -(2**63)

WAITS = -3
"""What `Moves.locked_in` holds of vertices in the pseudo block where their blocks do not show it.
"""


class PseudoWords(kl.Words):
    """Counts and flags of a run with a pseudo block.

    Attributes
    ----------
    members : int
        Vertices that have left their blocks, or are new.
    settled : int
        Those of them that had left before this pass.
    passes : int
        Passes in which vertices may leave that are still to come.
    asked, leaving, telling : int
        Vertices that are asked whether they leave; that do; whose neighbours are asked next.
    waiting, next_waiting, begin : int
        Vertices that are in no block, and will be after this round; where their list begins, of
        two, the other one is filled.
    most_capacity : int
        The block with most room, of equal ones the first.
    relaxed : int
        Whether vertices that fit nowhere take the roomiest block all the same.
    rounds : int
        Rounds so far.
    kept : int
        Length of the balanced prefix.
    worst : int
        What is the most that a move costs, or a number that scores are made positive with.
    overloaded : int
        Whether a block is too heavy in the end.
    running : int
    """

    members: int
    settled: int
    passes: int
    asked: int
    leaving: int
    telling: int
    waiting: int
    next_waiting: int
    begin: int
    most_capacity: int
    relaxed: int
    rounds: int
    kept: int
    worst: int
    overloaded: int
    running: int


class Pseudo(MoveSequence):
    """The vertices of a pseudo block, and sequences of moves out of it that are tried out.

    Attributes
    ----------
    words : PseudoWords
    members : array of int32
        All that have been in it, in any order.
    """

    words: PseudoWords  # type: ignore[misc]  # what has to be given comes first
    members: Array = kl.work(np.int32, lambda size: size.vertices)


def pseudo_for(space: ExecutionSpace, sizes: RefinementSizes, run: Run) -> Pseudo:
    """Allocate what a run needs; a list of rebalancing is free before."""
    return Pseudo.allocate(
        space, sizes, other_list=run.rebalancing.listed,
        prefix=PrefixWords(space.zeros(len(PrefixWords.indices), np.int64)),
        words=PseudoWords(space.zeros(len(PseudoWords.indices), np.int64)),
        sorting=sort_arrays(space, sizes.vertices), zero_gain=0, apply_later_moves=0,
        limits=run.blocks.limits)


@kl.device
def find_most_capacity(blocks: Blocks, figures: Figures, words: PseudoWords):
    """Find the block with most room, of equal ones the first.  All lanes of a team together."""
    first = first_of_most(blocks, figures, free_capacity)
    if kl.lane() == 0:
        words.most_capacity = first


@kl.device
def weigh_blocks(moves: Moves, blocks: Blocks, figures: Figures):
    """Sum up the weights of all blocks.  All lanes of a team together."""
    sum_copies(moves.weight_sums, blocks.weight, moves, figures)


NONE = -1

ROUNDS_BY_ID = 32


class Entering(kl.Scope):
    """Which block a vertex may enter, and the pending vertices."""

    moves: Moves
    active: ActiveSets
    blocks: Blocks
    figures: Figures


@kl.kernel
def begin_rounds(_, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """All that have left wait.  Called by one team."""
    find_most_capacity(blocks, figures, sequence.words)
    if kl.lane() == 0:
        sequence.words.waiting = sequence.words.members
        sequence.words.next_waiting = 0
        sequence.words.begin = 0
        sequence.words.relaxed = 0
        sequence.words.rounds = 0
        sequence.words.running = kl.int64(sequence.words.members > 0)
        set_top_gain(0, sequence.prefix)


@kl.kernel
def list_pending(i, active: ActiveSets, sequence: Pseudo):
    """Vertex i in the pseudo block becomes pending."""
    list_movable_at(i, sequence.members[i], active)


@kl.device
def keep_pending(v, active: ActiveSets, figures: Figures, sequence: Pseudo):
    """Let v wait for the next round; the order of the list is free."""
    begin = figures.vertices - sequence.words.begin
    list_movable_at(begin + kl.atomic_next(sequence.words, PseudoWords.next_waiting), v, active)


@kl.device
def comes_first(u, v, figures: Figures, words: PseudoWords):
    """Whether u comes before v in this round: the smaller id does, or the smaller hash."""
    first = u < v
    if words.rounds >= ROUNDS_BY_ID:
        first = hash_of(u, figures.seed) < hash_of(v, figures.seed)
    return first


@kl.device
def list_if_first(v, is_beaten, active: ActiveSets, unrated: UnratedList, figures: Figures,
                  sequence: Pseudo):
    """List v to be rated, unless a lane knows one that comes before it: then v waits."""
    waits = kl.team_max(is_beaten)
    if kl.lane() == 0:
        if waits != 0:
            keep_pending(v, active, figures, sequence)
        else:
            add_unrated(v, unrated)


@kl.kernel
def list_first(i, graph: Csr, moves: Moves, active: ActiveSets, unrated: UnratedList,
               figures: Figures, sequence: Pseudo):
    """List a vertex if it comes before all of its neighbours in the pseudo block, else it waits."""
    v = active.movable_list[sequence.words.begin + i]
    beaten = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        if moves.part[u] == figures.blocks and comes_first(u, v, figures, sequence.words):
            beaten = kl.int64(1)
    list_if_first(v, beaten, active, unrated, figures, sequence)


@kl.device
def is_better(weight, room, block, most, most_room, best):
    """Whether a block comes before the best so far: by the tie to it, its room, and its number."""
    better = weight > most
    if weight == most:
        better = room > most_room or (room == most_room and block < best)
    return better


@kl.device
def enter_move(v, block, tie, size, state: Entering, sequence: Pseudo):
    """Enter the move of v to a block, to the roomiest if that is -1; where it fits in none, wait.

    Atomic; the order of the buffer is free.  Called by one lane.
    """
    there = kl.int64(block)
    if block == NONE:
        there = sequence.words.most_capacity
    if free_capacity(there, state.blocks, state.figures) >= size or sequence.words.relaxed != 0:
        propose_move(v, there, state.moves)
        note_gain(v, tie, sequence)
        kl.atomic_add(sequence.weight_sums, copy_for(v, state.moves, state.figures) + there, size)
    else:
        keep_pending(v, state.active, state.figures, sequence)


@kl.device
def find_block(v, graph: Csr, state: Entering, connections: ConnectivityTable, tables: Tables,
               found: BestTarget, sequence: Pseudo, ties_by: Connectivity):
    """Find the block with room that v is tied to most, and enter the move there.

    All lanes of a team together.
    """
    num_blocks = state.figures.blocks
    size = kl.value_or(graph.vertex_weights, v, 1)
    most = kl.int64(0)
    most_room = kl.int64(LOWEST)
    best = kl.int64(num_blocks)
    first = kl.int64(0)
    while first < num_blocks:
        end = ties_by.load(v, first, graph, state.moves.part, connections, num_blocks)
        count = ties_by.count(v, first, end, graph, connections)
        for j in range(kl.lane(), count, kl.team_size()):
            block = kl.int64(ties_by.block_of(j, v, first, end, graph, state.moves.part,
                                              connections))
            weight = ties_by.weight_of(j, count, v, kl.int32(block), first, end, graph, connections)
            if block < num_blocks and weight >= max(most, kl.int64(1)):
                room = free_capacity(block, state.blocks, state.figures)
                if room >= size and is_better(weight, room, block, most, most_room, best):
                    most = weight
                    most_room = room
                    best = block
        kl.team_sync()
        first = end
    top = kl.team_max(most)
    top_room = kl.team_max(most_room if most == top else kl.int64(LOWEST))
    wins = most == top and most_room == top_room
    best = kl.team_min(best if wins else num_blocks)
    if kl.lane() == 0:
        enter_move(v, best if best < num_blocks else kl.int64(NONE), top, size, state, sequence)
    return v


def strongest_tie(rules: Rules, valuation: BlockScore) -> kl.DeviceFunction:
    """`find_block` for a way to find the blocks that a vertex touches."""
    return find_block.bound(ties_by=valuation.connectivity)


@kl.kernel
def lay_out_entry(i, graph: Csr, moves: Moves, sequence: Pseudo):
    """The weight and the block of a move take the places of the keys, for the walk."""
    v = moves.listed[i]
    sequence.keys[i] = kl.value_or(graph.vertex_weights, v, 1)
    sequence.other_keys[i] = kl.int64(moves.target[v])


@kl.kernel
def find_prefix(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """Find the longest prefix of moves that no block is too heavy after.  Called by one team."""
    count = moves.moves
    kept = count
    base = kl.int64(0)
    while base < kept:
        i = base + kl.lane()
        first = count
        if i < count and sequence.words.relaxed == 0:
            there = sequence.other_keys[i]
            weight = sequence.block_weight[there] + weight_offered(i, base, sequence)
            if exceeds(weight, there, blocks, figures) != 0:
                first = i
        kept = kl.team_min(first)
        kl.team_sync()
        if i < count:
            kl.team_atomic_add(sequence.block_weight, sequence.other_keys[i], sequence.keys[i])
        kl.team_sync()
        base += kl.team_size()
    if kl.lane() == 0:
        sequence.words.kept = kept


@kl.kernel
def drop_move(i, moves: Moves, active: ActiveSets, figures: Figures, sequence: Pseudo):
    """A vertex whose move is behind the prefix waits."""
    if i >= sequence.words.kept:
        keep_pending(moves.listed[i], active, figures, sequence)


@kl.kernel
def keep_prefix(_, moves: Moves, sequence: Pseudo):
    """The prefix is what is made."""
    keep_moves(sequence.words.kept, moves)


@kl.kernel
def enter_block(i, graph: Csr, moves: Moves, blocks: Blocks):
    """A vertex enters its block; atomic, independent of order."""
    v = moves.listed[i]
    add_block_weight(join_target(v, moves), kl.value_or(graph.vertex_weights, v, 1), blocks)


@kl.kernel
def end_round(_, moves: Moves, blocks: Blocks, unrated: UnratedList, figures: Figures,
              sequence: Pseudo):
    """Pending vertices are next.  If none has moved, vertices that fit nowhere will.  Called by one
    team.
    """
    find_most_capacity(blocks, figures, sequence.words)
    if kl.lane() == 0:
        sequence.words.relaxed = kl.int64(moves.moves == 0)
        sequence.words.rounds += 1
        sequence.words.waiting = sequence.words.next_waiting
        sequence.words.running = kl.int64(sequence.words.next_waiting > 0)
        sequence.words.next_waiting = 0
        sequence.words.begin = figures.vertices - sequence.words.begin
        keep_moves(0, moves)
        empty_unrated(unrated)
        set_top_gain(0, sequence.prefix)
