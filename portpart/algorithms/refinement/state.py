"""What refinement keeps of a level, by the piece that it belongs to: work arrays and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.language import Words
from portpart.backends.work import WorkRecord
from portpart.primitives.reduce import STRIPES
from portpart.primitives.scan import tiles_of

MAX_WEIGHT_COPIES = 256
"""Block weights are spread over at most so many words."""

BUCKETS = 50
"""Buckets of losses, for each block."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of the largest graph that is refined, and of what follows from them."""

    vertices: int
    arcs: int
    blocks: int

    @property
    def stripes(self) -> int:
        """Copies of the block weights that moves are added to."""
        return max(1, MAX_WEIGHT_COPIES // self.blocks)

    @property
    def hubs(self) -> int:
        """Most hubs, with the fewest lanes for other vertices, and one."""
        return 1 + self.arcs // max_arcs(1)

    @property
    def sub_buckets(self) -> int:
        """Sub-buckets of each bucket."""
        return sub_buckets_for(self.blocks, self.vertices)


def max_arcs(team: int) -> int:
    """Most arcs of a vertex that is not a hub, where `team` lanes work on others."""
    return max(256, 32 * team)


def sub_buckets_for(num_blocks: int, num_vertices: int) -> int:
    """Sub-buckets per bucket, a power of two, about one for 8 vertices of a block.

    No more than keep the histogram small.
    """
    share = min(2**20 // (BUCKETS * num_blocks), num_vertices // (8 * num_blocks))
    return 1 << max(0, min(8, share.bit_length() - 1))


class Figures(Words):
    """Figures of a level, which the host writes, and where its refinement stands."""

    vertices: Any
    blocks: Any
    mean_degree: Any
    few_arcs: Any  # vertices of higher degree have many neighbours
    hub_degree: Any  # vertices of higher degree are hubs
    long: Any  # lists of more vertices are work for single lanes
    slack: Any  # what blocks may weigh above their limits on a coarse level
    seed: Any
    stall_limit: Any
    iteration_limit: Any
    iteration: Any
    running: Any
    balanced: Any  # no block is too heavy: label propagation is next
    overloaded: Any  # the opposite: rebalancing is next
    stalled: Any  # iterations since the best partition improved enough


def _of_vertices(size: Sizes) -> int:
    return size.vertices


def _of_blocks(size: Sizes) -> int:
    return size.blocks


def _two_halves(size: Sizes) -> int:
    """A list and the next one, side by side."""
    return 2 * size.vertices


class Moves(WorkRecord):
    """The partition, the moves of an iteration, and the accounts of weights and costs.

    Attributes
    ----------
    part : array of int32, shape (n,)
    target : array of int32, shape (n,)
        Where a vertex moves to, if it moves.
    moved_in, locked_in : array of int32, shape (n,)
        Iteration of a vertex's last move; the same by label propagation, which locks it for one.
    listed : array of int32
        The vertices that move in this iteration.
    weight_sums : array of int64
        Block weights in several copies that add up.
    cost_sums : array of int64, shape (STRIPES,)
        Words that add up to twice the cost.
    """

    part: Array = work(np.int32, _of_vertices)
    target: Array = work(np.int32, _of_vertices)
    moved_in: Array = work(np.int32, _of_vertices)
    locked_in: Array = work(np.int32, _of_vertices)
    listed: Array = work(np.int32, _of_vertices)
    weight_sums: Array = work(np.int64, lambda size: size.blocks * size.stripes)
    cost_sums: Array = work(np.int64, lambda size: STRIPES)

    moves: int = kl.word()  # vertices that move in this iteration
    last_propagation: int = kl.word()  # the last label propagation, whose moves are locked
    thinned: int = kl.word()  # few of those that want to move may at a time: all were too many
    weight_stripes: int = kl.word()  # copies of the block weights that moves are added to


class GainCache(WorkRecord):
    """The best target of each vertex and the gain of moving there.

    Attributes
    ----------
    best_target : array of int32, shape (n,)
        Below zero where a vertex touches no other block or fails Jet's filter (`gain_cache.py`).
    gain : array of int64, shape (n,)
    is_dirty : array of int32, shape (n,)
        Whether a vertex is out of date, that is on the list of dirty ones.
    dirty_list : array of int32
    filter_ratio : float
        Jet's c: what share of its connectivity a move may lose.
    """

    best_target: Array = work(np.int32, _of_vertices)
    gain: Array = work(np.int64, _of_vertices)
    is_dirty: Array = work(np.int32, _of_vertices)
    dirty_list: Array = work(np.int32, _of_vertices)
    filter_ratio: float = 0.0

    dirty: int = kl.word()  # vertices whose best target is out of date
    dirty_groups: int = kl.word()  # groups of these
    group: int = kl.word()  # and now
    max_in_group: int = kl.word()  # vertices in a group, at most
    marked: int = kl.word()  # vertices put on the list of dirty ones


class ActiveSets(WorkRecord):
    """Lists of the vertices that iterations touch (`active_sets.py`).

    Attributes
    ----------
    flags : array of int8, shape (n,)
        Which lists a vertex is on.
    boundary, movable_list : array of int32
        Vertices that are, or were, on a boundary; and those of them that may move.  The next list
        is in the other half.
    hub_list : array of int32
    """

    flags: Array = work(np.int8, _of_vertices)
    boundary: Array = work(np.int32, _two_halves)
    movable_list: Array = work(np.int32, _two_halves)
    hub_list: Array = work(np.int32, lambda size: size.hubs)

    on_boundary: int = kl.word()  # of low degree, or that are or were on a boundary
    movable: int = kl.word()  # those whose best target passes the filter, and some that did
    next_movable: int = kl.word()  # those of them that the next propagation starts from
    hubs: int = kl.word()  # vertices of high degree
    boundary_begin: int = kl.word()  # where the first list begins, in one half of its array
    movable_begin: int = kl.word()  # the same for the second list
    next_on_boundary: int = kl.word()  # length of the next list
    kept: int = kl.word()  # length of the first list when it was made
    crowded: int = kl.word()  # the first list has grown and is to be rid of what is in the interior


class Incumbent(WorkRecord):
    """The best partition so far, and what has moved since.

    Attributes
    ----------
    best : array of int32, shape (n,)
    best_weight : array of int64, shape (k,)
    touched : array of int8, shape (n,)
        Whether a vertex may be on a boundary of the partition that a level starts from.
    is_unsaved : array of int8, shape (n,)
        Whether a vertex is on the list of those that have moved since.
    unsaved_list : array of int32
    tolerance : float
        The cost must fall below this share of the best one to count as progress.
    """

    best: Array = work(np.int32, _of_vertices)
    best_weight: Array = work(np.int64, _of_blocks)
    touched: Array = work(np.int8, _of_vertices)
    is_unsaved: Array = work(np.int8, _of_vertices)
    unsaved_list: Array = work(np.int32, _of_vertices)
    tolerance: float = 1.0

    restored_blocks: int = kl.word()  # blocks whose weights start from those of the best partition
    restored_stripes: int = kl.word()  # words of the cost that start from it
    saves: int = kl.word()  # work items of `save_best`: the most of the next two, and one at least
    saved_vertices: int = kl.word()  # to copy to the best partition: those that have moved or none
    saved_blocks: int = kl.word()
    unsaved: int = kl.word()  # vertices that have moved since the best partition
    best_is_balanced: int = kl.word()
    best_cost: int = kl.word()
    best_overload: int = kl.word()


class Blocks(WorkRecord):
    """What blocks weigh and may weigh, and which vertices are fixed to theirs.

    Attributes
    ----------
    weight : array of int64, shape (k,)
    limits, means, open_below : array of int64, shape (k,)
        Most that a block may weigh; what it weighs if all weigh their share; and the weight below
        which it takes vertices of others.
    opening : array of int64, shape (k,)
        The same where blocks that were too heavy take none (`rooms.py`).
    destination : array of int32
        Blocks with room,
    room : array of int64
        and where the room of each begins, if it is laid out in one row.
    fixed : array of int32, shape (n,), or None
        Vertices with an entry of 0 or more stay where they are.
    home : array of int32, shape (n,), or None
        Blocks that vertices are at home in,
    tie : array of int64, shape (n,), or None
        and what they cost elsewhere (`homes.py`).
    """

    limits: Array = work(np.int64, _of_blocks)
    means: Array = work(np.int64, _of_blocks)
    open_below: Array = work(np.int64, _of_blocks)
    fixed: Array | None = None
    home: Array | None = None
    tie: Array | None = None
    weight: Array = work(np.int64, _of_blocks)
    opening: Array = work(np.int64, _of_blocks)
    destination: Array = work(np.int32, _of_blocks)
    room: Array = work(np.int64, lambda size: size.blocks + 1)

    destinations: int = kl.word()  # blocks with room


class UnratedList(WorkRecord):
    """Vertices whose best block is not known and has to be found.

    Attributes
    ----------
    vertices, hub_vertices : array of int32
        In any order; a hub is on both lists.
    """

    vertices: Array = work(np.int32, _of_vertices)
    hub_vertices: Array = work(np.int32, lambda size: size.hubs)

    unrated: int = kl.word()  # vertices on the list
    unrated_hubs: int = kl.word()  # hubs among them


class Rebalancing(WorkRecord):
    """Vertices that may leave blocks that are too heavy, by what that loses (`loss_buckets.py`).

    Attributes
    ----------
    listed : array of int32
        Those vertices, in any order.
    slot_of : array of int32, shape (n,)
        A vertex's bucket and sub-bucket.
    bucket_weight, slot_weight : array of int64
        Weights of buckets and sub-buckets, block by block; zero between two rebalancings.
    threshold : array of int64, shape (k,)
        Last slot that leaves a block.
    scope : array of int32, shape (k,)
        Which vertices of a block are rated.
    leaving : array of int64, shape (n,)
        Strong rebalancing: weight of a vertex that leaves, 0 for others,
    position : array of int64, shape (n + 1,)
        and the sums of these before it.
    tile_sums : array of int64
        For the scan that makes them.
    sub_buckets : int
    """

    listed: Array = work(np.int32, _of_vertices)
    slot_of: Array = work(np.int32, _of_vertices)
    bucket_weight: Array = work(np.int64, lambda size: size.blocks * BUCKETS, zeros=True)
    slot_weight: Array = work(
        np.int64, lambda size: size.blocks * BUCKETS * size.sub_buckets, zeros=True)
    threshold: Array = work(np.int64, _of_blocks)
    scope: Array = work(np.int32, _of_blocks, zeros=True)
    leaving: Array = work(np.int64, _of_vertices)
    position: Array = work(np.int64, lambda size: size.vertices + 1)
    tile_sums: Array = work(np.int64, lambda size: tiles_of(size.vertices))
    sub_buckets: int = 1

    leavers: int = kl.word()  # vertices that may leave a block that is too heavy
    swept: int = kl.word()  # vertices that may leave heavily overloaded blocks: all or none
    rated: int = kl.word()  # so many of those that may leave have been rated
    single: int = kl.word()  # listed vertices that are looked at one by one; 0 if it gathers
    batches: int = kl.word()  # batches of them, at most, that it gathers from; or 0
    many_on_boundary: int = kl.word()  # from a longer list those that may leave are gathered first
    strong: int = kl.word()  # the next rebalancing is the strong one
    short: int = kl.word()  # a block has to give up more than the movable vertices rated so far
    wide: int = kl.word()  # this rebalancing rates others, too, from the start
    next_wide: int = kl.word()
    rebalancings: int = kl.word()  # weak ones since the last label propagation
    weak_limit: int = kl.word()
    loss_unit: int = kl.word()  # losses are sorted into buckets in multiples of this
    mean_vertex_weight: int = kl.word()
    tiles: int = kl.word()


class Level(Figures, Moves.own_words, GainCache.own_words, ActiveSets.own_words,
            Incumbent.own_words, Blocks.own_words, UnratedList.own_words,
            Rebalancing.own_words):
    """The words of all pieces, in memory of the space.

    The host writes them before a run and reads none during it.
    """


SIZE = len(Level.indices)


class More(WorkRecord):
    """What some algorithms need beside these; most need nothing."""


class Run(WorkRecord):
    """The pieces of refinement; `before` are the words of the run before."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    incumbent: Incumbent
    blocks: Blocks
    unrated: UnratedList
    rebalancing: Rebalancing
    level: Level
    before: Level


PIECES: tuple[type[WorkRecord], ...] = (
    Moves, GainCache, ActiveSets, Incumbent, Blocks, UnratedList, Rebalancing)
"""The records that hold work arrays."""
