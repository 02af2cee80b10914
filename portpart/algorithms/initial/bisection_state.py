"""Words of the state of recursive bisection, in memory of the space.

The host writes the limits before a run; kernels count levels and set work sizes.
"""

from __future__ import annotations

# Work sizes and flags.
RUNNING = 0
WORK = 1  # bisections of this level, of all candidates together
SPLIT_WORK = 3
ALL = 2  # vertices of all candidates

# The level.
LEVEL = 4
FIRST_SPLIT = 5
WIDTH = 6  # bisections of this level, of one candidate

# Limits.
LEVELS = 8
VERTICES = 9
BLOCKS = 10
TRIALS = 11  # attempts at every bisection of this level, the best is kept
SEED = 12
KEY_BITS = 13  # low bits of a key that name a position
WEIGHT_SHIFT = 14  # arc weights lose so many bits, so that gains fit a key
PASSES = 15
STALL_LIMIT = 16
CANDIDATES = 17
INHERITED_LEVELS = 18  # levels whose bisections a coarser graph has made
COARSE_VERTICES = 19  # vertices of that graph
FINEST = 20  # no finer graph follows: every block needs a vertex
INHERITED = 21  # flag: the bisections of this level are inherited
SURVIVORS = 22  # candidates that go on to the finer graph

GROWN_TRIALS = 23  # the same of levels that are grown
STALL_SHARE = 24

SIZE = 25
