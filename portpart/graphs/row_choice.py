"""Selected rows of a graph, and their entries in selected columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.errors import InputError
from portpart.graphs.arrays import as_array, item_of
from portpart.graphs.csr import team_for
from portpart.graphs.structure import Csr
from portpart.primitives import offsets_from_counts, positions_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from portpart.backends.programs import Array, ExecutionSpace

UNCHOSEN = -1


def chosen_entries(space: ExecutionSpace, listed: Array, rows: Csr, mean: float, flags: Array,
                   dtype: DTypeLike) -> tuple[Array, Array]:
    """Offsets of the listed rows without what is not flagged, and the places of what stays."""
    count, team = len(listed), team_for(mean)
    degrees = space.empty(count, np.int32)
    space.parallel_for(count, count_flagged_entries, listed, rows, flags, degrees, team=team)
    offsets = offsets_from_counts(space, degrees, dtype)
    places = space.empty(int(space.to_host(offsets[count:])[0]), np.int64)
    space.parallel_for(count, list_flagged_entries, listed, rows, flags, offsets, places, team=team)
    return offsets, places


def chosen_vertices(space: ExecutionSpace, vertices: ArrayLike, n: int,
                    what: str) -> tuple[Array, Array, Array]:
    """Numbers of vertices, checked; which vertices are among them, and their places there.

    Parameters
    ----------
    space : ExecutionSpace
    vertices : array_like of int, or of bool with shape (n,)
    n : int
    what : str
        What an error calls them.

    Returns
    -------
    listed, flags, places : array of int32, shape (count,); of int8, of int32, shape (n,)

    Raises
    ------
    InputError
        If an entry is not a vertex or is repeated.
    """
    given = as_array(space, vertices, what)
    if given.ndim != 1:
        raise InputError(f"{what} has shape {tuple(given.shape)}; one dimension is needed")
    if given.dtype == np.bool_:
        if len(given) != n:
            raise InputError(f"{what} has {len(given)} flags for a graph of {n} vertices")
        given = positions_of(space, given)
    elif given.dtype.kind not in "iu" and len(given):
        raise InputError(f"{what} is of type {given.dtype}; numbers of vertices, or a flag for "
                         "each, are needed")
    flags, places = space.zeros(n, np.int8), space.full(n, UNCHOSEN, np.int32)
    wrong = space.full(1, len(given), np.int64)
    space.parallel_for(len(given), note_choice, given, n, places, wrong)
    _refuse(space, given, item_of(space, wrong, 0), f"no vertex; the graph has {n}", what)
    space.parallel_for(len(given), check_choice, given, places, wrong)
    _refuse(space, given, item_of(space, wrong, 0), "there twice", what)
    listed = given.astype(np.int32)
    space.parallel_for(len(listed), flag_choice, listed, flags)
    return listed, flags, places


def _refuse(space: ExecutionSpace, given: Array, place: int, why: str, what: str) -> None:
    """Raise if there is such a place."""
    if place < len(given):
        raise InputError(f"{what}[{place}] is {item_of(space, given, place)}, which is {why}")


@kl.kernel
def note_choice(i, given, n, places, wrong):
    """places[v] = the last place where v stands; wrong[0] = the first one of no vertex.  Atomic."""
    v = given[i]
    if v < 0 or v >= n:
        kl.atomic_min(wrong, 0, i)
    else:
        kl.atomic_max(places, v, kl.int32(i))


@kl.kernel
def check_choice(i, given, places, wrong):
    """wrong[0] = the first place of a vertex that stands at another one, too.  Atomic."""
    if places[given[i]] != i:
        kl.atomic_min(wrong, 0, i)


@kl.kernel
def flag_choice(i, listed, flags):
    """Flag a vertex."""
    flags[listed[i]] = kl.int8(1)


@kl.kernel
def count_flagged_entries(i, listed, rows: Csr, flags, degrees):
    """degrees[i] = entries of row i of the list that are flagged."""
    v = listed[i]
    count = kl.int64(0)
    for arc in range(rows.begin[v] + kl.lane(), rows.end[v], kl.team_size()):
        count += kl.int64(flags[rows.targets[arc]] != 0)
    count = kl.team_sum(count)
    if kl.lane() == 0:
        degrees[i] = count


@kl.kernel
def list_flagged_entries(i, listed, rows: Csr, flags, offsets, places):
    """places[offsets[i]] ... = those of flagged entries of row i of the list, in their order."""
    v = listed[i]
    place = kl.int64(offsets[i])
    base = kl.int64(rows.begin[v])
    end = kl.int64(rows.end[v])
    while base < end:
        arc = base + kl.lane()
        inside = kl.int64(0)
        if arc < end:
            inside = kl.int64(flags[rows.targets[arc]] != 0)
        until = kl.team_scan(inside)
        if inside != 0:
            places[place + until - 1] = arc
        place += kl.team_last(until)
        base += kl.team_size()
