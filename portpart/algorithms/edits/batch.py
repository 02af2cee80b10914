"""Batches of edits: changes of a graph or hypergraph, in order.

Types, shapes and ranges of arrays are checked when they are given.  Conditions on the graph, such
as the existence of an edge, are checked when the batch is applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, SupportsIndex

import numpy as np

from portpart.algorithms.edits.batch_names import BatchNames, NewNames, called
from portpart.algorithms.edits.counters import MISSING_FIRST, MISSING_SECOND
from portpart.algorithms.edits.id_table import ALIVE, IdTable
from portpart.algorithms.edits.operations import DELETE, DELETE_IF_THERE, INSERT, SET, Edited
from portpart.errors import InputError, errors_about, shown
from portpart.graphs import MAX_TOTAL_WEIGHT, host_array, index_array, item_of, space_of, total_of
from portpart.options import checked_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.graphs import Blocks, Numbers

MISSING = {"raise": DELETE, "ignore": DELETE_IF_THERE}

READY = (np.dtype(np.int32), np.dtype(np.int64))
"""Types of arrays that are not converted."""

MAX_IDS = 2**31 - 2


class InsertedIds(NamedTuple):
    """Inserted ids: first ... first + number - 1."""

    table: IdTable
    first: int
    number: int
    weights: Array | None


def insert_ids(insertion: InsertedIds) -> None:
    """Mark ids as existing, and set their weights."""
    table = insertion.table
    given = None if insertion.weights is None else table.space.asarray(insertion.weights)
    table.set_ids(insertion.first, insertion.number, ALIVE, given, 1)


def retract_ids(insertion: InsertedIds) -> None:
    """Mark ids as never used."""
    insertion.table.set_ids(insertion.first, insertion.number, -1, None, 0)


class BatchCall(NamedTuple):
    """Entries of one call: operations on pairs, deletions, or new weights of ids.

    Attributes
    ----------
    name : str
        Name of the method.
    number : int
        Number of the call, from 1.
    time : int
        Number of entries before it in the batch.
    kind : int
        Kind of operation; for deletions, whether missing ids are ignored.
    first : array of int32
    second : array of int32, or None
    weights : array of int64, or None
    table : IdTable or None
        The table of the ids in `first`; None for pairs.
    """

    name: str
    number: int
    time: int
    kind: int
    first: Array
    second: Array | None
    weights: Array | None
    table: IdTable | None

    @property
    def space(self) -> ExecutionSpace:
        """The space of the arrays."""
        return space_of(self.first)


class Fixing(NamedTuple):
    """Vertices and the blocks that a call fixes them to, on the host; time and number as in
    `BatchCall`.
    """

    ids: np.ndarray
    blocks: np.ndarray
    time: int
    number: int


def times_of(calls: Iterable[BatchCall]) -> list[np.ndarray]:
    """Return the time of each entry, for each call."""
    return [np.arange(call.time, call.time + len(call.first), dtype=np.int32) for call in calls]


class Batch:
    """Edits, in the order in which they are applied.

    Returned by ``batch()`` of the object to edit.  Arrays may be on the host or on a device; a
    number stands for an array of length 1.  If vertices or nets have names, a name may be given
    instead of an id: text, or any other value that is not a number.  It stands for the vertex or
    net that has the name when the method is called.

    Attributes
    ----------
    applied : bool
        Whether the batch has been applied.  Then nothing can be added.
    calls : list of BatchCall
    of_pairs : list of BatchCall
        The calls that edit pairs; they have `num_pairs` entries.
    deletions, weight_changes : dict of lists of BatchCall
        The calls that edit ids, by table.
    fixings : list of Fixing
    names : BatchNames
    """

    def __init__(self, owner: Edited) -> None:
        self.owner, self.numbering = owner, owner.numbering
        self.insertions: list[InsertedIds] = []
        self.calls: list[BatchCall] = []
        self.of_pairs: list[BatchCall] = []
        self.deletions: dict[IdTable, list[BatchCall]] = {}
        self.weight_changes: dict[IdTable, list[BatchCall]] = {}
        self.fixings: list[Fixing] = []
        self.names = BatchNames(self.deletions)
        self.length = self.num_pairs = self.num_calls = 0
        self.given_weight = 0
        self.applied = False

    def insert_vertices(self, weights: Numbers = 1, count: int | None = None,
                        names: Any = None) -> np.ndarray:
        """Insert vertices and return their ids.

        Parameters
        ----------
        weights : int or array of integers, default 1
            One weight for all, or one for each.
        count : int, optional
            Number of vertices; default: the number of names or weights, else one.
        names : sequence, optional
            Names of the new vertices, if vertices have names.  Each must be unused; the name of a
            deleted vertex may be used again.
        """
        ids = self._insert(self.owner.vertices, weights, count, "insert_vertices", names)
        self.num_calls += 1
        return ids

    def delete_vertices(self, ids: ArrayLike, missing: str = "raise") -> None:
        """Delete vertices with their edges, and remove them from their nets.

        Parameters
        ----------
        ids : int, array of integers, or names
        missing : {"raise", "ignore"}
            Treatment of ids that do not exist.
        """
        self._delete(self.owner.vertices, ids, missing, "delete_vertices")

    def set_vertex_weights(self, ids: ArrayLike, weights: Numbers) -> None:
        """Set weights of vertices: one for all, or one for each."""
        self._weigh(self.owner.vertices, ids, weights, "set_vertex_weights")

    def set_fixed(self, ids: ArrayLike, blocks: Blocks) -> None:
        """Fix vertices to blocks, or release them.

        A vertex in another block is moved when the batch is applied.

        Parameters
        ----------
        ids : int, array of integers, or names
        blocks : int or array of integers
            One block for all, or one for each; -1 releases a vertex.
        """
        name, k = "set_fixed", self.owner.num_blocks
        if k == 0:
            raise InputError(f"{name}: there are no blocks here; batches of sessions have some")
        self._refuse_late(name)
        first = host_array(self._checked_ids(ids, self.owner.vertices, name))
        given = host_array(integers(blocks, f"{name}: blocks"))
        if len(given) not in (1, len(first)):
            raise InputError(f"{name}: {len(given)} blocks for {len(first)} ids")
        wrong = (given < -1) | (given >= k)
        if wrong.any():
            at = int(wrong.argmax())
            raise InputError(f"{name}: blocks[{at}] is {given[at]}; blocks must lie in "
                             f"0 ... {k - 1}, or be -1, which releases a vertex")
        self.num_calls += 1
        self.fixings.append(Fixing(first, _repeated(given, len(first)), self.length,
                                   self.num_calls))

    def _insert(self, table: IdTable, weights: Any, count: int | None, name: str,
                names: Any = None) -> np.ndarray:
        self._refuse_late(name)
        own = [] if names is None else self.names.checked(table, names, self.length, name)
        if names is not None:
            if count not in (None, len(own)):
                raise InputError(f"{name}: {len(own)} names for {shown(count)} ids")
            count = len(own)
        number = 1 if count is None else checked_integer("count", count, 0, MAX_IDS)
        array = None
        if not (weights is None or (isinstance(weights, int) and weights == 1)):
            array = integers(weights, f"{name}: weights")
            if len(array) != 1 or np.ndim(weights):
                if count is not None and len(array) != number:
                    raise InputError(f"{name}: {len(array)} weights for {number} ids")
                number = len(array)
        if table.count + number > MAX_IDS:
            raise InputError(f"{name}: {table.count + number} ids; there can be {MAX_IDS}")
        given = None if array is None else self._weights(array, number, name)
        first = table.give(number)
        self._add_inserted(InsertedIds(table, first, number, given))
        if own:
            self.names.add(NewNames(table, first, own, self.length, name))
        return np.arange(first, first + number)

    def _add_inserted(self, inserted: InsertedIds) -> None:
        """Add new ids; merge them with the previous ones if ids are consecutive and weigh 1."""
        for at in range(len(self.insertions) - 1, -1, -1):
            known = self.insertions[at]
            if known.table is inserted.table:
                follows = known.first + known.number == inserted.first
                if follows and known.weights is None and inserted.weights is None:
                    self.insertions[at] = known._replace(number=known.number + inserted.number)
                    return
                break
        self.insertions.append(inserted)

    def _delete(self, table: IdTable, ids: ArrayLike, missing: str, name: str) -> None:
        first = self._checked_ids(ids, table, name)
        lenient = kind_of_deletion(missing, name) == DELETE_IF_THERE
        self._add(name, int(lenient), first, None, None, table)

    def _weigh(self, table: IdTable, ids: ArrayLike, weights: Numbers, name: str) -> None:
        first = self._checked_ids(ids, table, name)
        given = self._weights(integers(weights, f"{name}: weights"), len(first), name)
        self._add(name, SET, first, None, given, table)

    def _pairs(self, name: str, kind: int, ends: tuple[Any, Any], tables: tuple[IdTable, IdTable],
               weights: Numbers | None = None) -> None:
        first, second = (self._checked_ids(values, whose, name)
                         for values, whose in zip(ends, tables))
        if len(first) != len(second):
            if 1 not in (len(first), len(second)):
                raise InputError(f"{name}: {len(first)} ids and {len(second)} do not make pairs")
            length = len(second) if len(first) == 1 else len(first)
            first, second = _repeated(first, length), _repeated(second, length)
        given = None
        if weights is not None:
            given = self._weights(integers(weights, f"{name}: weights"), len(first), name)
        self._add(name, kind, first, second, given, None)

    def _weights(self, weights: Array, count: int, name: str) -> Array:
        if len(weights) != count and len(weights) != 1:
            raise InputError(f"{name}: {len(weights)} weights for {count} entries")
        _refuse_outside(weights, MAX_TOTAL_WEIGHT, f"{name}: weights", "weights")
        total = total_of(weights, f"weights of {name}")
        together = self.given_weight + total * (count if len(weights) != count else 1)
        if together >= MAX_TOTAL_WEIGHT:
            raise InputError(f"{name}: the weights of the batch reach 2**62")
        self.given_weight = together
        return _repeated(weights.astype(np.int64), count)

    def _add(self, name: str, kind: int, first: Array, second: Array | None,
             weights: Array | None, table: IdTable | None) -> None:
        self._refuse_late(name)
        self.num_calls += 1
        number = len(first)
        if number == 0:
            return
        call = BatchCall(name, self.num_calls, self.length, kind, first, second, weights, table)
        self.calls.append(call)
        self.length += number
        if table is None:
            self.of_pairs.append(call)
            self.num_pairs += number
        else:
            about = self.deletions if weights is None else self.weight_changes
            about.setdefault(table, []).append(call)

    def _refuse_late(self, name: str) -> None:
        if self.applied:
            raise InputError(f"{name}: the batch has been applied already; Session.batch() makes "
                             "another one")

    def _checked_ids(self, values: ArrayLike, table: IdTable, name: str) -> Array:
        """Return a checked copy of ids, or the ids of names."""
        if table.names is not None and not _is_ready(values):
            values = self.names.ids_of(values, table, name)
        try:
            ids = integers(values, f"{name}: ids")
        except InputError:
            self.names.refuse_text(values, table, name)
            raise
        _refuse_outside(ids, table.count - 1, name, "ids")
        return ids.astype(np.int32)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InputError("a batch can be neither pickled nor copied, because it belongs to its "
                         "session; keep the arrays, and make another batch of them there")

    def refusal(self, time: int, problem: int) -> InputError:
        """Return the error of the entry at this time."""
        call = next(call for call in reversed(self.calls) if call.time <= time)
        at = time - call.time
        first = item_of(call.space, call.first, at)
        where = f"{call.name}[{at}] (call {call.number} of the batch)"
        if call.second is None:
            return InputError(f"{where}: id {called(call.table, first)} does not exist")
        side = self.owner.sides[0]
        one = called(side.table, first)
        other = called(side.elements, item_of(call.space, call.second, at))
        if problem in (MISSING_FIRST, MISSING_SECOND):
            missing = one if problem == MISSING_FIRST else other
            return InputError(f"{where}: pair ({one}, {other}): id {missing} does not exist")
        return InputError(f"{where}: pair ({one}, {other}) does not exist")


class GraphBatch(Batch):
    """Edits of a graph."""

    def insert_edges(self, u: ArrayLike, v: ArrayLike, weights: Numbers | None = None) -> None:
        """Insert edges (u[i], v[i]), of weight 1 or as given; added to the weight of existing ones.

        Self loops are dropped and counted.
        """
        self._edges("insert_edges", INSERT, u, v, weights)

    def delete_edges(self, u: ArrayLike, v: ArrayLike, missing: str = "raise") -> None:
        """Delete edges; ``missing="ignore"`` ignores edges that do not exist."""
        self._edges("delete_edges", kind_of_deletion(missing, "delete_edges"), u, v)

    def set_edge_weights(self, u: ArrayLike, v: ArrayLike, weights: Numbers) -> None:
        """Set weights of edges."""
        self._edges("set_edge_weights", SET, u, v, weights)

    def _edges(self, name: str, kind: int, u: ArrayLike, v: ArrayLike,
               weights: Numbers | None = None) -> None:
        self._pairs(name, kind, (u, v), (self.owner.vertices, self.owner.vertices), weights)


def kind_of_deletion(missing: str, name: str) -> int:
    """Return the kind of operation for a value of `missing`."""
    if not isinstance(missing, str) or missing not in MISSING:
        raise InputError(f'{name}: missing is {shown(missing)}; it must be "raise" or "ignore"')
    return MISSING[missing]


def integers(values: Any, what: str) -> Array:
    """Return values as a one-dimensional array of integers in their space."""
    if _is_ready(values):
        return values
    space = space_of(values)
    if space.kind == "cpu":
        values = _listed(values, what)
        values = values.reshape(1) if values.ndim == 0 else values
    return values if _is_ready(values) else index_array(space, values, what)


def _is_ready(values: ArrayLike | None) -> bool:
    return type(values) is np.ndarray and values.ndim == 1 and values.dtype in READY


def _listed(values: ArrayLike | None, what: str) -> np.ndarray:
    with errors_about(what, InputError):
        return host_array(values)


def _refuse_outside(values: Array, last: int, where: str, what: str) -> None:
    """Raise for the first value below 0 or above the last."""
    if len(values) and (int(values.min()) < 0 or int(values.max()) > last):
        at = int(((values < 0) | (values > last)).argmax())
        value = item_of(space_of(values), values, at)
        raise InputError(f"{where}[{at}] is {value}; {what} must lie in 0 ... {last}")


def _repeated(values: Array, count: int) -> Array:
    return values if len(values) == count else values.repeat(count)
