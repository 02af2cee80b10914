"""Records of refinement over ranks: totals of all ranks, and what ghosts have been told."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement.gains.active_sets import NUM_LENGTHS
from portpart.algorithms.refinement.sizes import BUCKETS, Sizes
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.graphs.distributed import DistributedGraph
from portpart.primitives.reduce import STRIPES

NONE = -1


class Totals(Record):
    """Sums over all ranks, which are the same on each of them.

    Attributes
    ----------
    words : array of int64
        What is added up for an evaluation; the next three are parts of it.
    weights, costs : array of int64
        As `Moves.weight_sums` and `Moves.cost_sums`.
    lengths : array of int64
        As `ActiveSets.lengths`.
    buckets, slots : array of int64
        As `Rebalancing.bucket_weight` and `slot_weight`; of slots those that matter.
    sub_buckets : array of int64
        For each block those of its bucket that matters, side by side.
    shares : array of int64, shape (ranks,)
        A number of each rank.
    before : array of int64, shape (2,)
        Its sum over the ranks before this one, and over all.
    num_words, num_buckets, num_sub_buckets : int
        Lengths of what is added up.
    """

    words: Array
    weights: Array
    costs: Array
    lengths: Array
    buckets: Array
    slots: Array
    sub_buckets: Array
    shares: Array
    before: Array
    num_words: int = kl.word()
    num_buckets: int = kl.word()
    num_sub_buckets: int = kl.word()

    def for_level(self, num_blocks: int, sub_buckets: int) -> Totals:
        """The same where each bucket has so many sub-buckets."""
        return self.with_words(num_words=len(self.words), num_buckets=len(self.buckets),
                               num_sub_buckets=num_blocks * sub_buckets)


def totals_for(space: ExecutionSpace, sizes: Sizes, ranks: int) -> Totals:
    """Allocate totals."""
    k = sizes.blocks
    weights, costs = k * sizes.stripes, k * sizes.stripes + STRIPES
    words = space.zeros(costs + NUM_LENGTHS, np.int64)
    buckets, per_bucket = k * BUCKETS, sizes.sub_buckets
    return Totals(
        words=words, weights=words[:weights], costs=words[weights:costs], lengths=words[costs:],
        **{name: space.zeros(length, np.int64) for name, length in (
            ("buckets", buckets), ("slots", buckets * per_bucket), ("sub_buckets", k * per_bucket),
            ("shares", ranks), ("before", 2))})


class Told(Record):
    """What ranks have told each other of own vertices that are ghosts there.

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


class News(Record):
    """Own vertices with something to tell.

    Attributes
    ----------
    listed : array of int32, shape (entries of the halo,)
    count : int
    """

    listed: Array
    count: int = kl.word()


def told_for(graph: DistributedGraph) -> tuple[Told, News]:
    """Nothing has been told, and there is nothing to tell."""
    space, entries = graph.space, len(graph.halo.ranks)
    told = Told(space.empty(entries, np.int32), space.empty(entries, np.int64))
    return (told.with_words(num_ghosts=graph.num_ghosts, num_entries=entries),
            News(space.empty(entries, np.int32)))
