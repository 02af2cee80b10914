"""Selected rows of a graph, and their entries in selected columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.arrays import as_array, item_of
from portpart.graphs.csr import team_for
from portpart.graphs.structure import Csr
from portpart.primitives import mark_number, offsets_from_counts, positions_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

UNCHOSEN = -1


class EntryChoice(kl.Record):
    """A rule for the entries of rows that are listed, and for their numbers."""


class Flags(EntryChoice):
    """The rule that lists entries of flagged items."""

    flags: Array


class EntryRows(kl.Record):
    """Listed rows with some of their entries.

    Attributes
    ----------
    offsets : array of int, shape (rows + 1,)
    numbers : array of int, or None
        The number of each entry.
    places : array of int64, or None
        The place of each entry in the original rows.
    """

    offsets: Array
    numbers: Any
    places: Any


@dataclass(frozen=True)
class EntryNumbers(kl.Static):
    """The numbers of entries, and the kind of list.

    Attributes
    ----------
    number : device function
        (block, item, choice, width) -> the number of an item, -1 if it is not listed.
    are_pairs : bool
        Whether the list has pairs of blocks and rows, each as one key, or rows.
    keeps_numbers, keeps_places : bool
    """

    number: kl.DeviceFunction
    are_pairs: bool = True
    keeps_numbers: bool = True
    keeps_places: bool = True


def listed_entries(space: ExecutionSpace, listed: Array, rows: Csr, mean: float,
                   choice: EntryChoice, width: int, way: EntryNumbers, dtype: DTypeLike = np.int64,
                   numbers: DTypeLike = np.int32) -> EntryRows:
    """Return the listed rows with the entries that have a number.

    Parameters
    ----------
    space : ExecutionSpace
    listed : array of int
    rows : Csr
    mean : float
        Approximate number of entries of a row.
    choice : EntryChoice
    width : int
        Number of different entries of rows.
    way : EntryNumbers
    dtype : dtype
        Type of offsets.
    numbers : dtype
        Type of numbers.
    """
    count, team, num_rows = len(listed), team_for(mean), len(rows.begin)
    counts = space.empty(count, np.int32)
    space.parallel_for(count, count_entries.bound(way=way), listed, num_rows, rows, choice, width,
                       counts, team=team)
    offsets = offsets_from_counts(space, counts, dtype)
    length = int(space.to_host(offsets[count:])[0])
    made = EntryRows(offsets, space.empty(length, numbers) if way.keeps_numbers else None,
                     space.empty(length, np.int64) if way.keeps_places else None)
    space.parallel_for(count, list_entries.bound(way=way), listed, num_rows, rows, choice, width,
                       made, team=team)
    return made


def chosen_entries(space: ExecutionSpace, listed: Array, rows: Csr, mean: float, flags: Array,
                   dtype: DTypeLike) -> tuple[Array, Array]:
    """Return offsets of the listed rows with flagged entries only, and the places of these."""
    made = listed_entries(space, listed, rows, mean, Flags(flags), len(flags), FLAGGED, dtype)
    return made.offsets, made.places


def chosen_vertices(space: ExecutionSpace, vertices: ArrayLike, n: int,
                    what: str) -> tuple[Array, Array, Array]:
    """Return the checked numbers of chosen vertices, their flags, and their places in the list.

    Parameters
    ----------
    space : ExecutionSpace
    vertices : array_like of int, or of bool with shape (n,)
    n : int
    what : str
        Their word in messages.

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
    _refuse(space, given, item_of(space, wrong, 0), "repeated", what)
    listed = given.astype(np.int32)
    space.parallel_for(len(listed), mark_number, listed, 0, flags)
    return listed, flags, places


def _refuse(space: ExecutionSpace, given: Array, place: int, why: str, what: str) -> None:
    """Raise if `place` is the place of an invalid vertex."""
    if place < len(given):
        raise InputError(f"{what}[{place}] is {item_of(space, given, place)}, which is {why}")


@kl.kernel
def note_choice(i, given, n, places, wrong):
    """Set places[v] to the last place of v, and wrong[0] to the first invalid place.  Atomic."""
    v = given[i]
    if v < 0 or v >= n:
        kl.atomic_min(wrong, 0, i)
    else:
        kl.atomic_max(places, v, kl.int32(i))


@kl.kernel
def check_choice(i, given, places, wrong):
    """Set wrong[0] to the first place of a vertex that has another place.  Atomic."""
    if places[given[i]] != i:
        kl.atomic_min(wrong, 0, i)


@kl.device
def flagged(block, item, choice: Flags, width):
    """Return 0 if an item is flagged, else -1."""
    return kl.int64(choice.flags[item] != 0) - 1


FLAGGED = EntryNumbers(flagged, are_pairs=False, keeps_numbers=False)


@kl.kernel
def count_entries(i, listed, num_rows, rows: Csr, choice: EntryChoice, width, counts,
                  way: EntryNumbers):
    """Set counts[i] to the entries of listed row i that have a number.  Called by one team."""
    block = kl.int64(listed[i]) // num_rows if way.are_pairs else kl.int64(0)
    row = kl.int64(listed[i]) % num_rows if way.are_pairs else kl.int64(listed[i])
    count = kl.int64(0)
    for place in range(rows.begin[row] + kl.lane(), rows.end[row], kl.team_size()):
        count += kl.int64(way.number(block, rows.targets[place], choice, width) >= 0)
    count = kl.team_sum(count)
    if kl.lane() == 0:
        counts[i] = count


@kl.kernel
def list_entries(i, listed, num_rows, rows: Csr, choice: EntryChoice, width, made: EntryRows,
                 way: EntryNumbers):
    """List the entries of listed row i that have a number, in order.  Called by one team."""
    block = kl.int64(listed[i]) // num_rows if way.are_pairs else kl.int64(0)
    row = kl.int64(listed[i]) % num_rows if way.are_pairs else kl.int64(listed[i])
    next_place = kl.int64(made.offsets[i])
    base = kl.int64(rows.begin[row])
    end = kl.int64(rows.end[row])
    while base < end:
        place = base + kl.lane()
        number = kl.int64(-1)
        if place < end:
            number = way.number(block, rows.targets[place], choice, width)
        until = kl.team_scan(kl.int64(number >= 0))
        if number >= 0:
            if way.keeps_numbers:
                made.numbers[next_place + until - 1] = number
            if way.keeps_places:
                made.places[next_place + until - 1] = place
        next_place += kl.team_last(until)
        base += kl.team_size()
