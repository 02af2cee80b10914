"""Partitions of the coarsest graph by greedy growing on a hierarchy below it.

All partitions grow at once. Several hierarchies are built as one: that of copies of the graph
without edges between them; each copy has its own clusters and blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, pairwise

import numpy as np

from portpart.algorithms.coarsening import (
    NO_LIMIT,
    AnyGraph,
    ClusteringOptions,
    ClusterLimit,
    Clusters,
    ClustersOfLevels,
    Level,
    coarsen,
    contract,
    contract_nets,
    merged_nets,
)
from portpart.algorithms.final_balance import host_vertex_weights
from portpart.algorithms.initial import (
    FreeCapacity,
    GrowingOptions,
    bisections_into_halves,
    grown_partition,
    grown_partitions,
    seen_by_vertex,
    splits_side_by_side,
)
from portpart.algorithms.multilevel.problem import FREE
from portpart.algorithms.objectives import NO_PARTS, Balance, balance_of, stacked
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Graph, Hypergraph, copies_of, induced, plain_graph, repeated

MAX_GROWN = 2**17
"""Larger graphs, on which coarsening has stalled, are left to METIS: growing is sequential."""

CLUSTERING = ClusteringOptions()
"""Options of the clustering below the coarsest graph."""

MAX_COPIED = 2**24
"""Maximum number of arcs of all copies together; a single copy may exceed it."""

MAX_KEPT = 0.9
"""Coarsening below the coarsest graph ends when a level keeps a larger share of its vertices."""

Splits = tuple[np.ndarray, np.ndarray]

AnyLevel = Level[Graph] | Level[Hypergraph]


def grown_parts(coarsest: AnyGraph, balance: Balance, options: GrowingOptions, seed: int,
                splits: Splits | None = None, slack: int = 0) -> Array:
    """Return partitions that are grown on one or several hierarchies.

    On one hierarchy these are the best ones, best first; on several hierarchies all of them.

    Partitions of a hypergraph are grown for km1. The first levels use the gains of nets that are
    not too large, the coarser ones use the clique graph (see the options).

    Parameters
    ----------
    splits : tuple of numpy.ndarray, optional
        Bisections down to single blocks, as returned by `splits_of`.
    slack : int, optional
        Weight that blocks may have above their limits.
    """
    limits, goals = balance.limits + slack, goals_of(balance)
    plain = plain_graph(coarsest)
    found: list[Array] = []
    copies, ways = max_copies(plain.num_arcs), options.share(balance.num_blocks).ways()
    wanted = max(len(ways), options.num_hierarchies(balance.num_blocks))
    for number, way in enumerate(ways):
        first, end = (wanted * i // len(ways) for i in (number, number + 1))
        for begin in range(first, end, copies):
            count = min(copies, end - begin)
            found.append(_grown_on_copies(coarsest, plain, count, goals, limits, way,
                                          (seed + begin) % 2**63, splits))
    return found[0] if len(found) == 1 else stacked(coarsest.space, [*chain(*found)])


def goals_of(balance: Balance) -> np.ndarray:
    """Return the share of each block, or ones."""
    return np.ones(balance.num_blocks) if balance.shares is None else balance.shares


def grown_on_nets(hypergraph: Hypergraph, balance: Balance, options: GrowingOptions, seed: int,
                  slack: int = 0) -> Array:
    """Return partitions that are grown on a hypergraph itself, without a hierarchy, best first."""
    whole = Level(without_large(hypergraph, options.max_net_size))
    return grown_on([whole], goals_of(balance), balance.limits + slack, options, seed,
                    bisections_into_halves(balance.num_blocks, 1))


def max_copies(num_arcs: int) -> int:
    """Return how many copies of a graph with this many arcs may form one graph."""
    return max(1, MAX_COPIED // max(1, num_arcs))


def _grown_on_copies(coarsest: AnyGraph, plain: Graph, count: int, goals: np.ndarray,
                     limits: np.ndarray, options: GrowingOptions, seed: int,
                     splits: Splits | None) -> Array:
    """Return partitions grown on one hierarchy of `count` copies, in the order of the copies."""
    space, n, k = coarsest.space, coarsest.num_vertices, len(limits)
    label = repeated(space, space.full(n, 0, np.int32), count, k) if count > 1 else None
    levels = levels_below(copies_of(plain, count), options, seed, count * options.min_vertices,
                          label)
    labels = None if label is None else [level.label for level in levels if level.label is not None]
    shown: Sequence[AnyLevel] = levels
    # nets must be worth the pins that are examined, compared with the clique graph
    if isinstance(coarsest, Hypergraph) and (
            seen_by_vertex(coarsest) <= options.max_pins_per_arc * max(1, plain.mean_degree)):
        shown = with_nets(coarsest, count, levels, options)
    splits = (bisections_into_halves(k, count) if splits is None else
              splits_side_by_side(splits, count, k))
    found = grown_on(shown, np.tile(goals, count), np.tile(limits, count), options, seed,
                     splits, labels, count)
    return found if count == 1 else _of_copies(space, found.reshape(-1), n, count, k)


def _of_copies(space: ExecutionSpace, parts: Array, n: int, count: int, num_blocks: int) -> Array:
    """Split partitions of all copies into one partition per copy, with blocks from 0."""
    result = space.empty(len(parts), np.int32)
    space.parallel_for(len(parts), number_from_zero, parts, n, count, num_blocks, result)
    return result.reshape(len(parts) // max(1, n), n)


def grown_on(levels: Sequence[AnyLevel], goals: np.ndarray, limits: np.ndarray,
             options: GrowingOptions, seed: int, splits: Splits | None,
             labels: list[Array] | None = None, num_labels: int = 1) -> Array:
    """Return partitions grown on a hierarchy by `grown_partitions`, best first."""
    n = levels[0].graph.num_vertices
    parts = grown_partitions(
        [level.graph for level in levels],
        [level.cluster for level in levels[:-1] if level.cluster is not None],
        goals, limits, seed, options, options.refined, splits, labels, num_labels,
    )
    return parts.reshape(len(parts) // max(1, n), n)


def with_nets(coarsest: Hypergraph, count: int, levels: Sequence[Level[Graph]],
              options: GrowingOptions) -> list[AnyLevel]:
    """Return the same levels of copies, with hypergraphs for the first ones.

    The clusters are those of the graphs. On lower levels more nets have equal pins, so there the
    edges are fewer and contain almost the same information.
    """
    most, shown = options.max_net_size, list(levels[: options.net_levels])
    if not shown:
        return [*levels]
    found: list[AnyLevel] = [Level(copies_of(without_large(coarsest, most), count),
                                   shown[0].cluster)]
    whole = coarsest if len(shown) == 1 else copies_of(coarsest, count)
    for above, level in pairwise(shown):
        n = level.graph.num_vertices
        assert above.cluster is not None
        clusters = Clusters(n, cluster=above.cluster, count=whole.space.full(1, n, np.int64))
        if level is shown[-1]:
            found.append(Level(contract_nets(whole, clusters, max_net_size=most), level.cluster))
        else:
            whole = contract_nets(whole, clusters)
            found.append(Level(without_large(whole, most), level.cluster))
    return [*found, *levels[len(shown) :]]


def without_large(hypergraph: Hypergraph, max_net_size: int) -> Hypergraph:
    """Return the hypergraph without nets of more pins, with equal nets merged.

    A hypergraph that has no such nets is returned as it is.
    """
    if hypergraph.max_net_size <= max_net_size:
        return hypergraph
    return merged_nets(hypergraph, max_net_size)


def levels_below(graph: Graph, options: GrowingOptions, seed: int, min_vertices: int | None = None,
                 label: Array | None = None) -> list[Level[Graph]]:
    """Return a hierarchy from `graph` down to about `min_vertices` vertices.

    Parameters
    ----------
    min_vertices : int, optional
        By default the value of the options.
    label : array of int32, shape (n,), optional
        Only vertices of equal label are merged.
    """
    if min_vertices is None:
        min_vertices = options.min_vertices
    limit = ClusterLimit(1.5 * graph.total_vertex_weight, float(options.shrink),
                         float(min_vertices), NO_LIMIT - 1)
    return coarsen(graph.space, graph, ClustersOfLevels(limit, CLUSTERING, guess=_guess),
                   stop_at=min_vertices, max_kept=MAX_KEPT, seed=seed, labels=(label,),
                   contraction=partial(contract, guess=_guess))


def _guess(graph: Graph) -> list[int]:
    """Guess the totals of a contraction. Small graphs are dense and become sparse."""
    n, arcs = graph.num_vertices, graph.num_arcs
    kept = arcs // 5 if graph.mean_degree > 16 else arcs // 4
    return graph.space.guess("start", graph, [
        n // 3, kept, graph.max_degree, graph.total_arc_weight])


@kl.kernel
def number_from_zero(i, parts, n, count, num_blocks, result):
    """result[i] = the block of entry i, numbered from 0 in each of the `count` copies."""
    result[i] = kl.int32(parts[i] - i // n % count * num_blocks)


# Growing with fixed vertices: the other vertices are partitioned separately --------------------
#
# Blocks get the capacity that fixed vertices leave. Each is numbered like the fixed vertices that
# it is most connected to.


def greedy_start_in_groups(coarsest: AnyGraph, balance: Balance, options: GrowingOptions, seed: int,
                           fixed: Array, plain: Callable[[], Graph], slack: int = 0) -> Array:
    """Return grown partitions that respect fixed vertices; none below two blocks with capacity.

    Parameters
    ----------
    plain : callable
        Returns the coarsest graph, or the clique graph of the coarsest hypergraph.
    slack : int, optional
        Weight that blocks may have above their limits.
    """
    space = coarsest.space
    if space.is_dry_run:
        return grown_parts(coarsest, balance, options, seed, slack=slack)
    anchors = space.to_host(fixed)
    left = FreeCapacity.of(anchors, host_vertex_weights(coarsest), balance.limits)
    if len(left.wide) < 2:
        return NO_PARTS
    inner, free = induced(coarsest, fixed, FREE)
    found = grown_parts(inner, balance_of(left.wanted[left.wide], inner.total_vertex_weight),
                        options, seed, slack=slack)
    matrix = plain().to_scipy() if left.have_neighbours else None
    wide = left.wide.astype(np.int32)
    names, parts = space.asarray(wide), list[Array]()
    for blocks in found:
        if matrix is not None:
            names = space.asarray(left.names(matrix, wide[space.to_host(blocks)])[wide])
        part = space.copy(fixed)
        space.parallel_for(len(free), name_blocks, free, blocks, names, part)
        parts.append(part)
    return stacked(space, parts)


def grown_from(space: ExecutionSpace, limits: np.ndarray, fixed: Array | None,
               plain: Callable[[], Graph]) -> list[Array]:
    """Return one partition whose blocks grow from fixed vertices; none if a block has none."""
    if fixed is None or space.is_dry_run:
        return []
    anchors = space.to_host(fixed)
    if len(np.unique(anchors[anchors >= 0])) < len(limits):
        return []
    graph = plain()
    part = grown_partition(graph.to_scipy(), anchors, host_vertex_weights(graph), limits)
    return [] if part is None else [space.asarray(part)]


@kl.kernel
def name_blocks(i, vertices, blocks, names, part):
    """part[v] = the number of the block of vertex i of the list."""
    part[vertices[i]] = names[blocks[i]]
