"""Blocks of nodes in the files that DGL reads with the graphs of a partition."""

from __future__ import annotations

import json
import operator
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from portpart.errors import InputError, shown
from portpart.graphs import Blocks, blocks_of, first_true, host_integers
from portpart.inputs import MAX_HALO
from portpart.options import checked_integer

__all__ = ["save_partition_book"]

NODE_TYPE, EDGE_TYPE = "_N", "_N:_E:_N"
"""DGL's names of the nodes and the edges of a graph with one type of each."""

FILES = {"node_feats": "node_feat", "edge_feats": "edge_feat", "part_graph": "graph"}
"""DGL's data of each block, and their files."""


def save_partition_book(
    path: str | os.PathLike[str], part: Blocks, edges: ArrayLike, *, k: int | None = None,
    halo_hops: int = 1,
) -> Path:
    """Write the maps of nodes and edges to blocks as ``dgl.distributed.partition_graph`` does.

    Parameters
    ----------
    path : str or PathLike
        The configuration, a name that ends in ``.json``; without this suffix it is DGL's
        ``graph_name``.  Its folder is made if it is missing.
    part : array_like of int, shape (n,), PartitionResult or torch.Tensor
        The block of each node.
    edges : array_like of int, shape (2, m), or pair of array_like
        The sources and the targets of all edges, as ``graph.edges()`` of DGL returns them.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block plus one.
    halo_hops : int, default 1
        Distance from its own nodes up to which the graph of a block reaches; it is only written to
        the file.

    Returns
    -------
    Path
        Path of the configuration.

    Raises
    ------
    InputError
        If `part` or `edges` have the wrong shape or type, or an end of an edge is not a node.
    OSError
        If a file cannot be written.

    Notes
    -----
    Three files are written.  ``node_map.npy`` and ``edge_map.npy`` hold the block of each node and
    of each edge, int64; an edge belongs to the block of its target.  The configuration holds what
    DGL's has: the numbers of nodes and edges, ``node_map`` and ``edge_map``, which are the range of
    numbers of each block after DGL has sorted nodes and edges by blocks, and the names of the files
    of each block.

    ``dgl.distributed.load_partition_book`` reads the configuration.  The files of each block, which
    ``dgl.distributed.load_partition`` reads, are graphs in DGL's own format, and only DGL writes
    them.

    Examples
    --------
    >>> import json
    >>> from portpart.compat import dgl
    >>> path = dgl.save_partition_book("parts/path.json", [0, 0, 1], ([0, 1], [1, 2]))
    >>> json.loads(path.read_text())["node_map"]
    {'_N': [[0, 2], [2, 3]]}
    """
    path = Path(path)
    if path.suffix != ".json":
        raise InputError(f"path is {shown(str(path))}; it must end in .json")
    halo_hops = checked_integer("halo_hops", halo_hops, 0, MAX_HALO)
    n = host_integers(getattr(part, "part", part)).size
    blocks, k = blocks_of(part, n, k)
    edge_blocks = blocks[_targets(edges, n)]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path.with_name("node_map.npy"), blocks)
    np.save(path.with_name("edge_map.npy"), edge_blocks)
    book = {
        "graph_name": path.stem, "num_nodes": n, "num_edges": len(edge_blocks),
        "part_method": "portpart", "num_parts": k, "halo_hops": halo_hops,
        "node_map": {NODE_TYPE: _ranges(blocks, k)},
        "edge_map": {EDGE_TYPE: _ranges(edge_blocks, k)},
        "ntypes": {NODE_TYPE: 0}, "etypes": {EDGE_TYPE: 0},
    }
    for block in range(k):
        book[f"part-{block}"] = {what: f"part{block}/{name}.dgl" for what, name in FILES.items()}
    path.write_text(json.dumps(book, indent=4))
    return path


def _ranges(blocks: np.ndarray, k: int) -> list[list[int]]:
    """Return the first new number of each block, and the number after its last."""
    ends = np.cumsum(np.bincount(blocks, minlength=k)).tolist()
    return [[start, end] for start, end in zip([0, *ends], ends)]


def _targets(edges: Any, n: int) -> np.ndarray:
    """Return the targets of edges whose ends are nodes."""
    try:
        sides = [host_integers(side) for side in edges] if operator.length_hint(edges) == 2 else []
    except TypeError:
        sides = []
    if len(sides) != 2 or sides[0].ndim != 1 or sides[0].shape != sides[1].shape:
        raise InputError("edges must be an array of shape (2, m), or the sources and the targets")
    for side in sides:
        if side.dtype.kind not in "iu":
            raise InputError(f"edges are of type {side.dtype}; they must be integers")
        if (edge := first_true((side < 0) | (side >= n))) is not None:
            raise InputError(f"edge {edge} has an end {side[edge]}, which is not a node: nodes are "
                             f"0 ... {n - 1}")
    return sides[1]
