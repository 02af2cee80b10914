"""Records of refinement over ranks: totals of all ranks, and what ghosts have been sent."""

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
    """Sums over all ranks, which are the same on each of them.

    Attributes
    ----------
    weights, costs : array of int64
        As `Moves.weight_sums` and `Moves.cost_sums`.
    lengths : array of int64
        As `ActiveSets.lengths`.
    words : array of int64
        What is added up for an evaluation: these three, one behind the other.
    buckets, slots : array of int64
        As `Rebalancing.bucket_weight` and `slot_weight`; of slots the ones that matter.
    sub_buckets : array of int64
        For each block those of its bucket that matters, side by side.
    shares : array of int64, shape (ranks,)
        A number of each rank.
    before : array of int64, shape (2,)
        Its sum over the ranks before this one, and over all.
    num_words, num_buckets, num_sub_buckets : int
        Lengths of what is added up.
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
        """The same where each bucket has this many sub-buckets."""
        return self.with_words(num_words=len(self.words), num_buckets=len(self.buckets),
                               num_sub_buckets=num_blocks * sub_buckets)


def totals_for(space: ExecutionSpace, sizes: RefinementSizes, ranks: int) -> RankTotals:
    """Allocate totals."""
    words = space.zeros(_costs_end(sizes) + NUM_LENGTHS, np.int64)
    weights, costs = _weights_end(sizes), _costs_end(sizes)
    return RankTotals.allocate(
        space, sizes, words=words, weights=words[:weights], costs=words[weights:costs],
        lengths=words[costs:], shares=space.zeros(ranks, np.int64))


def _weights_end(sizes: RefinementSizes) -> int:
    """Where the words of weights end, of the words that are added up for an evaluation."""
    return sizes.blocks * sizes.stripes


def _costs_end(sizes: RefinementSizes) -> int:
    """The same of the words of cost."""
    return _weights_end(sizes) + STRIPES


class Sent(kl.Record):
    """What ranks have sent each other of own vertices that are ghosts there.

    Attributes
    ----------
    target : array of int32, shape (entries of the halo,)
        The best target of a vertex, at its first entry,
    gain : array of int64, shape (entries of the halo,)
        and its gain.
    num_ghosts, num_entries : int
        Ghosts of this rank, and entries of the halo.
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
    """Nothing has been sent, and there is nothing to send."""
    space, entries = graph.space, len(graph.halo.ranks)
    sent = Sent(space.empty(entries, np.int32), space.empty(entries, np.int64))
    return (sent.with_words(num_ghosts=graph.num_ghosts, num_entries=entries),
            Changed(space.empty(entries, np.int32)))
