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
from portpart.graphs.csr import tails
from portpart.graphs.limits import MAX_INT32
from portpart.graphs.row_range import Rows, id_dtype
from portpart.graphs.runs import Runs
from portpart.options import shown
from portpart.primitives.basic import converted
from portpart.primitives.bisection import lower_bound
from portpart.primitives.owners import Halo
from portpart.primitives.ranks import Owners, rank_of
from portpart.primitives.reduce import max_of, min_of
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
    outside = space.empty(rows.num_arcs, np.int8)
    space.parallel_for(rows.num_arcs, mark_outside, rows.targets, low, high, outside)
    crossing = outside != 0
    foreign = rows.targets[crossing]
    ghosts = converted(space, _distinct(space, foreign), id_dtype(rows.num_vertices))
    if high - low + len(ghosts) > MAX_INT32:
        raise InputError(f"{high - low} vertices and copies of {len(ghosts)} neighbours are "
                         f"{high - low + len(ghosts)}; a rank holds {MAX_INT32}")
    targets = space.empty(rows.num_arcs, np.int32)
    space.parallel_for(rows.num_arcs, number_target, rows.targets, low, high, ghosts, len(ghosts),
                       targets)
    entries = space.empty(len(foreign), np.int64)
    sources = tails(space, rows.offsets, rows.num_arcs)[crossing]
    space.parallel_for(len(foreign), pack_entry, sources, foreign, owners.first, size, entries)
    return LocalRows(targets, ghosts, *_halo(space, high - low, _distinct(space, entries), ghosts,
                                             owners, size))


def _check_targets(rows: Rows) -> None:
    if rows.num_arcs:
        for target in (min_of(rows.space, rows.targets), max_of(rows.space, rows.targets)):
            if not 0 <= target < rows.num_vertices:
                raise InputError(f"target {shown(target)} is no vertex; vertices are 0 ... "
                                 f"{rows.num_vertices - 1}")


def _distinct(space: ExecutionSpace, keys: Array) -> Array:
    """The keys in ascending order, each once."""
    ordered, _ = sort_keys(space, keys)
    return Runs(space, ordered).first_of(ordered)


def _halo(space: ExecutionSpace, own: int, entries: Array, ghosts: Array, owners: Owners,
          size: int) -> tuple[Halo, np.ndarray]:
    """The halo of sorted entries, and how many there are of each rank."""
    count = len(entries)
    begin = space.empty(own + 1, np.int32)
    ranks, places = space.empty(count, np.int32), space.empty(count, np.int32)
    first, listed = space.empty(size + 1, np.int64), space.empty(size, np.int64)
    space.parallel_for(own + 1, begin_entries, entries, count, size, begin)
    space.parallel_for(count, unpack_rank, entries, size, ranks)
    by_rank, order = sort_keys(space, ranks)
    space.parallel_for(count, place_entry, by_rank, order, count, places)
    space.parallel_for(size, count_entries, by_rank, count, listed)
    space.parallel_for(size + 1, begin_ghosts, ghosts, len(ghosts), own, owners.first, first)
    return Halo(begin=begin, ranks=ranks, places=places, ghost_first=first), space.to_host(listed)


@kl.kernel
def mark_outside(arc, targets, low, high, outside):
    """outside[arc] = whether the target is a vertex of another rank."""
    outside[arc] = kl.int8(targets[arc] < low or targets[arc] >= high)


@kl.kernel
def number_target(arc, targets, low, high, ghosts, num_ghosts, result):
    """result[arc] = the local number of the target."""
    target = kl.int64(targets[arc])
    number = target - low
    if target < low or target >= high:
        number = high - low + lower_bound(ghosts, 0, num_ghosts, target)
    result[arc] = kl.int32(number)


@kl.kernel
def pack_entry(i, sources, targets, firsts, size, entries):
    """entries[i] = the source of an arc to another rank, and that rank."""
    entries[i] = kl.int64(sources[i]) * size + rank_of(firsts, kl.int64(targets[i]), size)


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
def count_entries(rank, by_rank, count, listed):
    """listed[rank] = entries of the rank."""
    listed[rank] = (lower_bound(by_rank, 0, count, rank + 1)
                    - lower_bound(by_rank, 0, count, rank))


@kl.kernel
def begin_ghosts(rank, ghosts, num_ghosts, own, firsts, first):
    """first[rank] = the local number of the first ghost from the rank."""
    first[rank] = own + lower_bound(ghosts, 0, num_ghosts, firsts[rank])
