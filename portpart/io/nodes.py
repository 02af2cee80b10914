"""Machines of equal nodes, whose cores are described by a file of hwloc or by ``/sys``."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

import numpy as np
from numpy.typing import ArrayLike

from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats.text import PathLike, Source, read_source
from portpart.graphs import MAX_ELEMENTS, Topology
from portpart.options import checked_integer


class Machine(NamedTuple):
    """A machine whose elements are cores.

    Attributes
    ----------
    topology : Topology
        Levels of the machine, with a distance for each.
    node_levels : int
        Number of levels inside a node, for :func:`write_rankfile`.
    cpus : tuple of int
        The operating system's number of the first CPU of each core of a node, in the order of
        elements.
    level_names : tuple of str
        Resource that the parts of each level share, such as ``"L3 cache"``; innermost level first.

    Examples
    --------
    >>> import portpart
    >>> two = portpart.Topology("2", "1")
    >>> portpart.io.Machine(two, node_levels=1, cpus=(0, 1), level_names=("node",)).cpus
    (0, 1)
    """

    topology: Topology
    node_levels: int
    cpus: tuple[int, ...]
    level_names: tuple[str, ...]


def read_machine(path: PathLike, *, nodes: int = 1, distances: ArrayLike | None = None) -> Machine:
    """Read a machine of equal nodes from a file or a folder.

    Parameters
    ----------
    path : str or PathLike
        An XML file of hwloc (``lstopo node.xml``), plain or compressed, ``-`` for standard input;
        or a folder: ``/sys`` of Linux, or a copy of it.
    nodes : int, default 1
        Number of nodes.
    distances : str or sequence of int, optional
        The distance of each level, as for :class:`portpart.Topology`; default: 1, 10, 100 ...

    Returns
    -------
    Machine
        Elements are cores.  Levels are packages, dies, NUMA nodes, groups and caches that several
        but not all cores share.

    Raises
    ------
    GraphFormatError
        If the file does not describe a node, or its parts differ in size; with the file, and the
        line of XML.
    InputError
        If it cannot be read, or `nodes` or `distances` do not fit.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> core = '<object type="Core"><object type="PU" os_index="{}"/></object>'
    >>> package = f'<object type="Package">{core}{core}</object>'
    >>> _ = Path("node.xml").write_text(
    ...     f"<topology>{package}{package}</topology>".format(0, 1, 2, 3))
    >>> machine = portpart.io.read_machine("node.xml", nodes=4)
    >>> machine.topology
    <Topology: 16 elements, 2:2:4 at distances 1:10:100>
    >>> machine.level_names
    ('package', 'node', 'machine')
    """
    nodes = checked_integer("nodes", nodes, 1, MAX_ELEMENTS)
    name = os.fspath(path)
    if os.path.isdir(name):
        cores = cores_of_sys(name)
    else:
        source = read_source(name, None, (".xml",))
        name, cores = source.name, cores_of_xml(source)
    names, arities, cpus = levels_of(name, cores)
    inside = len(arities)
    if nodes > 1:
        names, arities = [*names, "machine"], [*arities, nodes]
    if distances is None:
        distances = [10**level for level in range(len(arities))]
    return Machine(Topology(arities, distances), inside, tuple(cpus), tuple(names))


# The cores of a node and the resources that they share, as a hierarchy of equal parts ----------


@dataclass
class Cores:
    """The cores of a node, as listed in a file.

    Attributes
    ----------
    cpus : list of int
        The operating system's number of the first CPU of each core.
    shared : dict of str to list
        By kind, such as ``"package"``: the resource of each core, or None.
    """

    cpus: list[int] = field(default_factory=list)
    shared: dict[str, list[Hashable]] = field(default_factory=dict)


def levels_of(name: str, cores: Cores) -> tuple[list[str], list[int], list[int]]:
    """Return the levels of a node. Kinds that divide the cores like others, or not at all, are left
    out.

    Returns the resource that the parts of each level share, from the innermost outwards to the
    node; the number of parts of each; and the CPUs of the cores in the order of elements.

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
    return names[-2::-1], arities[::-1], [cores.cpus[core] for core in order.tolist()]


def _numbered(ids: Sequence[Hashable]) -> tuple[int, ...]:
    number: dict[Hashable, int] = {}
    return tuple(number.setdefault(each, len(number)) for each in ids)


def _arity(name: str, cores: Cores, kinds: list[str], outer: tuple[int, ...],
           inner: tuple[int, ...]) -> int:
    """Return how many parts of the inner kind each part of the outer kind has."""
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


# Nodes in files of hwloc: ``lstopo node.xml``, versions 1 and 2 --------------------------------


CORE, THREAD = "Core", "PU"
NAMES = {"Package": "package", "Socket": "package", "Die": "die", "NUMANode": "NUMA node",
         "L3Cache": "L3 cache", "L2Cache": "L2 cache", "Group": "group"}
LONGEST_NUMBER = 9
MAX_DEPTH = 64


def cores_of_xml(source: Source) -> Cores:
    """Return the cores of a node, with the objects around each.

    Raises
    ------
    GraphFormatError
        With file and line, if the file is not from hwloc, or has entities, which could expand
        without limit.
    """
    reader = _Reader(source)
    parser = expat.ParserCreate("utf-8")  # whatever the file declares
    parser.StartElementHandler, parser.EndElementHandler = reader.begin, reader.end
    parser.EntityDeclHandler = reader.refuse_entity
    reader.parser = parser
    try:
        parser.Parse(source.data, True)
    except expat.ExpatError as problem:
        source.refuse(problem.lineno, f"{expat.ErrorString(problem.code)}; a file of lstopo is XML")
    if not reader.cores.cpus:
        raise GraphFormatError(f"{source.name}: holds no cores; lstopo writes them (lstopo "
                               "node.xml)")
    return reader.cores


class _Reader:
    """Follows the objects that are open."""

    parser: Any

    def __init__(self, source: Source) -> None:
        self.source, self.cores = source, Cores()
        self._open: list[tuple[str, int]] = []  # type of an object, and number of previous ones
        self._objects, self._core_done = 0, False
        self._is_first = True

    def begin(self, element: str, attributes: dict[str, str]) -> None:
        if self._is_first and element != "topology":
            self._refuse(f"begins with <{element[:40]}>; a file of lstopo begins with <topology>")
        self._is_first = False
        if element != "object":
            return
        self._objects += 1
        if len(self._open) == MAX_DEPTH:
            self._refuse(f"objects are nested more than {MAX_DEPTH} deep")
        kind = attributes.get("type", "")
        if kind == "Cache":  # version 1
            kind = f"L{attributes.get('depth', '')[:1]}Cache"
        self._open.append((kind, self._objects))
        kinds = [kind for kind, _ in self._open]
        if kinds[-1] == CORE:
            self._core_done = False
        elif kinds[-1] == THREAD and not (CORE in kinds and self._core_done):
            self._core_done = True  # the first thread of a core counts
            self._add_core(attributes.get("os_index", ""), kinds)

    def end(self, element: str) -> None:
        if element == "object":
            self._open.pop()

    def refuse_entity(self, name: str, *_: Any) -> None:
        self._refuse(f"declares the entity {shown(name[:40])}; files of lstopo have none")

    def _add_core(self, cpu: str, kinds: list[str]) -> None:
        if not cpu.isdecimal() or len(cpu) > LONGEST_NUMBER:
            self._refuse(f"a PU has os_index {shown(cpu)}; the number of a CPU is needed")
        end = kinds.index(CORE) if CORE in kinds else len(kinds) - 1
        shared = {NAMES.get(kind, kind) + (f" {depth}" if kind in kinds[:depth] else ""): number
                  for depth, (kind, number) in enumerate(self._open[:end])}
        if self.cores.cpus and shared.keys() != self.cores.shared.keys():
            self._refuse(f"CPU {cpu} is in {', '.join(shared)} and CPU {self.cores.cpus[0]} in "
                         f"{', '.join(self.cores.shared)}; a hierarchy has equal parts")
        self.cores.cpus.append(int(cpu))
        for kind, number in shared.items():
            self.cores.shared.setdefault(kind, []).append(number)

    def _refuse(self, problem: str) -> NoReturn:
        self.source.refuse(self.parser.CurrentLineNumber, problem)


# Nodes as Linux shows them in ``/sys``: the running one, or a copy of another one's folder -----


CPU = re.compile(r"cpu(\d{1,9})")
NODE = re.compile(r"node(\d{1,9})")
CPU_LIST = re.compile(r"\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*")
MAX_CPUS = 1 << 20
CPUS, NODES = os.path.join("devices", "system", "cpu"), os.path.join("devices", "system", "node")

# newer names first
OF_CORE = ("core_cpus_list", "thread_siblings_list")
OF_PACKAGE = ("package_cpus_list", "core_siblings_list")
OF_DIE = ("die_cpus_list",)
CACHES = {"3": "L3 cache", "2": "L2 cache"}


def cores_of_sys(folder: str) -> Cores:
    """Return the cores of a node, with package, die, NUMA node and caches of each.

    Parameters
    ----------
    folder : str
        ``/sys``, or a copy with ``devices/system/cpu`` in it.

    Raises
    ------
    InputError
        If there is no such folder.
    GraphFormatError
        With the file that is missing or is not a list of CPUs.
    """
    place = os.path.join(folder, CPUS)
    cpus = _numbers_in(place, CPU)
    numa = {cpu: number for number in _numbers_in(os.path.join(folder, NODES), NODE, needed=False)
            for cpu in _list(os.path.join(folder, NODES, f"node{number}", "cpulist"))}
    cores = Cores()
    for cpu in cpus:
        about = os.path.join(place, f"cpu{cpu}", "topology")
        if not os.path.isdir(about):  # the core is offline
            continue
        threads = _first_list(about, OF_CORE)
        if threads is None:
            raise GraphFormatError(f"{os.path.join(about, OF_CORE[0])}: is missing; what is read "
                                   "is /sys, or a copy of it")
        if cpu != min(threads):
            continue
        cores.cpus.append(cpu)
        shared = {"package": _first_list(about, OF_PACKAGE), "die": _first_list(about, OF_DIE),
                  "NUMA node": (numa[cpu],) if cpu in numa else None,
                  **_caches(os.path.join(place, f"cpu{cpu}", "cache"))}
        for kind in ("package", "die", "NUMA node", *CACHES.values()):
            cores.shared.setdefault(kind, []).append(shared.get(kind))
    if not cores.cpus:
        raise GraphFormatError(f"{place}: no CPU has a folder topology; what is read is /sys, or a "
                               "copy of it")
    return cores


def _numbers_in(folder: str, name: re.Pattern[str], needed: bool = True) -> list[int]:
    """Return the numbers of the entries cpu0, cpu1 ... of a folder."""
    try:
        entries = os.listdir(folder)
    except OSError as problem:
        if not needed:
            return []
        raise InputError(f"{folder} cannot be read: {problem.strerror}") from problem
    return sorted(int(found[1]) for entry in entries if (found := name.fullmatch(entry)))


def _caches(folder: str) -> dict[str, tuple[int, ...]]:
    """Return the CPUs that share each cache with one."""
    found = {}
    for number in _numbers_in(folder, re.compile(r"index(\d{1,9})"), needed=False):
        index = os.path.join(folder, f"index{number}")
        kind = CACHES.get(_text(os.path.join(index, "level")) or "")
        if kind is not None:
            found[kind] = _list(os.path.join(index, "shared_cpu_list"))
    return found


def _first_list(folder: str, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """Return the list in the first of some files that exists."""
    for name in names:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return _list(path)
    return None


def _list(path: str) -> tuple[int, ...]:
    """Return the CPUs of ``0-3,8``; none for a node with memory only."""
    text = _text(path)
    if text == "":
        return ()
    if text is None or not CPU_LIST.fullmatch(text):
        found = "is missing" if text is None else f"holds {shown(text)}"
        raise GraphFormatError(f"{path}: {found}; a list of CPUs like 0-3,8 is needed")
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        many = range(int(first), int(last or first) + 1)
        if len(cpus) + len(many) > MAX_CPUS:
            raise GraphFormatError(f"{path}: holds {shown(text)}, more than {MAX_CPUS} CPUs")
        cpus += many
    if not cpus:
        raise GraphFormatError(f"{path}: holds {shown(text)}; a list of CPUs like 0-3,8 is needed")
    return tuple(cpus)


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None
