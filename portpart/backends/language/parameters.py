"""Parameters of a function: plain ones, words, and records with the fields that are used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from portpart.backends.language.records import Record, Words


@dataclass
class Parameter:
    """One parameter as it is written.

    Attributes
    ----------
    name : str
    kind : type or None
        The record class or class of words that it is annotated with, if any.  A record class
        without fields gives way to the one of its subclasses that is found to be meant.
    used : dict of str to None
        Fields that are read or passed on, if it is a record.
    """

    name: str
    kind: type[Record] | type[Words] | None
    used: dict[str, None]

    @property
    def is_record(self) -> bool:
        return self.kind is not None and issubclass(self.kind, Record)

    @property
    def is_words(self) -> bool:
        return self.kind is not None and issubclass(self.kind, Words)

    @property
    def fields(self) -> list[str]:
        """Used fields in the order of their record."""
        assert self.kind is not None
        assert issubclass(self.kind, Record)
        return [name for name in self.kind.field_names if name in self.used]

    @property
    def flat(self) -> list[str]:
        """Names in the flat function: one for each used field, or the parameter's own."""
        if not self.is_record:
            return [self.name]
        return [flat_name(self.name, field) for field in self.fields]


def flat_name(record: str, field: str) -> str:
    """What a field is called in the flat function."""
    return f"{record}_{field}"


class Mismatch(Exception):
    """A launch argument that does not fit its parameter."""


def flattened(parameters: Iterable[Parameter], arguments: Iterable[Any]) -> list[Any]:
    """The arguments with fields in place of records, and arrays in place of words.

    Raises
    ------
    Mismatch
        If one of them is of another kind than its parameter.
    """
    result: list[Any] = []
    for parameter, argument in zip(parameters, arguments, strict=True):
        if parameter.kind is None:
            result.append(argument)
        elif not isinstance(argument, parameter.kind):
            raise Mismatch(f"parameter {parameter.name!r} takes a record of class "
                           f"{parameter.kind.__name__}, not {type(argument).__name__}")
        elif isinstance(argument, Words):
            result.append(argument.array)
        else:
            result += [getattr(argument, field) for field in parameter.fields]
    return result
