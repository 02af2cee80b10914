"""Configurations as JSON has them: a class, and its options by the names of their fields.

Options in options are nested in the same way.  A file has all fields, so that it means the same
wherever defaults have changed.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from portpart.algorithms.partitioners import ALGORITHMS, OF_NETS
from portpart.errors import InputError
from portpart.options import shown, types_of

PLAIN = (bool, int, float, str, type(None))
"""Types of values that JSON keeps as they are."""

Described = dict[str, Any]


def description_of(config: Any) -> Described:
    """A configuration of a partitioner for JSON.

    Raises
    ------
    InputError
        If `config_of` could not make the same of it.
    """
    return {"class": type(config).__name__,
            "options": _values(config, tuple(_kinds().values()), "preset")}


def config_of(described: Any) -> Any:
    """The configuration that `description_of` has described.

    Raises
    ------
    InputError
        If there is no such class, or an option is unknown, missing or has a value that is none.
    """
    if not isinstance(described, dict) or described.keys() != {"class", "options"}:
        raise InputError(f"preset is {shown(described)}; it must be a name, or class and options")
    kind = _kinds().get(described["class"]) if isinstance(described["class"], str) else None
    if kind is None:
        raise InputError(f"preset is of class {shown(described['class'])}; known are "
                         f"{', '.join(_kinds())}")
    return _options(kind, described["options"], "preset")


def _kinds() -> dict[str, type]:
    """The classes of configurations by name."""
    return {each.kind.__name__: each.kind
            for each in (*ALGORITHMS.values(), *OF_NETS.values())}


def _values(options: Any, kinds: tuple[Any, ...], place: str) -> Described:
    """The values of options that must be exactly of one of these classes."""
    if type(options) not in kinds:
        raise InputError(f"{place} is of {type(options).__name__}, a class that a file cannot "
                         f"name; it must be of {', '.join(each.__name__ for each in kinds)}")
    types: dict[str, tuple[Any, ...]] = types_of(options.__class__)
    return {name: _value(getattr(options, name), types[name], f"{place}.{name}")
            for name in (each.name for each in fields(options))}


def _value(value: Any, kinds: tuple[Any, ...], place: str) -> Any:
    """A value that JSON has, too; numbers of NumPy become Python's."""
    if is_dataclass(value):
        return _values(value, tuple(filter(is_dataclass, kinds)), place)
    if isinstance(value, (tuple, list)):
        return [_value(each, kinds, place) for each in value]
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, PLAIN):
        raise InputError(f"{place} is {shown(value)}, which a file cannot hold; give it as int or "
                         "float")
    return plain


def _options(kind: type, values: Any, place: str) -> Any:
    """Options of a class, whose constructor checks their values."""
    wanted = {each.name for each in fields(kind)}
    if not isinstance(values, dict):
        raise InputError(f"{place} is {shown(values)}; the options of a {kind.__name__} are needed")
    for name in sorted(wanted ^ values.keys()):
        problem = "is missing" if name in wanted else "is unknown"
        raise InputError(f"{place}.{name} {problem}: another version of portpart has other options")
    types = types_of(kind)
    given = {name: _option(value, types[name], f"{place}.{name}")
             for name, value in values.items()}
    try:
        return kind(**given)
    except InputError as problem:
        raise InputError(f"{place}: {problem}") from problem


def _option(value: Any, kinds: tuple[Any, ...], place: str) -> Any:
    if isinstance(value, dict):
        nested: Any = next(filter(is_dataclass, kinds), None)
        if nested is None:
            raise InputError(f"{place} is {shown(value)}; it has no nested options")
        return _options(nested, value, place)
    return tuple(value) if isinstance(value, list) else value
