"""Proposals of vertices of a hypergraph: their nets are added up by the clusters of their pins.

A net of weight w and of |e| pins connects a vertex with each other pin by w / (|e| - 1), or
w / |e|.  This is a scaled integer, so that sums do not depend on the order.  Nets of very many pins
do not count.  Like arcs, nets are added up in a hash row, which is in scratch memory if it
certainly fits there.

A vertex with very many pins around it examines only the nets that a hash selects.  A vertex that
has only nets of very many pins examines the pins next to itself: neighbouring ids often belong to
similar vertices.  (On nw04, whose nets have 17,700 pins on average, this multiplies km1 by 0.86.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening import cluster_ratings, cluster_rounds
from portpart.algorithms.coarsening.clustering import NO_DEGREE, ClusteringInputs, ClusterRecording
from portpart.algorithms.coarsening.options import FineSizes, NetOptions
from portpart.algorithms.coarsening.proposals import (
    Choice,
    Proposals,
    best_candidate,
    cluster_capacity,
    keep_best_score,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array, Element
from portpart.graphs import Csr, Hypergraph, Nets, degree_of, team_for
from portpart.primitives import EMPTY, SLOTS, claim_slot_in_team, hash_of, offsets_from_counts

MAX_PINS = 200_000
"""Maximum number of pins that a vertex examines."""

WINDOW = 32
"""Pins that a vertex examines in each net, next to itself, if all its nets have too many pins."""

NEAR_ITSELF = -1

FAR = 1024
"""Slots of the widest team.  Vertices that may need more have a row in main memory."""


class RatedNets(kl.Record):
    """The nets of n vertices, and how they count.

    Attributes
    ----------
    rows : Csr
        The nets of each vertex.
    nets : Nets
    max_rated : int
        Nets of more pins do not count.
    unit : int
        Value of a net of weight one, before it is divided by its number of pins less `without`.
    without : int
        1 if a vertex does not count as a pin for itself, else 0.
    log2_rate : array of int8, shape (n,)
        A vertex examines one in 2**log2_rate of its nets; or, at -1, pins near itself.
    begin, pins : array of int32, shape (n,)
        Zero, and the number of pins that a vertex examines, including its own.
    far_slots : array of int32, shape (n,)
        Number of slots that a vertex needs in main memory.
    far : array of int64, shape (n + 1,)
        Places where the rows of vertices in main memory begin.
    """

    rows: Csr
    nets: Nets
    max_rated: int
    unit: int
    without: int
    log2_rate: Array = kl.work(np.int8, "vertices")
    begin: Array = kl.work(np.int32, "vertices", zeros=True)
    pins: Array = kl.work(np.int32, "vertices")
    far_slots: Array = kl.work(np.int32, "vertices")
    far: Array = kl.work(np.int64, lambda sizes: sizes.vertices + 1)


@kl.device
def size_of(net, nets: Nets):
    """Return the number of pins of a net."""
    return kl.int64(nets.end[net]) - kl.int64(nets.begin[net])


@kl.device
def sampled_pins(v, net, log2_rate, rated: RatedNets, seed):
    """Return the number of pins of a net that v examines: all, none, or those near itself."""
    size = size_of(net, rated.nets)
    if log2_rate == NEAR_ITSELF:
        size = min(size, kl.int64(WINDOW))
    elif size > rated.max_rated or hash_of((kl.int64(v) << 32) | kl.int64(net), seed) & (
            (kl.int64(1) << max(kl.int64(0), kl.int64(log2_rate))) - 1) != 0:
        size = kl.int64(0)
    return size if size >= 2 else kl.int64(0)


@kl.device
def sampled_place(v, net, size, nets: Nets):
    """Return the place of the first pin that v examines: that of the net or of a window at v."""
    begin = kl.int64(nets.begin[net])
    low = begin
    if size < size_of(net, nets):
        high = kl.int64(nets.end[net])
        while low < high:
            middle = (low + high) // 2
            if nets.pins[middle] < v:
                low = middle + 1
            else:
                high = middle
        low = max(begin, min(low - size // 2, kl.int64(nets.end[net]) - size))
    return low


@kl.device
def pins_around(v, log2_rate, rated: RatedNets, seed):
    """Return the number of pins that v examines, including its own."""
    total = kl.int64(0)
    for i in range(rated.rows.begin[v] + kl.lane(), rated.rows.end[v], kl.team_size()):
        total += sampled_pins(v, rated.rows.targets[i], log2_rate, rated, seed)
    return kl.team_sum(total)


@kl.kernel
def count_rated_pins(v, rated: RatedNets, num_vertices, seed):
    """Count the pins that v examines, including its own, and its slots in main memory.

    Halves the share of its nets that v examines until there are at most `MAX_PINS`.
    """
    log2_rate = kl.int64(0)
    total = pins_around(v, log2_rate, rated, seed)
    if total == 0:
        log2_rate = kl.int64(NEAR_ITSELF)
        total = pins_around(v, log2_rate, rated, seed)
    while total > MAX_PINS:
        log2_rate += 1
        total = pins_around(v, log2_rate, rated, seed)
    if kl.lane() == 0:
        rated.log2_rate[v] = kl.int8(log2_rate)
        rated.pins[v] = kl.int32(total)
        rated.far_slots[v] = kl.int32(0)
        if min(total, num_vertices) > FAR:
            rated.far_slots[v] = kl.int32(min(total, 2 * num_vertices))


class PinSpans(kl.Record):
    """Places of the pins of the nets that a team processes at once.

    Attributes
    ----------
    stops, shifts, counts : team array of int32, int64 and int64
        Positions stops[i - 1] ... stops[i] - 1 are pins of net i; position + shifts[i] is the place
        of a pin among all pins.  Each pin counts counts[i].
    """

    stops: Array
    shifts: Array
    counts: Array


@kl.device
def add_up_nets(v, rated: RatedNets, row: cluster_ratings.ClusterRow, turns: PinSpans, first, last):
    """Add up the nets of v in the hash row first ... last-1, by the clusters of their pins.

    Each lane reads a net, then pins of all nets read.
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


@kl.device
def may_be_at(v, c, own, limit, graph: Csr, row: cluster_ratings.ClusterRow):
    """Whether the slot that contains c is taken by a cluster that v may be in."""
    return c != EMPTY and cluster_ratings.may_be_in(v, c, own, limit, graph, row)


@kl.device
def sum_at(slot, c, v, graph: Csr, row: cluster_ratings.ClusterRow):
    """Return the sum at a slot of a hash row, without regard to the cluster's weight."""
    return row.sums[slot]


BY_WEIGHT = Choice(cluster_ratings.cluster_at, may_be_at, cluster_ratings.rate_slot,
                   keep_best_score, kl.float64)
BY_SUM = Choice(cluster_ratings.cluster_at, may_be_at, sum_at, keep_best_score, kl.int64)
"""The best cluster of a hash row: by sum and weight of the cluster, or by sum alone."""


@dataclass(frozen=True)
class NetRating(kl.Static):
    """The rating of clusters whose pins are added up in hash rows.

    Attributes
    ----------
    slots : int
        Slots of a row in scratch memory.
    team : int
        Maximum number of lanes of a team.
    choice : Choice
    """

    slots: int
    team: int
    choice: Choice = BY_WEIGHT


class PinRange(kl.Record):
    """The numbers of pins of the vertices of a launch: more than `above`, at most `most`."""

    above: int
    most: int


@kl.kernel
def propose_cluster_by_nets(i, listed, graph: Csr, clusters: Proposals, rated: RatedNets,
                            rows: cluster_ratings.HashRows, examined: PinRange, by: NetRating):
    """Propose a cluster for vertex listed[i], if the number of its pins is in a range."""
    near = cluster_ratings.ClusterRow(seed=clusters.seed, proposal=clusters.proposal,
                                      max_weight=clusters.max_weight,
                                      label=clusters.label, cluster=clusters.cluster,
                                      cluster_weight=clusters.cluster_weight, total=clusters.total,
                                      keys=kl.team_array(kl.int32, by.slots),
                                      sums=kl.team_array(kl.int64, by.slots))
    far = cluster_ratings.ClusterRow(seed=clusters.seed, proposal=clusters.proposal,
                                     max_weight=clusters.max_weight, label=clusters.label,
                                     cluster=clusters.cluster,
                                     cluster_weight=clusters.cluster_weight, total=clusters.total,
                                     keys=rows.keys, sums=rows.sums)
    turns = PinSpans(
        stops=kl.team_array(kl.int32, by.team), shifts=kl.team_array(kl.int64, by.team),
        counts=kl.team_array(kl.int64, by.team))
    v = listed[i]
    pins = degree_of(v, graph)
    if pins > examined.above and pins <= examined.most:
        own = clusters.cluster[v]
        limit = cluster_capacity(v, graph, clusters)
        first = kl.int64(rated.far[v])
        last = kl.int64(rated.far[v + 1])
        if first == last:
            last = min(by.slots, 2 * pins)
            add_up_nets(v, rated, near, turns, 0, last)
            best_candidate(v, own, limit, 0, last, graph, near, by.choice)
        else:
            add_up_nets(v, rated, far, turns, first, last)
            best_candidate(v, own, limit, first, last, graph, far, by.choice)


MAX_UNIT = 2**20
"""Maximum value of a net of weight one: enough to distinguish sizes."""

MAX_SUM = 2**62

WORK = 32
"""Work of a vertex on a CPU, in light items."""

WIDE_TEAM, NARROW_TEAM = 256, 32
"""Lanes for a vertex that examines very many pins, and for the others."""


class NetVertexList(cluster_rounds.VertexList):
    """A list in which any vertex may examine many pins."""

    wide: Array = kl.work(np.int32, "vertices")


@dataclass(frozen=True)
class NetProposals:
    """Proposals among the pins of common nets.

    Attributes
    ----------
    options : NetOptions
    """

    options: NetOptions

    def around(self, hypergraph: Hypergraph, seed: int, without: int = 1) -> ClusteringInputs:
        """Return nets, and the numbers of pins that vertices examine.

        Waits for the device to read the number of slots in main memory.  Weights of nets are
        divided by their numbers of pins less `without`.
        """
        space, n = hypergraph.space, hypergraph.num_vertices
        unit = min(MAX_UNIT, max(1, MAX_SUM // max(1, hypergraph.total_net_weight)))
        rated = RatedNets.allocate(
            space, FineSizes(n), rows=hypergraph.csr, nets=hypergraph.nets, unit=unit,
            max_rated=self.options.max_rated, without=without, far=None)
        team = team_for(2 * hypergraph.mean_degree)
        space.parallel_for(n, count_rated_pins, rated, n, seed, team=team)
        far = offsets_from_counts(space, rated.far_slots)
        slots, = space.read(far[n:], lambda: space.guess("slots", hypergraph, [0]))
        graph = Csr(rated.begin, rated.pins, kl.absent(), None, hypergraph.vertex_weights, None)
        return ClusteringInputs(
            {"graph": graph, "rated": rated.replaced(far=far, far_slots=None)},
            FineSizes(n, slots, n, np.dtype(np.int64), hypergraph.net_offsets.dtype), 1,
            {"list_0": NetVertexList(), "list_1": NetVertexList()}, lanes=NARROW_TEAM)

    def among_single(self, recording: ClusterRecording) -> None:
        """Record the first round like later ones: vertices may have several common nets."""
        recording.launch(recording.rounds.vertices, cluster_rounds.begin_single)
        recording.launch(recording.rounds.vertices, cluster_rounds.list_single)
        self.among_clusters(recording, 0, recording.rounds)

    def among_clusters(self, recording: ClusterRecording, here: int,
                       clusters: cluster_rounds.ClusterRounds) -> None:
        """Record proposals of the listed vertices, by teams that suit the pins they examine."""
        with recording.program.side_by_side():
            for count, kernel, team, given in launches(recording.lists[here], recording.one_lane):
                recording.launch(count, kernel, here, team, clusters=clusters, **given)
            recording.launch(1, cluster_rounds.empty_lists, 1 - here)


def launches(listed: Any, one_lane: bool,
             choice: Choice = BY_WEIGHT) -> list[tuple[Element, kl.Kernel, int, dict[str, Any]]]:
    """Return number of vertices, kernel, lanes and arguments of each launch for a list."""
    slots = SLOTS[np.dtype(np.int64).itemsize]
    ranges = [(listed.length, listed.active, WIDE_TEAM, -1, NO_DEGREE)]
    if not one_lane:
        ranges = [(listed.wide_length, listed.wide, WIDE_TEAM, cluster_ratings.MAX_ROW, NO_DEGREE),
                  (listed.length, listed.active, NARROW_TEAM, -1, cluster_ratings.MAX_ROW)]
    return [(count, propose_cluster_by_nets, team,
             {"listed": vertices, "examined": PinRange(above, most), "work": WORK,
              "by": NetRating(slots[team], team, choice)})
            for count, vertices, team, above, most in ranges]
