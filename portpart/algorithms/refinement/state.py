"""Words of the refinement's state: counts, flags and limits that live in memory of the space.

Kernels address them by these positions; the host writes them before a run and reads none during it.
"""

from __future__ import annotations

# Work sizes.
VERTICES = 0
BLOCKS = 1
TILES = 2
LISTED = 3  # vertices of low degree, and those that are, or were, on a boundary or moved
EAGER = 4  # vertices of these whose best destination passes the filter, and some that did
NEXT_EAGER = 5  # those of them that the next propagation starts from
HUBS = 6  # vertices of high degree
DIRTY = 7  # vertices whose best destination is out of date
MOVES = 8  # vertices that move in this iteration
LEAVERS = 9  # vertices that may leave a block that is too heavy
FAR_VERTICES = 10  # vertices that may leave blocks far too heavy: all or none
UNRATED = 11  # vertices that may leave, for a loss that has to be counted
UNRATED_HUBS = 12
RESTORED_BLOCKS = 13  # blocks whose weights start from those of the best partition
RESTORED_STRIPES = 14  # likewise for the words of the cut
SAVES = 15  # work items of `save_best`: the most of the next two, and one at least
SAVED_VERTICES = 16  # vertices to copy to the best partition: the listed ones or none
SAVED_BLOCKS = 17

# Flags.
RUNNING = 18
BALANCED = 19  # no block is too heavy: label propagation is next
OVERLOADED = 20  # the opposite: rebalancing is next
STRONG = 21  # the next rebalancing is the strong one
SHORT = 22  # a block has to give up more than the eager vertices, which alone were rated so far
WIDE = 23  # this rebalancing rates others, too, from the start
NEXT_WIDE = 24
BEST_IS_BALANCED = 25

# Counters.
EAGER_BEGIN = 26  # where the list of eager vertices begins: the next one is in the other half
MARKED = 27  # vertices put on the list of dirty ones
ITERATION = 28
LAST_PROPAGATION = 29  # iteration of the last label propagation: its moves are locked
STALLED = 30  # iterations since the best partition improved enough
REBALANCINGS = 31  # weak ones since the last label propagation

# Values.  Those of the best partition outlive a run.
BEST_CUT = 32
BEST_OVERLOAD = 33

# Limits, written by the host.
SLACK = 34  # what blocks may weigh above their limits on a coarse level
STALL_LIMIT = 35
ITERATION_LIMIT = 36
WEAK_LIMIT = 37
MEAN_VERTEX_WEIGHT = 38
SEED = 39
WEIGHT_STRIPES = 40  # copies of the block weights that moves are added to
DESTINATIONS = 41  # blocks with room
LOSS_UNIT = 42  # losses are counted in multiples of this when they are sorted into buckets
MEAN_DEGREE = 43
PAIRWISE = 44  # vertices of higher degree have their neighbours counted
HUB_DEGREE = 45  # vertices of higher degree are hubs

SIZE = 46

STRIPES = 256
"""Counters that many threads add to are spread over so many words."""
