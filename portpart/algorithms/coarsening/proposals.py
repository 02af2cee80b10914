"""Proposals of vertices: the best of the neighbours or clusters that each may be merged with.

Matchings, clusterings and groupings differ in the candidates, in how these are rated, and
in what is kept of the best one.  Scores decide, then a seeded hash of the two ids or the smaller
id; the order of candidates and the number of lanes do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr
from portpart.primitives import HIGHEST, LOWEST, NO_VERTEX, hash_of, pair_hash, team_winner


class Proposals(kl.Record):
    """The proposals of n vertices, what restricts them, and the clusters that they are among.

    Attributes
    ----------
    seed : int
        Decides between candidates of equal score.
    max_weight : int
        What is joined may weigh no more.
    label : array of int32, shape (n,), or None
        Only vertices of equal label are joined.
    total : int or None
        What some ratings and scores multiply weights with.
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
    """What may be joined with v may weigh so much."""
    return proposals.max_weight - kl.value_or(graph.vertex_weights, v, 1)


@kl.device
def head_of(arc, graph: Csr, proposals: Proposals):
    """The head of an arc."""
    return graph.targets[arc]


@kl.device
def may_join(v, u, own, room, graph: Csr, proposals: Proposals):
    """Whether vertex u weighs no more than `room` and is of v's label."""
    return kl.value_or(graph.vertex_weights, u, 1) <= room and (
        kl.value_or(proposals.label, u, 0) == kl.value_or(proposals.label, v, 0))


# The loop by which a vertex, with a whole team, finds the best of the candidates around it -----


@kl.device
def tie_hash(v, c, own, graph: kl.Record, seed):
    """Decides between candidates of one score; `own`, if it is one of them, comes first."""
    return kl.int64(HIGHEST) if c == own else pair_hash(v, c, seed)


@kl.device
def directed_tie_hash(v, c, own, graph: kl.Record, seed):
    """The same, but two vertices may decide differently on the pair that they are."""
    return kl.int64(HIGHEST) if c == own else hash_of(c, hash_of(v, seed))


@kl.device
def smallest_id(v, c, own, graph: kl.Record, seed):
    """Decides for the candidate of the smallest id; `own`, if it is one of them, comes first."""
    return kl.int64(HIGHEST) if c == own else -kl.int64(c)


@kl.device
def keep_best_score(v, best, score, search: Proposals):
    """Make the best candidate the proposal of v."""
    if kl.lane() == 0:
        search.proposal[v] = best


@kl.device
def any_candidate(v, c, own, room, graph: kl.Record, search: Proposals):
    """Every candidate will do."""
    return True


@dataclass(frozen=True)
class Choice(kl.Static):
    """Which candidates there are, how they are rated, and what is kept of the best one.

    Attributes
    ----------
    candidate : DeviceFunction
        ``candidate(place, graph, search)``: the vertex at a place.
    fits : DeviceFunction
        ``fits(v, c, own, room, graph, search)``: whether a candidate may be taken, asked before it
        is rated.  Where it always may, a compiler sees that and reads ahead.
    rate : DeviceFunction
        ``rate(place, c, v, graph, search)``: the score of candidate c, of which more is better.
    keep : DeviceFunction
        ``keep(v, best, score, search)``: keeps what was found, by the first lane; the score is the
        lane's own, so that a maximum over the team is the best one's.
    score_type : Word
        int64 or float64.
    admits : DeviceFunction
        As `fits`, asked where the score is good enough: for what takes longer to find out than a
        score does.
    tie : DeviceFunction
        ``tie(v, c, own, graph, seed)``: of candidates of equal score that with the most is taken.
    """

    candidate: kl.DeviceFunction
    fits: kl.DeviceFunction
    rate: kl.DeviceFunction
    keep: kl.DeviceFunction
    score_type: kl.Word
    admits: kl.DeviceFunction = any_candidate
    tie: kl.DeviceFunction = tie_hash


@kl.device
def best_candidate(v, own, room, begin, end, graph: kl.Record, search: Proposals, by: Choice):
    """Keep the best candidate at the places begin ... end-1, or that there is none."""
    best_score = by.score_type(LOWEST)
    best_hash = kl.int64(LOWEST)
    best = kl.int32(NO_VERTEX)
    for place in range(kl.int64(begin) + kl.lane(), kl.int64(end), kl.team_size()):
        c = by.candidate(place, graph, search)
        if by.fits(v, c, own, room, graph, search):
            score = by.rate(place, c, v, graph, search)
            if score >= best_score and by.admits(v, c, own, room, graph, search):
                hashed = by.tie(v, c, own, graph, search.seed)
                if score > best_score or hashed > best_hash:
                    best_score = score
                    best_hash = hashed
                    best = c
    best = team_winner(best_score, best_hash, best)
    by.keep(v, best, best_score, search)
