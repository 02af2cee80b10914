"""The loop by which a vertex, with a whole team, finds the best of the candidates around it.

Matchings, clusterings and groupings differ in the candidates, in how these are rated, and
in what is kept of the best one.  Scores decide, then a seeded hash of the two ids or the smaller
id; the order of candidates and the number of lanes do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction, Record, Static, Word
from portpart.backends.programs import Array
from portpart.primitives.hashing import hash_of, pair_hash

# The best candidate of a team ------------------------------------------------------------------


LOWEST = -(2**63)
NO_VERTEX = -1


@kl.device
def team_winner(score, hashed, candidate):
    """Candidate (int32, or -1 for none) of the lane with the largest score, then hash.

    All lanes of a team together; all get the winner, and -1 if no lane has a candidate.
    """
    top = kl.team_max(score)
    directed_tie_hash = kl.int64(LOWEST)
    if score == top:
        directed_tie_hash = hashed
    top_hash = kl.team_max(directed_tie_hash)
    own = kl.int32(NO_VERTEX)
    if score == top and hashed == top_hash:
        own = candidate
    return kl.team_max(own)


# The loop by which a vertex, with a whole team, finds the best of the candidates around it -----
#
# Matchings, clusterings and groupings differ in the candidates, in how these are rated, and
# in what is kept of the best one.  Scores decide, then a seeded hash of the two ids or the smaller
# id; the order of candidates and the number of lanes do not.


HIGHEST = 2**63 - 1


class CandidateSearch(Record):
    """What a search for the best candidate reads; subclasses add what their functions need.

    Attributes
    ----------
    seed : int
        Decides between candidates of equal score.
    proposal : array of int32
        The best candidate of each vertex, or -1.
    """

    seed: int
    proposal: Array


@kl.device
def tie_hash(v, c, own, graph: Record, seed):
    """Decides between candidates of one score; `own`, if it is one of them, comes first."""
    return kl.int64(HIGHEST) if c == own else pair_hash(v, c, seed)


@kl.device
def directed_tie_hash(v, c, own, graph: Record, seed):
    """The same, but two vertices may decide differently on the pair that they are."""
    return kl.int64(HIGHEST) if c == own else hash_of(c, hash_of(v, seed))


@kl.device
def smallest_id(v, c, own, graph: Record, seed):
    """Decides for the candidate of the smallest id; `own`, if it is one of them, comes first."""
    return kl.int64(HIGHEST) if c == own else -kl.int64(c)


@kl.device
def keep_best_score(v, best, score, search: CandidateSearch):
    """Make the best candidate the proposal of v."""
    if kl.lane() == 0:
        search.proposal[v] = best
    return best


@kl.device
def any_candidate(v, c, own, room, graph: Record, search: CandidateSearch):
    """Every candidate will do."""
    return True


@dataclass(frozen=True)
class Choice(Static):
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

    candidate: DeviceFunction
    fits: DeviceFunction
    rate: DeviceFunction
    keep: DeviceFunction
    score_type: Word
    admits: DeviceFunction = any_candidate
    tie: DeviceFunction = tie_hash


@kl.device
def best_candidate(v, own, room, begin, end, graph: Record, search: CandidateSearch, by: Choice):
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
    return by.keep(v, best, best_score, search)
