"""Large nets: which of them count in coarsening, and an order of vertices that have no others.

A net of very many pins is cut by nearly every partition, and looking at it costs most; it stays
where many vertices have no others.  Of identical nets one is enough, of the weight of all, and nets
of fewer than two pins cost nothing.  Contraction finds all that out for coarser levels; here it is
done where it spares enough.
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
"""From this share of repeated nets on they are merged before the first level is made."""

MAX_WITHOUT = 0.25
"""Up to this share of the vertices may have large nets only for these not to count."""


def reduced_nets(hypergraph: Hypergraph, options: NetOptions) -> Hypergraph:
    """The hypergraph itself, or one with less nets where that pays.  Waits for the device."""
    n = hypergraph.num_vertices
    largest = options.largest(n)
    if share_without(hypergraph, largest) > MAX_WITHOUT:
        largest = n
    if (hypergraph.max_net_size > largest
            or _repeated(hypergraph) > MIN_SPARED * hypergraph.num_nets):
        return merged_nets(hypergraph, largest)
    return hypergraph


def share_without(hypergraph: Hypergraph, max_net_size: int) -> float:
    """The share of the vertices whose nets all have more pins.

    Waits for the device if there are such nets; in a dry run there are no such vertices.
    """
    space, n = hypergraph.space, hypergraph.num_vertices
    if hypergraph.max_net_size <= max_net_size or space.is_dry_run:
        return 0.0
    marks: Array = space.empty(n, np.int32)
    space.parallel_for(n, mark_without, hypergraph.csr, net_sizes(hypergraph), max_net_size, marks)
    return sum_of(space, marks) / n


def net_sizes(hypergraph: Hypergraph) -> Array:
    """The number of pins of each net, as int32."""
    sizes: Array = hypergraph.space.empty(hypergraph.num_nets, np.int32)
    hypergraph.space.parallel_for(len(sizes), count_if_small, hypergraph.nets, MAX_INT32, sizes)
    return sizes


def _repeated(hypergraph: Hypergraph) -> int:
    """How many nets have the digest of another one that counts already."""
    space, m = hypergraph.space, hypergraph.num_nets
    digests: Array = space.empty(m, np.int64)
    team = team_for_longest(m, hypergraph.num_pins / max(1, m), hypergraph.max_net_size)
    space.parallel_for(m, digest_net, hypergraph.nets, digests, team=team)
    digests.sort()
    found = space.zeros(1, np.int64)
    space.parallel_for(-(-m // TILE), count_repeated, digests, m, found, team=256)
    return space.read(found, lambda: [0])[0]


def remove_large_nets(hypergraph: Hypergraph, max_net_size: int) -> Hypergraph:
    """The hypergraph itself, or one in which nets of more pins have none."""
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
    """Add how many sorted digests of a tile are those before them; atomic, independent of order."""
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
    """digests[net] = a sum over its pins, 0 if it has fewer than two: those cost nothing."""
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
    """marks[v] = whether v has nets, all of more pins."""
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
    """sizes[net] = how many pins a net has, or none if those are too many."""
    size = kl.int64(nets.end[net]) - kl.int64(nets.begin[net])
    sizes[net] = size if size <= max_net_size else kl.int64(0)


@kl.kernel
def keep_if_small(i, vertex_nets, sizes, kept):
    """kept[i] = whether net i of all vertices has pins."""
    kept[i] = kl.int32(sizes[vertex_nets[i]] > 0)


@kl.kernel
def copy_net(net, nets: Nets, offsets, pins):
    """Copy the pins of a net that has some still."""
    begin = kl.int64(offsets[net])
    for j in range(kl.lane(), kl.int64(offsets[net + 1]) - begin, kl.team_size()):
        pins[begin + j] = nets.pins[kl.int64(nets.begin[net]) + j]


@kl.kernel
def copy_kept(i, vertex_nets, kept, places, nets):
    """Copy a net of a vertex that has pins still."""
    if kept[i] != 0:
        nets[places[i]] = vertex_nets[i]


# An order of vertices by their nets, where most of them have large nets only ------------------
#
# Of such nets clustering examines the pins next to each vertex (`net_proposals.py`), which finds
# similar vertices if these have neighbouring numbers.  So vertices are renumbered, sorted by
# their smallest net, then by the second one, and so on: small nets in common count most.

KEY_BITS = 62


def places_by_nets(hypergraph: Hypergraph, options: NetOptions) -> Array | None:
    """The place of each vertex in the order of its nets, smallest first.

    Returns
    -------
    array of int32, shape (n,), or None
        None where enough vertices have a net that is rated.
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
    """The same with vertex v at place ``places[v]``, without nets of one pin, and each net once."""
    space, n = hypergraph.space, hypergraph.num_vertices
    alone = Clusters(n, cluster=places, count=space.full(1, n, np.int64))
    return contract_nets(hypergraph, alone, max_net_size=n)


@kl.kernel
def write_key(v, rows: Csr, ranks, bits, fields, keys):
    """keys[v] = the smallest ranks of v's nets, each of a number of bits."""
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
