"""Contraction over several ranks: each adds up its rows, and owners of clusters add up these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from portpart.algorithms.coarsening.contraction import Clusters, rows_of_clusters
from portpart.algorithms.coarsening.rank_numbers import RankClusters
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.distribution import LocalPart, put_together
from portpart.graphs.graph import Graph
from portpart.graphs.handles import number_own
from portpart.graphs.limits import MAX_INT32
from portpart.graphs.runs import distinct
from portpart.primitives.basic import gather
from portpart.primitives.bisection import lower_bound
from portpart.primitives.messages import Message, Part, Talk
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.select import positions_of


def contract_ranks(graph: DistributedGraph, clusters: RankClusters,
                   weight_type: np.dtype[Any]) -> Talk[DistributedGraph]:
    """Quotient of a graph: weights of parallel arcs add up, arcs inside a cluster vanish.

    The owner of a leader owns the cluster.

    Parameters
    ----------
    graph : DistributedGraph
    clusters : RankClusters
    weight_type : dtype
        Type of the coarse arc weights.

    Raises
    ------
    InputError
        If there are 2^31 clusters.
    """
    first, foreign = clusters.first, clusters.foreign
    if first[-1] > MAX_INT32:
        raise InputError(f"{first[-1]} clusters are too many; {MAX_INT32} are the most")
    space, local, rank = graph.space, graph.local, graph.comm.rank
    low, own = int(first[rank]), int(first[rank + 1] - first[rank])
    made = _rows(Graph(local.offsets, local.targets, local.weights, local.vertex_weights, space),
                 clusters.members, own + len(foreign), weight_type)
    mass_kind = np.dtype(
        np.int32 if graph.totals.total_vertex_weight <= MAX_INT32 else np.int64)
    received = yield Message(_shipped(space, made, low, own, clusters, mass_kind))
    rows, arcs = received.parts
    if len(rows.columns[0]):
        heads, _ = arcs.columns
        outside = heads[(heads < low) | (heads >= low + own)]
        foreign, known = _union(space, foreign, outside), foreign
        made = _merged(space, made, known, low, own, foreign, received.parts, weight_type)
    ends = int(space.to_host(made.offsets[own : own + 1])[0])
    part = LocalPart(made.offsets[: own + 1], made.targets[:ends], made.weights[:ends],
                     made.vertex_weights[:own], foreign)
    return (yield from put_together(graph.comm, space, first, part,
                                    graph.totals.total_vertex_weight))


class _Rows(NamedTuple):
    """Rows of clusters, as a graph has them."""

    offsets: Array
    targets: Array
    weights: Array
    vertex_weights: Array


def _rows(graph: Graph, members: Array, count: int, weight_type: np.dtype[Any]) -> _Rows:
    """The rows of so many clusters."""
    clusters = Clusters(count, members, graph.space.full(1, count, np.int64))
    return _Rows(*rows_of_clusters(graph, clusters, weight_type).arrays())


def _shipped(space: ExecutionSpace, made: _Rows, low: int, own: int, clusters: RankClusters,
             mass_kind: np.dtype[Any]) -> list[Part]:
    """The rows of clusters that other ranks own, and their arcs."""
    foreign, size, count = clusters.foreign, len(clusters.first) - 1, len(clusters.foreign)
    has_members, degrees = space.empty(count, np.int8), space.empty(count, np.int32)
    bounds, ends = space.empty(size + 1, np.int64), space.empty(size + 1, np.int64)
    first = space.asarray(clusters.first)
    space.parallel_for(count, measure_row, made.offsets, made.vertex_weights, own, has_members,
                       degrees)
    places = positions_of(space, has_members)
    names = gather(space, foreign, places)
    space.parallel_for(size + 1, find_border, foreign, count, first, made.offsets[own:], ends)
    space.parallel_for(size + 1, find_border, names, len(names), first, None, bounds)
    begin, end = (int(each) for each in space.to_host(ends)[[0, -1]])
    heads = space.empty(end - begin, np.int32)
    space.parallel_for(len(heads), name_head, made.targets[begin:end], low, own, foreign, heads)
    return [Part([names, gather(space, degrees, places),
                  gather(space, made.vertex_weights[own:], places)],
                 np.diff(space.to_host(bounds)), [np.int32, np.int32, mass_kind]),
            Part([heads, made.weights[begin:end]], np.diff(space.to_host(ends)))]


def _union(space: ExecutionSpace, known: Array, more: Array) -> Array:
    """Numbers of either array, ascending and each once."""
    both = space.empty(len(known) + len(more), np.int64)
    both[: len(known)] = known
    both[len(known) :] = more
    return distinct(space, both)


def _merged(space: ExecutionSpace, made: _Rows, known: Array, low: int, own: int, foreign: Array,
            parts: list[Part], weight_type: np.dtype[Any]) -> _Rows:
    """Own rows with those that have arrived added to them: a contraction once more.

    Its vertices are own clusters, foreign ones, which have no rows, and the rows that have arrived.
    """
    (names, degrees, masses), (heads, weights) = (part.columns for part in parts)
    local, ends = own + len(foreign), int(space.to_host(made.offsets[own : own + 1])[0])
    count, num_arcs = local + len(names), ends + len(heads)
    behind = offsets_from_counts(space, degrees)
    offsets = space.empty(count + 1, np.int64)
    targets, sums = space.empty(num_arcs, np.int32), space.empty(num_arcs, weight_type)
    all_masses, members = space.empty(count, np.int64), space.empty(count, np.int32)
    space.parallel_for(count + 1, begin_row, made.offsets, own, local, ends, behind, offsets)
    owners = space.empty(len(names), np.int32)
    space.parallel_for(len(names), number_own, names, low, owners)
    space.parallel_for(count, place_row, made.vertex_weights, own, local, masses, owners,
                       all_masses, members)
    space.parallel_for(ends, renumber_head, made.targets, own, known, foreign, len(foreign),
                       targets)
    space.parallel_for(len(heads), number_head, heads, low, own, foreign, len(foreign),
                       targets[ends:])
    sums[:ends] = made.weights[:ends]
    sums[ends:] = weights
    return _rows(Graph(offsets, targets, sums, all_masses, space), members, local, weight_type)


@kl.kernel
def measure_row(i, offsets, masses, own, has_members, degrees):
    """Length of the row of a foreign cluster, and whether there is anything to tell of it."""
    degree = kl.int64(offsets[own + i + 1]) - kl.int64(offsets[own + i])
    degrees[i] = kl.int32(degree)
    has_members[i] = kl.int8(degree > 0 or masses[own + i] != 0)


@kl.kernel
def find_border(rank, names, count, firsts, offsets, bounds):
    """bounds[rank] = the place of the rank's first cluster, or its offset if there are offsets."""
    place = lower_bound(names, 0, count, firsts[rank])
    bounds[rank] = kl.value_or(offsets, place, place)


@kl.kernel
def name_head(arc, targets, low, own, foreign, heads):
    """heads[arc] = the number among all clusters."""
    target = kl.int64(targets[arc])
    heads[arc] = kl.int32(low + target if target < own else foreign[target - own])


@kl.kernel
def begin_row(i, made, own, local, ends, behind, offsets):
    """offsets[i] of own rows, of empty ones, and of those that have arrived."""
    offset = kl.int64(ends)
    if i < own:
        offset = kl.int64(made[i])
    elif i > local:
        offset = ends + behind[i - local]
    offsets[i] = offset


@kl.kernel
def place_row(i, made, own, local, masses, owners, all_masses, members):
    """The weight of a row, and the cluster that it belongs to."""
    mass = kl.int64(0)
    cluster = kl.int64(i)
    if i < own:
        mass = kl.int64(made[i])
    elif i >= local:
        mass = kl.int64(masses[i - local])
        cluster = kl.int64(owners[i - local])
    all_masses[i] = mass
    members[i] = kl.int32(cluster)


@kl.kernel
def renumber_head(arc, given, own, known, foreign, num_foreign, targets):
    """A head by its place among more foreign clusters."""
    target = kl.int64(given[arc])
    if target >= own:
        target = own + lower_bound(foreign, 0, num_foreign, known[target - own])
    targets[arc] = kl.int32(target)


@kl.kernel
def number_head(arc, heads, low, own, foreign, num_foreign, targets):
    """A head that has arrived by the number that this rank gives it."""
    target = kl.int64(heads[arc]) - low
    if target < 0 or target >= own:
        target = own + lower_bound(foreign, 0, num_foreign, kl.int64(heads[arc]))
    targets[arc] = kl.int32(target)
