"""Nodes as Linux shows them in ``/sys``: the running one, or a copy of the folder of another."""

from __future__ import annotations

import os
import re

from portpart.errors import GraphFormatError, InputError
from portpart.io.cores import Cores
from portpart.options import shown

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
    """The cores of a node, with package, die, NUMA node and caches of each.

    Parameters
    ----------
    folder : str
        ``/sys``, or a copy with ``devices/system/cpu`` in it.

    Raises
    ------
    InputError
        If there is no such folder.
    GraphFormatError
        Naming the file that is missing or no list of CPUs.
    """
    place = os.path.join(folder, CPUS)
    cpus = _numbered(place, CPU)
    numa = {cpu: number for number in _numbered(os.path.join(folder, NODES), NODE, needed=False)
            for cpu in _list(os.path.join(folder, NODES, f"node{number}", "cpulist"))}
    cores = Cores()
    for cpu in cpus:
        about = os.path.join(place, f"cpu{cpu}", "topology")
        if not os.path.isdir(about):  # it is offline
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


def _numbered(folder: str, name: re.Pattern[str], needed: bool = True) -> list[int]:
    """The numbers of the entries cpu0, cpu1 ... of a folder."""
    try:
        entries = os.listdir(folder)
    except OSError as problem:
        if not needed:
            return []
        raise InputError(f"{folder} cannot be read: {problem.strerror}") from problem
    return sorted(int(found[1]) for entry in entries if (found := name.fullmatch(entry)))


def _caches(folder: str) -> dict[str, tuple[int, ...]]:
    """The CPUs that share each cache with one."""
    found = {}
    for number in _numbered(folder, re.compile(r"index(\d{1,9})"), needed=False):
        index = os.path.join(folder, f"index{number}")
        kind = CACHES.get(_text(os.path.join(index, "level")) or "")
        if kind is not None:
            found[kind] = _list(os.path.join(index, "shared_cpu_list"))
    return found


def _first_list(folder: str, names: tuple[str, ...]) -> tuple[int, ...] | None:
    """The list in the first of some files that is there."""
    for name in names:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return _list(path)
    return None


def _list(path: str) -> tuple[int, ...]:
    """CPUs of ``0-3,8``; a node of memory alone has none."""
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
