"""The pins of nets when clusters take the place of vertices, each once.

All pins are sorted by net and cluster, so that nets of any size are as many equal items of work.
The first of equal ones counts, and the counted ones are stored contiguously.

    net 0: 4 7 8    net 1: 5 7    clusters {4 5} {7 8}    ->    net 0: 0 1    net 1: 0 1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.sizes import FineNetSizes, index_type, of_nets, of_pins
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.primitives.hashing import mixed
from portpart.primitives.pair_sort import sort_rows
from portpart.primitives.scan import record_scan, tiles_of

RUN = 32
"""Pins of an item of work; consecutive ones are often of one net."""

RUN_TEAM = 8


class SortedPins(WorkRecord):
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
    first: Array = work(np.int8, of_pins)
    places: Array = work(index_type, lambda sizes: sizes.pins + 1)
    tile_sums: Array = work(np.int64, lambda sizes: tiles_of(sizes.pins))

    pins: int = kl.word()
    runs: int = kl.word()  # runs of pins
    tiles: int = kl.word()


class DistinctPins(WorkRecord):
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

    clusters: Array = work(np.int32, of_pins)
    begin: Array = work(index_type, lambda sizes: sizes.nets + 1)
    digest: Array = work(np.uint64, of_nets)

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


def _record(records: dict[str, Any], like: FineNetSizes) -> Program:
    program = Program("distinct pins", sweeps=True, sizes=like)
    slots = program.declare(records)
    pins, found = slots["pins"], slots["found"]
    program.launch(found.nets, clear_digest)
    program.launch(pins.runs, mark_pins)
    record_scan(program, pins.first, pins.places, pins.tile_sums, pins.pins, pins.tiles)
    with program.side_by_side():
        program.launch(pins.pins, place_pin)
        program.launch(found.nets, begin_net)
    return program


@kl.device
def net_at(place, num_nets, begin):
    """The net that a place among the pins belongs to, by bisection."""
    low = kl.int64(0)
    high = kl.int64(num_nets) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if begin[middle] <= place:
            low = middle
        else:
            high = middle - 1
    return low


@kl.kernel
def pack_pins(stretch, num_nets, num_pins, nets: Nets, cluster, keys):
    """keys[i] = net and cluster of pin i, for the pins of the stretch."""
    net = net_at(stretch * RUN, num_nets, nets.begin)
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
