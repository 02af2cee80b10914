"""Names of edited vertices and nets, which callers may use instead of ids.

Names are data of the host.  A deleted vertex keeps its name, until a new vertex gets it.  So the
name of a deleted vertex differs from an unknown name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from portpart.errors import InputError, shown
from portpart.graphs import did_you_mean, has_hash

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SINGULAR = {"vertices": "vertex", "nets": "net"}


class Named(NamedTuple):
    """New names, and the ids that they stood for before: -1 for none."""

    names: list[Hashable]
    before: list[int]


class IdNames:
    """The names of ids 0, 1 ...; some may have none.

    Parameters
    ----------
    kind : str
        The kind of ids: ``"vertices"`` or ``"nets"``.
    given : sequence
        Names of the first ids; None is not a name.
    """

    def __init__(self, kind: str, given: Sequence[Hashable]) -> None:
        self.kind, self._given = kind, given
        self._later: dict[int, Hashable] = {}
        self._ids: dict[Hashable, int] | None = None

    def of(self, id: int) -> Hashable:
        """Return the name of an id, None if it has none."""
        return self._given[id] if id < len(self._given) else self._later.get(id)

    def get(self, name: Hashable) -> int:
        """Return the id that was last given a name, -1 for a name that no id ever had."""
        return self._table().get(name, -1)

    def all(self, count: int) -> Sequence[Hashable]:
        """Return the names of the first ids."""
        if count == len(self._given):
            return self._given
        later = range(len(self._given), count)
        return [*self._given[:count], *map(self._later.get, later)]

    def current(self, count: int) -> Sequence[Hashable]:
        """Return the names of the first ids, None for ids whose name a later id has now."""
        names = self.all(count)
        if not self._later:
            return names
        table = self._table()
        return [name if table.get(name) == id else None for id, name in enumerate(names)]

    def listed(self, ids: np.ndarray, count: int) -> Sequence[Hashable]:
        """Return the names of some of the first ids."""
        names = self.all(count)
        return names if len(ids) == count else [names[id] for id in ids.tolist()]

    def add(self, first: int, names: list[Hashable]) -> Named:
        """Give names to the ids from `first` on, and return a record for `undo`."""
        table = self._table()
        before = [table.get(name, -1) for name in names]
        ids = range(first, first + len(names))
        self._later.update(zip(ids, names))
        table.update(zip(names, ids))
        return Named(names, before)

    def undo(self, named: Named) -> None:
        """Restore the ids that names stood for before `add`; call for the last names first."""
        table = self._table()
        for name, before in zip(named.names, named.before):
            del self._later[table[name]]
            if before < 0:
                del table[name]
            else:
                table[name] = before

    def unknown(self, where: str, name: Hashable) -> InputError:
        """Return the error for a name that no id has."""
        return InputError(f"{where}: no {SINGULAR[self.kind]} is called {shown(name)}"
                          f"{did_you_mean(name, [*self._table()])}")

    def _table(self) -> dict[Hashable, int]:
        """Return the id of each name; built at the first use of a name."""
        if self._ids is None:
            found = {name: id for id, name in enumerate(self._given) if name is not None}
            named = sum(name is not None for name in self._given)
            if len(found) < named:
                raise InputError(f"{named} {self.kind} have {len(found)} different names, which "
                                 "are not enough to name them; use ids")
            self._ids = found
        return self._ids


def is_name(value: Any) -> TypeGuard[Hashable]:
    """Whether a value may be a name; a number is an id."""
    if isinstance(value, str):
        return True
    return value is not None and not isinstance(value, (Number, np.generic)) and has_hash(value)


def elements(values: Any) -> list[Hashable]:
    """Return a sequence, or a single name, as a list."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Iterable):
        return [listed]
    return list(listed)


def checked_names(values: ArrayLike, where: str) -> list[Hashable]:
    """Return new names as a list; they must be different."""
    names = elements(values)
    for name in names:
        if name is None or not has_hash(name):
            raise InputError(f"{where}: names have {shown(name)}, which is not a name")
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"{where}: names have {shown(twice)} twice")
    return names
