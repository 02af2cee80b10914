"""Bisections taken over from a coarser graph: a vertex starts on the side of its cluster.

Two vertices are in the same bisection if they are in the same block so far.
"""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates, Handover, Run, Splits
from portpart.algorithms.initial.fm_gains import TALLY, Attempts, Tally, key_of, mask_of
from portpart.backends.language import (
    atomic_add,
    device,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    value_or,
)
from portpart.graphs.rows import Csr

STRAY = 4
"""The side of a vertex whose cluster is in neither half: refinement has moved the vertex here."""


@kernel
def inherit_side(i, splits: Splits, candidates: Candidates, attempts: Attempts,
                 handover: Handover, run: Run):
    """Put the vertices of bisection i on the sides of their clusters; its cut is not known yet."""
    n = run.vertices
    k = run.blocks
    c = i // run.splits
    split = run.first_split + i % run.splits
    first = int64(splits.first[split])
    last = int64(splits.last[split])
    lower = candidates.segment[c * (k + 1) + first]
    upper = candidates.segment[c * (k + 1) + last]
    for p in range(lower + lane(), upper, team_size()):
        v = candidates.order[c * n + p]
        b = int64(handover.coarse_part[c * run.coarse_vertices + handover.cluster[v]])
        there = int64(STRAY)
        if first <= b and b < last:
            there = int64(b >= splits.middle[split])
        attempts.side[c * n + p] = int8(there)
    if lane() == 0:
        attempts.tally[TALLY * (c * k + first) + Tally.cut] = 0


@kernel
def choose_for_stray(i, graph: Csr, candidates: Candidates, attempts: Attempts, run: Run):
    """Vertex i, a stray, wants to the side it is better connected to; other strays do not count.

    Its wish is noted in `moves`.
    """
    n = run.vertices
    base = i // n * n
    p = base + candidates.place[i]
    if attempts.side[p] == STRAY:
        pull = int64(0)
        for arc in range(graph.begin[i - base] + lane(), graph.end[i - base], team_size()):
            w = base + graph.targets[arc]
            if candidates.part[w] == candidates.part[i]:
                weight = value_or(graph.weights, arc, 1) >> run.weight_shift
                there = attempts.side[base + candidates.place[w]]
                if there == 1:
                    pull += weight
                elif there == 0:
                    pull -= weight
        pull = team_sum(pull)
        if lane() == 0:
            attempts.moves[p] = int32(pull > 0)


@device
def side_at(q, attempts: Attempts):
    """The side of a vertex, strays where they want to be."""
    there = int64(attempts.side[q])
    if there == STRAY:
        there = int64(attempts.moves[q])
    return there


@kernel
def begin_key(i, graph: Csr, candidates: Candidates, attempts: Attempts, run: Run):
    """Compute the key of vertex i and add up the cut; strays go where they want to.

    Another vertex may read a stray's side before or after: it sees the same.
    """
    n = run.vertices
    c = i // n
    v = i % n
    p = c * n + candidates.place[i]
    here = side_at(p, attempts)
    outside = int64(0)
    inside = int64(0)
    for arc in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        w = c * n + graph.targets[arc]
        if candidates.part[w] == candidates.part[i]:
            weight = value_or(graph.weights, arc, 1) >> run.weight_shift
            if side_at(c * n + candidates.place[w], attempts) == here:
                inside += weight
            else:
                outside += weight
    outside = team_sum(outside)
    gain = outside - team_sum(inside)
    if lane() == 0:
        attempts.side[p] = int8(here)
        attempts.key[p] = key_of(p - c * n, gain, mask_of(c, run), run.key_bits)
        if here == 0 and outside > 0:
            begin = TALLY * (c * run.blocks + candidates.part[i])
            atomic_add(attempts.tally, begin + Tally.cut, outside)
