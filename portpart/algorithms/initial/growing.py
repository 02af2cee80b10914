"""Greedy graph growing: one side of a bisection grows from a random vertex.

Each step adds the neighbour of the side that increases the cut least, until the side has its target
weight (G. Karypis, V. Kumar, SIAM J. Sci. Comput. 20 (1998) 359-392, section 4.1). Every second
attempt adds the vertex with the heaviest arcs to the side, which is the maximum adjacency order
(M. Stoer, F. Wagner, J. ACM 44 (1997) 585-591): if degrees or weights differ much, attempts of the
first kind add light vertices wherever they begin, and all end alike. If the side has no neighbour,
as in graphs of several components, growing continues from another vertex.
"""

from __future__ import annotations

from portpart.algorithms.initial import fm_gains
from portpart.algorithms.initial.bisection_state import Attempting, Candidates, Recursion, Splits
from portpart.algorithms.initial.side_weights import min_vertices, target_side_weight
from portpart.backends import language as kl
from portpart.graphs import Csr
from portpart.primitives import hash_of

UNTOUCHED = 1 + fm_gains.BARRED
"""The state of a vertex on side 1 without a neighbour on side 0."""


class SideGrowth(kl.Record):
    """Goal and rule of the growth of side 0.

    Attributes
    ----------
    goal : int
        Target weight.
    min_count, max_count : int
        Minimum and maximum number of vertices.
    start : int
        First position.
    by_connection : bool
        Whether keys contain twice the weight of arcs to the side, instead of gains.
    """

    goal: int
    min_count: int
    max_count: int
    start: int
    by_connection: bool


@kl.device
def next_untouched(turn, growth: SideGrowth, bisection: fm_gains.Bisection, side):
    """First turn from `turn` on at an untouched position, cyclically from the start; else -1."""
    lower = bisection.lower
    size = bisection.upper - lower
    found = kl.int64(size)
    for i in range(turn, size, kl.team_size()):
        mine = i + kl.lane()
        if mine < size:
            p = lower + (growth.start - lower + mine) % size
            if side[bisection.own + p] == UNTOUCHED:
                found = mine
        found = kl.team_min(found)
        if found < size:
            break
    return found if found < size else kl.int64(-1)


@kl.device
def uses_connectivity(attempt, recursion: Recursion):
    """Whether an attempt grows by the weight of arcs to the side instead of gains.

    Its keys contain twice that weight, which is the gain plus the vertex's `inside`.
    """
    return attempt % recursion.trials % 2 == 1


@kl.device
def switch_to_gains(bisection: fm_gains.Bisection, candidates: Candidates,
                    attempts: fm_gains.AttemptScratch):
    """Change the keys of an attempt from connectivity to gains."""
    own = bisection.own
    for p in range(bisection.lower + kl.lane(), bisection.upper, kl.team_size()):
        known = candidates.inside[bisection.base + p] * (kl.int64(1) << bisection.bits)
        if (attempts.side[own + p] & 1) == 0:
            known = -known
        attempts.key[own + p] -= known
    kl.team_sync()


@kl.device
def grow(growth: SideGrowth, bisection: fm_gains.Bisection, graph: Csr, candidates: Candidates,
         attempts: fm_gains.AttemptScratch, rule: fm_gains.GainRule):
    """Add vertices to side 0 until it has its target weight."""
    goal = growth.goal
    lower = bisection.lower
    turn = kl.int64(0)
    weight = kl.int64(0)
    count = kl.int64(0)
    cut = kl.int64(0)
    while count < growth.max_count and (weight < goal or count < growth.min_count):
        top = fm_gains.best_of_side(1, bisection, attempts)
        p = fm_gains.position_in(top, bisection.mask, bisection.bits)
        if top == fm_gains.LOWEST:
            turn = next_untouched(turn, growth, bisection, attempts.side)
            if turn < 0:
                break
            p = lower + (growth.start - lower + turn) % (bisection.upper - lower)
        heavy = kl.value_or(graph.vertex_weights, candidates.order[bisection.base + p], 1)
        if count >= growth.min_count and goal - weight < (heavy + 1) // 2:
            break
        cut -= attempts.key[bisection.own + p] >> bisection.bits
        if growth.by_connection:
            cut += candidates.inside[bisection.base + p]
        weight += heavy
        count += 1
        kl.team_sync()
        fm_gains.move(p, 1, UNTOUCHED, bisection, graph, candidates, attempts, rule)
    if growth.by_connection:
        switch_to_gains(bisection, candidates, attempts)
    fm_gains.store_totals(attempts.totals, bisection.totals, weight, count, cut)
    if kl.lane() == 0:
        attempts.totals[bisection.totals + fm_gains.BisectionTotals.grown_cut] = cut
    return 0


@kl.kernel
def begin_growing(i, graph: Csr, candidates: Candidates, attempts: fm_gains.Attempts,
                  state: Attempting, rule: fm_gains.GainRule):
    """Put vertex i on side 1 of its bisection, in all attempts; store its `inside`."""
    n = state.sizes.vertices
    c = i // n
    p = kl.int64(candidates.place[i])
    total = kl.team_sum(rule.inside(i, graph, candidates, state))
    if kl.lane() == 0:
        candidates.inside[c * n + p] = total
    trials = state.recursion.trials
    for attempt in range(c * trials + kl.lane(), (c + 1) * trials, kl.team_size()):
        known = kl.int64(0) if uses_connectivity(attempt, state.recursion) else -total
        attempts.side[attempt * n + p] = kl.int8(UNTOUCHED)
        mask = fm_gains.mask_of(attempt, state.keys)
        attempts.key[attempt * n + p] = fm_gains.key_of(p, known, mask, state.keys.key_bits)


@kl.device
def grow_attempt(bisection: fm_gains.Bisection, splits: Splits, graph: Csr, candidates: Candidates,
                 attempts: fm_gains.AttemptScratch, state: Attempting, rule: fm_gains.GainRule):
    """Grow side 0 of a bisection from a random vertex."""
    middle = splits.middle[bisection.split]
    lower = bisection.lower
    size = bisection.upper - lower
    total = kl.int64(0)
    for p in range(lower + kl.lane(), bisection.upper, kl.team_size()):
        total += kl.value_or(graph.vertex_weights, candidates.order[bisection.base + p], 1)
    total = kl.team_sum(total)
    fm_gains.find_best_of_groups(bisection, attempts)
    drawn = hash_of((bisection.attempt << 32) + bisection.split, state.keys.seed) & 0x7FFFFFFF
    goal = target_side_weight(total, bisection.split, splits)
    min_count = min_vertices(middle - splits.first[bisection.split], state.recursion)
    max_count = size - min_vertices(splits.last[bisection.split] - middle, state.recursion)
    start = lower + drawn % max(kl.int64(1), size)
    by_connection = uses_connectivity(bisection.attempt, state.recursion)
    growth = SideGrowth(goal, min_count, max_count, start, by_connection)
    grow(growth, bisection, graph, candidates, attempts, rule)
    return 0
