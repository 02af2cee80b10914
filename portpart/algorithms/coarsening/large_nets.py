"""Large nets: which of them coarsening uses, and an order of vertices that have no other nets.

Nearly every partition cuts a net of very many pins, and examining it takes longest.  Such nets are
removed unless many vertices have no others.  Identical nets are merged to one of their total
weight, and nets of fewer than two pins, which cost nothing, are removed.  Contraction does this for
coarser levels; here it is done for the finest one, if it saves enough.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.net_contraction import contract_nets, merged_nets
from portpart.algorithms.coarsening.options import NetOptions
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import MAX_INT32, Csr, Hypergraph, Nets, team_for, team_for_longest
from portpart.primitives import (
    TILE,
    converted,
    gather,
    iota,
    mixed,
    offsets_from_counts,
    put_to,
    row_measures,
    sort_keys,
    sum_of,
)

MIN_SPARED = 0.05
"""If more than this share of the nets are repeated, they are merged before the first level."""

MAX_WITHOUT = 0.25
"""Large nets are ignored if at most this share of the vertices has no other nets."""


def reduced_nets(hypergraph: Hypergraph, options: NetOptions) -> Hypergraph:
    """Return the hypergraph, or one with fewer nets if that saves enough.  Waits for the device."""
    n = hypergraph.num_vertices
    largest = options.largest(n)
    if share_without(hypergraph, largest) > MAX_WITHOUT:
        largest = n
    if (hypergraph.max_net_size > largest
            or _repeated(hypergraph) > MIN_SPARED * hypergraph.num_nets):
        return merged_nets(hypergraph, largest)
    return hypergraph


def share_without(hypergraph: Hypergraph, max_net_size: int) -> float:
    """Return the share of the vertices whose nets all have more than `max_net_size` pins.

    Waits for the device if there are such nets.  In a dry run there are no such vertices.
    """
    space, n = hypergraph.space, hypergraph.num_vertices
    if hypergraph.max_net_size <= max_net_size or space.is_dry_run:
        return 0.0
    marks: Array = space.empty(n, np.int32)
    space.parallel_for(n, mark_without, hypergraph.csr, net_sizes(hypergraph), max_net_size, marks)
    return sum_of(space, marks) / n


def net_sizes(hypergraph: Hypergraph) -> Array:
    """Return the number of pins of each net, as int32."""
    sizes: Array = hypergraph.space.empty(hypergraph.num_nets, np.int32)
    hypergraph.space.parallel_for(len(sizes), count_if_small, hypergraph.nets, MAX_INT32, sizes)
    return sizes


def _repeated(hypergraph: Hypergraph) -> int:
    """Return the number of nets that have the digest of an earlier one."""
    space, m = hypergraph.space, hypergraph.num_nets
    digests: Array = space.empty(m, np.int64)
    team = team_for_longest(m, hypergraph.num_pins / max(1, m), hypergraph.max_net_size)
    space.parallel_for(m, digest_net, hypergraph.nets, digests, team=team)
    digests.sort()
    found = space.zeros(1, np.int64)
    space.parallel_for(-(-m // TILE), count_repeated, digests, m, found, team=256)
    return space.read(found, lambda: [0])[0]


def remove_large_nets(hypergraph: Hypergraph, max_net_size: int) -> Hypergraph:
    """Return the hypergraph, or one in which nets with more than `max_net_size` pins are empty."""
    if hypergraph.max_net_size <= max_net_size:
        return hypergraph
    space, (m, p) = hypergraph.space, (hypergraph.num_nets, hypergraph.num_pins)
    sizes, kept = space.empty(m, np.int32), space.empty(p, np.int32)
    space.parallel_for(m, count_if_small, hypergraph.nets, max_net_size, sizes)
    space.parallel_for(p, keep_if_small, hypergraph.vertex_nets, sizes, kept)
    places = offsets_from_counts(space, kept)
    offsets = offsets_from_counts(space, sizes, hypergraph.net_offsets.dtype)
    vertex_offsets = converted(space, gather(space, places, hypergraph.vertex_offsets),
                               offsets.dtype)
    known: dict[str, int] = {name: value for name, value in hypergraph._totals.items()
                             if name in ("vertex", "net")}
    longest = {name: space.fetch(row_measures(space, rows))
               for name, rows in (("size", offsets), ("degree", vertex_offsets))}
    count, = space.read(places[p:], lambda: [p])
    if not space.is_dry_run:
        known.update((name, int(arrived()[0])) for name, arrived in longest.items())
    pins, nets = space.empty(count, np.int32), space.empty(count, np.int32)
    space.parallel_for(m, copy_net, hypergraph.nets, offsets, pins, team=32)
    space.parallel_for(p, copy_kept, hypergraph.vertex_nets, kept, places, nets)
    return replace(hypergraph, net_offsets=offsets, net_pins=pins, vertex_nets=nets,
                   vertex_offsets=vertex_offsets, _totals=known)


@kl.kernel
def count_repeated(tile, digests, size, found):
    """Count the sorted digests of a tile that equal the previous ones.

    Atomic; the result does not depend on the order.
    """
    count = kl.int64(0)
    for i in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, size), kl.team_size()):
        if i > 0:
            if digests[i] == digests[i - 1]:
                count += 1
    count = kl.team_sum(count)
    if kl.lane() == 0:
        kl.atomic_add(found, 0, count)


@kl.kernel
def digest_net(net, nets: Nets, digests):
    """digests[net] = a hash of its set of pins; 0 for fewer than two pins, which cost nothing."""
    begin = kl.int64(nets.begin[net])
    end = kl.int64(nets.end[net])
    low = kl.int64(0)
    high = kl.int64(0)
    if end - begin >= 2:
        for place in range(begin + kl.lane(), end, kl.team_size()):
            hashed = kl.uint64(mixed(kl.int64(nets.pins[place]) + 1))
            low += kl.int64(hashed & kl.uint64(0xFFFFFFFF))
            high += kl.int64(hashed >> kl.uint64(32))
    low = kl.team_sum(low)
    high = kl.team_sum(high)
    if kl.lane() == 0:
        digests[net] = 0 if high == 0 else mixed(low ^ mixed(high))


@kl.kernel
def mark_without(v, rows: Csr, sizes, max_net_size, marks):
    """marks[v] = whether v has nets, and all of them more than `max_net_size` pins."""
    begin = kl.int64(rows.begin[v])
    end = kl.int64(rows.end[v])
    small = kl.int64(0)
    i = begin
    while i < end and small == 0:
        if sizes[rows.targets[i]] <= max_net_size:
            small = kl.int64(1)
        i += 1
    marks[v] = kl.int32(begin < end and small == 0)


@kl.kernel
def count_if_small(net, nets: Nets, max_net_size, sizes):
    """sizes[net] = the number of its pins, or 0 if it is above `max_net_size`."""
    size = kl.int64(nets.end[net]) - kl.int64(nets.begin[net])
    sizes[net] = size if size <= max_net_size else kl.int64(0)


@kl.kernel
def keep_if_small(i, vertex_nets, sizes, kept):
    """kept[i] = whether the i-th entry of all vertices is a net with pins."""
    kept[i] = kl.int32(sizes[vertex_nets[i]] > 0)


@kl.kernel
def copy_net(net, nets: Nets, offsets, pins):
    """Copy the pins of a net that is kept."""
    begin = kl.int64(offsets[net])
    for j in range(kl.lane(), kl.int64(offsets[net + 1]) - begin, kl.team_size()):
        pins[begin + j] = nets.pins[kl.int64(nets.begin[net]) + j]


@kl.kernel
def copy_kept(i, vertex_nets, kept, places, nets):
    """Copy the i-th entry of all vertices if its net is kept."""
    if kept[i] != 0:
        nets[places[i]] = vertex_nets[i]


# An order of vertices by their nets, if many of them have only large nets ----------------------
#
# In such nets clustering examines the pins next to each vertex (`net_proposals.py`).  This finds
# similar vertices if their numbers are close.  Vertices are therefore sorted by their smallest net,
# then by the second smallest, and so on: small common nets count most.

KEY_BITS = 62


def places_by_nets(hypergraph: Hypergraph, options: NetOptions) -> Array | None:
    """Return the place of each vertex in the order by their nets, smallest first.

    Returns
    -------
    array of int32, shape (n,), or None
        None if enough vertices have a net that is rated.
    """
    if share_without(hypergraph, options.max_rated) <= MAX_WITHOUT:
        return None
    space, n, m = hypergraph.space, hypergraph.num_vertices, hypergraph.num_nets
    _, nets = sort_keys(space, net_sizes(hypergraph))
    bits = m.bit_length()
    keys = space.empty(n, np.int64)
    space.parallel_for(n, write_key, hypergraph.csr, put_to(space, nets, iota(space, m)), bits,
                       KEY_BITS // bits, keys, team=team_for(hypergraph.mean_degree))
    _, vertices = sort_keys(space, keys)
    return put_to(space, vertices, iota(space, n))


def in_order(hypergraph: Hypergraph, places: Array) -> Hypergraph:
    """Return the hypergraph with vertex v at ``places[v]`` and with nets as by `merged_nets`."""
    space, n = hypergraph.space, hypergraph.num_vertices
    alone = Clusters(n, cluster=places, count=space.full(1, n, np.int64))
    return contract_nets(hypergraph, alone, max_net_size=n)


@kl.kernel
def write_key(v, rows: Csr, ranks, bits, fields, keys):
    """keys[v] = the smallest ranks of v's nets, in `bits` bits each."""
    key = kl.int64(0)
    last = kl.int64(-1)
    for _ in range(fields):
        least = (kl.int64(1) << bits) - 1
        for i in range(rows.begin[v] + kl.lane(), rows.end[v], kl.team_size()):
            rank = kl.int64(ranks[rows.targets[i]])
            if rank > last:
                least = min(least, rank)
        last = kl.team_min(least)
        key = (key << bits) | last
    if kl.lane() == 0:
        keys[v] = key
