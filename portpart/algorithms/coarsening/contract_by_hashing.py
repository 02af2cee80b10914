"""Rows of a coarse graph by hashing: the arcs of the members of a cluster, added up by their heads.

The lanes of a team iterate over all arcs of a cluster as over one list, and add them up in a hash
row.  It is in scratch memory if all heads certainly fit there, otherwise in main memory, where each
row has a slot for each of its arcs.  Then the row is packed at its beginning in main memory.  A
team of one lane packs rows at once, and keeps only places in the hash row.  If very many rows are
short, a lane of a GPU fills one without hashing.

                 members of cluster 5     arcs by lane     hash row             packed
    offsets  ->  vertex 3: 8 7 9          0 1 2            . 4 . 8 . . 7 . 9    4 8 7 9
                 vertex 6: 4 8 7          3 0 1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.coarsening.clusters import MIN_WIDE_ROW, Members, number_of
from portpart.algorithms.coarsening.options import around_clusters, of_cluster_tiles
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr
from portpart.primitives import EMPTY, SLOTS, claim_slot_in_team, first_slot

WIDE_TEAM = 256

SHORT_ROW = MIN_WIDE_ROW
"""Maximum number of arcs of a row that a lane of a GPU fills without hashing."""

TOGETHER = 4
"""Number of arcs that it loads together."""

ANY_ROW = 2**62


class CoarseRows(kl.Record):
    """Rows of at most c clusters, before the number of arcs of the coarse graph is known.

    Attributes
    ----------
    begin : array, shape (c + 1,)
        Row i has a slot for each arc of the members, at ``begin[i] ... begin[i + 1] - 1``.
    keys, sums : array of int32 and of a type for sums, shape (num_arcs,)
        Heads and weights of the arcs.
    degrees : array of int32, shape (c,)
        Number of arcs in each row.
    arc_sums : array of int64, shape (c,)
        Their weight.
    vertex_weights : array of int64, shape (c,)
        The weight of a cluster.
    offsets : array, shape (c + 1,)
        Place in the coarse graph where each row will begin.
    tile_sums : array of int64
        Scratch for scans of the arcs.
    """

    begin: Array = kl.work("index_type", around_clusters, outlives=True)
    keys: Array = kl.work(np.int32, "arcs", outlives=True)
    sums: Array = kl.work("sum_type", "arcs", outlives=True)
    degrees: Array = kl.work(np.int32, "clusters")
    arc_sums: Array = kl.work(np.int64, "clusters")
    vertex_weights: Array = kl.work(np.int64, "clusters", outlives=True)
    offsets: Array = kl.work("index_type", around_clusters, outlives=True)
    tile_sums: Array = kl.work(np.int64, of_cluster_tiles)

    clusters: int = kl.word()  # the host reads all words
    arcs: int = kl.word()  # of the coarse graph
    max_degree: int = kl.word()
    arc_weight: int = kl.word()  # weight of all arcs


def wide_row(team: int, sum_bytes: int) -> int:
    """Return the number of arcs above which a cluster gets the widest team.

    A narrow team has no scratch memory for such a cluster.  It would search along a full row for
    every arc, and delay the others.
    """
    return max(MIN_WIDE_ROW, SLOTS[sum_bytes][team])


class HashRow(kl.Record):
    """A hash row, in scratch memory or among the coarse rows."""

    keys: Array
    sums: Array


class ArcSpans(kl.Record):
    """Places of the arcs of the members that a team processes at once.

    Attributes
    ----------
    stops, shifts : team array of int64
        Positions stops[m - 1] ... stops[m] - 1 are arcs of member m; position + shifts[m] is the
        place of an arc in the graph.
    """

    stops: Array
    shifts: Array


@dataclass(frozen=True)
class RowScratch(kl.Static):
    """Scratch memory of a team that fills rows.

    Attributes
    ----------
    slots : int
        Slots of a row.
    team : int
        Maximum number of lanes.
    sum_type : Word
    """

    slots: int
    team: int
    sum_type: kl.Word


class HeadsTogether(kl.StaticArray, size=TOGETHER):
    """The clusters of the heads of these arcs."""


@kl.kernel
def fill_row(i, wide, max_arcs, graph: Csr, members: Members, rows: CoarseRows, count,
             scratch: RowScratch):
    """Fill, pack and measure the row of cluster i, or of wide[i], if it has few arcs.

    The limit is `max_arcs`.  Sums do not depend on the order of the lanes; places in the row do.
    """
    near = HashRow(keys=kl.team_array(kl.int32, scratch.slots),
                   sums=kl.team_array(scratch.sum_type, scratch.slots))
    turns = ArcSpans(stops=kl.team_array(kl.int64, scratch.team),
                     shifts=kl.team_array(kl.int64, scratch.team))
    far = HashRow(keys=rows.keys, sums=rows.sums)
    c = kl.value_or(wide, i, i)
    begin = kl.int64(rows.begin[c])
    end = kl.int64(rows.begin[c + 1])
    if end - begin <= max_arcs:
        slots = min(end - begin, count[0])
        weight = kl.int64(0)
        if slots <= scratch.slots:
            slots = min(scratch.slots, 2 * slots)
            if kl.team_size() == 1:
                weight = append_arcs(c, graph, members, near, slots, rows, begin)
            else:
                weight = add_arcs(c, graph, members, turns, near, 0, slots)
                copy_packed(c, near, slots, rows, begin)
        else:
            weight = add_arcs(c, graph, members, turns, far, begin, end)
            pack_row(c, rows, begin, end)
        weight = kl.team_sum(weight)
        if kl.lane() == 0:
            rows.vertex_weights[c] = weight


@kl.kernel
def fill_short_row(c, graph: Csr, members: Members, rows: CoarseRows, sum_type: kl.StaticValue):
    """Fill and measure the row of cluster c if it has few arcs.  Called by one lane.

    The lane compares a head with those before.  It loads several arcs before it adds the first one,
    so that their latencies overlap.
    """
    heads = kl.lane_array(kl.int32, SHORT_ROW)
    sums = kl.lane_array(sum_type, SHORT_ROW)
    found = HeadsTogether()
    begin = kl.int64(rows.begin[c])
    if kl.int64(rows.begin[c + 1]) - begin <= SHORT_ROW:
        own = number_of(c, members)
        weight = kl.int64(0)
        degree = kl.int64(0)
        total = kl.int64(0)
        for m in range(members.offsets[c], members.offsets[c + 1]):
            v = members.listed[m]
            weight += kl.value_or(graph.vertex_weights, v, 1)
            last = kl.int64(graph.end[v])
            for first in range(graph.begin[v], last, TOGETHER):
                for j in kl.static_range(TOGETHER):
                    found[j] = members.cluster[graph.targets[min(first + j, last - 1)]]
                for j in kl.static_range(TOGETHER):
                    if first + j < last and found[j] != own:
                        place = kl.int64(0)
                        while place < degree and heads[place] != found[j]:
                            place += 1
                        if place == degree:
                            heads[place] = found[j]
                            sums[place] = 0
                            degree += 1
                        more = kl.value_or(graph.weights, first + j, 1)
                        sums[place] += more
                        total += more
        for place in range(degree):
            rows.keys[begin + place] = heads[place]
            rows.sums[begin + place] = sums[place]
        rows.degrees[c] = degree
        rows.arc_sums[c] = total
        rows.vertex_weights[c] = weight


@kl.device
def add_arcs(c, graph: Csr, members: Members, turns: ArcSpans, row: HashRow, begin, end):
    """Add the arcs that leave cluster c to the hash row begin ... end-1.

    Each lane reads a member, then arcs of all members read.  Returns the weight of the members that
    the lane has read.
    """
    own = number_of(c, members)
    for slot in range(begin + kl.lane(), end, kl.team_size()):
        row.keys[slot] = kl.int32(EMPTY)
        row.sums[slot] = 0
    weight = kl.int64(0)
    last = kl.int64(members.offsets[c + 1])
    for first in range(kl.int64(members.offsets[c]), last, kl.team_size()):
        start = kl.int64(0)
        degree = kl.int64(0)
        if first + kl.lane() < last:
            v = members.listed[first + kl.lane()]
            weight += kl.value_or(graph.vertex_weights, v, 1)
            start = kl.int64(graph.begin[v])
            degree = kl.int64(graph.end[v]) - start
        stop = kl.team_scan(degree)
        turns.stops[kl.lane()] = stop
        turns.shifts[kl.lane()] = start - (stop - degree)
        arcs = kl.team_last(stop)
        kl.team_sync()
        m = kl.int64(0)
        for position in range(kl.lane(), arcs, kl.team_size()):
            while turns.stops[m] <= position:
                m += 1
            arc = position + turns.shifts[m]
            other = members.cluster[graph.targets[arc]]
            if other != own:
                slot = claim_slot_in_team(row.keys, begin, end, other)
                kl.team_atomic_add(row.sums, slot, kl.value_or(graph.weights, arc, 1))
        kl.team_sync()
    return weight


@kl.device
def append_arcs(c, graph: Csr, members: Members, known: HashRow, slots, rows: CoarseRows, begin):
    """Add the arcs that leave cluster c to the packed row at `begin`; count and add them.

    Called by one lane.  Its hash row has the place of each head instead of a sum.  Every arc takes
    the same steps, because branches for new heads could not be predicted.  Returns the weight of
    the members.
    """
    own = number_of(c, members)
    for slot in range(slots):
        known.keys[slot] = kl.int32(EMPTY)
    weight = kl.int64(0)
    degree = kl.int64(0)
    total = kl.int64(0)
    for m in range(members.offsets[c], members.offsets[c + 1]):
        v = members.listed[m]
        weight += kl.value_or(graph.vertex_weights, v, 1)
        for arc in range(graph.begin[v], graph.end[v]):
            other = members.cluster[graph.targets[arc]]
            if other != own:
                slot = first_slot(other, 0, slots)
                while known.keys[slot] != EMPTY and known.keys[slot] != other:
                    slot = slot + 1 if slot + 1 < slots else kl.int64(0)
                is_new = known.keys[slot] == EMPTY
                place = begin + (degree if is_new else kl.int64(known.sums[slot]))
                more = kl.value_or(graph.weights, arc, 1)
                rows.sums[place] = more + (kl.int64(0) if is_new else kl.int64(rows.sums[place]))
                rows.keys[place] = other
                known.keys[slot] = other
                known.sums[slot] = place - begin
                degree += kl.int64(is_new)
                total += more
    rows.degrees[c] = degree
    rows.arc_sums[c] = total
    return weight


@kl.device
def copy_packed(c, row: HashRow, slots, rows: CoarseRows, begin):
    """Copy the arcs in a hash row of scratch memory to the row at `begin`; count and add them.

    Each lane copies consecutive slots, so that one scan is enough.
    """
    share = (slots + kl.team_size() - 1) // kl.team_size()
    first = min(kl.lane() * share, slots)
    last = min(first + share, slots)
    own = kl.int64(0)
    total = kl.int64(0)
    for slot in range(first, last):
        if row.keys[slot] != EMPTY:
            own += 1
            total += row.sums[slot]
    until = kl.team_scan(kl.int32(own))
    place = begin + until - own
    for slot in range(first, last):
        key = row.keys[slot]
        if key != EMPTY:
            rows.keys[place] = key
            rows.sums[place] = row.sums[slot]
            place += 1
    degree = kl.team_last(until)
    total = kl.team_sum(total)
    kl.team_sync()
    if kl.lane() == 0:
        rows.degrees[c] = degree
        rows.arc_sums[c] = total


@kl.device
def pack_row(c, rows: CoarseRows, begin, end):
    """Move the arcs in the hash row begin ... end-1 to its beginning; count and add them."""
    place = kl.int64(begin)
    total = kl.int64(0)
    for base in range(begin, end, kl.team_size()):
        key = kl.int32(EMPTY)
        weight = kl.int64(0)
        full = kl.int32(0)
        if base + kl.lane() < end:
            key = rows.keys[base + kl.lane()]
            if key != EMPTY:
                full = kl.int32(1)
                weight += rows.sums[base + kl.lane()]
        position = kl.team_scan(full)
        kl.team_sync()
        if full != 0:
            rows.keys[place + position - 1] = key
            rows.sums[place + position - 1] = weight
        total += weight
        place += kl.team_last(position)
    kl.team_sync()
    total = kl.team_sum(total)
    if kl.lane() == 0:
        rows.degrees[c] = place - begin
        rows.arc_sums[c] = total


@kl.kernel
def copy_row(c, count, before, rows: CoarseRows, offsets, targets, weights, vertex_weights):
    """Copy the packed row, the offset and the weight of cluster c to coarse vertex c.

    `before` arcs precede those of all clusters.  The item behind the last cluster copies the end
    of its row.
    """
    first = kl.int64(rows.offsets[c])
    place = before + first
    if c < count:
        begin = kl.int64(rows.begin[c])
        for i in range(kl.lane(), kl.int64(rows.offsets[c + 1]) - first, kl.team_size()):
            targets[place + i] = rows.keys[begin + i]
            weights[place + i] = rows.sums[begin + i]
    if kl.lane() == 0:
        offsets[c] = place
        if c < count:
            vertex_weights[c] = rows.vertex_weights[c]
