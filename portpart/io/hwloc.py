"""Nodes in files of hwloc: ``lstopo node.xml``, versions 1 and 2."""

from __future__ import annotations

from typing import Any, NoReturn
from xml.parsers import expat

from portpart.errors import GraphFormatError
from portpart.io.cores import Cores
from portpart.io.text.files import Source
from portpart.options import shown

CORE, THREAD = "Core", "PU"
NAMES = {"Package": "package", "Socket": "package", "Die": "die", "NUMANode": "NUMA node",
         "L3Cache": "L3 cache", "L2Cache": "L2 cache", "Group": "group"}
LONGEST_NUMBER = 9
MAX_DEPTH = 64


def cores_of_xml(source: Source) -> Cores:
    """The cores of a node, with the objects around each.

    Raises
    ------
    GraphFormatError
        Naming file and line of what is not of hwloc; of entities, which could grow without bound.
    """
    reader = _Reader(source)
    parser = expat.ParserCreate("utf-8")  # whatever the file says of itself
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
        self._open: list[tuple[str, int]] = []  # type of an object, and how many came before
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
            self._refuse(f"objects lie more than {MAX_DEPTH} deep")
        kind = attributes.get("type", "")
        if kind == "Cache":  # of version 1
            kind = f"L{attributes.get('depth', '')[:1]}Cache"
        self._open.append((kind, self._objects))
        kinds = [kind for kind, _ in self._open]
        if kinds[-1] == CORE:
            self._core_done = False
        elif kinds[-1] == THREAD and not (CORE in kinds and self._core_done):
            self._core_done = True  # of a core its first thread counts
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
