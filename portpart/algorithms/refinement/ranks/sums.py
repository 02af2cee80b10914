"""Sums over ranks: weights and cost for an evaluation, and the buckets of rebalancing."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.refinement import BUCKETS, Figures, Piece, Recording, gains
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.moves import (
    Moves,
    set_cost,
    set_weight,
    sum_copies,
    twice_the_cost,
)
from portpart.algorithms.refinement.ranks.line import record_line
from portpart.algorithms.refinement.ranks.state import RankTotals
from portpart.algorithms.refinement.rebalancing import (
    THRESHOLD_TEAM,
    Rebalancing,
    RebalancingSteps,
    bucket_for,
    put_behind,
    set_threshold,
)
from portpart.backends import language as kl
from portpart.backends.programs import Records
from portpart.primitives import MailLayout, Owners, record_prefix


@kl.kernel
def forget_block(b, moves: Moves, owners: Owners, figures: Figures):
    """Rank 0 alone has the weight of the best partition in its sums."""
    if owners.rank != 0:
        set_weight(b, 0, moves, figures)


@kl.kernel
def forget_cost(stripe, moves: Moves, owners: Owners):
    """Rank 0 alone has the cost of the best partition in its sums."""
    if owners.rank != 0:
        set_cost(stripe, 0, moves)


@kl.kernel
def write_sums(_, moves: Moves, cache: gains.GainCache, active: gains.ActiveSets, figures: Figures,
               totals: RankTotals):
    """Write what this rank adds to weights, cost and lengths of lists.  Called by one team."""
    sum_copies(moves.weight_sums, totals.weights, moves, figures)
    twice = twice_the_cost(moves)
    if kl.lane() == 0:
        totals.costs[0] = twice
        totals.lengths[gains.MOVABLE] = active.next_movable
        totals.lengths[gains.MARKED] = cache.marked
        totals.lengths[gains.LISTED] = active.on_boundary
        totals.lengths[gains.KEPT] = active.kept


class SumSteps(Piece):
    """Weights, cost, and lengths of lists are those of all ranks together."""

    def begin(self, this: Recording) -> None:
        """What all ranks have restored counts once."""
        level = this.run.level
        this.program.launch(level.restored_blocks, forget_block)
        this.program.launch(level.restored_stripes, forget_cost)

    def add_up(self, this: Recording) -> Records:
        """One sum over the ranks for an evaluation."""
        program, totals = this.program, this.program.records["totals"]
        assert isinstance(totals, RankTotals)
        program.launch(1, write_sums, team=256)
        program.all_reduce(totals.words, 0, totals.num_words)
        return {"moves": this.run.moves.replaced(weight_sums=totals.weights,
                                                 cost_sums=totals.costs)}


@kl.kernel
def copy_buckets(b, rebalancing: Rebalancing, totals: RankTotals):
    """What this rank has in the buckets of block b.  A team."""
    for bucket in range(b * BUCKETS + kl.lane(), (b + 1) * BUCKETS, kl.team_size()):
        totals.buckets[bucket] = rebalancing.bucket_weight[bucket]


@kl.kernel
def copy_sub_buckets(b, blocks: Blocks, rebalancing: Rebalancing, figures: Figures,
                     totals: RankTotals):
    """What this rank has in the sub-buckets of block b that matter.  A team."""
    bucket = bucket_for(b, totals.buckets, blocks, figures)
    count = rebalancing.sub_buckets
    for j in range(kl.lane(), count, kl.team_size()):
        totals.sub_buckets[b * count + j] = rebalancing.slot_weight[
            (b * BUCKETS + bucket) * count + j]


@kl.kernel
def place_sub_buckets(b, blocks: Blocks, rebalancing: Rebalancing, figures: Figures,
                      totals: RankTotals):
    """Put the sub-buckets of block b that matter where all ranks look for them.  A team."""
    bucket = bucket_for(b, totals.buckets, blocks, figures)
    count = rebalancing.sub_buckets
    for j in range(kl.lane(), count, kl.team_size()):
        totals.slots[(b * BUCKETS + bucket) * count + j] = totals.sub_buckets[b * count + j]


@kl.kernel
def write_tail(_, rebalancing: Rebalancing, totals: RankTotals):
    """before[0] = what leaves this rank.  One item."""
    totals.before[0] = rebalancing.tile_sums[rebalancing.tiles - 1]


@kl.kernel
def move_tile(tile, rebalancing: Rebalancing, totals: RankTotals):
    """A tile begins behind what leaves the ranks before this one."""
    put_behind(tile, totals.before[0], rebalancing)


@dataclass(frozen=True)
class RankRebalancingSteps(RebalancingSteps):
    """Rebalancing whose thresholds and rows are those of all ranks together.

    Attributes
    ----------
    layout : MailLayout or None
        How leaving vertices travel to the ranks that handle their ids, where they have moved.
    """

    layout: MailLayout | None = None

    def _set_thresholds(self, this: Recording) -> None:
        """One sum for buckets, and one for the sub-buckets that matter, of one bucket a block."""
        program, level, own = this.program, this.run.level, this.run.rebalancing
        totals = program.records["totals"]
        assert isinstance(totals, RankTotals)
        program.launch(level.blocks, copy_buckets, team=THRESHOLD_TEAM)
        program.all_reduce(totals.buckets, 0, totals.num_buckets)
        program.launch(level.blocks, copy_sub_buckets, team=THRESHOLD_TEAM)
        program.all_reduce(totals.sub_buckets, 0, totals.num_sub_buckets)
        program.launch(level.blocks, place_sub_buckets, team=THRESHOLD_TEAM)
        program.launch(level.blocks, set_threshold, team=THRESHOLD_TEAM,
                       rebalancing=own.replaced(bucket_weight=totals.buckets,
                                                slot_weight=totals.slots))

    def _leave_strongly(self, this: Recording) -> None:
        """The line of all that leave is that of one device."""
        if self.layout is None:
            super()._leave_strongly(this)
        else:
            record_line(this, self.layout, self.rule)

    def _place(self, this: Recording) -> None:
        """What leaves this rank stands behind what leaves the ranks before it."""
        program, totals = this.program, this.program.records["totals"]
        assert isinstance(totals, RankTotals)
        program.launch(1, write_tail)
        record_prefix(program, totals.before[0], totals.shares, totals.before)
        program.launch(this.run.level.tiles, move_tile)
