"""Corridors: the vertices near the boundary of two blocks that may change their block.

Layer 0 are the vertices of each block with neighbours in the other one; the next layers are their
neighbours, those of these, and so on.  From each block no more joins than the other one has room
for, and some of the slack of both limits (the factor alpha of KaFFPa).  Of a layer that is too
large the vertices of small ids join, and no layers follow.
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows.network import FlowRules
from portpart.algorithms.refinement.flows.pairs import max_size, most_entries
from portpart.algorithms.refinement.flows.state import (
    FOUND,
    NUM_COUNTS,
    Corridors,
    FlowLevel,
    Flows,
    NodeMemory,
    Pair,
    QuotientGraph,
)
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of

WEIGHT, ENTRIES, COUNT = 0, 1, 2
"""Measures of vertices: their weight, the entries of their rows and their number."""

MEASURES, SIDES = 3, 6
"""How many there are, and of both blocks."""

CLAIMED = -2
"""The place of a vertex that may join as a part of the next layer."""

MOST = 4.0e18
"""No corridor weighs more."""


@kl.device
def may_join(v, graph: Csr, corridors: Corridors, level: FlowLevel):
    """Whether v may be in a corridor at all."""
    return kl.value_or(corridors.fixed, v, -1) < 0 and degree_of(v, graph) <= level.max_degree


@kl.kernel
def find_layer_0(i, graph: Csr, quotient: QuotientGraph, corridors: Corridors, level: FlowLevel,
                 rules: FlowRules):
    """Put vertex i of the list into layer 0 if its neighbours are in the other block of its pair.

    The order in a layer depends on the threads, and no result depends on that order.
    """
    v = kl.int64(corridors.boundary[i])
    a = kl.int64(corridors.part[v])
    b = kl.int64(quotient.partner[a])
    found = False
    if b >= 0:
        if may_join(v, graph, corridors, level):
            found = rules.is_beside(v, a, b, graph, corridors)
    if found:
        pair = min(a, b)
        place = kl.int64(kl.atomic_add(quotient.boundary, pair, kl.int32(1)))
        if place < max_size(a, b, quotient):
            corridors.vertex[quotient.begin[pair] + place] = kl.int32(v)


@kl.device
def is_beside(v, a, b, graph: Csr, corridors: Corridors):
    """Whether v, of block a, has neighbours in block b."""
    found = False
    for arc in range(graph.begin[v], graph.end[v]):
        if corridors.part[graph.targets[arc]] == b:
            found = True
    return found


@kl.kernel
def grow_corridor(i, graph: Csr, flows: Flows, memory: NodeMemory, rules: FlowRules):
    """Grow the corridor of pair i, and build its network."""
    counts = kl.team_array(kl.int64, NUM_COUNTS)
    sums = kl.lane_array(kl.int64, MEASURES)
    room = kl.lane_array(kl.int64, SIDES)
    source = kl.int64(flows.quotient.pair[i])
    sink = kl.int64(flows.quotient.partner[source])
    base = kl.int64(flows.quotient.begin[source])
    most = base + max_size(source, sink, flows.quotient)
    range_of_pair = Pair(source, sink, base, most, most, base)
    end = grow(range_of_pair, counts, sums, room, graph, flows, rules)
    pair = Pair(source, sink, base, end, end, base)
    top = rules.build(pair, counts, graph, flows)
    if kl.lane() == 0:
        flows.quotient.size[source] = kl.int32(end - base)
        flows.quotient.nodes[source] = kl.int32(top - base)
        if top - base > memory.room:
            kl.atomic_add(flows.level, FlowLevel.large, 1)


@kl.device
def grow(pair: Pair, counts, sums, room, graph: Csr, flows: Flows, rules: FlowRules):
    """Grow the corridor of a pair layer by layer.  Returns its end.  All lanes of a team."""
    begin_room(pair, room, flows)
    first = kl.int64(pair.base)
    last = first + flows.quotient.boundary[pair.source]
    if last > pair.end:
        last = first
    depth = kl.int64(0)
    while first < last:
        low = bound_of(first, last, pair.source, 0, sums, room, graph, flows)
        high = bound_of(first, last, pair.sink, MEASURES, sums, room, graph, flows)
        last = keep(first, last, depth, low, high, pair, flows.corridors)
        depth += 1
        end = last
        if depth <= flows.level.max_depth and max(room[WEIGHT], room[MEASURES + WEIGHT]) > 0:
            end = claim_next(first, last, room, pair, counts, graph, flows, rules)
        first = last
        last = end
    return last


@kl.device
def begin_room(pair: Pair, room, flows: Flows):
    """What may join from each block; one vertex of it stays."""
    entries = most_entries(pair.source, pair.sink, flows.quotient)
    room[WEIGHT] = max_weight(pair.source, pair.sink, flows)
    room[ENTRIES] = entries
    room[COUNT] = flows.quotient.count[pair.source] - 1
    room[MEASURES + WEIGHT] = max_weight(pair.sink, pair.source, flows)
    room[MEASURES + ENTRIES] = entries
    room[MEASURES + COUNT] = flows.quotient.count[pair.sink] - 1


@kl.device
def max_weight(a, b, flows: Flows):
    """How much of block a may be in a corridor with block b."""
    limits = flows.quotient.limits[a] + flows.quotient.limits[b]
    slack = max(kl.int64(0), limits - flows.quotient.means[a] - flows.quotient.means[b]) // 2
    room = flows.quotient.limits[b] + flows.level.slack - flows.quotient.weight[b]
    return max(kl.int64(0), room) + kl.int64(min(kl.float64(slack) * flows.corridors.extra, MOST))


@kl.device
def bound_of(first, last, block, side, sums, room, graph: Csr, flows: Flows):
    """Of a layer and a block the vertices of smaller ids than this join, and take their room.  All
    lanes of a team.
    """
    low = kl.int64(0)
    high = kl.int64(flows.level.vertices)
    measure(first, last, block, high, sums, graph, flows.corridors)
    if fits(side, sums, room):
        low = high
    while low + 1 < high:
        middle = (low + high) // 2
        measure(first, last, block, middle, sums, graph, flows.corridors)
        if fits(side, sums, room):
            low = middle
        else:
            high = middle
    if low < flows.level.vertices:
        measure(first, last, block, low, sums, graph, flows.corridors)
        room[side + WEIGHT] = sums[WEIGHT] - 1
    for each in range(MEASURES):
        room[side + each] -= sums[each]
    return low


@kl.device
def measure(first, last, block, bound, sums, graph: Csr, corridors: Corridors):
    """Measure a layer's vertices of a block and of smaller ids than the bound.  All lanes."""
    weight = kl.int64(0)
    entries = kl.int64(0)
    count = kl.int64(0)
    for i in range(first + kl.lane(), last, kl.team_size()):
        v = kl.int64(corridors.vertex[i])
        if v < bound and corridors.part[v] == block:
            weight += kl.value_or(graph.vertex_weights, v, 1)
            entries += degree_of(v, graph)
            count += 1
    sums[WEIGHT] = kl.team_sum(weight)
    sums[ENTRIES] = kl.team_sum(entries)
    sums[COUNT] = kl.team_sum(count)
    return 0


@kl.device
def fits(side, sums, room):
    """Whether there is room for that much of a block."""
    return (sums[WEIGHT] <= room[side + WEIGHT] and sums[ENTRIES] <= room[side + ENTRIES]
            and sums[COUNT] <= room[side + COUNT])


@kl.device
def keep(first, last, depth, low, high, pair: Pair, corridors: Corridors):
    """Keep the vertices of a layer below the bounds of the source's and of the sink's block.
    Returns the end of the layer.  All lanes of a team.
    """
    end = kl.int64(first)
    for tile in range(first, last, kl.team_size()):
        i = tile + kl.lane()
        v = kl.int64(0)
        stays = kl.int64(0)
        if i < last:
            v = kl.int64(corridors.vertex[i])
            stays = kl.int64(v < (low if corridors.part[v] == pair.source else high))
            if stays == 0:
                corridors.place[v] = kl.int32(-1)
        kept = kl.team_scan(stays)
        kl.team_sync()
        if stays > 0:
            place = end + kept - 1
            corridors.vertex[place] = kl.int32(v)
            corridors.depth[place] = kl.int8(depth)
            corridors.place[v] = kl.int32(place)
        end += kl.team_last(kept)
    kl.team_sync()
    return end


@kl.device
def claim_next(first, last, room, pair: Pair, counts, graph: Csr, flows: Flows, rules: FlowRules):
    """Put the next layer behind a layer: its neighbours in the same block, if more of it may join.
    Returns the end of the next layer, which is empty if the range is too short.  All lanes.
    """
    if kl.lane() == 0:
        counts[FOUND] = 0
    kl.team_sync()
    for i in range(first + kl.lane(), last, kl.team_size()):
        v = flows.corridors.vertex[i]
        if room[WEIGHT if flows.corridors.part[v] == pair.source else MEASURES + WEIGHT] > 0:
            rules.claim_around(v, last, pair, counts, graph, flows)
    kl.team_sync()
    end = last + counts[FOUND]
    kl.team_sync()
    if end > pair.end:
        for i in range(first + kl.lane(), last, kl.team_size()):
            rules.let_go_around(flows.corridors.vertex[i], graph, flows)
        kl.team_sync()
        end = last
    return end


@kl.device
def claim_neighbours(v, begin, pair: Pair, counts, graph: Csr, flows: Flows):
    """Claim the neighbours of v for the layer that begins there."""
    here = flows.corridors.part[v]
    for arc in range(graph.begin[v], graph.end[v]):
        claim(kl.int64(graph.targets[arc]), here, begin, pair, counts, graph, flows)


@kl.device
def claim(u, here, begin, pair: Pair, counts, graph: Csr, flows: Flows):
    """Claim u for the layer that begins there, if it is in block `here`."""
    if flows.corridors.part[u] == here and kl.atomic_load(flows.corridors.place, u) == -1:
        if may_join(u, graph, flows.corridors, flows.level):
            before = kl.team_atomic_cas(flows.corridors.place, u, kl.int32(-1), kl.int32(CLAIMED))
            if before == -1:
                place = begin + kl.team_atomic_add(counts, FOUND, 1)
                if place < pair.end:
                    flows.corridors.vertex[place] = kl.int32(u)


@kl.device
def let_go_neighbours(v, graph: Csr, flows: Flows):
    """Let go of the neighbours of v that have been claimed."""
    here = flows.corridors.part[v]
    for arc in range(graph.begin[v], graph.end[v]):
        let_go(graph.targets[arc], here, flows.corridors)


@kl.device
def let_go(u, here, corridors: Corridors):
    """Let go of u, if it is in block `here` and has been claimed."""
    if corridors.part[u] == here and corridors.place[u] == CLAIMED:
        corridors.place[u] = kl.int32(-1)
