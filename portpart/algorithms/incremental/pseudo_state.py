"""What is kept of vertices that are in no block for a while: in a pseudo block, the last one."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import Figures, RefinementSizes, Run
from portpart.algorithms.refinement.blocks import Blocks, first_of_most, free_capacity
from portpart.algorithms.refinement.moves import Moves, sum_copies
from portpart.algorithms.refinement.prefix import MoveSequence, PrefixWords
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives import sort_arrays

PASSES = 2
"""Active vertices leave their blocks, then neighbours of these."""

LOWEST = -(2**63)

WAITS = -3
"""What `Moves.locked_in` holds of vertices in the pseudo block where their blocks do not show it.
"""


class PseudoWords(kl.Words):
    """Counts and flags of a run with a pseudo block.

    Attributes
    ----------
    members : int
        Vertices that have left their blocks, or are new.
    settled : int
        Those of them that had left before this pass.
    passes : int
        Passes in which vertices may leave that are still to come.
    asked, leaving, telling : int
        Vertices that are asked whether they leave; that do; whose neighbours are asked next.
    waiting, next_waiting, begin : int
        Vertices that are in no block, and will be after this round; where their list begins, of
        two, the other one is filled.
    most_capacity : int
        The block with most room, of equal ones the first.
    relaxed : int
        Whether vertices that fit nowhere take the roomiest block all the same.
    rounds : int
        Rounds so far.
    kept : int
        Length of the balanced prefix.
    worst : int
        What is the most that a move costs, or a number that scores are made positive with.
    overloaded : int
        Whether a block is too heavy in the end.
    running : int
    """

    members: int
    settled: int
    passes: int
    asked: int
    leaving: int
    telling: int
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
    """The vertices of a pseudo block, and sequences of moves out of it that are tried out.

    Attributes
    ----------
    words : PseudoWords
    members : array of int32
        All that have been in it, in any order.
    """

    words: PseudoWords  # type: ignore[misc]  # what has to be given comes first
    members: Array = kl.work(np.int32, lambda size: size.vertices)


def pseudo_for(space: ExecutionSpace, sizes: RefinementSizes, run: Run) -> Pseudo:
    """Allocate what a run needs; a list of rebalancing is free before."""
    return Pseudo.allocate(
        space, sizes, other_list=run.rebalancing.listed,
        prefix=PrefixWords(space.zeros(len(PrefixWords.indices), np.int64)),
        words=PseudoWords(space.zeros(len(PseudoWords.indices), np.int64)),
        sorting=sort_arrays(space, sizes.vertices), zero_gain=0, apply_later_moves=0,
        limits=run.blocks.limits)


@kl.device
def find_most_capacity(blocks: Blocks, figures: Figures, words: PseudoWords):
    """Find the block with most room, of equal ones the first.  All lanes of a team together."""
    first = first_of_most(blocks, figures, free_capacity)
    if kl.lane() == 0:
        words.most_capacity = first
    return first


@kl.device
def weigh_blocks(moves: Moves, blocks: Blocks, figures: Figures):
    """Sum up the weights of all blocks.  All lanes of a team together."""
    return sum_copies(moves.weight_sums, blocks.weight, moves, figures)
