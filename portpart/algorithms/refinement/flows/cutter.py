"""Two-way refinement of a pair of blocks: the smallest cut of its corridor that keeps the limits.

A maximum preflow gives two minimum cuts: around all nodes that sources reach, and around all nodes
that reach the sink.  If neither keeps the limits, the lighter of the two sides is pierced, and the
flow grows.  Refinement ends without a gain if the flow is as large as the cut was.
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows.network import FRESH, SINK, SOURCE, FlowRules
from portpart.algorithms.refinement.flows.pairs import list_vertex, pair_of
from portpart.algorithms.refinement.flows.piercing import CLASSES, PierceCandidates, pierce
from portpart.algorithms.refinement.flows.push_relabel import FAR, STUCK, maximise, reach
from portpart.algorithms.refinement.flows.state import (
    NUM_COUNTS,
    Corridors,
    FlowLevel,
    Flows,
    Networks,
    NodeLabels,
    NodeMemory,
    Pair,
)
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of

MOST_DOUBLINGS = 20
"""At most 2 ** MOST_DOUBLINGS vertices are pierced at a time."""


@kl.kernel
def cut_pair(i, graph: Csr, flows: Flows, memory: NodeMemory, rules: FlowRules,
             in_team: kl.StaticValue):
    """Refine pair i if its network fits into memory of the team; or, elsewhere, if it does not."""
    counts = kl.team_array(kl.int32, NUM_COUNTS)
    flow = kl.team_array(memory.counter, 1)
    candidates = PierceCandidates(count=kl.team_array(kl.int32, CLASSES))
    source = kl.int64(flows.quotient.pair[i])
    sink = kl.int64(flows.quotient.partner[source])
    base = kl.int64(flows.quotient.begin[source])
    end = base + flows.quotient.size[source]
    top = base + flows.quotient.nodes[source]
    if in_team:
        nodes = NodeLabels(label=kl.team_array(kl.int32, memory.max_nodes),
                           incoming=kl.team_array(memory.counter, memory.max_nodes), flow=flow)
        shift = kl.int64(base)
    else:
        nodes = NodeLabels(label=flows.networks.label, incoming=flows.networks.incoming, flow=flow)
        shift = kl.int64(0)
    pair = Pair(source, sink, base, end, top, shift)
    fits = top - base <= memory.max_nodes
    if fits if in_team else not fits:
        refine(pair, counts, candidates, nodes, graph, flows, rules)


@kl.device
def refine(pair: Pair, counts, candidates: PierceCandidates, nodes: NodeLabels, graph: Csr,
           flows: Flows, rules: FlowRules):
    """Apply the smallest cut that keeps the limits, if it is smaller than the current one.

    The corridor is released.  Called by all lanes of a team.
    """
    for u in range(pair.base + kl.lane(), pair.top, kl.team_size()):
        nodes.incoming[u - pair.shift] = 0
    if kl.lane() == 0:
        nodes.flow[0] = 0
    kl.team_sync()
    across = flows.quotient.across[pair.source]
    step = kl.int64(0)
    going = across > 0
    while going:
        flow = maximise(across, pair, counts, nodes, flows.networks, rules.arcs)
        going = flow < across
        if going:
            reach(pair, counts, nodes, flows.networks, rules.arcs)
            of_source = weight_with(True, pair, nodes, graph, flows)
            of_sink = weight_with(False, pair, nodes, graph, flows)
            total = flows.quotient.weight[pair.source] + flows.quotient.weight[pair.sink]
            small = share_of_limit(of_source, total - of_source, pair, flows)
            large = share_of_limit(total - of_sink, of_sink, pair, flows)
            if min(small, large) <= 1.0:
                going = False
                apply(small <= large, across - flow, pair, nodes, graph, flows, rules)
            else:
                is_source = of_source <= of_sink
                count = number_to_pierce(is_source, min(of_source, of_sink), step, pair, flows)
                going = pierce(is_source, count, pair, candidates, nodes, flows, rules)
                step += 1
    kl.team_sync()
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        flows.corridors.place[flows.corridors.vertex[u]] = kl.int32(-1)
    return step


@kl.device
def is_with(is_source, u, pair: Pair, nodes: NodeLabels, networks: Networks):
    """Whether u is with the source, which reaches it, or with the sink, which it reaches."""
    label = nodes.label[u - pair.shift]
    result = (networks.state[u] & SOURCE) != 0 or label == STUCK
    if not is_source:
        result = (networks.state[u] & SINK) != 0 or label < FAR
    return result


@kl.device
def weight_of(u, graph: Csr, corridors: Corridors):
    """Return the weight of the vertex at a place."""
    return kl.value_or(graph.vertex_weights, corridors.vertex[u], 1)


@kl.device
def weight_with(is_source, pair: Pair, nodes: NodeLabels, graph: Csr, flows: Flows):
    """Return the weight of a terminal's side.  Called by all lanes of a team."""
    block = pair.source if is_source else pair.sink
    weight = kl.int64(0)
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        if is_with(is_source, u, pair, nodes, flows.networks):
            weight += weight_of(u, graph, flows.corridors)
        if flows.corridors.part[flows.corridors.vertex[u]] == block:
            weight -= weight_of(u, graph, flows.corridors)
    return flows.quotient.weight[block] + kl.team_sum(weight)


@kl.device
def share_of_limit(of_source, of_sink, pair: Pair, flows: Flows):
    """Return the larger share of its limit that a block with one of these weights has."""
    source = max(kl.int64(1), flows.quotient.limits[pair.source] + flows.level.slack)
    sink = max(kl.int64(1), flows.quotient.limits[pair.sink] + flows.level.slack)
    return max(kl.float64(of_source) / kl.float64(source), kl.float64(of_sink) / kl.float64(sink))


@kl.device
def number_to_pierce(is_source, weight, step, pair: Pair, flows: Flows):
    """Return how many vertices are pierced next to a side of this weight.

    Twice as many in each step, at most half of the vertices that balance requires.
    """
    total = flows.quotient.weight[pair.source] + flows.quotient.weight[pair.sink]
    count = flows.quotient.count[pair.source] + flows.quotient.count[pair.sink]
    count += kl.value_or(flows.corridors.rest, pair.source, 0)
    count += kl.value_or(flows.corridors.rest, pair.sink, 0)
    other = pair.sink if is_source else pair.source
    missing = total - flows.quotient.limits[other] - flows.level.slack - weight
    share = kl.float64(max(kl.int64(0), missing)) / kl.float64(max(kl.int64(1), total))
    half = kl.int64(share * kl.float64(count) / 2.0)
    return max(kl.int64(1), min(half, kl.int64(1) << min(step, kl.int64(MOST_DOUBLINGS))))


@kl.device
def apply(by_source, gain, pair: Pair, nodes: NodeLabels, graph: Csr, flows: Flows,
          rules: FlowRules):
    """Move the vertices of the corridor to the sides of the cut.  Called by all lanes of a team.

    The source's side goes to the source's block and the rest to the other one; or the sink's side
    to the sink's block and the rest to the other one.
    """
    weight = kl.int64(0)
    count = kl.int64(0)
    arcs = kl.int64(0)
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        joined = is_with(by_source, u, pair, nodes, flows.networks)
        block = pair.source if joined == by_source else pair.sink
        v = flows.corridors.vertex[u]
        if flows.corridors.part[v] != block:
            flows.corridors.part[v] = kl.int32(block)
            flows.networks.state[u] |= FRESH
            sign = kl.int64(1 if block == pair.source else -1)
            weight += sign * weight_of(u, graph, flows.corridors)
            count += sign
            arcs += sign * degree_of(v, graph)
    weight = kl.team_sum(weight)
    count = kl.team_sum(count)
    arcs = kl.team_sum(arcs)
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        if (flows.networks.state[u] & FRESH) != 0:
            rules.note_move(flows.corridors.vertex[u], graph, flows)
    if kl.lane() == 0:
        change_block(pair.source, weight, count, arcs, flows)
        change_block(pair.sink, -weight, -count, -arcs, flows)
        number = pair_of(pair.source, pair.sink, flows.level)
        flows.quotient.won[number] += gain
        kl.atomic_add(flows.level, FlowLevel.gain, gain)
    return gain


@kl.device
def change_block(a, weight, count, arcs, flows: Flows):
    """Add to the weight and the counts of block a."""
    flows.quotient.weight[a] += weight
    flows.quotient.count[a] += count
    flows.quotient.arcs[a] += arcs
    flows.quotient.changed[a] = kl.int32(flows.level.round)


@kl.device
def list_around(v, graph: Csr, flows: Flows):
    """Put v and its neighbours on the list of the boundary."""
    list_vertex(kl.int64(v), flows.corridors, flows.level)
    for arc in range(graph.begin[v], graph.end[v]):
        list_vertex(kl.int64(graph.targets[arc]), flows.corridors, flows.level)
