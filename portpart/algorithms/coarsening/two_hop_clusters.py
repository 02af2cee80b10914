"""Two-hop clustering: single vertices that rate the same cluster highest are grouped.

They are mostly the leaves of hubs; their preferred cluster has no capacity for them.  Isolated
vertices share a separate key.  A hash distributes the vertices that prefer a cluster to groups of
about half the weight limit.  If a group is still too heavy, another hash selects the vertices that
it keeps.  Nothing is sorted, and nothing depends on the order of threads.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.cluster_rounds import (
    ISOLATED_KEYS,
    ClusterRounds,
    VertexList,
    of_keys,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, global_id
from portpart.primitives import NO_VERTEX, hash_of, is_drawn, mixed

LAST = 2**31 - 1

FILL = 2
"""The weight limit of groups divided by their mean weight."""


class TwoHopGroups(kl.Record):
    """Preferred clusters of single vertices, and groups of vertices with the same one.

    Most arrays are reused: the rounds no longer need them.  An element belongs to a group or to a
    preferred cluster, which is a cluster or a key behind all clusters.

    Attributes
    ----------
    count : array of int32
        Number of vertices that prefer the cluster.
    weight : array of int64
        Their weight.
    first : array of int32
        The smallest of them; after groups are numbered, -1 - the number of the first group.
    group_leader : array of int32
        The smallest vertex of the group.
    group_weight, group_granted : array of int64
        The weight of the group, and of its granted members.
    """

    first: Array = kl.work(np.int32, of_keys)
    count: Array = kl.absent()
    weight: Array = kl.absent()
    group_leader: Array = kl.absent()
    group_weight: Array = kl.absent()
    group_granted: Array = kl.absent()

    groups: int = kl.word()  # groups of all preferred clusters

    def sharing(self, rounds: ClusterRounds, spare: VertexList) -> TwoHopGroups:
        """Return the record with arrays of the rounds, and of a list that is not in use."""
        return self.replaced(
            count=rounds.others, weight=rounds.requested, group_leader=spare.active,
            group_weight=rounds.granted, group_granted=rounds.cluster_weight,
        )


@kl.device
def isolated_key(v, rounds: ClusterRounds):
    """Return the key of a vertex without a proposal; vertices of one label share it."""
    return hash_of(kl.value_or(rounds.label, v, 0), 0) & (ISOLATED_KEYS - 1)


@kl.device
def preferred_cluster(v, rounds: ClusterRounds):
    """Return the cluster that v rates highest, or a key behind all clusters."""
    key = kl.int64(rounds.proposal[v])
    if key == NO_VERTEX:
        key = rounds.vertices + isolated_key(v, rounds)
    return key


@kl.device
def groups_for(count, weight, max_weight):
    """Return the number of groups for `count` vertices of a total weight that prefer a cluster."""
    return min(FILL * (weight // max(1, max_weight)) + FILL, (kl.int64(count) + 1) // 2)


@kl.device
def is_granted_in_group(global_id, weight, leads, rounds: ClusterRounds):
    """Whether a vertex may be in its group of this weight: it leads, all fit, or a hash says so."""
    chance = kl.float64(rounds.max_weight) / kl.float64(FILL * max(1, weight))
    favoured = is_drawn(hash_of(global_id, mixed(rounds.seed)), chance)
    return favoured or leads or weight <= rounds.max_weight


@kl.kernel
def clear_preferred(key, groups: TwoHopGroups):
    """Reset a preferred cluster, and the group of the same number."""
    groups.count[key] = kl.int32(0)
    groups.weight[key] = kl.int64(0)
    groups.first[key] = kl.int32(LAST)
    groups.group_leader[key] = kl.int32(LAST)
    groups.group_weight[key] = kl.int64(0)
    groups.group_granted[key] = kl.int64(0)


@kl.kernel
def count_preferred(i, listed: VertexList, graph: Csr, rounds: ClusterRounds, groups: TwoHopGroups):
    """Count v for its preferred cluster.  Atomic; the result does not depend on the order."""
    v = listed.active[i]
    key = preferred_cluster(v, rounds)
    kl.atomic_add(groups.count, key, 1)
    kl.atomic_add(groups.weight, key, kl.value_or(graph.vertex_weights, v, 1))
    kl.atomic_min(groups.first, key, v)


@kl.kernel
def place_groups(i, listed: VertexList, rounds: ClusterRounds, groups: TwoHopGroups):
    """Number the groups of a preferred cluster consecutively.  Atomic; clusters are in any order.

    A negative form of the number replaces the first vertex, so that it equals no vertex.
    """
    v = listed.active[i]
    key = preferred_cluster(v, rounds)
    if groups.first[key] == v:
        count = groups_for(groups.count[key], groups.weight[key], rounds.max_weight)
        number = kl.atomic_add(groups, TwoHopGroups.groups, count)
        groups.first[key] = kl.int32(-1 - kl.int64(number))


@kl.kernel
def enter_group(i, listed: VertexList, graph: Csr, rounds: ClusterRounds, groups: TwoHopGroups):
    """Assign v to a group of its preferred cluster by a hash; the smallest vertex leads the group.

    The group replaces v's proposal.  Atomic; the result does not depend on the order.
    """
    v = listed.active[i]
    key = preferred_cluster(v, rounds)
    count = groups_for(groups.count[key], groups.weight[key], rounds.max_weight)
    group = -1 - kl.int64(groups.first[key])
    if count > 0:
        group += (hash_of(global_id(v, graph), rounds.seed) & 0x7FFFFFFF) % count
        kl.atomic_min(groups.group_leader, group, v)
        kl.atomic_add(groups.group_weight, group, kl.value_or(graph.vertex_weights, v, 1))
    else:
        group = kl.int64(NO_VERTEX)
    rounds.proposal[v] = kl.int32(group)


@kl.kernel
def grant_in_group(i, listed: VertexList, graph: Csr, rounds: ClusterRounds, groups: TwoHopGroups):
    """Grant v's request if v leads its group; grant about as many of the other requests as fit.

    Atomic; the result does not depend on the order.
    """
    v = listed.active[i]
    group = rounds.proposal[v]
    rounds.join_requests[v] = kl.int8(0)
    if group != NO_VERTEX:
        leads = groups.group_leader[group] == v
        if is_granted_in_group(global_id(v, graph), groups.group_weight[group], leads, rounds):
            rounds.join_requests[v] = kl.int8(1)
            kl.atomic_add(groups.group_granted, group, kl.value_or(graph.vertex_weights, v, 1))


@kl.kernel
def join_group(i, listed: VertexList, rounds: ClusterRounds, groups: TwoHopGroups):
    """Put v into the cluster of its group's leader if all granted members fit."""
    v = listed.active[i]
    if rounds.join_requests[v] != 0:
        group = rounds.proposal[v]
        leader = groups.group_leader[group]
        same = kl.value_or(rounds.label, leader, 0) == kl.value_or(rounds.label, v, 0)
        if same and groups.group_granted[group] <= rounds.max_weight:
            rounds.cluster[v] = leader
