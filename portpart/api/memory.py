"""How much memory a partition or a mapping will take, before it is made."""

from __future__ import annotations

from typing import Any

from portpart.algorithms.partitioners import find
from portpart.api.mapping_memory import mapping_estimate
from portpart.api.memory_levels import levels_for
from portpart.api.memory_model import OF_WORD, MemoryEstimate, level_size, size_of
from portpart.api.memory_search import Search
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology


def memory_estimate(
    num_vertices: int,
    num_arcs: int,
    k: int | Topology,
    *,
    algorithm: str | None = None,
    preset: Any = "default",
    vertex_weights: bool = False,
    edge_weights: bool = False,
    offset_bytes: int | None = None,
    weight_bytes: int = 4,
    arc_shrink: float | None = None,
    like: Graph | None = None,
) -> MemoryEstimate:
    """Memory that a partition or a mapping takes on its device, the graph included.

    Parameters
    ----------
    num_vertices, num_arcs : int
        Sizes of the graph; an undirected edge has two arcs.
    k : int or Topology
        Number of blocks, or the machine to map to.
    algorithm, preset : optional
        As for :func:`portpart.partition`, with a machine as for :func:`portpart.map_processes`.
    vertex_weights, edge_weights : bool, default False
        Whether the graph has them.
    offset_bytes : int, optional
        Bytes of an offset: 4 for less than 2^31 arcs, else 8, by default.
    weight_bytes : int, default 4
        Bytes of an arc weight and of sums of them: 8 if the total is 2^31 or more.
    arc_shrink : float, optional
        Share of the arcs that a level keeps.  The default is for graphs of skewed degrees: 0.7 for
        ``"portpart"`` and mappings, 0.82 for ``"gkway"``, 0.86 for others.  Meshes and roads keep
        0.33 to 0.5, 0.5 to 0.6 and 0.46 to 0.67.
    like : Graph, optional
        The graph itself, or a smaller one of its kind: it is coarsened where it lies, and the
        levels are taken to shrink as its do.  Goes before `arc_shrink`, and a graph of the same
        size before what is said of weights and bytes.

    Returns
    -------
    MemoryEstimate
        ``peak`` and its parts in bytes; printing it gives a table.

    Raises
    ------
    InputError
        If a size is negative, k below 1, a share not between 0 and 1, or a name unknown.

    Examples
    --------
    >>> import portpart
    >>> estimate = portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.5)
    >>> estimate.peak // 2**20
    202
    >>> machine = portpart.Topology("4:8:6", "1:10:100")
    >>> portpart.memory_estimate(2**20, 6 * 2**20, machine, arc_shrink=0.5).peak // 2**20
    266
    """
    if like is not None and (like.num_vertices, like.num_arcs) == (num_vertices, num_arcs):
        graph = size_of(like)
    else:
        graph = level_size(num_vertices, num_arcs, weight_bytes, OF_WORD * vertex_weights,
                           weight_bytes * edge_weights, offset_bytes)
    if isinstance(k, Topology):
        _check(num_vertices, num_arcs, 1, arc_shrink)
        return mapping_estimate(graph, k, algorithm, preset, arc_shrink, like)
    _check(num_vertices, num_arcs, k, arc_shrink)
    found, config = find(algorithm, preset)
    search = Search(found.name, config, k)
    return search.estimate(levels_for(graph, search, arc_shrink, like))


def _check(num_vertices: int, num_arcs: int, k: int, arc_shrink: float | None) -> None:
    for name, value, least in (
        ("num_vertices", num_vertices, 0), ("num_arcs", num_arcs, 0), ("k", k, 1)
    ):  # fmt: skip
        if value < least:
            raise InputError(f"{name} is {value}; it must be at least {least}")
    if arc_shrink is not None and not 0 < arc_shrink < 1:
        raise InputError(f"arc_shrink is {arc_shrink}; it must be between 0 and 1")
