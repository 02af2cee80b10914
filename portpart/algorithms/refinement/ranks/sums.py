"""Sums over ranks: weights and cost for an evaluation, and the buckets of rebalancing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

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
    When,
    bucket_for,
    list_others,
    put_behind,
    set_threshold,
)
from portpart.backends import language as kl
from portpart.backends.programs import Records
from portpart.primitives import MailLayout, Owners, record_prefix


@kl.kernel
def clear_block_if_other(b, moves: Moves, owners: Owners, figures: Figures):
    """Set the restored weight of block b to 0 on all ranks but rank 0."""
    if owners.rank != 0:
        set_weight(b, 0, moves, figures)


@kl.kernel
def clear_cost_if_other(stripe, moves: Moves, owners: Owners):
    """Set the restored cost to 0 on all ranks but rank 0."""
    if owners.rank != 0:
        set_cost(stripe, 0, moves)


@kl.kernel
def write_sums(_, moves: Moves, cache: gains.GainCache, active: gains.ActiveSets, figures: Figures,
               totals: RankTotals):
    """Write this rank's share of weights, cost and lengths of lists.  Called by one team."""
    sum_copies(moves.weight_sums, totals.weights, moves, figures)
    twice = twice_the_cost(moves)
    if kl.lane() == 0:
        totals.costs[0] = twice
        totals.lengths[gains.MOVABLE] = active.next_movable
        totals.lengths[gains.MARKED] = cache.marked
        totals.lengths[gains.LISTED] = active.on_boundary
        totals.lengths[gains.KEPT] = active.kept


class SumSteps(Piece):
    """Sums over all ranks of weights, cost and lengths of lists."""

    def begin(self, this: Recording) -> None:
        """Keep restored sums on one rank only, since they are added up."""
        level = this.run.level
        this.program.launch(level.restored_blocks, clear_block_if_other)
        this.program.launch(level.restored_stripes, clear_cost_if_other)

    def add_up(self, this: Recording) -> Records:
        """Add up the sums over the ranks once for an evaluation."""
        program, totals = this.program, this.program.records["totals"]
        assert isinstance(totals, RankTotals)
        program.launch(1, write_sums, team=256)
        program.all_reduce(totals.words, 0, totals.num_words)
        return {"moves": this.run.moves.replaced(weight_sums=totals.weights,
                                                 cost_sums=totals.costs)}


@kl.kernel
def copy_buckets(b, rebalancing: Rebalancing, totals: RankTotals):
    """Copy the buckets of block b of this rank.  Called by one team."""
    for bucket in range(b * BUCKETS + kl.lane(), (b + 1) * BUCKETS, kl.team_size()):
        totals.buckets[bucket] = rebalancing.bucket_weight[bucket]


@kl.kernel
def copy_sub_buckets(b, blocks: Blocks, rebalancing: Rebalancing, figures: Figures,
                     totals: RankTotals):
    """Copy the sub-buckets of the last bucket that leaves block b.  Called by one team."""
    bucket = bucket_for(b, totals.buckets, blocks, figures)
    count = rebalancing.sub_buckets
    for j in range(kl.lane(), count, kl.team_size()):
        totals.sub_buckets[b * count + j] = rebalancing.slot_weight[
            (b * BUCKETS + bucket) * count + j]


@kl.kernel
def place_sub_buckets(b, blocks: Blocks, rebalancing: Rebalancing, figures: Figures,
                      totals: RankTotals):
    """Store the summed sub-buckets of that bucket of block b as slots.  Called by one team."""
    bucket = bucket_for(b, totals.buckets, blocks, figures)
    count = rebalancing.sub_buckets
    for j in range(kl.lane(), count, kl.team_size()):
        totals.slots[(b * BUCKETS + bucket) * count + j] = totals.sub_buckets[b * count + j]


@kl.kernel
def write_tail(_, rebalancing: Rebalancing, totals: RankTotals):
    """before[0] = the weight that leaves this rank.  One item."""
    totals.before[0] = rebalancing.tile_sums[rebalancing.tiles - 1]


@kl.kernel
def move_tile(tile, rebalancing: Rebalancing, totals: RankTotals):
    """Shift a tile by the weight that leaves the ranks before this one."""
    put_behind(tile, totals.before[0], rebalancing)


@dataclass(frozen=True)
class RankRebalancingSteps(RebalancingSteps):
    """Rebalancing with thresholds and rows of all ranks together.

    Attributes
    ----------
    layout : MailLayout or None
        Layout of messages to the ranks that handle the ids of leaving vertices, if vertices have
        moved.
    """

    layout: MailLayout | None = None

    def _rate_others(self, this: Recording) -> None:
        """Rate the rest of the boundary if the movable vertices are not enough.

        Sums are made in any case, so that the host need not know; if they are enough, nothing uses
        these sums.
        """
        when = partial(this.program.if_nonzero, this.run.level.short)
        with when(), this.program.side_by_side():
            list_others(this)
        self._rate(this, when)

    def _set_thresholds(self, this: Recording, when: When) -> None:
        """Record one sum for buckets, and one for the sub-buckets of one bucket per block."""
        program, level, own = this.program, this.run.level, this.run.rebalancing
        totals = program.records["totals"]
        assert isinstance(totals, RankTotals)
        with when():
            program.launch(level.blocks, copy_buckets, team=THRESHOLD_TEAM)
        program.all_reduce(totals.buckets, 0, totals.num_buckets)
        with when():
            program.launch(level.blocks, copy_sub_buckets, team=THRESHOLD_TEAM)
        program.all_reduce(totals.sub_buckets, 0, totals.num_sub_buckets)
        with when():
            program.launch(level.blocks, place_sub_buckets, team=THRESHOLD_TEAM)
            program.launch(level.blocks, set_threshold, team=THRESHOLD_TEAM,
                           rebalancing=own.replaced(bucket_weight=totals.buckets,
                                                    slot_weight=totals.slots))

    def _leave_strongly(self, this: Recording) -> None:
        """Record how vertices leave in the order of one device."""
        if self.layout is None:
            super()._leave_strongly(this)
        else:
            record_line(this, self.layout, self.rule)

    def _place(self, this: Recording) -> None:
        """Shift the tiles of this rank by the weight that leaves the ranks before it."""
        program, totals = this.program, this.program.records["totals"]
        assert isinstance(totals, RankTotals)
        program.launch(1, write_tail)
        record_prefix(program, totals.before[0], totals.shares, totals.before)
        program.launch(this.run.level.tiles, move_tile)
