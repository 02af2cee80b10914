"""Graphs and blocks for PyTorch Geometric: of an `edge_index` and of `Data` objects.

Neither PyTorch nor PyTorch Geometric is imported before a function needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import api
from portpart.base.interrupts import late_signals
from portpart.errors import InputError, shown
from portpart.graphs import Graph, as_array, is_tensor, space_of
from portpart.inputs import convert, from_edges

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import ClusterData
    from torch_geometric.typing import SparseTensor

__all__ = ["as_graph", "cluster_data", "partition"]


def as_graph(
    data: Data | torch.Tensor | SparseTensor, *, num_nodes: int | None = None,
    symmetrize: bool | str = True, **options: Any
) -> Graph:
    """Make a graph of the edges of PyTorch Geometric.

    Parameters
    ----------
    data : torch_geometric.data.Data or array_like of int, shape (2, m)
        An object with ``edge_index``, else with ``adj_t``; an ``edge_index`` alone, which is a
        tensor or an array of NumPy or CuPy; or a sparse tensor of shape (n, n).  Row 0 of
        ``edge_index`` has the sources of the edges and row 1 their targets.
    num_nodes : int, optional
        Default: ``data.num_nodes``; of an ``edge_index`` alone the largest end plus one, which
        leaves out nodes without edges at the end.
    symmetrize : bool, "sum" or "max"
        Treatment of directions, as in :func:`portpart.as_graph`.
    **options
        ``vertex_weights``, ``edge_weights`` (such as ``data.edge_weight``), ``weights`` and
        ``weight_scale`` of :func:`portpart.from_edges`.  Without them all weights are 1.

    Returns
    -------
    Graph
        In the memory of the tensor.

    Raises
    ------
    InputError
        As in :func:`portpart.from_edges`, and for an ``edge_index`` of another shape or of
        floats, on a device that is not ``cpu`` or ``cuda``, and for `HeteroData`.

    Notes
    -----
    The rows of a contiguous ``edge_index`` are read where they are, without a copy.  The graph has
    separate memory.  Self loops are dropped, and an edge that occurs repeatedly counts once.  Time
    O(m), for sorting edges by their ends.

    Examples
    --------
    >>> import numpy as np
    >>> from portpart.compat import pyg
    >>> edge_index = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> pyg.as_graph(edge_index, num_nodes=4)
    <Graph: 4 vertices, 2 edges, on cpu>
    """
    if hasattr(data, "node_types") and hasattr(data, "edge_types"):
        raise InputError(f"a {type(data).__name__} has several types of nodes; "
                         "data.to_homogeneous() makes a Data object of it")
    edges = data if hasattr(data, "shape") else getattr(data, "edge_index", None)
    if edges is None or (is_tensor(edges) and str(edges.layout) != "torch.strided"):
        matrix = getattr(data, "adj_t", None) if edges is None else edges
        return _of_adjacency(data, matrix, symmetrize, options)
    if edges is not data and num_nodes is None:
        num_nodes = getattr(data, "num_nodes", None)
    _check_shape(edges)
    return from_edges(edges.T, num_vertices=num_nodes, symmetrize=symmetrize, **options)


def partition(data: Data | torch.Tensor | SparseTensor, k: int, *,
              num_nodes: int | None = None, **options: Any) -> torch.Tensor:
    """Divide the nodes of a graph of PyTorch Geometric into `k` blocks of nearly equal weight.

    Parameters
    ----------
    data, num_nodes
        As in :func:`as_graph`.
    k : int
        Number of blocks.
    **options
        As in :func:`portpart.partition`, and those of :func:`as_graph`.

    Returns
    -------
    torch.Tensor of int64, shape (num_nodes,)
        The block of each node, on the device of the edges.

    Raises
    ------
    InputError
        As in :func:`as_graph` and :func:`portpart.partition`.
    ImportError
        If PyTorch is not installed.

    See Also
    --------
    portpart.partition : Returns also the cut, the imbalance and the weights of the blocks; it takes
        what :func:`as_graph` makes.

    Notes
    -----
    The same edges, options and seed give the same blocks on every device.

    Examples
    --------
    >>> import torch
    >>> from portpart.compat import pyg
    >>> edge_index = torch.tensor([[0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3]])
    >>> pyg.partition(edge_index, 2)
    tensor([1, 1, 1, 0, 0, 0])
    """
    with late_signals():
        import torch

    reading = {name: options.pop(name) for name in
               ("symmetrize", "vertex_weights", "edge_weights", "weights", "weight_scale")
               if name in options}
    graph = as_graph(data, num_nodes=num_nodes, **reading)
    part = api.partition(graph, k, **options).part
    if isinstance(part, np.ndarray):
        blocks = torch.from_numpy(part.astype(np.int64))
    else:
        blocks = torch.from_dlpack(part).long()
    edges: torch.Tensor = data if is_tensor(data) else getattr(data, "edge_index", None)
    return blocks.to(edges.device) if is_tensor(edges) else blocks


def cluster_data(
    data: Data | torch.Tensor | SparseTensor, num_parts: int, *,
    keep_inter_cluster_edges: bool = False,
    sparse_format: str = "csr", **options: Any,
) -> ClusterData:
    """Make a `ClusterData` of PyTorch Geometric with blocks of portpart.

    Parameters
    ----------
    data : torch_geometric.data.Data
        With ``edge_index``.
    num_parts : int
        Number of clusters.
    keep_inter_cluster_edges, sparse_format
        As for ``torch_geometric.loader.ClusterData``.
    **options
        As in :func:`partition`.

    Returns
    -------
    torch_geometric.loader.ClusterData
        A data set of `num_parts` graphs, which ``ClusterLoader`` takes.  METIS, ``pyg-lib`` and
        ``torch-sparse`` are not needed.

    Raises
    ------
    InputError
        As in :func:`partition`, and for data without ``edge_index``.
    ImportError
        If PyTorch Geometric 2.4 or newer is not installed.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from portpart.compat import pyg
    >>> edge_index = torch.tensor([[0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3]])
    >>> clusters = pyg.cluster_data(Data(edge_index=edge_index, num_nodes=6), 2)
    >>> clusters
    ClusterData(2)
    >>> clusters[1]
    Data(num_nodes=3, edge_index=[2, 3])
    """
    if not is_tensor(getattr(data, "edge_index", None)):
        raise InputError(f"data is {shown(data)}; ClusterData needs a Data object with edge_index")
    if sparse_format not in ("csr", "csc"):
        raise InputError(f"sparse_format is {shown(sparse_format)}; it must be csr or csc")
    with late_signals():
        from portpart.compat.pyg_clusters import clusters_of

    return clusters_of(data, partition(data, num_parts, **options), int(num_parts),
                       keep_inter_cluster_edges, sparse_format)


def _of_adjacency(data: Data, matrix: torch.Tensor | SparseTensor | None,
                  symmetrize: bool | str, options: dict[str, Any]) -> Graph:
    """Return the graph of an adjacency matrix, or of its transpose; its values do not count.

    The matrix is a sparse tensor of PyTorch, or a `SparseTensor`, which has the function ``csr``.
    """
    if matrix is None:
        raise InputError(f"data is {shown(data)}; an edge_index, or an object with edge_index or "
                         "adj_t, is needed")
    if not is_tensor(matrix):
        matrix = matrix.csr()[:2]
    options = options if {"edge_weights", "weights"} & set(options) else {**options,
                                                                          "weights": "ignore"}
    return convert.as_graph(matrix, symmetrize=symmetrize, **options)


def _check_shape(edges: torch.Tensor | SparseTensor) -> None:
    """Raise unless `edges` are two rows of integers."""
    if len(edges.shape) != 2 or edges.shape[0] != 2:
        turned = ": edge_index.T has it" if tuple(edges.shape)[1:] == (2,) else ""
        raise InputError(f"edge_index has shape {tuple(edges.shape)}; shape (2, m) is needed"
                         f"{turned}")
    dtype = as_array(space_of(edges), edges[:, :0], "edge_index").dtype
    if dtype.kind not in "iu":
        raise InputError(f"edge_index has type {dtype}; it must have integers: "
                         "edge_index.long() makes them so")
