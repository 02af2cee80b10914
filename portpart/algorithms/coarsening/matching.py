"""Matching in synchronous rounds, to maximality (Gilbert et al., Jet, section 3.1).

In a round every unmatched vertex proposes the unmatched neighbour across its best rated edge;
mutual proposals become pairs.  Equal ratings are ordered by a seeded hash of the edge, so the best
free edge around is always taken and a few rounds leave no free edge.  The result does not depend on
the order of arcs or of threads.

Or half of the vertices, by a hash, offer themselves to the vertices that they propose, and each of
the others takes the best of its offers, whatever it proposes itself (much as Jet's released code).
So not only the heaviest edges around are taken, and vertices differ less in weight.

Ratings are the weight of an edge, or w^2 / (c(u) c(v)) (M. Holtgrewe, P. Sanders, C. Schulz, IPDPS
2010): light vertices are matched first then, so vertices of a level weigh about the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.active_vertices import (
    NO_LAST_ROUND,
    ActiveVertices,
    begin_next_round,
    place_of,
    stay_active,
)
from portpart.algorithms.coarsening.contraction import Clusters, clusters_of_matching
from portpart.algorithms.coarsening.proposals import (
    Proposals,
    cluster_capacity,
    head_of,
    may_join,
)
from portpart.algorithms.coarsening.sizes import of_vertices, sizes_of
from portpart.algorithms.coarsening.two_hop import two_hop_matching
from portpart.algorithms.coarsening.two_hop_pairing import UNMATCHED
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for
from portpart.primitives.best_candidate import (
    Choice,
    any_candidate,
    best_candidate,
    directed_tie_hash,
    keep_best_score,
)
from portpart.primitives.hashing import hash_of


class Matching(Proposals, WorkRecord):  # type: ignore[misc]  # what has to be given comes first
    """The proposals and the partners of n vertices.

    Attributes
    ----------
    mate : array of int32, shape (n,)
        The partner of each vertex, or -1.
    """

    mate: Array = work(np.int32, of_vertices, outlives=True)
    proposal: Array = work(np.int32, of_vertices)


MATCHING_WORK = Matching, ActiveVertices
"""What a matching works on, with the mates."""


def heavy_edge_matching(space: ExecutionSpace, graph: Graph, max_weight: int, seed: int,
                        label: Array | None = None, rounds: int | None = None,
                        mutual: bool = True) -> Array:
    """Matching that prefers heavy edges: a maximal one, or that of some rounds.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph
    max_weight : int
        No pair weighs more than this.
    seed : int
        Breaks ties.
    label : array of int32, shape (n,), optional
        Only vertices of equal label are matched.
    rounds : int, optional
        Rounds, at most; by default as many as leave no free edge.
    mutual : bool
        Whether both have to propose each other.

    Returns
    -------
    array of int32, shape (n,)
        The partner of each vertex, or -1.
    """
    proposal = propose_neighbour.bound(by=BY_WEIGHT if mutual else BY_OWN_HASH)
    return _matching(graph, proposal, max_weight, seed, label, rounds, mutual)


def rated_matching(graph: Graph, max_weight: int, seed: int, label: Array | None = None) -> Array:
    """Maximal matching that prefers edges of high rating w^2 / (c(u) c(v)).

    Ratings are IEEE operations in the same order on every device; the hash of the edge is the
    paper's noise that makes all ratings different.  Parameters and result are those of
    :func:`heavy_edge_matching`.
    """
    return _matching(graph, propose_neighbour.bound(by=BY_RATING), max_weight, seed, label)


def matched_clusters(graph: Graph, max_weight: int, seed: int, label: Array | None = None,
                     two_hop: bool = True, max_matchmaker_degree: int = 1000,
                     rated: bool = False, rounds: int | None = None,
                     mutual: bool = True) -> Clusters:
    """Pairs of a heavy-edge matching and single vertices, in the order of their smaller vertex.

    Parameters
    ----------
    graph : Graph
    max_weight : int
        No pair weighs more than this.
    seed : int
        Breaks ties.
    label : array of int32, shape (n,), optional
        Only vertices of equal label make a pair.
    two_hop : bool
        Whether vertices at distance two are paired while too many are single.
    max_matchmaker_degree : int
        Vertices of higher degree do not make relatives.
    rated : bool
        Whether edges are rated instead, as by `rated_matching`.
    rounds : int, optional
        Rounds of a heavy-edge matching, at most.
    mutual : bool
        Whether both have to propose each other in one.
    """
    space = graph.space
    mate = (rated_matching(graph, max_weight, seed, label) if rated
            else heavy_edge_matching(space, graph, max_weight, seed, label, rounds, mutual))
    if two_hop:
        two_hop_matching(space, graph, mate, max_weight, seed, max_matchmaker_degree)
        if label is not None:
            mate = part_unlike(space, mate, label)
    return clusters_of_matching(space, mate)


def part_unlike(space: ExecutionSpace, mate: Array, label: Array) -> Array:
    """The matching `mate` without the pairs of vertices of different labels."""
    parted = space.empty(len(mate), np.int32)
    space.parallel_for(len(mate), keep_mate_of_own_label, mate, label, parted)
    return parted


def _matching(graph: Graph, proposal: Kernel, max_weight: int, seed: int, label: Array | None,
              rounds: int | None = None, mutual: bool = True) -> Array:
    """Matching by rounds of proposals; mutual or accepted ones become pairs."""
    n, sizes = graph.num_vertices, sizes_of(graph)
    matching = Matching.outliving(graph.space, sizes, seed=seed, max_weight=max_weight, label=label,
                                  total=None)
    records = {"graph": graph.csr, "active": ActiveVertices().with_words(vertices=n),
               "matching": matching}
    team = team_for(graph.mean_degree)
    executable = graph.space.cached_executable(
        ("matching", proposal, graph.type_key, label is not None, team, rounds, mutual),
        lambda: _record(records, proposal, team, rounds, mutual))
    executable.run(records, n, sizes)
    return matching.mate


def _record(records: dict[str, Any], proposal: Kernel, team: int, rounds: int | None,
            mutual: bool) -> Program:
    program = Program("matching")
    slots = program.declare(records)
    active = slots["active"]
    program.launch(active.vertices, begin_matching)
    with program.while_loop(active.count):
        program.launch(active.count, proposal, team=team)
        if mutual:
            program.launch(active.count, match_mutual_proposals)
        else:
            program.launch(active.count, take_offer, team=team)
            program.launch(active.count, keep_single)
        program.launch(1, begin_next_round,
                       last_round=NO_LAST_ROUND if rounds is None else rounds - 1)
    return program


@kl.device
def edge_weight(arc, u, v, graph: Csr, matching: Matching):
    """Rating of an edge by its weight."""
    return kl.value_or(graph.weights, arc, 1)


@kl.device
def edge_rating(arc, u, v, graph: Csr, matching: Matching):
    """Rating of an edge by its weight and those of its ends, the same from both of them."""
    own = kl.value_or(graph.vertex_weights, v, 1)
    other = kl.value_or(graph.vertex_weights, u, 1)
    weight = kl.float64(kl.value_or(graph.weights, arc, 1))
    return weight * weight / (kl.float64(max(kl.int64(1), own)) * kl.float64(max(kl.int64(1),
                                                                                 other)))


@kl.device
def may_match(v, u, own, room, graph: Csr, matching: Matching):
    """Whether v and u, an unmatched vertex, may be a pair."""
    return matching.mate[u] == UNMATCHED and may_join(v, u, own, room, graph, matching)


# A weight is read sooner than a mate, a rating is worked out later.
BY_WEIGHT = Choice(head_of, any_candidate, edge_weight, keep_best_score, kl.int64, may_match)
BY_OWN_HASH = Choice(head_of, any_candidate, edge_weight, keep_best_score, kl.int64, may_match,
                     directed_tie_hash)
BY_RATING = Choice(head_of, may_match, edge_rating, keep_best_score, kl.float64)


@kl.kernel
def begin_matching(v, active: ActiveVertices, matching: Matching):
    """All vertices are unmatched and active."""
    matching.mate[v] = kl.int32(UNMATCHED)
    active.listed[v] = kl.int32(v)
    if v == 0:
        active.count = active.vertices


@kl.kernel
def propose_neighbour(i, active: ActiveVertices, graph: Csr, matching: Matching, by: Choice):
    """V proposes an unmatched neighbour that keeps the weight limit."""
    v = active.listed[place_of(i, active)]
    room = cluster_capacity(v, graph, matching)
    best_candidate(v, kl.int32(UNMATCHED), room, graph.begin[v], graph.end[v], graph, matching, by)


@kl.kernel
def match_mutual_proposals(i, active: ActiveVertices, matching: Matching):
    """Pair v with the vertex it proposes if mutual; v stays active while it has a proposal."""
    v = active.listed[place_of(i, active)]
    u = matching.proposal[v]
    if u != UNMATCHED:
        if matching.proposal[u] == v:
            matching.mate[v] = u
        else:
            stay_active(v, active)


@kl.device
def offers_itself(v, u, matching: Matching):
    """Whether v offers itself to u rather than waiting for offers."""
    return hash_of(v, matching.seed) < hash_of(u, matching.seed)


@kl.device
def has_offered(v, u, own, room, graph: Csr, matching: Matching):
    """Whether u proposes v and offers itself.  Then u is free: it has taken no offer."""
    return matching.proposal[u] == v and offers_itself(u, v, matching)


@kl.device
def keep_pair(v, best, score, matching: Matching):
    """V and the best of its offers are a pair."""
    if kl.lane() == 0 and best != UNMATCHED:
        matching.mate[v] = best
        matching.mate[best] = v
    return best


OFFERS = Choice(head_of, has_offered, edge_weight, keep_pair, kl.int64, tie=directed_tie_hash)


@kl.kernel
def take_offer(i, active: ActiveVertices, graph: Csr, matching: Matching):
    """Pair v, if it waits for offers, with the best one."""
    v = active.listed[place_of(i, active)]
    u = matching.proposal[v]
    if u != UNMATCHED:
        if not offers_itself(v, u, matching):
            best_candidate(v, kl.int32(UNMATCHED), kl.int64(0), graph.begin[v], graph.end[v], graph,
                           matching, OFFERS)


@kl.kernel
def keep_single(i, active: ActiveVertices, matching: Matching):
    """V stays active if it had a proposal and is still unmatched."""
    v = active.listed[place_of(i, active)]
    if matching.proposal[v] != UNMATCHED and matching.mate[v] == UNMATCHED:
        stay_active(v, active)


@kl.kernel
def keep_mate_of_own_label(v, mate, label, parted):
    """parted[v] = mate of v if its label is v's."""
    u = mate[v]
    parted[v] = kl.int32(UNMATCHED)
    if u != UNMATCHED:
        if label[u] == label[v]:
            parted[v] = u
