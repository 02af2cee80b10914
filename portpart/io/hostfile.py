"""Names of the nodes of a job: hostfiles of MPI libraries, node lists of Slurm.

    node01 slots=4 max_slots=8      Open MPI
    node01:4  binding=user:0,1      MPICH (Hydra), Intel MPI
    node01                          a name alone, or several on a line
    node[01-03,07],login1           Slurm

``#`` begins a comment. Slots of a repeated name are added, where a name alone counts 1, as in a
file with a line for each process.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from portpart.errors import GraphFormatError, InputError, shown
from portpart.formats.text import PathLike, Source, read_source

MAX_NAMES = 1 << 18
"""Maximum number of names of a node list: ``n[0-999999999]`` has fifteen characters."""

SLOTS = {"slots", "slot", "cpus", "cpu", "count"}
MAX_SLOTS = {f"max{gap}{word}" for gap in "_-" for word in ("slots", "cpus")} | {
    f"{word}{gap}max" for gap in "_-" for word in ("slots", "cpus")}
UNUSED = {"binding", "ifname", "user", "username", "user-name", "user_name", "port", "rack"}
"""Keys that say how to reach a node, not how large it is."""

# Open MPI's relative names, or letters, digits, dots and dashes; not a number alone
NAME = re.compile(r"\+[en][0-9]{1,9}|(?![0-9]+$)[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?")
COUNT = re.compile(r"0{0,8}[1-9][0-9]{0,8}")
RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
GROUP = re.compile(r"\[([^][]*)\]")
# commas separate names, except between brackets
WORD = re.compile(r"(?:\[[^][]*\]|[^\s,])+")

LONGEST_ADDRESS = 50


class Host(NamedTuple):
    """A node.

    Attributes
    ----------
    name : str
    slots : int or None
        Number of processes that may run there, None if the file has no number.

    Examples
    --------
    >>> from portpart.io import Host
    >>> Host("node01", slots=4)
    Host(name='node01', slots=4)
    """

    name: str
    slots: int | None = None


def read_hosts(path: PathLike) -> list[Host]:
    r"""Read the nodes of a hostfile.

    Parameters
    ----------
    path : str or PathLike
        A hostfile of Open MPI, MPICH (Hydra) or Intel MPI, a machinefile with a line for each
        process, names separated by blanks, commas or lines, or a node list as in
        ``SLURM_JOB_NODELIST``; ``-`` reads standard input.

    Returns
    -------
    list of Host
        Each node once, in the order of the file, which is the order of the machine's nodes.

    Raises
    ------
    GraphFormatError
        For an invalid name, an unknown key, or slots that contradict each other; with file and
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from portpart.io import read_hosts
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "hostfile"
    >>> _ = path.write_text("node01 slots=4  # the first\nnode[02-03]:4\n")
    >>> [tuple(host) for host in read_hosts(path)]
    [('node01', 4), ('node02', 4), ('node03', 4)]
    """
    source = read_source(path)
    found: dict[str, list[_Entry]] = {}
    allowed = MAX_NAMES + len(source.data)  # each process may have a line
    for number, _, line in source.lines():
        for entry in _entries(source, number, line.decode("utf-8-sig", "replace")):
            found.setdefault(entry.name, []).append(entry)
            allowed -= 1
        if allowed < 0:
            source.refuse(number, f"node lists up to here have more than {MAX_NAMES} names")
    if not found:
        raise GraphFormatError(f"{source.name}: no names; a hostfile has the name of a node on "
                               "each line")
    return [Host(name, _slots_of(entries)) for name, entries in found.items()]


def expand_nodelist(text: str) -> list[str]:
    """Expand a node list of Slurm to names; numbers keep their leading zeros.

    Parameters
    ----------
    text : str
        As in the variable ``SLURM_JOB_NODELIST``.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        With the part that is neither a name nor a range.

    Examples
    --------
    >>> from portpart.io import expand_nodelist
    >>> expand_nodelist("node[01-03,07],login1")
    ['node01', 'node02', 'node03', 'node07', 'login1']
    """
    if not isinstance(text, str):
        raise InputError(f"the node list is {shown(text)}; it must be text")
    names: list[str] = []
    for word in WORD.findall(text):
        names += _expanded(word)
        if len(names) > MAX_NAMES:
            raise InputError(f"the node list {shown(text)} has more than {MAX_NAMES} names")
    if not names:
        raise InputError(f"the node list {shown(text)} holds no names")
    return names


@dataclass
class _Entry:
    """A name and the data of its line."""

    name: str
    slots: int | None = None
    max_slots: int | None = None


def _slots_of(entries: list[_Entry]) -> int | None:
    if len(entries) == 1:
        return entries[0].max_slots if entries[0].slots is None else entries[0].slots
    return sum(1 if entry.slots is None else entry.slots for entry in entries)


def _entries(source: Source, number: int, line: str) -> Iterator[_Entry]:
    """Yield the nodes on a line of a hostfile."""
    here: list[_Entry] = []
    text = re.sub(r"\s*=\s*", "=", line.partition("#")[0])
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals:
            yield from here
            here = _named(source, number, word)
        elif not here:
            source.refuse(number, f"{shown(word)} precedes a name; a line of a hostfile "
                                  "begins with the name of a node")
        else:
            _describe(source, number, here, key.lower(), value)
    yield from here


def _named(source: Source, number: int, text: str) -> list[_Entry]:
    """Return the nodes of a word like ``a``, ``a:4``, ``n[1-3]:4`` or several with commas."""
    entries = []
    for word in WORD.findall(text):
        slots = None
        if ":" in word and not _is_ipv6(word):
            word, _, count = word.rpartition(":")
            slots = _count(source, number, word, count)
        try:
            names = expand_nodelist(word)
        except InputError as problem:
            source.refuse(number, str(problem))
        entries += [_Entry(name, slots) for name in names]
    return entries


def _describe(source: Source, number: int, entries: list[_Entry], key: str, value: str) -> None:
    """Apply ``key=value`` to the nodes before it."""
    if key not in SLOTS | MAX_SLOTS:
        if key not in UNUSED:
            source.refuse(number, f"unknown key {shown(key)}; known are slots, max_slots, "
                                  f"{', '.join(sorted(UNUSED))}")
        return
    for entry in entries:
        count = _count(source, number, entry.name, value)
        if key in MAX_SLOTS:
            entry.max_slots = count
        elif entry.slots not in (None, count):
            source.refuse(number, f"{entry.name} has {entry.slots} slots and {count}")
        else:
            entry.slots = count
        if entry.slots and entry.max_slots and entry.slots > entry.max_slots:
            source.refuse(number, f"{entry.name} has {entry.slots} slots, more than its most, "
                                  f"{entry.max_slots}")


def _count(source: Source, number: int, name: str, text: str) -> int:
    if not COUNT.fullmatch(text):
        source.refuse(number, f"the slots of {shown(name)} are {shown(text)}; a positive integer "
                              "is needed")
    return int(text)


def _is_ipv6(word: str) -> bool:
    try:
        return len(word) <= LONGEST_ADDRESS and bool(ipaddress.IPv6Address(word.strip("[]")))
    except ValueError:
        return False


def _expanded(word: str) -> list[str]:
    """Return the names of one word of a node list."""
    if _is_ipv6(word):
        return [word.strip("[]")]
    names = [""]
    for place, part in enumerate(GROUP.split(word)):  # text, ranges, text ... text
        ends = [part] if place % 2 == 0 else _numbers(word, part)
        if len(names) * len(ends) > MAX_NAMES:
            raise InputError(f"{shown(word)} has more than {MAX_NAMES} names")
        names = [name + end for name in names for end in ends]
    for name in names:
        if not NAME.fullmatch(name):
            raise InputError(f"{shown(name)} is not the name of a node; slots are written "
                             "node01:4 or node01 slots=4")
    return names


def _numbers(word: str, ranges: str) -> list[str]:
    """Return the numbers of ``01-03,07`` with their leading zeros."""
    numbers: list[str] = []
    for part in ranges.split(","):
        match = RANGE.fullmatch(part.strip())
        if match is None or int(match[1]) > int(match[2] or match[1]):
            raise InputError(f"{shown(part)} in {shown(word)} is neither a number nor a range of "
                             "numbers like 01-04")
        first, last = int(match[1]), int(match[2] or match[1])
        if last - first >= MAX_NAMES - len(numbers):
            raise InputError(f"{shown(word)} has more than {MAX_NAMES} names")
        numbers += [f"{number:0{len(match[1])}}" for number in range(first, last + 1)]
    return numbers
