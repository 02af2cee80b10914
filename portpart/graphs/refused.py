"""Objects that hold a graph, or blocks of one, and are not taken: what they are, and the way."""

from __future__ import annotations

from typing import Any

from portpart.errors import InputError

STACKED = "portpart.from_edges(torch.stack(graph.edges(), 1), num_vertices=graph.num_nodes())"

BY_TYPE = {
    ("polars", "LazyFrame"): "frame.collect() makes a frame, which is taken",
    ("dgl", "DGLGraph"): f"{STACKED} makes a graph of its edges",
    ("dgl", "DGLHeteroGraph"): f"{STACKED} makes a graph of its edges",
    ("portpart", "RankGraph"): "gather() makes a graph on every rank, which is taken",
    ("torch_sparse", "SparseTensor"): 'matrix.to_scipy("csr") makes a matrix, which is taken',
}
"""By package and type, so that nothing is imported: the way to what is taken."""


def refuse_foreign_type(obj: Any) -> None:
    """Raise if `obj` is of a library from whose type there is a way; asks it for nothing."""
    kind = type(obj)
    way = BY_TYPE.get((kind.__module__.partition(".")[0], kind.__name__))
    if way is not None:
        raise InputError(f"a {kind.__name__} of {kind.__module__.partition('.')[0]} is not taken "
                         f"as it is: {way}")


def refuse_blocks(obj: Any) -> None:
    """Raise if `obj` is a result or a session, which have blocks."""
    if not (hasattr(obj, "part") and hasattr(obj, "k")):
        return
    name = type(obj).__name__
    if callable(getattr(obj, "graph", None)):
        raise InputError(f"a {name} is not a graph; its graph() is the graph as it is now")
    raise InputError(f"a {name} holds blocks and no graph: pass the graph, and the result as "
                     "initial= to improve it, or to portpart.repartition to move little")
