"""Refinement without rebalancing: what is too heavy stays so, but gets no heavier.

The papers of G-kway and GP-metis make moves that keep the limits and say nothing of blocks that are
too heavy from the start.  Here such a block may weigh what it weighs at the moment, so it takes
nothing, and all other rules apply as they are: the rest of refinement finds every block within its
limit and never rebalances.
"""

from __future__ import annotations

from portpart.algorithms.refinement.blocks.block_weights import set_limit
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.level import Run
from portpart.algorithms.refinement.piece import Piece, Recording
from portpart.algorithms.refinement.prefix.best_prefix import MoveSequence
from portpart.backends import language as kl
from portpart.backends.interface import ExecutionSpace

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
