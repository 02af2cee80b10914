"""What becomes of nets when their pins are replaced by clusters: which are the same, which stay.

Pins stand sorted by net and cluster, in the places of their nets.  The first pin of a run of equal
ones counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.pairing import POSITIVE, place_in
from portpart.algorithms.coarsening.sizes import NetSizes, of_nets, of_pins
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.hypergraph import Nets
from portpart.primitives.hashing import mixed
from portpart.primitives.scan import record_scan, record_scans, tiles_of

RUN = 32
"""Pins of an item of work; those that follow each other are often of one net."""

NO_SLOT = -1
LAST = 2**31 - 1


def of_slots(sizes: NetSizes) -> int:
    """Two slots for each net."""
    return 2 * sizes.nets


def of_net_tiles(sizes: NetSizes) -> int:
    """A sum for each tile of nets."""
    return tiles_of(sizes.nets)


class CoarseNets(WorkRecord):
    """The nets of a hypergraph with p pins while it is contracted.

    Attributes
    ----------
    keys : array of int64, shape (p,)
        Net and cluster of each pin, sorted.
    first : array of int8, shape (p,)
        Whether a pin is the first of equal ones.
    distinct : array of int32, shape (p,)
        The clusters of such pins, close together.
    places : array of int64, shape (p + 1,)
        Numbers of the distinct pins.
    digest : array of uint64, shape (m,)
        A sum over a net's distinct pins.
    table, leader : array of int64 and int32, shape (2 m,)
        A hash table: digests, and the smallest net that has each.
    slot : array of int64, shape (m,)
        Where a net is in the table; -1 if it is left out.
    differs, stays : array of int8, shape (m,)
        Whether a net differs from the leader of its slot, and whether it is in the coarse
        hypergraph.
    weights : array of int64, shape (m,)
        The weight of a net that stays.
    sizes : array of int32, shape (m,)
        Its pins.
    number, offsets : array of int32 and int64, shape (m + 1,)
        The coarse net, and where it begins.
    pin_sums, number_sums, offset_sums : array of int64
        For scans of these.
    """

    keys: Array = work(np.int64, of_pins, outlives=True)
    first: Array = work(np.int8, of_pins, outlives=True)
    distinct: Array = work(np.int32, of_pins)
    places: Array = work(np.int64, lambda sizes: sizes.pins + 1, outlives=True)
    digest: Array = work(np.uint64, of_nets)
    table: Array = work(np.int64, of_slots)
    leader: Array = work(np.int32, of_slots)
    slot: Array = work(np.int64, of_nets)
    differs: Array = work(np.int8, of_nets)
    stays: Array = work(np.int8, of_nets, outlives=True)
    weights: Array = work(np.int64, of_nets, outlives=True)
    sizes: Array = work(np.int32, of_nets)
    number: Array = work(np.int32, lambda sizes: sizes.nets + 1, outlives=True)
    offsets: Array = work(np.int64, lambda sizes: sizes.nets + 1, outlives=True)
    pin_sums: Array = work(np.int64, lambda sizes: tiles_of(sizes.pins))
    number_sums: Array = work(np.int64, of_net_tiles)
    offset_sums: Array = work(np.int64, of_net_tiles)

    nets: int = kl.word()
    pins: int = kl.word()
    runs: int = kl.word()  # runs of pins
    net_tiles: int = kl.word()
    pin_tiles: int = kl.word()
    max_size: int = kl.word()  # most pins of a net that stays


def record_merging(program: Program, work: Any) -> None:
    """Record how nets are compared, and those that stay numbered; their pins are sorted.

    The program has the records ``work``, which this is, and ``nets``.
    """
    program.launch(work.nets, clear_net)
    program.launch(work.runs, mark_pins)
    record_scan(program, work.first, work.places, work.pin_sums, work.pins, work.pin_tiles)
    with program.side_by_side():
        program.launch(work.pins, place_pin)
        program.launch(work.nets, enter_net)
    program.launch(work.pins, compare_pin)
    program.launch(work.nets, settle_net)
    record_scans(program, [(work.stays, work.number, work.number_sums),
                           (work.sizes, work.offsets, work.offset_sums)],
                 work.nets, work.net_tiles)


@kl.kernel
def clear_net(net, work: CoarseNets):
    """Nothing is known of the net, and its share of the table is free."""
    work.digest[net] = kl.uint64(0)
    work.differs[net] = kl.int8(0)
    work.weights[net] = kl.int64(0)
    for slot in range(2 * net, 2 * net + 2):
        work.table[slot] = kl.int64(NO_SLOT)
        work.leader[slot] = kl.int32(LAST)


@kl.kernel
def mark_pins(stretch, work: CoarseNets):
    """Mark the first of equal pins of a stretch; add them to the digests.  Atomic, order-free."""
    begin = stretch * RUN
    net = work.keys[begin] >> 32
    total = kl.uint64(0)
    for i in range(begin, min(begin + RUN, work.pins)):
        key = work.keys[i]
        is_first = i == 0
        if not is_first:
            is_first = work.keys[i - 1] != key
        work.first[i] = kl.int8(is_first)
        if key >> 32 != net:
            kl.atomic_add(work.digest, net, total)
            net = key >> 32
            total = kl.uint64(0)
        if is_first:
            total += kl.uint64(mixed((key & 0xFFFFFFFF) + 1))  # of 0 it is 0
    kl.atomic_add(work.digest, net, total)


@kl.kernel
def place_pin(i, work: CoarseNets):
    """Put the distinct pins close together."""
    if work.first[i] != 0:
        work.distinct[work.places[i]] = kl.int32(work.keys[i] & 0xFFFFFFFF)


@kl.device
def size_of(net, nets: Nets, work: CoarseNets):
    """Number of a net's distinct pins."""
    return work.places[nets.end[net]] - work.places[nets.begin[net]]


@kl.device
def slot_for(key, size, work: CoarseNets):
    """The slot of a digest in a table of so many, claimed if it is new; atomic, any free one."""
    slot = place_in(mixed(key), size)
    found = kl.atomic_cas(work.table, slot, kl.int64(NO_SLOT), key)
    while found != NO_SLOT and found != key:
        slot += 1
        if slot == size:
            slot = kl.int64(0)
        found = kl.atomic_cas(work.table, slot, kl.int64(NO_SLOT), key)
    return slot


@kl.kernel
def enter_net(net, nets: Nets, work: CoarseNets):
    """Enter a net that can be cut, and is not too large, in the table; atomic, order-free."""
    work.slot[net] = kl.int64(NO_SLOT)
    size = size_of(net, nets, work)
    if size >= 2 and size <= work.max_size:
        key = kl.int64(work.digest[net] & kl.uint64(POSITIVE))
        slot = slot_for(key, 2 * work.nets, work)
        work.slot[net] = slot
        kl.atomic_min(work.leader, slot, kl.int32(net))


@kl.kernel
def compare_pin(i, nets: Nets, work: CoarseNets):
    """Note if the net of pin i has not the pins of its leader; all who write it write the same.

    Nets of one digest that differ all the same stay two nets, whatever others they equal.
    """
    net = work.keys[i] >> 32
    slot = work.slot[net]
    if slot != NO_SLOT and work.first[i] != 0:
        leader = kl.int64(work.leader[slot])
        if leader != net:
            rank = work.places[i] - work.places[nets.begin[net]]
            same = size_of(leader, nets, work) == size_of(net, nets, work)
            if same:
                other = work.places[nets.begin[leader]] + rank
                same = work.distinct[other] == work.distinct[work.places[i]]
            if not same:
                work.differs[net] = kl.int8(1)


@kl.kernel
def settle_net(net, nets: Nets, work: CoarseNets):
    """A net stays if it leads or differs; else its leader takes its weight; atomic, order-free."""
    slot = work.slot[net]
    stays = False
    if slot != NO_SLOT:
        leader = kl.int64(work.leader[slot])
        stays = leader == net or work.differs[net] != 0
        if stays:
            leader = kl.int64(net)
        kl.atomic_add(work.weights, leader, kl.value_or(nets.weights, net, 1))
    work.stays[net] = kl.int8(stays)
    work.sizes[net] = kl.int32(0)
    if stays:
        work.sizes[net] = kl.int32(size_of(net, nets, work))
