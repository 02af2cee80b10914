"""Initial partitions of a small graph: candidates grown on a hierarchy below it, in its space.

The coarsest graph of the hierarchy is bisected by growing, in every candidate. Each finer graph
projects the bisections, refines them, and bisects blocks further when they are large enough, until
there are k blocks ("deep multilevel": L. Gottesbueren, T. Heuer, P. Sanders, C. Schulz,
D. Seemaier, ESA 2021). All candidates share the hierarchy; only the best ones continue on the next
finer graph. No data returns to the host in between.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.algorithms.initial.arc_gains import ARCS, PARALLEL_ARCS
from portpart.algorithms.initial.bisection import record_bisection, splits_of
from portpart.algorithms.initial.bisection_state import (
    BisectionWords,
    Candidates,
    ProjectedState,
    Splits,
    StartSizes,
)
from portpart.algorithms.initial.fm_gains import Attempts, group_words
from portpart.algorithms.initial.net_gains import NETS
from portpart.algorithms.initial.net_keys import GROUP_OF_NETS, PRICE, incidence_of
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.initial.project_bisection import orders_by_section
from portpart.backends.programs import Array, Records
from portpart.graphs import Graph, Hypergraph, team_for

Graphs = Sequence[Graph | Hypergraph]

GAIN_BITS = 62
"""Bits of a key without its sign."""


def grown_partitions(graphs: Graphs, clusters: list[Array], goals: np.ndarray, limits: np.ndarray,
                     seed: int, options: GrowingOptions, kept: int | None = None,
                     splits: tuple[np.ndarray, np.ndarray] | None = None,
                     labels: list[Array] | None = None, num_labels: int = 1) -> Array:
    """Return partitions of ``graphs[0]``, grown and refined on a hierarchy.

    The hierarchy may contain graphs and hypergraphs. On hypergraphs the gains are those of km1,
    whatever the objective.

    Parameters
    ----------
    graphs : sequence of Graph or Hypergraph
        From fine to coarse, in one space; each has fewer vertices than the one before.
    clusters : list of array
        ``clusters[i]`` maps the vertices of ``graphs[i]`` to those of ``graphs[i + 1]``.
    goals, limits : numpy.ndarray, shape (k,)
        Target weight (positive; only ratios matter) and limit of each block.
    seed : int
    options : GrowingOptions
    kept : int, optional
        Number of partitions to return; at most and by default ``options.candidates``.
    splits : tuple of numpy.ndarray, optional
        Bisections and the begins of their levels, as returned by `splits_of`; by default its
        halves.
    labels : list of array of int32, optional
        For each graph the first of the blocks that a vertex may be in, if `splits` begin with
        several ranges of blocks, `num_labels` of them.

    Returns
    -------
    array of int32, shape (kept * n,)
        The partitions in order, best first: by overload, then by the cost of their cuts. A block
        may still exceed its limit; with at least k vertices, empty blocks are rare.
    """
    space = graphs[0].space
    rows, level_begin = splits_of(len(goals)) if splits is None else splits
    limits = np.minimum(limits, min(graphs[0].total_vertex_weight, int(limits.max())))
    runs = _runs(graphs, len(goals), len(level_begin) - 1, seed, options, num_labels)
    runs[0].kept = min(kept or options.candidates, options.candidates)
    for run in runs:
        run.kept_vertices = run.kept * run.vertices
    orders = [] if labels is None else orders_by_section(
        space, labels, [int(run.candidates) for run in runs], len(goals), seed)
    sizes = start_sizes([graph.num_vertices for graph in graphs], len(goals), options)
    given = {"next_order": orders[0].vertices} if orders else {}
    candidates = Candidates.allocate(space, sizes, **given)
    records = {"splits": Splits.on(space, rows, level_begin, goals, limits),
               "candidates": candidates, "attempts": Attempts.allocate(space, sizes)}
    team = team_for(seen_by_vertex(graphs[0]))  # equal on all graphs, so one program is compiled
    words = space.asarray(np.array([run.array for run in runs], np.int64).reshape(-1))
    nothing = space.empty(0, np.int32)
    part = nothing
    for depth in reversed(range(len(graphs))):
        run = runs[depth]
        cluster = clusters[depth] if run.coarse_vertices > 0 else nothing
        handover = ProjectedState(cluster, part, space.empty(int(run.kept_vertices), np.int32))
        if orders:
            records |= {"ordered": orders[depth], "candidates": candidates.replaced(
                next_order=orders[depth].vertices)}
        size = len(run.array)
        state = BisectionWords(words[depth * size : (depth + 1) * size])
        _bisect(graphs[depth], int(run.vertices_of_all), team, labels is not None,
                {**records, "handover": handover, "start": state})
        part = handover.kept_part
    return part


def _runs(graphs: Graphs, num_blocks: int, all_levels: int, seed: int,
          options: GrowingOptions, num_labels: int) -> list[BisectionWords]:
    """Return, for each graph, the words that depend only on the graphs and the options."""
    runs = [run_on(graph) for graph in graphs]
    inherited = 0
    for depth in reversed(range(len(graphs))):
        run = runs[depth]
        run.blocks, run.seed, run.level = num_blocks, seed, -1
        run.candidates = options.candidates_on(depth)
        run.vertices_of_all = run.candidates * run.vertices
        run.nets_of_all = run.candidates * run.nets
        run.net_groups = -(-run.nets_of_all // GROUP_OF_NETS)
        run.grown_trials, run.refined_trials = options.trials, options.refined_trials
        run.max_passes = options.passes if depth > 0 else options.finest_passes
        run.stall_limit = options.stall_limit
        run.balances = options.balances(num_blocks // num_labels)
        run.max_moves = options.max_moves(num_blocks, num_labels, run.vertices)
        run.finest, run.inherited_levels = depth == 0, inherited
        inherited = _levels_on(graphs[depth], depth, inherited, all_levels, options, num_labels)
        run.levels = inherited
        if depth > 0:
            run.kept = options.candidates_on(depth - 1)
            runs[depth - 1].coarse_vertices = run.vertices
    return runs


def run_on(graph: Graph | Hypergraph) -> BisectionWords:
    """Return the words that depend only on the graph."""
    run = BisectionWords([0] * len(BisectionWords.indices))  # faster than words of an array
    run.vertices, run.degree = graph.num_vertices, int(seen_by_vertex(graph))
    run.nets = graph.num_nets if isinstance(graph, Hypergraph) else 0
    total = (graph.total_arc_weight if isinstance(graph, Graph) else
             4 * PRICE * graph.total_net_weight)
    run.key_bits = max(1, (graph.num_vertices - 1).bit_length())
    run.weight_shift = max(0, total.bit_length() + run.key_bits - GAIN_BITS)
    return run


def seen_by_vertex(graph: Graph | Hypergraph) -> float:
    """Return the mean number of arcs of a vertex, or of pins of its nets."""
    if isinstance(graph, Graph):
        return graph.mean_degree
    return graph.mean_degree * graph.num_pins / max(1, graph.num_nets)


def _levels_on(graph: Graph | Hypergraph, depth: int, inherited: int, all_levels: int,
               options: GrowingOptions, num_labels: int) -> int:
    """Return the levels of bisection on a graph: all on the finest, else according to its size."""
    if depth == 0:
        return all_levels
    wanted = (graph.num_vertices // (options.split_vertices * num_labels)).bit_length()
    return min(all_levels, max(1, inherited, wanted))


def start_sizes(vertices: Sequence[int], num_blocks: int, options: GrowingOptions) -> StartSizes:
    """Return sizes that suffice for each of the graphs."""
    counts = [options.candidates_on(depth) for depth in range(len(vertices))]
    return StartSizes(
        candidates=max(counts),
        vertices=max(count * n for count, n in zip(counts, vertices, strict=True)),
        groups=max(count * group_words(n, num_blocks)
                   for count, n in zip(counts, vertices, strict=True)),
        trials=options.trials, blocks=num_blocks)


def _bisect(graph: Graph | Hypergraph, size: int, team: int, ordered: bool,
            records: Records) -> None:
    """Run the program on one graph."""
    if isinstance(graph, Graph):
        alone = graph.is_simple or graph.space.widest_team == 1
        rule, rows = ARCS if alone else PARALLEL_ARCS, graph.csr
    else:
        rule, rows = NETS, incidence_of(graph)
    records = {"graph": rows, **records}
    key = ("recursive bisection", rule.name, *graph.type_key, team, ordered)
    program = graph.space.cached_executable(
        key, lambda: record_bisection(records, rule, team, ordered))
    program.run(records, size)
