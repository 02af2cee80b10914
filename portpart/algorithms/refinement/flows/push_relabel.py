"""Maximum preflows by pushing and relabelling, all active nodes of a round at once.

Goldberg, Tarjan (1988); in rounds after Baumstark, Blelloch, Shun (2015).  In a round each active
node pushes excess over arcs to nodes with a label that is one lower; nodes with excess left then
get new labels.  After some rounds a search from the sink finds exact labels.  The preflow is a
maximum one if a search finds no path from excess to the sink.

A preflow depends on the order of threads.  Two sets of vertices do not, as they are the same for
all maximum preflows: vertices with a path to the sink in the residual network, and vertices with a
path from stuck excess (they define the largest and the smallest source side of minimum cuts).
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows.network import SINK, SOURCE, ArcRules
from portpart.algorithms.refinement.flows.state import (
    ACTIVATED,
    FOUND,
    QUEUE,
    REACHED,
    STAYED,
    Networks,
    NodeLabels,
    Pair,
)
from portpart.backends import language as kl

FAR = 2**30
"""The label of a node without a path to the sink."""

STUCK, OUT = FAR + 1, FAR + 2
"""The labels of a node that stuck excess reaches, and of one that belongs to a terminal."""

MIN_ROUNDS = 8
"""Minimum number of rounds between two searches; otherwise the depth of the last search."""


@kl.device
def is_free(u, networks: Networks):
    """Whether u belongs to no terminal."""
    return (networks.state[u] & (SOURCE | SINK)) == 0


@kl.device
def subgroup():
    """Return the number of the lane's subgroup, which works on the arcs of a node."""
    return kl.lane() // kl.subgroup_size()


@kl.device
def subgroups():
    """Return the number of subgroups of the team."""
    return kl.team_size() // kl.subgroup_size()


@kl.device
def own_lane():
    """Return the number of the lane in its subgroup."""
    return kl.lane() % kl.subgroup_size()


@kl.device
def maximise(most, pair: Pair, counts, nodes: NodeLabels, networks: Networks, arcs: ArcRules):
    """Make the preflow a maximum one, unless it reaches `most`.  Return the flow into the sink.

    Unless the flow reaches `most`, labels are exact at the end.  Called by all lanes of a team.
    """
    depth = search(pair, counts, nodes, networks, arcs)
    active = list_active(pair, counts, nodes, networks)
    flow = nodes.flow[0] + 0
    while active > 0 and flow < most:
        flow = go_rounds(active, max(depth, kl.int64(MIN_ROUNDS)), most, pair, counts, nodes,
                         networks, arcs)
        if flow < most:
            depth = search(pair, counts, nodes, networks, arcs)
            active = list_active(pair, counts, nodes, networks)
    kl.team_sync()
    return flow


# Searches --------------------------------------------------------------------------------------


@kl.device
def search(pair: Pair, counts, nodes: NodeLabels, networks: Networks, arcs: ArcRules):
    """Label each node with its distance to the sink, and return the depth of the search.

    Called by all lanes of a team.
    """
    begin_queue(counts)
    for u in range(pair.base + kl.lane(), pair.top, kl.team_size()):
        label = kl.int64(OUT)
        if is_free(u, networks):
            label = kl.int64(1 if networks.to_sink[u] > 0 else FAR)
        nodes.label[u - pair.shift] = kl.int32(label)
        if label == 1:
            place = kl.team_atomic_add(counts, QUEUE, 1)
            networks.search_list[pair.base + place] = kl.int32(u)
    kl.team_sync()
    return search_on(True, pair, counts, nodes, networks, arcs)


@kl.device
def reach(pair: Pair, counts, nodes: NodeLabels, networks: Networks, arcs: ArcRules):
    """Label the nodes that stuck excess reaches; the preflow is a maximum one.

    Called by all lanes of a team.
    """
    begin_queue(counts)
    for u in range(pair.base + kl.lane(), pair.top, kl.team_size()):
        if is_free(u, networks) and networks.excess[u] > 0:
            nodes.label[u - pair.shift] = kl.int32(STUCK)
            place = kl.team_atomic_add(counts, QUEUE, 1)
            networks.search_list[pair.base + place] = kl.int32(u)
    kl.team_sync()
    return search_on(False, pair, counts, nodes, networks, arcs)


@kl.device
def begin_queue(counts):
    """Reset the counts of a search.  Called by all lanes of a team."""
    if kl.lane() == 0:
        counts[QUEUE] = 0
        counts[QUEUE + 1] = 0
        counts[QUEUE + 2] = 0
    kl.team_sync()


@kl.device
def search_on(backwards, pair: Pair, counts, nodes: NodeLabels, networks: Networks, arcs: ArcRules):
    """Continue a search from the search list over residual arcs.

    It goes backwards from the sink or forwards from stuck excess.  Three words count layers in
    turn; a lane clears the next one.  Return one more than the number of layers.  Called by all
    lanes of a team.
    """
    first = kl.int64(pair.base)
    last = first + counts[QUEUE]
    depth = kl.int64(1)
    while first < last:
        queue = QUEUE + depth % 3
        if kl.lane() == 0:
            counts[QUEUE + (depth + 1) % 3] = 0
        label = depth + 1 if backwards else kl.int64(STUCK)
        for i in range(first + subgroup(), last, subgroups()):
            u = networks.search_list[i]
            end = arcs.last(u, pair, networks)
            for arc in range(arcs.first(u, pair, networks) + own_lane(), end, kl.subgroup_size()):
                t = arcs.head(u, arc, pair, networks) - pair.shift
                residual = kl.int64(0)
                # several lanes do not wait for the label before they load the rest
                if kl.team_size() > 1 or kl.atomic_load(nodes.label, t) == FAR:
                    if backwards:
                        residual = arcs.backward(u, arc, pair, networks)
                    else:
                        residual = arcs.forward(u, arc, pair, networks)
                if residual > 0 and kl.atomic_load(nodes.label, t) == FAR:
                    before = kl.team_atomic_cas(nodes.label, t, kl.int32(FAR), kl.int32(label))
                    if before == FAR:
                        place = last + kl.team_atomic_add(counts, queue, 1)
                        networks.search_list[place] = kl.int32(t + pair.shift)
        kl.team_sync()
        first = last
        last += counts[queue]
        depth += 1
    kl.team_sync()
    return depth


# Rounds ----------------------------------------------------------------------------------------


@kl.device
def list_active(pair: Pair, counts, nodes: NodeLabels, networks: Networks):
    """Put the nodes with excess and a path to the sink on the even list, and return their number.

    Called by all lanes of a team.
    """
    if kl.lane() == 0:
        counts[FOUND] = 0
    kl.team_sync()
    for u in range(pair.base + kl.lane(), pair.top, kl.team_size()):
        if networks.excess[u] > 0 and nodes.label[u - pair.shift] < FAR:
            place = kl.team_atomic_add(counts, FOUND, 1)
            networks.even_list[pair.base + place] = kl.int32(u)
    kl.team_sync()
    active = counts[FOUND] + 0
    kl.team_sync()
    return active


@kl.device
def go_rounds(active, limit, most, pair: Pair, counts, nodes: NodeLabels, networks: Networks,
              arcs: ArcRules):
    """Push and relabel for some rounds, or until no node is active.

    Return the flow into the sink.

    Lists and counts of even and of odd rounds alternate.  Called by all lanes of a team.
    """
    if kl.lane() == 0:
        clear_counts(kl.int64(0), counts)
    kl.team_sync()
    flow = kl.int64(0)
    rounds = kl.int64(0)
    going = active + 0
    while going > 0 and flow < most and rounds < limit:
        turn = rounds & 1
        arrived = kl.int64(0)
        for i in range(pair.base + subgroup(), pair.base + going, subgroups()):
            arrived += push(listed(i, turn, networks), turn, pair, counts, nodes, networks, arcs)
        if arrived > 0:
            kl.team_atomic_add(nodes.flow, 0, arrived)
        kl.team_sync()
        flow = nodes.flow[0] + 0
        stayed = counts[STAYED + turn]
        reached = counts[REACHED + turn]
        if kl.lane() == 0:
            clear_counts(1 - turn, counts)
        for i in range(pair.base + subgroup(), pair.base + stayed, subgroups()):
            relabel(listed(i, 1 - turn, networks), pair, nodes, networks, arcs)
        for i in range(pair.base + kl.lane(), pair.base + reached, kl.team_size()):
            u = networks.search_list[i]
            add_incoming(u, turn, pair.base + stayed, pair, counts, nodes, networks)
        kl.team_sync()
        going = stayed + counts[ACTIVATED + turn]
        rounds += 1
    kl.team_sync()
    return flow


@kl.device
def clear_counts(turn, counts):
    """Reset the counts of even or odd rounds."""
    counts[STAYED + turn] = 0
    counts[REACHED + turn] = 0
    counts[ACTIVATED + turn] = 0


@kl.device
def listed(i, turn, networks: Networks):
    """Return node i on the list of even or odd rounds."""
    return kl.int64(networks.even_list[i] if turn == 0 else networks.odd_list[i])


@kl.device
def put_on_list(i, u, turn, networks: Networks):
    """Put u on the list of even or odd rounds."""
    if turn == 0:
        networks.even_list[i] = kl.int32(u)
    else:
        networks.odd_list[i] = kl.int32(u)


@kl.device
def push(u, turn, pair: Pair, counts, nodes: NodeLabels, networks: Networks, arcs: ArcRules):
    """Push the excess of u to lower labels, and return what arrives at the sink, on one lane.

    The first arcs get what they can take.  Called by all lanes of a subgroup.
    """
    label = kl.int64(nodes.label[u - pair.shift])
    excess = kl.int64(networks.excess[u])
    arrived = kl.int64(0)
    if label == 1:
        arrived = min(excess, kl.int64(networks.to_sink[u]))
    excess = kl.subgroup_last(excess - arrived)  # all lanes have read before one of them writes
    begin = arcs.first(u, pair, networks)
    end = arcs.last(u, pair, networks) if label < FAR else kl.int64(0)
    while begin < end and excess > 0:
        arc = begin + own_lane()
        room = kl.int64(0)
        if arc < end:
            t = arcs.head(u, arc, pair, networks)
            if nodes.label[t - pair.shift] == label - 1:
                room = min(excess, arcs.forward(u, arc, pair, networks))
        taken = kl.subgroup_scan(room)
        amount = min(room, excess - taken + room)
        if amount > 0:
            arcs.send(u, arc, amount, pair, networks)
            t = arcs.head(u, arc, pair, networks)
            add_inflow(t, amount, turn, pair, counts, nodes, networks)
        excess -= min(excess, kl.subgroup_last(taken))
        begin += kl.subgroup_size()
    if own_lane() > 0:
        arrived = kl.int64(0)
    else:
        networks.to_sink[u] -= arrived
        networks.excess[u] = excess
        if excess > 0 and label < FAR:
            place = kl.team_atomic_add(counts, STAYED + turn, 1)
            put_on_list(pair.base + place, u, 1 - turn, networks)
    return arrived


@kl.device
def add_inflow(t, amount, turn, pair: Pair, counts, nodes: NodeLabels, networks: Networks):
    """Add to the inflow of t, which is listed once in a round."""
    if kl.team_atomic_add(nodes.incoming, t - pair.shift, amount) == 0:
        place = kl.team_atomic_add(counts, REACHED + turn, 1)
        networks.search_list[pair.base + place] = kl.int32(t)


@kl.device
def relabel(u, pair: Pair, nodes: NodeLabels, networks: Networks, arcs: ArcRules):
    """Raise the label of u to one above the lowest label that it can push to.

    Other lanes may raise that label at the same time but never lower it, so any value read is
    valid.  Called by all lanes of a subgroup.
    """
    label = kl.int64(1 if networks.to_sink[u] > 0 else FAR)
    end = arcs.last(u, pair, networks)
    for arc in range(arcs.first(u, pair, networks) + own_lane(), end, kl.subgroup_size()):
        residual = arcs.forward(u, arc, pair, networks)
        # several lanes do not wait for the flow before they load the rest
        if kl.team_size() > 1 or residual > 0:
            other = arcs.head(u, arc, pair, networks) - pair.shift
            there = kl.int64(kl.atomic_load(nodes.label, other)) + 1
            label = min(label, there if residual > 0 else kl.int64(FAR))
    label = kl.subgroup_min(label)
    if own_lane() == 0:
        kl.atomic_max(nodes.label, u - pair.shift, kl.int32(label))


@kl.device
def add_incoming(u, turn, end, pair: Pair, counts, nodes: NodeLabels, networks: Networks):
    """Add the inflow of u to its excess; if it had none, it is active in the next round."""
    if networks.excess[u] == 0:
        place = kl.team_atomic_add(counts, ACTIVATED + turn, 1)
        put_on_list(end + place, u, 1 - turn, networks)
    networks.excess[u] += nodes.incoming[u - pair.shift]
    nodes.incoming[u - pair.shift] = 0
