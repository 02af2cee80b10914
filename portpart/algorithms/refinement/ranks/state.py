"""Records of refinement over ranks: totals of all ranks, and values sent to ghosts."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import BUCKETS, RefinementSizes
from portpart.algorithms.refinement.gains import NUM_LENGTHS
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs.ranks import DistributedGraph
from portpart.primitives import STRIPES

NONE = -1


class RankTotals(kl.Record):
    """Sums over all ranks, which are equal on all of them.

    Attributes
    ----------
    weights, costs : array of int64
        Like `Moves.weight_sums` and `Moves.cost_sums`.
    lengths : array of int64
        Like `ActiveSets.lengths`.
    words : array of int64
        Values that are added up for an evaluation: these three, one after another.
    buckets, slots : array of int64
        Like `Rebalancing.bucket_weight` and `slot_weight`; slots of one bucket of each block only.
    sub_buckets : array of int64
        The sub-buckets of that bucket of each block, side by side.
    shares : array of int64, shape (ranks,)
        A number of each rank.
    before : array of int64, shape (2,)
        Sum of `shares` over the ranks before this one, and over all ranks.
    num_words, num_buckets, num_sub_buckets : int
        Lengths of the arrays that are added up.
    """

    weights: Array
    costs: Array
    lengths: Array
    shares: Array
    words: Array = kl.work(np.int64, lambda size: _costs_end(size) + NUM_LENGTHS, zeros=True)
    buckets: Array = kl.work(np.int64, lambda size: size.blocks * BUCKETS, zeros=True)
    slots: Array = kl.work(
        np.int64, lambda size: size.blocks * BUCKETS * size.sub_buckets, zeros=True)
    sub_buckets: Array = kl.work(np.int64, lambda size: size.blocks * size.sub_buckets, zeros=True)
    before: Array = kl.work(np.int64, lambda size: 2, zeros=True)
    num_words: int = kl.word()
    num_buckets: int = kl.word()
    num_sub_buckets: int = kl.word()

    def for_level(self, num_blocks: int, sub_buckets: int) -> RankTotals:
        """Return the totals for a level with this many sub-buckets in each bucket."""
        return self.with_words(num_words=len(self.words), num_buckets=len(self.buckets),
                               num_sub_buckets=num_blocks * sub_buckets)


def totals_for(space: ExecutionSpace, sizes: RefinementSizes, ranks: int) -> RankTotals:
    """Allocate the totals."""
    words = space.zeros(_costs_end(sizes) + NUM_LENGTHS, np.int64)
    weights, costs = _weights_end(sizes), _costs_end(sizes)
    return RankTotals.allocate(
        space, sizes, words=words, weights=words[:weights], costs=words[weights:costs],
        lengths=words[costs:], shares=space.zeros(ranks, np.int64))


def _weights_end(sizes: RefinementSizes) -> int:
    """Return where the words of weights end, among the words that are added up."""
    return sizes.blocks * sizes.stripes


def _costs_end(sizes: RefinementSizes) -> int:
    """Return where the words of cost end."""
    return _weights_end(sizes) + STRIPES


class Sent(kl.Record):
    """Values that ranks have sent for own vertices that are ghosts on other ranks.

    Attributes
    ----------
    target : array of int32, shape (entries of the halo,)
        The best target of a vertex, at its first entry.
    gain : array of int64, shape (entries of the halo,)
        The gain of that vertex.
    num_ghosts, num_entries : int
        Number of ghosts of this rank, and of entries of the halo.
    """

    target: Array
    gain: Array
    num_ghosts: int = kl.word()
    num_entries: int = kl.word()


class Changed(kl.Record):
    """Own vertices with changes to send.

    Attributes
    ----------
    listed : array of int32, shape (entries of the halo,)
    count : int
    """

    listed: Array
    count: int = kl.word()


def sent_for(graph: DistributedGraph) -> tuple[Sent, Changed]:
    """Return the records for a graph, before anything is sent."""
    space, entries = graph.space, len(graph.halo.ranks)
    sent = Sent(space.empty(entries, np.int32), space.empty(entries, np.int64))
    return (sent.with_words(num_ghosts=graph.num_ghosts, num_entries=entries),
            Changed(space.empty(entries, np.int32)))
