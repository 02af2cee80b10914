"""Parameters of a function: plain ones, words, and records with the fields that are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from portpart.backends.language.records import Kind, Record, Scope, Words

Path = tuple[str, ...]
"""The path from a record to one of its fields, through records inside it."""


OF_WORDS = "words_of_"
"""Prefix of the name of an array that parts of words share."""


@dataclass
class KernelParameter:
    """A parameter as written.

    Attributes
    ----------
    name : str
    kind : type or None
        The record class or class of words in its annotation, if any. A record class without fields
        is replaced by the subclass that is needed.
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
        """Return the used fields in the order of their record."""
        return sorted(self.used, key=self.place_of)

    def place_of(self, path: Path) -> list[int]:
        """Return the place of a field among the others."""
        place = []
        kind: Any = self.kind
        for field in path:
            place.append((*kind.field_names, "own_words").index(field))
            kind = kind.kind_of(field)
        return place

    @property
    def is_scope(self) -> bool:
        return self.kind is not None and issubclass(self.kind, Scope)

    @property
    def flat_paths(self) -> list[Path]:
        """Return its parts in the flat function: its used fields, or only itself."""
        return self.paths if self.is_record else [()]

    def flat_name(self, path: Path) -> str:
        """Return the flat name of a part; parts of one array of words have the same name."""
        kind: Any = self.kind
        for field in path:
            kind = kind.kind_of(field)
        whole = getattr(kind, "whole", None)
        if whole is None:
            return flat_name(self.name, path)
        return f"{OF_WORDS}{whole.__name__.lower()}"


def flat_parameters(
        parameters: Iterable[KernelParameter]) -> list[tuple[KernelParameter, Path, str]]:
    """Return parameter, field and name of each parameter of the flat function."""
    found: dict[str, tuple[KernelParameter, Path, str]] = {}
    for parameter in parameters:
        for path in parameter.flat_paths:
            name = parameter.flat_name(path)
            found.setdefault(name, (parameter, path, name))
    return list(found.values())


def flat_name(record: str, path: Path) -> str:
    """Return the name of a field in the flat function."""
    return "_".join((record, *path))


def is_of_words(name: str) -> bool:
    """Whether a parameter of a flat function is an array of words, by its name."""
    return name.startswith(OF_WORDS) or name.endswith("_own_words")


def fits(given: Kind, needed: Kind) -> bool:
    """Whether a record or words of one class may be passed as another class.

    Words may be passed as one of their parts, and for a record of which only words are used; a
    scope may be passed as one with fewer fields.
    """
    if issubclass(needed, Record) and issubclass(given, Words):
        return needed.own_words is not None and issubclass(given, needed.own_words)
    return issubclass(given, needed) or (
        issubclass(needed, Scope) and issubclass(given, Scope) and needed.field_names != ()
        and all(name in given.field_names and given.kind_of(name) is needed.kind_of(name)
                for name in needed.field_names))


class Mismatch(Exception):
    """A launch argument does not match its parameter."""


def require_fit(argument: Any, parameter: KernelParameter, kind: Kind) -> None:
    """Raise Mismatch unless a parameter of this kind accepts an argument of another class."""
    if not (isinstance(argument, (Record, Words)) and fits(type(argument), kind)):
        raise Mismatch(f"parameter {parameter.name!r} takes a record of class {kind.__name__}, "
                       f"not {type(argument).__name__}")
    if isinstance(argument, Words) and parameter.is_record and (
            list(parameter.used) != [("own_words",)]):
        raise Mismatch(f"parameter {parameter.name!r} takes arrays of {kind.__name__}, "
                       "not its words alone")


class FlatArguments:
    """Launch arguments with fields in place of records, and arrays in place of words."""

    def __init__(self, parameters: Iterable[KernelParameter]) -> None:
        parameters = list(parameters)
        taken = flat_parameters(parameters)
        self._plan = [(each, each.kind, getter(places_of(each, [
            path for owner, path, _ in taken if owner is each]))) for each in parameters]
        wholes = (places_of_whole(parameters, name) for _, _, name in taken
                  if name.startswith(OF_WORDS))
        self._wholes = [places for places in wholes if len(places) > 1]

    def __len__(self) -> int:
        return len(self._plan)

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the flat arguments.

        Raises
        ------
        Mismatch
            If an argument is not of its parameter's kind.
        """
        result: list[Any] = []
        for (parameter, kind, fields), argument in zip(self._plan, arguments, strict=True):
            if kind is None:
                result.append(argument)
                continue
            if not isinstance(argument, kind):  # rare, and slower to check
                require_fit(argument, parameter, kind)
            result += fields(argument)
        for places in self._wholes:
            arrays = [read(arguments[number]) for number, read in places]
            if any(array is not arrays[0] for array in arrays):
                raise Mismatch("parts of words that belong together are of different arrays")
        return result


def places_of_whole(parameters: list[KernelParameter],
                    name: str) -> list[tuple[int, Callable[[Any], Any]]]:
    """Return the places of all parts of one array of words: numbers of parameters, and readers."""
    return [(number, attrgetter(*places_of(parameter, [path])))
            for number, parameter in enumerate(parameters)
            for path in parameter.flat_paths if parameter.flat_name(path) == name]


def places_of(parameter: KernelParameter, paths: list[Path]) -> list[str]:
    """Return the attributes for these fields of a record, or for the array of words."""
    if parameter.is_words:
        return ["array"] * len(paths)
    if not parameter.is_record:
        return []
    places = []
    for path in paths:
        kind: Any = parameter.kind
        for field in path:
            kind = kind.kind_of(field)
        places.append(".".join(path) + (".array" if kind is not None else ""))
    return places


def getter(places: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads all these attributes of an object."""
    if len(places) > 1:
        return attrgetter(*places)
    if not places:
        return lambda _: ()
    read = attrgetter(places[0])
    return lambda record: (read(record),)
