"""Proposals of vertices: the best of the neighbours or clusters that each may be merged with.

Matching, clustering and grouping differ in the candidates, in their ratings, and in what they keep
of the best one.  The largest score wins.  A seeded hash of the two ids, or the smaller id, breaks
ties.  The result does not depend on the order of candidates or on the number of lanes.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr
from portpart.primitives import HIGHEST, LOWEST, NO_VERTEX, hash_of, pair_hash, team_winner


class Proposals(kl.Record):
    """The proposals of n vertices, their restrictions, and the clusters among which they are made.

    Attributes
    ----------
    seed : int
        Breaks ties between candidates of equal score.
    max_weight : int
        Maximum weight of vertices that are joined.
    label : array of int32, shape (n,), or None
        Only vertices of equal label are joined.
    total : int or None
        Factor of weights in some ratings and scores.
    proposal : array of int32
        The best candidate of each vertex, or -1.
    cluster : array of int32, shape (n,), or None
        The leader of each vertex's cluster, where candidates are clusters.
    cluster_weight : array of int64, shape (n,) or longer, or None
        The weight of the cluster that a vertex leads.
    """

    seed: int
    max_weight: int
    label: Array | None
    total: int | None = kl.absent()
    proposal: Array = kl.absent()
    cluster: Array = kl.absent()
    cluster_weight: Array = kl.absent()


@kl.device
def cluster_capacity(v, graph: Csr, proposals: Proposals):
    """Return the maximum weight of a vertex or cluster that v may be joined with."""
    return proposals.max_weight - kl.value_or(graph.vertex_weights, v, 1)


@kl.device
def head_of(arc, graph: Csr, proposals: Proposals):
    """Return the head of an arc."""
    return graph.targets[arc]


@kl.device
def may_join(v, u, own, limit, graph: Csr, proposals: Proposals):
    """Whether vertex u weighs at most `limit` and has v's label."""
    return kl.value_or(graph.vertex_weights, u, 1) <= limit and (
        kl.value_or(proposals.label, u, 0) == kl.value_or(proposals.label, v, 0))


# The loop by which a vertex, with a whole team, finds the best of the candidates around it -----


@kl.device
def tie_hash(v, c, own, graph: kl.Record, seed):
    """Return the key that breaks ties between equal scores; that of `own` is the highest."""
    return kl.int64(HIGHEST) if c == own else pair_hash(v, c, seed)


@kl.device
def directed_tie_hash(v, c, own, graph: kl.Record, seed):
    """Return a key that breaks ties, and that may differ between the two directions of a pair."""
    return kl.int64(HIGHEST) if c == own else hash_of(c, hash_of(v, seed))


@kl.device
def smallest_id(v, c, own, graph: kl.Record, seed):
    """Return a key that is larger for smaller ids; that of `own` is the highest."""
    return kl.int64(HIGHEST) if c == own else -kl.int64(c)


@kl.device
def keep_best_score(v, best, score, search: Proposals):
    """Make the best candidate the proposal of v."""
    if kl.lane() == 0:
        search.proposal[v] = best


@kl.device
def any_candidate(v, c, own, limit, graph: kl.Record, search: Proposals):
    """Accept every candidate."""
    return True


@dataclass(frozen=True)
class Choice(kl.Static):
    """The candidates, their ratings, and what is kept of the best one.

    Attributes
    ----------
    candidate : DeviceFunction
        ``candidate(place, graph, search)`` returns the vertex at a place.
    fits : DeviceFunction
        ``fits(v, c, own, limit, graph, search)`` returns whether a candidate may be taken, before
        it is rated.  If it always returns True, a compiler can read ahead.
    rate : DeviceFunction
        ``rate(place, c, v, graph, search)`` returns the score of candidate c; larger is better.
    keep : DeviceFunction
        ``keep(v, best, score, search)`` stores the result, by the first lane.  The score is the
        lane's own; its maximum over the team is that of the best candidate.
    score_type : Word
        int64 or float64.
    admits : DeviceFunction
        As `fits`, but called only if the score is good enough: for checks that take longer than
        a rating.
    tie : DeviceFunction
        ``tie(v, c, own, graph, seed)`` returns a key; among equal scores the largest key wins.
    """

    candidate: kl.DeviceFunction
    fits: kl.DeviceFunction
    rate: kl.DeviceFunction
    keep: kl.DeviceFunction
    score_type: kl.Word
    admits: kl.DeviceFunction = any_candidate
    tie: kl.DeviceFunction = tie_hash


@kl.device
def best_candidate(v, own, limit, begin, end, graph: kl.Record, search: Proposals, by: Choice):
    """Keep the best candidate at the places begin ... end-1, or `NO_VERTEX` if there is none."""
    best_score = by.score_type(LOWEST)
    best_hash = kl.int64(LOWEST)
    best = kl.int32(NO_VERTEX)
    for place in range(kl.int64(begin) + kl.lane(), kl.int64(end), kl.team_size()):
        c = by.candidate(place, graph, search)
        if by.fits(v, c, own, limit, graph, search):
            score = by.rate(place, c, v, graph, search)
            if score >= best_score and by.admits(v, c, own, limit, graph, search):
                hashed = by.tie(v, c, own, graph, search.seed)
                if score > best_score or hashed > best_hash:
                    best_score = score
                    best_hash = hashed
                    best = c
    best = team_winner(best_score == kl.team_max(best_score), best_hash, best)
    by.keep(v, best, best_score, search)
