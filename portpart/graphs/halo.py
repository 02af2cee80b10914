"""Ghosts of a range of rows, and who has own vertices as ghosts: found without a message.

Graphs are symmetric.  So the ghosts that rank q has from rank r are the vertices of r that have a
neighbour on q, and r knows them, and their order, as well as q does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.limits import MAX_INT32
from portpart.graphs.row_range import Rows, id_dtype
from portpart.graphs.runs import distinct
from portpart.options import shown
from portpart.primitives.basic import converted
from portpart.primitives.bisection import lower_bound
from portpart.primitives.owners import Halo
from portpart.primitives.ranks import Owners, counted, rank_of
from portpart.primitives.reduce import max_of, min_of
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.sort import sort_keys


class LocalRows(NamedTuple):
    """Rows of a rank in local numbers.

    Attributes
    ----------
    targets : array of int32
        Own vertices from 0 on, behind them ghosts.
    ghost_names : array of int32 or int64
        The global ids of the ghosts, ascending.
    halo : Halo
    listed : numpy.ndarray of int64
        Own vertices that each rank has as ghosts.
    """

    targets: Array
    ghost_names: Array
    halo: Halo
    listed: np.ndarray


def local_rows(rows: Rows, owners: Owners, size: int) -> LocalRows:
    """Number the targets of rows locally, and find the halo.

    Parameters
    ----------
    rows : Rows
    owners : Owners
    size : int
        Number of ranks.

    Raises
    ------
    InputError
        If a target is no vertex, or if there are 2^31 own vertices and ghosts.
    """
    space, low, high = rows.space, rows.first, rows.last
    _check_targets(rows)
    foreign, _ = _foreign(space, rows.offsets, rows.targets, low, high)
    ghosts = converted(space, distinct(space, foreign), id_dtype(rows.num_vertices))
    if high - low + len(ghosts) > MAX_INT32:
        raise InputError(f"{high - low} vertices and copies of {len(ghosts)} neighbours are "
                         f"{high - low + len(ghosts)}; a rank holds {MAX_INT32}")
    targets = space.empty(rows.num_arcs, np.int32)
    space.parallel_for(rows.num_arcs, number_target, rows.targets, low, high, ghosts, len(ghosts),
                       targets)
    return LocalRows(targets, ghosts, *halo_of(space, rows.offsets, targets, ghosts,
                                               owners.first, size))


def halo_of(space: ExecutionSpace, offsets: Array, targets: Array, ghosts: Array, firsts: Array,
            size: int) -> tuple[Halo, np.ndarray]:
    """Who has own vertices as ghosts.

    Parameters
    ----------
    space : ExecutionSpace
    offsets : array, shape (own vertices + 1,)
    targets : array of int32
        Own vertices from 0 on, behind them ghosts.
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
        Own vertices that each rank has as ghosts.
    """
    own = len(offsets) - 1
    first = space.empty(size + 1, np.int64)
    space.parallel_for(size + 1, begin_ghosts, ghosts, len(ghosts), own, firsts, first)
    if not len(ghosts):
        return _halo(space, own, space.empty(0, np.int64), first, size)
    entries, places = _foreign(space, offsets, targets, 0, own)
    entries = converted(space, entries, np.int64)
    space.parallel_for(own, pack_entries, places, first, size, entries)
    return _halo(space, own, distinct(space, entries), first, size)


def _foreign(space: ExecutionSpace, offsets: Array, targets: Array, low: int,
             high: int) -> tuple[Array, Array]:
    """Targets below `low` or from `high` on, in the order of the rows, and where these begin."""
    rows = len(offsets) - 1
    counts = space.empty(rows, np.int32)
    space.parallel_for(rows, count_foreign, offsets, targets, low, high, counts)
    places = offsets_from_counts(space, counts)
    result = space.empty(int(space.to_host(places[-1:])[0]), targets.dtype)
    if len(result):
        space.parallel_for(rows, list_foreign, offsets, targets, low, high, places, result)
    return result, places


def _check_targets(rows: Rows) -> None:
    if rows.num_arcs:
        for target in (min_of(rows.space, rows.targets), max_of(rows.space, rows.targets)):
            if not 0 <= target < rows.num_vertices:
                raise InputError(f"target {shown(target)} is no vertex; vertices are 0 ... "
                                 f"{rows.num_vertices - 1}")


def _halo(space: ExecutionSpace, own: int, entries: Array, first: Array,
          size: int) -> tuple[Halo, np.ndarray]:
    """The halo of sorted entries, and how many there are of each rank."""
    count = len(entries)
    begin = space.empty(own + 1, np.int32)
    ranks, places = space.empty(count, np.int32), space.empty(count, np.int32)
    space.parallel_for(own + 1, begin_entries, entries, count, size, begin)
    space.parallel_for(count, unpack_rank, entries, size, ranks)
    by_rank, order = sort_keys(space, ranks)
    space.parallel_for(count, place_entry, by_rank, order, count, places)
    return (Halo(begin=begin, ranks=ranks, places=places, ghost_first=first),
            counted(space, by_rank, size))


@kl.kernel
def number_target(arc, targets, low, high, ghosts, num_ghosts, result):
    """result[arc] = the local number of the target."""
    target = kl.int64(targets[arc])
    number = target - low
    if target < low or target >= high:
        number = high - low + lower_bound(ghosts, 0, num_ghosts, target)
    result[arc] = kl.int32(number)


@kl.kernel
def count_foreign(v, offsets, targets, low, high, counts):
    """counts[v] = arcs of v that lead out of the range."""
    count = kl.int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        if targets[arc] < low or targets[arc] >= high:
            count += 1
    counts[v] = kl.int32(count)


@kl.kernel
def list_foreign(v, offsets, targets, low, high, places, result):
    """List where the arcs of v lead that leave the range."""
    place = kl.int64(places[v])
    if place < places[v + 1]:
        for arc in range(offsets[v], offsets[v + 1]):
            if targets[arc] < low or targets[arc] >= high:
                result[place] = targets[arc]
                place += 1


@kl.kernel
def pack_entries(v, places, first, size, entries):
    """Entries of v that are ghosts become v and the rank of the ghost, in one number."""
    for place in range(places[v], places[v + 1]):
        entries[place] = v * size + rank_of(first, entries[place], size)


@kl.kernel
def begin_entries(v, entries, count, size, begin):
    """begin[v] = the first entry of v, or of what comes after it."""
    begin[v] = kl.int32(lower_bound(entries, 0, count, v * size))


@kl.kernel
def unpack_rank(i, entries, size, ranks):
    """ranks[i] = the rank of entry i."""
    ranks[i] = kl.int32(entries[i] % size)


@kl.kernel
def place_entry(i, by_rank, order, count, places):
    """Entries of a rank stand in the order of their vertices; so do its ghosts."""
    places[order[i]] = kl.int32(i - lower_bound(by_rank, 0, count, by_rank[i]))


@kl.kernel
def begin_ghosts(rank, ghosts, num_ghosts, own, firsts, first):
    """first[rank] = the local number of the first ghost from the rank."""
    first[rank] = own + lower_bound(ghosts, 0, num_ghosts, firsts[rank])
