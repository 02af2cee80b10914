"""Weights of blocks, of which there are copies: moves at the same time are added to different ones.

The fewer blocks, the more copies.  One lane for all copies of a block would wait for memory a few
of them at a time: with two blocks that took ten microseconds on a GPU, in each iteration.
"""

from __future__ import annotations

from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl
from portpart.primitives.reduce import STRIPES

MANY_COPIES = 64
"""From this many copies on all lanes share those of one block after the other."""

AT_ONCE = 8
"""A lane loads this many copies before it waits."""


@kl.device
def copy_for(v, moves: Moves, figures: Figures):
    """Where the copy begins that v is added to."""
    return kl.int64(v) % moves.weight_stripes * figures.blocks


@kl.device
def sum_at_once(b, first, sums, moves: Moves, figures: Figures):
    """The sum of a few copies of block b, from the first on."""
    total = kl.int64(0)
    for copy in range(first, first + AT_ONCE):
        if copy < moves.weight_stripes:
            total += sums[copy * figures.blocks + b]
    return total


@kl.device
def sum_copies(sums, weights, moves: Moves, figures: Figures):
    """Write the sum of the copies of each block b to weights[b].  All lanes of a team together."""
    if moves.weight_stripes >= MANY_COPIES:
        for b in range(figures.blocks):
            total = kl.int64(0)
            for copy in range(kl.lane(), moves.weight_stripes, kl.team_size()):
                total += sums[copy * figures.blocks + b]
            total = kl.team_sum(total)
            if kl.lane() == 0:
                weights[b] = total
    else:
        for b in range(kl.lane(), figures.blocks, kl.team_size()):
            total = kl.int64(0)
            for first in range(0, moves.weight_stripes, AT_ONCE):
                total += sum_at_once(b, first, sums, moves, figures)
            weights[b] = total
    kl.team_sync()
    return figures.blocks


@kl.device
def twice_the_cost(moves: Moves):
    """The sum of the words that add up to twice the cost.  All lanes of a team together."""
    twice = kl.int64(0)
    for stripe in range(kl.lane(), STRIPES, kl.team_size()):
        twice += moves.cost_sums[stripe]
    return kl.team_sum(twice)
