"""MPI rankfiles: the node and the core of each rank, as Open MPI reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.ingest import host_array
from portpart.io.files import PathLike, write_chunks
from portpart.topology import Topology, checked_topology

CORES_AND_SOCKETS = 2
"""Levels inside a node unless the caller says otherwise."""

LINES_PER_CHUNK = 1 << 16


def write_rankfile(part: Any, topology: Topology, path: PathLike, *,
                   hosts: Sequence[str] | None = None, node_levels: int | None = None) -> None:
    """Write a mapping as a rankfile for ``mpirun --rankfile``: vertex i is rank i.

    Parameters
    ----------
    part : array_like of int, shape (n,)
        Processing element of each vertex.
    topology : Topology
    path : str or PathLike
        ``-`` is standard output.
    hosts : sequence of str, optional
        Names of the nodes; by default ``+n0``, ``+n1`` ...: the nodes of the job in their order.
    node_levels : int, optional
        Levels of the hierarchy that lie inside a node; by default the two innermost, cores and
        sockets.  With a matrix of distances there are none: every element is a node.

    Raises
    ------
    InputError
        If there are too few hosts, or fewer levels.

    Notes
    -----
    A slot is ``socket:core`` with two levels in a node, else the number of the core in the node.
    """
    nodes = nodes_of(topology, hosts, node_levels)
    elements = host_array(part)
    if elements.ndim != 1 or (elements.dtype.kind not in "iu" and len(elements)):
        raise InputError(f"part has shape {elements.shape} and type {elements.dtype}; one integer "
                         "for each rank is needed")
    bad = (elements < 0) | (elements >= topology.num_elements)
    if bad.any():
        rank = int(bad.argmax())
        raise InputError(f"part[{rank}] is {elements[rank]}; elements must lie in 0 ... "
                         f"{topology.num_elements - 1}")
    write_chunks(path, _lines(elements, nodes))


@dataclass(frozen=True)
class Nodes:
    """The nodes of a machine: their names, elements of each, and cores of a socket if told."""

    names: list[str]
    size: int
    cores: int | None

    def place(self, element: int) -> str:
        """Node and slot of an element."""
        node, slot = divmod(element, self.size)
        shown = str(slot) if self.cores is None else f"{slot // self.cores}:{slot % self.cores}"
        return f"{self.names[node]} slot={shown}"


def nodes_of(topology: Topology, hosts: Sequence[str] | None, node_levels: int | None) -> Nodes:
    """The nodes that `write_rankfile` writes for these arguments; raises what it raises."""
    levels = len(topology.arities) if checked_topology(topology).is_hierarchy else 0
    inside = min(CORES_AND_SOCKETS, levels) if node_levels is None else node_levels
    if not isinstance(inside, Integral) or not 0 <= inside <= levels:
        raise InputError(f"node_levels is {inside!r}; the hierarchy has {levels} levels")
    size = topology.group_sizes[inside]
    count = topology.num_elements // size
    names = [f"+n{node}" for node in range(count)] if hosts is None else list(hosts)
    for place, name in enumerate(names):
        if isinstance(hosts, str) or not isinstance(name, str) or len(name.split()) != 1:
            raise InputError(f"hosts[{place}] is {name!r} of {type(hosts).__name__}; a sequence of "
                             "names without blanks is needed")
    if len(names) < count:
        raise InputError(f"hosts holds {len(names)} names for {count} nodes")
    return Nodes(names, size, topology.arities[0] if inside == CORES_AND_SOCKETS else None)


def _lines(elements: np.ndarray, nodes: Nodes) -> Iterator[bytes]:
    for first in range(0, len(elements), LINES_PER_CHUNK):
        chunk = elements[first : first + LINES_PER_CHUNK].tolist()
        yield "".join(f"rank {rank}={nodes.place(element)}\n"
                      for rank, element in enumerate(chunk, first)).encode()
