"""Words of the refinement's state: counts, flags and limits that live in memory of the space.

Kernels address them by these positions; the host writes them before a run and reads none during it.
"""

from __future__ import annotations

# Work sizes.
VERTICES = 0
BLOCKS = 1
TILES = 2
LISTED = 3  # vertices of low degree, and those that are, or were, on a boundary or moved
HUBS = 4  # vertices of high degree
CHUNKS = 48  # of the listed vertices, each as many as a team has lanes
DIRTY = 5  # vertices whose best destination is out of date
MOVES = 6  # vertices that move in this iteration
LEAVERS = 7  # vertices that may leave a block that is too heavy
RESTORED_BLOCKS = 8  # blocks whose weights start from those of the best partition
RESTORED_STRIPES = 9  # likewise for the words of the cut
SAVES = 12  # work items of `save_best`: the most of the next two, and one at least
SAVED_VERTICES = 14  # vertices to copy to the best partition: the listed ones or none
SAVED_BLOCKS = 15
FAR_VERTICES = 47  # vertices that may leave blocks far too heavy: all or none
UNRATED = 13  # vertices that may leave, for a loss that has to be counted
UNRATED_HUBS = 21

# Flags.
RUNNING = 16
BALANCED = 17  # no block is too heavy: label propagation is next
OVERLOADED = 18  # the opposite: rebalancing is next
STRONG = 19  # the next rebalancing is the strong one
BEST_IS_BALANCED = 20

# Counters.
MARKED = 22  # vertices put on the list of dirty ones
ITERATION = 23
LAST_PROPAGATION = 24  # iteration of the last label propagation: its moves are locked
STALLED = 25  # iterations since the best partition improved enough
REBALANCINGS = 26  # weak ones since the last label propagation

# Values.  Those of the best partition outlive a run.
BEST_CUT = 28
BEST_OVERLOAD = 29

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
CHUNK = 49  # listed vertices that a team looks at together

SIZE = 50

STRIPES = 256
"""Counters that many threads add to are spread over so many words."""
