"""The two sides of an unfinished bisection: gains, moves and the best vertex to move.

One team works on a bisection. Its vertices have the positions lower ... upper - 1 of a candidate's
order. In this file, positions identify vertices.

The key of a position contains the gain of moving its vertex and, in the low bits, the masked
position. So one comparison decides, a random one of equal gains wins, and the largest key contains
its position. If one lane does the work, it keeps the largest key of every group of positions: a
step examines the groups, a move changes only the groups of the neighbours. Several lanes examine
all keys in every step. This is faster than keeping groups, where lanes wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.initial import bisection_state
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr
from portpart.primitives import hash_of

# Effects of a move on the gains of a bisection, as a value -------------------------------------
#
# Growing and two-way refinement use gains, and depend on neither arcs nor nets.


@dataclass(frozen=True)
class GainRule(kl.Static):
    """How gains follow from sides; compiled programs depend on it.

    Attributes
    ----------
    name : str
    inside : DeviceFunction
        ``inside(i, graph, candidates, state)``: a lane's share of the cost if vertex i of all
        candidates is on one side, and all others of its bisection on the other.
    pull : DeviceFunction
        ``pull(i, graph, candidates, attempts, state)``: a lane's share of the additional cost of
        vertex i on side 0 over side 1; vertices without a projected side do not count.
    begin_key : Kernel
        ``begin_key(i, graph, candidates, attempts, state)``: computes the key of vertex i from all
        sides, and adds its share of the cut; or leaves both to `add_gains`.
    follow : DeviceFunction
        ``follow(p, here, opening, bisection, graph, candidates, attempts)``: updates the gains of
        other vertices when the vertex at p leaves side `here`, and returns that vertex.
        Neighbours in the state `opening` may then leave side 1.
    undo : DeviceFunction
        ``undo(made, kept, again, bisection, graph, candidates, attempts)``: undoes all moves
        but the first `kept`; updates keys if they are used `again`.
    add_gains : tuple of Kernel, optional
        ``add(i, graph, candidates, attempts, state)``: the first adds the gains and cut of net i
        of all candidates if it has few pins, the second those of the nets with many pins in
        group i. Used if vertices of many nets would be too much work for a team.
    shares : bool
        Whether `follow` needs the scratch memory of `AttemptScratch`.
    """

    name: str
    inside: kl.DeviceFunction
    pull: kl.DeviceFunction
    begin_key: kl.Kernel
    follow: kl.DeviceFunction
    undo: kl.DeviceFunction
    add_gains: tuple[kl.Kernel, kl.Kernel] | None = None
    shares: bool = False


# The two sides of an unfinished bisection (see the top) ----------------------------------------


GROUP = 32
"""Positions of a group."""

LOWEST = -(2**63)

BARRED = 2
"""Added to the side, 0 or 1, of a position that must not move."""


class BisectionTotals(kl.Words):
    """Results of an attempt at a bisection.

    Each block has such words; a bisection uses those of its first block.
    """

    weight: int  # of side 0
    count: int  # vertices of side 0
    cut: int
    excess: int  # weight above the limits of this bisection
    overload: int  # weight above the sums of the limits of the blocks of a side
    grown_cut: int  # before refinement


NUM_TOTALS = len(BisectionTotals.indices)


def _of_attempts(sizes: bisection_state.StartSizes) -> int:
    return sizes.trials * sizes.vertices


class Attempts(kl.Record):
    """Attempts at the bisections of a level: a of them for all candidates, with n vertices each.

    Attributes
    ----------
    side : array of int8, shape (a * n,)
        0 or 1 for each position, plus marks.
    key : array of int64, shape (a * n,)
        Gain and masked number of each position.
    moves : array of int32, shape (a * n,)
        Positions in the order of their moves.
    best : array of int64
        Largest keys of groups, for each side.
    totals : array of int64, shape (a * k * NUM_TOTALS,)
    """

    side: Array = kl.work(np.int8, _of_attempts)
    key: Array = kl.work(np.int64, _of_attempts)
    moves: Array = kl.work(np.int32, _of_attempts)
    best: Array = kl.work(np.int64, lambda sizes: sizes.trials * sizes.groups)
    totals: Array = kl.work(np.int64, lambda sizes: (sizes.candidates * sizes.trials * sizes.blocks
                                                     * NUM_TOTALS), zeros=True)


class AttemptScratch(kl.Record):
    """Attempts, and scratch memory of a team for the nets of a moved vertex, one net per lane.

    Attributes
    ----------
    side, key, moves, best, totals : array
        The arrays of `Attempts`.
    stops : team array of int32
        The pins of net j are at the positions from stops[j - 1] to stops[j] - 1.
    shifts : team array of int64
        Added to a position for its place among all pins.
    near, across : team array of int32
        Number of other pins of each net on the side that the vertex leaves, and on the other.
    change_near, change_across : team array of int64
        Changes of the keys of these pins.
    """

    side: Array
    key: Array
    moves: Array
    best: Array
    totals: Array
    stops: Array
    shifts: Array
    near: Array
    across: Array
    change_near: Array
    change_across: Array


class Bisection(kl.Record):
    """The places of an attempt at a bisection in the arrays.

    Attributes
    ----------
    attempt, split : int
        Numbers of the attempt and of the bisection.
    base, own : int
        Where the vertices and positions of the candidate begin, and the positions of the attempt.
    lower, upper : int
        Positions of the bisection.
    groups, totals : int
        Where the largest keys of its groups and the words of its totals begin.
    mask, bits : int
        Mask of positions in keys, and number of their bits.
    shift : int
        Arc weights lose this many bits.
    """

    attempt: int
    split: int
    base: int
    own: int
    lower: int
    upper: int
    groups: int
    totals: int
    mask: int
    bits: int
    shift: int


@dataclass(frozen=True)
class Stage(kl.Static):
    """A step for each attempt at a bisection: growing, or refinement.

    Attributes
    ----------
    work : DeviceFunction
        ``kl.work(bisection, splits, graph, candidates, attempts, state, rule)``.
    rule : GainRule
    space : int
        Length of the scratch arrays of a team.
    """

    work: kl.DeviceFunction
    rule: GainRule
    space: int


@kl.kernel
def work_on_attempt(i, splits: bisection_state.Splits, graph: Csr,
                    candidates: bisection_state.Candidates, attempts: Attempts,
                    state: bisection_state.Attempting, stage: Stage):
    """Do a stage of attempt i at the bisections of a level."""
    working = AttemptScratch(
        side=attempts.side, key=attempts.key, moves=attempts.moves, best=attempts.best,
        totals=attempts.totals,
        stops=kl.team_array(kl.int32, stage.space), shifts=kl.team_array(kl.int64, stage.space),
        near=kl.team_array(kl.int32, stage.space), across=kl.team_array(kl.int32, stage.space),
        change_near=kl.team_array(kl.int64, stage.space),
        change_across=kl.team_array(kl.int64, stage.space))
    attempt = i // state.recursion.splits
    c = attempt // state.recursion.trials
    split = state.recursion.first_split + i % state.recursion.splits
    first = kl.int64(splits.first[split])
    segments = c * (state.sizes.blocks + 1)
    lower = candidates.segment[segments + first]
    upper = candidates.segment[segments + splits.last[split]]
    base = c * state.sizes.vertices
    own = attempt * state.sizes.vertices
    groups = first_group(attempt, lower, first, state.sizes)
    totals = NUM_TOTALS * (attempt * state.sizes.blocks + first)
    mask = mask_of(attempt, state.keys)
    bits = state.keys.key_bits
    shift = state.keys.weight_shift
    bisection = Bisection(attempt, split, base, own, lower, upper, groups, totals, mask, bits,
                          shift)
    stage.work(bisection, splits, graph, candidates, working, state, stage.rule)


@kl.device
def groups_of(bisection: Bisection):
    """Number of groups of the positions."""
    return (bisection.upper - bisection.lower + GROUP - 1) // GROUP


@kl.device
def group_words(n, k):
    """Number of words for the groups of one attempt at all bisections of a level."""
    return n // (GROUP // 2) + 2 * k + 2


@kl.device
def first_group(attempt, lower, block, sizes: bisection_state.BisectionSizes):
    """Return where the groups of an attempt at the bisection from `block` on begin.

    There is space for two sides of groups before the next bisection: their numbers are rounded up
    by less than 2.
    """
    return attempt * group_words(sizes.vertices, sizes.blocks) + lower // (GROUP // 2) + 2 * block


@kl.device
def mask_of(attempt, keys: bisection_state.Keys):
    """Return the mask of positions in an attempt's keys, which orders equal gains."""
    return hash_of(attempt, keys.seed) & ((kl.int64(1) << keys.key_bits) - 1)


@kl.device
def key_of(p, gain, mask, bits):
    """Return the key of position p."""
    return gain * (kl.int64(1) << bits) + (p ^ mask)


@kl.device
def position_in(key, mask, bits):
    """Return the position in a key."""
    return (key & ((kl.int64(1) << bits) - 1)) ^ mask


@kl.device
def turned(key, bisection: Bisection):
    """Return the key of a vertex that has changed sides: its gain changes its sign."""
    return 2 * (key & ((kl.int64(1) << bisection.bits) - 1)) - key


@kl.device
def best_in_group(first, wanted, bisection: Bisection, attempts: AttemptScratch):
    """Return the largest key, in the group from `first` on, of a vertex that may leave `wanted`."""
    own = bisection.own
    top = kl.int64(LOWEST)
    for p in range(first, min(first + GROUP, bisection.upper)):
        if attempts.side[own + p] == wanted:
            top = max(top, attempts.key[own + p])
    return top


@kl.device
def find_best_of_groups(bisection: Bisection, attempts: AttemptScratch):
    """Store the largest keys of all groups, for both sides, if the team is one lane."""
    if kl.team_size() == 1:
        groups = groups_of(bisection)
        for g in range(2 * groups):
            first = bisection.lower + GROUP * (g % groups)
            attempts.best[bisection.groups + g] = best_in_group(first, g // groups, bisection,
                                                                attempts)


@kl.device
def best_of_side(here, bisection: Bisection, attempts: AttemptScratch):
    """Return the largest key of all vertices that may leave side `here`, to all lanes."""
    top = kl.int64(LOWEST)
    if kl.team_size() == 1:
        groups = groups_of(bisection)
        for g in range(groups):
            top = max(top, attempts.best[bisection.groups + here * groups + g])
    else:
        for p in range(bisection.lower + kl.lane(), bisection.upper, kl.team_size()):
            found = attempts.key[bisection.own + p]
            # without a branch, several positions are loaded together
            movable = attempts.side[bisection.own + p] == here
            top = max(top, found if movable else kl.int64(LOWEST))
    return kl.team_max(top)


@kl.device
def keep_best(q, bisection: Bisection, attempts: AttemptScratch):
    """Update the best key of q's group after q's key has changed; search the group if needed."""
    there = kl.int64(attempts.side[bisection.own + q])
    if there < BARRED:
        g = (q - bisection.lower) // GROUP
        slot = bisection.groups + there * groups_of(bisection) + g
        now = attempts.key[bisection.own + q]
        before = attempts.best[slot]
        attempts.best[slot] = max(now, before)  # a branch is hard to predict
        if now < before and position_in(now ^ before, 0, bisection.bits) == 0:
            attempts.best[slot] = best_in_group(bisection.lower + GROUP * g, there, bisection,
                                                attempts)


@kl.device
def move(p, here, opening, bisection: Bisection, graph: Csr, candidates: bisection_state.Candidates,
         attempts: AttemptScratch, rule: GainRule):
    """Move the vertex at p away from side `here`, bar it, and update its neighbours' gains.

    Neighbours in the state `opening` may then leave side 1. Returns the vertex.
    """
    own = bisection.own
    key = attempts.key[own + p]  # not changed by `follow`; reading it later would take longer
    v = rule.follow(p, here, opening, bisection, graph, candidates, attempts)
    if kl.lane() == 0:
        attempts.key[own + p] = turned(key, bisection)
        attempts.side[own + p] = kl.int8(1 - here + BARRED)
    if kl.team_size() == 1:
        g = (p - bisection.lower) // GROUP
        slot = bisection.groups + here * groups_of(bisection) + g
        first = bisection.lower + GROUP * g
        attempts.best[slot] = best_in_group(first, here, bisection, attempts)
    kl.team_sync()
    return v


@kl.device
def store_totals(totals, begin, weight, count, cut):
    """Store weight and vertex count of side 0, and the cut. Called by a team."""
    if kl.lane() == 0:
        totals[begin + BisectionTotals.weight] = weight
        totals[begin + BisectionTotals.count] = count
        totals[begin + BisectionTotals.cut] = cut
    kl.team_sync()
