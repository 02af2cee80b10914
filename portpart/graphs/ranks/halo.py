"""Finds the ghosts of a range of rows, and the ranks that have own vertices as ghosts.

No message is needed, because graphs are symmetric: the ghosts that rank q has from rank r are the
vertices of r that have a neighbour on q.  Both ranks know them and their order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError, shown
from portpart.graphs import MAX_INT32, Rows, distinct, id_dtype

MARKS_AN_ARC = 4
"""Marking this many vertices takes less time and memory than sorting an arc."""

MAX_MASKED = 62
"""Up to this many ranks are bits of a number."""


class LocalRows(NamedTuple):
    """Rows of a rank in local numbers.

    Attributes
    ----------
    targets : array of int32
        Own vertices from 0 on, then ghosts.
    ghost_names : array of int32 or int64
        The global ids of the ghosts, ascending.
    halo : Halo
    listed : numpy.ndarray of int64
        Number of own vertices that each rank has as ghosts.
    """

    targets: Array
    ghost_names: Array
    halo: primitives.Halo
    listed: np.ndarray


def local_rows(rows: Rows, owners: primitives.Owners, size: int) -> LocalRows:
    """Renumber the targets of rows locally, and find the halo.

    Parameters
    ----------
    rows : Rows
    owners : Owners
    size : int
        Number of ranks.

    Raises
    ------
    InputError
        If a target is not a vertex, or if there are 2^31 own vertices and ghosts.
    """
    space, low, high = rows.space, rows.first, rows.last
    ghosts = primitives.converted(space, _ghosts(rows), id_dtype(rows.num_vertices))
    if high - low + len(ghosts) > MAX_INT32:
        raise InputError(f"{high - low} vertices and copies of {len(ghosts)} neighbours are "
                         f"{high - low + len(ghosts)}; a rank holds {MAX_INT32}")
    targets = space.empty(rows.num_arcs, np.int32)
    space.parallel_for(rows.num_arcs, number_target, rows.targets, low, high,
                       primitives.name_index(space, ghosts, rows.num_vertices), targets)
    return LocalRows(targets, ghosts, *halo_of(space, rows.offsets, targets, ghosts,
                                               owners.first, size))


def halo_of(space: ExecutionSpace, offsets: Array, targets: Array, ghosts: Array, firsts: Array,
            size: int) -> tuple[primitives.Halo, np.ndarray]:
    """Return the ranks that have own vertices as ghosts.

    Parameters
    ----------
    space : ExecutionSpace
    offsets : array, shape (own vertices + 1,)
    targets : array of int32
        Own vertices from 0 on, then ghosts.
    ghosts : array of int32 or int64
        The global ids of the ghosts, ascending.
    firsts : array of int64, shape (size + 1,)
        Rank r owns the vertices ``firsts[r] ... firsts[r + 1] - 1``.
    size : int
        Number of ranks.

    Returns
    -------
    Halo
    numpy.ndarray of int64
        Number of own vertices that each rank has as ghosts.
    """
    own = len(offsets) - 1
    first = space.empty(size + 1, np.int64)
    space.parallel_for(size + 1, begin_ghosts, ghosts, len(ghosts), own, firsts, first)
    border = _border(space, offsets, targets, len(ghosts))
    counts = space.empty(len(border), np.int32)
    if size <= MAX_MASKED:
        space.parallel_for(len(border), count_ranks, border, offsets, targets, own, first, size,
                           counts)
        begin = primitives.offsets_from_counts(space, counts, np.int32)
        ranks = space.empty(int(space.to_host(begin[-1:])[0]), np.int32)
        space.parallel_for(len(border), list_ranks, border, offsets, targets, first, size, begin,
                           ranks)
        return _halo(space, own, border, begin, ranks, first, size)
    entries, places = border_targets(space, border, offsets, targets, own)
    entries = primitives.converted(space, entries, np.int64)
    space.parallel_for(len(border), pack_entries, places, first, size, entries)
    entries = distinct(space, entries)
    ranks = space.empty(len(entries), np.int32)
    space.parallel_for(len(border), count_entries, entries, len(entries), size, counts)
    space.parallel_for(len(entries), unpack_rank, entries, size, ranks)
    begin = primitives.offsets_from_counts(space, counts, np.int32)
    return _halo(space, own, border, begin, ranks, first, size)


def _border(space: ExecutionSpace, offsets: Array, targets: Array, num_ghosts: int) -> Array:
    """Return the own vertices that have an arc to a ghost, ascending."""
    own = len(offsets) - 1
    marks = space.empty(own if num_ghosts else 0, np.int8)
    space.parallel_for(len(marks), mark_border, offsets, targets, own, marks)
    return primitives.positions_of(space, marks)


def border_targets(space: ExecutionSpace, border: Array, offsets: Array, targets: Array,
                   own: int) -> tuple[Array, Array]:
    """Return the ghosts that vertices of the border have arcs to, and where those of each begin."""
    counts = space.empty(len(border), np.int32)
    space.parallel_for(len(border), count_ghosts, border, offsets, targets, own, counts)
    places = primitives.offsets_from_counts(space, counts)
    result = space.empty(int(space.to_host(places[-1:])[0]), targets.dtype)
    space.parallel_for(len(border), list_ghosts, border, offsets, targets, own, places, result)
    return result, places


def _ghosts(rows: Rows) -> Array:
    """Return the vertices of other ranks that are targets, ascending and each once.

    If there are few, their arcs are listed and sorted; if there are many, all vertices are marked.
    """
    space, low, high, n = rows.space, rows.first, rows.last, rows.num_vertices
    own = high - low
    counts, outside = space.empty(own, np.int32), space.zeros(1, np.int64)
    space.parallel_for(own, count_foreign, rows.offsets, rows.targets, low, high, n, counts,
                       outside)
    if space.to_host(outside)[0]:
        _refuse_targets(rows)
    if n <= min(MAX_INT32, MARKS_AN_ARC * primitives.sum_of(space, counts)):
        marks = space.zeros(n, np.int8)
        space.parallel_for(own, mark_foreign, rows.offsets, rows.targets, low, high, counts, marks)
        return primitives.positions_of(space, marks)
    found, _ = _foreign_targets(space, rows.offsets, rows.targets, low, high, counts)
    return distinct(space, found)


def _foreign_targets(space: ExecutionSpace, offsets: Array, targets: Array, low: int, high: int,
                     counts: Array) -> tuple[Array, Array]:
    """Return targets below `low` or from `high` on, in the order of rows, and the rows' begins."""
    places = primitives.offsets_from_counts(space, counts)
    result = space.empty(int(space.to_host(places[-1:])[0]), targets.dtype)
    space.parallel_for(len(counts), list_foreign, offsets, targets, low, high, places, result)
    return result, places


def _refuse_targets(rows: Rows) -> None:
    """Raise for a target that is no vertex."""
    for target in (primitives.min_of(rows.space, rows.targets),
                   primitives.max_of(rows.space, rows.targets)):
        if not 0 <= target < rows.num_vertices:
            raise InputError(f"target {shown(target)} is no vertex; vertices are 0 ... "
                             f"{rows.num_vertices - 1}")


def _halo(space: ExecutionSpace, own: int, border: Array, begin: Array, ranks: Array, first: Array,
          size: int) -> tuple[primitives.Halo, np.ndarray]:
    """Return the halo of entries, and their number by rank."""
    names = space.full(len(border) + 1, own, np.int32)
    names[: len(border)] = border
    places = space.empty(len(ranks), np.int32)
    by_rank, order = primitives.sort_keys(space, ranks)
    space.parallel_for(len(ranks), place_entry, by_rank, order, len(ranks), places)
    index = primitives.name_index(space, names, own + 1)
    return (primitives.Halo(border=index, begin=begin, ranks=ranks, places=places,
                            ghost_first=first),
            primitives.counted(space, by_rank, size))


@kl.kernel
def number_target(arc, targets, low, high, ghosts: primitives.NameIndex, result):
    """Set result[arc] to the local number of the target."""
    target = kl.int64(targets[arc])
    number = target - low
    if target < low or target >= high:
        number = high - low + primitives.place_of(target, ghosts)
    result[arc] = kl.int32(number)


@kl.kernel
def count_foreign(v, offsets, targets, low, high, end, counts, outside):
    """Set counts[v] to the arcs of v that lead out of the range; outside[0] = 1 if a target is not
    in 0 ... end - 1.  All threads store the same value.
    """
    count = kl.int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        if targets[arc] < low or targets[arc] >= high:
            count += 1
            if targets[arc] < 0 or targets[arc] >= end:
                outside[0] = 1
    counts[v] = kl.int32(count)


@kl.kernel
def list_foreign(v, offsets, targets, low, high, places, result):
    """List the heads of the arcs of v that lead out of the range."""
    place = kl.int64(places[v])
    if place < places[v + 1]:
        for arc in range(offsets[v], offsets[v + 1]):
            if targets[arc] < low or targets[arc] >= high:
                result[place] = targets[arc]
                place += 1


@kl.kernel
def mark_border(v, offsets, targets, own, marks):
    """Set marks[v] to whether v has an arc to a ghost."""
    found = kl.int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        found |= kl.int64(targets[arc] >= own)
    marks[v] = kl.int8(found)


@kl.kernel
def count_ghosts(i, border, offsets, targets, own, counts):
    """Set counts[i] to the number of arcs of vertex i of the border to ghosts."""
    v = border[i]
    count = kl.int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        count += kl.int64(targets[arc] >= own)
    counts[i] = kl.int32(count)


@kl.kernel
def list_ghosts(i, border, offsets, targets, own, places, result):
    """List the ghosts that vertex i of the border has arcs to."""
    v = border[i]
    place = kl.int64(places[i])
    for arc in range(offsets[v], offsets[v + 1]):
        if targets[arc] >= own:
            result[place] = targets[arc]
            place += 1


@kl.kernel
def pack_entries(i, places, first, size, entries):
    """Replace the ghosts of vertex i of the border by i and the rank of the ghost, in one key."""
    for place in range(places[i], places[i + 1]):
        entries[place] = i * size + primitives.rank_of(first, entries[place], size)


@kl.kernel
def mark_foreign(v, offsets, targets, low, high, counts, marks):
    """Mark the targets of v's arcs outside the range; all threads store the same value."""
    if counts[v] > 0:
        for arc in range(offsets[v], offsets[v + 1]):
            if targets[arc] < low or targets[arc] >= high:
                marks[targets[arc]] = kl.int8(1)


@kl.device
def ranks_beside(v, offsets, targets, own, first, size):
    """Return a number with bit r set if v has an arc to a ghost from rank r."""
    ranks = kl.int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        if targets[arc] >= own:
            ranks |= kl.int64(1) << primitives.rank_of(first, kl.int64(targets[arc]), size)
    return ranks


@kl.kernel
def count_ranks(i, border, offsets, targets, own, first, size, counts):
    """Set counts[i] to the number of ranks that have vertex i of the border as a ghost."""
    found = ranks_beside(kl.int64(border[i]), offsets, targets, own, first, size)
    counts[i] = kl.int32(kl.popcount(found))


@kl.kernel
def list_ranks(i, border, offsets, targets, first, size, begin, ranks):
    """List the ranks that have vertex i of the border as a ghost, ascending."""
    place = kl.int64(begin[i])
    left = ranks_beside(kl.int64(border[i]), offsets, targets, kl.int64(first[0]), first, size)
    while left != 0:
        ranks[place] = kl.int32(kl.ctz(left))
        left &= left - 1
        place += 1


@kl.kernel
def count_entries(i, entries, count, size, counts):
    """Set counts[i] to the number of sorted entries of vertex i of the border."""
    begin = primitives.lower_bound(entries, 0, count, i * size)
    counts[i] = kl.int32(primitives.lower_bound(entries, begin, count, (i + 1) * size) - begin)


@kl.kernel
def unpack_rank(i, entries, size, ranks):
    """Set ranks[i] to the rank of entry i."""
    ranks[i] = kl.int32(entries[i] % size)


@kl.kernel
def place_entry(i, by_rank, order, count, places):
    """Write the place of an entry; entries of a rank are in the order of vertices, as ghosts."""
    places[order[i]] = kl.int32(i - primitives.lower_bound(by_rank, 0, count, by_rank[i]))


@kl.kernel
def begin_ghosts(rank, ghosts, num_ghosts, own, firsts, first):
    """Set first[rank] to the local number of the first ghost from the rank."""
    first[rank] = own + primitives.lower_bound(ghosts, 0, num_ghosts, firsts[rank])
