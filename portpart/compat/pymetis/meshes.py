"""``part_mesh`` of PyMETIS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pymetis import GType, MeshPartition, Options, PType

from portpart.api.partition import partition
from portpart.compat.pymetis.options import (
    MAX_BISECTED,
    checked_shares,
    must_connect,
    settings_of,
)
from portpart.compat.pymetis.results import part_as_there, refuse_pieces
from portpart.errors import InputError
from portpart.graphs.convert_mesh import as_mesh
from portpart.graphs.mesh import Mesh
from portpart.options import MAX_BLOCKS, checked_integer, shown


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
        Nodes of every element, or whatever else `portpart.as_mesh` takes.  Nodes are numbered
        from 0 without gaps.
    options
        As in :func:`part_graph`.  The default balance is within 0.1 % up to 8 blocks, with
        `tpwgts` and with ``ptype=PType.RB``, else within 3 %: METIS stays closer to the shares
        than its 3 % demand, and the side that follows needs that.
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
    close = n_parts <= MAX_BISECTED or (options is not None and options.ptype == PType.RB)
    target = checked_shares(tpwgts, n_parts, "n_part")
    settings = settings_of(options, close or target is not None)
    connected = must_connect(options, None)
    gtype = GType.NODAL if gtype is None else gtype
    if gtype not in (GType.NODAL, GType.DUAL):
        raise InputError(f"gtype is {shown(gtype)}; it must be GType.NODAL or GType.DUAL")
    mesh = _mesh(connectivity)
    dual = gtype == GType.DUAL
    graph = mesh.dual_graph(ncommon) if dual else mesh.nodal_graph()
    result = partition(graph, n_parts, target=target, device=device, preset=preset,
                       threads=threads, **settings)
    if connected:
        refuse_pieces(graph, result.part, n_parts)
    follow = mesh.node_part if dual else mesh.element_part
    other = follow(result.part, n_parts, target)
    elements, nodes = (result.part, other) if dual else (other, result.part)
    return MeshPartition(int(result.cut), part_as_there(elements, n_parts),
                         part_as_there(nodes, n_parts))


def _mesh(connectivity: Any) -> Mesh:
    """The mesh, every node of it in an element."""
    # there, a tuple is a sequence of elements like any other
    mesh = as_mesh(list(connectivity) if isinstance(connectivity, tuple) else connectivity)
    alone = np.bincount(mesh.nodes, minlength=mesh.num_nodes) == 0
    if alone.any():
        raise InputError(f"node {int(alone.argmax())} is in no element; part_mesh takes nodes "
                         "numbered from 0 without gaps, portpart.as_mesh those with gaps")
    return mesh
