"""``part_graph`` and ``part_mesh`` of PyMETIS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pymetis import CSRAdjacency, GraphPartition, GType, MeshPartition, Options, PType

from portpart.api import partition
from portpart.compat.pymetis import options as metis
from portpart.errors import InputError, shown
from portpart.graphs import Mesh, first_true
from portpart.inputs import as_graph, as_mesh
from portpart.options import MAX_BLOCKS, checked_integer

# ``part_graph`` of PyMETIS ---------------------------------------------------------------------


Adjacency = Sequence[Sequence[int]] | Mapping[int, Sequence[int]] | CSRAdjacency

def part_graph(
    nparts: int,
    adjacency: Adjacency | None = None,
    xadj: ArrayLike | None = None,
    adjncy: ArrayLike | None = None,
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
        An edge that only one of its ends lists also counts.
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
        True: every block must be connected, as with ``Options(contig=1)``. The result is checked,
        not repaired.
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
    connected = metis.must_connect(options, contiguous)
    bisected = nparts <= metis.MAX_BISECTED if recursive is None else recursive
    settings = metis.settings_of(options, bisected)
    target = metis.checked_shares(tpwgts, nparts, "nparts")
    offsets, targets = _compressed(adjacency, xadj, adjncy)
    if warn_on_copies:
        metis.warn_of_copies(xadj=offsets, adjncy=targets, vwgt=vweights, adjwgt=eweights)
    graph = as_graph(
        (_integers(offsets), _integers(targets)),
        vertex_weights=_integers(vweights),
        edge_weights=_integers(eweights),
        symmetrize=True,
    )
    result = partition(graph, nparts, target=target, device=device, preset=preset,
                       threads=threads, **settings)
    if connected:
        metis.refuse_pieces(graph, result.part, nparts)
    return GraphPartition(int(result.cut), metis.part_as_there(result.part, nparts))


def _compressed(adjacency: Adjacency | None, xadj: ArrayLike | None,
                adjncy: ArrayLike | None) -> tuple[Any, Any]:
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
    """Return offsets and targets of rows, or of a mapping from 0 ... n - 1 to rows."""
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


def _integers(values: ArrayLike) -> Any:
    """Return lists as an array, an empty one as int64; fractions raise an error later."""
    if isinstance(values, (list, tuple)) and not len(values):
        return np.empty(0, np.int64)
    return values


# ``part_mesh`` of PyMETIS ----------------------------------------------------------------------


def part_mesh(
    n_parts: int,
    connectivity: Any,
    options: Options | None = None,
    tpwgts: Sequence[float] | None = None,
    gtype: int | None = None,
    ncommon: int = 1,
    *,
    device: str = "auto",
    preset: str = "default",
    threads: int | None = None,
) -> MeshPartition:
    """Partition a mesh into `n_parts` blocks; same call as ``pymetis.part_mesh``.

    Parameters
    ----------
    n_parts
        Number of blocks, at least 1.
    connectivity
        Nodes of every element, or another input of `portpart.as_mesh`.  Nodes are numbered from 0
        without gaps.
    options
        As in :func:`part_graph`.  The default balance is within 0.1 % up to 8 blocks, with `tpwgts`
        and with ``ptype=PType.RB``, else within 3 %: METIS stays closer to the shares than its
        limit of 3 %, and the side that follows needs that.
    tpwgts
        Target shares of the blocks; equal ones by default.
    gtype
        ``GType.NODAL`` (default): nodes are partitioned and elements follow; ``GType.DUAL``:
        elements are partitioned and nodes follow.
    ncommon
        Nodes that elements have to share to be adjacent (dual graph only).
    device, preset, threads
        As in `portpart.partition`; not parameters of PyMETIS.

    Returns
    -------
    MeshPartition
        Named tuple ``(edge_cuts, element_part, vertex_part)``.  ``edge_cuts`` is the cut of the
        graph that was partitioned (PyMETIS returns 0 for dual graphs).

    Raises
    ------
    InputError
        If the mesh is malformed, a node in no element, an option cannot be honoured or, with
        ``contig=1``, a block of the graph is not connected.

    Examples
    --------
    >>> from portpart.compat.pymetis import GType, part_mesh
    >>> cut, elements, nodes = part_mesh(2, [[0, 1], [1, 2], [2, 3]], gtype=GType.NODAL)
    >>> cut
    1
    """
    n_parts = checked_integer("n_parts", n_parts, 1, MAX_BLOCKS)
    close = n_parts <= metis.MAX_BISECTED or (options is not None and options.ptype == PType.RB)
    target = metis.checked_shares(tpwgts, n_parts, "n_part")
    settings = metis.settings_of(options, close or target is not None)
    connected = metis.must_connect(options, None)
    gtype = GType.NODAL if gtype is None else gtype
    if gtype not in (GType.NODAL, GType.DUAL):
        raise InputError(f"gtype is {shown(gtype)}; it must be GType.NODAL or GType.DUAL")
    mesh = _mesh(connectivity)
    dual = gtype == GType.DUAL
    graph = mesh.dual_graph(ncommon) if dual else mesh.nodal_graph()
    result = partition(graph, n_parts, target=target, device=device, preset=preset,
                       threads=threads, **settings)
    if connected:
        metis.refuse_pieces(graph, result.part, n_parts)
    follow = mesh.node_part if dual else mesh.element_part
    other = follow(result.part, n_parts, target)
    elements, nodes = (result.part, other) if dual else (other, result.part)
    return MeshPartition(int(result.cut), metis.part_as_there(elements, n_parts),
                         metis.part_as_there(nodes, n_parts))


def _mesh(connectivity: Any) -> Mesh:
    """Return the mesh, every node of which must be in an element."""
    # in PyMETIS, a tuple is a sequence of elements like any other
    mesh = as_mesh(list(connectivity) if isinstance(connectivity, tuple) else connectivity)
    alone = first_true(np.bincount(mesh.nodes, minlength=mesh.num_nodes) == 0)
    if alone is not None:
        raise InputError(f"node {alone} is in no element; part_mesh takes nodes "
                         "numbered from 0 without gaps, portpart.as_mesh those with gaps")
    return mesh
