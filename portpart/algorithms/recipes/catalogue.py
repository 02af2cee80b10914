"""Tables of algorithms, and descriptions of configurations.

The meaning of a parameter is in the metadata of its field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from portpart.errors import InputError, shown

if TYPE_CHECKING:
    from portpart.options import Configuration


@dataclass(frozen=True)
class Parameter:
    """One parameter of a configuration.

    Attributes
    ----------
    name : str
        The name; parameters of nested options have dotted names.
    value : object
    meaning : str
        Parameters that are explained together have the same meaning.
    symbol : str
        The parameter's name in the source of the algorithm, or an empty string.
    """

    name: str
    value: Any
    meaning: str
    symbol: str = ""


@dataclass(frozen=True)
class Entry:
    """An algorithm of a table, with its presets.

    Attributes
    ----------
    name, title : str
        The value of ``algorithm=``, and the usual name.
    purpose : str
        One line about the algorithm.
    source : str
        Papers or projects.
    presets : mapping
        Configurations by name; one of them is ``"default"``.
    symbols : mapping
        Names of parameters in the source.
    task : str
        ``"partition"`` or ``"map"``: the command that runs the algorithm.
    takes : str
        ``"graphs"`` or ``"hypergraphs"``: the input of the presets.
    """

    task: ClassVar[str]

    name: str
    title: str
    purpose: str
    source: str
    presets: Mapping[str, Configuration]
    symbols: Mapping[str, str] = field(default_factory=dict)
    takes: str = "graphs"

    @property
    def kind(self) -> type:
        """The class of the configurations."""
        return type(self.presets["default"])

    def parameters(self, preset: str = "default") -> list[Parameter]:
        """Return all parameters of a preset; those of nested options have dotted names."""
        return parameters_of(self.preset(preset), self.symbols)

    def difference(self, preset: str) -> dict[str, Any]:
        """Return the parameters whose values differ from those of the preset "default"."""
        return differences(self.preset("default"), self.preset(preset))

    def preset(self, name: str) -> Any:
        """Return the configuration called `name`.

        Raises
        ------
        InputError
            If there is none.
        """
        if name not in self.presets:
            raise InputError(f"preset is {shown(name)}; it must be one of {_names(self.presets)}")
        return self.presets[name]


Kind = TypeVar("Kind", bound=Entry)


class Table(Mapping[str, Kind]):
    """Entries by name, each made at its first use.

    Attributes
    ----------
    makers : dict of str to callable
    """

    def __init__(self, makers: dict[str, Callable[[], Kind]]) -> None:
        self.makers = makers
        self._made: dict[str, Kind] = {}

    def __getitem__(self, name: str) -> Kind:
        if name not in self._made:
            self._made[name] = self.makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)


def by_name(table: Mapping[str, Kind], name: str) -> Kind:
    """Return the entry called `name`.

    Raises
    ------
    InputError
        If there is none.
    """
    if not isinstance(name, str) or name not in table:
        raise InputError(f"algorithm is {shown(name)}; it must be one of {_names(table)}")
    return table[name]


def chosen(table: Mapping[str, Kind], name: str | None, preset: str | Configuration,
           default: str) -> tuple[Kind, Any]:
    """Return the entry called `name` and its configuration; `preset` may be a configuration.

    Without a name, the configuration determines the entry; else it is the default.

    Raises
    ------
    InputError
        If either is unknown.
    """
    if name is None:
        of_kind = (each for each, entry in table.items() if type(preset) is entry.kind)
        name = default if isinstance(preset, str) else next(of_kind, default)
    found = by_name(table, name)
    if isinstance(preset, str):
        return found, found.preset(preset)
    if not isinstance(preset, found.kind):
        raise InputError(f"preset must be a name or a {found.kind.__name__}, not {shown(preset)}")
    return found, preset


def _names(table: Mapping[str, Any]) -> str:
    return ", ".join(repr(name) for name in table)


def parameters_of(config: Configuration, symbols: Mapping[str, str],
                  prefix: str = "") -> list[Parameter]:
    """Return the parameters of a configuration and of its nested options, in declared order."""
    found = []
    for each in fields(config):
        name, value = prefix + each.name, getattr(config, each.name)
        if is_dataclass(value) and not isinstance(value, type):
            found += parameters_of(value, symbols, name + ".")
        else:
            found.append(Parameter(name, value, each.metadata["help"], symbols.get(name, "")))
    return found


def differences(base: Configuration, config: Configuration, prefix: str = "") -> dict[str, Any]:
    """Return the values of `config` that differ from `base`, a configuration of the same kind."""
    found: dict[str, Any] = {}
    for each in fields(config):
        name = prefix + each.name
        before, value = getattr(base, each.name), getattr(config, each.name)
        if is_dataclass(value) and not isinstance(value, type) and type(value) is type(before):
            found |= differences(before, value, name + ".")
        elif value != before:
            found[name] = value
    return found


def written(value: Any) -> str:
    """Format a value for a table; long tuples are abbreviated."""
    if isinstance(value, tuple) and len(value) > 4:
        return f"({value[0]!r}, {value[1]!r}, ... {value[-1]!r})"
    return repr(value)


def written_difference(difference: Mapping[str, Any]) -> str:
    """Format differences for a table."""
    return ", ".join(f"{name}={written(value)}" for name, value in difference.items())
