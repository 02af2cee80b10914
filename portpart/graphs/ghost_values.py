"""Values of all own vertices on their way to ghosts: in an order that both sides know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.primitives.messages import Part
from portpart.primitives.owners import Halo


def values_for_ghosts(space: ExecutionSpace, halo: Halo, arrays: Sequence[Array],
                      kinds: Sequence[Any] | None = None) -> Part:
    """The values of own vertices, once for each rank that has them as ghosts.

    Parameters
    ----------
    space : ExecutionSpace
    halo : Halo
    arrays : sequence of array of integers
        With an element for each own vertex, and perhaps more.
    kinds : sequence of dtype, optional
        On the way; by default those of the arrays.

    Returns
    -------
    Part
        What arrives of it has the values of all ghosts in their order.
    """
    size, own = len(halo.ghost_first) - 1, len(halo.begin) - 1
    counted = space.zeros(size, np.int64)
    space.parallel_for(len(halo.ranks), count_entry, halo, counted)
    counts = space.to_host(counted).copy()
    firsts, columns = space.asarray(np.cumsum(counts) - counts), []
    for values in arrays:
        columns.append(space.empty(len(halo.ranks), values.dtype))
        space.parallel_for(own if len(columns[-1]) else 0, write_values, halo, values, firsts,
                           columns[-1])
    return Part(columns, counts, kinds)


@kl.kernel
def count_entry(entry, halo: Halo, counts):
    """Count an entry for its rank; atomic."""
    kl.atomic_add(counts, halo.ranks[entry], 1)


@kl.kernel
def write_values(v, halo: Halo, values, firsts, result):
    """Put the value of v to its place among those for each rank that has it as a ghost."""
    for entry in range(halo.begin[v], halo.begin[v + 1]):
        result[firsts[halo.ranks[entry]] + halo.places[entry]] = values[v]
