"""Rounds of grouping: selections of vertices, joins, and free capacity of groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.active_vertices import (
    ActiveVertices,
    place_of,
    stay_active,
)
from portpart.algorithms.coarsening.options import MAX_SCORE
from portpart.algorithms.coarsening.proposals import (
    ClusterProposals,
    cluster_capacity,
    head_of,
    may_join,
)
from portpart.algorithms.coarsening.sizes import of_vertices
from portpart.algorithms.coarsening.two_hop_pairing import NO_KEY, POSITIVE, TwoHopPairing
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.work import WorkRecord
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr, degree_of
from portpart.primitives.best_candidate import Choice, best_candidate
from portpart.primitives.hashing import hash_of
from portpart.primitives.team_winner import LOWEST, NO_VERTEX

LAST = 2**31 - 1

LONG_DEPTH, MAX_DEPTH, MARKS = 16, 64, 16
"""Chains of heavier and heavier edges can be long.  They are followed to the first marked vertex
after `LONG_DEPTH` steps, which is the same for most of those in a row, and at most `MAX_DEPTH`
steps; one vertex in `MARKS` is marked, by its hash."""


class Selections(ClusterProposals):
    """What the neighbours that vertices select are scored by.

    Attributes
    ----------
    score_factor, max_edge_weight : int
        The paper's c, and the weight from which on edges are equally heavy.
    subset : array of int32, shape (n,)
        A vertex that a vertex is joined with and that is no larger; in the end the smallest one.
    """

    score_factor: int
    max_edge_weight: int
    subset: Array

    changing: int = kl.word()  # whether subsets change still

    @classmethod
    def of(cls, graph: Graph, score_factor: int | None, **given: Any) -> Selections:
        """For a graph; c is by default one more than the highest degree."""
        factor = graph.max_degree + 1 if score_factor is None else score_factor
        return cls(score_factor=factor, max_edge_weight=MAX_SCORE // factor, **given)


class Grouping(Selections, WorkRecord):
    """Selections of n vertices, the groups that they make, and what is offered to groups.

    Arrays needed only before or after two-hop matching share its memory.

    Attributes
    ----------
    proposal : array of int32, shape (n,)
        The neighbour that a vertex selects, or -1.
    link_score : array of int64, shape (n,)
        The score of that neighbour.
    group_size : int
        Places of a group.
    members : array of int32, shape (n,)
        Vertices in the group of a vertex that leads one.
    group_weight : array of int64, shape (n,)
        Their weight.
    offer, first : array of int64 and int32, shape (n,)
        The best score that is offered to a leader in this round, and the smallest vertex that
        offers it.
    mate : array of int32, shape (n,)
        The vertex that a vertex is linked to, or -1.
    """

    group_size: int  # type: ignore[misc]  # words are no fields, and follow all of them
    group_weight: Array = work(np.int64, of_vertices)
    link_score: Array = None
    members: Array = None
    offer: Array = None
    first: Array = None
    mate: Array = None

    def sharing(self, pairing_state: TwoHopPairing) -> Grouping:
        """The same with arrays of two-hop matching."""
        return self.replaced(
            proposal=pairing_state.proposal, link_score=pairing_state.keys,
            members=pairing_state.slot, offer=pairing_state.leader,
            first=pairing_state.key_count, mate=pairing_state.mate,
        )


@kl.device
def score(arc, u, v, graph: Csr, selections: Selections):
    """The paper's score c W - degree(u)."""
    weight = min(kl.value_or(graph.weights, arc, 1), selections.max_edge_weight)
    return selections.score_factor * weight - degree_of(u, graph)


@kl.device
def keep_selection(v, best, best_score, grouping: Grouping):
    """V selects the best, by that score."""
    link_score = kl.team_max(best_score)
    if kl.lane() == 0:
        grouping.proposal[v] = best
        grouping.link_score[v] = link_score
    return best


BY_SCORE = Choice(head_of, may_join, score, keep_selection, kl.int64)


@kl.kernel
def select_neighbour(v, graph: Csr, grouping: Grouping):
    """Select the neighbour of the best score that v may be grouped with."""
    room = cluster_capacity(v, graph, grouping)
    best_candidate(v, kl.int32(NO_VERTEX), room, graph.begin[v], graph.end[v], graph, grouping,
                   BY_SCORE)


@kl.kernel
def begin_group(v, graph: Csr, grouping: Grouping):
    """Every vertex is a group and a subset of itself, and is offered nothing."""
    grouping.offer[v] = LOWEST
    grouping.first[v] = kl.int32(LAST)
    grouping.members[v] = kl.int32(1)
    grouping.group_weight[v] = kl.value_or(graph.vertex_weights, v, 1)
    grouping.mate[v] = kl.int32(NO_VERTEX)
    grouping.subset[v] = kl.int32(v)
    if v == 0:
        grouping.changing = 1


@kl.device
def stays(u, v, graph: Csr, grouping: Grouping):
    """Whether u, not v, is the root of a tree if they select each other: higher degree, or hash."""
    degree = degree_of(u, graph)
    other = degree_of(v, graph)
    higher = degree > other
    if degree == other:
        higher = hash_of(u, grouping.seed) > hash_of(v, grouping.seed)
    return higher


@kl.device
def joins(v, graph: Csr, grouping: Grouping):
    """Whether v is at odd depth in the tree of selections.

    A root has no selection, or is one of two vertices that select each other.  A long chain is cut.
    """
    depth = kl.int64(0)
    u = kl.int32(v)
    following = True
    while following:
        w = grouping.proposal[u]
        following = w != NO_VERTEX
        if following and grouping.proposal[w] == u:
            following = not stays(u, w, graph, grouping)
        if following:
            depth += 1
            u = w
            if depth >= LONG_DEPTH:
                marked = hash_of(u, grouping.seed) & (MARKS - 1) == 0
                following = not marked and depth < MAX_DEPTH
    return depth & 1 != 0


@kl.kernel
def list_joining(v, graph: Csr, grouping: Grouping, active: ActiveVertices):
    """Let v wait for a place if it is to join what it selected."""
    if joins(v, graph, grouping):
        # the two may be at odds where a chain is cut
        if not joins(grouping.proposal[v], graph, grouping):
            active.listed[kl.atomic_next(active, ActiveVertices.count)] = kl.int32(v)


@kl.kernel
def offer_edge(i, graph: Csr, grouping: Grouping, active: ActiveVertices):
    """Offer the group the edge to it if there is room, else stop waiting; atomic, independent of
    order.
    """
    place = place_of(i, active)
    v = active.listed[place]
    centre = grouping.proposal[v]
    weight = grouping.group_weight[centre] + kl.value_or(graph.vertex_weights, v, 1)
    if grouping.members[centre] < grouping.group_size and weight <= grouping.max_weight:
        kl.atomic_max(grouping.offer, centre, grouping.link_score[v])
    else:
        active.listed[place] = kl.int32(NO_VERTEX)


@kl.kernel
def claim_place(i, grouping: Grouping, active: ActiveVertices):
    """Of those with the best offer the smallest vertex gets the place; atomic, independent of
    order.
    """
    v = active.listed[place_of(i, active)]
    if v != NO_VERTEX:
        centre = grouping.proposal[v]
        if grouping.link_score[v] == grouping.offer[centre]:
            kl.atomic_min(grouping.first, centre, v)


@kl.kernel
def take_in(i, graph: Csr, grouping: Grouping, active: ActiveVertices):
    """Link the vertex that got the place; the others wait on.

    Only that vertex touches the group, and a concurrent reader of the first one finds another.
    """
    v = active.listed[place_of(i, active)]
    if v != NO_VERTEX:
        centre = grouping.proposal[v]
        if grouping.first[centre] == v:
            grouping.mate[v] = centre
            grouping.members[v] += 1
            grouping.members[centre] += 1
            grouping.group_weight[centre] += kl.value_or(graph.vertex_weights, v, 1)
            grouping.offer[centre] = LOWEST
            grouping.first[centre] = kl.int32(LAST)
        else:
            stay_active(v, active)


@kl.kernel
def key_of_leftover(v, grouping: Grouping, pairing_state: TwoHopPairing):
    """Key of a single vertex: what it selected; of one without a selection, its label."""
    key = kl.int64(NO_KEY)
    if grouping.members[v] == 1:
        key = kl.int64(grouping.proposal[v])
        if key == NO_VERTEX:
            key = NO_VERTEX - (kl.int64(kl.value_or(grouping.label, v, 0)) & POSITIVE)
        key = hash_of(key, grouping.seed) & POSITIVE
    pairing_state.keys[v] = key


@kl.kernel
def settle(_, links: Selections):
    """Nothing has changed in this round so far."""
    links.changing = 0
