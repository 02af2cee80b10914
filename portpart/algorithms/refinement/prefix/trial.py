"""A sequence of moves that is tried out: what is kept of it, and how it is sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.level import More, Run
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.piece import Recording
from portpart.algorithms.refinement.sizes import Sizes
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel, Words
from portpart.primitives.recorded_sort import (
    SortArrays,
    SortSlots,
    record_sort,
    set_largest,
    sort_arrays,
    sort_keys,
)


class Sequence(Words):
    """What a sequence of moves comes to."""

    too_heavy: Any  # whether all moves together are too many
    top_gain: Any
    ordering: Any  # whether they are being sorted,
    by_gain: Any  # and by what: the gain, or the vertex
    kept: Any  # length of the prefix
    made: Any  # moves that are made


class Trial(More):
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
    sequence : Sequence
    zero_gain : int
        Whether moves without gain are legal that even out the weights of two blocks.
    fill_rooms : int
        Whether moves behind the prefix are made where their blocks have room.
    limits : array of int64, shape (k,)
        What blocks may weigh, where `Blocks.limits` changes from round to round.
    """

    other_list: Array
    sequence: Sequence
    sorting: SortArrays
    zero_gain: int
    fill_rooms: int
    limits: Array
    legal: Array = work(np.int32, lambda size: size.vertices)
    gain: Array = work(np.int64, lambda size: size.vertices)
    keys: Array = work(np.int64, lambda size: size.vertices + 1)
    other_keys: Array = work(np.int64, lambda size: size.vertices)
    weight_sums: Array = work(np.int64, lambda size: size.blocks * size.stripes, zeros=True)
    block_weight: Array = work(np.int64, lambda size: size.blocks)
    buffer_begin: Array = work(np.int64, lambda size: size.blocks)


def trial_for(space: ExecutionSpace, sizes: Sizes, run: Run, zero_gain: bool,
              fill_rooms: bool) -> Trial:
    """Allocate what a run needs; a list of rebalancing is free while moves are made."""
    return Trial.allocate(
        space, sizes, other_list=run.rebalancing.listed,
        sequence=Sequence(space.zeros(len(Sequence.indices), np.int64)),
        sorting=sort_arrays(space, sizes.vertices), zero_gain=int(zero_gain),
        fill_rooms=int(fill_rooms), limits=run.blocks.limits)


def trial_of(this: Recording) -> Any:
    """The sequence, as slots."""
    return this.program.records["trial"]


def record_order(this: Recording, fill: Kernel, order_next: Kernel) -> None:
    """Record how the list of moves is sorted by one key after the other, the last one decides.

    Parameters
    ----------
    fill, order_next : Kernel
        Fills in the keys; says by what to sort next, if there is more, and how many bits that has.
    """
    program, run, trial = this.program, this.run, trial_of(this)
    with program.while_loop(trial.sequence.ordering):
        program.launch(run.level.moves, fill)
        record_sort(program, trial.sorting, SortSlots(trial.keys, run.moves.listed,
                                                      trial.other_keys, trial.other_list))
        program.launch(1, order_next)


@kl.device
def note_gain(v, gain, trial: Trial):
    """Keep what a move of v gains, and the most that one does.  Atomic, order-free."""
    trial.gain[v] = gain
    kl.atomic_max(trial.sequence, Sequence.top_gain, gain)
    return gain


@kl.device
def set_gain(v, gain, trial: Trial):
    """Set what the move of v gains."""
    trial.gain[v] = gain
    return gain


@kl.device
def begin_weights(blocks: Blocks, figures: Figures, trial: Trial):
    """Blocks weigh what they do before any move.  All lanes of a team together."""
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        trial.block_weight[b] = blocks.weight[b]
    return figures.blocks


@kl.device
def set_top_gain(gain, sequence: Sequence):
    """Set what moves gain at most; 0 before any is found."""
    sequence.top_gain = gain
    return gain


@kl.device
def order_by_vertex(needed, moves: Moves, figures: Figures, trial: Trial):
    """The moves are to be sorted, by vertex first, if that is needed."""
    trial.sequence.ordering = needed
    trial.sequence.by_gain = 0
    sort_keys(moves.moves, figures.vertices, trial.sorting.words)
    return needed


@kl.kernel
def fill_key(i, moves: Moves, trial: Trial):
    """Key of a move: its vertex, or how much less it gains than the best one."""
    v = moves.listed[i]
    key = kl.int64(v)
    if trial.sequence.by_gain != 0:
        key = trial.sequence.top_gain - trial.gain[v]
    trial.keys[i] = key


@kl.kernel
def order_by_gain_next(_, trial: Trial):
    """After the vertices come the gains, and then the order is found."""
    trial.sequence.ordering = 1 - trial.sequence.by_gain
    trial.sequence.by_gain = 1
    set_largest(trial.sequence.top_gain, trial.sorting.words)
