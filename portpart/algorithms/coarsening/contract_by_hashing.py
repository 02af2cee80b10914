"""Rows of a coarse graph: the arcs that leave the vertices of a cluster, added up by their heads.

The lanes of a team go through all arcs of a cluster as if they stood in one list, and add them up
in a hash row: in scratch memory where all heads surely fit, else in main memory, where every row
has room for all of its arcs.  Then the row is packed into its beginning in main memory.

                 members of cluster 5     arcs by lane     hash row             packed
    offsets  ->  vertex 3: 8 7 9          0 1 2            . 4 . 8 . . 7 . 9    4 8 7 9
                 vertex 6: 4 8 7          3 0 1
"""

from __future__ import annotations

from functools import cache

from portpart.backends.language import (
    Kernel,
    Word,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_atomic_add,
    team_last,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.primitives.hash_rows import EMPTY, claim_slot_in_team

WIDE_TEAM = 256

WIDE_ROW = 256
"""Clusters of more arcs get the widest team: they must not hold up the others."""

ANY_ROW = 2**62

@cache
def row_filler(slots: int, team: int, sum_type: Word) -> Kernel:
    """Kernel for teams of at most `team` lanes with `slots` slots of scratch memory."""

    @kernel
    def fill_row(i, wide, most, member_offsets, members, offsets, targets, weights, vertex_weights,
                 cluster, row_begin, keys, sums, degrees, arc_sums, coarse_vertex_weights, count):
        """Fill, pack and measure the row of cluster i, or of cluster wide[i], if `most` allows.

        Sums do not depend on the order of the lanes; positions in the row do.
        """
        row_keys = team_array(int32, slots)
        row_sums = team_array(sum_type, slots)
        stops = team_array(int64, team)
        shifts = team_array(int64, team)
        c = value_or(wide, i, i)
        begin = int64(row_begin[c])
        end = int64(row_begin[c + 1])
        if end - begin <= most:
            room = min(end - begin, count[0])
            weight = int64(0)
            if room <= slots:
                room = min(slots, 2 * room)
                weight = add_arcs(c, member_offsets, members, offsets, targets, weights,
                                  vertex_weights, cluster, stops, shifts, row_keys, row_sums, 0,
                                  room)
                copy_packed(c, row_keys, row_sums, room, keys, sums, begin, degrees, arc_sums)
            else:
                weight = add_arcs(c, member_offsets, members, offsets, targets, weights,
                                  vertex_weights, cluster, stops, shifts, keys, sums, begin, end)
                pack_row(c, keys, sums, begin, end, degrees, arc_sums)
            weight = team_sum(weight)
            if lane() == 0:
                coarse_vertex_weights[c] = weight

    return fill_row


@device
def add_arcs(c, member_offsets, members, offsets, targets, weights, vertex_weights, cluster, stops,
             shifts, keys, sums, begin, end):
    """Add the arcs that leave cluster c to the row begin ... end-1 of `keys` and `sums`.

    Every lane takes a member, and then arcs of all these members: those at the positions before
    stops[m] and behind the earlier members' are arcs of member m, and shifts[m] before them in the
    graph.  Returns the weight of the lane's own members.
    """
    for slot in range(begin + lane(), end, team_size()):
        keys[slot] = int32(EMPTY)
        sums[slot] = 0
    weight = int64(0)
    last = int64(member_offsets[c + 1])
    for first in range(int64(member_offsets[c]), last, team_size()):
        start = int64(0)
        degree = int64(0)
        if first + lane() < last:
            v = members[first + lane()]
            weight += value_or(vertex_weights, v, 1)
            start = int64(offsets[v])
            degree = int64(offsets[v + 1]) - start
        stop = team_scan(degree)
        stops[lane()] = stop
        shifts[lane()] = start - (stop - degree)
        arcs = team_last(stop)
        team_sync()
        m = int64(0)
        for position in range(lane(), arcs, team_size()):
            arc = start + position
            if team_size() > 1:
                while stops[m] <= position:
                    m += 1
                arc = position + shifts[m]
            other = cluster[targets[arc]]
            if other != c:
                slot = claim_slot_in_team(keys, begin, end, other)
                team_atomic_add(sums, slot, value_or(weights, arc, 1))
        team_sync()
    return weight


@device
def copy_packed(c, row_keys, row_sums, room, keys, sums, begin, degrees, arc_sums):
    """Copy what is in a hash row of scratch memory to keys[begin], sums[begin] and behind.

    Counts it and sums it up.  A lane takes neighbouring slots, so that one scan does.
    """
    share = (room + team_size() - 1) // team_size()
    first = min(lane() * share, room)
    last = min(first + share, room)
    own = int64(0)
    total = int64(0)
    for slot in range(first, last):
        if row_keys[slot] != EMPTY:
            own += 1
            total += row_sums[slot]
    until = team_scan(int32(own))
    place = begin + until - own
    for slot in range(first, last):
        key = row_keys[slot]
        if key != EMPTY:
            keys[place] = key
            sums[place] = row_sums[slot]
            place += 1
    degree = team_last(until)
    total = team_sum(total)
    team_sync()
    if lane() == 0:
        degrees[c] = degree
        arc_sums[c] = total
    return degree


@device
def pack_row(c, keys, sums, begin, end, degrees, arc_sums):
    """Move what is in the hash row begin ... end-1 to its beginning; count and sum it up."""
    place = int64(begin)
    total = int64(0)
    for base in range(begin, end, team_size()):
        key = int32(EMPTY)
        weight = int64(0)
        full = int32(0)
        if base + lane() < end:
            key = keys[base + lane()]
            if key != EMPTY:
                full = int32(1)
                weight += sums[base + lane()]
        position = team_scan(full)
        team_sync()
        if full != 0:
            keys[place + position - 1] = key
            sums[place + position - 1] = weight
        total += weight
        place += team_last(position)
    team_sync()
    total = team_sum(total)
    if lane() == 0:
        degrees[c] = place - begin
        arc_sums[c] = total
    return place


@kernel
def copy_row(c, count, row_begin, packed_offsets, keys, sums, packed_vertex_weights, offsets,
             targets, weights, vertex_weights):
    """Copy what is known of cluster c, its packed row above all, to coarse vertex c.

    The item behind the last cluster copies the end of its row.
    """
    place = int64(packed_offsets[c])
    if c < count:
        begin = int64(row_begin[c])
        for i in range(lane(), int64(packed_offsets[c + 1]) - place, team_size()):
            targets[place + i] = keys[begin + i]
            weights[place + i] = sums[begin + i]
    if lane() == 0:
        offsets[c] = place
        if c < count:
            vertex_weights[c] = packed_vertex_weights[c]
