"""Gains of the cut of a graph: an arc between the two sides costs its weight."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portpart.algorithms.initial.bisection_state import Candidates, Keyed
from portpart.algorithms.initial.fm_gains import (
    Attempts,
    AttemptScratch,
    Bisection,
    GainRule,
    keep_best,
)
from portpart.algorithms.initial.project_bisection import keep_first_key, side_at
from portpart.backends import language as kl
from portpart.graphs import Csr

TAKEN_BACK = 4
"""Added to the side of a position whose move was undone."""


@kl.device
def arcs_inside(i, graph: Csr, candidates: Candidates, state: Keyed):
    """Return a lane's share of the weight of i's arcs that stay in the bisection."""
    n = state.sizes.vertices
    c = i // n
    v = i % n
    total = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        if candidates.part[c * n + graph.targets[arc]] == candidates.part[i]:
            total += kl.value_or(graph.weights, arc, 1) >> state.keys.weight_shift
    return total


@kl.device
def pull_of_arcs(i, graph: Csr, candidates: Candidates, attempts: Attempts, state: Keyed):
    """Return a lane's share of the weight of i's arcs to side 1, minus that of arcs to side 0."""
    n = state.sizes.vertices
    base = i // n * n
    pull = kl.int64(0)
    for arc in range(graph.begin[i - base] + kl.lane(), graph.end[i - base], kl.team_size()):
        w = base + graph.targets[arc]
        if candidates.part[w] == candidates.part[i]:
            weight = kl.value_or(graph.weights, arc, 1) >> state.keys.weight_shift
            there = attempts.side[base + candidates.place[w]]
            if there == 1:
                pull += weight
            elif there == 0:
                pull -= weight
    return pull


@kl.kernel
def begin_key(i, graph: Csr, candidates: Candidates, attempts: Attempts, state: Keyed):
    """Compute the key of vertex i and add its share of the cut.

    A vertex without a projected side goes to its better connected side. Other
    vertices may read that side before or after this, with the same result.
    """
    n = state.sizes.vertices
    c = i // n
    v = i % n
    here = side_at(c * n + candidates.place[i], attempts)
    total = kl.int64(0)
    inside = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        w = c * n + graph.targets[arc]
        if candidates.part[w] == candidates.part[i]:
            weight = kl.value_or(graph.weights, arc, 1) >> state.keys.weight_shift
            there = side_at(c * n + candidates.place[w], attempts)
            total += weight
            inside += weight if there == here else kl.int64(0)  # a branch is hard to predict
    inside = kl.team_sum(inside)
    outside = kl.team_sum(total) - inside
    keep_first_key(i, here, outside - inside, outside if here == 0 else kl.int64(0), candidates,
                   attempts, state)


@kl.device
def add_alone(keys, place, change):
    """Add to a key that no other lane changes; its cache line stays in the cache."""
    keys[place] += change
    return place


@kl.device
def add_together(keys, place, change):
    """Add to a key that other lanes may change, because arcs are parallel."""
    kl.team_atomic_add(keys, place, change)
    return place


@dataclass(frozen=True)
class Adding(kl.Static):
    """How lanes add to keys: ``add(keys, place, change)``."""

    add: kl.DeviceFunction


@kl.device
def follow_arcs(p, here, opening, bisection: Bisection, graph: Csr, candidates: Candidates,
                attempts: AttemptScratch, lanes: Adding):
    """Update the keys of the neighbours of a vertex that leaves side `here`.

    A gain changes by twice the weight of the arc. Returns the vertex.
    """
    own = bisection.own
    v = candidates.order[bisection.base + p]
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        q = kl.int64(candidates.place[bisection.base + graph.targets[arc]])
        if bisection.lower <= q and q < bisection.upper:
            change = (kl.value_or(graph.weights, arc, 1) >> bisection.shift) << (bisection.bits + 1)
            there = attempts.side[own + q]
            if (there & 1) != here:
                change = -change
            lanes.add(attempts.key, own + q, change)
            if there == opening:
                attempts.side[own + q] = kl.int8(1)
            if kl.team_size() == 1:
                keep_best(q, bisection, attempts)
    return v


@kl.device
def undo_keys(made, kept, bisection: Bisection, graph: Csr, candidates: Candidates,
              attempts: AttemptScratch):
    """Update keys after moves were undone, all moves together.

    If one end of an arc was undone, the arc changes the keys of both ends with the opposite sign.
    """
    own = bisection.own
    lower = bisection.lower
    share = max(kl.int64(1), kl.team_size() // 32)
    for i in range(kl.lane(), (made - kept) * share, kl.team_size()):
        p = kl.int64(attempts.moves[own + lower + kept + i // share])
        v = candidates.order[bisection.base + p]
        changes = kl.int64(0)
        for arc in range(graph.begin[v] + i % share, graph.end[v], share):
            q = kl.int64(candidates.place[bisection.base + graph.targets[arc]])
            inside = lower <= q and q < bisection.upper
            if inside and (attempts.side[own + q] & TAKEN_BACK) == 0:
                weight = kl.value_or(graph.weights, arc, 1)
                change = (weight >> bisection.shift) << (bisection.bits + 1)
                if ((attempts.side[own + q] ^ attempts.side[own + p]) & 1) == 0:
                    change = -change
                kl.team_atomic_add(attempts.key, own + q, change)
                changes += change
        kl.team_atomic_add(attempts.key, own + p, changes)
    kl.team_sync()


@kl.device
def undo_moves(made, kept, again, bisection: Bisection, graph: Csr, candidates: Candidates,
               attempts: AttemptScratch):
    """Undo moves `kept` to `made`; mark their vertices, so that keys are updated together."""
    own = bisection.own
    for m in range(kept + kl.lane(), made, kl.team_size()):
        p = kl.int64(attempts.moves[own + bisection.lower + m])
        attempts.side[own + p] = kl.int8((attempts.side[own + p] ^ 1) | TAKEN_BACK)
    kl.team_sync()
    if again:
        undo_keys(made, kept, bisection, graph, candidates, attempts)
    return made - kept


PARALLEL_ARCS = GainRule("parallel arcs", arcs_inside, pull_of_arcs, begin_key,
                         follow_arcs.bound(lanes=Adding(add_together)), undo_moves)
"""For all graphs."""

ARCS = replace(PARALLEL_ARCS, name="arcs", follow=follow_arcs.bound(lanes=Adding(add_alone)))
"""For simple graphs, and for a single lane."""
