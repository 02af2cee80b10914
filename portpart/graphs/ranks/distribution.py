"""Combines the rows of several ranks to one graph: checks borders, finds ghosts, adds totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.communication import Communicator
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs import (
    MAX_INT32,
    MAX_INT32_ARCS,
    MAX_TOTAL_WEIGHT,
    Graph,
    GraphTotals,
    Rows,
    id_dtype,
    inspected,
)
from portpart.graphs.ranks.ghosts import values_for_ghosts, with_ghost_values
from portpart.graphs.ranks.halo import LocalRows, halo_of, local_rows
from portpart.graphs.ranks.rank_rows import DistributedGraph

__all__ = ["DistributedGraph", "distributed"]

HALF = 32
"""Totals are added in halves of this many bits, which cannot overflow."""

def distributed(comm: Communicator, rows: Rows) -> DistributedGraph:
    """Return the graph of which each rank has the rows of a range of vertices.

    All ranks call it.  Ranks may have no vertices.

    Parameters
    ----------
    comm : Communicator
    rows : Rows
        Rows of this rank.  Ranges are consecutive in the order of the ranks.

    Returns
    -------
    DistributedGraph

    Raises
    ------
    InputError
        On all ranks, if ranges leave a gap, arrays do not fit, or an arc has none in the opposite
        direction.
    OutOfMemory
        On all ranks, if one of them has too little memory.
    """
    return primitives.held(comm, rows.space, _distributed(comm, rows))


def _distributed(comm: Communicator, rows: Rows) -> primitives.Talk[DistributedGraph]:
    _check_arrays(rows)
    space = rows.space
    mine = [len(rows.offsets) - 1, rows.first, rows.num_vertices,
            0 if rows.weights is None else rows.weights.dtype.itemsize,
            rows.vertex_weights is not None]
    received = yield primitives.Message([rows_for_ranks(space, np.tile(mine, (comm.size, 1)))])
    first, wide = _agreed(comm, rows_from_ranks(space, received.parts[0]))
    found = local_rows(rows, primitives.Owners(first=space.asarray(first)), comm.size)
    graph, sums = _local_graph(rows, found, wide)
    names = _all_names(space, int(first[comm.rank]), graph.num_vertices, found.ghost_names)
    masses = graph.vertex_weights
    ghosts = np.diff(space.to_host(found.halo.ghost_first))
    received = yield primitives.Message([
        values_for_ghosts(space, found.halo, [names] if masses is None else [names, masses]),
        rows_for_ranks(space, np.column_stack([ghosts, np.tile(sums, (comm.size, 1))]))])
    values, reported = received.parts[0], rows_from_ranks(space, received.parts[1])
    _check_lengths(found, reported[:, 0])
    totals = _totals(rows.num_vertices, reported[:, 1:])
    if (values.counts == ghosts).all():  # else another rank raises
        _check_names(comm.rank, space, found.ghost_names, values.columns[0])
        if masses is not None:
            masses[graph.num_vertices :] = values.columns[1]
    return DistributedGraph(comm, first, replace(graph, totals=totals, global_ids=names),
                            found.ghost_names, found.halo)


def rows_for_ranks(space: ExecutionSpace, numbers: np.ndarray) -> primitives.Part:
    """Return the message with a row of numbers for each rank."""
    return primitives.Part([space.asarray(np.ascontiguousarray(numbers, np.int64).reshape(-1))],
                           np.full(len(numbers), numbers.shape[1]))


def rows_from_ranks(space: ExecutionSpace, part: primitives.Part) -> np.ndarray:
    """Return the row of numbers from each rank."""
    return space.to_host(part.columns[0]).reshape(len(part.counts), -1)


def _check_arrays(rows: Rows) -> None:
    """Raise if arrays are not rows."""
    for name in ("offsets", "targets", "weights", "vertex_weights"):
        array = getattr(rows, name)
        if array is not None and (array.ndim != 1 or array.dtype not in (np.int32, np.int64)):
            raise InputError(f"{name} are of type {array.dtype} with {array.ndim} dimensions; one "
                             "dimension of int32 or int64 is needed")
    own, arcs = len(rows.offsets) - 1, len(rows.targets)
    falling, *ends = inspected(rows.space, rows.offsets)[2:] if own >= 0 else [own]
    if ends != [0, arcs]:
        raise InputError(f"offsets begin and end with {ends}; 0 and {arcs}, the number of arcs, "
                         "are needed")
    if falling < own:
        raise InputError("offsets descend")
    for name, length in (("weights", arcs), ("vertex_weights", own)):
        array = getattr(rows, name)
        if array is not None and len(array) != length:
            raise InputError(f"there are {len(array)} {name.replace('_', ' ')}; {length} are "
                             "needed")


def _agreed(comm: Communicator, reported: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the borders of all ranges, and whether weights are wide."""
    counts, firsts, totals, sizes, heavy = reported.T
    first, rank = np.concatenate([[0], np.cumsum(counts)]), comm.rank
    if firsts[rank] != first[rank]:
        raise InputError(f"rows begin with vertex {firsts[rank]}, and the ranks before have "
                         f"rows up to vertex {first[rank]}")
    if totals[rank] != first[-1]:
        raise InputError(f"rows are of a graph of {totals[rank]} vertices, and all ranks have "
                         f"{first[-1]} rows")
    for name, given in (("edge", sizes > 0), ("vertex", heavy > 0)):
        if given[rank] != given[0]:
            here, there = ("some", "none") if given[rank] else ("no", "some")
            raise InputError(f"there are {here} {name} weights, and {there} on rank 0")
    return first, bool((sizes == np.dtype(np.int64).itemsize).any())


def _check_lengths(found: LocalRows, elsewhere: np.ndarray) -> None:
    """Raise if another rank has another number of this rank's vertices as ghosts than expected."""
    for rank in np.flatnonzero(elsewhere != found.listed):
        raise InputError(f"{found.listed[rank]} vertices have arcs to rank {rank}, which has "
                         f"arcs to {elsewhere[rank]}: rows are not symmetric")


def _local_graph(rows: Rows, found: LocalRows, wide: bool) -> tuple[Graph, list[int]]:
    """Return the graph of a rank, its highest and squared degrees, and sums of weights.

    Weights of ghosts are still 0.
    """
    space, own = rows.space, len(rows.offsets) - 1
    offsets, weights, masses = short_offsets(space, rows), rows.weights, None
    if weights is not None and wide:
        weights = primitives.converted(space, weights, np.int64)
    if rows.vertex_weights is not None:
        masses = space.zeros(own + len(found.ghost_names), np.int64)
        masses[:own] = rows.vertex_weights
    longest, squares = space.to_host(primitives.row_measures(space, offsets)).tolist()
    weights_of_all = (own if masses is None else primitives.sum_of(space, masses),
                      rows.num_arcs if weights is None else primitives.sum_of(space, weights))
    sums = [longest, squares, rows.num_arcs,
            *(half for each in weights_of_all for half in (each >> HALF, each & (1 << HALF) - 1))]
    return Graph(offsets, found.targets, weights, masses, space), sums


def _totals(num_vertices: int, reported: np.ndarray) -> GraphTotals:
    """Return the sizes of the whole graph from those of all ranks, with weights in halves."""
    _, squares, arcs, *parts = reported.sum(axis=0).tolist()
    masses, weight = ((high << HALF) + low for high, low in zip(parts[::2], parts[1::2]))
    for name, total in (("vertex", masses), ("edge", weight)):
        if total > MAX_TOTAL_WEIGHT:
            raise InputError(f"{name} weights of all ranks add up to {total}; "
                             f"{MAX_TOTAL_WEIGHT} is the most")
    return GraphTotals(num_vertices, arcs, int(reported[:, 0].max()), squares, masses, weight)


def _check_names(rank: int, space: ExecutionSpace, expected: Array, reported: Array) -> None:
    """Raise if the ghosts here differ from the names that their owners have sent."""
    differ = space.empty(len(reported), np.int8)
    space.parallel_for(len(reported), mark_difference, expected, reported, differ)
    wrong = primitives.positions_of(space, differ)
    if len(wrong):
        place = int(space.to_host(wrong[:1])[0])
        _refuse(rank, *(int(space.to_host(each[place : place + 1])[0])
                        for each in (expected, reported)))


class LocalPart(NamedTuple):
    """Checked rows of a rank.

    Attributes
    ----------
    offsets : array, shape (own vertices + 1,)
    targets : array of int32
        Own vertices from 0 on, then foreign ones; changed in place.
    weights : array of int32 or int64
    vertex_weights : array of int64, shape (own vertices,)
    foreign : array of int64
        Names of foreign vertices, ascending; names that are not targets are dropped.
    global_ids : array of int64, or None
        Global ids of own vertices, if they differ from names.
    """

    offsets: Array
    targets: Array
    weights: Array
    vertex_weights: Array
    foreign: Array
    global_ids: Array | None = None


def put_together(comm: Communicator, space: ExecutionSpace, first: np.ndarray, part: LocalPart,
                 vertex_weight: int) -> primitives.Talk[DistributedGraph]:
    """Return the graph of which each rank has checked rows.

    Parameters
    ----------
    comm : Communicator
    space : ExecutionSpace
    first : numpy.ndarray of int64, shape (ranks + 1,)
        The ranges of vertices of the ranks.
    part : LocalPart
    vertex_weight : int
        Total weight of all vertices.
    """
    own, n = len(part.offsets) - 1, int(first[-1])
    ghosts = primitives.converted(space, _targets_only(space, part, own), id_dtype(n))
    halo, _ = halo_of(space, part.offsets, part.targets, ghosts, space.asarray(first), comm.size)
    offsets = short_offsets(space, part)
    measures = space.fetch(primitives.row_measures(space, offsets))
    weight = primitives.sum_of(space, part.weights)
    sums = [*measures().tolist(), len(part.targets), weight]
    values = [part.vertex_weights]
    kinds = [np.dtype(np.int32 if vertex_weight <= MAX_INT32 else np.int64)]
    if part.global_ids is not None:
        values.append(primitives.converted(space, part.global_ids, ghosts.dtype))
        kinds.append(ghosts.dtype)
    names, (masses, *ids), words = yield from with_ghosts(
        space, int(first[comm.rank]), halo, ghosts, values, kinds, sums)
    longest, squares, arcs, weights = words.T
    totals = GraphTotals(n, int(arcs.sum()), int(longest.max()), int(squares.sum()), vertex_weight,
                         int(weights.sum()))
    return DistributedGraph(
        comm, first, Graph(offsets, part.targets, part.weights, masses, space,
                           {"degree": sums[0], "arc": sums[3]}, totals=totals,
                           global_ids=ids[0] if ids else names), ghosts, halo,
        names if ids else None)


def with_ghosts(space: ExecutionSpace, first: int, halo: primitives.Halo, ghosts: Array,
                values: Sequence[Array], kinds: Sequence[Any] | None = None,
                words: Sequence[int] = (),
                ) -> primitives.Talk[tuple[Array, list[Array], np.ndarray]]:
    """Return the names and values of own vertices and ghosts, and the words of all ranks.

    Parameters
    ----------
    space : ExecutionSpace
    first : int
        The name of the first own vertex.
    halo : Halo
    ghosts : array of int
        Names of the ghosts.
    values : sequence of array
        Values of own vertices.
    kinds : sequence of dtype, or None
        Types in which the values are sent.
    words : sequence of int
        Numbers that are sent to every rank with them.
    """
    found, reported = yield from with_ghost_values(space, halo, values, kinds, words)
    return _all_names(space, first, len(values[0]), ghosts), found, reported


def _all_names(space: ExecutionSpace, first: int, own: int, ghosts: Array) -> Array:
    """Return the names of own vertices, then of ghosts."""
    names = space.empty(own + len(ghosts), ghosts.dtype)
    space.parallel_for(own, write_name, first, names)
    names[own:] = ghosts
    return names


def short_offsets(space: ExecutionSpace, rows: Rows | LocalPart) -> Array:
    """Return the offsets of rows, as int32 if there are few arcs."""
    if len(rows.targets) > MAX_INT32_ARCS:
        return rows.offsets
    return primitives.converted(space, rows.offsets, np.int32)


def _targets_only(space: ExecutionSpace, part: LocalPart, own: int) -> Array:
    """Return the foreign vertices that are targets, and renumber the targets without the others."""
    if not len(part.foreign):
        return part.foreign
    marks = space.zeros(len(part.foreign), np.int8)
    space.parallel_for(len(part.targets), mark_target, part.targets, own, marks)
    places = primitives.offsets_from_counts(space, marks, np.int32)
    used = primitives.positions_of(space, marks)
    if len(used) < len(marks):
        space.parallel_for(len(part.targets), move_target, own, places, part.targets)
    return primitives.gather(space, part.foreign, used)


def _refuse(rank: int, expected: int, reported: int) -> None:
    """Raise naming the vertex without reverse arc: the smaller id is in one list only."""
    if expected < reported:
        raise InputError(f"vertex {expected} has no arc to a vertex of rank {rank}, which has an "
                         "arc to it: rows are not symmetric")
    raise InputError(f"vertex {reported} has an arc to a vertex of rank {rank}, which has none "
                     "to it: rows are not symmetric")


@kl.kernel
def write_name(v, first, names):
    """Set names[v] to the global id of own vertex v."""
    names[v] = first + v


@kl.kernel
def mark_difference(i, expected, reported, differ):
    """Set differ[i] to whether two values differ."""
    differ[i] = kl.int8(expected[i] != reported[i])


@kl.kernel
def mark_target(arc, targets, own, marks):
    """Mark the target of an arc if it is foreign; all threads store the same value."""
    if targets[arc] >= own:
        marks[targets[arc] - own] = kl.int8(1)


@kl.kernel
def move_target(arc, own, places, targets):
    """Replace a foreign target by its place among the foreign targets."""
    if targets[arc] >= own:
        targets[arc] = kl.int32(own + places[targets[arc] - own])
