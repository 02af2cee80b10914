"""Bisections taken over from a coarser graph: a vertex starts on the side of its cluster.

Two vertices are in the same bisection if they are in the same block so far.
"""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import (
    Candidates,
    Keyed,
    ProjectedState,
    Splits,
    Splitting,
)
from portpart.algorithms.initial.fm_gains import (
    NUM_TOTALS,
    Attempts,
    BisectionTotals,
    key_of,
    mask_of,
)
from portpart.algorithms.initial.gain_rule import GainRule
from portpart.backends import language as kl
from portpart.graphs.rows import Csr

NO_SIDE = 4
"""The side of a vertex whose cluster is in neither half: refinement has moved the vertex here."""


@kl.kernel
def project_side(i, splits: Splits, candidates: Candidates, attempts: Attempts,
                 handover: ProjectedState, state: Splitting):
    """Put the vertices of bisection i on the sides of their clusters; its cut is not known yet."""
    n = state.sizes.vertices
    k = state.sizes.blocks
    c = i // state.recursion.splits
    split = state.recursion.first_split + i % state.recursion.splits
    first = kl.int64(splits.first[split])
    last = kl.int64(splits.last[split])
    lower = candidates.segment[c * (k + 1) + first]
    upper = candidates.segment[c * (k + 1) + last]
    for p in range(lower + kl.lane(), upper, kl.team_size()):
        v = candidates.order[c * n + p]
        b = kl.int64(handover.coarse_part[c * state.sizes.coarse_vertices + handover.cluster[v]])
        there = kl.int64(NO_SIDE)
        if first <= b and b < last:
            there = kl.int64(b >= splits.middle[split])
        attempts.side[c * n + p] = kl.int8(there)
    if kl.lane() == 0:
        attempts.totals[NUM_TOTALS * (c * k + first) + BisectionTotals.cut] = 0


@kl.kernel
def choose_side(i, graph: Csr, candidates: Candidates, attempts: Attempts, state: Keyed,
                rule: GainRule):
    """Assign vertex i, which has no projected side, to its better connected side; stored in
    `moves`.
    """
    p = i // state.sizes.vertices * state.sizes.vertices + candidates.place[i]
    if attempts.side[p] == NO_SIDE:
        pull = kl.team_sum(rule.pull(i, graph, candidates, attempts, state))
        if kl.lane() == 0:
            attempts.moves[p] = kl.int32(pull > 0)


@kl.device
def side_at(q, attempts: Attempts):
    """The side of a vertex; one without a projected side has it in `moves`."""
    there = kl.int64(attempts.side[q])
    if there == NO_SIDE:
        there = kl.int64(attempts.moves[q])
    return there


@kl.device
def store_key(i, here, gain, candidates: Candidates, attempts: Attempts, state: Keyed):
    """Store side and key of vertex i; returns its candidate."""
    n = state.sizes.vertices
    c = i // n
    p = c * n + candidates.place[i]
    attempts.side[p] = kl.int8(here)
    attempts.key[p] = key_of(p - c * n, gain, mask_of(c, state.keys), state.keys.key_bits)
    return c


@kl.device
def keep_first_key(i, here, gain, cut, candidates: Candidates, attempts: Attempts, state: Keyed):
    """Store side and key of vertex i, and add its share of the cut; the first lane does."""
    if kl.lane() == 0:
        c = store_key(i, here, gain, candidates, attempts, state)
        if cut > 0:
            begin = NUM_TOTALS * (c * state.sizes.blocks + candidates.part[i])
            kl.atomic_add(attempts.totals, begin + BisectionTotals.cut, cut)
    return 0
