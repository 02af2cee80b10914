"""The quotient graph and its matchings, which are the pairs of blocks that are refined at a time.

After Krause, Gottesbueren, Maas (2025): pairs of a matching share no block, so their gains add up
and their order does not matter.  A matching is greedy: pairs that have gained before come first,
then pairs with a large cut.  It is found by blocks that propose to each other.
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows.network import TEAMS, FlowRules
from portpart.algorithms.refinement.flows.state import (
    Corridors,
    FlowLevel,
    FlowNets,
    MatchingSizes,
    QuotientGraph,
)
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of

MIN_GAIN = 1000
"""Rounds continue while one gains at least 1 / MIN_GAIN of the cut."""


@kl.kernel
def begin_block(a, quotient: QuotientGraph):
    """Reset the weight and the counts of block a."""
    quotient.weight[a] = kl.int64(0)
    quotient.count[a] = kl.int64(0)
    quotient.arcs[a] = kl.int64(0)
    quotient.changed[a] = kl.int32(-1)


@kl.kernel
def begin_pair(i, quotient: QuotientGraph):
    """Reset pair i: it has no cut and no gain, and was never refined."""
    quotient.cut[i] = kl.int64(0)
    quotient.won[i] = kl.int64(0)
    quotient.done[i] = kl.int32(-1)


@kl.kernel
def begin_vertex(v, graph: Csr, quotient: QuotientGraph, corridors: Corridors, level: FlowLevel,
                 rules: FlowRules):
    """Add v to its block, and to the list if it is on a boundary.  Atomic, independent of order."""
    a = kl.int64(corridors.part[v])
    corridors.place[v] = kl.int32(-1)
    kl.atomic_add(quotient.weight, a, kl.value_or(graph.vertex_weights, v, 1))
    kl.atomic_add(quotient.count, a, kl.int64(1))
    kl.atomic_add(quotient.arcs, a, degree_of(v, graph))
    there = rules.add_cuts(v, graph, quotient, corridors, level)
    corridors.is_listed[v] = kl.int32(there)
    if there:
        corridors.boundary[kl.atomic_next(level, FlowLevel.boundary)] = kl.int32(v)


@kl.device
def list_vertex(v, corridors: Corridors, level: FlowLevel):
    """Put v on the list of the boundary, once."""
    if kl.atomic_load(corridors.is_listed, v) == 0:
        if kl.atomic_cas(corridors.is_listed, v, kl.int32(0), kl.int32(1)) == 0:
            corridors.boundary[kl.atomic_next(level, FlowLevel.boundary)] = kl.int32(v)


@kl.device
def add_cuts(v, graph: Csr, quotient: QuotientGraph, corridors: Corridors, level: FlowLevel):
    """Add v's edges to larger blocks to the cuts of pairs; return whether v is on a boundary."""
    a = kl.int64(corridors.part[v])
    result = False
    for arc in range(graph.begin[v], graph.end[v]):
        b = kl.int64(corridors.part[graph.targets[arc]])
        if b != a:
            result = True
            if a < b:
                kl.atomic_add(quotient.cut, a * level.blocks + b, kl.value_or(graph.weights, arc,
                                                                              1))
    return result


@kl.kernel
def clear_cut(i, quotient: QuotientGraph):
    """Reset the cut of pair i."""
    quotient.cut[i] = kl.int64(0)


@kl.kernel
def add_listed(i, graph: Csr, quotient: QuotientGraph, corridors: Corridors, level: FlowLevel):
    """Add the edges of vertex i of the list to the cuts.  Atomic, independent of order."""
    add_cuts(corridors.boundary[i], graph, quotient, corridors, level)


@kl.device
def pair_of(a, b, level: FlowLevel):
    """Return the number of a pair of blocks."""
    return min(a, b) * level.blocks + max(a, b)


@kl.kernel
def list_neighbours(a, quotient: QuotientGraph, level: FlowLevel):
    """List the blocks that block a may be paired with.

    In the first round these are all adjacent blocks, later only those whose pair with a has gained
    before, if one of the two blocks has changed in the last round.
    """
    if kl.lane() == 0:
        quotient.degree[a] = kl.int32(0)
    kl.team_sync()
    for b in range(kl.lane(), level.blocks, kl.team_size()):
        pair = pair_of(a, kl.int64(b), level)
        if quotient.cut[pair] > 0 and b != a:
            changed = max(quotient.changed[a], quotient.changed[b]) == level.round - 1
            if level.round == 0 or (changed and quotient.won[pair] > 0):
                place = kl.team_atomic_add(quotient.degree, a, kl.int32(1))
                quotient.neighbour[a * level.blocks + place] = kl.int32(b)


@kl.device
def is_before(a, b, c, quotient: QuotientGraph, level: FlowLevel):
    """Whether block a prefers b to c as its partner."""
    one = pair_of(a, b, level)
    other = pair_of(a, c, level)
    result = one < other
    if quotient.won[one] != quotient.won[other]:
        result = quotient.won[one] > quotient.won[other]
    elif quotient.cut[one] != quotient.cut[other]:
        result = quotient.cut[one] > quotient.cut[other]
    return result


@kl.device
def choice_of(a, quotient: QuotientGraph, level: FlowLevel):
    """Return the unmatched block that a prefers as its partner in this round, or -1."""
    result = kl.int64(-1)
    begin = a * level.blocks
    for place in range(begin, begin + quotient.degree[a]):
        b = kl.int64(quotient.neighbour[place])
        if quotient.partner[b] < 0 and quotient.done[pair_of(a, b, level)] < level.round:
            if result < 0:
                result = b
            elif is_before(a, b, result, quotient, level):
                result = b
    return result


@kl.kernel
def match_blocks(_, graph: Csr, quotient: QuotientGraph, level: FlowLevel, matching: MatchingSizes,
                 rules: FlowRules):
    """Pair blocks that have not been refined together in this round, unless it has ended.

    Called by one team.
    """
    for a in range(kl.lane(), level.blocks, kl.team_size()):
        quotient.partner[a] = kl.int32(-1)
        quotient.boundary[a] = kl.int32(0)
    kl.team_sync()
    found = kl.int64(matching.number < level.max_matchings)
    while found > 0:
        for a in range(kl.lane(), level.blocks, kl.team_size()):
            quotient.choice[a] = kl.int32(-1)
            if quotient.partner[a] < 0:
                quotient.choice[a] = kl.int32(choice_of(a, quotient, level))
        kl.team_sync()
        found = kl.int64(0)
        for a in range(kl.lane(), level.blocks, kl.team_size()):
            b = quotient.choice[a]
            if b >= 0:
                if quotient.choice[b] == a:
                    quotient.partner[a] = b
                    found = kl.int64(1)
        found = kl.team_max(found)
        kl.team_sync()
    list_pairs(quotient, level, matching, rules)
    if rules.has_nets:
        begin_matching(graph)


@kl.device
def begin_matching(graph: FlowNets):
    """Reset the list of nets whose pins have moved since the last matching."""
    if kl.lane() == 0:
        graph.counts.matching += 1
        graph.counts.changed = 0


@kl.device
def list_pairs(quotient: QuotientGraph, level: FlowLevel, matching: MatchingSizes,
               rules: FlowRules):
    """List the pairs of a matching, and reserve a range for the corridor of each."""
    pairs = kl.int64(0)
    begin = kl.int64(0)
    for tile in range(0, level.blocks, kl.team_size()):
        a = tile + kl.lane()
        first = kl.int64(0)
        length = kl.int64(0)
        if a < level.blocks:
            if quotient.partner[a] > a:
                first = kl.int64(1)
                length = max_size(a, quotient.partner[a], quotient, level)
                if rules.has_nets:
                    length += 2 * max_entries_of(a, quotient.partner[a], quotient, level)
        listed = kl.team_scan(first)
        end = kl.team_scan(length)
        if first > 0:
            quotient.pair[pairs + listed - 1] = kl.int32(a)
            quotient.begin[a] = kl.int32(begin + end - length)
            quotient.done[pair_of(a, kl.int64(quotient.partner[a]), level)] = kl.int32(level.round)
        pairs += kl.team_last(listed)
        begin += kl.team_last(end)
    if kl.lane() == 0:
        matching.number += 1
        matching.pairs = pairs
        matching.parts = pairs * TEAMS
        matching.used_arcs = 0
        matching.large = 0


@kl.device
def max_size(a, b, quotient: QuotientGraph, level: FlowLevel):
    """Return the maximum number of vertices of the corridor of two blocks."""
    return min((quotient.count[a] + quotient.count[b]) // level.share, level.max_corridor)


@kl.device
def max_entries_of(a, b, quotient: QuotientGraph, level: FlowLevel):
    """Return the maximum number of arcs or pins of each of two blocks in their corridor.

    If both have that many, their corridor has at most 1 / share of their entries.
    """
    entries = (quotient.arcs[a] + quotient.arcs[b]) // (level.share * level.share)
    return min(entries, kl.int64(quotient.max_entries) // 2)


@kl.kernel
def begin_round(_, quotient: QuotientGraph, level: FlowLevel, matching: MatchingSizes):
    """Add up the cut before a round, which has no matching yet.  Called by one team."""
    cut = kl.int64(0)
    for i in range(kl.lane(), level.block_pairs, kl.team_size()):
        cut += quotient.cut[i]
    cut = kl.team_sum(cut)
    if kl.lane() == 0:
        level.cut = cut
        level.gain = 0
        matching.number = 0


@kl.kernel
def end_round(_, level: FlowLevel):
    """Continue if the round has gained enough."""
    level.total_gain += level.gain
    level.round += 1
    enough = level.gain > 0 and level.gain >= level.cut // MIN_GAIN
    level.running = kl.int64(enough and level.round < level.round_limit)
