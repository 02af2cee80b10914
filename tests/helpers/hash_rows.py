"""Hash rows of kernels that run by themselves."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.cluster_ratings import HashRows
from portpart.backends.programs.interface import ExecutionSpace


def rows_in_main_memory(space: ExecutionSpace, slots: int) -> HashRows:
    """None of which is taken."""
    rows = HashRows(space.empty(slots, np.int32), space.empty(slots, np.int64))
    return rows.over(HashRows.own_words(space.zeros(1, np.int64)))
