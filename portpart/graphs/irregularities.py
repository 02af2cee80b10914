"""What is unusual in a hypergraph, counted."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.hypergraph import Hypergraph
from portpart.primitives.reduce import TILE

KINDS = 3
"""Rows without elements, rows of one, and rows that weigh nothing."""


def irregularities(hypergraph: Hypergraph) -> dict[str, int]:
    """How many nets, pins and vertices of each unusual kind there are.  Waits for the device."""
    h = hypergraph
    found = h.space.zeros(2 * KINDS, np.int64)
    _count(h, h.net_offsets, h.net_weights, 0, found)
    _count(h, h.vertex_offsets, h.vertex_weights, KINDS, found)
    counts = h.space.read(found, lambda: [0] * len(found))
    names = ("empty_nets", "single_pin_nets", "weightless_nets", "isolated_vertices", "",
             "weightless_vertices")
    odd = {name: count for name, count in zip(names, counts) if name}
    return {**odd, "repeated_pins": h.repeated_pins}


def _count(hypergraph: Hypergraph, offsets: Array, weights: Array | None, begin: int,
           found: Array) -> None:
    rows = len(offsets) - 1
    hypergraph.space.parallel_for(-(-rows // TILE), count_odd, offsets, weights, rows, begin, found,
                                  team=256)


@kl.kernel
def count_odd(tile, offsets, weights, rows, begin, found):
    """Add the odd rows of a tile to their numbers; atomic, independent of order."""
    empty = kl.int64(0)
    single = kl.int64(0)
    weightless = kl.int64(0)
    for row in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, rows), kl.team_size()):
        length = kl.int64(offsets[row + 1]) - kl.int64(offsets[row])
        if length == 0:
            empty += 1
        if length == 1:
            single += 1
        if kl.value_or(weights, row, 1) == 0:
            weightless += 1
    empty = kl.team_sum(empty)
    single = kl.team_sum(single)
    weightless = kl.team_sum(weightless)
    if kl.lane() == 0:
        kl.atomic_add(found, begin, empty)
        kl.atomic_add(found, begin + 1, single)
        kl.atomic_add(found, begin + 2, weightless)
