"""What becomes of nets when their pins are replaced by clusters: which are the same, which stay.

All pins are sorted by net and cluster, so that nets of any size are as many equal items of work.
The first of equal ones counts, and the counted ones are stored contiguously:

    net 0: 4 7 8    net 1: 5 7    clusters {4 5} {7 8}    ->    net 0: 0 1    net 1: 0 1

Then nets meet in a hash table by a digest of their distinct pins, and are compared pin by pin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.options import (
    FineNetSizes,
)
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
"""Pins of an item of work; consecutive ones are often of one net."""

RUN_TEAM = 8


class SortedPins(kl.Record):
    """All p pins, of which some are equal.

    Attributes
    ----------
    keys : array of int64, shape (p,)
        Net and cluster of each pin, sorted.
    first : array of int8, shape (p,)
        Whether a pin is the first of equal ones.
    places : array, shape (p + 1,)
        Numbers of such pins.
    tile_sums : array of int64
        For the scan of these.
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
        The clusters on the nets, and behind the last of these elements without meaning.
    begin : array, shape (m + 1,)
        Where each net begins there.
    digest : array of uint64, shape (m,)
        A sum over a net's pins.
    """

    clusters: Array = kl.work(np.int32, "pins")
    begin: Array = kl.work("index_type", lambda sizes: sizes.nets + 1)
    digest: Array = kl.work(np.uint64, "nets")

    nets: int = kl.word()
    most_runs: int = kl.word()  # no more runs of distinct pins


def distinct_pins(hypergraph: Hypergraph, cluster: Array) -> DistinctPins:
    """The distinct pins of all nets.  Does not synchronise.

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
    """Number of runs of pins."""
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
    """keys[i] = net and cluster of pin i, for the pins of the stretch."""
    net = row_at(stretch * RUN, nets.begin, num_nets)
    for i in range(stretch * RUN + kl.lane(), min((stretch + 1) * RUN, num_pins), kl.team_size()):
        while nets.end[net] <= i:
            net += 1
        keys[i] = (net << 32) | kl.int64(cluster[nets.pins[i]])


@kl.kernel
def clear_digest(net, found: DistinctPins):
    """No pin of the net has been added up."""
    found.digest[net] = kl.uint64(0)


@kl.kernel
def mark_pins(stretch, pins: SortedPins, found: DistinctPins):
    """Mark the first of equal pins of a stretch; add them to the digests.  Atomic, independent of
    order.
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
    """Put the distinct pins close together."""
    if pins.first[i] != 0:
        found.clusters[pins.places[i]] = kl.int32(pins.keys[i] & 0xFFFFFFFF)


@kl.kernel
def begin_net(net, nets: Nets, pins: SortedPins, found: DistinctPins):
    """Where the next net begins; the first one begins at 0."""
    found.begin[net + 1] = pins.places[nets.end[net]]
    if net == 0:
        found.begin[0] = 0


NO_SLOT = -1
NO_NET = -1


def of_slots(sizes: FineNetSizes) -> int:
    """Two slots for each net."""
    return 2 * sizes.nets


def slot_type(sizes: FineNetSizes) -> np.dtype:
    """The type of places in the table."""
    return np.dtype(np.int32 if of_slots(sizes) <= MAX_INT32 else np.int64)


def of_net_tiles(sizes: FineNetSizes) -> int:
    """A sum for each tile of nets."""
    return tiles_of(sizes.nets)


class CoarseNets(kl.Record):
    """The m nets of a hypergraph while it is contracted.

    Attributes
    ----------
    table : array of int32, shape (2 m,)
        A hash table by digests: the smallest net that has each, -1 where a slot is free.
    slot : array, shape (m,)
        Where a net is in the table; -1 if it is left out.
    differs, stays : array of int8, shape (m,)
        Whether a net differs from the one of its slot, and whether it is in the coarse hypergraph.
    weights : array, shape (m,)
        The weight of a net that stays.
    sizes : array of int32, shape (m,)
        Its pins.
    number, offsets : array of int32 and of a type for offsets, shape (m + 1,)
        The coarse net, and where it begins.
    number_sums, offset_sums : array of int64
        For scans of these.
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
    max_size: int = kl.word()  # most pins of a net that stays


def record_merging(program: Program, work: Any, found: Any) -> None:
    """Record how nets are compared, and the remaining ones numbered.

    The program has the records ``work`` and ``found``, which these are, and ``nets``.
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
    """Nothing is known of the net, and its share of the table is free."""
    work.differs[net] = kl.int8(0)
    work.weights[net] = 0
    for slot in range(2 * net, 2 * net + 2):
        work.table[slot] = kl.int32(NO_NET)


@kl.device
def size_of(net, found: DistinctPins):
    """Number of a net's distinct pins."""
    return kl.int64(found.begin[net + 1]) - kl.int64(found.begin[net])


@kl.device
def place_in(hashed, size):
    """Place 0 ... size-1 of a hash in a table of less than 2^31 entries."""
    return (((hashed & HIGHEST) >> 32) * size) >> 31


@kl.device
def key_of(net, found: DistinctPins):
    """The digest of a net as a number that is not negative."""
    return kl.int64(found.digest[net] & kl.uint64(HIGHEST))


@kl.device
def slot_for(net, size, found: DistinctPins, work: CoarseNets):
    """The slot of a net's digest in a table of this many, claimed if it is new; atomic, any free
    one.

    In a slot that is taken any net of the digest stands for it.
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
    """Enter a net that can be cut, and is not too large, in the table; atomic, independent of
    order.
    """
    work.slot[net] = NO_SLOT
    size = size_of(net, found)
    if size >= 2 and size <= work.max_size:
        slot = slot_for(net, 2 * work.nets, found, work)
        work.slot[net] = slot
        kl.atomic_min(work.table, slot, kl.int32(net))


@kl.device
def is_like(i, net, leader, found: DistinctPins):
    """Whether pin i of a net is the pin of a leader of as many pins that it compares with."""
    same = size_of(leader, found) == size_of(net, found)
    if same:
        other = i - kl.int64(found.begin[net]) + kl.int64(found.begin[leader])
        same = found.clusters[other] == found.clusters[i]
    return same


@kl.kernel
def compare_pins(stretch, found: DistinctPins, work: CoarseNets):
    """Note which nets of a stretch have not the pins of their leader; all write the same.

    Nets of one digest that differ all the same stay two nets, whatever others they equal.
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
    """A net stays if it leads or differs; else its leader takes its weight; atomic, independent of
    order.
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
