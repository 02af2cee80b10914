"""MPI rankfiles: the node and the core of each rank, as Open MPI reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from portpart.errors import InputError, shown
from portpart.formats.text import PathLike, write_chunks
from portpart.graphs import Blocks, Topology, checked_topology, held_blocks, host_integers
from portpart.io.hostfile import Host
from portpart.options import checked_flag

CORES_AND_SOCKETS = 2
"""Default number of levels inside a node."""

ALLOWED = "oversubscribe=True (--oversubscribe) allows several ranks on an element"

LINES_PER_CHUNK = 1 << 16


def write_rankfile(part: Blocks, topology: Topology, path: PathLike, *,
                   hosts: Sequence[str] | Sequence[Host] | None = None,
                   node_levels: int | None = None, oversubscribe: bool = False) -> None:
    """Write a mapping as a rankfile for ``mpirun --rankfile``: vertex i is rank i.

    The mapping must be one of the graph of the processes, with a vertex for each rank, not of a
    mesh whose blocks become processes.

    Parameters
    ----------
    part : array_like of int, shape (n,), MappingResult or Session
        Processing element of each vertex.
    topology : Topology
    path : str or PathLike
        ``-`` is standard output.
    hosts : sequence of str or Host, optional
        Names of the nodes, or the result of :func:`read_hosts`; default: ``+n0``, ``+n1`` ..., the
        nodes of the job in their order, which Open MPI knows only inside a batch job.
    node_levels : int, optional
        Number of levels inside a node; default: 2, cores and sockets. With a matrix of distances it
        is 0: every element is a node.
    oversubscribe : bool, default False
        Allow several ranks on one element.

    Raises
    ------
    InputError
        If an element has several ranks without `oversubscribe`; if there are too few hosts, a host
        is repeated or has fewer slots than a node has elements; or if the machine has fewer levels.

    Warns
    -----
    UserWarning
        If there are more hosts than nodes, or one has more slots than a node has elements.

    Notes
    -----
    A slot is ``socket:core`` with two levels in a node, else the number of the core in the node.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> machine = portpart.Topology("2:2", "1:10")
    >>> hosts = ["node01", "node02"]
    >>> portpart.io.write_rankfile([3, 0, 1, 2], machine, "ranks", hosts=hosts, node_levels=1)
    >>> print(Path("ranks").read_text(), end="")
    rank 0=node02 slot=1
    rank 1=node01 slot=0
    rank 2=node01 slot=1
    rank 3=node02 slot=0
    """
    elements, nodes = placed_ranks(part, topology, hosts, node_levels, oversubscribe)
    write_chunks(path, _lines(elements, nodes))


def placed_ranks(part: Blocks, topology: Topology, hosts: Sequence[str] | Sequence[Host] | None,
                 node_levels: int | None, oversubscribe: bool) -> tuple[np.ndarray, Nodes]:
    """Return the element of each rank, and the nodes; raises and warns as `write_rankfile` does."""
    oversubscribe = checked_flag("oversubscribe", oversubscribe)
    nodes = nodes_of(topology, hosts, node_levels)
    elements = host_integers(held_blocks(part))
    if elements.ndim != 1 or (elements.dtype.kind not in "iu" and len(elements)):
        raise InputError(f"part has shape {elements.shape} and type {elements.dtype}; one integer "
                         "for each rank is needed")
    bad = (elements < 0) | (elements >= topology.num_elements)
    if bad.any():
        rank = int(bad.argmax())
        raise InputError(f"part[{rank}] is {elements[rank]}; elements must lie in 0 ... "
                         f"{topology.num_elements - 1}")
    if not oversubscribe:
        refuse_crowd(len(elements), topology.num_elements)
        _refuse_shared(elements)
    return elements, nodes


def refuse_crowd(num_ranks: int, num_elements: int) -> None:
    """Raise if there are more ranks than elements."""
    if num_ranks > num_elements:
        raise InputError(f"{num_ranks} vertices are ranks, but there are {num_elements} elements: "
                         f"map the graph of the processes, a vertex for each; {ALLOWED}")


def _refuse_shared(elements: np.ndarray) -> None:
    """Raise an error that names the first rank whose element another rank has."""
    order = np.argsort(elements, kind="stable")
    again = np.flatnonzero(elements[order][1:] == elements[order][:-1])
    if len(again):
        rank = int(order[again + 1].min())
        element = int(elements[rank])
        first = int((elements == element).argmax())
        raise InputError(f"ranks {first} and {rank} are both on element {element}: map with "
                         f"imbalance=0 and without weights of vertices; {ALLOWED}")


@dataclass(frozen=True)
class Nodes:
    """Nodes of a machine: names (None: +n0 ...), elements of each, cores of a socket if known."""

    names: list[str] | None
    size: int
    cores: int | None

    def name(self, node: int) -> str:
        """Return the name of a node for launchers."""
        return f"+n{node}" if self.names is None else self.names[node]

    def place(self, element: int) -> str:
        """Return node and slot of an element."""
        node, slot = divmod(element, self.size)
        shown = str(slot) if self.cores is None else f"{slot // self.cores}:{slot % self.cores}"
        return f"{self.name(node)} slot={shown}"


def nodes_of(topology: Topology, hosts: Sequence[str] | Sequence[Host] | None,
             node_levels: int | None) -> Nodes:
    """Return the nodes of `write_rankfile` for these arguments; raises and warns as it does."""
    levels = len(topology.arities) if checked_topology(topology).is_hierarchy else 0
    inside = min(CORES_AND_SOCKETS, levels) if node_levels is None else node_levels
    if not isinstance(inside, Integral) or not 0 <= inside <= levels:
        raise InputError(f"node_levels is {shown(inside)}; the hierarchy has {levels} levels")
    size = topology.group_sizes[inside]
    count = topology.num_elements // size
    names = None if hosts is None else _names(hosts, count, size)
    return Nodes(names, size, topology.arities[0] if inside == CORES_AND_SOCKETS else None)


def _names(hosts: Sequence[str] | Sequence[Host], count: int, size: int) -> list[str]:
    """Return the names of `count` nodes of `size` elements."""
    listed = None if isinstance(hosts, str) else _listed(hosts)
    if listed is None:
        raise InputError(f"hosts is {shown(hosts)} of {type(hosts).__name__}; a sequence of names "
                         "is needed")
    given = [host if isinstance(host, Host) else Host(host) for host in listed]
    place_of: dict[str, int] = {}
    for place, (name, slots) in enumerate(given):
        if not isinstance(name, str) or len(name.split()) != 1:
            raise InputError(f"hosts[{place}] is {shown(name)}; a name without blanks is needed")
        if place_of.setdefault(name, place) != place:
            raise InputError(f"hosts[{place}] is {shown(name)} again, after "
                             f"hosts[{place_of[name]}]; each node needs its own name")
        if slots is not None and slots < size and place < count:
            raise InputError(f"{name} has {slots} slots for the {size} elements of a node; the "
                             "hierarchy, or the levels inside a node, must match the hosts")
    if len(given) < count:
        raise InputError(f"hosts holds {len(given)} names for {count} nodes")
    if len(given) > count:
        warnings.warn(f"hosts holds {len(given)} names for {count} nodes; {given[count].name} and "
                      "what follows gets no rank", UserWarning, stacklevel=5)
    larger = next((host for host in given[:count] if (host.slots or 0) > size), None)
    if larger is not None:
        warnings.warn(f"{larger.name} has {larger.slots} slots for the {size} elements of a node; "
                      "the others stay idle", UserWarning, stacklevel=5)
    return [host.name for host in given[:count]]


def _listed(things: Any) -> list[Any] | None:
    try:
        return list(things)
    except TypeError:
        return None


def _lines(elements: np.ndarray, nodes: Nodes) -> Iterator[bytes]:
    for first in range(0, len(elements), LINES_PER_CHUNK):
        chunk = elements[first : first + LINES_PER_CHUNK].tolist()
        yield "".join(f"rank {rank}={nodes.place(element)}\n"
                      for rank, element in enumerate(chunk, first)).encode()
