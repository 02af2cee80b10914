r"""Escaped names without what only marks them in the text.

The backslash before an escaped identifier and the blank behind it are not part of the name: ``\a``
is ``a``, and ``\reg[10]`` is ``reg[10]`` (IEEE Std 1364-2005, 3.7.1).  Modules keep the backslash
while they are read, as a net ``\a[1]`` is another one than bit 1 of the vector ``a``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

SEPARATOR = "/"
MARK = "\\"


def plain(name: str) -> str:
    r"""Return a name as modules have it without backslash and blank: ``\a.b [3]`` is ``a.b[3]``."""
    return name[1:].replace(" [", "[") if name[0] == MARK else name


class Prefix(NamedTuple):
    """What stands before the names inside of an instance: as in the text, and plain."""

    text: str = ""
    plain: str = ""

    def inside(self, instance: str) -> Prefix:
        """The prefix inside of an instance that is here."""
        return Prefix(self.text + instance + SEPARATOR, self.plain + plain(instance) + SEPARATOR)


class PlainNames:
    """Names that grow in number, and the escaped ones among them as they are in the text."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._escaped: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._names)

    def add(self, prefix: Prefix, names: Iterable[str]) -> None:
        """Add names as modules have them."""
        for name in names:
            full = prefix.plain + plain(name)
            text = prefix.text + name
            if text != full:
                self._escaped[len(self._names)] = text
            self._names.append(full)

    @property
    def any_escaped(self) -> bool:
        """Whether there are names that differ from those in the text."""
        return bool(self._escaped)

    def distinct(self) -> list[str]:
        """Return the names; one that another has, too, keeps its backslash where it is escaped."""
        if not self._escaped or len(set(self._names)) == len(self._names):
            return self._names
        count = Counter(self._names)
        return [self._escaped.get(at, name) if count[name] > 1 else name
                for at, name in enumerate(self._names)]


def plain_names(names: Iterable[str]) -> list[str]:
    """Return names of the top module, or of cells, without what marks them."""
    found = PlainNames()
    found.add(Prefix(), names)
    return found.distinct()
