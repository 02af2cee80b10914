"""Words of the refinement's state: counts, flags and limits that live in memory of the space.

Kernels address them by these positions; the host writes them before a run and reads none during it.
"""

from __future__ import annotations

from portpart.primitives.reduce import STRIPES as STRIPES

# Work sizes.
VERTICES = 0
BLOCKS = 1
TILES = 2
LISTED = 3  # vertices of low degree, and those that are, or were, on a boundary or moved
EAGER = 4  # vertices of these whose best destination passes the filter, and some that did
NEXT_EAGER = 5  # those of them that the next propagation starts from
HUBS = 6  # vertices of high degree
DIRTY = 7  # vertices whose best destination is out of date
DIRTY_GROUPS = 8  # groups of these
MOVES = 9  # vertices that move in this iteration
LEAVERS = 10  # vertices that may leave a block that is too heavy
FAR_VERTICES = 11  # vertices that may leave blocks far too heavy: all or none
UNRATED = 12  # vertices that may leave, for a loss that has to be counted
UNRATED_HUBS = 13
RESTORED_BLOCKS = 14  # blocks whose weights start from those of the best partition
RESTORED_STRIPES = 15  # likewise for the words of the cut
SAVES = 16  # work items of `save_best`: the most of the next two, and one at least
SAVED_VERTICES = 17  # vertices to copy to the best partition: those that have moved or none
SAVED_BLOCKS = 18

# Flags.
RUNNING = 19
BALANCED = 20  # no block is too heavy: label propagation is next
OVERLOADED = 21  # the opposite: rebalancing is next
STRONG = 22  # the next rebalancing is the strong one
SHORT = 23  # a block has to give up more than the eager vertices, which alone were rated so far
WIDE = 24  # this rebalancing rates others, too, from the start
NEXT_WIDE = 25
CROWDED = 26  # the first list has grown and is to be rid of what is in the interior
BEST_IS_BALANCED = 27

# Counters.
LISTED_BEGIN = 28  # where the first list begins: the next one is in the other half
EAGER_BEGIN = 29  # likewise
NEXT_LISTED = 30  # length of the next list
KEPT = 31  # length of the list when it was made
MARKED = 32  # vertices put on the list of dirty ones
UNSAVED = 33  # vertices that have moved since the best partition
ITERATION = 34
LAST_PROPAGATION = 35  # iteration of the last label propagation: its moves are locked
STALLED = 36  # iterations since the best partition improved enough
REBALANCINGS = 37  # weak ones since the last label propagation

# Values.  The next run reads the best cut.
BEST_CUT = 38
BEST_OVERLOAD = 39

# Limits, written by the host.
SLACK = 40  # what blocks may weigh above their limits on a coarse level
STALL_LIMIT = 41
ITERATION_LIMIT = 42
WEAK_LIMIT = 43
MEAN_VERTEX_WEIGHT = 44
SEED = 45
WEIGHT_STRIPES = 46  # copies of the block weights that moves are added to
DESTINATIONS = 47  # blocks with room
LOSS_UNIT = 48  # losses are counted in multiples of this when they are sorted into buckets
MEAN_DEGREE = 49
FEW_ARCS = 50  # vertices of higher degree have many neighbours
HUB_DEGREE = 51  # vertices of higher degree are hubs
MOST_IN_GROUP = 52  # vertices in a group, at most,
GROUP = 53  # and now
LONG = 54  # lists of more vertices are work for lone lanes
MANY_LISTED = 55  # from a longer list, vertices that may leave are gathered before they are rated

# How a rebalancing finds those that may leave.
SINGLE = 56  # listed vertices, at most, that are looked at one by one; 0 if it gathers
BATCHES = 57  # batches of them, at most, that it gathers from; or 0
RATED = 58  # so many of those that may leave have been rated

SIZE = 59
