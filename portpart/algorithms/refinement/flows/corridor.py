"""Corridors: the vertices near the boundary of two blocks that may change their block.

Layer 0 has the vertices of each block with neighbours in the other one; each next layer has the
neighbours of the last one.  The weight that joins from a block is at most the free capacity of the
other block plus a part of the slack of both limits (the factor alpha of KaFFPa).  If a layer is too
large, its vertices with small ids join, and no layers follow.
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows.network import FlowRules
from portpart.algorithms.refinement.flows.pairs import max_entries_of, max_size
from portpart.algorithms.refinement.flows.state import (
    FOUND,
    NUM_COUNTS,
    Corridors,
    FlowLevel,
    Flows,
    MatchingSizes,
    NodeMemory,
    Pair,
    QuotientGraph,
)
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of

WEIGHT, ENTRIES, COUNT = 0, 1, 2
"""Measures of vertices: weight, number of entries of their rows, and number."""

MEASURES, SIDES = 3, 6
"""Number of measures, and of measures of both blocks."""

CLAIMED = -2
"""The place of a vertex that may join as a part of the next layer."""

MOST = 4.0e18
"""No corridor is heavier."""


@kl.device
def may_join(v, graph: Csr, corridors: Corridors, level: FlowLevel):
    """Whether v may be in a corridor."""
    return kl.value_or(corridors.fixed, v, -1) < 0 and degree_of(v, graph) <= level.max_degree


@kl.kernel
def find_layer_0(i, graph: Csr, quotient: QuotientGraph, corridors: Corridors, level: FlowLevel,
                 rules: FlowRules):
    """Put vertex i of the list into layer 0 if it has neighbours in the other block of its pair.

    The order within a layer depends on the threads; no result depends on that order.
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
        if place < max_size(a, b, quotient, level):
            corridors.vertex[quotient.begin[pair] + place] = kl.int32(v)


@kl.device
def is_beside(v, a, b, graph: Csr, corridors: Corridors):
    """Whether v, in block a, has neighbours in block b."""
    found = False
    for arc in range(graph.begin[v], graph.end[v]):
        if corridors.part[graph.targets[arc]] == b:
            found = True
    return found


@kl.kernel
def grow_corridor(i, graph: Csr, flows: Flows, memory: NodeMemory, rules: FlowRules):
    """Grow the corridor of pair i, and build its network."""
    counts = kl.team_array(kl.int32, NUM_COUNTS)
    sums = kl.lane_array(kl.int64, MEASURES)
    free = kl.lane_array(kl.int64, SIDES)
    source = kl.int64(flows.quotient.pair[i])
    sink = kl.int64(flows.quotient.partner[source])
    base = kl.int64(flows.quotient.begin[source])
    most = base + max_size(source, sink, flows.quotient, flows.level)
    range_of_pair = Pair(source, sink, base, most, most, base)
    end = grow(range_of_pair, counts, sums, free, graph, flows, rules)
    pair = Pair(source, sink, base, end, end, base)
    top = rules.build(pair, counts, graph, flows)
    if kl.lane() == 0:
        flows.quotient.size[source] = kl.int32(end - base)
        flows.quotient.nodes[source] = kl.int32(top - base)
        if top - base > memory.max_nodes:
            kl.atomic_add(flows.matching, MatchingSizes.large, 1)


@kl.device
def grow(pair: Pair, counts, sums, free, graph: Csr, flows: Flows, rules: FlowRules):
    """Grow the corridor of a pair layer by layer, and return its end.

    Called by all lanes of a team.
    """
    begin_capacity(pair, free, flows)
    first = kl.int64(pair.base)
    last = first + flows.quotient.boundary[pair.source]
    if last > pair.end:
        last = first
    depth = kl.int64(0)
    while first < last:
        low = limit_of(first, last, pair.source, 0, sums, free, graph, flows)
        high = limit_of(first, last, pair.sink, MEASURES, sums, free, graph, flows)
        last = keep(first, last, depth, low, high, pair, flows.corridors)
        depth += 1
        end = last
        if depth <= flows.level.max_depth and max(free[WEIGHT], free[MEASURES + WEIGHT]) > 0:
            end = claim_next(first, last, free, pair, counts, graph, flows, rules)
        first = last
        last = end
    return last


@kl.device
def begin_capacity(pair: Pair, free, flows: Flows):
    """Set the maximum measures of the vertices that join from each block.

    At least one vertex of a block stays.
    """
    entries = max_entries_of(pair.source, pair.sink, flows.quotient, flows.level)
    free[WEIGHT] = max_weight(pair.source, pair.sink, flows)
    free[ENTRIES] = entries
    free[COUNT] = flows.quotient.count[pair.source] - 1
    free[MEASURES + WEIGHT] = max_weight(pair.sink, pair.source, flows)
    free[MEASURES + ENTRIES] = entries
    free[MEASURES + COUNT] = flows.quotient.count[pair.sink] - 1


@kl.device
def max_weight(a, b, flows: Flows):
    """Return the maximum weight of block a in a corridor with block b."""
    limits = flows.quotient.limits[a] + flows.quotient.limits[b]
    slack = max(kl.int64(0), limits - flows.quotient.means[a] - flows.quotient.means[b]) // 2
    free = flows.quotient.limits[b] + flows.level.slack - flows.quotient.weight[b]
    return max(kl.int64(0), free) + kl.int64(min(kl.float64(slack) * flows.corridors.extra, MOST))


@kl.device
def limit_of(first, last, block, side, sums, free, graph: Csr, flows: Flows):
    """Return the id below which the vertices of a layer and a block join, and reduce the capacity.

    If not all of them fit, no vertex of the block may join a later layer.  Called by all lanes of a
    team.
    """
    low = kl.int64(0)
    high = kl.int64(flows.level.vertices)
    measure(first, last, block, high, sums, graph, flows.corridors)
    if fits(side, sums, free):
        low = high
    while low + 1 < high:
        middle = (low + high) // 2
        measure(first, last, block, middle, sums, graph, flows.corridors)
        if fits(side, sums, free):
            low = middle
        else:
            high = middle
    if low < flows.level.vertices:
        measure(first, last, block, low, sums, graph, flows.corridors)
        free[side + WEIGHT] = sums[WEIGHT] - 1
    for each in range(MEASURES):
        free[side + each] -= sums[each]
    return low


@kl.device
def measure(first, last, block, limit, sums, graph: Csr, corridors: Corridors):
    """Measure the vertices of a layer that are in a block and have ids below the limit.

    Called by all lanes of a team.
    """
    weight = kl.int64(0)
    entries = kl.int64(0)
    count = kl.int64(0)
    for i in range(first + kl.lane(), last, kl.team_size()):
        v = kl.int64(corridors.vertex[i])
        if v < limit and corridors.part[v] == block:
            weight += kl.value_or(graph.vertex_weights, v, 1)
            entries += degree_of(v, graph)
            count += 1
    sums[WEIGHT] = kl.team_sum(weight)
    sums[ENTRIES] = kl.team_sum(entries)
    sums[COUNT] = kl.team_sum(count)
    return 0


@kl.device
def fits(side, sums, free):
    """Whether vertices with these measures fit into the capacity for a block."""
    return (sums[WEIGHT] <= free[side + WEIGHT] and sums[ENTRIES] <= free[side + ENTRIES]
            and sums[COUNT] <= free[side + COUNT])


@kl.device
def keep(first, last, depth, low, high, pair: Pair, corridors: Corridors):
    """Keep the vertices of a layer below the limits of the source's and of the sink's block.

    Return the end of the layer.  Called by all lanes of a team.
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
def claim_next(first, last, free, pair: Pair, counts, graph: Csr, flows: Flows, rules: FlowRules):
    """Append the next layer: neighbours in the same block, if more of the block may join.

    Return its end; it is empty if the range is too short.  Called by all lanes of a team.
    """
    if kl.lane() == 0:
        counts[FOUND] = 0
    kl.team_sync()
    for i in range(first + kl.lane(), last, kl.team_size()):
        v = flows.corridors.vertex[i]
        if free[WEIGHT if flows.corridors.part[v] == pair.source else MEASURES + WEIGHT] > 0:
            rules.claim_around(v, last, pair, counts, graph, flows)
    kl.team_sync()
    end = last + counts[FOUND]
    kl.team_sync()
    if end > pair.end:
        for i in range(first + kl.lane(), last, kl.team_size()):
            rules.release_around(flows.corridors.vertex[i], graph, flows)
        kl.team_sync()
        end = last
    return end


@kl.device
def claim_neighbours(v, begin, pair: Pair, counts, graph: Csr, flows: Flows):
    """Claim the neighbours of v for the layer that begins at `begin`."""
    here = flows.corridors.part[v]
    for arc in range(graph.begin[v], graph.end[v]):
        claim(kl.int64(graph.targets[arc]), here, begin, pair, counts, graph, flows)


@kl.device
def claim(u, here, begin, pair: Pair, counts, graph: Csr, flows: Flows):
    """Claim u for the layer that begins at `begin`, if u is in block `here`."""
    if flows.corridors.part[u] == here and kl.atomic_load(flows.corridors.place, u) == -1:
        if may_join(u, graph, flows.corridors, flows.level):
            before = kl.team_atomic_cas(flows.corridors.place, u, kl.int32(-1), kl.int32(CLAIMED))
            if before == -1:
                place = begin + kl.team_atomic_add(counts, FOUND, 1)
                if place < pair.end:
                    flows.corridors.vertex[place] = kl.int32(u)


@kl.device
def release_neighbours(v, graph: Csr, flows: Flows):
    """Release the claimed neighbours of v."""
    here = flows.corridors.part[v]
    for arc in range(graph.begin[v], graph.end[v]):
        release(graph.targets[arc], here, flows.corridors)


@kl.device
def release(u, here, corridors: Corridors):
    """Release u, if it is in block `here` and claimed."""
    if corridors.part[u] == here and corridors.place[u] == CLAIMED:
        corridors.place[u] = kl.int32(-1)
