"""Runs for `bench.sanitized` of graphs that belong to several ranks, which take turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

RANKS, BLOCKS = 3, 3


def ranks(space: Any, graphs: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield graphs that are cut into rows, gathered, divided, and asked for all vertices."""
    from portpart.backends.communication import Local
    from portpart.primitives.ranks import FEW_RANKS

    path = heavier_path(space)
    for name, graph in {**graphs, "path": path}.items():
        yield f"ranks, {name}", partial(Local(RANKS).run, partial(_exchange, graph, space))
    yield "ranks, many", partial(Local(FEW_RANKS + 1).run, partial(_coarsen, path, space))


def heavier_path(space: Any) -> Any:
    """Return a path of heavier and heavier edges: chains of wishes lead from rank to rank."""
    from portpart.graphs.graph import Graph

    n = 150
    ends = np.sort(np.concatenate([np.arange(n - 1), np.arange(1, n)]))
    targets = np.stack([np.arange(n) - 1, np.arange(n) + 1], axis=1).reshape(-1)[1:-1]
    offsets = np.searchsorted(ends, np.arange(n + 1)).astype(np.int32)
    return Graph(*map(space.asarray, (offsets, targets.astype(np.int32),
                                      1 + np.minimum(ends, targets))), None, space)


def _rows(graph: Any, space: Any, first: int, last: int) -> Any:
    """Return the rows of a range of vertices."""
    from portpart.graphs.row_range import Rows

    begin, end = int(graph.offsets[first]), int(graph.offsets[last])
    weights, masses = graph.weights, graph.vertex_weights
    return Rows(first, graph.num_vertices,
                space.asarray(graph.offsets[first : last + 1].astype(np.int64) - begin),
                space.asarray(graph.targets[begin:end]),
                None if weights is None else space.asarray(weights[begin:end]),
                None if masses is None else space.asarray(masses[first:last]), space)


def _coarsen(graph: Any, space: Any, comm: Any) -> Any:
    """Return the graph of the ranks, after it has been coarsened."""
    from portpart.algorithms.coarsening.options import ClusteringOptions
    from portpart.algorithms.coarsening.ranks.hierarchy import Fold, coarsen_ranks
    from portpart.graphs.ranks.distribution import distributed

    first, last = (graph.num_vertices * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    made = distributed(comm, _rows(graph, space, first, last))
    made.gather()
    coarsen_ranks(made, 9, 99, ClusteringOptions(max_left=0.0), Fold(0, 0), stop_at=9,
                  max_kept=0.99, skip_above=0.1)
    return made


def _exchange(graph: Any, space: Any, comm: Any) -> None:
    from portpart.algorithms.coarsening.options import ClusteringOptions
    from portpart.algorithms.coarsening.ranks.hierarchy import Fold, coarsen_ranks

    made = _coarsen(graph, space, comm)
    first = int(made.first[comm.rank])
    labels = space.asarray((np.arange(made.local.num_vertices) + first) // 9, np.int32)
    coarsen_ranks(made, 9, 99, ClusteringOptions(max_left=0.0), Fold(30, 1000), stop_at=9,
                  max_kept=0.99, labels=[labels])
    _divide(made)
    _divide(_moved(made))
    _ask(made)


def _moved(graph: Any) -> Any:
    """Return the graph with its vertices on ranks that have their neighbours, or all turned round.

    It also asks whether vertices should move if no ghost may be left.
    """
    from portpart.algorithms.recipes.nearby_owners import MoveRule, moved_nearby
    from portpart.graphs.ranks.moving import move_vertices

    moved_nearby(graph, MoveRule(0, 0.0, 9))
    found = moved_nearby(graph, MoveRule(0, 99.0, 9))
    if found is None:
        own, low = graph.local.num_vertices, int(graph.first[graph.comm.rank])
        groups = graph.space.asarray((graph.totals.num_vertices - 1 - low - np.arange(own)).astype(
            np.int32))
        found = move_vertices(graph, groups, graph.first)
    found.brought_back(found.graph.local.global_ids)
    return found.graph


def _divide(graph: Any) -> None:
    """Partition a graph within limits that are hard to keep, so that all rebalancing is done, and
    with flows alone within others, on whole levels and on band graphs.
    """
    from portpart.algorithms.coarsening.ranks.hierarchy import Fold
    from portpart.algorithms.multilevel.trace import Trace
    from portpart.algorithms.objectives.limits import Balance
    from portpart.algorithms.recipes.portpart import PortpartConfig
    from portpart.algorithms.recipes.portpart_ranks import partition_ranks
    from portpart.algorithms.refinement.options import RefinementOptions
    from portpart.options import changed

    mean = graph.totals.total_vertex_weight // BLOCKS
    config = changed(PortpartConfig(), {
        "coarsening.min_coarsest": 8, "coarsening.coarsest_per_block": 2,
        "refinement.coarse": RefinementOptions(weak_limit=1),
        "refinement.finest": RefinementOptions(weak_limit=1)})
    by_flows = changed(config, {"flows.levels": 9, "refinement.finest.iteration_limit": 0,
                                "refinement.coarse.iteration_limit": 0})
    wide = mean * 5 // 4 + 1
    on_bands = changed(config, {"flows.max_level": 0})
    for limit, preset in ((mean + 1, config), (wide, by_flows), (wide, on_bands)):
        partition_ranks(graph, Balance(BLOCKS, limit, mean), preset, 1,
                        Trace(graph.space, graph, None), Fold(8, 100))


def _ask(graph: Any) -> None:
    """Ask how many vertices are before those of this rank."""
    from portpart.backends.programs.program import Program
    from portpart.primitives.owners import record_prefix

    space, comm = graph.space, graph.comm
    program = Program("ask")
    program.record("owners", graph.owners)
    slots = {name: program.array(name, np.int64) for name in ("count", "shares", "before")}
    record_prefix(program, slots["count"][0], slots["shares"], slots["before"])
    space.executable(program).run(
        {"owners": graph.owners, "comm": comm,
         "count": space.full(1, graph.local.num_vertices, np.int64),
         "shares": space.empty(comm.size, np.int64), "before": space.empty(2, np.int64)}, 1)
