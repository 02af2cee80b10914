"""The two sides of a bisection in the making: gains, moves and the best vertex to move.

A bisection is the work of one team.  Its vertices stand at the positions lower ... upper - 1 of a
candidate's order, and positions name them here.

The key of a position holds the gain of moving its vertex and, below it, the position under a mask:
one comparison decides, of equal gains a random vertex wins, and the largest key holds its position.
Where one lane does the work, the largest key of every group of positions is kept: a step examines
groups, and a move only into the groups of its neighbours.  Several lanes examine all keys in every
step.  That takes them less time than to keep groups: lanes that look through groups wait for each
other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.initial import bisection_state
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr
from portpart.primitives import hash_of

# What a vertex's move does to the gains of a bisection, as a value -----------------------------
#
# Growing and two-way refinement go by gains, and know neither arcs nor nets.


@dataclass(frozen=True)
class GainRule(kl.Static):
    """How gains follow from sides: what compiled programs depend on.

    Attributes
    ----------
    name : str
    inside : DeviceFunction
        ``inside(i, graph, candidates, state)``: a lane's share of what it costs to have vertex i of
        all candidates on one side, and all others of its bisection on the other.
    pull : DeviceFunction
        ``pull(i, graph, candidates, attempts, state)``: a lane's share of what vertex i costs more
        on side 0 than on side 1; vertices without a projected side do not count.
    begin_key : Kernel
        ``begin_key(i, graph, candidates, attempts, state)``: computes the key of vertex i from all
        sides, and adds its share of the cut; or leaves both to `add_gains`.
    follow : DeviceFunction
        ``follow(p, here, opening, bisection, graph, candidates, attempts)``: lets the gains of
        others follow when the vertex at p, which is returned, leaves side `here`; those in the
        state `opening` that it is joined to may leave side 1 from now on.
    undo : DeviceFunction
        ``undo(made, kept, again, bisection, graph, candidates, attempts)``: undoes all moves
        but the first `kept`; keys follow if they are used `again`.
    add_gains : tuple of Kernel, optional
        ``add(i, graph, candidates, attempts, state)``: add to keys and cuts what net i of all
        candidates does, if it has few pins, and what those of many pins in group i do; where
        vertices of many nets would be much work for a team.
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


# The two sides of a bisection in the making: gains, moves and the best vertex to move ----------
#
# A bisection is the work of one team.  Its vertices stand at the positions lower ... upper - 1 of
# a
# candidate's order, and positions name them here.
#
# The key of a position holds the gain of moving its vertex and, below it, the position under a
# mask:
# one comparison decides, of equal gains a random vertex wins, and the largest key holds its
# position.
# Where one lane does the work, the largest key of every group of positions is kept: a step
# examines
# groups, and a move only into the groups of its neighbours.  Several lanes examine all keys in
# every
# step.  That takes them less time than to keep groups: lanes that look through groups wait for
# each
# other.


GROUP = 32
"""Positions of a group."""

LOWEST = -(2**63)

BARRED = 2
"""Added to the side, 0 or 1, of a position that may not move."""


class BisectionTotals(kl.Words):
    """What is known of an attempt at a bisection.

    There are such words for each block, and a bisection has those of its first block.
    """

    weight: int  # of side 0
    count: int  # vertices of side 0
    cut: int
    excess: int  # weight above the limits of this bisection
    overload: int  # weight above what all blocks of a side may weigh together
    grown_cut: int  # before refinement


NUM_TOTALS = len(BisectionTotals.indices)


def _of_attempts(sizes: bisection_state.StartSizes) -> int:
    return sizes.trials * sizes.vertices


class Attempts(kl.Record):
    """Attempts at the bisections of a level: a of them for all candidates, with n vertices each.

    Attributes
    ----------
    side : array of int8, shape (a * n,)
        0 or 1 for each position, and marks.
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
    """Attempts, and scratch memory of a team for the nets of a vertex that moves, one for a lane.

    Attributes
    ----------
    side, key, moves, best, totals : array
        Those of `Attempts`.
    stops : team array of int32
        Pins at the positions before stops[j] and behind the earlier nets' are pins of net j,
    shifts : team array of int64
        shifts[j] before them among all pins.
    near, across : team array of int32
        How many other pins each net has on the side that is left, and across.
    change_near, change_across : team array of int64
        How the keys of these change.
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
    """Where an attempt at a bisection has its part of the arrays.

    Attributes
    ----------
    attempt, split : int
        Which attempt at which bisection.
    base, own : int
        Where vertices and positions of the candidate begin, and positions of the attempt.
    lower, upper : int
        Positions of the bisection.
    groups, totals : int
        Where the largest keys of its groups begin, and the words of its totals.
    mask, bits : int
        What positions in keys are masked with, and how many bits they have.
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
    """What is done with attempts at bisections, move by move.

    Attributes
    ----------
    work : DeviceFunction
        ``kl.work(bisection, splits, graph, candidates, attempts, state, rule)``.
    rule : GainRule
    room : int
        Elements of the scratch arrays of a team.
    """

    work: kl.DeviceFunction
    rule: GainRule
    room: int


@kl.kernel
def work_on_attempt(i, splits: bisection_state.Splits, graph: Csr,
                    candidates: bisection_state.Candidates, attempts: Attempts,
                    state: bisection_state.Attempting, stage: Stage):
    """Do a stage of attempt i at the bisections of a level."""
    working = AttemptScratch(
        side=attempts.side, key=attempts.key, moves=attempts.moves, best=attempts.best,
        totals=attempts.totals,
        stops=kl.team_array(kl.int32, stage.room), shifts=kl.team_array(kl.int64, stage.room),
        near=kl.team_array(kl.int32, stage.room), across=kl.team_array(kl.int32, stage.room),
        change_near=kl.team_array(kl.int64, stage.room),
        change_across=kl.team_array(kl.int64, stage.room))
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
    """Number of groups of its positions."""
    return (bisection.upper - bisection.lower + GROUP - 1) // GROUP


@kl.device
def group_words(n, k):
    """Words for the groups of one attempt at all bisections of a level."""
    return n // (GROUP // 2) + 2 * k + 2


@kl.device
def first_group(attempt, lower, block, sizes: bisection_state.BisectionSizes):
    """Where the groups of an attempt begin whose bisection is the one of `block` and others.

    Two sides of groups fit between it and the next: their numbers round up by less than 2.
    """
    return attempt * group_words(sizes.vertices, sizes.blocks) + lower // (GROUP // 2) + 2 * block


@kl.device
def mask_of(attempt, keys: bisection_state.Keys):
    """What the positions in the keys of an attempt are masked with: its order among equal gains."""
    return hash_of(attempt, keys.seed) & ((kl.int64(1) << keys.key_bits) - 1)


@kl.device
def key_of(p, gain, mask, bits):
    """The key of position p."""
    return gain * (kl.int64(1) << bits) + (p ^ mask)


@kl.device
def position_in(key, mask, bits):
    """The position that a key names."""
    return (key & ((kl.int64(1) << bits) - 1)) ^ mask


@kl.device
def turned(key, bisection: Bisection):
    """The key of a vertex that changes sides: it would gain by going back what it lost."""
    return 2 * (key & ((kl.int64(1) << bisection.bits) - 1)) - key


@kl.device
def best_in_group(first, wanted, bisection: Bisection, attempts: AttemptScratch):
    """Largest key of the group from `first` on among vertices that may leave side `wanted`."""
    own = bisection.own
    top = kl.int64(LOWEST)
    for p in range(first, min(first + GROUP, bisection.upper)):
        if attempts.side[own + p] == wanted:
            top = max(top, attempts.key[own + p])
    return top


@kl.device
def find_best_of_groups(bisection: Bisection, attempts: AttemptScratch):
    """Fill in the largest keys of all groups, for both sides, where one lane is the team."""
    if kl.team_size() == 1:
        groups = groups_of(bisection)
        for g in range(2 * groups):
            first = bisection.lower + GROUP * (g % groups)
            attempts.best[bisection.groups + g] = best_in_group(first, g // groups, bisection,
                                                                attempts)


@kl.device
def best_of_side(here, bisection: Bisection, attempts: AttemptScratch):
    """Largest key of all that may leave side `here`; all lanes get it."""
    top = kl.int64(LOWEST)
    if kl.team_size() == 1:
        groups = groups_of(bisection)
        for g in range(groups):
            top = max(top, attempts.best[bisection.groups + here * groups + g])
    else:
        for p in range(bisection.lower + kl.lane(), bisection.upper, kl.team_size()):
            found = attempts.key[bisection.own + p]
            if attempts.side[bisection.own + p] == here:
                top = max(top, found)
    return kl.team_max(top)


@kl.device
def keep_best(q, bisection: Bisection, attempts: AttemptScratch):
    """Correct the best of q's group after a change of its key: look through it if that was it."""
    there = kl.int64(attempts.side[bisection.own + q])
    if there < BARRED:
        g = (q - bisection.lower) // GROUP
        slot = bisection.groups + there * groups_of(bisection) + g
        now = attempts.key[bisection.own + q]
        before = attempts.best[slot]
        if now > before:
            attempts.best[slot] = now
        elif now != before and position_in(now ^ before, 0, bisection.bits) == 0:
            attempts.best[slot] = best_in_group(bisection.lower + GROUP * g, there, bisection,
                                                attempts)


@kl.device
def move(p, here, opening, bisection: Bisection, graph: Csr, candidates: bisection_state.Candidates,
         attempts: AttemptScratch, rule: GainRule):
    """Move the vertex at p off side `here` and bar it; its neighbours' gains follow.

    Neighbours in the state `opening` may leave side 1 from now on.
    """
    own = bisection.own
    key = attempts.key[own + p]  # which does not follow; later it would take longer to read
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
    """Keep weight and number of vertices of side 0 and the cut; the team together."""
    if kl.lane() == 0:
        totals[begin + BisectionTotals.weight] = weight
        totals[begin + BisectionTotals.count] = count
        totals[begin + BisectionTotals.cut] = cut
    kl.team_sync()
