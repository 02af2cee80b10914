"""Moves vertices out of the pseudo block (iG-kway, dissertation 3.5, algorithm 13).

In a round each vertex without a neighbour of smaller id in the pseudo block moves to its most
connected block with free capacity; of equal blocks to the one with most free capacity, then to the
first.  If a block becomes overloaded, the longest prefix of moves that fits is applied, ordered by
decreasing connectivity, then by id.  After a round without moves, vertices that fit nowhere move to
the block with most free capacity; rebalancing removes the overload.

A path of new vertices would need as many rounds as it has vertices.  So after `ROUNDS_BY_ID` rounds
smaller hashes precede instead of smaller ids, and few more rounds are needed.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms import objectives
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
"""Active vertices leave their blocks, then neighbours of the pseudo block."""

LOWEST = -(2**63)

WAITS = -3
"""Value of `Moves.locked_in` for vertices in the pseudo block that keep their blocks in `part`."""


class PseudoWords(kl.Words):
    """Counts and flags of a run with a pseudo block.

    Attributes
    ----------
    members : int
        Vertices that have entered the pseudo block.
    settled : int
        Members that entered before this pass.
    passes : int
        Remaining passes in which vertices may leave their blocks.
    examined, leaving, expanding : int
        Vertices examined in this pass; vertices that leave; members whose neighbours are examined
        next.
    waiting, next_waiting, begin : int
        Pending vertices in this round and after it; begin of their list.  There are two lists: one
        is read, the other one filled.
    most_capacity : int
        The block with most free capacity, the first of equal ones.
    relaxed : int
        Whether vertices that fit nowhere move to that block all the same.
    rounds : int
        Number of rounds so far.
    kept : int
        Length of the balanced prefix.
    worst : int
        The highest cost of a move, or the shift that makes scores positive.
    overloaded : int
        Whether a block is overloaded in the end.
    running : int
        Whether there is another round.
    """

    members: int
    settled: int
    passes: int
    examined: int
    leaving: int
    expanding: int
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
    """The vertices of a pseudo block, and sequences of tentative moves out of it.

    Attributes
    ----------
    words : PseudoWords
    members : array of int32
        All vertices that have been in it, in any order.
    """

    words: PseudoWords  # type: ignore[misc]  # fields without a default come first
    members: Array = kl.work(np.int32, lambda size: size.vertices)


def pseudo_for(space: ExecutionSpace, sizes: RefinementSizes, run: Run) -> Pseudo:
    """Allocate the record of a pseudo block; a list of rebalancing, which runs later, is shared."""
    return Pseudo.allocate(
        space, sizes, other_list=run.rebalancing.listed,
        prefix=PrefixWords(space.zeros(len(PrefixWords.indices), np.int64)),
        words=PseudoWords(space.zeros(len(PseudoWords.indices), np.int64)),
        sorting=sort_arrays(space, sizes.vertices), zero_gain=0, apply_later_moves=0,
        limits=run.blocks.limits)


@kl.device
def find_most_capacity(blocks: Blocks, figures: Figures, words: PseudoWords):
    """Store the block with most free capacity, the first of equal ones.

    Called by all lanes of a team.
    """
    first = first_of_most(blocks, figures, free_capacity)
    if kl.lane() == 0:
        words.most_capacity = first


@kl.device
def weigh_blocks(moves: Moves, blocks: Blocks, figures: Figures):
    """Sum up the weights of all blocks.  Called by all lanes of a team."""
    sum_copies(moves.weight_sums, blocks.weight, moves, figures)


NONE = -1

ROUNDS_BY_ID = 32


class Entering(kl.Scope):
    """The records for entering moves, and for pending vertices."""

    moves: Moves
    active: ActiveSets
    blocks: Blocks
    figures: Figures


@kl.kernel
def begin_rounds(_, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """Make all members pending, and start the rounds.  Called by one team."""
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
    """List member i of the pseudo block as pending."""
    list_movable_at(i, sequence.members[i], active)


@kl.device
def keep_pending(v, active: ActiveSets, figures: Figures, sequence: Pseudo):
    """List v as pending for the next round; in any order."""
    begin = figures.vertices - sequence.words.begin
    list_movable_at(begin + kl.atomic_next(sequence.words, PseudoWords.next_waiting), v, active)


@kl.device
def comes_first(u, v, figures: Figures, words: PseudoWords):
    """Whether u precedes v in this round: by the smaller id, or by the smaller hash."""
    first = u < v
    if words.rounds >= ROUNDS_BY_ID:
        first = hash_of(u, figures.seed) < hash_of(v, figures.seed)
    return first


@kl.device
def list_if_first(v, is_beaten, active: ActiveSets, unrated: UnratedList, figures: Figures,
                  sequence: Pseudo):
    """List v as unrated, or as pending if a lane has found a vertex that precedes it."""
    waits = kl.team_max(is_beaten)
    if kl.lane() == 0:
        if waits != 0:
            keep_pending(v, active, figures, sequence)
        else:
            add_unrated(v, unrated)


@kl.kernel
def list_first(i, graph: Csr, moves: Moves, active: ActiveSets, unrated: UnratedList,
               figures: Figures, sequence: Pseudo):
    """List a vertex as unrated if it precedes all its neighbours in the pseudo block.

    Otherwise it stays pending.
    """
    v = active.movable_list[sequence.words.begin + i]
    beaten = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        if moves.part[u] == figures.blocks and comes_first(u, v, figures, sequence.words):
            beaten = kl.int64(1)
    list_if_first(v, beaten, active, unrated, figures, sequence)


@kl.device
def is_better(weight, capacity, block, most, most_capacity, best):
    """Whether a block is better than the best one: by connectivity, free capacity, then number."""
    better = weight > most
    if weight == most:
        better = capacity > most_capacity or (capacity == most_capacity and block < best)
    return better


@kl.device
def enter_move(v, block, connection, size, state: Entering, sequence: Pseudo):
    """Enter the move of v to a block, or keep v pending if it does not fit.

    Block -1 stands for the one with most free capacity.  Atomic; the list may be in any order.
    Called by one lane.
    """
    there = kl.int64(block)
    if block == NONE:
        there = sequence.words.most_capacity
    if free_capacity(there, state.blocks, state.figures) >= size or sequence.words.relaxed != 0:
        propose_move(v, there, state.moves)
        note_gain(v, connection, sequence)
        kl.atomic_add(sequence.weight_sums, copy_for(v, state.moves, state.figures) + there, size)
    else:
        keep_pending(v, state.active, state.figures, sequence)


@kl.device
def find_block(v, graph: Csr, state: Entering, connections: objectives.ConnectivityTable,
               tables: objectives.Tables, found: objectives.BestTarget, sequence: Pseudo,
               table: objectives.Connectivity):
    """Find the most connected block with free capacity for v, and enter the move.

    Called by all lanes of a team.
    """
    num_blocks = state.figures.blocks
    size = kl.value_or(graph.vertex_weights, v, 1)
    most = kl.int64(0)
    most_free = kl.int64(LOWEST)
    best = kl.int64(num_blocks)
    first = kl.int64(0)
    while first < num_blocks:
        end = table.load(v, first, graph, state.moves.part, connections, num_blocks)
        count = table.count(v, first, end, graph, connections)
        for j in range(kl.lane(), count, kl.team_size()):
            block = kl.int64(table.block_of(j, v, first, end, graph, state.moves.part, connections))
            weight = table.weight_of(j, count, v, kl.int32(block), first, end, graph, connections)
            if block < num_blocks and weight >= max(most, kl.int64(1)):
                free = free_capacity(block, state.blocks, state.figures)
                if free >= size and is_better(weight, free, block, most, most_free, best):
                    most = weight
                    most_free = free
                    best = block
        kl.team_sync()
        first = end
    top = kl.team_max(most)
    top_free = kl.team_max(most_free if most == top else kl.int64(LOWEST))
    wins = most == top and most_free == top_free
    best = kl.team_min(best if wins else num_blocks)
    if kl.lane() == 0:
        enter_move(v, best if best < num_blocks else kl.int64(NONE), top, size, state, sequence)
    return v


def most_connected(rules: objectives.Rules, valuation: objectives.BlockScore) -> kl.DeviceFunction:
    """Return `find_block` for a rule that computes the connectivity of a vertex."""
    return find_block.bound(table=valuation.connectivity)


@kl.kernel
def lay_out_entry(i, graph: Csr, moves: Moves, sequence: Pseudo):
    """Replace the sort keys of a move by its weight and its block."""
    v = moves.listed[i]
    sequence.keys[i] = kl.value_or(graph.vertex_weights, v, 1)
    sequence.other_keys[i] = kl.int64(moves.target[v])


@kl.kernel
def find_prefix(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """Find the longest prefix of moves that overloads no block.  Called by one team."""
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
    """Keep a vertex pending if its move is behind the prefix."""
    if i >= sequence.words.kept:
        keep_pending(moves.listed[i], active, figures, sequence)


@kl.kernel
def keep_prefix(_, moves: Moves, sequence: Pseudo):
    """Drop all moves behind the prefix."""
    keep_moves(sequence.words.kept, moves)


@kl.kernel
def enter_block(i, graph: Csr, moves: Moves, blocks: Blocks):
    """Move a vertex to its target; atomic, independent of order."""
    v = moves.listed[i]
    add_block_weight(join_target(v, moves), kl.value_or(graph.vertex_weights, v, 1), blocks)


@kl.kernel
def end_round(_, moves: Moves, blocks: Blocks, unrated: UnratedList, figures: Figures,
              sequence: Pseudo):
    """Prepare the next round for the pending vertices.  Called by one team.

    If no vertex has moved, vertices that fit nowhere will move.
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
