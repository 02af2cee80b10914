"""Names of vertices and nets in files of sessions, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart.algorithms.edits.edited import Edited
from portpart.algorithms.edits.names import IdNames
from portpart.algorithms.edits.saved import Saved
from portpart.errors import InputError
from portpart.options import shown

ARRAY = "{}_names"
"""The array of bytes that holds the names of a kind of ids."""

NAMED_ARRAYS = frozenset(ARRAY.format(kind) for kind in ("vertices", "nets"))

PLAIN = (str, int, float, bool, type(None))


def arrays_of_names(edited: Edited) -> dict[str, np.ndarray]:
    """The names of all ids, by the array that holds them; of kinds that have names.

    Raises
    ------
    InputError
        If there is a name that a file cannot hold.
    """
    found = {}
    for table in edited.tables:
        if table.names is not None:
            names = [_plain(name) for name in table.names.current(table.count)]
            found[ARRAY.format(table.name)] = np.frombuffer(json.dumps(names).encode(), np.uint8)
    return found


def read_names(edited: Edited, arrays: Saved) -> None:
    """Give ids the names that a file has for them.

    Raises
    ------
    InputError
        If there are others than names, or not one for each id.
    """
    for table in edited.tables:
        array = arrays.get(ARRAY.format(table.name))
        if array is not None:
            table.names = IdNames(table.name, _names(array, ARRAY.format(table.name),
                                                     table.count))


def _names(array: np.ndarray, what: str, count: int) -> Sequence[Any]:
    try:
        listed = json.loads(array.tobytes())
        names = [_name(value) for value in listed] if isinstance(listed, list) else None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{what} hold no names: {problem}") from problem
    if names is None or len(names) != count:
        raise InputError(f"{what} hold {shown(listed) if names is None else len(names)}; a name "
                         f"or null is needed for each of {count} ids")
    return names


def _plain(name: Any) -> Any:
    """A name in JSON: tuples are lists there."""
    if isinstance(name, tuple):
        return [*map(_plain, name)]
    if isinstance(name, np.generic):
        name = name.item()
    if type(name) in PLAIN:
        return name
    raise InputError(f"a file holds text, numbers and tuples of them as names, and there is a name "
                     f"{shown(name)}; give others, as networkx.relabel_nodes does")


def _name(value: Any) -> Any:
    """The name again."""
    if isinstance(value, list):
        return tuple(map(_name, value))
    if isinstance(value, dict):
        raise ValueError(f"{shown(value)} is not a name")
    return value
