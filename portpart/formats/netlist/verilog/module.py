"""A module as in the file: its nets, ports, instances, aliases and names."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn, Protocol

from portpart.errors import shown

# A module as in the file: its nets, ports, instances and aliases -------------------------------


CONSTANT = 0
"""Number of the net of all constants; other nets are counted from 1."""

MAX_WIDTH = 1 << 20
"""Maximum length of a vector: a longer one is considered a mistake."""


class VerilogText(Protocol):
    """The text that modules are in."""

    @property
    def source_name(self) -> str:
        """Name of the file."""

    def refuse(self, problem: str, position: int | None = None) -> NoReturn:
        """Raise an error for a position, or for the current one."""


@dataclass(eq=False)
class Module:
    """The contents of a module's text, bit by bit.

    Attributes
    ----------
    name, position
        Its name, and the name's position in the text.
    in_library : bool
        Whether it is between ```celldefine`` and ```endcelldefine``.
    ports : dict
        Direction of each port in the order of the header, ``""`` until it is declared.
    bits : dict
        Number of each net by name; bit 3 of vector ``a`` is ``a[3]``.
    vectors : dict
        Left and right index of each vector.
    names, cells, positions
        For each instance its name, its module or cell, and its position.
    starts, labels, nets : array
        Instance i is connected by its ports ``labels[starts[i]:starts[i + 1]]``, one entry per
        bit, to `nets`.
    aliases : list
        Pairs of nets that ``assign`` joins.
    open_ports : set
        Pairs (cell, port) that occur unconnected.
    """

    name: str
    position: int
    in_library: bool = False
    ports: dict[str, str] = field(default_factory=dict)
    bits: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, tuple[int, int]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    positions: array[int] = field(default_factory=lambda: array("q"))
    starts: array[int] = field(default_factory=lambda: array("q", [0]))
    labels: array[int] = field(default_factory=lambda: array("i"))
    nets: array[int] = field(default_factory=lambda: array("i"))
    aliases: list[tuple[int, int]] = field(default_factory=list)
    open_ports: set[tuple[str, str]] = field(default_factory=set)

    @property
    def is_cell(self) -> bool:
        """Whether its instances are gates: a library cell, or a black box without contents."""
        return self.in_library or not (self.names or self.aliases)

    def declare(self, name: str, span: tuple[int, int] | None) -> str | None:
        """Add a net or a vector; return what is wrong with it, if anything."""
        known = self.vectors.get(name)
        if name in self.bits or known is not None:
            if span == known:
                return None
            return f"{shown(name)} was declared or used before with another range"
        if span is None:
            self.bits[name] = len(self.bits) + 1
            return None
        if abs(span[0] - span[1]) >= MAX_WIDTH:
            return f"{shown(name)} has more than {MAX_WIDTH} bits"
        self.vectors[name] = span
        for index in indices(*span):
            self.bits[bit_name(name, index)] = len(self.bits) + 1
        return None

    def whole(self, name: str) -> list[int]:
        """Return the nets of a name, the left one first; an unknown name becomes a net, as in
        Verilog.
        """
        span = self.vectors.get(name)
        if span is None:
            return [self.bits.setdefault(name, len(self.bits) + 1)]
        return self.part(name, *span)

    def part(self, name: str, left: int, right: int) -> list[int]:
        """Return the nets of a part of a vector."""
        return [self.bits[bit_name(name, index)] for index in indices(left, right)]


def indices(left: int, right: int) -> range:
    """Return the indices of ``[left:right]`` from left to right."""
    return range(left, right - 1, -1) if left >= right else range(left, right + 1)


def bit_name(vector: str, index: int) -> str:
    r"""Return the name of a bit: ``a[3]``; ``\a.b [3]``, as the blank ends an escaped name."""
    return f"{vector} [{index}]" if vector[0] == "\\" else f"{vector}[{index}]"


# Escaped names without their marks -------------------------------------------------------------
#
# The backslash before an escaped identifier and the blank after it are not part of the name: ``\a``
# is ``a``, and ``\reg[10]`` is ``reg[10]`` (IEEE Std 1364-2005, 3.7.1).  Modules keep the backslash
# while they are read, as a net ``\a[1]`` is another one than bit 1 of the vector ``a``.


SEPARATOR = "/"
MARK = "\\"


def plain(name: str) -> str:
    r"""Return a name of a module without backslash and blank: ``\a.b [3]`` is ``a.b[3]``."""
    return name[1:].replace(" [", "[") if name[0] == MARK else name


class Prefix(NamedTuple):
    """Prefix of the names inside of an instance: as in the text, and plain."""

    text: str = ""
    plain: str = ""

    def inside(self, instance: str) -> Prefix:
        """Return the prefix inside of an instance in this one."""
        return Prefix(self.text + instance + SEPARATOR, self.plain + plain(instance) + SEPARATOR)


class PlainNames:
    """A growing list of names, with the escaped ones as in the text."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._escaped: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._names)

    def add(self, prefix: Prefix, names: Iterable[str]) -> None:
        """Add names of modules."""
        for name in names:
            full = prefix.plain + plain(name)
            text = prefix.text + name
            if text != full:
                self._escaped[len(self._names)] = text
            self._names.append(full)

    @property
    def any_escaped(self) -> bool:
        """Whether any name differs from that in the text."""
        return bool(self._escaped)

    def distinct(self) -> list[str]:
        """Return the names; an escaped name that another one equals keeps its backslash."""
        if not self._escaped or len(set(self._names)) == len(self._names):
            return self._names
        count = Counter(self._names)
        return [self._escaped.get(at, name) if count[name] > 1 else name
                for at, name in enumerate(self._names)]


def plain_names(names: Iterable[str]) -> list[str]:
    """Return names of the top module, or of cells, without their marks."""
    found = PlainNames()
    found.add(Prefix(), names)
    return found.distinct()
