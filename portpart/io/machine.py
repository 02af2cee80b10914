"""Machines of equal nodes, one of which a file of hwloc or ``/sys`` describes."""

from __future__ import annotations

import os
from typing import NamedTuple

from numpy.typing import ArrayLike

from portpart.formats.text import PathLike, read_source
from portpart.graphs import MAX_ELEMENTS, Topology
from portpart.io.nodes import cores_of_sys, cores_of_xml, levels_of
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
        The number by which the operating system knows the first CPU of each core of a node, in the
        order of elements.
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
        If the file describes no node, or one whose parts differ in size; with the file, and the
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
    levels = levels_of(name, cores)
    names, arities = levels.names, levels.arities
    inside = len(arities)
    if nodes > 1:
        names, arities = [*names, "machine"], [*arities, nodes]
    if distances is None:
        distances = [10**level for level in range(len(arities))]
    return Machine(Topology(arities, distances), inside, tuple(levels.cpus), tuple(names))
