"""The cores of a node and what they share, which becomes a hierarchy of equal parts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from portpart.errors import GraphFormatError


@dataclass
class Cores:
    """The cores of a node as a file lists them.

    Attributes
    ----------
    cpus : list of int
        The first CPU of each core, by the number that the operating system gives it.
    shared : dict of str to list
        By kind, such as ``"package"``: which one each core belongs to, None for none.
    """

    cpus: list[int] = field(default_factory=list)
    shared: dict[str, list[Hashable]] = field(default_factory=dict)


@dataclass(frozen=True)
class CoreLevels:
    """Equal parts of a node.

    Attributes
    ----------
    names : list of str
        What the parts of each level share, from the innermost outwards; the last is the node.
    arities : list of int
        How many parts each of them has.
    cpus : list of int
        CPUs of the cores in the order of elements.
    """

    names: list[str]
    arities: list[int]
    cpus: list[int]


def levels_of(name: str, cores: Cores) -> CoreLevels:
    """The levels of a node; kinds that divide the cores as others do, or not at all, make none.

    Raises
    ------
    GraphFormatError
        If parts of a level differ in size, or parts of two kinds overlap.
    """
    count = len(cores.cpus)
    kinds: dict[tuple[int, ...], str] = {}
    for kind, ids in cores.shared.items():
        labels = _numbered(ids)
        if 1 < 1 + max(labels) < count:
            kinds.setdefault(labels, kind)
    outermost_first = sorted(kinds, key=max)
    chain = [(0,) * count, *outermost_first, tuple(range(count))]
    names = ["node", *(kinds[labels] for labels in outermost_first), "core"]
    arities = [_arity(name, cores, names[level : level + 2], outer, inner)
               for level, (outer, inner) in enumerate(pairwise(chain))]
    order = np.lexsort(np.array(chain[::-1]))
    return CoreLevels(names[-2::-1], arities[::-1], [cores.cpus[core] for core in order.tolist()])


def _numbered(ids: Sequence[Hashable]) -> tuple[int, ...]:
    number: dict[Hashable, int] = {}
    return tuple(number.setdefault(each, len(number)) for each in ids)


def _arity(name: str, cores: Cores, kinds: list[str], outer: tuple[int, ...],
           inner: tuple[int, ...]) -> int:
    """How many parts of the inner kind each of the outer kind has."""
    whole_of: dict[int, int] = {}
    parts: dict[int, set[int]] = {}
    for core, (whole, part) in enumerate(zip(outer, inner)):
        if whole_of.setdefault(part, whole) != whole:
            raise GraphFormatError(f"{name}: the {kinds[1]} of CPU {cores.cpus[core]} has cores of "
                                   f"two of kind {kinds[0]}; parts of a hierarchy do not overlap: "
                                   "portpart.Topology.from_matrix takes any distances")
        parts.setdefault(whole, set()).add(part)
    sizes = [len(each) for each in parts.values()]
    odd = next((place for place, size in enumerate(sizes) if size != sizes[0]), None)
    if odd is not None:
        cpu = cores.cpus[outer.index(list(parts)[odd])]
        raise GraphFormatError(
            f"{name}: the {kinds[0]} of CPU {cpu} has {sizes[odd]} of kind {kinds[1]} and that of "
            f"CPU {cores.cpus[0]} has {sizes[0]}; a hierarchy has equal parts: leave cores out "
            "(lstopo --restrict), or use portpart.Topology.from_matrix")
    return sizes[0]
