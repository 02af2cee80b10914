"""Two-hop groups of vertices that are still single, over several ranks: `two_hop_clusters`.

Vertices are sent to the owner of their preferred cluster.  It receives all vertices that prefer the
cluster, groups them as one device does, and returns the leader of each vertex's group.  Isolated
vertices are sent to the owner of the first vertex.
"""

from __future__ import annotations

import numpy as np

from portpart import primitives
from portpart.algorithms import coarsening
from portpart.algorithms.coarsening.ranks.state import State
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import MAX_INT32, Csr, distinct, global_id


class SingleVertices(kl.Record):
    """Vertices that are still single; the size is their number.

    Attributes
    ----------
    keys : array of int64
        The name of each vertex's preferred cluster, or a key behind all names.
    ids, weights : array of int64
        Their global ids and weights.
    names : array of int64
        Their names; the array `ids` if names are the global ids.
    labels : array of int32, or None
    """

    keys: Array = kl.work(np.int64, int)
    ids: Array = kl.work(np.int64, int)
    weights: Array = kl.work(np.int64, int)
    names: Array = kl.work(np.int64, int)
    labels: Array = kl.absent()


def group_single(state: State) -> primitives.Talk[None]:
    """Group listed vertices that propose the same cluster; ghosts are not updated."""
    space, graph, listed = state.space, state.graph, state.listed
    n, (count, _) = graph.totals.num_vertices, state.num_listed()
    rows, owner_vertices = _allocated(space, count, graph.are_moved), space.empty(count, np.int64)
    space.parallel_for(count, write_single, listed, state.csr, state.handles.names, state.rounds,
                       rows, n)
    space.parallel_for(count, find_owner_vertex, rows, n, owner_vertices)
    order, counts = primitives.grouped(space, graph.owners.first, graph.comm.size, owner_vertices)
    kind = np.int32 if n + coarsening.ISOLATED_KEYS <= MAX_INT32 else np.int64
    parts = [primitives.Part(_columns(rows), counts,
                             [kind, kind, state.weight_kind, kind][: 3 + graph.are_moved], order)]
    if state.rounds.label is not None:  # isolated vertices of several labels share a key
        labels = primitives.gather(space, state.rounds.label, listed.active[:count])
        parts.append(primitives.Part([labels], counts, order=order))
    received = yield primitives.Message(parts)
    there = received.parts[0]
    keys, ids, weights, *names = there.columns
    rows = SingleVertices(keys, ids, weights, *(names or [ids]),
                          *(part.columns[0] for part in received.parts[1:]))
    replies = _leaders(space, rows, state.rounds)
    received = yield primitives.Message([primitives.Part(replies, there.counts,
                                                         [kind] * len(replies))])
    replies = list(received.parts[0].columns)
    grouped_here = primitives.positions_of(space, replies[0] != primitives.NO_VERTEX)
    state.reserve_handles(len(grouped_here))
    handles = state.handles.of(*(primitives.gather(space, each, grouped_here) for each in replies))
    space.parallel_for(len(handles), take_leader, listed,
                       primitives.gather(space, order, grouped_here), handles, state.rounds)


def _allocated(space: ExecutionSpace, count: int, are_moved: bool) -> SingleVertices:
    """Return arrays for this many vertices."""
    if are_moved:
        return SingleVertices.allocate(space, count)
    ids = space.empty(count, np.int64)
    return SingleVertices.allocate(space, count, ids=ids, names=ids)


def _columns(rows: SingleVertices) -> list[Array]:
    """Return the arrays of vertices that are sent."""
    columns = [rows.keys, rows.ids, rows.weights]
    return columns if rows.names is rows.ids else [*columns, rows.names]


def _leaders(space: ExecutionSpace, rows: SingleVertices,
             rounds: coarsening.ClusterRounds) -> list[Array]:
    """Return the name of the leader of each vertex's group, and its global id if that differs.

    They are -1 for vertices that stay single.  Vertices are grouped as on one device, in the order
    of their ids.
    """
    count, sizes = len(rows.keys), coarsening.FineSizes(len(rows.keys))
    ids, order = primitives.sort_keys(space, rows.ids) if count else (rows.ids, rows.ids)
    keys, weights = (primitives.gather(space, each, order) for each in (rows.keys, rows.weights))
    graph = Csr(None, None, None, None, weights, ids)
    listed = coarsening.VertexList(active=primitives.iota(space, count))
    here = coarsening.ClusterRounds.allocate(
        space, sizes, seed=rounds.seed, max_weight=rounds.max_weight,
        label=None if rows.labels is None else primitives.gather(space, rows.labels, order),
        cluster=space.full(count, primitives.NO_VERTEX, np.int32)).over(
        coarsening.ClusterRounds.own_words(space.zeros(3, np.int64)))
    groups = coarsening.TwoHopGroups.allocate(space, sizes).over(
        coarsening.TwoHopGroups.own_words(space.zeros(1, np.int64))).sharing(
        here, coarsening.VertexList.allocate(space, sizes))
    known = distinct(space, keys)
    space.parallel_for(count, number_key, keys, known, len(known), here)
    space.parallel_for(count, coarsening.clear_preferred, groups)
    space.parallel_for(count, coarsening.count_preferred, listed, graph, here, groups)
    space.parallel_for(count, coarsening.place_groups, listed, here, groups)
    space.parallel_for(count, coarsening.enter_group, listed, graph, here, groups)
    space.parallel_for(count, coarsening.grant_in_group, listed, graph, here, groups)
    space.parallel_for(count, coarsening.join_group, listed, here, groups)
    replies = []
    for values in [*_columns(rows)[3:], rows.ids]:
        replies.append(space.empty(count, np.int64))
        space.parallel_for(count, reply_leader, order, here.cluster, values, replies[-1])
    return replies


@kl.kernel
def write_single(i, listed: coarsening.VertexList, graph: Csr, names,
                 rounds: coarsening.ClusterRounds, rows: SingleVertices, num_vertices):
    """Store the preferred cluster, the id, the name and the weight of a vertex.

    Isolated vertices of a label share a key.
    """
    v = listed.active[i]
    key = kl.int64(rounds.proposal[v])
    if key != primitives.NO_VERTEX:
        key = kl.int64(names[key])
    else:
        key = num_vertices + coarsening.isolated_key(v, rounds)
    rows.keys[i] = key
    rows.names[i] = names[v]
    rows.ids[i] = global_id(v, graph)
    rows.weights[i] = kl.value_or(graph.vertex_weights, v, 1)


@kl.kernel
def find_owner_vertex(i, rows: SingleVertices, num_vertices, owner_vertices):
    """owner_vertices[i] = the preferred cluster of vertex i, or the first vertex."""
    key = rows.keys[i]
    owner_vertices[i] = key if key < num_vertices else kl.int64(0)


@kl.kernel
def number_key(i, keys, known, count, rounds: coarsening.ClusterRounds):
    """Make the number of its preferred cluster the proposal of vertex i."""
    rounds.proposal[i] = kl.int32(primitives.lower_bound(known, 0, count, keys[i]))


@kl.kernel
def reply_leader(i, order, cluster, values, replies):
    """Store the value of the i-th vertex's leader, or -1 if the vertex stays single."""
    value = kl.int64(primitives.NO_VERTEX)
    if cluster[i] != primitives.NO_VERTEX:
        value = kl.int64(values[order[cluster[i]]])
    replies[order[i]] = value


@kl.kernel
def take_leader(i, listed: coarsening.VertexList, places, handles,
                rounds: coarsening.ClusterRounds):
    """Put a vertex into the cluster of its group's leader."""
    rounds.cluster[listed.active[places[i]]] = handles[i]
