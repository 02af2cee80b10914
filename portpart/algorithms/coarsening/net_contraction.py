"""Contraction of a hypergraph: clusters become pins, each once, and identical nets are merged.

Each net keeps its distinct pins.  Nets of fewer than two pins cost nothing and are removed.  A hash
table of digests finds nets that may be identical, which are compared pin by pin.  Of identical nets
the one of the smallest number remains, with the weight of all (`net_merging.py`).

    net 0: 4 7 8    net 1: 5 7    clusters {4 5} {7 8}    ->    net 0: 0 1, of the weight of both
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening import net_merging
from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.options import FineNetSizes
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Program, Records
from portpart.graphs import MAX_INT32_ARCS, Hypergraph, unpacked
from portpart.primitives import SCAN_TILE, TEAM, iota, row_at, sorted_pairs, tiles_of


class NetTotals(kl.Words):
    """Numbers of clusters, coarse nets and coarse pins, the nets' weight, and the largest size."""

    clusters: int
    nets: int
    pins: int
    net_weight: int
    max_size: int


def merged_nets(hypergraph: Hypergraph, max_net_size: int) -> Hypergraph:
    """Return the hypergraph with identical nets merged.

    Nets of fewer than two pins, or of more than `max_net_size`, are removed.
    """
    space, n = hypergraph.space, hypergraph.num_vertices
    everyone = Clusters(n, cluster=iota(space, n), count=space.full(1, n, np.int64))
    return contract_nets(hypergraph, everyone, max_net_size=max_net_size)


def contract_in_walk(hypergraph: Hypergraph, clusters: Clusters,
                     weight_type: np.dtype) -> Hypergraph:
    """Return the hypergraph of clusters, whose net weights have a type that fits their sum.

    Reads the highest degree ahead, which refinement needs while a coarser level is still refined.
    """
    coarse = contract_nets(hypergraph, clusters)
    coarse.prefetch_max_degree()
    return coarse


def contract_nets(hypergraph: Hypergraph, clusters: Clusters, weight_type: np.dtype | None = None,
                  max_net_size: int | None = None) -> Hypergraph:
    """Return the quotient of `hypergraph`: pins of a cluster become one, identical nets are merged.

    Waits for the device once, to read the numbers of clusters, of coarse nets and of coarse pins.

    Parameters
    ----------
    hypergraph : Hypergraph
    clusters : Clusters
    weight_type : dtype, optional
        Type of the coarse net weights, by default `hypergraph.weight_sum_dtype`.
    max_net_size : int, optional
        Nets of more clusters are removed.

    Returns
    -------
    Hypergraph
        Vertices are the clusters, with their weights.  Of identical nets the one of the smallest
        number remains, with the weight of all; nets keep their order.

    Notes
    -----
    Time O(p log p) for p pins.  Memory: 17 bytes per pin and 12 per net; then 4 per pin and 42 per
    net; in the end 20 per coarse pin.
    """
    rows, found = _rows(hypergraph, clusters, weight_type, max_net_size)
    space, count = hypergraph.space, int(found.clusters)
    vertex_weights = space.zeros(count, np.int64)
    space.parallel_for(hypergraph.num_vertices, add_vertex_weight, clusters.cluster,
                       hypergraph.vertex_weights, vertex_weights)
    known = {"vertex": hypergraph.total_vertex_weight, "net": int(found.net_weight),
             "size": int(found.max_size)}
    if space.is_dry_run:
        known["degree"] = _guess_of_degree(hypergraph, found,
                                           _all_stay(hypergraph, clusters, max_net_size))
    return Hypergraph(**rows, vertex_weights=vertex_weights, space=space, _totals=known)


def _all_stay(hypergraph: Hypergraph, clusters: Clusters, max_net_size: int | None) -> bool:
    """Whether a guess may assume that each vertex is a single cluster."""
    return clusters.max_count == hypergraph.num_vertices and max_net_size is not None


def _guess(hypergraph: Hypergraph, max_net_size: int | None, all_stay: bool) -> list[int]:
    """Guess the totals from those of circuits; if only nets are merged, all vertices stay."""
    n, m, p = hypergraph.num_vertices, hypergraph.num_nets, hypergraph.num_pins
    weight, size = hypergraph.total_net_weight, hypergraph.max_net_size
    size = size if max_net_size is None else min(size, max_net_size)
    if all_stay:
        return [n, m, 9 * p // 10, weight, size]
    return [n // 3, 5 * m // 8, 3 * p // 5, weight, min(size, n // 3)]


def _guess_of_degree(hypergraph: Hypergraph, found: NetTotals, all_stay: bool) -> int:
    """Guess the highest degree: a cluster has the nets of its members, but some are identical."""
    mean, highest = int(found.pins) // max(1, int(found.clusters)), hypergraph.max_degree
    return max(3 * mean, 3 * highest // 4 if all_stay else min(5 * highest // 4, 512))


def _rows(hypergraph: Hypergraph, clusters: Clusters, weight_type: np.dtype | None,
          max_net_size: int | None) -> tuple[dict[str, Any], NetTotals]:
    """Return rows of nets and of vertices, weights of nets, and their totals.

    Arrays that are no longer read are freed before the next ones are allocated.
    """
    space, sizes = hypergraph.space, FineNetSizes.of(hypergraph)
    pins = net_merging.distinct_pins(hypergraph, clusters.cluster)
    work = net_merging.CoarseNets.outliving(space, sizes).with_words(
        nets=sizes.nets, net_tiles=tiles_of(sizes.nets),
        max_size=sizes.vertices if max_net_size is None else max_net_size)
    totals = _merged(hypergraph, clusters, pins, work)
    pins = pins.replaced(digest=None)
    all_stay = _all_stay(hypergraph, clusters, max_net_size)
    found = NetTotals(space.read(totals.array, lambda: space.guess(
        "nets", hypergraph, _guess(hypergraph, max_net_size, all_stay))))
    count, m, p = int(found.clusters), int(found.nets), int(found.pins)
    rows = {"net_offsets": space.empty(m + 1, np.int32 if p <= MAX_INT32_ARCS else np.int64),
            "net_weights": space.empty(m, weight_type or hypergraph.weight_sum_dtype),
            "net_pins": space.empty(p, np.int32)}
    turned = space.empty(p, np.int64)
    space.parallel_for(sizes.nets + 1, copy_net, sizes.nets, work, rows["net_offsets"],
                       rows["net_weights"])
    space.parallel_for(net_merging.runs_of(sizes.pins), copy_pins, sizes.nets, pins, work,
                       rows["net_pins"], turned, team=net_merging.RUN_TEAM)
    del pins, work
    turned = sorted_pairs(space, turned, count, None)
    rows["vertex_offsets"], rows["vertex_nets"], _ = unpacked(space, count, turned, None)
    return rows, found


def _merged(hypergraph: Hypergraph, clusters: Clusters, found: net_merging.DistinctPins,
            work: net_merging.CoarseNets) -> NetTotals:
    """Merge nets in the record `work`, and return the totals."""
    space, sizes = hypergraph.space, FineNetSizes.of(hypergraph)
    totals = NetTotals(space.empty(len(NetTotals.indices), np.int64))
    records: dict[str, kl.Record | kl.Words] = {
        "nets": hypergraph.nets, "found": found, "work": work, "totals": totals}
    executable = space.cached_executable(
        ("net contraction", *hypergraph.type_key, sizes.sum_type, net_merging.slot_type(sizes)),
        lambda: _record(records, sizes))
    executable.run({**records, "count": clusters.count}, max(sizes.nets, sizes.pins), sizes)
    return totals


def _record(records: Records, like: FineNetSizes) -> Program:
    program = Program("net contraction", threads=MANY, sizes=like)
    slots = program.declare(records)
    program.array("count", np.int64)
    net_merging.record_merging(program, slots["work"], slots["found"])
    program.launch(1, begin_totals)
    program.launch(slots["work"].net_tiles, survey_nets, team=TEAM)
    return program


@kl.kernel
def begin_totals(_, count, work: net_merging.CoarseNets, totals: NetTotals):
    """Store the numbers of clusters, nets and pins, and set the other totals to 0."""
    totals.clusters = count[0]
    totals.nets = work.number[work.nets]
    totals.pins = work.offsets[work.nets]
    totals.net_weight = 0
    totals.max_size = 0


@kl.kernel
def survey_nets(tile, work: net_merging.CoarseNets, totals: NetTotals):
    """Add the weights of the coarse nets of a tile, and update the largest size.

    Atomic; the result does not depend on the order.
    """
    weight = kl.int64(0)
    max_size = kl.int64(0)
    last = min((tile + 1) * SCAN_TILE, work.nets)
    for net in range(tile * SCAN_TILE + kl.lane(), last, kl.team_size()):
        if work.stays[net] != 0:
            weight += work.weights[net]
            max_size = max(max_size, kl.int64(work.sizes[net]))
    weight = kl.team_sum(weight)
    max_size = kl.team_max(max_size)
    if kl.lane() == 0:
        kl.atomic_add(totals, NetTotals.net_weight, weight)
        kl.atomic_max(totals, NetTotals.max_size, max_size)


@kl.kernel
def copy_net(net, num_nets, work: net_merging.CoarseNets, offsets, weights):
    """Copy weight and offset of a net that stays; the item behind the last net ends the rows."""
    stays = net == num_nets
    if not stays:
        stays = work.stays[net] != 0
    if stays:
        offsets[work.number[net]] = work.offsets[net]
        if net < num_nets:
            weights[work.number[net]] = work.weights[net]


@kl.kernel
def copy_pins(stretch, num_nets, found: net_merging.DistinctPins, work: net_merging.CoarseNets,
              pins, turned):
    """Copy pins of nets that stay, and write (cluster, net) of each as a key for sorting."""
    net = row_at(stretch * net_merging.RUN, found.begin, num_nets)
    end = min((stretch + 1) * net_merging.RUN, kl.int64(found.begin[num_nets]))
    for i in range(stretch * net_merging.RUN + kl.lane(), end, kl.team_size()):
        while found.begin[net + 1] <= i:
            net += 1
        if work.stays[net] != 0:
            c = found.clusters[i]
            place = kl.int64(work.offsets[net]) + i - kl.int64(found.begin[net])
            pins[place] = c
            turned[place] = (kl.int64(c) << 32) | kl.int64(work.number[net])


@kl.kernel
def add_vertex_weight(v, cluster, weights, sums):
    """Add the weight of v to its cluster's.  Atomic; the result does not depend on the order."""
    kl.atomic_add(sums, cluster[v], kl.value_or(weights, v, 1))
