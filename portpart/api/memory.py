"""Estimates of the memory of a call on a device, on each rank, or in a session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms import recipes
from portpart.algorithms.coarsening import in_order, places_by_nets, reduced_nets
from portpart.algorithms.edits import EditableGraph, EditableHypergraph
from portpart.algorithms.incremental import IncrementalRefiner, PartitionFigures
from portpart.algorithms.objectives import CUT, Balance, net_objective
from portpart.api.call_options import checked
from portpart.api.device import NOT_OF_GRAPHS, NOT_OF_NETS
from portpart.api.rank_memory import OF_NUMBER, OF_WORD, of_ranks
from portpart.api.request import require_population
from portpart.errors import InputError
from portpart.estimate import (
    GivenSizes,
    MemoryEstimate,
    Search,
    Shrinking,
    SizingSpace,
    counted,
    mapping_estimate,
    margin_for,
    offset_bytes as offset_bytes_for,
    partition_call,
    sizes_of,
    ways_to_shrink,
)
from portpart.graphs import (
    EDGE_WEIGHT,
    MAX_INT32,
    MAX_TOTAL_WEIGHT,
    EitherGraph,
    Graph,
    Hypergraph,
    Topology,
    edge_hypergraph,
    neighbourhood_hypergraph,
)
from portpart.options import MAX_BLOCKS, checked_integer

if TYPE_CHECKING:
    from portpart.options import Configuration

PARTS = 2
"""Partitions that a session holds while all levels are refined: the previous and the best one."""


def memory_estimate(
    num_vertices: int | None = None,
    num_arcs: int | None = None,
    k: int | Topology = 2,
    *,
    algorithm: str | None = None,
    preset: str | Configuration = "default",
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
    edges: bool = False,
    rounds: int | str | None = None,
    threads: int = 1,
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
        for ``"portpart"`` and mappings, 0.82 for ``"gkway"``, 0.84 for ``"igkway"``, 0.86 for
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
        Whether vertices move to the ranks of their neighbours, as for meshes in random order: a
        rank then has two copies of its rows, and few ghosts.
    edges : bool, default False
        Whether the edges are partitioned, as by :func:`portpart.partition_edges`.
    rounds : int or "until_limit", optional
        As in :func:`portpart.partition`.  The memory does not depend on the number.
    threads : int, default 1
        Number of CPU threads.  Runs of a search on a small graph take place at the same time, one
        on each thread, and each has its own levels.

    Returns
    -------
    MemoryEstimate
        ``peak`` and its parts in bytes; it prints as a table.

    Raises
    ------
    InputError
        If a size is missing or negative, k is below 1, a share is not between 0 and 1, a name is
        unknown, net weights are for a graph or edge weights for a hypergraph, a session is for a
        mapping or the volume, or ranks or `rounds` are not possible with the other options.

    Notes
    -----
    On a GPU, making all levels below a graph of up to 524,288 vertices and 4,194,304 arcs at once
    may take up to 100 MB more.

    Examples
    --------
    >>> import portpart
    >>> estimate = portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.5)
    >>> estimate.peak // 2**20
    211
    >>> machine = portpart.Topology("4:8:6", "1:10:100")
    >>> portpart.memory_estimate(2**20, 6 * 2**20, machine, arc_shrink=0.5).peak // 2**20
    254
    >>> netlist = portpart.generators.netlist(1000)
    >>> portpart.memory_estimate(like=netlist, k=8).graph
    36272
    >>> portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.5, session=True).peak // 2**20
    434
    >>> portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.5, ranks=4).peak // 2**20
    147
    """
    if not (like is None or isinstance(like, (Graph, Hypergraph))):
        raise InputError(f"like is of type {type(like).__name__}; it must be a Graph or "
                         "a Hypergraph, as portpart.as_graph and as_hypergraph make them")
    if not isinstance(k, Topology):
        k = checked_integer("k", k, 1, MAX_BLOCKS)
    if arc_shrink is not None and not 0 < arc_shrink < 1:
        raise InputError(f"arc_shrink is {arc_shrink}; it must be between 0 and 1")
    if session and (objective == "volume" or isinstance(k, Topology)):
        raise InputError("session=True is not for mappings or the communication volume")
    of_nets = isinstance(like, Hypergraph) or num_nets is not None
    if edges and (of_nets or session or ranks != 1 or isinstance(k, Topology) or objective):
        raise InputError("edges=True is for graphs, without session, ranks, machine or objective")
    ranks, ghosts = (checked_integer("ranks", ranks, 1, MAX_BLOCKS),
                     checked_integer("ghosts", ghosts, 0, MAX_BLOCKS))
    threads = checked_integer("threads", threads, 1, MAX_BLOCKS)
    checked("rounds", rounds)
    if rounds is not None and (ranks > 1 or session or isinstance(k, Topology)):
        raise InputError("rounds is for partitions on one device, not for ranks, sessions or "
                         "mappings")
    if ranks > 1 and (session or of_nets or isinstance(k, Topology) or objective == "volume"):
        raise InputError("several ranks can only partition graphs, with the objective 'cut'")
    if (edge_weights and of_nets) or (net_weights and not of_nets):
        raise InputError(NOT_OF_NETS if of_nets else NOT_OF_GRAPHS)
    if objective == "volume":
        num_nets, num_pins, like = _of_neighbourhoods(num_vertices, num_arcs, like)
        of_nets = True
    if of_nets and (isinstance(k, Topology) or isinstance(like, Graph)):
        raise InputError("a hypergraph cannot be combined with a machine or a graph as `like`")
    given = {"num_vertices": num_vertices, **(
        {"num_nets": num_nets, "num_pins": num_pins} if of_nets else {"num_arcs": num_arcs})}
    counts = tuple(_size(name, value, like) for name, value in given.items())
    weight_bytes = weight_bytes or offset_bytes_for(counts[1])  # no arc weighs less than 1
    sizes = GivenSizes(counts, offset_bytes or offset_bytes_for(counts[-1]), weight_bytes,
                       OF_WORD * vertex_weights, weight_bytes * (edge_weights or net_weights))
    if isinstance(k, Topology):
        return mapping_estimate(sizes, k, algorithm, preset, arc_shrink, like, threads)
    if ranks > 1:
        return of_ranks(sizes, k, algorithm, preset, arc_shrink, like, ranks, ghosts, device, moves)
    found, config = recipes.find(algorithm, preset,
                                 recipes.OF_EDGES if edges else recipes.OF_NETS if of_nets
                                 else recipes.ALGORITHMS)
    has_rounds = rounds is not None
    if has_rounds:
        require_population(algorithm, preset, config)
    if edges:
        return _of_edges(sizes, k, found, config, arc_shrink, like, has_rounds, threads)
    return _of_partition(sizes, k, found, config, arc_shrink, like, session, has_rounds, threads)


def session_bytes(sizes: GivenSizes, shrinking: Shrinking, config: Configuration, k: int) -> int:
    """Return the bytes that a session keeps: rows with slack, ids, and the state of refinement."""
    space = SizingSpace(shrinking)
    graph = sizes.made(space)
    own, n = space.live, graph.num_vertices
    growth = recipes.entry_of(config).growth
    edited: Any = (EditableHypergraph(graph, growth) if isinstance(graph, Hypergraph)
                   else EditableGraph(graph, growth))
    edited.num_blocks = k
    refiner = IncrementalRefiner(
        edited, space.zeros(n, np.int32), lambda total: Balance(k, total, total // k),
        net_objective("km1") if isinstance(graph, Hypergraph) else CUT, 0, 1, None, None,
        recipes.entry_of(config).around, PartitionFigures(0, np.ones(k, np.int64)))
    kept = space.live - own
    del refiner
    return kept


def _of_partition(sizes: GivenSizes, k: int, algorithm: recipes.Algorithm, config: Configuration,
                  arc_shrink: float | None, like: EitherGraph | None,
                  session: bool, has_rounds: bool, threads: int) -> MemoryEstimate:
    """Return the estimate for a partition, or for a session."""
    given, dropped = sizes, 0
    if session and hasattr(config, "search"):  # walks improve the present partition
        config = replace(config, search=replace(config.search, cycles=max(1, config.search.cycles)))
    if like is not None and sizes_of(like).counts == sizes.counts:
        sizes = given = sizes_of(like)
        if isinstance(like, Hypergraph) and isinstance(config, recipes.HypergraphConfig):
            fewer = reduced_nets(like, config.nets)
            places = places_by_nets(fewer, config.nets)
            if places is not None:
                fewer, dropped = in_order(fewer, places), int(places.nbytes)
            config = recipes.for_nets(config, fewer, places is not None)
            if fewer is not like:
                sizes, dropped, like = sizes_of(fewer), dropped + given.own_bytes, fewer
    by_size = (config.for_size(sizes.counts[-1], k)
               if isinstance(config, recipes.HypergraphConfig) else config)
    search = Search(algorithm, by_size, k, combines=session)
    ways = ways_to_shrink(search, sizes.counts, arc_shrink, like)
    estimate = counted(sizes, ways, partition_call(algorithm, by_size, k, has_rounds=has_rounds),
                       margin_for(config), threads).plus(dropped)
    if not session:
        return estimate
    kept = session_bytes(given, ways[0], config, k)
    # with a previous partition, options do not depend on the size; weights are multiplied by the
    # denominator of the migration cost factor: sums may become wide
    scaled = (replace(sizes, total=MAX_INT32 // (2 * EDGE_WEIGHT))
              if isinstance(config, recipes.HypergraphConfig) else sizes)
    again = counted(scaled, ways, partition_call(algorithm, config, k, previous=True))
    n = sizes.counts[0]
    # the graph exists twice while all levels are refined
    most = max(estimate.peak, again.peak + PARTS * OF_NUMBER * n) + given.own_bytes + OF_WORD * n
    return replace(estimate.plus(kept), graph=estimate.graph, session=kept, refinement=kept + most)


def _of_edges(graph: GivenSizes, k: int, algorithm: recipes.Algorithm, config: Configuration,
              arc_shrink: float | None, like: EitherGraph | None,
              has_rounds: bool, threads: int) -> MemoryEstimate:
    """Return the estimate for a partition of the edges of a graph, including the graph's arcs."""
    if isinstance(like, Graph):
        graph = sizes_of(like) if sizes_of(like).counts == graph.counts else graph
        like = edge_hypergraph(like)
    arcs = graph.counts[1] * (OF_NUMBER + graph.weights)
    return _of_partition(graph.of_edges(), k, algorithm, config, arc_shrink, like, False,
                         has_rounds, threads).plus(arcs)


def _of_neighbourhoods(num_vertices: int | None, num_arcs: int | None,
                       like: EitherGraph | None) -> tuple[int, int, Hypergraph | None]:
    """Return nets and pins of the neighbourhoods of a graph, and the hypergraph for `like`."""
    n, arcs = _size("num_vertices", num_vertices, like), _size("num_arcs", num_arcs, like)
    return n, n + arcs, neighbourhood_hypergraph(like) if isinstance(like, Graph) else None


def _size(name: str, value: int | None, like: EitherGraph | None) -> int:
    """Return a given size, or else that of `like`."""
    found = getattr(like, name, None) if value is None else value
    if found is None:
        raise InputError(f"{name} is missing; pass it, or a graph or hypergraph as `like`")
    return checked_integer(name, found, 0, MAX_TOTAL_WEIGHT)
