"""What cluster a vertex wishes for: the one around it with room that it is most connected to."""

from __future__ import annotations

from portpart.backends.language import (
    device,
    float64,
    int32,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_size,
    team_sync,
    value_or,
)
from portpart.primitives.hash_rows import EMPTY, claim_slot_in_team
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

NOBODY = -1
LOWEST = -(2**63)
HIGHEST = 2**63 - 1

MAX_NARROW = 16
"""Up to this degree arcs are added up by comparing all pairs, without memory."""


@device
def may_join(v, c, room, cluster_weight, label):
    """Whether cluster c has room for v, which fits clusters up to `room`, and is of its label."""
    return cluster_weight[c] <= room and value_or(label, c, 0) == value_or(label, v, 0)


@device
def tie_hash(v, c, own, seed):
    """Decides between clusters that v is equally connected to; its own one comes first."""
    return int64(HIGHEST) if c == own else pair_hash(v, c, seed)


@kernel
def wish_for_neighbour(v, offsets, targets, weights, vertex_weights, label, wish, max_weight, seed):
    """First round, all vertices are single: wish for the neighbour across the heaviest edge."""
    room = max_weight - value_or(vertex_weights, v, 1)
    best_weight = int64(-1)
    best_hash = int64(LOWEST)
    best = int32(NOBODY)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        weight = value_or(weights, arc, 1)
        if weight >= best_weight:
            same = value_or(label, u, 0) == value_or(label, v, 0)
            if same and value_or(vertex_weights, u, 1) <= room:
                hashed = pair_hash(u, v, seed)
                if weight > best_weight or hashed > best_hash:
                    best_weight = weight
                    best_hash = hashed
                    best = u
    best = team_winner(best_weight, best_hash, best)
    if lane() == 0:
        wish[v] = best


@kernel
def wish_for_cluster(i, active, offsets, targets, weights, vertex_weights, label, cluster,
                     cluster_weight, wish, max_weight, seed):
    """Wish of a vertex of low degree: every arc is compared with every other."""
    v = active[i]
    begin = int64(offsets[v])
    end = int64(offsets[v + 1])
    if end - begin > MAX_NARROW:
        end = begin
    own = cluster[v]
    room = max_weight - value_or(vertex_weights, v, 1)
    best_weight = int64(-1)
    best_hash = int64(LOWEST)
    best = int32(NOBODY)
    for arc in range(begin + lane(), end, team_size()):
        c = cluster[targets[arc]]
        if c == own or may_join(v, c, room, cluster_weight, label):
            weight = int64(0)
            for other in range(begin, end):
                if cluster[targets[other]] == c:
                    weight += value_or(weights, other, 1)
            if weight >= best_weight:
                hashed = tie_hash(v, c, own, seed)
                if weight > best_weight or hashed > best_hash:
                    best_weight = weight
                    best_hash = hashed
                    best = c
    best = team_winner(best_weight, best_hash, best)
    if lane() == 0 and int64(offsets[v + 1]) - int64(offsets[v]) <= MAX_NARROW:
        wish[v] = best


@kernel
def wish_for_cluster_by_row(i, wide, offsets, targets, weights, vertex_weights, label, cluster,
                            cluster_weight, keys, sums, wish, max_weight, seed):
    """Wish of a vertex of high degree: its arcs are added up in a hash row."""
    v = wide[i]
    begin = int64(offsets[v])
    end = int64(offsets[v + 1])
    for slot in range(begin + lane(), end, team_size()):
        keys[slot] = int32(EMPTY)
        sums[slot] = 0
    team_sync()
    own = cluster[v]
    room = max_weight - value_or(vertex_weights, v, 1)
    for arc in range(begin + lane(), end, team_size()):
        c = cluster[targets[arc]]
        if c == own or may_join(v, c, room, cluster_weight, label):
            slot = claim_slot_in_team(keys, begin, end, c)
            team_atomic_add(sums, slot if slot >= 0 else -1 - slot, value_or(weights, arc, 1))
    team_sync()
    best_weight = int64(-1)
    best_hash = int64(LOWEST)
    best = int32(NOBODY)
    for slot in range(begin + lane(), end, team_size()):
        c = keys[slot]
        weight = int64(sums[slot])
        if c != EMPTY and weight >= best_weight:
            hashed = tie_hash(v, c, own, seed)
            if weight > best_weight or hashed > best_hash:
                best_weight = weight
                best_hash = hashed
                best = c
    best = team_winner(best_weight, best_hash, best)
    if lane() == 0:
        wish[v] = best
