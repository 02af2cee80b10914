"""The cluster that a vertex proposes: the best rated adjacent one with free capacity.

The rating is the weight of the arcs to the cluster divided by the square root of the cluster's
weight.  Light clusters grow first, so that their weights stay even.  (Cuts are 0.6 % lower than
with the weight of the arcs alone, or with that divided by the cluster's weight.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.coarsening.options import FineSizes
from portpart.algorithms.coarsening.proposals import (
    Choice,
    Proposals,
    best_candidate,
    cluster_capacity,
    head_of,
    keep_best_score,
    may_join,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, degree_of, global_id
from portpart.primitives import EMPTY, HIGHEST, NO_VERTEX, claim_slot_in_team, pair_hash

MAX_NARROW = 16
"""Up to this degree arcs are added up by comparing all pairs, without a hash row."""

MAX_ROW = 192
"""Vertices of higher degree get the widest team, whose scratch memory holds longer hash rows.  Rows
of lower degree fit into scratch memory on every device."""


@kl.device
def tie_of_ids(v, c, own, graph: Csr, seed):
    """Return the key that breaks ties between equal ratings; that of `own` is the highest."""
    result = kl.int64(HIGHEST)
    if c != own:
        result = pair_hash(global_id(v, graph), global_id(c, graph), seed)
    return result


@dataclass(frozen=True)
class Rating(kl.Static):
    """The ratings of candidates, and what `best_candidate` keeps of the best one.

    Attributes
    ----------
    neighbour, cluster, slot : DeviceFunction
        Return the rating of a single vertex at the head of an arc, of a cluster at the head of an
        arc, and of a cluster in a hash row.
    keep : DeviceFunction
    score_type : Word
        Type of the rating of a neighbour.
    """

    neighbour: kl.DeviceFunction
    cluster: kl.DeviceFunction
    slot: kl.DeviceFunction
    keep: kl.DeviceFunction = keep_best_score
    score_type: kl.Word = kl.float64

    @property
    def of_neighbours(self) -> Choice:
        """The choice among single vertices."""
        return Choice(head_of, may_join, self.neighbour, self.keep, self.score_type, tie=tie_of_ids)

    @property
    def of_clusters(self) -> Choice:
        """The choice among clusters at the heads of arcs."""
        return Choice(cluster_of_head, may_be_in, self.cluster, self.keep, kl.float64,
                      tie=tie_of_ids)

    @property
    def of_rows(self) -> Choice:
        """The choice among clusters in a hash row."""
        return Choice(cluster_at, is_taken, self.slot, self.keep, kl.float64, tie=tie_of_ids)


@dataclass(frozen=True)
class RowRating(kl.Static):
    """The rating of clusters whose arcs are added up in hash rows.

    Attributes
    ----------
    slots : int
        Slots of a row in scratch memory.
    sum_type : Word
        Type of the sums there.
    rating : Rating
    """

    slots: int
    sum_type: kl.Word
    rating: Rating


def row_slots(sizes: FineSizes) -> int:
    """Return the number of slots in main memory: one per arc of vertices that may need them."""
    if min(sizes.arcs, sizes.max_degree) <= MAX_ROW:
        return 0
    return sizes.arcs if sizes.slots is None else sizes.slots


class HashRows(kl.Record):
    """Hash rows in main memory, of vertices of high degree.

    Attributes
    ----------
    keys : array of int32
    sums : array of int32 or int64
    """

    keys: Array = kl.work(np.int32, row_slots)
    sums: Array = kl.work("sum_type", row_slots)

    taken: int = kl.word()  # slots that vertices have taken in a round


class ClusterRow(Proposals):
    """The arcs or nets of one vertex, added up by clusters in a hash row.

    Attributes
    ----------
    keys, sums : array
        Arrays that contain the row.
    """

    keys: Array = kl.absent()
    sums: Array = kl.absent()


@kl.device
def rating(arc_weight, cluster_weight):
    """Return the squared weight of arcs divided by the cluster's weight; equal on every space."""
    weight = kl.float64(arc_weight)
    return weight * weight / kl.float64(max(1, cluster_weight))


@kl.device
def may_be_in(v, c, own, limit, graph: Csr, clusters: Proposals):
    """Whether c is v's own cluster, or has v's label and weighs at most `limit`."""
    return c == own or (clusters.cluster_weight[c] <= limit and (
        kl.value_or(clusters.label, c, 0) == kl.value_or(clusters.label, v, 0)))


@kl.device
def weight_towards(v, c, graph: Csr, clusters: Proposals):
    """Return the weight of the arcs from v to cluster c."""
    total = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        if clusters.cluster[graph.targets[arc]] == c:
            total += kl.value_or(graph.weights, arc, 1)
    return total


@kl.device
def rate_neighbour(arc, u, v, graph: Csr, clusters: Proposals):
    """Return the rating of a single vertex."""
    return rating(kl.value_or(graph.weights, arc, 1), kl.value_or(graph.vertex_weights, u, 1))


@kl.device
def cluster_of_head(arc, graph: Csr, clusters: Proposals):
    """Return the cluster of the head of an arc."""
    return clusters.cluster[graph.targets[arc]]


@kl.device
def rate_cluster(arc, c, v, graph: Csr, clusters: Proposals):
    """Return the rating of an adjacent cluster, from all arcs of v."""
    return rating(weight_towards(v, c, graph, clusters), clusters.cluster_weight[c])


@kl.device
def cluster_at(slot, graph: Csr, row: ClusterRow):
    """Return the cluster at a slot of a hash row."""
    return row.keys[slot]


@kl.device
def is_taken(v, c, own, limit, graph: Csr, row: ClusterRow):
    """Whether the slot that contains c is taken."""
    return c != EMPTY


@kl.device
def rate_slot(slot, c, v, graph: Csr, row: ClusterRow):
    """Return the rating of the cluster at a slot of a hash row."""
    return rating(row.sums[slot], row.cluster_weight[c])


HEAVY_EDGE = Rating(rate_neighbour, rate_cluster, rate_slot)


@kl.kernel
def propose_neighbour(i, wide, graph: Csr, proposals: Proposals, max_degree, by: Choice):
    """Propose a neighbour of vertex i, or wide[i]; none for degrees above `max_degree`."""
    v = kl.value_or(wide, i, i)
    limit = cluster_capacity(v, graph, proposals)
    end = kl.int64(graph.end[v])
    if degree_of(v, graph) > max_degree:
        end = kl.int64(graph.begin[v])
    best_candidate(v, kl.int32(NO_VERTEX), limit, graph.begin[v], end, graph, proposals, by)


@kl.kernel
def propose_cluster(i, active, graph: Csr, clusters: Proposals, by: Rating):
    """Propose a cluster for vertex active[i], if its degree is low."""
    v = active[i]
    if degree_of(v, graph) <= MAX_NARROW:
        own = clusters.cluster[v]
        limit = cluster_capacity(v, graph, clusters)
        best_candidate(v, own, limit, graph.begin[v], graph.end[v], graph, clusters, by.of_clusters)


@kl.device
def add_up(v, own, limit, graph: Csr, clusters: Proposals, row: ClusterRow, first, last):
    """Add up the arcs of v in the hash row first ... last-1, by the clusters that v may be in."""
    for slot in range(first + kl.lane(), last, kl.team_size()):
        row.keys[slot] = kl.int32(EMPTY)
        row.sums[slot] = 0
    kl.team_sync()
    for arc in range(kl.int64(graph.begin[v]) + kl.lane(), kl.int64(graph.end[v]), kl.team_size()):
        c = cluster_of_head(arc, graph, clusters)
        if may_be_in(v, c, own, limit, graph, clusters):
            slot = claim_slot_in_team(row.keys, first, last, c)
            kl.team_atomic_add(row.sums, slot, kl.value_or(graph.weights, arc, 1))
    kl.team_sync()
    return last


@kl.device
def take_slots(count, rows: HashRows):
    """Take `count` slots in main memory for a team, and return the first one.  Atomic."""
    first = kl.int64(0)
    if kl.lane() == 0:
        first = kl.int64(kl.atomic_add(rows, HashRows.taken, count))
    return kl.team_sum(first)


@kl.kernel
def propose_cluster_by_row(i, wide, graph: Csr, clusters: Proposals, rows: HashRows, above,
                           max_degree, by: RowRating):
    """Propose a cluster for vertex wide[i], if its degree is in a range.

    A hash row adds up its arcs.  It is in scratch memory if all of them fit there, otherwise in
    any free slots of main memory.
    """
    near = ClusterRow(seed=clusters.seed, proposal=clusters.proposal,
                      max_weight=clusters.max_weight, label=clusters.label,
                      cluster=clusters.cluster, cluster_weight=clusters.cluster_weight,
                      total=clusters.total, keys=kl.team_array(kl.int32, by.slots),
                      sums=kl.team_array(by.sum_type, by.slots))
    far = ClusterRow(seed=clusters.seed, proposal=clusters.proposal, max_weight=clusters.max_weight,
                     label=clusters.label, cluster=clusters.cluster,
                     cluster_weight=clusters.cluster_weight, total=clusters.total,
                     keys=rows.keys, sums=rows.sums)
    v = wide[i]
    begin = kl.int64(graph.begin[v])
    end = kl.int64(graph.end[v])
    if end - begin > above and end - begin <= max_degree:
        own = clusters.cluster[v]
        limit = cluster_capacity(v, graph, clusters)
        if end - begin <= by.slots:
            last = min(by.slots, 2 * (end - begin))
            add_up(v, own, limit, graph, clusters, near, 0, last)
            best_candidate(v, own, limit, 0, last, graph, near, by.rating.of_rows)
        else:
            first = take_slots(end - begin, rows)
            last = first + end - begin
            add_up(v, own, limit, graph, clusters, far, first, last)
            best_candidate(v, own, limit, first, last, graph, far, by.rating.of_rows)
