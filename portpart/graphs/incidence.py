"""Incidence of elements and nodes, and elements that share nodes.

Rows with common members are found by merging.  Each member of a row has an ascending list of rows.
A heap with one place of each list yields these rows in ascending order, each as often as there are
common members.
"""

from __future__ import annotations

import numpy as np

from portpart import backends
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.errors import InputError, OutOfMemory
from portpart.graphs.csr import tails
from portpart.graphs.structure import MAX_INT32_ARCS
from portpart.primitives import offsets_from_counts, sort_keys

LOW_HALF = 0xFFFFFFFF

MAX_CLIQUE = 2**32
"""If the members of one row would have more arcs, an error is raised before the work begins."""


class Incidence(kl.Record):
    """Rows of members: row r holds ``members[offsets[r]:offsets[r + 1]]``."""

    offsets: np.ndarray
    members: np.ndarray

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.offsets) - 1

    @property
    def rows(self) -> np.ndarray:
        """The row of each member."""
        space = backends.space("cpu")
        return space.to_host(tails(space, self.offsets, len(self.members)))

    def transposed(self, num_members: int) -> Incidence:
        """Return the rows of each member, ascending."""
        space = backends.space("cpu")
        _, order = sort_keys(space, self.members)
        counts = np.bincount(self.members, minlength=num_members)
        return Incidence(space.to_host(offsets_from_counts(space, counts)),
                         self.rows[space.to_host(order)])


def stacked(tables: list[np.ndarray]) -> Incidence:
    """Return the rows of several tables in order."""
    lengths = [np.full(len(table), table.shape[1], np.int64) for table in tables]
    members = [table.reshape(-1) for table in tables]
    return Incidence(np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths])),
                     np.concatenate(members) if members else np.empty(0, np.int64))


class Lists(kl.Record):
    """Ascending lists of the rows of each member, and a heap for merging them.

    Attributes
    ----------
    offsets, rows : array of int
        List m is ``rows[offsets[m]:offsets[m + 1]]``.
    list_of : array of int
        The list of each place.
    heap : array of int64
        One place in the list of each member of a row; the heap of a row begins with its members.
    least : array of int32, or None
        Sufficient number of common members of each row, if the numbers differ.
    """

    offsets: Array
    rows: Array
    list_of: Array
    heap: Array
    least: Array | None


class JoinedRows(kl.Record):
    """The rows that are joined to each row.

    Attributes
    ----------
    first : array
        Their numbers during counting, then the begin of each row in the other arrays.
    targets, weights : array of int32
        The joined rows, and the numbers of common members.
    """

    first: Array
    targets: Array
    weights: Array


def joined_rows(these: Incidence, others: Incidence, common: int | np.ndarray, weighted: bool,
                words: tuple[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return CSR rows (offsets, targets, weights) that join rows with `common` common members.

    For a short row all members but one suffice.  If each row has its own number, the smaller one of
    two rows counts.  `others` is the transpose of `these`, with ascending members.  Weights are
    numbers of common members.  `words` name a row of `others` and its members.
    """
    least = common if isinstance(common, np.ndarray) else None
    common = 0 if isinstance(common, np.ndarray) else common
    if common == 1:
        _refuse_cliques(others, words)
    space = backends.space("cpu")
    n = len(these)
    lists = Lists(others.offsets, others.members, others.rows,
                  space.empty(len(these.members), np.int64), least)
    counts = space.zeros(n, np.int64)
    nothing = space.empty(1, np.int32)
    space.parallel_for(n, meet_rows, these, lists, common, False, False,
                       JoinedRows(counts, nothing, nothing))
    offsets = space.to_host(offsets_from_counts(space, counts))
    num_arcs = int(offsets[n])
    try:
        targets = space.empty(num_arcs, np.int32)
        weights = space.empty(num_arcs if weighted else 1, np.int32)
    except MemoryError as problem:
        raise OutOfMemory(f"the graph would have {num_arcs} arcs, {num_arcs / 2**28:.1f} GiB: "
                          "more common nodes make fewer") from problem
    space.parallel_for(n, meet_rows, these, lists, common, True, weighted,
                       JoinedRows(offsets, targets, weights))
    if num_arcs <= MAX_INT32_ARCS:
        offsets = offsets.astype(np.int32)
    return offsets, targets, weights if weighted else None


def rows_with(cells: Incidence, rows: Incidence, of_members: Incidence) -> np.ndarray:
    """Return for each cell the first row that has all its members, -1 if none has.

    `of_members` is the transpose of `rows`, with ascending members.
    """
    space = backends.space("cpu")
    found: np.ndarray = space.empty(len(cells), np.int32)
    space.parallel_for(len(cells), find_row, cells, rows, of_members, found)
    return found


def _refuse_cliques(others: Incidence, words: tuple[str, str]) -> None:
    """Raise if a row has too many members, which are all adjacent."""
    lengths = np.diff(others.offsets)
    longest = int(lengths.max(initial=0))
    if longest * (longest - 1) > MAX_CLIQUE:
        raise InputError(f"{words[0]} {int(lengths.argmax())} has {longest} {words[1]}, which are "
                         f"all adjacent: {longest * (longest - 1)} arcs are too many")


@kl.device
def packed(place, lists: Lists):
    """Return a place in a list with its row in the upper bits, by which places are ordered."""
    return kl.int64(lists.rows[place]) << 32 | place


@kl.device
def sift_down(heap, begin, size, start):
    """Restore the heap order of heap[begin:begin + size] below place `start`, smallest first."""
    at = kl.int64(start)
    entry = heap[begin + at]
    child = 2 * at + 1
    while child < size:
        smallest = heap[begin + child]
        if child + 1 < size:
            if heap[begin + child + 1] < smallest:
                child += 1
                smallest = heap[begin + child]
        if smallest >= entry:
            break
        heap[begin + at] = smallest
        at = child
        child = 2 * at + 1
    heap[begin + at] = entry


@kl.device
def suffices(shared, common, least, offsets, row, other):
    """Whether two rows with `shared` common members are joined, by METIS's rule."""
    shorter = min(offsets[row + 1] - offsets[row], offsets[other + 1] - offsets[other])
    needed = min(kl.int64(kl.value_or(least, row, common)),
                 kl.int64(kl.value_or(least, other, common)))
    return row != other and (shared >= needed or shared >= shorter - 1)


@kl.kernel
def meet_rows(row, these: Incidence, lists: Lists, common, fill, weighted, joined: JoinedRows):
    """Count the rows joined to a row (fill false), or write them from joined.first[row] on.

    Each item has its own part of the heap, from the row's offset on.
    """
    begin = kl.int64(these.offsets[row])
    size = kl.int64(these.offsets[row + 1]) - begin
    for i in range(size):
        place = kl.int64(lists.offsets[these.members[begin + i]])
        lists.heap[begin + i] = packed(place, lists)
    for i in range(size):
        sift_down(lists.heap, begin, size, size - 1 - i)
    met = kl.int64(0)
    while size > 0:
        other = lists.heap[begin] >> 32
        shared = kl.int64(0)
        while size > 0 and lists.heap[begin] >> 32 == other:
            shared += 1
            place = (lists.heap[begin] & LOW_HALF) + 1
            if place < lists.offsets[kl.int64(lists.list_of[place - 1]) + 1]:
                lists.heap[begin] = packed(place, lists)
            else:
                size -= 1
                lists.heap[begin] = lists.heap[begin + size]
            sift_down(lists.heap, begin, size, 0)
        if suffices(shared, common, lists.least, these.offsets, row, other):
            if fill:
                joined.targets[joined.first[row] + met] = other
            if fill and weighted:
                joined.weights[joined.first[row] + met] = shared
            met += 1
    if not fill:
        joined.first[row] = met


@kl.device
def missing(cell, row, cells: Incidence, rows: Incidence):
    """Return the number of members of a cell that a row does not have."""
    count = kl.int64(0)
    for i in range(cells.offsets[cell], cells.offsets[cell + 1]):
        has = kl.int64(0)
        for j in range(rows.offsets[row], rows.offsets[row + 1]):
            has += kl.int64(rows.members[j] == cells.members[i])
        count += kl.int64(has == 0)
    return count


@kl.kernel
def find_row(cell, cells: Incidence, rows: Incidence, of_members: Incidence, found):
    """Set found[cell] to the first row that has all members of the cell, or to -1."""
    member = kl.int64(cells.members[cells.offsets[cell]])
    best = kl.int64(-1)
    for place in range(of_members.offsets[member], of_members.offsets[member + 1]):
        row = kl.int64(of_members.members[place])
        if best < 0 and missing(cell, row, cells, rows) == 0:
            best = row
    found[cell] = kl.int32(best)
