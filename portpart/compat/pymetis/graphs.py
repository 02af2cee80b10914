"""``part_graph`` of PyMETIS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pymetis import CSRAdjacency, GraphPartition, Options

from portpart.api.partition import partition
from portpart.compat.pymetis.copies import warn_of_copies
from portpart.compat.pymetis.options import (
    MAX_BISECTED,
    checked_shares,
    must_connect,
    settings_of,
)
from portpart.compat.pymetis.results import part_as_there, refuse_pieces
from portpart.errors import InputError
from portpart.graphs.convert import as_graph
from portpart.options import MAX_BLOCKS, checked_integer, shown

Adjacency = Sequence[Sequence[int]] | Mapping[int, Sequence[int]] | CSRAdjacency

def part_graph(
    nparts: int,
    adjacency: Adjacency | None = None,
    xadj: Any = None,
    adjncy: Any = None,
    *,
    vweights: Any = None,
    eweights: Any = None,
    tpwgts: Sequence[float] | None = None,
    recursive: bool | None = None,
    contiguous: bool | None = None,
    options: Options | None = None,
    warn_on_copies: bool = False,
    device: str = "auto",
    preset: str = "default",
    threads: int | None = None,
) -> GraphPartition:
    """Partition a graph into `nparts` blocks; same call as ``pymetis.part_graph``.

    Parameters
    ----------
    nparts
        Number of blocks, at least 1.
    adjacency
        Neighbours of every vertex: a sequence or mapping of sequences, or a `CSRAdjacency`.
        An edge that stands at one of its ends only is an edge, too.
    xadj, adjncy
        The same in compressed form, instead of `adjacency`.
    vweights, eweights
        Integer weights of the vertices, and of the edges in the order of `adjncy`.
    tpwgts
        Target shares of the blocks; equal ones by default.
    recursive
        Chooses METIS's method there and the default balance here: within 0.1 % if true, 3 %
        if false; None is true up to 8 blocks.  ``Options(ufactor=u)`` sets ``u / 1000``.
    contiguous
        True: every block has to be connected, as with ``Options(contig=1)``.  The result is
        checked, not mended.
    options
        ``seed``, ``ufactor``, ``ncuts`` (the number of starts) and ``contig`` are used, another
        ``objtype`` than the cut is refused, ``minconn=1`` has no effect but a warning.  The other
        options tune METIS's own search and have no effect.
    warn_on_copies
        Warn of arrays that PyMETIS would copy (``BytesWarning``): those whose type is not
        `zero_copy_dtype`.
    device, preset, threads
        As in `portpart.partition`; not parameters of PyMETIS.

    Returns
    -------
    GraphPartition
        Named tuple ``(edge_cuts, vertex_part)``; ``vertex_part`` is an ``array.array`` as in
        PyMETIS, and a list if there is one block.

    Raises
    ------
    InputError
        If the graph is malformed, an option cannot be honoured or, with ``contig=1``, a block is
        not connected.

    Examples
    --------
    >>> from portpart.compat.pymetis import part_graph
    >>> cut, part = part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> cut
    1
    """
    nparts = checked_integer("nparts", nparts, 1, MAX_BLOCKS)
    connected = must_connect(options, contiguous)
    settings = settings_of(options, nparts <= MAX_BISECTED if recursive is None else recursive)
    target = checked_shares(tpwgts, nparts, "nparts")
    offsets, targets = _compressed(adjacency, xadj, adjncy)
    if warn_on_copies:
        warn_of_copies(xadj=offsets, adjncy=targets, vwgt=vweights, adjwgt=eweights)
    graph = as_graph(
        (_integers(offsets), _integers(targets)),
        vertex_weights=_integers(vweights),
        edge_weights=_integers(eweights),
        symmetrize=True,
    )
    result = partition(graph, nparts, target=target, device=device, preset=preset,
                       threads=threads, **settings)
    if connected:
        refuse_pieces(graph, result.part, nparts)
    return GraphPartition(int(result.cut), part_as_there(result.part, nparts))


def _compressed(adjacency: Adjacency | None, xadj: Any, adjncy: Any) -> tuple[Any, Any]:
    """Return the graph as (offsets, targets)."""
    if adjacency is None:
        if xadj is None or adjncy is None:
            raise TypeError("pass adjacency, or both xadj and adjncy")
        return xadj, adjncy
    if xadj is not None or adjncy is not None:
        raise TypeError("pass either adjacency or xadj and adjncy, not both")
    if isinstance(adjacency, CSRAdjacency):
        return adjacency.adj_starts, adjacency.adjacent
    return _compressed_rows(adjacency)


def _compressed_rows(adjacency: Any) -> tuple[list[int], list[Any]]:
    """Offsets and targets of rows, or of a mapping from 0 ... n - 1 to rows."""
    if not hasattr(adjacency, "__len__") or isinstance(adjacency, (str, bytes)):
        raise InputError(f"adjacency is {shown(adjacency)}; a sequence of the neighbours of each "
                         "vertex is needed, or a CSRAdjacency")
    offsets, targets = [0], []
    for vertex in range(len(adjacency)):
        try:
            targets += list(adjacency[vertex])
        except (KeyError, IndexError):
            raise InputError(f"adjacency has {len(adjacency)} rows but none of vertex {vertex}; "
                             "its keys must be 0 ... n - 1") from None
        except TypeError:
            raise InputError(f"adjacency[{vertex}] must be a sequence of vertices") from None
        offsets.append(len(targets))
    return offsets, targets


def _integers(values: Any) -> Any:
    """Return lists as an array, an empty one of int64; fractions are refused later, not cut."""
    if isinstance(values, (list, tuple)) and not len(values):
        return np.empty(0, np.int64)
    return values
