"""What clustering leaves single: vertices that rate the same cluster highest are grouped.

They are the leaves of hubs, mostly; their favourite has no room for them.  Isolated vertices share
a key of their own.  The fans of a cluster are dealt by a hash into groups of about half the weight
that a group may have.  A group that is too heavy all the same keeps those whom another hash
favours.  Nothing is sorted, and nothing depends on the order of threads.
"""

from __future__ import annotations

from portpart.backends.language import (
    atomic_add,
    atomic_min,
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    value_or,
)
from portpart.primitives.hashing import hash_of, mixed
from portpart.primitives.team_winner import NOBODY

LAST = 2**31 - 1

ISOLATED_KEYS = 64
"""Vertices without neighbours of their label are fans of one of so many keys, by their label."""

FILL = 2
"""Groups are so many times lighter than they may be, on average."""


@device
def key_of(v, wish, label, vertices):
    """What v is a fan of: a cluster, or a key behind all clusters."""
    key = int64(wish[v])
    if key == NOBODY:
        key = vertices + (hash_of(value_or(label, v, 0), 0) & (ISOLATED_KEYS - 1))
    return key


@device
def groups_for(fans, weight, max_weight):
    """Number of groups for so many fans of that weight together."""
    wanted = FILL * (weight // max(1, max_weight)) + FILL
    return min(wanted, (int64(fans) + 1) // 2)


@kernel
def clear_marks(key, fans, fan_weight, first_fan, group_leader, group_weight, group_chosen):
    """Nobody is a fan of the key, nobody in the group of the same number."""
    fans[key] = int32(0)
    fan_weight[key] = int64(0)
    first_fan[key] = int32(LAST)
    group_leader[key] = int32(LAST)
    group_weight[key] = int64(0)
    group_chosen[key] = int64(0)


@kernel
def count_fan(i, active, vertex_weights, wish, label, fans, fan_weight, first_fan, sizes,
              vertices_at):
    """Count v among the fans of its key; atomic, order-free."""
    v = active[i]
    key = key_of(v, wish, label, sizes[vertices_at])
    atomic_add(fans, key, 1)
    atomic_add(fan_weight, key, value_or(vertex_weights, v, 1))
    atomic_min(first_fan, key, v)


@kernel
def place_groups(i, active, wish, label, fans, fan_weight, first_fan, sizes, vertices_at, groups_at,
                 max_weight):
    """Number the groups of a key one after the other, in any order of the keys.

    The number, made negative, takes the place of the first fan, which compares with no vertex.
    """
    v = active[i]
    key = key_of(v, wish, label, sizes[vertices_at])
    if first_fan[key] == v:
        groups = groups_for(fans[key], fan_weight[key], max_weight)
        first_fan[key] = int32(-1 - int64(atomic_add(sizes, groups_at, groups)))


@kernel
def enter_group(i, active, vertex_weights, wish, label, fans, fan_weight, first_group, group_leader,
                group_weight, sizes, vertices_at, max_weight, seed):
    """Deal v into a group of its key, led by its smallest vertex; atomic, order-free.

    The group takes the place of v's wish.
    """
    v = active[i]
    key = key_of(v, wish, label, sizes[vertices_at])
    groups = groups_for(fans[key], fan_weight[key], max_weight)
    group = -1 - int64(first_group[key])
    if groups > 0:
        group += (hash_of(v, seed) & 0x7FFFFFFF) % groups
        atomic_min(group_leader, group, v)
        atomic_add(group_weight, group, value_or(vertex_weights, v, 1))
    else:
        group = int64(NOBODY)
    wish[v] = int32(group)


@kernel
def choose_in_group(i, active, vertex_weights, group_of, group_leader, group_weight, group_chosen,
                    asks, max_weight, seed):
    """Choose the leader of a group, and of the others so many as fit likely; atomic, order-free."""
    v = active[i]
    group = group_of[v]
    asks[v] = int8(0)
    if group != NOBODY:
        chance = float64(max_weight) / float64(FILL * max(1, group_weight[group]))
        favoured = float64(hash_of(v, mixed(seed)) & 0x7FFFFFFF) < chance * 2147483648.0
        if favoured or group_leader[group] == v or group_weight[group] <= max_weight:
            asks[v] = int8(1)
            atomic_add(group_chosen, group, value_or(vertex_weights, v, 1))


@kernel
def join_group(i, active, label, group_of, group_leader, group_chosen, asks, cluster, max_weight):
    """Put v into the cluster of its group's leader if all who are chosen fit."""
    v = active[i]
    if asks[v] != 0:
        group = group_of[v]
        leader = group_leader[group]
        same = value_or(label, leader, 0) == value_or(label, v, 0)
        if same and group_chosen[group] <= max_weight:
            cluster[v] = leader
