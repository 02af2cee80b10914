"""Vertices move to other ranks, where their neighbours are; the graph stays what it is."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import backends, generators
from portpart.algorithms.recipes.nearby_owners import (
    MOVE_RULE,
    MoveRule,
    are_scattered,
    moved_nearby,
)
from portpart.backends.communication import Local
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import shares
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.regions import MAX_SEEDS, SEED, grown_regions
from portpart.primitives.messages import held
from tests.algorithms.coarsening.test_rank_hierarchy import rows
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_calls import on_ranks
from tests.helpers.ranks.rank_rows import DEVICES, SIZES, cut_graphs, move_anywhere, space_of
from tests.oracles import host
from tests.oracles.hashing import mixed

SPREAD = {
    "mesh": shares.permuted(shares.jittered_mesh(60), seed=1),
    "cube": shares.permuted(shares.grid_3d(16), seed=2),
}


def whole_of(large: shares.LargeGraph) -> Graph:
    drawn = large.rows(0, large.num_vertices)
    return portpart.as_graph((drawn.offsets, drawn.targets))


def check_moved(graph: Graph, first: list[int], seed: int, there: ExecutionSpace) -> None:
    """Vertices keep rows, weights and ids; ghosts have those of their vertices; values return."""
    def main(comm):
        given = distributed(comm, rows_of(graph, *first[comm.rank : comm.rank + 2], there))
        moved = move_anywhere(given, seed)
        part, own = moved.graph, moved.graph.local.num_vertices
        assert rows(part.gather().to("cpu")) == rows(graph)
        ids = host(part.local.global_ids)
        assert host(part.gather_values(part.space.asarray(ids[:own]))).tolist() == list(
            range(graph.num_vertices))
        back = host(moved.brought_back(part.space.asarray(ids[:own]))).tolist()
        assert back == list(range(first[comm.rank], first[comm.rank + 1]))
        assert host(part.names)[own:].tolist() == host(part.ghost_names).tolist()
        masses = part.local.vertex_weights
        return (ids.tolist(), host(part.names).tolist(),
                None if masses is None else host(masses).tolist(), moved.count)

    found = Local(len(first) - 1).run(main)
    known: dict[int, int] = {}
    for ids, names, masses, _ in found:
        for place, (vertex, name) in enumerate(zip(ids, names, strict=True)):
            assert known.setdefault(name, vertex) == vertex
            if masses is not None:
                assert masses[place] == graph.vertex_weights[vertex]
    assert sorted(known.values()) == list(range(graph.num_vertices))
    assert sum(count for *_, count in found) <= graph.num_vertices


@settings(max_examples=60, deadline=None)
@given(cut_graphs(graphs(30, loops=False)), st.integers(0, 999))
def test_any_graph_moves_anywhere(drawn, seed):
    check_moved(*drawn, seed, backends.space("cpu", threads=1))


@pytest.mark.parametrize("name", ["cpu-2", "lanes", *DEVICES])
def test_vertices_move_on_any_device(name):
    graph = random_graph(300, 900, 1, weighted=True, vertex_weighted=True)
    for size in (1, 3):
        check_moved(graph, borders(300, size, 5), 3, space_of(name))


def grown(graph: Graph, spacing: int, rest: np.ndarray) -> list[int]:
    """Regions by breadth-first search, where of those at the same distance the smallest wins."""
    drawn = [v for v in range(graph.num_vertices)
             if (mixed(v ^ mixed(SEED)) & 0x7FFFFFFF) < 2**31 / spacing]
    region, distance = {v: i for i, v in enumerate(drawn)}, dict.fromkeys(drawn, 0)
    waiting = deque(drawn)
    while waiting:
        v = waiting.popleft()
        for u in graph.targets[graph.offsets[v] : graph.offsets[v + 1]].tolist():
            if u not in region:
                region[u], distance[u] = region[v], distance[v] + 1
                waiting.append(u)
            elif distance[u] == distance[v] + 1:
                region[u] = min(region[u], region[v])
    return [region.get(v, len(drawn) + int(rest[v])) for v in range(graph.num_vertices)]


@pytest.mark.parametrize("name", ["cpu-1", "cpu-2", "lanes", *DEVICES])
@pytest.mark.parametrize("size", SIZES[::2])
def test_regions_grow_as_by_breadth_first_search(size, name):
    space = space_of(name)
    for graph in (whole_of(SPREAD["mesh"]), random_graph(700, 500, 2)):
        n = graph.num_vertices
        first = borders(n, size, size)

        def main(comm, graph=graph, first=first):
            part = distributed(comm, rows_of(graph, *first[comm.rank : comm.rank + 2], space))
            regions, own = held(comm, space, grown_regions(part, 30)), part.local.num_vertices
            region, ghosts = host(regions.region), host(part.ghost_names)
            return region[:own].tolist(), list(zip(ghosts.tolist(), region[own:].tolist()))

        results = Local(size).run(main)
        rest = np.searchsorted(first, np.arange(n), side="right") - 1
        wanted = grown(graph, 30, rest)
        assert [region for regions, _ in results for region in regions] == wanted
        assert all(wanted[v] == region for _, told in results for v, region in told)


def test_large_graphs_have_no_more_regions():
    graph = generators.grid_2d(300)

    def main(comm):
        part = distributed(comm, rows_of(graph, *[0, 45_000, 90_000][comm.rank : comm.rank + 2]))
        return held(comm, graph.space, grown_regions(part, 1)).number

    assert all(0.9 * MAX_SEEDS < count < 1.1 * MAX_SEEDS for count in Local(2).run(main))


def ghosts_of(large: shares.LargeGraph, size: int, rule: MoveRule) -> tuple[int, int | None]:
    """Ghosts of all ranks, and those after vertices have moved."""
    n = large.num_vertices

    def main(comm):
        part = distributed(comm, large.rows(n * comm.rank // size, n * (comm.rank + 1) // size))
        moved = moved_nearby(part, rule) if are_scattered(part, rule) else None
        loads = None if moved is None else moved.graph.local.num_arcs
        return part.num_ghosts, None if moved is None else moved.graph.num_ghosts, loads

    given, left, loads = zip(*Local(size).run(main), strict=True)
    if left[0] is None:
        return sum(given), None
    assert max(loads) < 1.1 * sum(loads) / size
    return sum(given), sum(left)


@pytest.mark.parametrize("size", [2, 3, 8])
@pytest.mark.parametrize("name", SPREAD)
def test_random_order_has_few_ghosts_after_vertices_have_moved(name, size):
    before, after = ghosts_of(SPREAD[name], size, MOVE_RULE._replace(spacing=16))
    assert after is not None
    assert after < (0.2 if name == "mesh" else 0.5) * before


LOCAL = {"skewed": shares.rmat(12, 8), "mesh": shares.jittered_mesh(60),
         "cube": shares.grid_3d(16)}


@pytest.mark.parametrize("name", LOCAL)
def test_vertices_stay_where_they_are_where_moving_gains_little(name):
    before, after = ghosts_of(LOCAL[name], 3, MOVE_RULE._replace(spacing=16))
    assert before > 0
    assert after is None


def test_partitions_tell_how_many_vertices_have_moved():
    graph = whole_of(shares.permuted(shares.grid_2d(520), seed=3))  # too large to be folded

    def main(rows):
        result = portpart.partition(rows, 4, preset="fast")
        return result.part.tolist(), result.stats

    found = on_ranks(graph, [0, 100_000, graph.num_vertices], main)
    assert [block for part, _ in found for block in part] == portpart.partition(
        graph, 4, preset="fast").part.tolist()
    for _, stats in found:
        assert graph.num_vertices // 4 < stats["moved_vertices"] < graph.num_vertices
        assert stats["phases"]["moving"] > 0
