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

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.moves.list_moves import NEVER, keep_moves, list_at, revoke_move
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.moves.weight_copies import sum_copies
from portpart.algorithms.refinement.piece import Recording
from portpart.algorithms.refinement.prefix.trial import (
    Sequence,
    Trial,
    fill_key,
    order_by_gain_next,
    order_by_vertex,
    record_order,
    trial_of,
)
from portpart.backends import language as kl
from portpart.backends.language import StaticValue
from portpart.graphs.rows import Csr

WIDEST = 256
LOW_HALF = 2**32 - 1


def record_prefix(this: Recording) -> None:
    """Record how the list of moves is cut down to its longest balanced prefix.

    When this part starts, the list holds ``level.moves`` moves in any order, each marked with
    the iteration in ``moved_in``, and ``trial.weight_sums`` what they add to the blocks.
    """
    this.program.launch(1, try_all, team=WIDEST)
    with this.program.if_nonzero(trial_of(this).sequence.too_heavy):
        record_order(this, fill_key, order_by_gain_next)
        record_cut(this, by_sum=False)


def record_cut(this: Recording, by_sum: bool) -> None:
    """Record how sorted moves are cut down to a prefix, and what is made behind it.

    The prefix is the longest balanced one or, `by_sum`, of these the one that gains most.
    """
    program, level = this.program, this.run.level
    program.launch(level.moves, lay_out_move)
    program.launch(1, walk_moves, team=WIDEST, by_sum=by_sum)
    program.launch(level.blocks, reset_trial)
    program.launch(trial_of(this).sequence.kept, try_move)
    program.launch(1, fill_up_rooms, team=WIDEST, by_sum=by_sum)
    program.launch(level.moves, list_move)
    program.launch(1, shorten_list)


@kl.kernel
def try_all(_, moves: Moves, blocks: Blocks, figures: Figures, trial: Trial):
    """Whether some block is too heavy after all moves; if so, sort by vertex first.  One team."""
    sum_copies(trial.weight_sums, trial.block_weight, moves, figures)
    for place in range(kl.lane(), moves.weight_stripes * figures.blocks, kl.team_size()):
        trial.weight_sums[place] = 0
    heavy = kl.int64(0)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        change = trial.block_weight[b]
        trial.block_weight[b] = blocks.weight[b]
        if blocks.weight[b] + change > blocks.limits[b] + figures.slack:
            heavy = kl.int64(1)
    heavy = kl.team_max(heavy)
    if kl.lane() == 0:
        trial.sequence.too_heavy = heavy
        order_by_vertex(heavy, moves, figures, trial)


@kl.device
def exceeds(weight, b, blocks: Blocks, figures: Figures):
    """1 if block b is too heavy with this weight, else 0."""
    return kl.int64(weight > blocks.limits[b] + figures.slack)


@kl.kernel
def lay_out_move(i, graph: Csr, moves: Moves, trial: Trial):
    """The weight and the blocks of a move take the places of the keys, for the walks."""
    v = moves.listed[i]
    trial.other_list[i] = v
    trial.keys[i] = kl.value_or(graph.vertex_weights, v, 1)
    trial.other_keys[i] = (kl.int64(moves.part[v]) << 32) | kl.int64(moves.target[v])


@kl.device
def change_by_move(i, first, blocks: Blocks, figures: Figures, trial: Trial):
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
    change = exceeds(left - size, here, blocks, figures) - exceeds(left, here, blocks, figures)
    change += exceeds(reached + size, there, blocks, figures)
    return change - exceeds(reached, there, blocks, figures)


@kl.kernel
def walk_moves(_, moves: Moves, blocks: Blocks, figures: Figures, trial: Trial,
               by_sum: StaticValue):
    """Find the best prefix of moves after which no block is too heavy.  One team.

    Of those that gain most it is the longest; without any gain there is none.
    """
    count = moves.moves
    heavy = kl.int64(0)
    gained = kl.int64(0)
    most = kl.int64(0)
    kept = kl.int64(0)
    base = kl.int64(0)
    while base < count:
        i = base + kl.lane()
        change = kl.int64(0)
        gain = gained
        if i < count:
            change = change_by_move(i, base, blocks, figures, trial)
        until = heavy + kl.team_scan(change)
        if by_sum:
            own = kl.int64(0)
            if i < count:
                own = trial.gain[trial.other_list[i]]
            gain += kl.team_scan(own)
            gained = kl.team_last(gain)
        if until == 0 and gain >= most:
            kept = min(i + 1, count)
            most = gain
        heavy = kl.team_last(until)
        kl.team_sync()
        if i < count:
            kl.team_atomic_add(trial.block_weight, trial.other_keys[i] >> 32, -trial.keys[i])
            kl.team_atomic_add(trial.block_weight, trial.other_keys[i] & LOW_HALF, trial.keys[i])
        kl.team_sync()
        base += kl.team_size()
    if by_sum:
        top = kl.team_max(most)
        kept = kept if most == top and top > 0 else kl.int64(0)
    kept = kl.team_max(kept)
    if kl.lane() == 0:
        trial.sequence.kept = kept
        trial.sequence.made = kept


@kl.kernel
def reset_trial(b, blocks: Blocks, trial: Trial):
    """Block b weighs what it does before any move."""
    trial.block_weight[b] = blocks.weight[b]


@kl.kernel
def try_move(i, trial: Trial):
    """Add a move of the prefix to the weights of its blocks; atomic, order-free."""
    kl.atomic_add(trial.block_weight, trial.other_keys[i] >> 32, -trial.keys[i])
    kl.atomic_add(trial.block_weight, trial.other_keys[i] & LOW_HALF, trial.keys[i])


@kl.device
def weight_offered(i, first, trial: Trial):
    """Weight that moves first ... i bring to the block that move i leads to."""
    there = trial.other_keys[i] & LOW_HALF
    total = trial.keys[i]
    for other in range(first, i):
        total += trial.keys[other] if (trial.other_keys[other] & LOW_HALF) == there else 0
    return total


@kl.kernel
def fill_up_rooms(_, moves: Moves, blocks: Blocks, figures: Figures, trial: Trial,
                  by_sum: StaticValue):
    """Drop moves behind the prefix, but for those for which their block has room.  One team.

    There is room if the block can take all that is offered to it up to this move, leave who
    may.
    """
    base = trial.sequence.kept
    while base < moves.moves:
        i = base + kl.lane()
        if i < moves.moves:
            there = trial.other_keys[i] & LOW_HALF
            weight = trial.block_weight[there] + weight_offered(i, base, trial)
            drops = trial.fill_rooms == 0
            if by_sum:
                drops = drops or trial.gain[trial.other_list[i]] <= 0
            if drops or exceeds(weight, there, blocks, figures) != 0:
                revoke_move(trial.other_list[i], moves)
        kl.team_sync()
        if i < moves.moves:
            kl.team_atomic_add(trial.block_weight, trial.other_keys[i] & LOW_HALF, trial.keys[i])
        kl.team_sync()
        base += kl.team_size()


@kl.kernel
def list_move(i, moves: Moves, trial: Trial):
    """List a move behind the prefix that was not dropped; the order of the list is free."""
    if i >= trial.sequence.kept:
        v = trial.other_list[i]
        if moves.moved_in[v] != NEVER:
            list_at(kl.atomic_next(trial.sequence, Sequence.made), v, moves)


@kl.kernel
def shorten_list(_, moves: Moves, trial: Trial):
    """The list holds the prefix and what was found room for."""
    keep_moves(trial.sequence.made, moves)
