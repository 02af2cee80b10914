"""Piercing: a side of a cut becomes its terminal, together with some vertices next to it.

Hamann, Strasser (2018); Gottesbueren, Hamann, Wagner (2019).  The best vertices are vertices that
create no augmenting path, and among them those deepest in the block of the terminal.
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows import network
from portpart.algorithms.refinement.flows.push_relabel import FAR, is_free
from portpart.algorithms.refinement.flows.state import (
    Corridors,
    FlowLevel,
    Flows,
    Networks,
    NodeLabels,
    Pair,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.primitives import hash_of, is_drawn

CLASSES, HALF = 64, 32
"""Number of classes of candidates; the second half creates augmenting paths."""

DEEPEST = 15
"""Layers from this one on are equal."""


class PierceCandidates(kl.Record):
    """Candidates for piercing of a pair.

    Attributes
    ----------
    count : team array of int32, shape (CLASSES,)
        Number of candidates in each class.
    """

    count: Array


@kl.device
def pierce(is_source, number, pair: Pair, candidates: PierceCandidates, nodes: NodeLabels,
           flows: Flows, rules: network.FlowRules):
    """Make a side of the cut its terminal, with about `number` vertices next to it.

    Return whether there are any.  Called by all lanes of a team.
    """
    join_terminal(is_source, pair, nodes, flows.networks)
    contract(is_source, pair, nodes, flows.networks, rules.arcs)
    count_candidates(is_source, pair, candidates, nodes, flows)
    before = kl.int64(0)
    last = kl.int64(0)
    while last < CLASSES - 1 and before + candidates.count[last] < number:
        before += candidates.count[last]
        last += 1
    there = kl.int64(candidates.count[last])
    best = kl.int64(-1)
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        if class_of(u, is_source, pair, nodes, flows) == last:
            best = max(best, key_of(u, flows.corridors, flows.level))
    best = kl.team_max(best)
    chance = kl.float64(number - before - 1) / kl.float64(max(kl.int64(1), there))
    terminal = kl.int64(network.SOURCE if is_source else network.SINK)
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        which = class_of(u, is_source, pair, nodes, flows)
        if which <= last:
            key = key_of(u, flows.corridors, flows.level)
            if which < last or key == best or is_drawn(key >> HALF, chance):
                flows.networks.state[u] |= terminal | network.FRESH
    kl.team_sync()
    rules.close(is_source, pair, flows.networks)
    contract(is_source, pair, nodes, flows.networks, rules.arcs)
    return before + there > 0


@kl.device
def join_terminal(is_source, pair: Pair, nodes: NodeLabels, networks: Networks):
    """Mark the nodes on the side of the source, or of the sink, as a part of the terminal."""
    terminal = kl.int64(network.SOURCE if is_source else network.SINK)
    for u in range(pair.base + kl.lane(), pair.top, kl.team_size()):
        label = nodes.label[u - pair.shift]
        if is_free(u, networks) and (label > FAR if is_source else label < FAR):
            networks.state[u] |= terminal | network.FRESH


@kl.device
def contract(is_source, pair: Pair, nodes: NodeLabels, networks: Networks,
             arcs: network.ArcRules):
    """Remove the nodes that have just joined a terminal from the network.

    Flow that their neighbours can still get from the source becomes excess of these; flow that they
    can still send to the sink becomes capacity to it.  Called by all lanes of a team.
    """
    kl.team_sync()
    for u in range(pair.base + kl.lane(), pair.top, kl.team_size()):
        if is_free(u, networks):
            end = arcs.last(u, pair, networks)
            for arc in range(arcs.first(u, pair, networks), end):
                if (networks.state[arcs.head(u, arc, pair, networks)] & network.FRESH) != 0:
                    remove_arc(u, arc, is_source, pair, networks, arcs)
    kl.team_sync()
    arrived = kl.int64(0)
    for u in range(pair.base + kl.lane(), pair.top, kl.team_size()):
        if (networks.state[u] & network.FRESH) != 0:
            arrived += kl.int64(networks.to_sink[u] if is_source else networks.excess[u])
            networks.to_sink[u] = 0
            networks.excess[u] = 0
            networks.state[u] &= network.OTHERS
    if arrived > 0:
        kl.team_atomic_add(nodes.flow, 0, arrived)
    kl.team_sync()
    return arrived


@kl.device
def remove_arc(u, arc, is_source, pair: Pair, networks: Networks, arcs: network.ArcRules):
    """Remove the arc from u to a node that has joined a terminal."""
    if is_source:
        networks.state[u] |= network.NEAR_SOURCE
        networks.excess[u] += arcs.backward(u, arc, pair, networks)
    else:
        networks.state[u] |= network.NEAR_SINK
        networks.to_sink[u] += arcs.forward(u, arc, pair, networks)


@kl.device
def count_candidates(is_source, pair: Pair, candidates: PierceCandidates, nodes: NodeLabels,
                     flows: Flows):
    """Count the candidates of each class.  Called by all lanes of a team."""
    for each in range(kl.lane(), CLASSES, kl.team_size()):
        candidates.count[each] = 0
    kl.team_sync()
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        which = class_of(u, is_source, pair, nodes, flows)
        if which < CLASSES:
            kl.team_atomic_add(candidates.count, which, 1)
    kl.team_sync()


@kl.device
def class_of(u, is_source, pair: Pair, nodes: NodeLabels, flows: Flows):
    """Return the class of u for piercing: 0 is best, `CLASSES` if u is not next to the terminal."""
    result = kl.int64(CLASSES)
    near = kl.int64(network.NEAR_SOURCE if is_source else network.NEAR_SINK)
    if is_free(u, flows.networks) and (flows.networks.state[u] & near) != 0:
        depth = min(kl.int64(flows.corridors.depth[u]), kl.int64(DEEPEST))
        if flows.corridors.part[flows.corridors.vertex[u]] != (
                pair.source if is_source else pair.sink):
            depth = -1 - depth
        label = nodes.label[u - pair.shift]
        opens = label < FAR if is_source else label > FAR
        result = kl.int64(HALF if opens else 0) + DEEPEST - depth
    return result


@kl.device
def key_of(u, corridors: Corridors, level: FlowLevel):
    """Return the key that orders candidates of a class: by a hash, then by the vertex."""
    v = kl.int64(corridors.vertex[u])
    return ((hash_of(v, level.seed) & 0x7FFFFFFF) << HALF) | v
