"""What configurations say about themselves: their parameters, and how two of them differ.

A parameter's meaning is what the docstring of its dataclass says.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

_ENTRY = re.compile(r"(?P<names>\w+(?:, \w+)*) : ")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a configuration.

    Attributes
    ----------
    name : str
        With the names of the options it is nested in, parted by dots.
    value : object
    meaning : str
        Parameters that are explained together have the same one.
    symbol : str
        What the source of the algorithm calls it, or an empty string.
    """

    name: str
    value: Any
    meaning: str
    symbol: str = ""


def parameters_of(config: Any, symbols: Mapping[str, str], prefix: str = "") -> list[Parameter]:
    """The parameters of a configuration and of the options in it, in the order of declaration."""
    found = []
    for field in fields(config):
        name, value = prefix + field.name, getattr(config, field.name)
        if is_dataclass(value):
            found += parameters_of(value, symbols, name + ".")
        else:
            meaning = meanings(config.__class__).get(field.name, "")
            found.append(Parameter(name, value, meaning, symbols.get(name, "")))
    return found


def differences(base: Any, config: Any, prefix: str = "") -> dict[str, Any]:
    """What `config` has other values of than `base`, a configuration of the same kind."""
    found: dict[str, Any] = {}
    for field in fields(config):
        name = prefix + field.name
        before, value = getattr(base, field.name), getattr(config, field.name)
        if is_dataclass(value) and type(value) is type(before):
            found |= differences(before, value, name + ".")
        elif value != before:
            found[name] = value
    return found


@cache
def meanings(kind: type) -> dict[str, str]:
    """What the docstring of a class says about each of its parameters."""
    section = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")[2]
    return {name: text for names, text in _entries(section.splitlines()) for name in names}


def _entries(lines: list[str]) -> Iterator[tuple[list[str], str]]:
    """Names and text of the entries of a section, up to the next section."""
    names: list[str] = []
    text: list[str] = []
    for line in lines:
        if line.startswith(" "):
            text.append(line.strip())
            continue
        if names:
            yield names, " ".join(text)
        entry = _ENTRY.match(line)
        if line and entry is None:
            return
        names, text = entry["names"].split(", ") if entry else [], []
    if names:
        yield names, " ".join(text)


def written(value: Any) -> str:
    """A value as it is written in a table: long tuples by their ends."""
    if isinstance(value, tuple) and len(value) > 4:
        return f"({value[0]!r}, {value[1]!r}, ... {value[-1]!r})"
    return repr(value)


def written_difference(difference: Mapping[str, Any]) -> str:
    """Differences as they are written in a table."""
    return ", ".join(f"{name}={written(value)}" for name, value in difference.items())
