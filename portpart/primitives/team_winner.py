"""The best candidate of a team."""

from __future__ import annotations

from portpart.backends import language as kl

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
