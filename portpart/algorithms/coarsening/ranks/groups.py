"""Groups of what clustering leaves single, over several ranks: `two_hop_clusters`.

Vertices go to the owner of their preferred cluster, which knows all that have it, deals them into
groups and sends each the leader of its group.  Isolated vertices go to the owner of the first
vertex.
"""

from __future__ import annotations

import numpy as np

from portpart import primitives
from portpart.algorithms.coarsening import (
    ISOLATED_KEYS,
    ClusterRounds,
    VertexList,
    group_among,
    groups_for,
    is_granted_in_group,
    isolated_key,
)
from portpart.algorithms.coarsening.ranks.state import State
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import MAX_INT32, Csr, distinct, global_id

LARGEST = 2**63 - 1


class Leftovers(kl.Record):
    """Vertices that are left over; sizes are their number.

    Attributes
    ----------
    keys : array of int64
        The preferred cluster of each, by its name, or a key behind all names.
    ids, weights : array of int64
        Their global ids and weights.
    names : array of int64
        Their names; the same array where these are the global ids.
    labels : array of int32, or None
    """

    keys: Array = kl.work(np.int64, int)
    ids: Array = kl.work(np.int64, int)
    weights: Array = kl.work(np.int64, int)
    names: Array = kl.work(np.int64, int)
    labels: Array = kl.absent()


class Dealt(kl.Record):
    """Sums over preferred clusters or groups, which are numbered; sizes are their number.

    Attributes
    ----------
    keys : array of int64
        Ascending.
    counts, weights, granted : array of int64
        Vertices, their weight, and that of granted ones.
    leaders : array of int64
        The smallest global id.
    names : array of int64, or None
        The name of the vertex that has it, where that is another.
    labels : array of int32, or None
        Of the leaders.
    """

    keys: Array
    counts: Array = kl.work(np.int64, int, zeros=True)
    weights: Array = kl.work(np.int64, int, zeros=True)
    granted: Array = kl.work(np.int64, int, zeros=True)
    leaders: Array = kl.work(np.int64, int)
    names: Array = kl.absent()
    labels: Array = kl.absent()

    length: int = kl.word()


def group_leftovers(state: State) -> primitives.Talk[None]:
    """Group listed vertices that propose the same cluster; ghosts are not updated."""
    space, graph, listed = state.space, state.graph, state.listed
    n, (count, _) = graph.totals.num_vertices, state.num_listed()
    rows, owner_vertices = _leftovers(space, count, graph.are_moved), space.empty(count, np.int64)
    space.parallel_for(count, write_leftover, listed, state.csr, state.handles.names, state.rounds,
                       rows, n)
    space.parallel_for(count, find_owner_vertex, rows, n, owner_vertices)
    order, counts = primitives.grouped(space, graph.owners, graph.comm.size, owner_vertices)
    kind = np.int32 if n + ISOLATED_KEYS <= MAX_INT32 else np.int64
    parts = [primitives.Part([primitives.gather(space, each, order) for each in _columns(rows)],
                             counts, [kind, kind, state.weight_kind, kind][: 3 + graph.are_moved])]
    if state.rounds.label is not None:  # isolated vertices of several labels share a key
        labels = primitives.gather(space, state.rounds.label, listed.active[:count])
        parts.append(primitives.Part([primitives.gather(space, labels, order)], counts))
    received = yield primitives.Message(parts)
    there = received.parts[0]
    keys, ids, weights, *names = there.columns
    rows = Leftovers(keys, ids, weights, *(names or [ids]),
                     *(part.columns[0] for part in received.parts[1:]))
    answers = _leaders(space, rows, state.rounds)
    received = yield primitives.Message([primitives.Part(answers, there.counts,
                                                         [kind] * len(answers))])
    answers = list(received.parts[0].columns)
    grouped_here = primitives.positions_of(space, answers[0] != primitives.NO_VERTEX)
    handles = state.handles.of(*(primitives.gather(space, each, grouped_here) for each in answers))
    space.parallel_for(len(handles), take_leader, listed,
                       primitives.gather(space, order, grouped_here), handles, state.rounds)


def _leftovers(space: ExecutionSpace, count: int, are_moved: bool) -> Leftovers:
    """Room for this many vertices."""
    if are_moved:
        return Leftovers.allocate(space, count)
    ids = space.empty(count, np.int64)
    return Leftovers.allocate(space, count, ids=ids, names=ids)


def _columns(rows: Leftovers) -> list[Array]:
    """What travels of vertices."""
    columns = [rows.keys, rows.ids, rows.weights]
    return columns if rows.names is rows.ids else [*columns, rows.names]


def _leaders(space: ExecutionSpace, rows: Leftovers, rounds: ClusterRounds) -> list[Array]:
    """The name of the leader of each vertex's group, and its global id where that is another.

    They are -1 for vertices that stay single.
    """
    count = len(rows.keys)
    preferred_clusters = _numbered(space, rows.keys)
    space.parallel_for(count, count_leftover, rows, preferred_clusters)
    groups, granted = space.empty(count, np.int64), space.empty(count, np.int8)
    space.parallel_for(count, deal, rows, preferred_clusters, rounds, groups)
    dealt = _numbered(space, groups)
    space.parallel_for(count, enter_dealt, rows, groups, dealt)
    if rows.labels is not None:
        dealt = dealt.replaced(labels=space.empty(len(dealt.keys), np.int32))
        space.parallel_for(count, label_dealt, rows, groups, dealt)
    space.parallel_for(count, grant_dealt, rows, groups, dealt, rounds, granted)
    names = space.empty(count, np.int64)
    if rows.names is rows.ids:
        space.parallel_for(count, answer_dealt, rows, groups, dealt, dealt.leaders, rounds, granted,
                           names)
        return [names]
    ids = space.empty(count, np.int64)
    dealt = dealt.replaced(names=space.empty(len(dealt.keys), np.int64))
    space.parallel_for(count, name_leader, rows, groups, dealt)
    for leaders, answers in ((dealt.names, names), (dealt.leaders, ids)):
        space.parallel_for(count, answer_dealt, rows, groups, dealt, leaders, rounds, granted,
                           answers)
    return [names, ids]


def _numbered(space: ExecutionSpace, keys: Array) -> Dealt:
    """Distinct keys, with sums of nothing."""
    keys = distinct(space, keys)
    made = Dealt.allocate(space, len(keys), keys=keys,
                          leaders=space.full(len(keys), LARGEST, np.int64))
    return made.over(Dealt.own_words(space.full(1, len(keys), np.int64)))


@kl.kernel
def write_leftover(i, listed: VertexList, graph: Csr, names, rounds: ClusterRounds, rows: Leftovers,
                   num_vertices):
    """The preferred cluster, the id, the name and the weight of a vertex.

    Isolated vertices of a label share a key.
    """
    v = listed.active[i]
    key = kl.int64(rounds.proposal[v])
    if key != primitives.NO_VERTEX:
        key = kl.int64(names[key])
    else:
        key = num_vertices + isolated_key(v, rounds)
    rows.keys[i] = key
    rows.names[i] = names[v]
    rows.ids[i] = global_id(v, graph)
    rows.weights[i] = kl.value_or(graph.vertex_weights, v, 1)


@kl.kernel
def find_owner_vertex(i, rows: Leftovers, num_vertices, owner_vertices):
    """owner_vertices[i] = the preferred cluster of vertex i, or the first vertex."""
    key = rows.keys[i]
    owner_vertices[i] = key if key < num_vertices else kl.int64(0)


@kl.device
def place_in(key, dealt: Dealt):
    """The number of a key."""
    return primitives.lower_bound(dealt.keys, 0, dealt.length, key)


@kl.kernel
def count_leftover(i, rows: Leftovers, preferred_clusters: Dealt):
    """Count a vertex for its preferred cluster; atomic, independent of order."""
    place = place_in(rows.keys[i], preferred_clusters)
    kl.atomic_add(preferred_clusters.counts, place, 1)
    kl.atomic_add(preferred_clusters.weights, place, rows.weights[i])


@kl.kernel
def deal(i, rows: Leftovers, preferred_clusters: Dealt, rounds: ClusterRounds, groups):
    """groups[i] = the group, of its preferred cluster, that a vertex is dealt into by a hash."""
    place = place_in(rows.keys[i], preferred_clusters)
    count = groups_for(preferred_clusters.counts[place], preferred_clusters.weights[place],
                       rounds.max_weight)
    groups[i] = (place << 32) + group_among(rows.ids[i], count, rounds.seed)


@kl.kernel
def enter_dealt(i, rows: Leftovers, groups, dealt: Dealt):
    """The smallest vertex leads a group; atomic, independent of order."""
    place = place_in(groups[i], dealt)
    kl.atomic_min(dealt.leaders, place, rows.ids[i])
    kl.atomic_add(dealt.weights, place, rows.weights[i])


@kl.kernel
def label_dealt(i, rows: Leftovers, groups, dealt: Dealt):
    """The label of a group's leader."""
    place = place_in(groups[i], dealt)
    if dealt.leaders[place] == rows.ids[i]:
        dealt.labels[place] = rows.labels[i]


@kl.kernel
def grant_dealt(i, rows: Leftovers, groups, dealt: Dealt, rounds: ClusterRounds, granted):
    """Choose the leader of a group, and of the others about as many as fit; atomic, independent of
    order.
    """
    place = place_in(groups[i], dealt)
    leads = dealt.leaders[place] == rows.ids[i]
    takes = is_granted_in_group(rows.ids[i], dealt.weights[place], leads, rounds)
    granted[i] = kl.int8(takes)
    if takes:
        kl.atomic_add(dealt.granted, place, rows.weights[i])


@kl.kernel
def name_leader(i, rows: Leftovers, groups, dealt: Dealt):
    """The leader of a group enters its name."""
    place = place_in(groups[i], dealt)
    if dealt.leaders[place] == rows.ids[i]:
        dealt.names[place] = rows.names[i]


@kl.kernel
def answer_dealt(i, rows: Leftovers, groups, dealt: Dealt, leaders, rounds: ClusterRounds, granted,
                 answers):
    """answers[i] = the leader of the group if all that are chosen fit and this one is, else -1.

    A leader of another label is none.
    """
    place = place_in(groups[i], dealt)
    answer = kl.int64(primitives.NO_VERTEX)
    same = kl.value_or(rows.labels, i, 0) == kl.value_or(dealt.labels, place, 0)
    if same and granted[i] != 0 and dealt.granted[place] <= rounds.max_weight:
        answer = leaders[place]
    answers[i] = answer


@kl.kernel
def take_leader(i, listed: VertexList, places, handles, rounds: ClusterRounds):
    """Put a vertex into the cluster of its group's leader."""
    rounds.cluster[listed.active[places[i]]] = handles[i]
