"""Which pins of others a vertex of a hypergraph examines when it chooses a cluster.

Vertices that would examine very many pins examine the nets that a hash draws for them, and of nets
with very many pins only the pins next to themselves: neighbouring ids often belong to similar
vertices.  (On nw04, whose nets have 17,700 pins on average, km1 falls to 0.86 times.)
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.sizes import of_vertices
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.work import WorkRecord
from portpart.graphs.hypergraph import Nets
from portpart.graphs.rows import Csr
from portpart.primitives.hashing import hash_of

MAX_PINS = 200_000
"""A vertex examines no more pins of others."""

WINDOW = 32
"""A vertex all of whose nets have too many pins examines this many of each, the next to itself."""

NEAR_ITSELF = -1

FAR = 1024
"""Slots of the widest team; vertices that may need more have a row in main memory."""


class RatedNets(WorkRecord):
    """The nets around n vertices, and what they count.

    Attributes
    ----------
    rows : Csr
        The nets of each vertex.
    nets : Nets
    max_rated : int
        Nets of more pins do not count.
    unit : int
        What a net of weight one counts, divided by its pins
    without : int
        less this many: 1 if a vertex does not count as a pin for itself, else 0.
    log2_rate : array of int8, shape (n,)
        A vertex examines one in 2**log2_rate of its nets; or, at -1, pins near itself.
    begin, pins : array of int32, shape (n,)
        Zero, and how many pins it examines, its own among them.
    far_slots : array of int32, shape (n,)
        How many slots it needs in main memory.
    far : array of int64, shape (n + 1,)
        Where the rows of vertices in main memory begin.
    """

    rows: Csr
    nets: Nets
    max_rated: int
    unit: int
    without: int
    log2_rate: Array = work(np.int8, of_vertices)
    begin: Array = work(np.int32, of_vertices, zeros=True)
    pins: Array = work(np.int32, of_vertices)
    far_slots: Array = work(np.int32, of_vertices)
    far: Array = work(np.int64, lambda sizes: sizes.vertices + 1)


@kl.device
def size_of(net, nets: Nets):
    """Number of a net's pins."""
    return kl.int64(nets.end[net]) - kl.int64(nets.begin[net])


@kl.device
def sampled_pins(v, net, log2_rate, rated: RatedNets, seed):
    """How many pins of a net v examines: all or none, or those near itself."""
    size = size_of(net, rated.nets)
    if log2_rate == NEAR_ITSELF:
        size = min(size, kl.int64(WINDOW))
    elif size > rated.max_rated or hash_of((kl.int64(v) << 32) | kl.int64(net), seed) & (
            (kl.int64(1) << max(kl.int64(0), kl.int64(log2_rate))) - 1) != 0:
        size = kl.int64(0)
    return size if size >= 2 else kl.int64(0)


@kl.device
def sampled_place(v, net, size, nets: Nets):
    """Where the pins are that v examines: a window around itself where it examines a few."""
    begin = kl.int64(nets.begin[net])
    low = begin
    if size < size_of(net, nets):
        high = kl.int64(nets.end[net])
        while low < high:
            middle = (low + high) // 2
            if nets.pins[middle] < v:
                low = middle + 1
            else:
                high = middle
        low = max(begin, min(low - size // 2, kl.int64(nets.end[net]) - size))
    return low


@kl.device
def pins_around(v, log2_rate, rated: RatedNets, seed):
    """The pins that v examines, its own among them."""
    total = kl.int64(0)
    for i in range(rated.rows.begin[v] + kl.lane(), rated.rows.end[v], kl.team_size()):
        total += sampled_pins(v, rated.rows.targets[i], log2_rate, rated, seed)
    return kl.team_sum(total)


@kl.kernel
def count_rated_pins(v, rated: RatedNets, num_vertices, seed):
    """Count the pins that v examines, its own among them, and the slots that it needs far away.

    Halves the nets that it examines until these are not too many.
    """
    log2_rate = kl.int64(0)
    total = pins_around(v, log2_rate, rated, seed)
    if total == 0:
        log2_rate = kl.int64(NEAR_ITSELF)
        total = pins_around(v, log2_rate, rated, seed)
    while total > MAX_PINS:
        log2_rate += 1
        total = pins_around(v, log2_rate, rated, seed)
    if kl.lane() == 0:
        rated.log2_rate[v] = kl.int8(log2_rate)
        rated.pins[v] = kl.int32(total)
        rated.far_slots[v] = kl.int32(0)
        if min(total, num_vertices) > FAR:
            rated.far_slots[v] = kl.int32(min(total, 2 * num_vertices))
