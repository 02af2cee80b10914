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

import numpy as np

from portpart.algorithms.refinement import state as at
from portpart.backends.language import (
    Kernel,
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
from portpart.primitives import recorded_sort as sort
from portpart.primitives.recorded_sort import SortSlots, declare_sort, record_sort

WIDEST = 256
NEVER = -2
LOW_HALF = 2**32 - 1


TOO_HEAVY, TOP_GAIN, ORDERING, BY_GAIN, KEPT, MADE = range(6)
"""Words of the array ``sequence``: whether all moves together are too many, their largest gain,
whether and by what they are being sorted, the length of the prefix, and how many are made."""

NUM_WORDS = 6

SORT_KEYS, SORT_BITS = sort.KEYS, sort.BITS


def declare_prefix(program: Program) -> None:
    """Slots of `program` for the sequence of moves and what it is sorted with."""
    declare_sort(program)
    for name in ("move_keys", "other_keys", "trial_sums", "trial_weight", "sequence", "move_gain"):
        program.array(name, np.int64)
    program.array("other_list", np.int32)
    program.scalar("fill_rooms", np.int64)


def record_prefix(program: Program) -> None:
    """Record how the list of moves is cut down to its longest balanced prefix.

    When this part starts, ``move_list`` holds ``state[MOVES]`` moves in any order, each marked with
    the iteration in ``moved_in``, and ``trial_sums`` what they add to the blocks.
    """
    slot = program.slots
    state, sequence = slot["state"], slot["sequence"]
    program.launch(1, try_all, team=WIDEST)
    with program.if_nonzero(sequence[TOO_HEAVY]):
        record_order(program, fill_key, order_by_gain_next)
        program.launch(state[at.MOVES], lay_out_move)
        program.launch(1, walk_moves, team=WIDEST)
        program.launch(state[at.BLOCKS], reset_trial)
        program.launch(sequence[KEPT], try_move)
        program.launch(1, fill_up_rooms, team=WIDEST)
        program.launch(state[at.MOVES], list_move)
        program.launch(1, shorten_list)


def record_order(program: Program, fill: Kernel, order_next: Kernel) -> None:
    """Record how the list of moves is sorted by one key after the other, the last one decides.

    Parameters
    ----------
    fill, order_next : Kernel
        Fills in the keys; says by what to sort next, if there is more, and how many bits that has.
    """
    slot = program.slots
    with program.while_loop(slot["sequence"][ORDERING]):
        program.launch(slot["state"][at.MOVES], fill)
        record_sort(program, SortSlots(slot["move_keys"], slot["move_list"],
                                       slot["other_keys"], slot["other_list"]))
        program.launch(1, order_next)


@device
def bits_of(value):
    """Bits of a number that is not negative."""
    bits = int64(0)
    while bits < 63 and (value >> bits) != 0:
        bits += 1
    return bits


@kernel
def try_all(_, block_weight, limits, trial_sums, trial_weight, state, sequence, sorting):
    """Whether some block is too heavy after all moves; if so, sort by vertex first.  One team."""
    heavy = int64(0)
    for b in range(lane(), state[at.BLOCKS], team_size()):
        change = int64(0)
        for stripe in range(state[at.WEIGHT_STRIPES]):
            change += trial_sums[stripe * state[at.BLOCKS] + b]
            trial_sums[stripe * state[at.BLOCKS] + b] = 0
        trial_weight[b] = block_weight[b]
        if block_weight[b] + change > limits[b] + state[at.SLACK]:
            heavy = int64(1)
    heavy = team_max(heavy)
    if lane() == 0:
        sequence[TOO_HEAVY] = heavy
        sequence[ORDERING] = heavy
        sequence[BY_GAIN] = 0
        sorting[SORT_KEYS] = state[at.MOVES]
        sorting[SORT_BITS] = bits_of(state[at.VERTICES])


@kernel
def fill_key(i, move_list, move_gain, move_keys, sequence):
    """Key of a move: its vertex, or how much less it gains than the best one."""
    v = move_list[i]
    move_keys[i] = int64(v) if sequence[BY_GAIN] == 0 else sequence[TOP_GAIN] - move_gain[v]


@kernel
def order_by_gain_next(_, sequence, sorting):
    """After the vertices come the gains, and then the order is found."""
    sequence[ORDERING] = 1 - sequence[BY_GAIN]
    sequence[BY_GAIN] = 1
    sorting[SORT_BITS] = bits_of(sequence[TOP_GAIN])


@device
def exceeds(weight, b, limits, state):
    """1 if block b is too heavy with this weight, else 0."""
    return int64(weight > limits[b] + state[at.SLACK])


@kernel
def lay_out_move(i, move_list, other_list, vertex_weights, part, wish, move_keys, other_keys):
    """The weight and the blocks of a move take the places of the keys, for the walks."""
    v = move_list[i]
    other_list[i] = v
    move_keys[i] = value_or(vertex_weights, v, 1)
    other_keys[i] = (int64(part[v]) << 32) | int64(wish[v])


@device
def change_by_move(i, first, sizes, blocks, trial_weight, limits, state):
    """By how much move i changes the number of blocks too heavy, after those from the first on."""
    here = blocks[i] >> 32
    there = blocks[i] & LOW_HALF
    left = trial_weight[here]
    reached = trial_weight[there]
    for other in range(first, i):
        source = blocks[other] >> 32
        target = blocks[other] & LOW_HALF
        size = sizes[other]
        left += (size if target == here else 0) - (size if source == here else 0)
        reached += (size if target == there else 0) - (size if source == there else 0)
    size = sizes[i]
    change = exceeds(left - size, here, limits, state) - exceeds(left, here, limits, state)
    change += exceeds(reached + size, there, limits, state)
    return change - exceeds(reached, there, limits, state)


@kernel
def walk_moves(_, move_keys, other_keys, trial_weight, limits, state, sequence):
    """sequence[KEPT] = moves of the longest prefix after which no block is too heavy.  One team."""
    moves = state[at.MOVES]
    heavy = int64(0)
    kept = int64(0)
    base = int64(0)
    while base < moves:
        i = base + lane()
        change = int64(0)
        if i < moves:
            change = change_by_move(i, base, move_keys, other_keys, trial_weight, limits, state)
        until = heavy + team_scan(change)
        if until == 0:
            kept = max(kept, min(i + 1, moves))
        heavy = team_last(until)
        team_sync()
        if i < moves:
            team_atomic_add(trial_weight, other_keys[i] >> 32, -move_keys[i])
            team_atomic_add(trial_weight, other_keys[i] & LOW_HALF, move_keys[i])
        team_sync()
        base += team_size()
    kept = team_max(kept)
    if lane() == 0:
        sequence[KEPT] = kept
        sequence[MADE] = kept


@kernel
def reset_trial(b, block_weight, trial_weight):
    """Block b weighs what it does before any move."""
    trial_weight[b] = block_weight[b]


@kernel
def try_move(i, move_keys, other_keys, trial_weight):
    """Add a move of the prefix to the weights of its blocks; atomic, order-free."""
    atomic_add(trial_weight, other_keys[i] >> 32, -move_keys[i])
    atomic_add(trial_weight, other_keys[i] & LOW_HALF, move_keys[i])


@device
def weight_offered(i, first, sizes, blocks):
    """Weight that moves first ... i bring to the block that move i leads to."""
    there = blocks[i] & LOW_HALF
    total = sizes[i]
    for other in range(first, i):
        total += sizes[other] if (blocks[other] & LOW_HALF) == there else 0
    return total


@kernel
def fill_up_rooms(_, other_list, move_keys, other_keys, trial_weight, limits, moved_in, fill_rooms,
                  state, sequence):
    """Drop moves behind the prefix, but for those for which their block has room.  One team.

    There is room if the block can take all that is offered to it up to this move, leave who may.
    """
    base = sequence[KEPT]
    while base < state[at.MOVES]:
        i = base + lane()
        if i < state[at.MOVES]:
            there = other_keys[i] & LOW_HALF
            weight = trial_weight[there] + weight_offered(i, base, move_keys, other_keys)
            if fill_rooms == 0 or exceeds(weight, there, limits, state) != 0:
                moved_in[other_list[i]] = int32(NEVER)
        team_sync()
        if i < state[at.MOVES]:
            team_atomic_add(trial_weight, other_keys[i] & LOW_HALF, move_keys[i])
        team_sync()
        base += team_size()


@kernel
def list_move(i, other_list, move_list, moved_in, sequence):
    """List a move behind the prefix that was not dropped; the order of the list is free."""
    if i >= sequence[KEPT]:
        v = other_list[i]
        if moved_in[v] != NEVER:
            move_list[atomic_next(sequence, MADE)] = v


@kernel
def shorten_list(_, state, sequence):
    """The list holds the prefix and what was found room for."""
    state[at.MOVES] = sequence[MADE]
