"""What becomes of nets when their pins are replaced by clusters: which are the same, which stay.

Nets meet in a hash table by a digest of their distinct pins, and are compared pin by pin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.distinct_pins import RUN, RUN_TEAM, DistinctPins, net_at
from portpart.algorithms.coarsening.pairing import POSITIVE, place_in
from portpart.algorithms.coarsening.sizes import FineNetSizes, index_type, of_nets, sum_type
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.hypergraph import Nets
from portpart.graphs.limits import MAX_INT32
from portpart.primitives.hashing import mixed
from portpart.primitives.scan import record_scans, tiles_of

NO_SLOT = -1
NO_NET = -1


def of_slots(sizes: FineNetSizes) -> int:
    """Two slots for each net."""
    return 2 * sizes.nets


def slot_type(sizes: FineNetSizes) -> np.dtype[Any]:
    """The type of places in the table."""
    return np.dtype(np.int32 if of_slots(sizes) <= MAX_INT32 else np.int64)


def of_net_tiles(sizes: FineNetSizes) -> int:
    """A sum for each tile of nets."""
    return tiles_of(sizes.nets)


class CoarseNets(WorkRecord):
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

    table: Array = work(np.int32, of_slots)
    slot: Array = work(slot_type, of_nets)
    differs: Array = work(np.int8, of_nets)
    stays: Array = work(np.int8, of_nets, outlives=True)
    weights: Array = work(sum_type, of_nets, outlives=True)
    sizes: Array = work(np.int32, of_nets)
    number: Array = work(np.int32, lambda sizes: sizes.nets + 1, outlives=True)
    offsets: Array = work(index_type, lambda sizes: sizes.nets + 1, outlives=True)
    number_sums: Array = work(np.int64, of_net_tiles)
    offset_sums: Array = work(np.int64, of_net_tiles)

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
def key_of(net, found: DistinctPins):
    """The digest of a net as a number that is not negative."""
    return kl.int64(found.digest[net] & kl.uint64(POSITIVE))


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
    net = net_at(stretch * RUN, found.nets, found.begin)
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
