"""Contraction: the quotient graph of a vertex map, one hash row per cluster (Jet, algorithm 3.1).

A row has room for every arc that leaves the cluster's vertices, so an insertion always finds a
slot.  One team fills the whole row of a cluster: on the CPU that needs no atomics at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.teams import team_for
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    atomic_add,
    int32,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_last,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.backends.program import Program
from portpart.graph import MAX_INT32_ARCS, Graph
from portpart.primitives.basic import copy_one
from portpart.primitives.hash_rows import EMPTY, claim_slot_in_team
from portpart.primitives.scan import record_scan, tiles_of


@dataclass(frozen=True)
class Clusters:
    """A map from vertices to clusters 0 ... count-1."""

    cluster: Array
    count: int


def clusters_of_matching(space: ExecutionSpace, mate: Array) -> Clusters:
    """Number the pairs and the single vertices in the order of their smaller vertex.

    Synchronises once, to read the number of clusters.
    """
    leader = space.empty(len(mate), np.int32)
    space.parallel_for(len(mate), lead_pair, mate, leader)
    return clusters_of_leaders(space, leader)


def clusters_of_leaders(space: ExecutionSpace, leader: Array) -> Clusters:
    """Number clusters in the order of their leaders.

    Synchronises once, to read the number of clusters.

    Parameters
    ----------
    leader : array of int32, shape (n,)
        A vertex of each vertex's cluster, the same for all of them; becomes the result.
    """
    n = len(leader)
    number = space.empty(n + 1, np.int32)
    bindings = {
        "leader": leader,
        "flags": space.empty(n, np.int8),
        "number": number,
        "sums": space.empty(tiles_of(n), np.int64),
        "sizes": space.asarray(np.array([n, tiles_of(n)], np.int64)),
    }
    space.cached_executable("clusters of leaders", _record_numbering).run(bindings, n)
    return Clusters(leader, int(space.to_host(number[-1:])[0]))


def contract(
    space: ExecutionSpace, graph: Graph, clusters: Clusters,
    weight_type: np.dtype[Any] | None = None,
) -> Graph:
    """Quotient of `graph`: weights of parallel arcs add up, arcs inside a cluster vanish.

    Synchronises once, to read the number of coarse arcs.

    Parameters
    ----------
    graph : Graph
    clusters : Clusters
    weight_type : dtype, optional
        Type of the coarse arc weights, if it is known; else `graph.weight_sum_dtype`.

    Returns
    -------
    Graph
        With arc weights (int32 while the total fits, else int64) and vertex weights; the order
        of the arcs in a row may differ from run to run on a GPU.
    """
    if weight_type is None:
        weight_type = graph.weight_sum_dtype
    bindings = _work_arrays(space, graph, clusters, weight_type)
    team = team_for(2 * graph.mean_degree)
    key = ("contraction", *graph.type_key, bindings["sums"].dtype.name, team)
    executable = space.cached_executable(key, lambda: _record_rows(graph, bindings, team))
    executable.run(bindings, max(graph.num_vertices, 1))
    offsets = bindings["coarse_offsets"]
    num_arcs = int(space.to_host(offsets[-1:])[0])
    if num_arcs <= MAX_INT32_ARCS:
        offsets = space.asarray(offsets, np.int32)
    targets = space.empty(num_arcs, np.int32)
    weights = space.empty(num_arcs, bindings["sums"].dtype)
    space.parallel_for(clusters.count, extract_row, bindings["row_begin"], bindings["keys"],
                       bindings["sums"], offsets, targets, weights, team=team)
    totals = {"vertex": graph.total_vertex_weight}
    return Graph(offsets, targets, weights, bindings["coarse_vertex_weights"], space, totals)


def _work_arrays(
    space: ExecutionSpace, graph: Graph, clusters: Clusters, weight_type: Any
) -> dict[str, Any]:
    count, index_type = clusters.count, graph.offsets.dtype
    sizes = np.array([graph.num_vertices, count, tiles_of(count)], np.int64)
    return {
        **graph.arrays,
        "cluster": clusters.cluster,
        "sizes": space.asarray(sizes),
        "tile_sums": space.empty(tiles_of(count), np.int64),
        "num_members": space.zeros(count, np.int32),
        "capacity": space.zeros(count, np.int64),
        "member_offsets": space.empty(count + 1, np.int32),
        "cursor": space.empty(count, np.int32),
        "members": space.empty(graph.num_vertices, np.int32),
        "row_begin": space.empty(count + 1, index_type),
        "keys": space.empty(graph.num_arcs, np.int32),
        "sums": space.empty(graph.num_arcs, weight_type),
        "degrees": space.empty(count, np.int32),
        "coarse_offsets": space.empty(count + 1, index_type),
        "coarse_vertex_weights": space.empty(count, np.int64),
    }


def _record_numbering() -> Program:
    program = Program("clusters of leaders")
    leader, flags = program.array("leader", np.int32), program.array("flags", np.int8)
    number = program.array("number", np.int32)
    sums, sizes = program.array("sums", np.int64), program.array("sizes", np.int64)
    program.parallel_for(sizes[0], flag_leader, leader, flags)
    record_scan(program, flags, number, sums, sizes[0], sizes[1])
    program.parallel_for(sizes[0], number_cluster, leader, number)
    return program


def _record_rows(graph: Graph, bindings: dict[str, Any], team: int) -> Program:
    """List the members of the clusters, fill a row for each, and find where coarse rows start."""
    program = Program("contraction")
    graph.declare(program)
    for name, array in bindings.items():
        if name not in program.slots:
            program.array(name, array.dtype)
    slot = program.slots
    sizes, sums = slot["sizes"], slot["tile_sums"]

    def scan(values: str, result: str) -> None:
        record_scan(program, slot[values], slot[result], sums, sizes[1], sizes[2])

    program.launch(sizes[0], count_member)
    scan("num_members", "member_offsets")
    program.parallel_for(sizes[1], copy_one, slot["member_offsets"], slot["cursor"])
    program.launch(sizes[0], place_member)
    scan("capacity", "row_begin")
    program.launch(sizes[1], fill_row, team=team)
    scan("degrees", "coarse_offsets")
    return program


@kernel
def lead_pair(v, mate, leader):
    """The smaller vertex of a pair, and a single vertex, lead."""
    leader[v] = int32(v) if mate[v] < 0 else min(int32(v), mate[v])


@kernel
def flag_leader(v, leader, flags):
    """flags[v] = v leads its cluster."""
    flags[v] = leader[v] == v


@kernel
def number_cluster(v, leader, number):
    """Replace v's leader by the number of its cluster."""
    leader[v] = number[leader[v]]


@kernel
def count_member(v, cluster, offsets, num_members, capacity):
    """Count v and its arcs for its cluster; atomic, order-free."""
    atomic_add(num_members, cluster[v], 1)
    atomic_add(capacity, cluster[v], int64(offsets[v + 1]) - int64(offsets[v]))


@kernel
def place_member(v, cluster, cursor, members):
    """Append v to the list of its cluster; atomic, the order within a list is free."""
    members[int64(atomic_add(cursor, cluster[v], 1))] = int32(v)


@kernel
def fill_row(c, member_offsets, members, offsets, targets, weights, vertex_weights, cluster,
             row_begin, keys, sums, degrees, coarse_vertex_weights):
    """Add the arcs of the vertices of cluster c to its row, and count the row's keys.

    Sums do not depend on the order of the lanes; positions in the row do.
    """
    begin = int64(row_begin[c])
    end = int64(row_begin[c + 1])
    for slot in range(begin + lane(), end, team_size()):
        keys[slot] = int32(EMPTY)
        sums[slot] = 0
    team_sync()
    degree = int64(0)
    weight = int64(0)
    for member in range(member_offsets[c], member_offsets[c + 1]):
        v = members[member]
        weight += value_or(vertex_weights, v, 1)
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            other = cluster[targets[arc]]
            if other != c:
                slot = claim_slot_in_team(keys, begin, end, other)
                if slot < 0:
                    slot = -1 - slot
                    degree += 1
                team_atomic_add(sums, slot, value_or(weights, arc, 1))
    degree = team_sum(degree)
    if lane() == 0:
        degrees[c] = degree
        coarse_vertex_weights[c] = weight


@kernel
def extract_row(c, row_begin, keys, sums, offsets, targets, weights):
    """Copy the keys and sums of row c to the arcs of coarse vertex c."""
    end = int64(row_begin[c + 1])
    base = int64(row_begin[c])
    place = int64(offsets[c])
    while base < end:
        slot = base + lane()
        full = int64(0)
        if slot < end:
            if keys[slot] != EMPTY:
                full = int64(1)
        position = team_scan(full)
        if full != 0:
            targets[place + position - 1] = keys[slot]
            weights[place + position - 1] = sums[slot]
        place += team_last(position)
        base += team_size()
