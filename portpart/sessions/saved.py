"""Configurations and names in files of sessions, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from portpart.algorithms.edits import Edited, IdNames, Saved
from portpart.algorithms.recipes import ALGORITHMS, OF_NETS
from portpart.errors import InputError, errors_about, shown
from portpart.options import types_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from portpart.options import Configuration, Json

# Configurations in JSON: a class, and its options by the names of their fields -----------------
#
# Options in options are nested in the same way.  A file has all fields, so its meaning does not
# depend on defaults.


PLAIN = (bool, int, float, str, type(None))
"""Types of values that JSON can hold exactly."""

Described: TypeAlias = "dict[str, Json]"


def description_of(config: Configuration) -> Described:
    """Return the description of a partitioner's configuration for JSON.

    Raises
    ------
    InputError
        If `config_of` could not restore it.
    """
    return {"class": type(config).__name__,
            "options": _values(config, tuple(_kinds().values()), "preset")}


def config_of(described: Json) -> Any:
    """Return the configuration that `description_of` has described.

    Raises
    ------
    InputError
        If there is no such class, or an option is unknown, missing or invalid.
    """
    if not isinstance(described, dict) or described.keys() != {"class", "options"}:
        raise InputError(f"preset is {shown(described)}; it must be a name, or class and options")
    kind = _kinds().get(described["class"]) if isinstance(described["class"], str) else None
    if kind is None:
        raise InputError(f"preset is of class {shown(described['class'])}; known are "
                         f"{', '.join(_kinds())}")
    return _options(kind, described["options"], "preset")


def _kinds() -> dict[str, type]:
    """Return the classes of configurations by name."""
    return {each.kind.__name__: each.kind for each in (*ALGORITHMS.values(), *OF_NETS.values())}


def _values(options: Configuration, kinds: tuple[type, ...], place: str) -> Described:
    """Return the values of options; their class must be one of `kinds`, not a subclass."""
    if type(options) not in kinds:
        raise InputError(f"{place} is of {type(options).__name__}, a class that a file cannot "
                         f"name; it must be of {', '.join(each.__name__ for each in kinds)}")
    types: dict[str, tuple[type, ...]] = types_of(options.__class__)
    return {name: _value(getattr(options, name), types[name], f"{place}.{name}")
            for name in (each.name for each in fields(options))}


def _value(value: Any, kinds: tuple[type, ...], place: str) -> Json:
    """Return a value for JSON; NumPy numbers become Python numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return _values(value, tuple(filter(is_dataclass, kinds)), place)
    if isinstance(value, (tuple, list)):
        return [_value(each, kinds, place) for each in value]
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, PLAIN):
        raise InputError(f"{place} is {shown(value)}, which a file cannot hold; give it as int or "
                         "float")
    return plain


def _options(kind: type, values: Json, place: str) -> Any:
    """Return options of a class; its constructor checks the values."""
    known = {each.name for each in fields(kind)}
    if not isinstance(values, dict):
        raise InputError(f"{place} is {shown(values)}; the options of a {kind.__name__} are needed")
    for name in sorted(known ^ values.keys()):
        problem = "is missing" if name in known else "is unknown"
        raise InputError(f"{place}.{name} {problem}: another version of portpart has other options")
    types = types_of(kind)
    given = {name: _option(value, types[name], f"{place}.{name}") for name, value in values.items()}
    with errors_about(place, InputError):
        return kind(**given)


def _option(value: Json, kinds: tuple[type, ...], place: str) -> Any:
    if isinstance(value, dict):
        nested = next(filter(is_dataclass, kinds), None)
        if nested is None:
            raise InputError(f"{place} is {shown(value)}; it has no nested options")
        return _options(nested, value, place)
    return tuple(value) if isinstance(value, list) else value


# Names of vertices and nets in files of sessions, as JSON --------------------------------------


ARRAY = "{}_names"
"""Name of the array of bytes that holds the names of a kind of ids."""

NAMED_ARRAYS = frozenset(ARRAY.format(kind) for kind in ("vertices", "nets"))



def arrays_of_names(edited: Edited) -> dict[str, np.ndarray]:
    """Return the arrays with the names of all ids, for each kind that has names.

    Raises
    ------
    InputError
        If a file cannot hold a name.
    """
    found = {}
    for table in edited.tables:
        if table.names is not None:
            names = [_plain(name) for name in table.names.current(table.count)]
            found[ARRAY.format(table.name)] = np.frombuffer(json.dumps(names).encode(), np.uint8)
    return found


def read_names(edited: Edited, arrays: Saved) -> None:
    """Set the names of ids from a file.

    Raises
    ------
    InputError
        If a value is not a name, or their number differs from that of ids.
    """
    for table in edited.tables:
        array = arrays.get(ARRAY.format(table.name))
        if array is not None:
            table.names = IdNames(table.name, _names(array, ARRAY.format(table.name), table.count))


def _names(array: np.ndarray, what: str, count: int) -> Sequence[Hashable]:
    try:
        listed = json.loads(array.tobytes())
        names = [_name(value) for value in listed] if isinstance(listed, list) else None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{what} hold no names: {problem}") from problem
    if names is None or len(names) != count:
        raise InputError(f"{what} hold {shown(listed) if names is None else len(names)}; a name "
                         f"or null is needed for each of {count} ids")
    return names


def _plain(name: Any) -> Json:
    """Return a name for JSON: tuples become lists."""
    if isinstance(name, tuple):
        return [*map(_plain, name)]
    if isinstance(name, np.generic):
        name = name.item()
    if type(name) in PLAIN:
        return name
    raise InputError(f"a file holds text, numbers and tuples of them as names, and there is a name "
                     f"{shown(name)}; give others, as networkx.relabel_nodes does")


def _name(value: Json) -> Hashable:
    """Return a name from JSON."""
    if isinstance(value, list):
        return tuple(map(_name, value))
    if isinstance(value, dict):
        raise ValueError(f"{shown(value)} is not a name")
    return value
