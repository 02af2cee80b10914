"""Rows of clusters, to which the rows of other ranks are added.

Changed rows and rows that have arrived are contracted once more, and replace the old rows.
Other rows are copied.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening import Clusters, rows_of_clusters
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Graph, distinct
from portpart.graphs.ranks import number_own
from portpart.primitives import (
    NameIndex,
    gather,
    name_index,
    offsets_from_counts,
    place_of,
    positions_of,
)

TEAM = 8

NO_OTHERS = 2**62
"""A number of own clusters that no head reaches, so that heads are only shifted."""


class ClusterRows(kl.Record):
    """Rows of clusters, as a graph has them."""

    offsets: Array
    targets: Array
    weights: Array
    vertex_weights: Array


class ArrivedRows(kl.Record):
    """Rows of own clusters that other ranks have made.

    Attributes
    ----------
    names : array of int32
        The number of each cluster among those of all ranks.
    degrees : array of int32
    vertex_weights : array of int64
    heads : array of int32
        Heads of the arcs of all rows: numbers among the clusters of all ranks.
    weights : array
        Weights of the arcs.
    """

    names: Array
    degrees: Array
    vertex_weights: Array
    heads: Array
    weights: Array


class HeadNumbers(kl.Record):
    """The numbers of heads on a rank: own clusters from 0 on, then foreign ones.

    Attributes
    ----------
    foreign : NameIndex
        The foreign clusters among heads.
    known : array of int32
        Places in `foreign` of the foreign clusters that existing rows have as heads.
    low, own : int
        The first own cluster, and the number of own clusters.
    shift : int
        Added to the numbers.
    """

    foreign: NameIndex
    known: Array
    low: int = kl.word()
    own: int = kl.word()
    shift: int = kl.word()


def rows_of(graph: Graph, members: Array, count: int, weight_type: np.dtype,
            num_heads: int | None = None) -> ClusterRows:
    """Return the rows of the first clusters; arcs may lead to more clusters than have rows."""
    counts = (None if each is None else graph.space.full(1, each, np.int64)
              for each in (count, num_heads))
    clusters = Clusters(count, members, *counts)
    return ClusterRows(*rows_of_clusters(graph, clusters, weight_type).arrays())


def merged(space: ExecutionSpace, made: ClusterRows, arrived: ArrivedRows, known: Array,
           low: int, own: int, end: int) -> tuple[ClusterRows, Array]:
    """Return the rows of own clusters, to which the arrived rows are added.

    Parameters
    ----------
    space : ExecutionSpace
    made : ClusterRows
        Rows of own clusters, then of foreign ones.
    arrived : ArrivedRows
    known : array of int64
        The foreign clusters among the heads of `made`, ascending.
    low, own, end : int
        The first own cluster, and the numbers of own clusters and of those of all ranks.

    Returns
    -------
    ClusterRows
    array of int64
        The foreign clusters among the heads, ascending.
    """
    foreign = _all_foreign(space, known, arrived.heads, low, own)
    leaders, marks = space.empty(len(arrived.names), np.int32), space.zeros(own, np.int8)
    space.parallel_for(len(leaders), number_own, arrived.names, low, leaders)
    space.parallel_for(len(leaders), mark_leader, leaders, marks)
    touched, places = positions_of(space, marks), offsets_from_counts(space, marks, np.int32)
    num_rows = len(touched) + len(leaders)
    index, known_places = name_index(space, foreign, end), space.empty(len(known), np.int32)
    space.parallel_for(len(known), find_place, known, index, known_places)
    words = np.array([low, own, num_rows])
    heads = HeadNumbers(index, known_places).over(HeadNumbers.own_words(space.asarray(words)))
    members = space.empty(num_rows + own + len(foreign), np.int32)
    space.parallel_for(len(members), place_row, touched, leaders, places, len(touched), num_rows,
                       members)
    changed = rows_of(_touched_rows(space, made, arrived, heads, touched), members,
                      len(touched), made.weights.dtype, len(touched) + own + len(foreign))
    degrees = space.empty(own, np.int32)
    space.parallel_for(own, measure_merged, made, changed, marks, places, degrees)
    offsets = offsets_from_counts(space, degrees)
    num_arcs = int(space.to_host(offsets[-1:])[0])
    result = ClusterRows(offsets, space.empty(num_arcs, np.int32),
                         space.empty(num_arcs, made.weights.dtype), space.empty(own, np.int64))
    kept = positions_of(space, marks == 0, own - len(touched))
    behind = np.array([0, NO_OTHERS, -len(touched)])
    for sources, rows_at, given, numbers in ((kept, kept, made, words * (1, 1, 0)),
                                             (None, touched, changed, behind)):
        heads = heads.over(HeadNumbers.own_words(space.asarray(numbers)))
        space.parallel_for(len(rows_at), copy_row, sources, rows_at, given, heads, result,
                           team=TEAM)
    return result, foreign


def _all_foreign(space: ExecutionSpace, known: Array, heads: Array, low: int, own: int) -> Array:
    """Return the foreign clusters that are known or among heads, ascending, each once."""
    more = outside_of(space, heads, low, low + own)
    both = space.empty(len(known) + len(more), np.int64)
    both[: len(known)] = known
    both[len(known) :] = more
    return distinct(space, both)


def _touched_rows(space: ExecutionSpace, made: ClusterRows, arrived: ArrivedRows,
                  heads: HeadNumbers, touched: Array) -> Graph:
    """Return the rows that change, then the arrived ones; numbers of heads begin behind these."""
    num_touched, num_rows = len(touched), len(touched) + len(arrived.names)
    degrees, masses = space.empty(num_rows, np.int32), space.empty(num_rows, np.int64)
    space.parallel_for(num_rows, measure_row, touched, num_touched, made, arrived, degrees, masses)
    offsets = offsets_from_counts(space, degrees)
    begin, end = (int(wait()[0]) for wait in [space.fetch(offsets[place : place + 1])
                                              for place in (num_touched, num_rows)])
    rows = ClusterRows(offsets, space.empty(end, np.int32),
                       space.empty(end, made.weights.dtype), masses)
    space.parallel_for(num_touched, copy_row, touched, None, made, heads, rows, team=TEAM)
    space.parallel_for(end - begin, copy_arrived, arrived, begin, heads, rows)
    return Graph(offsets, rows.targets, rows.weights, masses, space)


def outside_of(space: ExecutionSpace, values: Array, low: int, high: int) -> Array:
    """Return the values that are below `low`, or not below `high`."""
    outside = space.empty(len(values), np.int8)
    space.parallel_for(len(values), mark_outside, values, low, high, outside)
    return gather(space, values, positions_of(space, outside))


@kl.kernel
def mark_outside(i, values, low, high, outside):
    """outside[i] = whether a value is below `low`, or not below `high`."""
    outside[i] = kl.int8(values[i] < low or values[i] >= high)


@kl.kernel
def mark_leader(i, leaders, marks):
    """Mark a cluster whose row has arrived; all threads store the same value."""
    marks[leaders[i]] = kl.int8(1)


@kl.kernel
def find_place(i, names, index: NameIndex, places):
    """places[i] = the place of a name in the index."""
    places[i] = kl.int32(place_of(names[i], index))


@kl.kernel
def place_row(i, touched, leaders, places, num_touched, num_rows, members):
    """members[i] = the place of row i among the changed rows, or of a head behind these."""
    place = kl.int64(i)
    if i >= num_rows:
        place = num_touched + i - num_rows
    elif i >= num_touched:
        place = kl.int64(places[leaders[i - num_touched]])
    members[i] = kl.int32(place)


@kl.kernel
def measure_row(i, touched, num_touched, made: ClusterRows, arrived: ArrivedRows, degrees, masses):
    """Store the length and the vertex weight of a row that changes or has arrived."""
    if i < num_touched:
        c = kl.int64(touched[i])
        degrees[i] = kl.int32(made.offsets[c + 1] - made.offsets[c])
        masses[i] = made.vertex_weights[c]
    else:
        degrees[i] = arrived.degrees[i - num_touched]
        masses[i] = arrived.vertex_weights[i - num_touched]


@kl.device
def renumbered(target, heads: HeadNumbers):
    """Return the number of a head of existing rows, by its place among all foreign clusters."""
    number = kl.int64(target)
    if number >= heads.own:
        number = kl.int64(heads.own + heads.known[number - heads.own])
    return number + heads.shift


@kl.kernel
def copy_row(i, sources, places, given: ClusterRows, heads: HeadNumbers, result: ClusterRows):
    """Copy row i, or sources[i], to row i, or places[i], and renumber its heads."""
    source = kl.value_or(sources, i, i)
    place = kl.value_or(places, i, i)
    begin = kl.int64(given.offsets[source])
    first = kl.int64(result.offsets[place])
    for j in range(kl.lane(), result.offsets[place + 1] - first, kl.team_size()):
        result.targets[first + j] = kl.int32(renumbered(given.targets[begin + j], heads))
        result.weights[first + j] = given.weights[begin + j]
    if kl.lane() == 0:
        result.vertex_weights[place] = given.vertex_weights[source]


@kl.kernel
def copy_arrived(arc, arrived: ArrivedRows, begin, heads: HeadNumbers, rows: ClusterRows):
    """Copy an arc that has arrived, with the number that this rank gives its head."""
    number = kl.int64(arrived.heads[arc]) - heads.low
    if number < 0 or number >= heads.own:
        number = heads.own + place_of(arrived.heads[arc], heads.foreign)
    rows.targets[begin + arc] = kl.int32(number + heads.shift)
    rows.weights[begin + arc] = arrived.weights[arc]


@kl.kernel
def measure_merged(c, made: ClusterRows, changed: ClusterRows, marks, places, degrees):
    """degrees[c] = the length of the row of own cluster c."""
    if marks[c] != 0:
        place = places[c]
        degrees[c] = kl.int32(changed.offsets[place + 1] - changed.offsets[place])
    else:
        degrees[c] = kl.int32(made.offsets[c + 1] - made.offsets[c])
