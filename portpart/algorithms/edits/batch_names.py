"""Names in a batch of edits: the ids that they stand for, and new names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from portpart.algorithms.edits.id_table import IdTable
from portpart.algorithms.edits.names import (
    SINGULAR,
    IdNames,
    Named,
    checked_names,
    elements,
    is_name,
)
from portpart.backends.programs import Array
from portpart.errors import InputError, shown
from portpart.graphs import host_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Deletion(Protocol):
    """A call that deletes ids, and its time in the batch."""

    @property
    def first(self) -> Array:
        """The ids."""

    @property
    def time(self) -> int:
        """Number of entries before it in the batch."""


class NewNames(NamedTuple):
    """Names of ids from `first` on, given by method `where` after `time` entries of the batch."""

    table: IdTable
    first: int
    names: list[Hashable]
    time: int
    where: str


class BatchNames:
    """The ids that names stand for in a batch: ids named by the batch first, then earlier ones.

    Parameters
    ----------
    deletions : dict of lists of calls
        Deletions of the batch by table; the batch adds to it.

    Attributes
    ----------
    new : list of NewNames
    """

    def __init__(self, deletions: Mapping[IdTable, Sequence[Deletion]]) -> None:
        self._deletions: Mapping[IdTable, Sequence[Deletion]] = deletions
        self.new: list[NewNames] = []
        self._ids: dict[IdTable, dict[Hashable, int]] = {}

    def ids_of(self, values: ArrayLike | Sequence[Hashable], table: IdTable, where: str) -> Any:
        """Return the values with names replaced by ids; unchanged if there are no names.

        Raises
        ------
        InputError
            If no vertex or net has ever had one of the names.
        """
        if not isinstance(values, list) and is_name(values) and self._get(table, values) >= 0:
            return [self._get(table, values)]  # for example a tuple
        listed = elements(values)
        if not any(map(is_name, listed)):
            return values
        ids: list[Any] = [self._get(table, value) if is_name(value) else value for value in listed]
        for value, id in zip(listed, ids):
            if is_name(value) and id < 0:
                assert table.names is not None
                raise table.names.unknown(where, value)
        return ids

    def refuse_text(self, values: ArrayLike, table: IdTable, where: str) -> None:
        """Raise if values contain text but the table has no names."""
        text = [value for value in elements(values) if isinstance(value, str)]
        if text and table.names is None:
            raise InputError(f"{where}: {shown(text[0])} is a name, but {table.name} have no "
                             "names here; use ids")

    def alive(self, table: IdTable, values: Any) -> np.ndarray:
        """Return the ids of names.

        Raises
        ------
        InputError
            If no existing vertex or net has one of the names.
        """
        where, listed = "ids_of", elements(values)
        if table.names is None:
            raise InputError(f"{where}: {table.name} have no names here")
        if is_name(values) and table.names.get(values) >= 0:
            listed = [values]
        if not all(map(is_name, listed)):
            raise InputError(f"{where}: {shown(values)} are not names")
        ids = self.ids_of(listed, table, where) if listed else []
        missing = [name for name, alive in zip(listed, table.are_alive(ids)) if not alive]
        if missing:
            raise InputError(f"{where}: {SINGULAR[table.name]} {shown(missing[0])} does not exist")
        return np.array(ids, np.int64)

    def checked(self, table: IdTable, values: ArrayLike, time: int, where: str) -> list[Hashable]:
        """Return names for new ids as a list.

        Raises
        ------
        InputError
            If a name is already used.
        """
        if table.names is None:
            raise InputError(f"{where}: {table.name} have no names here; leave names= out")
        names = checked_names(values, where)
        self._refuse_taken(NewNames(table, 0, names, time, where), self._ids.get(table, {}))
        return names

    def add(self, new: NewNames) -> None:
        """Give names to new ids."""
        self.new.append(new)
        ids = range(new.first, new.first + len(new.names))
        self._ids.setdefault(new.table, {}).update(zip(new.names, ids))

    def refuse_taken(self) -> None:
        """Check that no new name has been used since it was added.

        Raises
        ------
        InputError
            If one has.
        """
        for new in self.new:
            self._refuse_taken(new, {})

    def give(self) -> list[tuple[IdNames, Named]]:
        """Set the new names when the batch is applied, and return their records for undo."""
        return [(new.table.names, new.table.names.add(new.first, new.names))
                for new in self.new if new.table.names is not None]

    def _get(self, table: IdTable, name: Hashable) -> int:
        """Return the id that a name stands for, -1 if none."""
        assert table.names is not None
        mine = self._ids.get(table, {}).get(name)
        return table.names.get(name) if mine is None else mine

    def _refuse_taken(self, new: NewNames, mine: dict[Hashable, int]) -> None:
        table, known = new.table, new.table.names
        assert known is not None
        held = {name: id for name in new.names if (id := mine.get(name, known.get(name))) >= 0}
        if not held:
            return
        gone = deleted_ids(self._deletions.get(table, []), new.time)
        for (name, id), alive in zip(held.items(), table.are_alive(list(held.values()))):
            if id not in gone and (name in mine or alive):
                raise InputError(f"{new.where}: a {SINGULAR[table.name]} is called {shown(name)} "
                                 f"already, id {id}; delete it before, or take another name")


def deleted_ids(deletions: Sequence[Deletion], time: int) -> set[int]:
    """Return the ids that entries of a batch delete before a time."""
    return {id for call in deletions if call.time < time for id in host_array(call.first).tolist()}


def called(table: IdTable | None, id: int) -> str:
    """Return an id for a message, with its name if it has one."""
    names = None if table is None else table.names
    name = None if names is None else names.of(id)
    return f"{id}" if name is None else f"{id} ({shown(name)})"
