"""A sequence of moves that is tried out: what is kept of it, and how it is sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart import primitives
from portpart.algorithms.refinement import Figures, Recording, RefinementSizes, Run
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.moves import Moves
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace


class PrefixWords(kl.Words):
    """The totals of a sequence of moves."""

    too_heavy: Any  # whether all moves together are too many
    top_gain: int
    ordering: Any  # whether they are being sorted,
    by_gain: Any  # and by what: the gain, or the vertex
    kept: Any  # length of the prefix
    made: Any  # moves that are made


class MoveSequence(kl.Record):
    """Legal moves, and a sequence of them that is tried out.

    Attributes
    ----------
    legal : array of int32, shape (n,)
        Where a vertex may move; -1 if nowhere.
    gain : array of int64, shape (n,)
    keys, other_keys : array of int64, shape (n + 1,) and (n,)
        What moves are sorted by; then their weights and their blocks, or the sums of the weights.
    other_list : array of int32, shape (n,)
    weight_sums : array of int64
        What all moves together add to the block weights, in several copies.
    block_weight : array of int64, shape (k,)
    prefix : PrefixWords
    zero_gain : int
        Whether moves without gain are legal that even out the weights of two blocks.
    apply_later_moves : int
        Whether moves behind the prefix are made where their blocks have room.
    limits : array of int64, shape (k,)
        What blocks may weigh, where `Blocks.limits` changes from round to round.
    """

    other_list: Array
    prefix: PrefixWords
    sorting: primitives.SortArrays
    zero_gain: int
    apply_later_moves: int
    limits: Array
    legal: Array = kl.work(np.int32, "vertices")
    gain: Array = kl.work(np.int64, "vertices")
    keys: Array = kl.work(np.int64, lambda size: size.vertices + 1)
    other_keys: Array = kl.work(np.int64, "vertices")
    weight_sums: Array = kl.work(np.int64, lambda size: size.blocks * size.stripes, zeros=True)
    block_weight: Array = kl.work(np.int64, "blocks")
    buffer_begin: Array = kl.work(np.int64, "blocks")


def sequence_for(space: ExecutionSpace, sizes: RefinementSizes, run: Run, zero_gain: bool,
                 apply_later_moves: bool) -> MoveSequence:
    """Allocate what a run needs; a list of rebalancing is free while moves are made."""
    return MoveSequence.allocate(
        space, sizes, other_list=run.rebalancing.listed,
        prefix=PrefixWords(space.zeros(len(PrefixWords.indices), np.int64)),
        sorting=primitives.sort_arrays(space, sizes.vertices), zero_gain=int(zero_gain),
        apply_later_moves=int(apply_later_moves), limits=run.blocks.limits)


def sequence_of(this: Recording) -> Any:
    """The sequence, as slots."""
    return this.program.records["sequence"]


def record_order(this: Recording, fill: kl.Kernel, order_next: kl.Kernel) -> None:
    """Record how the list of moves is sorted by one key after the other, the last one decides.

    Parameters
    ----------
    fill, order_next : Kernel
        Fills in the keys; says by what to sort next, if there is more, and how many bits that has.
    """
    program, run, sequence = this.program, this.run, sequence_of(this)
    with program.while_loop(sequence.prefix.ordering):
        program.launch(run.level.moves, fill)
        primitives.record_sort(program, sequence.sorting,
                               primitives.SortSlots(sequence.keys, run.moves.listed,
                                                    sequence.other_keys, sequence.other_list))
        program.launch(1, order_next)


@kl.device
def note_gain(v, gain, sequence: MoveSequence):
    """Keep what a move of v gains, and the most that one does.  Atomic, independent of order."""
    sequence.gain[v] = gain
    kl.atomic_max(sequence.prefix, PrefixWords.top_gain, gain)


@kl.device
def set_gain(v, gain, sequence: MoveSequence):
    """Set what the move of v gains."""
    sequence.gain[v] = gain


@kl.device
def begin_weights(blocks: Blocks, figures: Figures, sequence: MoveSequence):
    """Blocks weigh what they do before any move.  All lanes of a team together."""
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        sequence.block_weight[b] = blocks.weight[b]


@kl.device
def set_top_gain(gain, prefix: PrefixWords):
    """Set what moves gain at most; 0 before any is found."""
    prefix.top_gain = gain


@kl.device
def order_by_vertex(needed, moves: Moves, figures: Figures, sequence: MoveSequence):
    """Request that the moves are sorted, by vertex first, if that is needed."""
    sequence.prefix.ordering = needed
    sequence.prefix.by_gain = 0
    primitives.set_keys(moves.moves, figures.vertices, sequence.sorting.words)


@kl.kernel
def fill_key(i, moves: Moves, sequence: MoveSequence):
    """Key of a move: its vertex, or how much less it gains than the best one."""
    v = moves.listed[i]
    key = kl.int64(v)
    if sequence.prefix.by_gain != 0:
        key = sequence.prefix.top_gain - sequence.gain[v]
    sequence.keys[i] = key


@kl.kernel
def order_by_gain_next(_, sequence: MoveSequence):
    """After the vertices come the gains, and then the order is found."""
    sequence.prefix.ordering = 1 - sequence.prefix.by_gain
    sequence.prefix.by_gain = 1
    primitives.set_largest(sequence.prefix.top_gain, sequence.sorting.words)
