"""Words of the state of recursive bisection, in memory of the space.

The host writes the limits before a run; kernels count levels of recursion and set work sizes.
"""

from __future__ import annotations

# Work sizes.
VERTICES_OF_ALL = 0  # vertices of all candidates together
SPLITS_OF_ALL = 1  # bisections of this level, of all candidates
ATTEMPTS = 2  # attempts at them
CANDIDATES = 3
KEPT_VERTICES = 4  # vertices of the candidates that are kept

# Flags.
RUNNING = 5
INHERITED = 6  # the bisections of this level come from the coarser graph
WIDE = 7  # steps of this level are work for all lanes of a block

# The level.
LEVEL = 8
FIRST_SPLIT = 9
SPLITS = 10  # bisections of this level, of one candidate
TRIALS = 11  # attempts at each of them, of which the best is taken

# Limits, written by the host.
LEVELS = 12
INHERITED_LEVELS = 13
VERTICES = 14
BLOCKS = 15
COARSE_VERTICES = 16
GROWN_TRIALS = 17  # attempts at a bisection that is grown,
REFINED_TRIALS = 26  # of which so many are refined
FINEST = 18  # no finer graph follows: every block needs a vertex
KEPT = 19  # candidates that are kept
PASSES = 20
STALL_LIMIT = 21
KEY_BITS = 22  # low bits of a key that name a position
WEIGHT_SHIFT = 23  # arc weights lose so many bits, so that gains fit a key
SEED = 24
DEGREE = 25  # mean degree of a vertex

SIZE = 27

# Words of a tally: what is known of an attempt at a bisection.  There is one for each block, and a
# bisection has that of its first block.
WEIGHT = 0  # of side 0
COUNT = 1  # vertices of side 0
CUT = 2
EXCESS = 3  # weight above the limits of this bisection
OVERLOAD = 4  # weight above what all blocks of a side may weigh together
GROWN_CUT = 5  # before refinement
TALLY = 6
