"""How levels shrink: by upper bounds, or as measured by coarsening a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from portpart.algorithms import coarsening, multilevel
from portpart.algorithms.objectives import CUT, Balance, net_objective, pin_state
from portpart.algorithms.recipes import ALGORITHMS, OF_NETS, Algorithm, find
from portpart.backends.programs import Array
from portpart.estimate.space import Shrinking
from portpart.graphs import EitherGraph, Graph, Hypergraph, num_pairs, plain_graph
from portpart.metrics import block_weight_limit

SHARES = {"portpart": (0.4, 0.7), "jet": (0.62, 0.86), "gkway": (0.5, 0.82),
          "igkway": (0.5, 0.84), "gpmetis": (0.62, 0.86)}
"""Shares of vertices and arcs that levels keep. They are so large that the sums over all levels
exceed the measured ones."""

SHARES_OF_NETS = {"portpart": (0.4, 0.72, 0.65), "hyperg": (0.5, 0.75, 0.7),
                  "ihyperg": (0.5, 0.75, 0.7)}
"""The same for vertices, nets and pins; the sums exceed those of 33 real hypergraphs."""

SLOW = 4
"""Clusters with at most this growth shrink graphs as slowly as pairs do."""

OTHER_SEED = 10**6


class Search(NamedTuple):
    """A search for partitions by a partitioner.

    Attributes
    ----------
    algorithm : Algorithm
    config
        A configuration of the algorithm.
    num_blocks : int
    sections : int
        Sections that a level of multisection divides; all walks coarsen inside them.
    combines : bool
        Whether starts also grow in the overlay of two partitions, as in sessions.
    """

    algorithm: Algorithm
    config: Any
    num_blocks: int
    sections: int = 0
    combines: bool = False

    @property
    def num_labels(self) -> int:
        """Number of labels that walks respect: sections, blocks of a present partition, or 0."""
        is_one_walk = getattr(self.config, "search", multilevel.SearchOptions()).is_one_walk
        return self.sections if self.sections or is_one_walk else self.num_blocks

    def reduced(self, share: float) -> Search:
        """Return the search for a graph smaller by a factor, with blocks of as many vertices."""
        options, k = self.config.coarsening, self.num_blocks
        dense = options.coarsest_dense_vertices(k)
        end = max(1, int(share * options.coarsest_vertices(k)))
        few, sections = (max(min(count, 2), round(share * count)) for count in (k, self.sections))
        options = replace(
            options, coarsest_per_block=0, min_coarsest=end, max_coarsest=end,
            dense_per_block=None if dense is None else max(1, int(share * dense) // few))
        return self._replace(config=replace(self.config, coarsening=options), num_blocks=few,
                             sections=sections)


def ways_to_shrink(search: Search, sizes: tuple[int, ...], arc_shrink: float | None = None,
                   like: EitherGraph | None = None) -> list[Shrinking]:
    """Return the ways in which the levels of a search may shrink.

    Parameters
    ----------
    sizes : tuple of int
        Sizes of the graph or hypergraph of the call.
    arc_shrink : float, optional
        Share of the arcs that a level keeps.
    like : Graph or Hypergraph, optional
        Levels shrink as those of this graph.
    """
    if like is not None and search.num_blocks > 1:
        return [*as_those_of(like, sizes[0], search)]
    shares = (SHARES if len(sizes) == 2 else SHARES_OF_NETS)[search.algorithm.name]
    options, k = search.config.coarsening, search.num_blocks
    merging = getattr(search.config, "clustering", None)
    if len(sizes) == 2 and isinstance(merging, coarsening.ClusteringOptions) and min(
            each.growth for each in merging.of_runs(k)) <= SLOW:
        shares = SHARES["jet"]
    ends = options.coarsest_vertices(k), options.coarsest_dense_vertices(k)
    return [Shrinking(shares if arc_shrink is None else (shares[0], arc_shrink), end)
            for end in ends if end is not None]


def as_those_of(like: EitherGraph, num_vertices: int, search: Search) -> Iterator[Shrinking]:
    """Yield the sizes of levels as those of a graph or hypergraph, for one of this many vertices.

    There is one way for each run, and at least two, because the levels of a matching that is just
    dense enough differ between seeds. A graph with more runs than a large one has as many ways as
    the smallest one, because some seeds have much larger levels of a social network than others. If
    walks respect labels, these are the blocks of a quick partition, or the overlay of two.
    """
    factor = max(1.0, num_vertices / max(1, like.num_vertices))
    if factor > 1:
        search = search.reduced(1 / factor)
    k, options = search.num_blocks, search.config.coarsening
    problem = _problem(like, k)
    # a dry run discards and skips levels itself
    given = search.algorithm.recipe(problem, search.config)
    recipe, *others = (replace(each, coarsening=replace(options, drop_below=0, skip_above=1))
                       for each in (given, *given.others))
    walks: list[tuple[multilevel.Recipe, int, Array | None]] = []
    if search.sections < 2:
        ways, own = [recipe, *others], recipe.search
        runs = own.max_runs or 1 if own.runs_on(like) > own.runs else own.runs
        walks += [(ways[run % len(ways)], run * OTHER_SEED, None)
                  for run in range(max(2, len(ways), runs))]
    if search.num_labels >= 2:
        label = _quick_partition(like, search.num_labels, 0)
        if search.combines:
            other = _quick_partition(like, search.num_labels, OTHER_SEED)
            label = multilevel.overlay(like.space, label, other, search.num_labels)
        walks.append((recipe, OTHER_SEED, label))
    for way, seed, within in walks:
        levels = multilevel.levels_of(problem, way, seed, within)
        end = coarsening.end_for(levels[-1].graph, options.coarsest_vertices(k),
                                 options.coarsest_dense_vertices(k))
        yield _shrinking(levels, search, factor,
                         options.max_kept if levels[-1].graph.num_vertices > end else None)


def _problem(graph: EitherGraph, k: int, seed: int = 0) -> multilevel.Problem[Any]:
    total = graph.total_vertex_weight
    balance = Balance(k, min(block_weight_limit(total, k), total), total // k)
    objective = net_objective("km1") if isinstance(graph, Hypergraph) else CUT
    return multilevel.Problem(graph, balance, seed, multilevel.Trace(graph.space, graph, None),
                              objective=objective)


def _quick_partition(graph: EitherGraph, k: int, seed: int) -> Array:
    """Return blocks like those of a previous partition, for labels."""
    algorithms = OF_NETS if isinstance(graph, Hypergraph) else ALGORITHMS
    algorithm, config = find("portpart", "fast", algorithms)
    part: Array = algorithm.partition(_problem(graph, k, seed), config)
    return part


def _shrinking(levels: list[coarsening.Level[Any]], search: Search, factor: float,
               kept: float | None) -> Shrinking:
    """Return what levels show, scaled by a factor; `kept` is the minimum share of a last level."""
    graphs = [level.graph for level in levels]
    walk = [_scaled(_counts(graph), factor) for graph in graphs]
    degrees = [graph.max_degree for graph in graphs]
    if kept is not None or len(walk) == 1:  # other seeds may have one more level
        walk.append((int((kept or 1) * walk[-1][0]), *walk[-1][1:]))
        degrees.append(degrees[-1])
    slots = {sizes: int(factor * found) for sizes, level in zip(walk, levels)
             if (found := _slots(level, search.config)) is not None}
    coarsest = graphs[-1]
    plain = coarsest if isinstance(coarsest, Graph) else plain_graph(coarsest)
    starts, label = search.config.initial, levels[-1].label if search.sections > 1 else None
    below = [_counts(level.graph) for level in multilevel.levels_below(
        plain, starts.growing, 0, label=label)] if starts.grows else []
    if isinstance(coarsest, Graph):
        return Shrinking((1.0, 1.0), 1, walk, degrees, slots, below)
    pairs = num_pairs(coarsest)
    return Shrinking((1.0, 1.0, 1.0), 1, walk, degrees, slots, below,
                     pairs / max(1, coarsest.num_pins), plain.num_arcs / max(1, pairs),
                     int(factor * pin_state.net_sizes(graphs[0], 1).large))


def _counts(graph: EitherGraph) -> tuple[int, ...]:
    if isinstance(graph, Graph):
        return graph.num_vertices, graph.num_arcs
    return graph.num_vertices, graph.num_nets, graph.num_pins


def _scaled(counts: tuple[int, ...], factor: float) -> tuple[int, ...]:
    return tuple(round(factor * count) for count in counts)


def _slots(level: coarsening.Level[Any], config: Any) -> int | None:
    """Return the slots of hash rows in main memory while clusters of a level are found."""
    if isinstance(level.graph, Graph):
        return coarsening.slots_for(level.graph)
    grouping = getattr(config, "grouping", None)
    options = config.nets if grouping is None else coarsening.NetOptions(
        max_rated=grouping.max_rated)
    return 0 if level.cluster is None else coarsening.NetProposals(options).around(
        level.graph, 0).sizes.arcs
