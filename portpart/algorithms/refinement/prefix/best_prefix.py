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

from portpart.algorithms.refinement import Figures, Piece, Recording, Run
from portpart.algorithms.refinement.blocks import Blocks, set_limit
from portpart.algorithms.refinement.moves import (
    NEVER,
    Moves,
    keep_moves,
    list_at,
    mark_moved,
    sum_copies,
)
from portpart.algorithms.refinement.prefix.move_sequence import (
    MoveSequence,
    PrefixWords,
    fill_key,
    order_by_gain_next,
    order_by_vertex,
    record_order,
    sequence_of,
)
from portpart.backends import language as kl
from portpart.backends.programs import ExecutionSpace
from portpart.graphs import Csr

WIDEST = 256
LOW_HALF = 2**32 - 1


def record_prefix(this: Recording) -> None:
    """Record how the list of moves is cut down to its longest balanced prefix.

    When this part starts, the list holds ``level.moves`` moves in any order, each marked with
    the iteration in ``moved_in``, and ``sequence.weight_sums`` what they add to the blocks.
    """
    this.program.launch(1, apply_all, team=WIDEST)
    with this.program.if_nonzero(sequence_of(this).prefix.too_heavy):
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
    program.launch(sequence_of(this).prefix.kept, apply_if_fits)
    program.launch(1, apply_behind_prefix, team=WIDEST, by_sum=by_sum)
    program.launch(level.moves, list_move)
    program.launch(1, shorten_list)


@kl.kernel
def apply_all(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: MoveSequence):
    """Whether some block is too heavy after all moves; if so, sort by vertex first.  Called by one
    team.
    """
    sum_copies(sequence.weight_sums, sequence.block_weight, moves, figures)
    for place in range(kl.lane(), moves.weight_stripes * figures.blocks, kl.team_size()):
        sequence.weight_sums[place] = 0
    heavy = kl.int64(0)
    for b in range(kl.lane(), figures.blocks, kl.team_size()):
        change = sequence.block_weight[b]
        sequence.block_weight[b] = blocks.weight[b]
        if blocks.weight[b] + change > blocks.limits[b] + figures.slack:
            heavy = kl.int64(1)
    heavy = kl.team_max(heavy)
    if kl.lane() == 0:
        sequence.prefix.too_heavy = heavy
        order_by_vertex(heavy, moves, figures, sequence)


@kl.device
def exceeds(weight, b, blocks: Blocks, figures: Figures):
    """1 if block b is too heavy with this weight, else 0."""
    return kl.int64(weight > blocks.limits[b] + figures.slack)


@kl.kernel
def lay_out_move(i, graph: Csr, moves: Moves, sequence: MoveSequence):
    """The weight and the blocks of a move take the places of the keys, for the walks."""
    v = moves.listed[i]
    sequence.other_list[i] = v
    sequence.keys[i] = kl.value_or(graph.vertex_weights, v, 1)
    sequence.other_keys[i] = (kl.int64(moves.part[v]) << 32) | kl.int64(moves.target[v])


@kl.device
def change_by_move(i, first, blocks: Blocks, figures: Figures, sequence: MoveSequence):
    """By how much move i changes the number of blocks too heavy, after those from the first on."""
    here = sequence.other_keys[i] >> 32
    there = sequence.other_keys[i] & LOW_HALF
    left = sequence.block_weight[here]
    reached = sequence.block_weight[there]
    for other in range(first, i):
        source = sequence.other_keys[other] >> 32
        target = sequence.other_keys[other] & LOW_HALF
        size = sequence.keys[other]
        left += (size if target == here else 0) - (size if source == here else 0)
        reached += (size if target == there else 0) - (size if source == there else 0)
    size = sequence.keys[i]
    change = exceeds(left - size, here, blocks, figures) - exceeds(left, here, blocks, figures)
    change += exceeds(reached + size, there, blocks, figures)
    return change - exceeds(reached, there, blocks, figures)


@kl.kernel
def walk_moves(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: MoveSequence,
               by_sum: kl.StaticValue):
    """Find the best prefix of moves after which no block is too heavy.  Called by one team.

    Of the best ones it is the longest; without any gain there is none.
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
            change = change_by_move(i, base, blocks, figures, sequence)
        until = heavy + kl.team_scan(change)
        if by_sum:
            own = kl.int64(0)
            if i < count:
                own = sequence.gain[sequence.other_list[i]]
            gain += kl.team_scan(own)
            gained = kl.team_last(gain)
        if until == 0 and gain >= most:
            kept = min(i + 1, count)
            most = gain
        heavy = kl.team_last(until)
        kl.team_sync()
        if i < count:
            kl.team_atomic_add(sequence.block_weight, sequence.other_keys[i] >> 32,
                               -sequence.keys[i])
            kl.team_atomic_add(sequence.block_weight, sequence.other_keys[i] & LOW_HALF,
                               sequence.keys[i])
        kl.team_sync()
        base += kl.team_size()
    if by_sum:
        top = kl.team_max(most)
        kept = kept if most == top and top > 0 else kl.int64(0)
    kept = kl.team_max(kept)
    if kl.lane() == 0:
        sequence.prefix.kept = kept
        sequence.prefix.made = kept


@kl.kernel
def reset_trial(b, blocks: Blocks, sequence: MoveSequence):
    """Block b weighs what it does before any move."""
    sequence.block_weight[b] = blocks.weight[b]


@kl.kernel
def apply_if_fits(i, sequence: MoveSequence):
    """Add a move of the prefix to the weights of its blocks; atomic, independent of order."""
    kl.atomic_add(sequence.block_weight, sequence.other_keys[i] >> 32, -sequence.keys[i])
    kl.atomic_add(sequence.block_weight, sequence.other_keys[i] & LOW_HALF, sequence.keys[i])


@kl.device
def weight_offered(i, first, sequence: MoveSequence):
    """Weight that moves first ... i bring to the block that move i leads to."""
    there = sequence.other_keys[i] & LOW_HALF
    total = sequence.keys[i]
    for other in range(first, i):
        total += sequence.keys[other] if (sequence.other_keys[other] & LOW_HALF) == there else 0
    return total


@kl.kernel
def apply_behind_prefix(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: MoveSequence,
                        by_sum: kl.StaticValue):
    """Drop moves behind the prefix, except moves that fit their block.  Called by one
    team.

    A move fits if the block can take all that is offered to it up to this move, without departures.
    """
    base = sequence.prefix.kept
    while base < moves.moves:
        i = base + kl.lane()
        if i < moves.moves:
            there = sequence.other_keys[i] & LOW_HALF
            weight = sequence.block_weight[there] + weight_offered(i, base, sequence)
            drops = sequence.apply_later_moves == 0
            if by_sum:
                drops = drops or sequence.gain[sequence.other_list[i]] <= 0
            if drops or exceeds(weight, there, blocks, figures) != 0:
                mark_moved(sequence.other_list[i], NEVER, moves)
        kl.team_sync()
        if i < moves.moves:
            kl.team_atomic_add(sequence.block_weight, sequence.other_keys[i] & LOW_HALF,
                               sequence.keys[i])
        kl.team_sync()
        base += kl.team_size()


@kl.kernel
def list_move(i, moves: Moves, sequence: MoveSequence):
    """List a move behind the prefix that was not dropped; the order of the list is free."""
    if i >= sequence.prefix.kept:
        v = sequence.other_list[i]
        if moves.moved_in[v] != NEVER:
            list_at(kl.atomic_next(sequence.prefix, PrefixWords.made), v, moves)


@kl.kernel
def shorten_list(_, moves: Moves, sequence: MoveSequence):
    """The list holds the prefix and what was found room for."""
    keep_moves(sequence.prefix.made, moves)


# Refinement without rebalancing: what is too heavy stays so, but gets no heavier ---------------
#
# The papers of G-kway and GP-metis make moves that keep the limits and say nothing of blocks that
# are
# too heavy from the start.  Here such a block may weigh what it weighs at the moment, so it takes
# nothing, and all other rules apply as they are: the rest of refinement finds every block within
# its
# limit and never rebalances.


NO_LIMIT = 2**62


class RelaxedLimits(Piece):
    """Limits that change from round to round, in place of rebalancing."""

    def adapted(self, space: ExecutionSpace, run: Run) -> Run:
        """The same work arrays, with limits that may be changed."""
        return run.replaced(blocks=run.blocks.replaced(limits=space.copy(run.blocks.limits)))

    def begin(self, this: Recording) -> None:
        """Whatever a level starts with counts as balanced."""
        this.program.launch(this.run.level.blocks, drop_limit)

    def move(self, this: Recording) -> None:
        """In this round no block may get heavier than its limit, or than it is."""
        this.program.launch(this.run.level.blocks, relax_limit)


def relaxed_limits(rebalance: bool) -> tuple[Piece, ...]:
    """Held limits, unless blocks are rebalanced."""
    return () if rebalance else (RelaxedLimits(),)


@kl.kernel
def drop_limit(b, blocks: Blocks):
    """Block b may weigh anything."""
    set_limit(b, kl.int64(NO_LIMIT), blocks)


@kl.kernel
def relax_limit(b, blocks: Blocks, sequence: MoveSequence):
    """Block b may weigh what it is meant to at most, or as much as now if that is more."""
    set_limit(b, max(sequence.limits[b], blocks.weight[b]), blocks)
