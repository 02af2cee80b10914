"""Words of the refinement's state: counts, flags and limits that live in memory of the space.

Kernels address them by these positions; the host writes them before a run and reads none during it.
"""

from __future__ import annotations

# Work sizes.
VERTICES = 0
BLOCKS = 1
TILES = 2
ACTIVE = 3  # vertices that wish to move
MOVES = 4  # vertices that move in this iteration
DIRTY = 5  # vertices whose best destination is out of date
SAVES = 6  # elements to copy to the best partition: all or none
LEAVERS = 7  # vertices that may leave a block that is too heavy
RESTORED_BLOCKS = 8  # blocks whose weights start from those of the best partition
RESTORED_STRIPES = 9  # likewise for the words of the cut

# Flags.
RUNNING = 10
BALANCED = 11  # no block is too heavy: label propagation is next, else rebalancing
STRONG = 12  # the next rebalancing is the strong one
BEST_IS_BALANCED = 13

# Counters.
ITERATION = 16
LAST_PROPAGATION = 17  # iteration of the last label propagation: its moves are locked
STALLED = 18  # iterations since the best partition improved enough
REBALANCINGS = 19  # weak ones since the last label propagation

# Values.  Those of the best partition outlive a run.
BEST_CUT = 25
BEST_OVERLOAD = 26

# Limits, written by the host.
STALL_LIMIT = 35
ITERATION_LIMIT = 36
WEAK_LIMIT = 37
MEAN_VERTEX_WEIGHT = 38
SEED = 39
WEIGHT_STRIPES = 40  # copies of the block weights that moves are added to
DESTINATIONS = 41  # blocks with room
LOSS_UNIT = 42  # losses are counted in multiples of this when they are sorted into buckets
MEAN_DEGREE = 43

SIZE = 48

STRIPES = 1024
"""Counters that many threads add to are spread over so many words."""
