"""Where a vertex would be best placed: gains in the communication cost (equation 1).

What a vertex costs on an element is the sum of weight times distance over its arcs.  With very few
arcs these are gone through for each candidate; with few, the elements that they lead to, from a
hash table.  With more, the weights into all elements are counted and added up from left to right:
on a hierarchy all elements of a group stand side by side, so the weight into a group is one
difference, and a candidate takes one step for each level.

A candidate is an element that an arc of positive weight leads to.  Nothing depends on which way is
taken.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.distances import DISTANCE_BY_ARRAYS as DISTANCE
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.connectivity import SLOTS, bring_table, degree_of
from portpart.backends.language import (
    DeviceFunction,
    device,
    int32,
    int64,
    lane,
    team_atomic_add,
    team_last,
    team_min,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

NONE = -1
LOWEST = -(2**63)
HIGHEST = 2**63 - 1

FEW_COUNTED = 512
"""Elements that a warp counts in scratch memory; up to `MOST_COUNTED` a block of threads does, and
with more of them arcs are gone through, however many."""


MOST_ALONG = 8
"""Most arcs that are gone through for each candidate."""

FEW_SLOTS = 16
"""Slots for so many arcs at most."""

OWN, TOTAL, HERE, COST, BLOCK, WORDS = range(6)
"""What is found out about a vertex: weight of its arcs into its own block, and of all; its cost
where it is and at the best other element, and that element; how many words."""


@device
def has_room(block, only_open, block_weight, open_below, state):
    """Whether a block may be a destination: any, or if `only_open`, one with room."""
    return only_open == 0 or block_weight[block] < open_below[block] + state[at.SLACK]


@device
def note_arcs(own, total, here_cost, found):
    """Tell the team what is known of the arcs of the vertex."""
    if lane() == 0:
        found[OWN] = own
        found[TOTAL] = total
        found[HERE] = here_cost
    return own


@device
def note_best(cost, hashed, block, found):
    """Find the best of the lanes' candidates and tell the team."""
    top = team_min(cost)
    winner = team_winner(-cost, hashed, block)
    if lane() == 0:
        found[COST] = top
        found[BLOCK] = int64(winner)
    team_sync()
    return top


@cache
def cost_along_arcs(kind: str, capacity: int) -> DeviceFunction:
    """Device function for the cost of a vertex whose arcs have been brought by `bring_arcs`."""
    distance = DISTANCE[kind]

    @device
    def cost_along_arcs(block, first, degree, targets, weights, part, heads, counts, codes, shifts,
                        lengths):
        """Cost in a block; arcs are in scratch memory, or too many for that."""
        cost = int64(0)
        if degree <= capacity:
            for j in range(degree):
                cost += counts[j] * distance(block, heads[j], codes, shifts, lengths)
        else:
            for arc in range(first, first + degree):
                there = part[targets[arc]]
                cost += value_or(weights, arc, 1) * distance(block, there, codes, shifts, lengths)
        return cost

    return cost_along_arcs


@cache
def bring_arcs(kind: str, capacity: int) -> DeviceFunction:
    """Device function that brings up to `capacity` arcs to scratch memory, and sums them up."""
    distance = DISTANCE[kind]

    @device
    def bring_arcs(v, offsets, targets, weights, part, heads, counts, codes, shifts, lengths,
                   found):
        """Note weights and cost of v.  All lanes of a team together."""
        first = int64(offsets[v])
        degree = degree_of(v, offsets)
        here = part[v]
        own = int64(0)
        total = int64(0)
        here_cost = int64(0)
        for j in range(lane(), degree, team_size()):
            block = part[targets[first + j]]
            weight = value_or(weights, first + j, 1)
            if degree <= capacity:
                heads[j] = block
                counts[j] = weight
            own += weight if block == here else 0
            total += weight
            here_cost += weight * distance(here, block, codes, shifts, lengths)
        own = team_sum(own)
        total = team_sum(total)
        here_cost = team_sum(here_cost)
        note_arcs(own, total, here_cost, found)
        team_sync()
        return degree

    return bring_arcs


@cache
def look_along_arcs(kind: str, capacity: int) -> DeviceFunction:
    """Device function for few arcs; up to `capacity` of them are brought to scratch memory."""
    bring, cost_at = bring_arcs(kind, capacity), cost_along_arcs(kind, capacity)

    @device
    def look_along_arcs(
        v, only_open, offsets, targets, weights, part, block_weight, open_below, heads, counts,
        order, codes, shifts, lengths, bounds, state, found,
    ):
        """Find out what there is to note about v.  All lanes of a team together."""
        degree = bring(v, offsets, targets, weights, part, heads, counts, codes, shifts, lengths,
                       found)
        first = int64(offsets[v])
        best = int64(HIGHEST)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        for j in range(lane(), degree, team_size()):
            block = part[targets[first + j]]
            if block != part[v] and value_or(weights, first + j, 1) > 0:
                if has_room(block, only_open, block_weight, open_below, state):
                    cost = cost_at(block, first, degree, targets, weights, part, heads, counts,
                                   codes, shifts, lengths)
                    hashed = pair_hash(v, block, state[at.SEED])
                    if cost < best or (cost == best and hashed > best_hash):
                        best = cost
                        best_hash = hashed
                        best_block = block
        return note_best(best, best_hash, best_block, found)

    return look_along_arcs


@cache
def cost_in_table(kind: str) -> DeviceFunction:
    """Device function for the cost of a vertex whose neighbours' elements are in a table."""
    distance = DISTANCE[kind]

    @device
    def cost_in_table(block, number, heads, counts, order, codes, shifts, lengths):
        """Cost in a block."""
        cost = int64(0)
        for other in range(number):
            slot = int64(order[other])
            cost += counts[slot] * distance(block, heads[slot], codes, shifts, lengths)
        return cost

    return cost_in_table


@cache
def look_by_table(kind: str, slots: int) -> DeviceFunction:
    """Device function for few arcs, whose elements have room in so many slots."""
    distance, cost_at, bring = DISTANCE[kind], cost_in_table(kind), bring_table(slots)

    @device
    def look_by_table(
        v, only_open, offsets, targets, weights, part, block_weight, open_below, heads, counts,
        order, codes, shifts, lengths, bounds, state, found,
    ):
        """Find out what there is to note about v.  All lanes of a team together."""
        bring(v, 0, offsets, targets, weights, part, heads, counts, order, state)
        here = part[v]
        own = int64(0)
        total = int64(0)
        here_cost = int64(0)
        best = int64(HIGHEST)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        number = int64(counts[slots])
        for j in range(lane(), number, team_size()):
            slot = int64(order[j])
            block = heads[slot]
            weight = int64(counts[slot])
            total += weight
            if block == here:
                own += weight
            elif weight > 0:
                here_cost += weight * distance(here, block, codes, shifts, lengths)
                if has_room(block, only_open, block_weight, open_below, state):
                    cost = cost_at(block, number, heads, counts, order, codes, shifts, lengths)
                    hashed = pair_hash(v, block, state[at.SEED])
                    if cost < best or (cost == best and hashed > best_hash):
                        best = cost
                        best_hash = hashed
                        best_block = block
        own = team_sum(own)
        total = team_sum(total)
        here_cost = team_sum(here_cost)
        note_arcs(own, total, here_cost, found)
        return note_best(best, best_hash, best_block, found)

    return look_by_table


@device
def tree_cost(block, k, sums, lengths, bounds):
    """Cost in a block of a hierarchy; `sums` are the weights into the elements before each."""
    cost = int64(0)
    level = int64(0)
    begin = int64(bounds[2 * block])
    end = int64(bounds[2 * block + 1])
    while end - begin < k:
        cost -= (lengths[level + 1] - lengths[level]) * (int64(sums[end]) - int64(sums[begin]))
        level += 1
        begin = int64(bounds[2 * (level * k + block)])
        end = int64(bounds[2 * (level * k + block) + 1])
    return cost + lengths[level] * int64(sums[k])


@device
def matrix_cost(block, k, sums, lengths, bounds):
    """The same with a matrix of distances."""
    cost = int64(0)
    for other in range(k):
        weight = int64(sums[other + 1]) - int64(sums[other])
        if weight > 0:
            cost += weight * lengths[int64(block) * k + other]
    return cost


COUNTED_COST = {"tree": tree_cost, "matrix": matrix_cost}


@device
def count_weights(v, k, offsets, targets, weights, part, sums):
    """Set sums[b] to the weight of v's arcs into the blocks before b.

    Returns the weight into v's own block.  All lanes of a team together.
    """
    for b in range(lane(), k + 1, team_size()):
        sums[b] = 0
    team_sync()
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        team_atomic_add(sums, int64(part[targets[arc]]), value_or(weights, arc, 1))
    team_sync()
    own = int64(sums[part[v]])
    team_sync()
    running = int64(0)
    for base in range(0, k + 1, team_size()):
        b = base + lane()
        weight = int64(0)
        if b <= k:
            weight = int64(sums[b])
        until = team_scan(weight)
        if b <= k:
            sums[b] = running + until - weight
        running += team_last(until)
    team_sync()
    return own


@cache
def look_by_counts(kind: str) -> DeviceFunction:
    """Device function for many arcs."""
    counted_cost = COUNTED_COST[kind]

    @device
    def look_by_counts(
        v, only_open, offsets, targets, weights, part, block_weight, open_below, heads, sums, order,
        codes, shifts, lengths, bounds, state, found,
    ):
        """Find out what there is to note about v.  All lanes of a team together."""
        k = state[at.BLOCKS]
        here = part[v]
        own = count_weights(v, k, offsets, targets, weights, part, sums)
        best = int64(HIGHEST)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        for b in range(lane(), k, team_size()):
            if sums[b + 1] > sums[b] and b != here:
                if has_room(b, only_open, block_weight, open_below, state):
                    cost = counted_cost(b, k, sums, lengths, bounds)
                    hashed = pair_hash(v, b, state[at.SEED])
                    if cost < best or (cost == best and hashed > best_hash):
                        best = cost
                        best_hash = hashed
                        best_block = int32(b)
        note_arcs(own, int64(sums[k]), counted_cost(here, k, sums, lengths, bounds), found)
        return note_best(best, best_hash, best_block, found)

    return look_by_counts


def look_at_few(kind: str, most: int) -> tuple[DeviceFunction, tuple[int, int, int]]:
    """Device function for at most so many arcs, and the sizes of the three arrays it needs."""
    if most > MOST_ALONG:
        slots = SLOTS if most > FEW_SLOTS else FEW_SLOTS
        return look_by_table(kind, slots), (slots, slots + 1, slots)
    room = max(1, most)
    return look_along_arcs(kind, most), (room, room, 1)


def look_at_many(kind: str, counters: int) -> tuple[DeviceFunction, int]:
    """Device function for many arcs, and the counters that it needs: none, if given 0."""
    if counters:
        return look_by_counts(kind), counters + 1
    return look_along_arcs(kind, 0), 1
