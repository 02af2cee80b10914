"""Parameters of a function: plain ones, words, and records with the fields that are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from portpart.backends.language.records import Kind, Record, Words

Path = tuple[str, ...]
"""The way from a record to one of its fields, through records inside it."""


@dataclass
class Parameter:
    """One parameter as it is written.

    Attributes
    ----------
    name : str
    kind : type or None
        The record class or class of words that it is annotated with, if any.  A record class
        without fields gives way to the one of its subclasses that is found to be meant.
    used : dict of tuple to None
        Fields that are read or passed on, if it is a record.
    """

    name: str
    kind: Kind | None
    used: dict[Path, None]

    @property
    def is_record(self) -> bool:
        return self.kind is not None and issubclass(self.kind, Record)

    @property
    def is_words(self) -> bool:
        return self.kind is not None and issubclass(self.kind, Words)

    @property
    def paths(self) -> list[Path]:
        """Used fields in the order of their record."""
        return sorted(self.used, key=self.place_of)

    def place_of(self, path: Path) -> list[int]:
        """Where a field stands among the others."""
        place = []
        kind: Any = self.kind
        for field in path:
            place.append(kind.field_names.index(field))
            kind = kind.kind_of(field)
        return place

    @property
    def flat(self) -> list[str]:
        """Names in the flat function: one for each used field, or the parameter's own."""
        if not self.is_record:
            return [self.name]
        return [flat_name(self.name, path) for path in self.paths]


def flat_name(record: str, path: Path) -> str:
    """What a field is called in the flat function."""
    return "_".join((record, *path))


class Mismatch(Exception):
    """A launch argument that does not fit its parameter."""


class Flat:
    """Launch arguments with fields in place of records, and arrays in place of words."""

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        self._plan = [(each, each.kind, getter(places_of(each))) for each in parameters]

    def __len__(self) -> int:
        return len(self._plan)

    def __call__(self, arguments: Iterable[Any]) -> list[Any]:
        """The flat arguments.

        Raises
        ------
        Mismatch
            If one of them is of another kind than its parameter.
        """
        result: list[Any] = []
        for (parameter, kind, fields), argument in zip(self._plan, arguments, strict=True):
            if kind is None:
                result.append(argument)
            elif not isinstance(argument, kind):
                raise Mismatch(f"parameter {parameter.name!r} takes a record of class "
                               f"{kind.__name__}, not {type(argument).__name__}")
            else:
                result += fields(argument)
        return result


def places_of(parameter: Parameter) -> list[str]:
    """Where a launch finds the used fields in a record, and the array of words."""
    if parameter.is_words:
        return ["array"]
    if not parameter.is_record:
        return []
    places = []
    for path in parameter.paths:
        kind: Any = parameter.kind
        for field in path:
            kind = kind.kind_of(field)
        places.append(".".join(path) + (".array" if kind is not None else ""))
    return places


def getter(places: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads all these attributes of an object at once."""
    if len(places) > 1:
        return attrgetter(*places)
    if not places:
        return lambda _: ()
    read = attrgetter(places[0])
    return lambda record: (read(record),)
