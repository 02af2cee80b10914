"""Nets whose pins are replaced by clusters: distinct pins, and identical nets.

All pins are sorted by net and cluster, so that items of work have equal size for nets of any size.
The first of equal pins is kept, and kept pins are stored contiguously:

    net 0: 4 7 8    net 1: 5 7    clusters {4 5} {7 8}    ->    net 0: 0 1    net 1: 0 1

A hash table of digests of distinct pins then finds nets that may be identical, which are compared
pin by pin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.options import FineNetSizes
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Array, Program, Records
from portpart.graphs import MAX_INT32, Hypergraph, Nets
from portpart.primitives import (
    HIGHEST,
    mixed,
    record_scan,
    record_scans,
    row_at,
    sort_rows,
    tiles_of,
)

RUN = 32
"""Pins of an item of work; consecutive pins often belong to one net."""

RUN_TEAM = 8


class SortedPins(kl.Record):
    """All p pins, of which some are equal.

    Attributes
    ----------
    keys : array of int64, shape (p,)
        Net and cluster of each pin, sorted.
    first : array of int8, shape (p,)
        Whether a pin is the first of equal pins.
    places : array, shape (p + 1,)
        Number of such pins before each place.
    tile_sums : array of int64
        Scratch for the scan of `first`.
    """

    keys: Array
    first: Array = kl.work(np.int8, "pins")
    places: Array = kl.work("index_type", lambda sizes: sizes.pins + 1)
    tile_sums: Array = kl.work(np.int64, lambda sizes: tiles_of(sizes.pins))

    pins: int = kl.word()
    runs: int = kl.word()  # runs of pins
    tiles: int = kl.word()


class DistinctPins(kl.Record):
    """The distinct pins of m nets.

    Attributes
    ----------
    clusters : array of int32, shape (p,)
        The clusters on the nets; elements behind the last pin have no meaning.
    begin : array, shape (m + 1,)
        Place in `clusters` where each net begins.
    digest : array of uint64, shape (m,)
        A sum over a net's pins.
    """

    clusters: Array = kl.work(np.int32, "pins")
    begin: Array = kl.work("index_type", lambda sizes: sizes.nets + 1)
    digest: Array = kl.work(np.uint64, "nets")

    nets: int = kl.word()
    most_runs: int = kl.word()  # maximum number of runs of distinct pins


def distinct_pins(hypergraph: Hypergraph, cluster: Array) -> DistinctPins:
    """Return the distinct pins of all nets.  Does not synchronise.

    Parameters
    ----------
    hypergraph : Hypergraph
    cluster : array of int32, shape (n,)
        The cluster of each vertex.
    """
    space, nets, sizes = hypergraph.space, hypergraph.nets, FineNetSizes.of(hypergraph)
    runs, keys = runs_of(sizes.pins), space.empty(sizes.pins, np.int64)
    space.parallel_for(runs, pack_pins, sizes.nets, sizes.pins, nets, cluster, keys, team=RUN_TEAM)
    sort_rows(space, nets.begin, nets.end, keys)
    # not before: a library's sort takes as much memory as the keys
    found = DistinctPins.allocate(space, sizes).with_words(nets=sizes.nets, most_runs=runs)
    pins = SortedPins(keys).with_words(pins=sizes.pins, runs=runs, tiles=tiles_of(sizes.pins))
    records = {"nets": nets, "pins": pins, "found": found}
    executable = space.cached_executable(("distinct pins", *hypergraph.type_key),
                                         lambda: _record(records, sizes))
    executable.run(records, max(sizes.nets, sizes.pins), sizes)
    return found


def runs_of(pins: int) -> int:
    """Return the number of runs of pins."""
    return -(-pins // RUN)


def _record(records: Records, like: FineNetSizes) -> Program:
    program = Program("distinct pins", threads=MANY, sizes=like)
    slots = program.declare(records)
    pins, found = slots["pins"], slots["found"]
    program.launch(found.nets, clear_digest)
    program.launch(pins.runs, mark_pins)
    record_scan(program, pins.first, pins.places, pins.tile_sums, pins.pins, pins.tiles)
    with program.side_by_side():
        program.launch(pins.pins, place_pin)
        program.launch(found.nets, begin_net)
    return program


@kl.kernel
def pack_pins(stretch, num_nets, num_pins, nets: Nets, cluster, keys):
    """keys[i] = net and cluster of pin i, for the pins of a stretch."""
    net = row_at(stretch * RUN, nets.begin, num_nets)
    for i in range(stretch * RUN + kl.lane(), min((stretch + 1) * RUN, num_pins), kl.team_size()):
        while nets.end[net] <= i:
            net += 1
        keys[i] = (net << 32) | kl.int64(cluster[nets.pins[i]])


@kl.kernel
def clear_digest(net, found: DistinctPins):
    """Set the digest of a net to 0."""
    found.digest[net] = kl.uint64(0)


@kl.kernel
def mark_pins(stretch, pins: SortedPins, found: DistinctPins):
    """Mark the first of equal pins of a stretch, and add these to the digests of their nets.

    Atomic; the result does not depend on the order.
    """
    begin = stretch * RUN
    net = pins.keys[begin] >> 32
    total = kl.uint64(0)
    for i in range(begin, min(begin + RUN, pins.pins)):
        key = pins.keys[i]
        is_first = i == 0
        if not is_first:
            is_first = pins.keys[i - 1] != key
        pins.first[i] = kl.int8(is_first)
        if key >> 32 != net:
            kl.atomic_add(found.digest, net, total)
            net = key >> 32
            total = kl.uint64(0)
        if is_first:
            total += kl.uint64(mixed((key & 0xFFFFFFFF) + 1))  # of 0 it is 0
    kl.atomic_add(found.digest, net, total)


@kl.kernel
def place_pin(i, pins: SortedPins, found: DistinctPins):
    """Copy pin i to its place among the distinct pins if it is one."""
    if pins.first[i] != 0:
        found.clusters[pins.places[i]] = kl.int32(pins.keys[i] & 0xFFFFFFFF)


@kl.kernel
def begin_net(net, nets: Nets, pins: SortedPins, found: DistinctPins):
    """Store where the next net begins; the first net begins at 0."""
    found.begin[net + 1] = pins.places[nets.end[net]]
    if net == 0:
        found.begin[0] = 0


NO_SLOT = -1
NO_NET = -1


def of_slots(sizes: FineNetSizes) -> int:
    """Return the number of slots of the table: two for each net."""
    return 2 * sizes.nets


def slot_type(sizes: FineNetSizes) -> np.dtype:
    """Return the type of places in the table."""
    return np.dtype(np.int32 if of_slots(sizes) <= MAX_INT32 else np.int64)


def of_net_tiles(sizes: FineNetSizes) -> int:
    """Return the number of tiles of nets."""
    return tiles_of(sizes.nets)


class CoarseNets(kl.Record):
    """The m nets of a hypergraph while it is contracted.

    Attributes
    ----------
    table : array of int32, shape (2 m,)
        A hash table by digests: the smallest net of each digest, or -1 if a slot is free.
    slot : array, shape (m,)
        Place of a net in the table; -1 if the net is removed.
    differs, stays : array of int8, shape (m,)
        Whether a net differs from the one of its slot, and whether it is in the coarse hypergraph.
    weights : array, shape (m,)
        The weight of a net that stays.
    sizes : array of int32, shape (m,)
        Its number of pins.
    number, offsets : array of int32 and of a type for offsets, shape (m + 1,)
        The number of the coarse net, and the place where it begins.
    number_sums, offset_sums : array of int64
        Scratch for scans of these.
    """

    table: Array = kl.work(np.int32, of_slots)
    slot: Array = kl.work(slot_type, "nets")
    differs: Array = kl.work(np.int8, "nets")
    stays: Array = kl.work(np.int8, "nets", outlives=True)
    weights: Array = kl.work("sum_type", "nets", outlives=True)
    sizes: Array = kl.work(np.int32, "nets")
    number: Array = kl.work(np.int32, lambda sizes: sizes.nets + 1, outlives=True)
    offsets: Array = kl.work("index_type", lambda sizes: sizes.nets + 1, outlives=True)
    number_sums: Array = kl.work(np.int64, of_net_tiles)
    offset_sums: Array = kl.work(np.int64, of_net_tiles)

    nets: int = kl.word()
    net_tiles: int = kl.word()
    max_size: int = kl.word()  # maximum number of pins of a net that stays


def record_merging(program: Program, work: Any, found: Any) -> None:
    """Record that nets are compared, and the remaining ones numbered.

    The program has the records ``work`` and ``found``, which are passed, and ``nets``.
    """
    program.launch(work.nets, clear_net)
    program.launch(work.nets, enter_net)
    program.launch(found.most_runs, compare_pins, team=RUN_TEAM)
    program.launch(work.nets, finish_net)
    record_scans(program, [(work.stays, work.number, work.number_sums),
                           (work.sizes, work.offsets, work.offset_sums)],
                 work.nets, work.net_tiles)


@kl.kernel
def clear_net(net, work: CoarseNets):
    """Reset a net, and free its share of the table."""
    work.differs[net] = kl.int8(0)
    work.weights[net] = 0
    for slot in range(2 * net, 2 * net + 2):
        work.table[slot] = kl.int32(NO_NET)


@kl.device
def size_of(net, found: DistinctPins):
    """Return the number of distinct pins of a net."""
    return kl.int64(found.begin[net + 1]) - kl.int64(found.begin[net])


@kl.device
def place_in(hashed, size):
    """Return the place 0 ... size-1 of a hash in a table of less than 2^31 entries."""
    return (((hashed & HIGHEST) >> 32) * size) >> 31


@kl.device
def key_of(net, found: DistinctPins):
    """Return the digest of a net as a non-negative number."""
    return kl.int64(found.digest[net] & kl.uint64(HIGHEST))


@kl.device
def slot_for(net, size, found: DistinctPins, work: CoarseNets):
    """Return the slot of a net's digest in a table of `size` slots, claimed if the digest is new.

    Atomic; which free slot is claimed depends on the order.  A slot that is taken contains any net
    of its digest.
    """
    key = key_of(net, found)
    slot = place_in(mixed(key), size)
    other = kl.atomic_cas(work.table, slot, kl.int32(NO_NET), kl.int32(net))
    searching = other != NO_NET
    if searching:
        searching = key_of(other, found) != key
    while searching:
        slot += 1
        if slot == size:
            slot = kl.int64(0)
        other = kl.atomic_cas(work.table, slot, kl.int32(NO_NET), kl.int32(net))
        searching = other != NO_NET
        if searching:
            searching = key_of(other, found) != key
    return slot


@kl.kernel
def enter_net(net, found: DistinctPins, work: CoarseNets):
    """Enter a net in the table if it can be cut and is not too large.

    Atomic; the smallest net of each digest does not depend on the order.
    """
    work.slot[net] = NO_SLOT
    size = size_of(net, found)
    if size >= 2 and size <= work.max_size:
        slot = slot_for(net, 2 * work.nets, found, work)
        work.slot[net] = slot
        kl.atomic_min(work.table, slot, kl.int32(net))


@kl.device
def is_like(i, net, leader, found: DistinctPins):
    """Whether a net has as many pins as its leader, and pin i equals the leader's."""
    same = size_of(leader, found) == size_of(net, found)
    if same:
        other = i - kl.int64(found.begin[net]) + kl.int64(found.begin[leader])
        same = found.clusters[other] == found.clusters[i]
    return same


@kl.kernel
def compare_pins(stretch, found: DistinctPins, work: CoarseNets):
    """Mark the nets of a stretch that differ from their leader; all threads write the same value.

    A net that differs from the leader of its digest stays, even if it equals another net.
    """
    net = row_at(stretch * RUN, found.begin, found.nets)
    end = min((stretch + 1) * RUN, kl.int64(found.begin[found.nets]))
    for i in range(stretch * RUN + kl.lane(), end, kl.team_size()):
        while found.begin[net + 1] <= i:
            net += 1
        slot = kl.int64(work.slot[net])
        if slot != NO_SLOT:
            leader = kl.int64(work.table[slot])
            if leader != net:
                if not is_like(i, net, leader, found):
                    work.differs[net] = kl.int8(1)


@kl.kernel
def finish_net(net, nets: Nets, found: DistinctPins, work: CoarseNets):
    """Keep a net that leads or differs; add the weight of any other net to that of its leader.

    Atomic; the result does not depend on the order.
    """
    slot = kl.int64(work.slot[net])
    stays = False
    if slot != NO_SLOT:
        leader = kl.int64(work.table[slot])
        stays = leader == net or work.differs[net] != 0
        if stays:
            leader = kl.int64(net)
        kl.atomic_add(work.weights, leader, kl.value_or(nets.weights, net, 1))
    work.stays[net] = kl.int8(stays)
    work.sizes[net] = kl.int32(0)
    if stays:
        work.sizes[net] = kl.int32(size_of(net, found))
