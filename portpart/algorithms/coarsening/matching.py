"""Matching in synchronous rounds, to maximality (Gilbert et al., Jet, section 3.1).

In a round every unmatched vertex proposes the unmatched neighbour across its best rated edge.
Mutual proposals become pairs.  A seeded hash of the edge orders equal ratings, so the best free
edge around is always taken, and a few rounds leave no free edge.  The result does not depend on
the order of arcs or of threads.

In another mode, half of the vertices, selected by a hash, offer themselves to the vertices that
they propose.  Each of the others accepts its best offer, whatever it proposes itself (similar to
Jet's released code).  Pairs then use not only the heaviest edges, and vertex weights differ less.

The rating of an edge is its weight, or w^2 / (c(u) c(v)) (M. Holtgrewe, P. Sanders, C. Schulz,
IPDPS 2010).  The latter matches light vertices first, so vertices of a level have similar weights.

Vertices that are still unmatched are paired at distance two (`two_hop.py`).
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.clusters import Clusters, Numbering, record_numbering
from portpart.algorithms.coarsening.hierarchy import ClusterRule
from portpart.algorithms.coarsening.options import MatchingOptions, sizes_of
from portpart.algorithms.coarsening.proposals import (
    Choice,
    Proposals,
    any_candidate,
    best_candidate,
    cluster_capacity,
    directed_tie_hash,
    head_of,
    keep_best_score,
    may_join,
)
from portpart.algorithms.coarsening.two_hop import UNMATCHED, TwoHop, record_two_hop
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Array, Program, Records
from portpart.graphs import Csr, Graph, team_for
from portpart.primitives import hash_of, sort_arrays

NO_LAST_ROUND = 2**62


class ActiveVertices(kl.Record):
    """The active ones of n vertices; their order depends on threads, but no result depends on it.

    Attributes
    ----------
    listed : array of int32, shape (2 n + 1,)
        The lists of even and of odd rounds; the last element is unused.
    """

    listed: Array = kl.work(np.int32, lambda sizes: 2 * sizes.vertices + 1)

    vertices: int = kl.word()  # vertices of the graph
    count: int = kl.word()  # active in this round
    next_count: int = kl.word()  # and in the next one
    round: int = kl.word()


class Matching(Proposals):
    """The proposals and partners of n vertices.

    Attributes
    ----------
    mate : array of int32, shape (n,)
        The partner of each vertex, or -1; in the end the leader of the pair.
    """

    mate: Array = kl.absent()
    proposal: Array = kl.work(np.int32, "vertices")


DEFAULT = MatchingOptions()


def matching_rule(max_weight: int, options: MatchingOptions, rated: bool = False) -> ClusterRule:
    """Return the rule for pairs of at most this weight on each level of a hierarchy."""
    return lambda graph, seed, label: matched_clusters(graph, max_weight, seed, label, options,
                                                       rated)


def matched_clusters(graph: Graph, max_weight: int, seed: int, label: Array | None = None,
                     options: MatchingOptions = DEFAULT, rated: bool = False) -> Clusters:
    """Return pairs of a heavy-edge matching, and single vertices, by their smaller vertex.

    Parameters
    ----------
    graph : Graph
    max_weight : int
        Maximum weight of a pair.
    seed : int
        Breaks ties.
    label : array of int32, shape (n,), optional
        Only vertices of equal label make a pair.
    options : MatchingOptions
        The number of rounds, by default until no edge is free; whether proposals must be mutual;
        and whether vertices at distance two are paired while too many are single.
    rated : bool
        Whether edges are rated by w^2 / (c(u) c(v)).  Ratings are IEEE operations in the same order
        on every device.  The hash of the edge replaces the paper's noise, which makes all ratings
        different.

    Notes
    -----
    Does not synchronise with the device.
    """
    n, sizes, space = graph.num_vertices, sizes_of(graph), graph.space
    clusters = Clusters.allocate(space, sizes, max_count=n)
    matching = Matching(seed=seed, max_weight=max_weight, label=label, mate=clusters.cluster)
    records: dict[str, kl.Record | kl.Words] = {
        "graph": graph.csr, "active": ActiveVertices().with_words(vertices=n),
        "matching": matching, "numbering": Numbering.of(n)}
    if options.two_hop:
        records["two_hop"] = TwoHop(
            options.max_matchmaker_degree, sort_arrays(space, n)).with_words(unmatched=n)
    by = BY_RATING if rated else CHOICES[options.mutual]
    team = team_for(graph.mean_degree)
    shape = options.rounds, options.mutual, options.two_hop
    executable = space.cached_executable(
        ("matching", by, graph.type_key, label is not None, team, shape),
        lambda: _record(records, by, team, options))
    executable.run({**records, "count": clusters.count}, n, sizes)
    return clusters


def _record(records: Records, by: Choice, team: int, options: MatchingOptions) -> Program:
    program = Program("matching", threads=MANY)
    slots = program.declare(records)
    active = slots["active"]
    program.launch(active.vertices, begin_matching)
    with program.while_loop(active.count):
        program.launch(active.count, propose_unmatched, team=team, by=by)
        if options.mutual:
            program.launch(active.count, match_mutual_proposals)
        else:
            program.launch(active.count, take_offer, team=team)
            program.launch(active.count, keep_single)
        last = NO_LAST_ROUND if options.rounds is None else options.rounds - 1
        program.launch(1, begin_next_round, last_round=last)
    if options.two_hop:
        matching = slots["matching"]
        program.records["two_hop"] = slots["two_hop"].replaced(
            mate=matching.mate, listed=active.listed, other_list=matching.proposal)
        record_two_hop(program, team)
    program.launch(active.vertices, lead_pair)
    record_numbering(program, slots["matching"].mate)
    return program


@kl.device
def edge_weight(arc, u, v, graph: Csr, matching: Matching):
    """Return the weight of an edge as its rating."""
    return kl.value_or(graph.weights, arc, 1)


@kl.device
def edge_rating(arc, u, v, graph: Csr, matching: Matching):
    """Return the rating of an edge by its weight and the weights of its ends; it is symmetric."""
    own = kl.value_or(graph.vertex_weights, v, 1)
    other = kl.value_or(graph.vertex_weights, u, 1)
    weight = kl.float64(kl.value_or(graph.weights, arc, 1))
    return weight * weight / (kl.float64(max(kl.int64(1), own)) * kl.float64(max(kl.int64(1),
                                                                                 other)))


@kl.device
def may_match(v, u, own, limit, graph: Csr, matching: Matching):
    """Whether u is unmatched and may form a pair with v."""
    return matching.mate[u] == UNMATCHED and may_join(v, u, own, limit, graph, matching)


# Weights are cheap to read, so mates are checked after them; ratings are computed after mates.
CHOICES = {mutual: Choice(head_of, any_candidate, edge_weight, keep_best_score, kl.int64, may_match,
                          *([] if mutual else [directed_tie_hash])) for mutual in (True, False)}
BY_RATING = Choice(head_of, may_match, edge_rating, keep_best_score, kl.float64)


@kl.kernel
def begin_matching(v, active: ActiveVertices, matching: Matching):
    """Make v unmatched and active."""
    matching.mate[v] = kl.int32(UNMATCHED)
    active.listed[v] = kl.int32(v)
    if v == 0:
        active.count = active.vertices


@kl.device
def place_of(i, active: ActiveVertices):
    """Return the place of the i-th active vertex in the lists."""
    return (active.round & 1) * active.vertices + i


@kl.device
def stay_active(v, active: ActiveVertices):
    """Put v on the list of the next round."""
    place = kl.atomic_next(active, ActiveVertices.next_count)
    active.listed[((active.round + 1) & 1) * active.vertices + place] = kl.int32(v)


@kl.kernel
def begin_next_round(_, active: ActiveVertices, last_round):
    """Begin the next round with the vertices that stay active, or end after the last round."""
    active.count = active.next_count
    active.next_count = 0
    if active.round == last_round:
        active.count = 0
    active.round += 1


@kl.kernel
def propose_unmatched(i, active: ActiveVertices, graph: Csr, matching: Matching, by: Choice):
    """Propose the best unmatched neighbour that keeps the weight limit."""
    v = active.listed[place_of(i, active)]
    limit = cluster_capacity(v, graph, matching)
    best_candidate(v, kl.int32(UNMATCHED), limit, graph.begin[v], graph.end[v], graph, matching, by)


@kl.kernel
def match_mutual_proposals(i, active: ActiveVertices, matching: Matching):
    """Pair v with the vertex that it proposes if that proposes v; else keep v active."""
    v = active.listed[place_of(i, active)]
    u = matching.proposal[v]
    if u != UNMATCHED:
        if matching.proposal[u] == v:
            matching.mate[v] = u
        else:
            stay_active(v, active)


@kl.device
def offers_itself(v, u, matching: Matching):
    """Whether v offers itself to u instead of waiting for offers."""
    return hash_of(v, matching.seed) < hash_of(u, matching.seed)


@kl.device
def has_offered(v, u, own, limit, graph: Csr, matching: Matching):
    """Whether u proposes v and offers itself.  Such a u is free: it has accepted no offer."""
    return matching.proposal[u] == v and offers_itself(u, v, matching)


@kl.device
def keep_pair(v, best, score, matching: Matching):
    """Pair v with its best offer."""
    if kl.lane() == 0 and best != UNMATCHED:
        matching.mate[v] = best
        matching.mate[best] = v


OFFERS = Choice(head_of, has_offered, edge_weight, keep_pair, kl.int64, tie=directed_tie_hash)


@kl.kernel
def take_offer(i, active: ActiveVertices, graph: Csr, matching: Matching):
    """If v waits for offers, pair it with the best one."""
    v = active.listed[place_of(i, active)]
    u = matching.proposal[v]
    if u != UNMATCHED:
        if not offers_itself(v, u, matching):
            best_candidate(v, kl.int32(UNMATCHED), kl.int64(0), graph.begin[v], graph.end[v], graph,
                           matching, OFFERS)


@kl.kernel
def keep_single(i, active: ActiveVertices, matching: Matching):
    """Keep v active if it had a proposal and is still unmatched."""
    v = active.listed[place_of(i, active)]
    if matching.proposal[v] != UNMATCHED and matching.mate[v] == UNMATCHED:
        stay_active(v, active)


@kl.kernel
def lead_pair(v, matching: Matching):
    """Replace the mate of v by its leader: the smaller vertex of the pair, or v if it is single."""
    u = matching.mate[v]
    matching.mate[v] = kl.int32(v) if u == UNMATCHED else min(kl.int32(v), u)
