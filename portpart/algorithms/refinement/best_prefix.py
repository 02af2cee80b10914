"""The longest balanced prefix of moves in the order of their gains (G-kway, 3.2.2 and 3.2.3).

If the blocks keep their limits after all the moves, that is all of them, and nothing is sorted.
Else the moves are sorted by gain, the largest first, and by vertex, and one team walks along them.
It takes as many moves at a time as it has lanes (the paper: one segment of up to 1024 moves for
each block); a lane learns from the lanes before it what its two blocks weigh before and after its
move, and so whether the number of blocks that are too heavy changes there.  A prefix is balanced
where that number is zero.  This takes a word for each block, whatever the number of moves.

Beyond the paper, moves behind the prefix are made too where their blocks have room left: each block
takes its best ones.  One block that is full does not hold up the others then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.refinement.by_degree import More
from portpart.algorithms.refinement.program import Recording
from portpart.algorithms.refinement.state import Blocks, Level, Run, Sizes
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Kernel,
    Words,
    atomic_add,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_last,
    team_max,
    team_scan,
    team_size,
    team_sync,
    value_or,
)
from portpart.backends.program import Program
from portpart.graphs.rows import Csr
from portpart.primitives.recorded_sort import SortArrays, SortSlots, record_sort, sort_arrays

WIDEST = 256
NEVER = -2
LOW_HALF = 2**32 - 1



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
    keys, other_keys : array of int64, shape (n,)
        What moves are sorted by; then their weights and their blocks.
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

    keys: Array
    gain: Array
    other_list: Array
    sequence: Sequence
    sorting: SortArrays
    zero_gain: int
    fill_rooms: int
    limits: Array
    legal: Array = work(np.int32, lambda size: size.vertices)
    other_keys: Array = work(np.int64, lambda size: size.vertices)
    weight_sums: Array = work(np.int64, lambda size: size.blocks * size.stripes, zeros=True)
    block_weight: Array = work(np.int64, lambda size: size.blocks)
    buffer_begin: Array = work(np.int64, lambda size: size.blocks)


def trial_for(space: ExecutionSpace, sizes: Sizes, run: Run, zero_gain: bool,
              fill_rooms: bool) -> Trial:
    """Allocate what a run needs; what only rebalancing uses is free while moves are made."""
    return Trial.allocate(
        space, sizes, keys=run.leavers.position, gain=run.leavers.leaving,
        other_list=run.leavers.listed,
        sequence=Sequence(space.zeros(len(Sequence.indices), np.int64)),
        sorting=sort_arrays(space, sizes.vertices), zero_gain=int(zero_gain),
        fill_rooms=int(fill_rooms), limits=run.blocks.limits)


def record_prefix(this: Recording, trial: Trial) -> None:
    """Record how the list of moves is cut down to its longest balanced prefix.

    When this part starts, the list holds ``level.moves`` moves in any order, each marked with
    the iteration in ``moved_in``, and ``trial.weight_sums`` what they add to the blocks.
    """
    program, run = this.program, this.run
    level, sequence = run.level, trial.sequence
    program.launch(1, try_all, team=WIDEST)
    with program.if_nonzero(sequence.too_heavy):
        record_order(program, run, trial, fill_key, order_by_gain_next)
        program.launch(level.moves, lay_out_move)
        program.launch(1, walk_moves, team=WIDEST)
        program.launch(level.blocks, reset_trial)
        program.launch(sequence.kept, try_move)
        program.launch(1, fill_up_rooms, team=WIDEST)
        program.launch(level.moves, list_move)
        program.launch(1, shorten_list)


def record_order(program: Program, run: Run, trial: Trial, fill: Kernel,
                 order_next: Kernel) -> None:
    """Record how the list of moves is sorted by one key after the other, the last one decides.

    Parameters
    ----------
    fill, order_next : Kernel
        Fills in the keys; says by what to sort next, if there is more, and how many bits that has.
    """
    with program.while_loop(trial.sequence.ordering):
        program.launch(run.level.moves, fill)
        record_sort(program, trial.sorting, SortSlots(trial.keys, run.moves.listed,
                                                      trial.other_keys, trial.other_list))
        program.launch(1, order_next)


@device
def bits_of(value):
    """Bits of a number that is not negative."""
    bits = int64(0)
    while bits < 63 and (value >> bits) != 0:
        bits += 1
    return bits


@kernel
def try_all(_, run: Run, trial: Trial):
    """Whether some block is too heavy after all moves; if so, sort by vertex first.  One team."""
    heavy = int64(0)
    for b in range(lane(), run.level.blocks, team_size()):
        change = int64(0)
        for stripe in range(run.level.weight_stripes):
            change += trial.weight_sums[stripe * run.level.blocks + b]
            trial.weight_sums[stripe * run.level.blocks + b] = 0
        trial.block_weight[b] = run.blocks.weight[b]
        if run.blocks.weight[b] + change > run.blocks.limits[b] + run.level.slack:
            heavy = int64(1)
    heavy = team_max(heavy)
    if lane() == 0:
        trial.sequence.too_heavy = heavy
        trial.sequence.ordering = heavy
        trial.sequence.by_gain = 0
        trial.sorting.words.keys = run.level.moves
        trial.sorting.words.bits = bits_of(run.level.vertices)


@kernel
def fill_key(i, run: Run, trial: Trial):
    """Key of a move: its vertex, or how much less it gains than the best one."""
    v = run.moves.listed[i]
    key = int64(v)
    if trial.sequence.by_gain != 0:
        key = trial.sequence.top_gain - trial.gain[v]
    trial.keys[i] = key


@kernel
def order_by_gain_next(_, trial: Trial):
    """After the vertices come the gains, and then the order is found."""
    trial.sequence.ordering = 1 - trial.sequence.by_gain
    trial.sequence.by_gain = 1
    trial.sorting.words.bits = bits_of(trial.sequence.top_gain)


@device
def exceeds(weight, b, blocks: Blocks, level: Level):
    """1 if block b is too heavy with this weight, else 0."""
    return int64(weight > blocks.limits[b] + level.slack)


@kernel
def lay_out_move(i, graph: Csr, run: Run, trial: Trial):
    """The weight and the blocks of a move take the places of the keys, for the walks."""
    v = run.moves.listed[i]
    trial.other_list[i] = v
    trial.keys[i] = value_or(graph.vertex_weights, v, 1)
    trial.other_keys[i] = (int64(run.moves.part[v]) << 32) | int64(run.moves.target[v])


@device
def change_by_move(i, first, blocks: Blocks, trial: Trial, level: Level):
    """By how much move i changes the number of blocks too heavy, after those from the first on."""
    here = trial.other_keys[i] >> 32
    there = trial.other_keys[i] & LOW_HALF
    left = trial.block_weight[here]
    reached = trial.block_weight[there]
    for other in range(first, i):
        source = trial.other_keys[other] >> 32
        target = trial.other_keys[other] & LOW_HALF
        size = trial.keys[other]
        left += (size if target == here else 0) - (size if source == here else 0)
        reached += (size if target == there else 0) - (size if source == there else 0)
    size = trial.keys[i]
    change = exceeds(left - size, here, blocks, level) - exceeds(left, here, blocks, level)
    change += exceeds(reached + size, there, blocks, level)
    return change - exceeds(reached, there, blocks, level)


@kernel
def walk_moves(_, run: Run, trial: Trial):
    """Find the longest prefix of moves after which no block is too heavy.  One team."""
    moves = run.level.moves
    heavy = int64(0)
    kept = int64(0)
    base = int64(0)
    while base < moves:
        i = base + lane()
        change = int64(0)
        if i < moves:
            change = change_by_move(i, base, run.blocks, trial, run.level)
        until = heavy + team_scan(change)
        if until == 0:
            kept = max(kept, min(i + 1, moves))
        heavy = team_last(until)
        team_sync()
        if i < moves:
            team_atomic_add(trial.block_weight, trial.other_keys[i] >> 32, -trial.keys[i])
            team_atomic_add(trial.block_weight, trial.other_keys[i] & LOW_HALF, trial.keys[i])
        team_sync()
        base += team_size()
    kept = team_max(kept)
    if lane() == 0:
        trial.sequence.kept = kept
        trial.sequence.made = kept


@kernel
def reset_trial(b, run: Run, trial: Trial):
    """Block b weighs what it does before any move."""
    trial.block_weight[b] = run.blocks.weight[b]


@kernel
def try_move(i, trial: Trial):
    """Add a move of the prefix to the weights of its blocks; atomic, order-free."""
    atomic_add(trial.block_weight, trial.other_keys[i] >> 32, -trial.keys[i])
    atomic_add(trial.block_weight, trial.other_keys[i] & LOW_HALF, trial.keys[i])


@device
def weight_offered(i, first, trial: Trial):
    """Weight that moves first ... i bring to the block that move i leads to."""
    there = trial.other_keys[i] & LOW_HALF
    total = trial.keys[i]
    for other in range(first, i):
        total += trial.keys[other] if (trial.other_keys[other] & LOW_HALF) == there else 0
    return total


@kernel
def fill_up_rooms(_, run: Run, trial: Trial):
    """Drop moves behind the prefix, but for those for which their block has room.  One team.

    There is room if the block can take all that is offered to it up to this move, leave who may.
    """
    base = trial.sequence.kept
    while base < run.level.moves:
        i = base + lane()
        if i < run.level.moves:
            there = trial.other_keys[i] & LOW_HALF
            weight = trial.block_weight[there] + weight_offered(i, base, trial)
            if trial.fill_rooms == 0 or exceeds(weight, there, run.blocks, run.level) != 0:
                run.moves.moved_in[trial.other_list[i]] = int32(NEVER)
        team_sync()
        if i < run.level.moves:
            team_atomic_add(trial.block_weight, trial.other_keys[i] & LOW_HALF, trial.keys[i])
        team_sync()
        base += team_size()


@kernel
def list_move(i, run: Run, trial: Trial):
    """List a move behind the prefix that was not dropped; the order of the list is free."""
    if i >= trial.sequence.kept:
        v = trial.other_list[i]
        if run.moves.moved_in[v] != NEVER:
            run.moves.listed[atomic_next(trial.sequence, Sequence.made)] = v


@kernel
def shorten_list(_, run: Run, trial: Trial):
    """The list holds the prefix and what was found room for."""
    run.level.moves = trial.sequence.made
