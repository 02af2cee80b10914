"""A sequence of moves: its record, and how it is sorted."""

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

    too_heavy: Any  # whether a block is overloaded after all moves
    top_gain: int
    ordering: Any  # whether the moves are being sorted
    by_gain: Any  # the current sort key: gain (1) or vertex (0)
    kept: Any  # length of the prefix
    made: Any  # number of moves that are made


class MoveSequence(kl.Record):
    """Legal moves, and the sequence of moves that is evaluated.

    Attributes
    ----------
    legal : array of int32, shape (n,)
        Target of the legal move of a vertex; -1 if it has none.
    gain : array of int64, shape (n,)
    keys, other_keys : array of int64, shape (n + 1,) and (n,)
        Sort keys of moves; later their weights and blocks, or prefix sums of the weights.
    other_list : array of int32, shape (n,)
    weight_sums : array of int64
        Weights that all moves together add to the blocks, in several copies.
    block_weight : array of int64, shape (k,)
    prefix : PrefixWords
    zero_gain : int
        Whether moves of gain 0 are legal if they even out the weights of two blocks.
    apply_later_moves : int
        Whether moves behind the prefix are made if their target has capacity.
    limits : array of int64, shape (k,)
        The limits of blocks, also where `Blocks.limits` changes from round to round.
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
    """Allocate the record for a run.

    It shares a list of rebalancing, which is free while moves are made.
    """
    return MoveSequence.allocate(
        space, sizes, other_list=run.rebalancing.listed,
        prefix=PrefixWords(space.zeros(len(PrefixWords.indices), np.int64)),
        sorting=primitives.sort_arrays(space, sizes.vertices), zero_gain=int(zero_gain),
        apply_later_moves=int(apply_later_moves), limits=run.blocks.limits)


def sequence_of(this: Recording) -> Any:
    """Return the slots of the sequence."""
    return this.program.records["sequence"]


def record_order(this: Recording, fill: kl.Kernel, order_next: kl.Kernel) -> None:
    """Record how the list of moves is sorted by one key after another; the last key decides.

    Parameters
    ----------
    fill, order_next : Kernel
        `fill` stores the keys; `order_next` selects the next key, if there is one, and its number
        of bits.
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
    """Store the gain of v's move, and update the largest gain.  Atomic, independent of order."""
    sequence.gain[v] = gain
    kl.atomic_max(sequence.prefix, PrefixWords.top_gain, gain)


@kl.device
def set_gain(v, gain, sequence: MoveSequence):
    """Set the gain of v's move."""
    sequence.gain[v] = gain


@kl.device
def begin_weights(blocks: Blocks, figures: Figures, sequence: MoveSequence):
    """Set the block weights to those before any move.  Called by all lanes of a team."""
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        sequence.block_weight[b] = blocks.weight[b]


@kl.device
def set_top_gain(gain, prefix: PrefixWords):
    """Set the largest gain of a move."""
    prefix.top_gain = gain


@kl.device
def order_by_vertex(needed, moves: Moves, figures: Figures, sequence: MoveSequence):
    """Request that the moves are sorted, by vertex first, if `needed`."""
    sequence.prefix.ordering = needed
    sequence.prefix.by_gain = 0
    primitives.set_keys(moves.moves, figures.vertices, sequence.sorting.words)


@kl.kernel
def fill_key(i, moves: Moves, sequence: MoveSequence):
    """Store the key of move i: its vertex, or the largest gain minus its gain."""
    v = moves.listed[i]
    key = kl.int64(v)
    if sequence.prefix.by_gain != 0:
        key = sequence.prefix.top_gain - sequence.gain[v]
    sequence.keys[i] = key


@kl.kernel
def order_by_gain_next(_, sequence: MoveSequence):
    """Sort by gain after sorting by vertex; then end."""
    sequence.prefix.ordering = 1 - sequence.prefix.by_gain
    sequence.prefix.by_gain = 1
    primitives.set_largest(sequence.prefix.top_gain, sequence.sorting.words)
