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
SAVED_VERTICES = 16  # vertices to copy to the best partition: those that have moved or none
SAVED_BLOCKS = 17

# Flags.
RUNNING = 18
BALANCED = 19  # no block is too heavy: label propagation is next
OVERLOADED = 20  # the opposite: rebalancing is next
STRONG = 21  # the next rebalancing is the strong one
SHORT = 22  # a block has to give up more than the eager vertices, which alone were rated so far
WIDE = 23  # this rebalancing rates others, too, from the start
NEXT_WIDE = 24
CROWDED = 25  # the first list has grown and is to be rid of what is in the interior
BEST_IS_BALANCED = 26

# Counters.
LISTED_BEGIN = 27  # where the first list begins: the next one is in the other half
EAGER_BEGIN = 28  # likewise
NEXT_LISTED = 29  # length of the next list
KEPT = 30  # length of the list when it was made
MARKED = 31  # vertices put on the list of dirty ones
UNSAVED = 32  # vertices that have moved since the best partition
ITERATION = 33
LAST_PROPAGATION = 34  # iteration of the last label propagation: its moves are locked
STALLED = 35  # iterations since the best partition improved enough
REBALANCINGS = 36  # weak ones since the last label propagation

# Values.  Those of the best partition outlive a run.
BEST_CUT = 37
BEST_OVERLOAD = 38

# Limits, written by the host.
SLACK = 39  # what blocks may weigh above their limits on a coarse level
STALL_LIMIT = 40
ITERATION_LIMIT = 41
WEAK_LIMIT = 42
MEAN_VERTEX_WEIGHT = 43
SEED = 44
WEIGHT_STRIPES = 45  # copies of the block weights that moves are added to
DESTINATIONS = 46  # blocks with room
LOSS_UNIT = 47  # losses are counted in multiples of this when they are sorted into buckets
MEAN_DEGREE = 48
PAIRWISE = 49  # vertices of higher degree have their neighbours counted
HUB_DEGREE = 50  # vertices of higher degree are hubs

SIZE = 51

STRIPES = 256
"""Counters that many threads add to are spread over so many words."""
