"""What cluster a vertex wishes for: of those around it with room, the one that rates highest.

The rating is the weight of the arcs to the cluster over the square root of the cluster's weight:
light clusters grow first, so that their weights stay even.  (Measured: cuts 0.6 % lower than with
the weight of the arcs alone or with that over the weight of the cluster.)
"""

from __future__ import annotations

from functools import cache

from portpart.backends.language import (
    Kernel,
    Word,
    device,
    float64,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_atomic_add,
    team_size,
    team_sync,
    value_or,
)
from portpart.primitives.hash_rows import EMPTY, claim_slot_in_team
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import LOWEST, NOBODY, team_winner

HIGHEST = 2**63 - 1
ANY_DEGREE = 2**62

MAX_NARROW = 16
"""Up to this degree arcs are added up by comparing all pairs, without memory."""


@device
def rating(arc_weight, cluster_weight):
    """Square of the arcs' weight over the cluster's weight; the same on every space."""
    weight = float64(arc_weight)
    return weight * weight / float64(max(1, cluster_weight))


@device
def may_join(v, c, room, cluster_weight, label):
    """Whether cluster c has room for v, which fits clusters up to `room`, and is of its label."""
    return cluster_weight[c] <= room and value_or(label, c, 0) == value_or(label, v, 0)


@device
def tie_hash(v, c, own, seed):
    """Decides between clusters that rate alike; v's own one comes first."""
    return int64(HIGHEST) if c == own else pair_hash(v, c, seed)


@device
def weight_towards(c, begin, end, targets, weights, cluster):
    """Weight of the arcs begin ... end-1 that lead to cluster c."""
    total = int64(0)
    for arc in range(begin, end):
        if cluster[targets[arc]] == c:
            total += value_or(weights, arc, 1)
    return total


@device
def best_neighbour(v, most, offsets, targets, weights, vertex_weights, label, max_weight, seed):
    """The single neighbour that v rates highest, or -1; also if v has more than `most` arcs."""
    end = int64(offsets[v + 1])
    if end - int64(offsets[v]) > most:
        end = int64(offsets[v])
    room = max_weight - value_or(vertex_weights, v, 1)
    best_rating = float64(-1)
    best_hash = int64(LOWEST)
    best = int32(NOBODY)
    for arc in range(int64(offsets[v]) + lane(), end, team_size()):
        u = targets[arc]
        weight = value_or(vertex_weights, u, 1)
        if weight <= room and value_or(label, u, 0) == value_or(label, v, 0):
            rated = rating(value_or(weights, arc, 1), weight)
            if rated >= best_rating:
                hashed = pair_hash(u, v, seed)
                if rated > best_rating or hashed > best_hash:
                    best_rating = rated
                    best_hash = hashed
                    best = u
    return team_winner(best_rating, best_hash, best)


@kernel
def wish_for_neighbour(v, offsets, targets, weights, vertex_weights, label, wish, max_weight, seed,
                       most):
    """First round, all vertices are single: v wishes for a neighbour, unless it is a hub."""
    best = best_neighbour(v, most, offsets, targets, weights, vertex_weights, label, max_weight,
                          seed)
    if lane() == 0:
        wish[v] = best


@kernel
def wish_of_hub(i, wide, offsets, targets, weights, vertex_weights, label, wish, max_weight, seed):
    """The same for a hub."""
    v = wide[i]
    best = best_neighbour(v, int64(ANY_DEGREE), offsets, targets, weights, vertex_weights, label,
                          max_weight, seed)
    if lane() == 0:
        wish[v] = best


@kernel
def wish_for_cluster(i, active, offsets, targets, weights, vertex_weights, label, cluster,
                     cluster_weight, wish, max_weight, seed):
    """Wish of a vertex of low degree: every arc is compared with every other."""
    v = active[i]
    begin = int64(offsets[v])
    end = int64(offsets[v + 1])
    narrow = end - begin <= MAX_NARROW
    own = cluster[v]
    room = max_weight - value_or(vertex_weights, v, 1)
    best_rating = float64(-1)
    best_hash = int64(LOWEST)
    best = int32(NOBODY)
    for arc in range(begin + lane(), end if narrow else begin, team_size()):
        c = cluster[targets[arc]]
        if c == own or may_join(v, c, room, cluster_weight, label):
            arc_weight = weight_towards(c, begin, end, targets, weights, cluster)
            rated = rating(arc_weight, cluster_weight[c])
            if rated >= best_rating:
                hashed = tie_hash(v, c, own, seed)
                if rated > best_rating or hashed > best_hash:
                    best_rating = rated
                    best_hash = hashed
                    best = c
    best = team_winner(best_rating, best_hash, best)
    if lane() == 0 and narrow:
        wish[v] = best


@device
def add_up(v, begin, end, own, room, targets, weights, label, cluster, cluster_weight, keys, sums,
           first, last):
    """Add up the arcs begin ... end-1 of v in a hash row, by the clusters that v may be in."""
    for slot in range(first + lane(), last, team_size()):
        keys[slot] = int32(EMPTY)
        sums[slot] = 0
    team_sync()
    for arc in range(begin + lane(), end, team_size()):
        c = cluster[targets[arc]]
        if c == own or may_join(v, c, room, cluster_weight, label):
            slot = claim_slot_in_team(keys, first, last, c)
            team_atomic_add(sums, slot, value_or(weights, arc, 1))
    team_sync()
    return end - begin


@device
def best_of_row(v, own, cluster_weight, seed, keys, sums, first, last):
    """The cluster in a hash row that v rates highest, or -1."""
    best_rating = float64(-1)
    best_hash = int64(LOWEST)
    best = int32(NOBODY)
    for slot in range(first + lane(), last, team_size()):
        c = keys[slot]
        if c != EMPTY:
            rated = rating(sums[slot], cluster_weight[c])
            hashed = tie_hash(v, c, own, seed)
            if rated > best_rating or (rated == best_rating and hashed > best_hash):
                best_rating = rated
                best_hash = hashed
                best = c
    best = team_winner(best_rating, best_hash, best)
    team_sync()
    return best


@cache
def wish_by_row(slots: int, sum_type: Word) -> Kernel:
    """Kernel for vertices of high degree, for teams with `slots` slots of scratch memory."""

    @kernel
    def wish_for_cluster_by_row(i, wide, offsets, targets, weights, vertex_weights, label, cluster,
                                cluster_weight, keys, sums, wish, max_weight, seed, above, most):
        """Wish of a vertex whose degree is in a range: a hash row adds up its arcs.

        The row is in scratch memory if that has room for all of them.
        """
        row_keys = team_array(int32, slots)
        row_sums = team_array(sum_type, slots)
        v = wide[i]
        begin = int64(offsets[v])
        end = int64(offsets[v + 1])
        if end - begin > above and end - begin <= most:
            own = cluster[v]
            room = max_weight - value_or(vertex_weights, v, 1)
            best = int32(NOBODY)
            if end - begin <= slots:
                last = min(slots, 2 * (end - begin))
                add_up(v, begin, end, own, room, targets, weights, label, cluster, cluster_weight,
                       row_keys, row_sums, 0, last)
                best = best_of_row(v, own, cluster_weight, seed, row_keys, row_sums, 0, last)
            else:
                add_up(v, begin, end, own, room, targets, weights, label, cluster, cluster_weight,
                       keys, sums, begin, end)
                best = best_of_row(v, own, cluster_weight, seed, keys, sums, begin, end)
            if lane() == 0:
                wish[v] = best

    return wish_for_cluster_by_row
