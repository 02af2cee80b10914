"""The cluster that a vertex of a hypergraph proposes: its nets are added up by the clusters on
them.

A net of weight w and of |e| pins counts w / (|e| - 1), or w / |e|, for each of the others that it
joins a vertex with, a scaled integer, so that sums depend on no order; nets of very many pins do
not count.  Like arcs, they are added up in a hash row, in scratch memory where that surely has
room.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.coarsening.cluster_ratings import (
    Clustering,
    ClusterRow,
    HashRows,
    cluster_at,
    may_be_in,
    rate_slot,
)
from portpart.algorithms.coarsening.proposals import cluster_capacity
from portpart.algorithms.coarsening.rated_nets import (
    RatedNets,
    sampled_pins,
    sampled_place,
    size_of,
)
from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record, Static
from portpart.graphs.rows import Csr, degree_of
from portpart.primitives.best_candidate import Choice, best_candidate, keep_best_score
from portpart.primitives.hash_rows import EMPTY, claim_slot_in_team


class PinSpans(Record):
    """Where the pins of the nets that a team takes at once are.

    Attributes
    ----------
    stops, shifts, counts : team array of int32, int64 and int64
        Pins at the positions before stops[i] and behind the earlier nets' are pins of net i,
        shifts[i] before them among all pins, and count counts[i] each.
    """

    stops: Array
    shifts: Array
    counts: Array


@kl.device
def add_up_nets(v, rated: RatedNets, row: ClusterRow, turns: PinSpans, first, last):
    """Add up the nets of v in the hash row first ... last-1, by the clusters on them.

    Every lane takes a net, and then pins of all these nets.
    """
    for slot in range(first + kl.lane(), last, kl.team_size()):
        row.keys[slot] = kl.int32(EMPTY)
        row.sums[slot] = 0
    end = kl.int64(rated.rows.end[v])
    label = kl.value_or(row.label, v, 0)
    for base in range(kl.int64(rated.rows.begin[v]), end, kl.team_size()):
        start = kl.int64(0)
        size = kl.int64(0)
        if base + kl.lane() < end:
            net = rated.rows.targets[base + kl.lane()]
            size = sampled_pins(v, net, rated.log2_rate[v], rated, row.seed)
            start = sampled_place(v, net, size, rated.nets)
            shares = max(kl.int64(1), size_of(net, rated.nets) - rated.without)
            turns.counts[kl.lane()] = rated.unit * kl.value_or(rated.nets.weights, net, 1) // shares
        stop = kl.team_scan(size)
        turns.stops[kl.lane()] = kl.int32(stop)
        turns.shifts[kl.lane()] = start - (stop - size)
        pins = kl.team_last(stop)
        kl.team_sync()
        i = kl.int64(-1)
        stop = kl.int64(0)
        shift = kl.int64(0)
        count = kl.int64(0)
        for position in range(kl.lane(), pins, kl.team_size()):
            while stop <= position:
                i += 1
                stop = kl.int64(turns.stops[i])
                shift = turns.shifts[i]
                count = turns.counts[i]
            u = rated.nets.pins[position + shift]
            if u != v and kl.value_or(row.label, u, 0) == label:
                slot = claim_slot_in_team(row.keys, first, last, row.cluster[u])
                kl.team_atomic_add(row.sums, slot, count)
        kl.team_sync()
    return last


@kl.device
def may_be_at(v, c, own, room, graph: Csr, row: ClusterRow):
    """Whether the slot where c was read is taken by a cluster that v may be in."""
    return c != EMPTY and may_be_in(v, c, own, room, graph, row)


@kl.device
def sum_at(slot, c, v, graph: Csr, row: ClusterRow):
    """The sum at a slot of a hash row, whatever the cluster weighs."""
    return row.sums[slot]


BY_WEIGHT = Choice(cluster_at, may_be_at, rate_slot, keep_best_score, kl.float64)
BY_SUM = Choice(cluster_at, may_be_at, sum_at, keep_best_score, kl.int64)
"""The best cluster of a hash row: sums are compared with the weights of clusters, or not."""


@dataclass(frozen=True)
class NetRating(Static):
    """How clusters are rated whose pins are added up in hash rows.

    Attributes
    ----------
    slots : int
        Slots of a row in scratch memory.
    team : int
        Lanes of a team, at most.
    choice : Choice
    """

    slots: int
    team: int
    choice: Choice = BY_WEIGHT


class PinRange(Record):
    """The numbers of pins of the vertices that a launch is for: more than `above`, up to `most`."""

    above: int
    most: int


@kl.kernel
def propose_cluster_by_nets(i, listed, graph: Csr, clusters: Clustering, rated: RatedNets,
                            rows: HashRows, looked_at: PinRange, by: NetRating):
    """Wish of vertex listed[i], if the pins that it examines are of a number in a range."""
    near = ClusterRow(seed=clusters.seed, proposal=clusters.proposal,
                      max_weight=clusters.max_weight,
                      label=clusters.label, cluster=clusters.cluster,
                      cluster_weight=clusters.cluster_weight, total=clusters.total,
                      keys=kl.team_array(kl.int32, by.slots),
                      sums=kl.team_array(kl.int64, by.slots))
    far = ClusterRow(seed=clusters.seed, proposal=clusters.proposal, max_weight=clusters.max_weight,
                     label=clusters.label, cluster=clusters.cluster,
                     cluster_weight=clusters.cluster_weight, total=clusters.total,
                     keys=rows.keys, sums=rows.sums)
    turns = PinSpans(
        stops=kl.team_array(kl.int32, by.team), shifts=kl.team_array(kl.int64, by.team),
        counts=kl.team_array(kl.int64, by.team))
    v = listed[i]
    pins = degree_of(v, graph)
    if pins > looked_at.above and pins <= looked_at.most:
        own = clusters.cluster[v]
        room = cluster_capacity(v, graph, clusters)
        first = kl.int64(rated.far[v])
        last = kl.int64(rated.far[v + 1])
        if first == last:
            last = min(by.slots, 2 * pins)
            add_up_nets(v, rated, near, turns, 0, last)
            best_candidate(v, own, room, 0, last, graph, near, by.choice)
        else:
            add_up_nets(v, rated, far, turns, first, last)
            best_candidate(v, own, room, first, last, graph, far, by.choice)
