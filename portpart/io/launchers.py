"""Files that place ranks for Slurm and Cray MPICH: SLURM_HOSTFILE, MPICH_RANK_ORDER.

Both have the node of each rank. A list of the cores inside a node is the same on all nodes
(``--cpu-bind=map_cpu``): its first entry is for the first task of a node, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from portpart.errors import InputError, shown
from portpart.formats.text import PathLike, write_chunks
from portpart.graphs import Blocks, Topology
from portpart.io.hostfile import Host
from portpart.io.rankfile import Nodes, placed_ranks

RANKS_PER_LINE = 16


def write_slurm_hostfile(part: Blocks, topology: Topology, path: PathLike, *,
                         hosts: Sequence[str] | Sequence[Host], node_levels: int | None = None,
                         cpus: Sequence[int] | None = None,
                         oversubscribe: bool = False) -> str | None:
    """Write a mapping as the file of SLURM_HOSTFILE: line i is the node of rank i.

    Parameters
    ----------
    part : array_like of int, shape (n,), MappingResult or Session
        Processing element of each vertex; vertex i is rank i.
    topology : Topology
    path : str or PathLike
        ``-`` is standard output.
    hosts : sequence of str or Host
        Names of the nodes in Slurm.
    node_levels : int, optional
        Number of levels of the hierarchy inside a node, as in :func:`write_rankfile`.
    cpus : sequence of int, optional
        The operating system's number of each element of a node, as in :func:`read_machine`;
        default: 0, 1, 2 ...
    oversubscribe : bool, default False
        Allow several ranks on one element.

    Returns
    -------
    str or None
        The value of ``--cpu-bind``, ``map_cpu:0,1,4``.  Slurm uses one list for all nodes; None if
        two nodes need different lists, however equal cores and sockets are exchanged.

    Raises
    ------
    InputError
        As in :func:`write_rankfile`, or if `cpus` has the wrong length or host names are missing.

    Notes
    -----
    ``SLURM_HOSTFILE=hosts srun -n N --distribution=arbitrary --cpu-bind=map_cpu:...`` starts the
    ranks.  If the function returns None, ``part % elements_of_a_node`` is the core of each rank,
    and a script can bind each rank by its ``SLURM_PROCID``.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> machine = portpart.Topology("2:2", "1:10")
    >>> portpart.io.write_slurm_hostfile([2, 0, 1, 3], machine, "hosts.txt",
    ...                                  hosts=["node01", "node02"], node_levels=1)
    'map_cpu:0,1'
    >>> Path("hosts.txt").read_text().split()
    ['node02', 'node01', 'node01', 'node02']
    """
    if hosts is None:
        raise InputError("hosts is None; a SLURM_HOSTFILE needs the names of the nodes")
    elements, nodes = placed_ranks(part, topology, hosts, node_levels, oversubscribe)
    numbers = _cpus(cpus, nodes)
    names = [nodes.name(node) for node in (elements // nodes.size).tolist()]
    write_chunks(path, ("".join(f"{name}\n" for name in names).encode(),))
    return _binding([_renamed(local, topology) for _, local in _by_node(elements, nodes)], numbers)


def write_rank_order(part: Blocks, topology: Topology, path: PathLike, *,
                     node_levels: int | None = None,
                     cpus: Sequence[int] | None = None) -> str | None:
    """Write a mapping as an MPICH_RANK_ORDER file, for ``MPICH_RANK_REORDER_METHOD=3``.

    Parameters
    ----------
    part : array_like of int, shape (n,), MappingResult or Session
        Processing element of each vertex; vertex i is rank i.
    topology : Topology
    path : str or PathLike
        Cray MPICH reads ``MPICH_RANK_ORDER`` in the working directory, or the file that
        ``MPICH_RANK_REORDER_FILE`` names; ``-`` is standard output.
    node_levels, cpus
        As in :func:`write_slurm_hostfile`.

    Returns
    -------
    str or None
        The value of ``--cpu-bind``, ``map_cpu:0,1,4``; None if nodes use different cores.

    Raises
    ------
    InputError
        As in :func:`write_rankfile`, or if nodes have different numbers of ranks, except the last
        one in use: the launcher starts the same number on each.

    Notes
    -----
    The file lists the ranks node by node, in the order of their cores.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> machine = portpart.Topology("2:2", "1:10")
    >>> portpart.io.write_rank_order([2, 0, 1, 3], machine, "MPICH_RANK_ORDER", node_levels=1)
    'map_cpu:0,1'
    >>> print(Path("MPICH_RANK_ORDER").read_text(), end="")
    # node 0
    1,2
    # node 1
    0,3
    """
    elements, nodes = placed_ranks(part, topology, None, node_levels, False)
    numbers = _cpus(cpus, nodes)
    order = np.argsort(elements, kind="stable")
    found = list(_by_node(elements[order], nodes))
    counts = [len(local) for _, local in found]
    for (node, _), count in zip(found[:-1], counts):
        if count != counts[0] or count < counts[-1]:
            raise InputError(
                f"node {node} has {count} ranks, node {found[0][0]} {counts[0]} and node "
                f"{found[-1][0]} {counts[-1]}; MPICH_RANK_ORDER needs as many on each: map to "
                "elements that all get a rank, or use write_slurm_hostfile or write_rankfile")
    write_chunks(path, _order_lines(order, found))
    return _binding([local.tolist() for _, local in found], numbers)


def _order_lines(order: np.ndarray, found: list[tuple[int, np.ndarray]]) -> Iterator[bytes]:
    ends = np.cumsum([0, *(len(local) for _, local in found)]).tolist()
    for (node, _), (begin, end) in zip(found, pairwise(ends)):
        yield f"# node {node}\n".encode()
        for first in range(begin, end, RANKS_PER_LINE):
            ranks = order[first : min(first + RANKS_PER_LINE, end)].tolist()
            yield (",".join(map(str, ranks)) + "\n").encode()


def _by_node(elements: np.ndarray, nodes: Nodes) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each node in use, and the elements of its ranks, in the order of the ranks."""
    node_of, local = np.divmod(elements, nodes.size)
    order = np.argsort(node_of, kind="stable")
    used, begins = np.unique(node_of[order], return_index=True)
    for node, begin, end in zip(used.tolist(), begins, [*begins[1:], len(order)]):
        yield node, local[order[begin:end]]


def _renamed(local: np.ndarray, topology: Topology) -> list[int]:
    """Return the elements of a node with the places of each level renumbered as they occur.

    This changes no distances. Nodes whose ranks share cores and sockets in the same way have the
    same numbers.
    """
    if not topology.is_hierarchy:
        return local.tolist()
    arities = topology.arities
    numbered: dict[tuple[int, ...], dict[int, int]] = {}
    renamed = []
    for element in local.tolist():
        digits = []
        for arity in arities:
            element, digit = divmod(element, arity)
            digits.append(digit)
        place: tuple[int, ...] = ()
        number = 0
        for level in reversed(range(len(arities))):
            known = numbered.setdefault(place, {})
            number = number * arities[level] + known.setdefault(digits[level], len(known))
            place = (*place, digits[level])
        renamed.append(number)
    return renamed


def _binding(lists: list[list[int]], numbers: Sequence[int]) -> str | None:
    """Return the option for lists of elements if the longest begins with each of them, or None."""
    longest = max(lists, key=len, default=[])
    if any(each != longest[: len(each)] for each in lists):
        return None
    return "map_cpu:" + ",".join(str(numbers[element]) for element in longest)


def _cpus(cpus: Sequence[int] | None, nodes: Nodes) -> list[int]:
    """Return the operating system's number of each element of a node."""
    if cpus is None:
        return list(range(nodes.size))
    numbers = np.asarray(cpus)
    if numbers.shape != (nodes.size,) or numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise InputError(f"cpus is {shown(cpus)}; one number of a CPU is needed for each of the "
                         f"{nodes.size} elements of a node")
    found: list[int] = numbers.tolist()
    return found
