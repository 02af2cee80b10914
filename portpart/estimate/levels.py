"""How large the levels of a search are: by shares that surely suffice, or as those of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from portpart.algorithms.coarsening import ANY_DEGREE, Level, end_for, slots_for
from portpart.algorithms.multilevel import Problem, Trace, levels_below, levels_of
from portpart.algorithms.objectives import Balance
from portpart.algorithms.recipes import ALGORITHMS, find
from portpart.backends.programs import Array
from portpart.estimate.model import MODELS, LevelSize, level_size
from portpart.estimate.search import MIN_SECTIONS, SearchLevels, SearchModel
from portpart.graphs import Graph
from portpart.metrics import block_weight_limit


class LevelCounts(NamedTuple):
    """Numbers of vertices and of arcs, most arcs of a vertex, and arcs of long rows if counted."""

    vertices: int
    arcs: int
    max_degree: int = ANY_DEGREE
    long_arcs: int | None = None


NEAR_END = 3 / 4
"""From this share of the vertices at which coarsening ends on starts of other seeds may have more
levels."""

OTHER_SEED = 10**6
"""The clusters that a partition was made of would fit into its blocks."""

ABOVE_END = 5 / 4
"""Coarsening for starts ends at no more than this many times the vertices that it is to end at, and
that of a larger graph at no more than this many times those of a smaller one of its kind."""


def levels_for(finest: LevelSize, search: SearchModel, arc_shrink: float | None,
               like: Graph | None) -> list[SearchLevels]:
    """The levels that a search has on a graph; those of walks with labels may be others.

    Parameters
    ----------
    arc_shrink : float, optional
        Share of the arcs that a level keeps.
    like : Graph, optional
        Levels shrink as this one's do.
    """
    if like is None or search.num_blocks == 1:
        return [_by_shares(finest, search, arc_shrink)]
    if like.num_vertices >= finest.num_vertices:
        return [_levels(finest, search, list(_scaled(finest, walk)), start)
                for walk, start in _measured(like, search)]
    reduced = search.reduced(like.num_vertices / finest.num_vertices)
    return [_enlarged(finest, search, walk) for walk, _ in _measured(like, reduced)]


def _enlarged(finest: LevelSize, search: SearchModel, walk: list[LevelCounts]) -> SearchLevels:
    """Levels that shrink as those of a smaller graph; where it has no more, by the shares.

    Multisection starts on few vertices, where one level more or less matters.
    """
    scaled = list(_scaled(finest, walk))
    n, arcs, *_ = scaled[-1]
    model, most = search.model, search.coarsening.coarsest_vertices(search.num_blocks)
    if n > most:
        scaled += shrinking(n, arcs, most, model.vertices, model.arcs)
    coarsest = most if search.sections else min(most, int(ABOVE_END * scaled[-1][0]))
    return _levels(finest, search, scaled, start_by_shares(scaled, search, coarsest))


def _measured(graph: Graph,
              search: SearchModel) -> Iterator[tuple[list[LevelCounts], list[LevelCounts]]]:
    """Sizes of the levels of a graph, and of the levels for growing starts: by coarsening it.

    By two seeds, for a matching that is just dense enough with one takes other levels with another.
    Where walks have labels, those are the blocks of a quick partition.
    """
    problem = _problem(graph, search.num_blocks)
    recipe = replace(ALGORITHMS[search.algorithm].recipe(problem, search.config),
                     coarsening=search.coarsening)
    if not search.labelled:
        for seed in (0, OTHER_SEED):
            yield _sizes(levels_of(problem, recipe, seed), search)
    if search.num_labels >= MIN_SECTIONS:
        label = _partition(graph, search.num_labels)
        yield _sizes(levels_of(problem, recipe, OTHER_SEED, label), search)


def _sizes(levels: list[Level], search: SearchModel) -> tuple[list[LevelCounts], list[LevelCounts]]:
    growing, coarsest = search.growing, levels[-1]
    start = [coarsest] if growing is None else levels_below(
        coarsest.graph, growing, 0, label=coarsest.label)
    walk, below = ([_counts(level.graph) for level in found] for found in (levels, start))
    if growing is not None and NEAR_END < below[-1][0] / growing.min_vertices <= 1:
        below.append(LevelCounts(below[-1].vertices,
                                 0))  # there may be one more, with more candidates
    return [*walk, *_after_a_stall(coarsest.graph, search)], below


def _after_a_stall(coarsest: Graph, search: SearchModel) -> list[LevelCounts]:
    """The level that other seeds may have where coarsening has ended since it kept too much."""
    options, k = search.coarsening, search.num_blocks
    end = end_for(coarsest, options.coarsest_vertices(k), options.coarsest_dense_vertices(k))
    n, arcs = coarsest.num_vertices, coarsest.num_arcs
    return [LevelCounts(int(options.max_kept * n), arcs)] if n > end else []


def _counts(graph: Graph) -> LevelCounts:
    return LevelCounts(graph.num_vertices, graph.num_arcs, graph.max_degree, slots_for(graph))


def _partition(graph: Graph, k: int) -> Array:
    """Blocks like those of a partition before, whose borders hold merging up."""
    algorithm, config = find("portpart", "fast")
    part: Array = algorithm.partition(_problem(graph, k), config)
    return part


def _problem(graph: Graph, k: int) -> Problem:
    total = graph.total_vertex_weight
    balance = Balance(k, min(block_weight_limit(total, k), total), total // k)
    return Problem(graph, balance, 0, Trace(graph.space, graph, None))


def _scaled(finest: LevelSize, sizes: list[LevelCounts]) -> Iterator[LevelCounts]:
    """Levels that keep the same shares, but for long rows: the larger, the more of these."""
    n, arcs = finest.num_vertices, finest.num_arcs
    if (n, arcs) == sizes[0][:2]:
        yield from sizes
        return
    yield LevelCounts(n, arcs, sizes[0].max_degree)
    for fine, coarse in pairwise(sizes):
        n = -(-n * coarse.vertices // fine.vertices)
        arcs = min(-(-arcs * coarse.arcs // max(1, fine.arcs)), n * n)
        yield LevelCounts(n, arcs, coarse.max_degree)


def _by_shares(finest: LevelSize, search: SearchModel, arc_shrink: float | None) -> SearchLevels:
    model = search.model
    n, arcs = finest.num_vertices, finest.num_arcs
    arcs_kept = model.arcs if arc_shrink is None else arc_shrink
    walk = [LevelCounts(n, arcs), *shrinking(n, arcs, _end(search), model.vertices, arcs_kept)]
    most = search.coarsening.coarsest_vertices(search.num_blocks)
    return _levels(finest, search, walk, start_by_shares(walk, search, most))


def shrinking(n: int, arcs: int, end: int, vertices_kept: float,
               arcs_kept: float) -> Iterator[LevelCounts]:
    """Vertices and arcs of the levels below one.

    One level more than the shares give: the first levels of some graphs keep more than that.
    """
    last = n <= end
    while not last:
        last = n <= end
        n = int(vertices_kept * n)
        arcs = min(int(arcs_kept * arcs), n * n)
        yield LevelCounts(n, arcs)


def start_by_shares(walk: list[LevelCounts], search: SearchModel, most: int) -> list[LevelCounts]:
    """Levels that starts grow on; the coarsest graph has as many vertices as it may have."""
    n = min(walk[0][0], most)
    arcs = next((level.arcs for level in walk if level.vertices <= most), walk[-1].arcs)
    growing, model = search.growing, MODELS["portpart"]
    if growing is None:
        return [LevelCounts(n, arcs)]
    least = min(n, int(growing.min_vertices * ABOVE_END))
    below = shrinking(n, arcs, growing.min_vertices, model.vertices, model.arcs)
    return [LevelCounts(n, arcs),
            *(LevelCounts(max(level.vertices, least), level.arcs) for level in below)]


def _end(search: SearchModel) -> int:
    """Vertices at which coarsening stops, where it goes furthest."""
    dense = search.coarsening.coarsest_dense_vertices(search.num_blocks)
    plain = search.coarsening.coarsest_vertices(search.num_blocks)
    return max(1, plain if dense is None else min(plain, dense))


def _levels(finest: LevelSize, search: SearchModel, walk: list[LevelCounts],
            start: list[LevelCounts]) -> SearchLevels:
    """Levels of these sizes, of which GP-metis hands the small ones over."""
    finest = replace(finest, max_degree=walk[0].max_degree, long_arcs=walk[0].long_arcs)
    coarse = _coarse(walk[1:], finest.weight_bytes)
    sizes, of_starts = [finest, *coarse], _coarse(start, finest.weight_bytes)
    handoff = getattr(search.config, "handoff_vertices", None)
    if handoff is None:
        return SearchLevels(sizes, of_starts)
    least = max(handoff, search.coarsening.coarsest_vertices(search.num_blocks))
    depth = next((i for i, level in enumerate(sizes) if level.num_vertices <= least),
                 len(sizes) - 1)
    return SearchLevels(sizes[: depth + 1], of_starts, sizes[depth:])


def _coarse(sizes: Iterable[LevelCounts], weight_bytes: int) -> list[LevelSize]:
    return [level_size(level.vertices, level.arcs, weight_bytes, max_degree=level.max_degree,
                       long_arcs=level.long_arcs) for level in sizes]
