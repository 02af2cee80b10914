"""How much memory a partition or a mapping will take, before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from portpart.algorithms.partitioners import DEFAULT, OF_NETS, find
from portpart.api.device import NOT_OF_GRAPHS, NOT_OF_NETS
from portpart.api.mapping_memory import mapping_estimate
from portpart.api.memory_levels import levels_for
from portpart.api.memory_model import OF_WORD, MemoryEstimate, level_size, size_of
from portpart.api.memory_model import offset_bytes as offset_bytes_for
from portpart.api.memory_net_levels import net_estimate
from portpart.api.memory_nets import NET_MODELS, net_level_size, size_of_nets
from portpart.api.memory_search import SearchLevels, SearchModel
from portpart.api.memory_session import with_session
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import EitherGraph, Hypergraph
from portpart.graphs.hypergraph_of_graph import neighbourhood_hypergraph
from portpart.graphs.limits import MAX_TOTAL_WEIGHT
from portpart.graphs.topology import Topology
from portpart.options import MAX_BLOCKS, checked_integer, shown


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
    """Memory that a partition or a mapping takes on its device, the graph included.

    Parameters
    ----------
    num_vertices, num_arcs : int, optional
        Sizes of the graph, by default those of `like`; an undirected edge has two arcs.
    k : int or Topology, default 2
        Number of blocks, or the machine to map to.
    algorithm, preset : optional
        As for :func:`portpart.partition`, with a machine as for :func:`portpart.map_processes`.
    vertex_weights, edge_weights, net_weights : bool, default False
        Whether the graph, or the hypergraph, has them.
    offset_bytes : int, optional
        Bytes of an offset: 4 for less than 2^31 arcs, else 8, by default.
    weight_bytes : int, optional
        Bytes of an arc weight and of sums of them: 4 for less than 2^31 arcs, else 8, by default; 8
        if the total weight is 2^31 or more.
    arc_shrink : float, optional
        Share of the arcs that a level keeps.  The default is for graphs of skewed degrees: 0.7 for
        ``"portpart"`` and mappings, 0.78 for ``"gkway"``, 0.82 for ``"igkway"``, 0.86 for others.
        Meshes and roads keep 0.33 to 0.5, 0.5 to 0.6 and 0.46 to 0.67.
    like : Graph or Hypergraph, optional
        The graph itself, or a smaller one of its kind: it is coarsened where it lies, and the
        levels are taken to shrink as its do.  Goes before `arc_shrink`, and a graph of the same
        size before what is said of weights and bytes.
    num_nets, num_pins : int, optional
        Sizes of a hypergraph, in place of `num_arcs`.
    objective : str, optional
        As for :func:`portpart.partition`.
    session : bool, default False
        Whether it is for a :class:`portpart.Session`: what that keeps adds to each of its
        partitions, and the graph exists twice while it makes one.
    ranks : int, default 1
        MPI ranks that partition the graph together; the estimate is that of each of them.
    ghosts : int, default 0
        Vertices of other ranks with a neighbour on a rank: `RankGraph.num_ghosts`.  A mesh whose
        vertices are numbered in layers has two layers; in random order nearly all neighbours
        of a rank's vertices are on other ranks.
    device : str, default "cpu"
        Where ranks work, ``"cpu"`` or ``"cuda"``: GPUs hold larger levels as a whole.
    moves : bool, default False
        Whether vertices move to ranks that have their neighbours, as those of meshes in random
        order do: then a rank has two copies of its rows, and few ghosts on its levels.

    Returns
    -------
    MemoryEstimate
        ``peak`` and its parts in bytes; printing it gives a table.

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
    from portpart.api.memory_ranks import rank_estimate

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
