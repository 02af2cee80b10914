"""The start of refinement: several partitions of the coarsest graph, the best kept.

They are METIS's, made one after the other on the host, or grown all at once in the space of the
graph, on a hierarchy that goes on below the coarsest graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.hierarchy import AnyGraph, Level, coarsen
from portpart.algorithms.coarsening.net_contraction import contract_nets, merged_nets
from portpart.algorithms.coarsening.options import ClusteringOptions, NetOptions
from portpart.algorithms.initial.deep_multilevel import grown_partitions
from portpart.algorithms.initial.fixed_vertices import grown_partition, start_partition
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.initial.trivial import trivial_partition
from portpart.algorithms.multilevel.constraints import UNCONSTRAINED, Constraints
from portpart.algorithms.multilevel.refiner import Refiner
from portpart.algorithms.refinement.outcomes import Outcome
from portpart.backends.interface import Array
from portpart.graphs.clique_graph import plain_graph
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph

MAX_GROWN = 2**17
"""Larger graphs, on which coarsening has stalled, are left to METIS: growing goes step by step."""

CLUSTERING = ClusteringOptions()
"""How the coarsest graph is made coarser still, for its starts."""

NEXT_HIERARCHY = 1000
"""From the seed of one hierarchy to the next one's; levels count on from it."""

MAX_KEPT = 0.9
"""Coarsening below the coarsest graph ends when a level keeps a larger share of its vertices."""

Splits = tuple[np.ndarray, np.ndarray]

AnyLevel = Level[Graph] | Level[Hypergraph]

Choose = Callable[[list[Array]], Array]
"""The best of several partitions, or one put together from them."""


def metis_parts(coarsest: Graph, balance: Balance, seeds: range,
                fixed: Array | None = None, recursive: bool = True) -> Iterator[Array]:
    """Partitions by METIS, one for each seed, and one grown from fixed vertices.

    By `recursive` bisection, or by the k-way method.
    """
    space, obvious = coarsest.space, trivial_partition(coarsest, balance.num_blocks)
    if obvious is not None and fixed is None:
        yield from (obvious for _ in seeds)
        return
    matrix = coarsest.to_scipy()
    weights, anchors = (None if array is None else space.to_host(array)
                        for array in (coarsest.vertex_weights, fixed))
    for seed in seeds:
        yield space.asarray(start_partition(matrix, weights, balance.limits, balance.imbalance,
                                            seed, balance.shares, anchors, recursive))
    grown = None if anchors is None else grown_partition(matrix, anchors, balance.num_blocks)
    if grown is not None:
        yield space.asarray(grown)


def grown_parts(coarsest: AnyGraph, balance: Balance, options: GrowingOptions, seed: int,
                splits: Splits | None = None) -> list[Array]:
    """Partitions grown all at once on each hierarchy, the most promising of each first.

    Those of a hypergraph are made for km1, on the first levels by the gains of nets that are not
    too large, and on the coarser ones by its clique graph, as the options say.

    Parameters
    ----------
    splits : tuple of numpy.ndarray, optional
        The bisections that lead to single blocks, as `splits_of` gives them.
    """
    goals = np.ones(balance.num_blocks) if balance.shares is None else balance.shares
    plain, parts = plain_graph(coarsest), list[Array]()
    for each, share in enumerate(options.shares()):
        other = (seed + each * NEXT_HIERARCHY) % 2**63
        levels = levels_below(plain, share, other)
        on_nets = with_nets(coarsest, levels, share) if isinstance(coarsest, Hypergraph) else levels
        parts += grown_on(on_nets, goals, balance, share, other, splits)
    return parts


def grown_on(levels: Sequence[AnyLevel], goals: np.ndarray, balance: Balance,
             options: GrowingOptions, seed: int, splits: Splits | None,
             labels: list[Array] | None = None, num_labels: int = 1) -> list[Array]:
    """Partitions grown on a hierarchy, as `grown_partitions` says, the most promising first."""
    n = levels[0].graph.num_vertices
    parts = grown_partitions(
        [level.graph for level in levels], [level.cluster for level in levels[:-1]],
        goals, balance.limits, seed, options, options.refined, splits, labels, num_labels,
    )
    return [parts[start : start + n] for start in range(0, len(parts), n)]


def with_nets(hypergraph: Hypergraph, levels: Sequence[Level[Graph]],
              options: GrowingOptions) -> list[AnyLevel]:
    """The same levels, the first ones hypergraphs: the clusters of their clique graphs are theirs.

    The lower a level, the more nets share their pins: edges are fewer, and tell much the same.
    """
    nets = NetOptions(max_size=options.max_net_size, max_share=0)
    found: list[AnyLevel] = []
    for level in levels[: options.net_levels]:
        if found:
            cluster, n = found[-1].cluster, level.graph.num_vertices
            count = hypergraph.space.full(1, n, np.int64)
            hypergraph = contract_nets(hypergraph, Clusters(n, cluster=cluster, count=count))
        large = hypergraph.max_net_size > options.max_net_size
        found.append(Level(merged_nets(hypergraph, nets) if large else hypergraph, level.cluster))
    return [*found, *levels[options.net_levels :]]


def levels_below(graph: Graph, options: GrowingOptions, seed: int, min_vertices: int | None = None,
                 label: Array | None = None) -> list[Level[Graph]]:
    """Coarser and coarser graphs, from `graph` down to about `min_vertices` vertices.

    Parameters
    ----------
    min_vertices : int, optional
        By default as the options say.
    label : array of int32, shape (n,), optional
        Only vertices of equal label become one.
    """
    total = graph.total_vertex_weight
    if min_vertices is None:
        min_vertices = options.min_vertices


    def find_clusters(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        vertices = max(fine.num_vertices / options.shrink, min_vertices)
        limit = max(1, int(1.5 * total / vertices))
        return cluster(fine.space, fine, limit, level_seed, CLUSTERING, label)

    return coarsen(graph.space, graph, find_clusters, stop_at=min_vertices, max_kept=MAX_KEPT,
                   seed=seed, label=label)


def start_from_best(refiner: Refiner, coarsest: Graph, parts: Iterable[Array], count: int,
                    temperature: float, wanted: Constraints = UNCONSTRAINED,
                    choose: Choose | None = None) -> int:
    """Refine each of `count` partitions and start from the best, as many as time allows.

    A single one is left as it is.

    Parameters
    ----------
    choose : callable, optional
        Makes one of the refined partitions, if there are several; by default the best of them.

    Returns
    -------
    int
        The passes that each has had.
    """
    tried: list[tuple[Outcome, Array]] = []
    for part in parts:
        refiner.start(coarsest, part)
        only = count == 1 and wanted.fixed is None
        if only or (not tried and wanted.out_of_time()):
            return 0
        outcome = refiner.refine(coarsest, temperature, wanted.fixed)
        tried.append((outcome, coarsest.space.copy(refiner.best[: coarsest.num_vertices])))
        if wanted.out_of_time():
            break
    if choose is not None:
        refiner.start(coarsest, choose([part for _, part in tried]))
        return 1
    rank = _rank_of_anchored(coarsest) if wanted.fixed is not None else _rank
    _, best = min(tried, key=lambda one: rank(one[0]))
    refiner.start(coarsest, best)
    return 1


def _rank(outcome: Outcome) -> tuple[int, int]:
    """Smaller is better."""
    return -outcome["balanced"], outcome["cut"]


def _rank_of_anchored(coarsest: Graph) -> Callable[[Outcome], tuple[int, int]]:
    """The same for ways that differ much: what is too heavy costs its row at most to move."""
    price = 1 + coarsest.mean_joint_weight(coarsest.num_entries) // max(
        1, coarsest.total_vertex_weight)
    return lambda outcome: (0, outcome["cut"] + price * max(0, outcome["overload"]))
