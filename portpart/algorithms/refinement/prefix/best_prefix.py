"""The longest balanced prefix of moves in the order of their gains (G-kway, 3.2.2 and 3.2.3).

If all blocks are within their limits after all moves, all moves are made, and nothing is sorted.
Otherwise the moves are sorted by decreasing gain, then by vertex, and one team processes them in
this order.  It processes as many moves at a time as it has lanes (the paper: one segment of up to
1024 moves for each block).  From the moves of the lanes before it, a lane computes the weights of
its two blocks before and after its move, and so the change of the number of overloaded blocks.  A
prefix is balanced if that number is zero after it.  This takes one word per block, whatever the
number of moves.

Beyond the paper, moves behind the prefix are also made if their target has free capacity; each
block accepts its best ones.  So one full block does not delay the others.
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

    Before, the list holds ``level.moves`` moves in any order, each marked with the iteration in
    ``moved_in``, and ``sequence.weight_sums`` the weights that they add to the blocks.
    """
    this.program.launch(1, apply_all, team=WIDEST)
    with this.program.if_nonzero(sequence_of(this).prefix.too_heavy):
        record_order(this, fill_key, order_by_gain_next)
        record_cut(this, by_sum=False)


def record_cut(this: Recording, by_sum: bool) -> None:
    """Record how sorted moves are cut down to a prefix, and which moves behind it are made.

    The prefix is the longest balanced one or, `by_sum`, the balanced one with the largest total
    gain.
    """
    program, level = this.program, this.run.level
    program.launch(level.moves, lay_out_move)
    program.launch(1, walk_moves, team=WIDEST, by_sum=by_sum)
    program.launch(level.blocks, reset_weight)
    program.launch(sequence_of(this).prefix.kept, apply_kept_move)
    program.launch(1, apply_behind_prefix, team=WIDEST, by_sum=by_sum)
    program.launch(level.moves, list_move)
    program.launch(1, shorten_list)


@kl.kernel
def apply_all(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: MoveSequence):
    """Store whether some block is overloaded after all moves; if so, request sorting.

    Called by one team.
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
    """Return 1 if block b is overloaded with this weight, else 0."""
    return kl.int64(weight > blocks.limits[b] + figures.slack)


@kl.kernel
def lay_out_move(i, graph: Csr, moves: Moves, sequence: MoveSequence):
    """Store the weight and the blocks of move i in the arrays of the keys, for `walk_moves`."""
    v = moves.listed[i]
    sequence.other_list[i] = v
    sequence.keys[i] = kl.value_or(graph.vertex_weights, v, 1)
    sequence.other_keys[i] = (kl.int64(moves.part[v]) << 32) | kl.int64(moves.target[v])


@kl.device
def change_by_move(i, first, blocks: Blocks, figures: Figures, sequence: MoveSequence):
    """Return the change of the number of overloaded blocks by move i.

    It follows moves first ... i - 1, which are not in `block_weight` yet.
    """
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
    """Find the best prefix of moves after which no block is overloaded.  Called by one team.

    Of equally good prefixes it is the longest; without any gain it is empty.
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
def reset_weight(b, blocks: Blocks, sequence: MoveSequence):
    """Set the weight of block b to that before any move."""
    sequence.block_weight[b] = blocks.weight[b]


@kl.kernel
def apply_kept_move(i, sequence: MoveSequence):
    """Add move i of the prefix to the weights of its blocks.  Atomic, independent of order."""
    kl.atomic_add(sequence.block_weight, sequence.other_keys[i] >> 32, -sequence.keys[i])
    kl.atomic_add(sequence.block_weight, sequence.other_keys[i] & LOW_HALF, sequence.keys[i])


@kl.device
def weight_offered(i, first, sequence: MoveSequence):
    """Return the weight that moves first ... i bring to the target block of move i."""
    there = sequence.other_keys[i] & LOW_HALF
    total = sequence.keys[i]
    for other in range(first, i):
        total += sequence.keys[other] if (sequence.other_keys[other] & LOW_HALF) == there else 0
    return total


@kl.kernel
def apply_behind_prefix(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: MoveSequence,
                        by_sum: kl.StaticValue):
    """Drop moves behind the prefix, except moves that fit into their target.  Called by one team.

    A move fits if its target has capacity for all moves to it up to this one, without departures.
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
    """List move i if it is behind the prefix and not dropped.  The order is arbitrary."""
    if i >= sequence.prefix.kept:
        v = sequence.other_list[i]
        if moves.moved_in[v] != NEVER:
            list_at(kl.atomic_next(sequence.prefix, PrefixWords.made), v, moves)


@kl.kernel
def shorten_list(_, moves: Moves, sequence: MoveSequence):
    """Shorten the list to the moves that are made."""
    keep_moves(sequence.prefix.made, moves)


# Refinement without rebalancing: overloaded blocks stay so, but get no heavier -----------------
#
# The papers of G-kway and GP-metis make moves that keep the limits, and do not mention blocks that
# are overloaded from the start.  Here the limit of such a block is its current weight, so it
# accepts nothing, and all other rules apply unchanged: the rest of refinement finds every block
# within its limit and never rebalances.


NO_LIMIT = 2**62


class RelaxedLimits(Piece):
    """Limits that change from round to round, instead of rebalancing."""

    def adapted(self, space: ExecutionSpace, run: Run) -> Run:
        """Return the work arrays with a copy of the limits, which may be changed."""
        return run.replaced(blocks=run.blocks.replaced(limits=space.copy(run.blocks.limits)))

    def begin(self, this: Recording) -> None:
        """Drop all limits, so that the partition of a level counts as balanced at the start."""
        this.program.launch(this.run.level.blocks, drop_limit)

    def move(self, this: Recording) -> None:
        """Set limits so that no block gets heavier than its limit or its current weight."""
        this.program.launch(this.run.level.blocks, relax_limit)


def relaxed_limits(rebalance: bool) -> tuple[Piece, ...]:
    """Return the piece with relaxed limits, unless blocks are rebalanced."""
    return () if rebalance else (RelaxedLimits(),)


@kl.kernel
def drop_limit(b, blocks: Blocks):
    """Remove the limit of block b."""
    set_limit(b, kl.int64(NO_LIMIT), blocks)


@kl.kernel
def relax_limit(b, blocks: Blocks, sequence: MoveSequence):
    """Set the limit of block b to its own limit, or to its current weight if that is larger."""
    set_limit(b, max(sequence.limits[b], blocks.weight[b]), blocks)
