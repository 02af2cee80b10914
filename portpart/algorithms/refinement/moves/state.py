"""The partition, the moves of an iteration, and the functions that move vertices."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import Figures
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.primitives import STRIPES

# The partition, the moves of an iteration, and the sums of weights and cost --------------------


class Moves(kl.Record):
    """The partition, the moves of an iteration, and the sums of weights and cost.

    Attributes
    ----------
    part : array of int32, shape (n,)
    target : array of int32, shape (n,)
        Target block of a vertex, if it moves.
    moved_in, locked_in : array of int32, shape (n,)
        Iteration of a vertex's last move, and of its last move by label propagation, which locks it
        for one iteration.
    listed : array of int32
        The vertices that move in this iteration.
    weight_sums : array of int64
        Copies of the block weights.  A weight is the sum over the copies.
    cost_sums : array of int64, shape (STRIPES,)
        Words that add up to twice the cost.
    """

    part: Array = kl.work(np.int32, "vertices")
    target: Array = kl.work(np.int32, "vertices")
    moved_in: Array = kl.work(np.int32, "vertices")
    locked_in: Array = kl.work(np.int32, "vertices")
    listed: Array = kl.work(np.int32, "vertices")
    weight_sums: Array = kl.work(np.int64, lambda size: size.blocks * size.stripes)
    cost_sums: Array = kl.work(np.int64, lambda size: STRIPES)

    moves: int = kl.word()  # vertices that move in this iteration
    last_propagation: int = kl.word()  # the last label propagation, whose moves are locked
    subsampled: int = kl.word()  # whether few proposed moves are allowed at a time
    weight_stripes: int = kl.word()  # copies of the block weights that moves are added to


# Block weights have copies: simultaneous moves are added to different copies
#
# The fewer blocks, the more copies.  A single lane would sum the copies of a block with few loads
# in flight: with two blocks that took ten microseconds on a GPU, in each iteration.


MANY_COPIES = 64
"""From this number of copies on, all lanes sum the copies of one block after another."""

AT_ONCE = 8
"""Number of copies that a lane loads before it waits."""


@kl.device
def copy_for(v, moves: Moves, figures: Figures):
    """Return where the copy of the block weights begins that v is added to."""
    return kl.int64(v) % moves.weight_stripes * figures.blocks


@kl.device
def sum_at_once(b, first, sums, moves: Moves, figures: Figures):
    """Return the sum of AT_ONCE copies of the weight of block b, beginning with `first`."""
    total = kl.int64(0)
    for copy in range(first, first + AT_ONCE):
        if copy < moves.weight_stripes:
            total += sums[copy * figures.blocks + b]
    return total


@kl.device
def sum_many_copies(sums, weights, moves: Moves, figures: Figures):
    """Write the sum of the copies of each block b to weights[b], if there are many copies.

    Called by all lanes of a team.
    """
    if moves.weight_stripes >= MANY_COPIES:
        for b in range(figures.blocks):
            total = kl.int64(0)
            for copy in range(kl.lane(), moves.weight_stripes, kl.team_size()):
                total += sums[copy * figures.blocks + b]
            total = kl.team_sum(total)
            if kl.lane() == 0:
                weights[b] = total
        kl.team_sync()


@kl.device
def sum_of_copies(b, sums, weights, moves: Moves, figures: Figures):
    """Return the sum of the copies of block b, and write it to weights[b].

    Called by one lane, after `sum_many_copies`.
    """
    total = kl.int64(0)
    if moves.weight_stripes >= MANY_COPIES:
        total = weights[b]
    else:
        for first in range(0, moves.weight_stripes, AT_ONCE):
            total += sum_at_once(b, first, sums, moves, figures)
        weights[b] = total
    return total


@kl.device
def sum_copies(sums, weights, moves: Moves, figures: Figures):
    """Write the sum of the copies of each block b to weights[b].  Called by all lanes of a team."""
    sum_many_copies(sums, weights, moves, figures)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        sum_of_copies(b, sums, weights, moves, figures)
    kl.team_sync()


@kl.device
def share_of_cost(moves: Moves):
    """Return the part of twice the cost that this lane adds up."""
    twice = kl.int64(0)
    for stripe in range(kl.lane(), STRIPES, kl.team_size()):
        twice += moves.cost_sums[stripe]
    return twice


@kl.device
def twice_the_cost(moves: Moves):
    """Return twice the cost.  Called by all lanes of a team."""
    return kl.team_sum(share_of_cost(moves))


# Functions that move vertices: blocks, the list of moves, and sums of weights and cost ---------
#
# All other modules call these functions; no other function stores into `Moves`.


NEVER = -2


@kl.device
def mark_moved(v, iteration, moves: Moves):
    """Store that v moves in an iteration; NEVER revokes the move."""
    moves.moved_in[v] = kl.int32(iteration)


@kl.device
def lock(v, iteration, moves: Moves):
    """Lock v for the propagation after an iteration; NEVER unlocks it."""
    moves.locked_in[v] = kl.int32(iteration)
    return v


@kl.device
def reset_move(v, moves: Moves):
    """Reset v: it has not moved and is not locked."""
    mark_moved(v, NEVER, moves)
    lock(v, NEVER, moves)


@kl.device
def join_block(v, block, moves: Moves):
    """Put v into a block; -1 removes it from all blocks."""
    moves.part[v] = kl.int32(block)


@kl.device
def join_target(v, moves: Moves):
    """Put v into its target block, and return the block."""
    block = moves.target[v]
    moves.part[v] = block
    return block


@kl.device
def set_target(v, block, moves: Moves):
    """Set the target block of v."""
    moves.target[v] = kl.int32(block)


@kl.device
def list_at(place, v, moves: Moves):
    """Store v at a place of the list of moves."""
    moves.listed[place] = kl.int32(v)


@kl.device
def add_move(v, moves: Moves, figures: Figures):
    """List the move of v to its target.  Atomic; the order of the list is arbitrary."""
    mark_moved(v, figures.iteration, moves)
    list_at(kl.atomic_next(moves, Moves.moves), v, moves)


@kl.device
def add_move_to(v, there, moves: Moves, figures: Figures):
    """List the move of v to a block.  Atomic; the order of the list is arbitrary."""
    set_target(v, there, moves)
    add_move(v, moves, figures)


@kl.device
def propose_move(v, there, moves: Moves):
    """List a proposed move of v, without marking v as moved.

    Atomic; the order of the list is arbitrary.
    """
    set_target(v, there, moves)
    list_at(kl.atomic_next(moves, Moves.moves), v, moves)


@kl.device
def commit_move(v, there, moves: Moves, figures: Figures):
    """List the move of v, and lock v for the next propagation.

    Whether v is locked for the current one does not change.
    """
    lock(v, figures.iteration, moves)
    add_move_to(v, there, moves, figures)


@kl.device
def keep_moves(count, moves: Moves):
    """Keep the first `count` moves of the list."""
    moves.moves = count


@kl.device
def lock_once(v, mark, moves: Moves):
    """Lock v with a negative mark unless it is locked; return whether it was unlocked.  Atomic."""
    return kl.atomic_cas(moves.locked_in, kl.int64(v), kl.int32(NEVER), kl.int32(mark)) == NEVER


@kl.device
def note_propagation(moves: Moves, figures: Figures):
    """Lock the vertices that moved in this iteration for the next propagation."""
    moves.last_propagation = figures.iteration


@kl.device
def thin_out(moves: Moves):
    """From now on, allow only some of the proposed moves at a time."""
    moves.subsampled = 1


@kl.device
def add_cost(key, change, moves: Moves):
    """Add to twice the cost, in the word that the key selects.  Atomic, independent of order."""
    kl.atomic_add(moves.cost_sums, kl.int64(key) % STRIPES, change)


@kl.device
def set_cost(stripe, cost, moves: Moves):
    """Set one of the words that add up to twice the cost."""
    moves.cost_sums[stripe] = 2 * cost if stripe == 0 else 0


@kl.device
def add_weight(v, block, weight, moves: Moves, figures: Figures):
    """Add the weight of v to a block.  Atomic, independent of order."""
    kl.atomic_add(moves.weight_sums, copy_for(v, moves, figures) + block, weight)


@kl.device
def shift_weight(v, here, there, weight, moves: Moves, figures: Figures):
    """Subtract the weight of v from one block, add it to another.  Atomic, independent of order."""
    copy = copy_for(v, moves, figures)
    kl.atomic_add(moves.weight_sums, copy + here, -weight)
    kl.atomic_add(moves.weight_sums, copy + there, weight)


@kl.device
def change_weight(block, change, moves: Moves):
    """Add to the weight of a block, in the first copy.  Atomic, independent of order."""
    kl.atomic_add(moves.weight_sums, kl.int64(block), change)


@kl.device
def set_weight(b, weight, moves: Moves, figures: Figures):
    """Set the weight of block b: the first copy, and the others to 0."""
    moves.weight_sums[b] = weight
    for copy in range(1, moves.weight_stripes):
        moves.weight_sums[copy * figures.blocks + b] = 0


@kl.kernel
def move_vertex(i, moves: Moves):
    """Put the vertex of move i into its target block."""
    join_target(moves.listed[i], moves)
