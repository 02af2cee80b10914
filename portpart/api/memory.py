"""How much memory a call takes on a device, on each rank, or in a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.ranks import CPU_FOLD, GPU_FOLD, Fold
from portpart.algorithms.incremental import room_for, spare_rows
from portpart.algorithms.recipes import DEFAULT, OF_NETS, find
from portpart.algorithms.refinement import Journal, RefinementSizes
from portpart.algorithms.refinement.ranks import RankTotals
from portpart.api.device import NOT_OF_GRAPHS, NOT_OF_NETS
from portpart.errors import InputError
from portpart.estimate import (
    NET_MODELS,
    OF_VERTEX,
    OF_WORD,
    LevelSize,
    MemoryEstimate,
    MemoryModel,
    NetLevelSize,
    SearchLevels,
    SearchModel,
    level_size,
    levels_for,
    mapping_estimate,
    net_estimate,
    net_level_size,
    offset_bytes as offset_bytes_for,
    size_of,
    size_of_nets,
)
from portpart.graphs import (
    MAX_TOTAL_WEIGHT,
    SPARE_ELEMENTS,
    SPARE_ROWS,
    EitherGraph,
    Graph,
    Hypergraph,
    Topology,
    neighbourhood_hypergraph,
    with_spare,
)
from portpart.options import MAX_BLOCKS, checked_integer, shown

# How much memory a rank takes of several that partition a graph together -----------------------


OF_OWN, OF_GHOST = 10, 28
"""Additional bytes of a vertex of the rank, and of a ghost: their ids, and what other ranks know
and receive of them, as measured by ``python -m bench.rank_memory``.
"""

OF_MOVED, OF_LEFT = 24, 16
"""Bytes of a moved vertex, in addition to its row, which is stored twice, and of a ghost that the
rank had before, measured in the same way.
"""


def rank_estimate(levels: Sequence[SearchLevels], search: SearchModel, ranks: int, ghosts: int,
                  kind: str = "cpu", moves: bool = False) -> MemoryEstimate:
    """The estimate for the largest rank, each of which has its share of the vertices and arcs.

    Parameters
    ----------
    levels : sequence of Levels
        Of the whole graph.
    search : SearchModel
    ranks : int
    ghosts : int
        Those of the rank, of the finest level.
    kind : str
        ``"cpu"`` or ``"cuda"``: where ranks work.
    moves : bool
        Whether vertices move to where they have few ghosts.
    """
    fold = CPU_FOLD if kind == "cpu" else GPU_FOLD
    finest = levels[0].walk[0]
    own, rows = (-(-size // ranks) for size in (finest.num_vertices, finest.own_bytes))
    extra = OF_OWN * own + (OF_LEFT if moves else OF_GHOST) * ghosts
    if _is_folded(finest, fold):  # the rows, and the whole graph
        return search.estimate(levels).plus(extra + rows)
    share = 0 if moves else ghosts / finest.num_vertices
    extra += moves * (rows + OF_MOVED * own)
    divided = [replace(each, walk=[_of_rank(level, ranks, share, fold) for level in each.walk])
               for each in levels]
    return search.estimate(divided).plus(
        extra - search.kept_bytes(0 if moves else ghosts)  # partitions are kept of own vertices
        + sums_bytes(finest.num_vertices, search.num_blocks, ranks))


def sums_bytes(num_vertices: int, num_blocks: int, ranks: int) -> int:
    """Bytes of what ranks add up while they refine a graph of this many vertices."""
    sizes = RefinementSizes(num_vertices, 0, num_blocks, num_vertices)
    return RankTotals.num_bytes(sizes) + OF_WORD * ranks


def _is_folded(level: LevelSize, fold: Fold) -> bool:
    """Whether every rank has a level as a whole."""
    return level.num_vertices <= fold.max_vertices and level.num_arcs <= fold.max_arcs


def _of_rank(level: LevelSize, ranks: int, ghosts: float, fold: Fold) -> LevelSize:
    """What a rank has of a level, with this many ghosts for each vertex of all ranks."""
    if _is_folded(level, fold):
        return level
    own = -(-level.num_vertices // ranks)
    return replace(level, num_vertices=own + int(ghosts * level.num_vertices),
                   num_arcs=-(-level.num_arcs // ranks),
                   own_bytes=-(-level.own_bytes // ranks))


# How much memory a session takes: what it keeps, in addition to its partitions -----------------


OF_ID = np.dtype(np.int32).itemsize + OF_WORD
"""Bytes of the deletion time of an id, and of its weight."""

PARTS = 2
"""Partitions that are held while all levels are refined: the one before, and the best."""


def with_session(estimate: MemoryEstimate, finest: LevelSize, num_blocks: int,
                 model: MemoryModel, edge_weights: bool) -> MemoryEstimate:
    """The estimate of a partition, with what a session has while it makes one.

    Parameters
    ----------
    finest : LevelSize
        The graph that the session begins with.
    edge_weights : bool
        Whether that has them.
    """
    n = finest.num_vertices
    levels = int(n / (1 - model.vertices))
    previous_blocks = (OF_VERTEX + OF_WORD) * levels + PARTS * OF_VERTEX * n
    again = finest.own_bytes + OF_WORD * n
    kept = _stored(finest, edge_weights) + _followed(finest, num_blocks, model)
    return replace(estimate.plus(kept + previous_blocks + again), graph=estimate.graph,
                   session=kept)


def _stored(finest: LevelSize, edge_weights: bool) -> int:
    """Bytes of rows and of ids, with spare room."""
    ids, pools, of_entry = with_spare(finest.num_vertices, SPARE_ROWS), 1, OF_VERTEX
    if isinstance(finest, NetLevelSize):
        ids, pools = ids + with_spare(finest.num_nets, SPARE_ROWS), 2
    elif edge_weights:
        of_entry += finest.weight_bytes
    of_row = 2 * finest.offset_bytes + OF_VERTEX
    elements = with_spare(finest.num_arcs, SPARE_ELEMENTS)
    return (of_row + OF_ID) * ids + pools * of_entry * elements


def _followed(finest: LevelSize, num_blocks: int, model: MemoryModel) -> int:
    """Bytes of what refinement around edits keeps: work arrays, previous blocks, and the state of
    nets.
    """
    roomy = replace(finest, num_vertices=room_for(finest.num_vertices))
    if isinstance(roomy, NetLevelSize):
        roomy = replace(roomy, num_nets=with_spare(roomy.num_nets, SPARE_ROWS),
                        num_arcs=with_spare(roomy.num_arcs, SPARE_ELEMENTS),
                        large=roomy.large + spare_rows(num_blocks))
    sizes = RefinementSizes(roomy.num_vertices, roomy.num_arcs, num_blocks)
    return (model.refining_bytes(roomy, num_blocks) + Journal.num_bytes(sizes)
            + OF_WORD * roomy.num_vertices)


# How much memory a partition or a mapping will take, before it is made -------------------------


def memory_estimate(
    num_vertices: int | None = None,
    num_arcs: int | None = None,
    k: int | Topology = 2,
    *,
    algorithm: str | None = None,
    preset: Any = "default",
    vertex_weights: bool = False,
    edge_weights: bool = False,
    net_weights: bool = False,
    offset_bytes: int | None = None,
    weight_bytes: int | None = None,
    arc_shrink: float | None = None,
    like: EitherGraph | None = None,
    num_nets: int | None = None,
    num_pins: int | None = None,
    objective: str | None = None,
    session: bool = False,
    ranks: int = 1,
    ghosts: int = 0,
    device: str = "cpu",
    moves: bool = False,
) -> MemoryEstimate:
    """Estimate the memory that a partition or a mapping needs on its device, including the graph.

    Parameters
    ----------
    num_vertices, num_arcs : int, optional
        Sizes of the graph; default: those of `like`.  An undirected edge has two arcs.
    k : int or Topology, default 2
        Number of blocks, or the machine of a mapping.
    algorithm, preset : optional
        As in :func:`portpart.partition`; for a machine as in :func:`portpart.map_processes`.
    vertex_weights, edge_weights, net_weights : bool, default False
        Whether the graph or the hypergraph has these weights.
    offset_bytes : int, optional
        Bytes of an offset; default: 4 below 2^31 arcs, else 8.
    weight_bytes : int, optional
        Bytes of an arc weight and of sums of them; default: 4 below 2^31 arcs, else 8.  Use 8 if
        the total weight is 2^31 or more.
    arc_shrink : float, optional
        Share of the arcs that a level keeps.  The default is for graphs with skewed degrees: 0.7
        for ``"portpart"`` and mappings, 0.78 for ``"gkway"``, 0.82 for ``"igkway"``, 0.86 for
        others. Meshes and roads keep 0.33 to 0.5, 0.5 to 0.6 and 0.46 to 0.67.
    like : Graph or Hypergraph, optional
        The graph itself, or a smaller one of the same kind.  It is coarsened on its device, and the
        levels are assumed to shrink in the same way.  It replaces `arc_shrink`, and a graph of the
        same size also the options about weights and bytes.
    num_nets, num_pins : int, optional
        Sizes of a hypergraph, instead of `num_arcs`.
    objective : str, optional
        As in :func:`portpart.partition`.
    session : bool, default False
        Whether the estimate is for a :class:`portpart.Session`, which keeps further arrays and has
        the graph twice while it computes a partition.
    ranks : int, default 1
        Number of MPI ranks; the estimate is for each of them.
    ghosts : int, default 0
        Number of vertices of other ranks with a neighbour on a rank: `RankGraph.num_ghosts`.  For a
        mesh that is numbered in layers these are two layers, in random order nearly all neighbours.
    device : str, default "cpu"
        Device of the ranks, ``"cpu"`` or ``"cuda"``.  On GPUs, each rank holds larger levels.
    moves : bool, default False
        Whether vertices move to the ranks of their neighbours, as for meshes in random order.  Then
        a rank has two copies of its rows, and few ghosts.

    Returns
    -------
    MemoryEstimate
        ``peak`` and its parts in bytes; it prints as a table.

    Raises
    ------
    InputError
        If a size is missing or negative, k below 1, a share not between 0 and 1, a name unknown, a
        graph is said to have weights of nets or a hypergraph those of edges, or a session is to map
        or to minimise the volume; or if ranks are to do what they cannot.

    Examples
    --------
    >>> import portpart
    >>> estimate = portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.5)
    >>> estimate.peak // 2**20
    186
    >>> machine = portpart.Topology("4:8:6", "1:10:100")
    >>> portpart.memory_estimate(2**20, 6 * 2**20, machine, arc_shrink=0.5).peak // 2**20
    241
    >>> netlist = portpart.generators.netlist(1000)
    >>> portpart.memory_estimate(like=netlist, k=8).graph
    36272
    >>> portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.5, session=True).peak // 2**20
    422
    >>> portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.5, ranks=4).peak // 2**20
    84
    """
    if not (like is None or isinstance(like, (Graph, Hypergraph))):
        raise InputError(f"like is of type {type(like).__name__}; it must be a Graph or "
                         "a Hypergraph, as portpart.as_graph and as_hypergraph make them")
    if not isinstance(k, Topology):
        k = checked_integer("k", k, 1, MAX_BLOCKS)
    if arc_shrink is not None and not 0 < arc_shrink < 1:
        raise InputError(f"arc_shrink is {arc_shrink}; it must be between 0 and 1")
    if session and (objective == "volume" or isinstance(k, Topology)):
        raise InputError("a session neither maps nor minimises the volume")
    of_nets = isinstance(like, Hypergraph) or num_nets is not None
    ranks, ghosts = (checked_integer("ranks", ranks, 1, MAX_BLOCKS),
                     checked_integer("ghosts", ghosts, 0, MAX_BLOCKS))
    if ranks > 1 and (session or of_nets or isinstance(k, Topology) or objective == "volume"):
        raise InputError("several ranks partition graphs, and minimise the cut")
    if (edge_weights and of_nets) or (net_weights and not of_nets):
        raise InputError(NOT_OF_NETS if of_nets else NOT_OF_GRAPHS)
    if objective == "volume":
        num_nets, num_pins, like = _of_neighbourhoods(num_vertices, num_arcs, like)
    if isinstance(like, Hypergraph) or num_nets is not None:
        if isinstance(k, Topology) or isinstance(like, Graph):
            raise InputError("nets are given with a machine, or with a graph that has none")
        n, m, p = (_size(name, value, like) for name, value in (
            ("num_vertices", num_vertices), ("num_nets", num_nets), ("num_pins", num_pins)))
        weight_bytes = weight_bytes or offset_bytes_for(m)
        nets = net_level_size(n, m, p, weight_bytes, OF_WORD * vertex_weights,
                              weight_bytes * (edge_weights or net_weights))
        estimate = net_estimate(nets, k, algorithm, preset, like, cycles=session)
        if not session:
            return estimate
        if isinstance(like, Hypergraph) and (like.num_vertices, like.num_nets,
                                             like.num_pins) == (n, m, p):
            nets = size_of_nets(like)
        model = NET_MODELS[find(algorithm, preset, OF_NETS)[0].name]
        return with_session(estimate, nets, k, model, net_weights)
    n, arcs = (_size(name, value, like) for name, value in (
        ("num_vertices", num_vertices), ("num_arcs", num_arcs)))
    if like is not None and (like.num_vertices, like.num_arcs) == (n, arcs):
        graph = size_of(like)
    else:
        weight_bytes = weight_bytes or offset_bytes_for(arcs)  # no arc weighs less than 1
        graph = level_size(n, arcs, weight_bytes, OF_WORD * vertex_weights,
                           weight_bytes * edge_weights, offset_bytes)
    if isinstance(k, Topology):
        return mapping_estimate(graph, k, algorithm, preset, arc_shrink, like)
    found, config = find(algorithm, preset)
    search = SearchModel(found.name, config, k)
    levels = levels_for(graph, search, arc_shrink, like)
    if ranks > 1:
        return _of_ranks(levels, search, ranks, ghosts, device, moves)
    estimate = search.estimate(levels)
    if not session:
        return estimate
    weighted = edge_weights or getattr(like, "weights", None) is not None
    return with_session(estimate, graph, k, search.model, weighted)


def _of_ranks(levels: Sequence[SearchLevels], search: SearchModel, ranks: int, ghosts: int,
              device: str, moves: bool) -> MemoryEstimate:
    """The estimate for a rank, if ranks can do so."""
    kind = device.partition(":")[0] if isinstance(device, str) else device
    if kind not in ("cpu", "cuda"):
        raise InputError(f"device is {shown(device)}; it must be 'cpu' or 'cuda'")

    if search.algorithm != DEFAULT:
        raise InputError(f"several ranks have the algorithm {DEFAULT!r} alone; without ranks= the "
                         "estimate is that of one process")
    return rank_estimate(levels, search, ranks, ghosts, kind, moves)


def _of_neighbourhoods(num_vertices: int | None, num_arcs: int | None,
                       like: EitherGraph | None) -> tuple[int, int, Hypergraph | None]:
    """Nets and pins of the neighbourhoods of a graph, and those of one like it."""
    n, arcs = _size("num_vertices", num_vertices, like), _size("num_arcs", num_arcs, like)
    return n, n + arcs, neighbourhood_hypergraph(like) if isinstance(like, Graph) else None


def _size(name: str, value: int | None, like: EitherGraph | None) -> int:
    """A size that is given, or else that of `like`."""
    found = getattr(like, name, None) if value is None else value
    if found is None:
        raise InputError(f"{name} is missing; without it, give what has such as `like`")
    return checked_integer(name, found, 0, MAX_TOTAL_WEIGHT)
