"""Initial partitions by growing: balance, blocks, any width of a team, any space, and quality."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

import portpart
from portpart import backends, generators
from portpart.algorithms.initial.bisection import shuffled, splits_of
from portpart.algorithms.initial.deep_multilevel import grown_partitions
from portpart.algorithms.initial.metis import metis_partition
from portpart.algorithms.initial.options import MANY_BLOCKS, GrowingOptions, InitialOptions
from portpart.algorithms.multilevel import starting
from portpart.algorithms.multilevel.greedy_start import grown_parts, levels_below
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import partition_multilevel
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.recipes.jet import JetConfig, jet
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import drawn_graphs, graphs, random_graph, raw_graph
from tests.helpers.refining import balance_of
from tests.helpers.spaces import GRAPHS, reference

ROOT = Path(__file__).parents[3]

SMALL = GrowingOptions(candidates=2, max_candidates=4, trials=3, refined_trials=2,
                       min_vertices=20, split_vertices=12)


def limit_of(graph: Graph, k: int, imbalance: float = 0.05) -> int:
    return int((1 + imbalance) * -(-graph.total_vertex_weight // k))


def parts_of(graph: Graph, k: int, *, seed: int = 1, options: GrowingOptions | None = None,
             limit: int | None = None) -> np.ndarray:
    """The candidates of a graph, one a row."""
    growing = options or GrowingOptions()
    start = replace(growing, refined=growing.candidates)
    balance = Balance(k, limit or limit_of(graph, k), graph.total_vertex_weight // k)
    parts = grown_parts(graph, balance, start, seed)
    return np.array([oracles.host(part) for part in parts])


def grown_in(space: ExecutionSpace, levels: list, k: int, limit: int,
             options: GrowingOptions = SMALL) -> np.ndarray:
    """The candidates that a space grows on a hierarchy made elsewhere."""
    there = [level.graph.to(space) for level in levels]
    clusters = [space.asarray(oracles.host(level.cluster)) for level in levels[:-1]]
    return oracles.host(grown_partitions(there, clusters, np.ones(k), np.full(k, limit), 3,
                                         options)).reshape(-1, there[0].num_vertices)


@given(st.integers(1, 300))
def test_bisections_end_with_single_blocks(k: int) -> None:
    rows, begins = splits_of(k)
    assert len(rows) == k - 1
    assert len(begins) - 1 == (k - 1).bit_length()
    whole = {(0, k)}
    for first, middle, last, price in rows.tolist():
        assert price == 1
        assert middle - first in ((last - first) // 2, (last - first + 1) // 2)
        whole.remove((first, last))
        whole |= {(first, middle), (middle, last)}
    assert whole == {(b, b + 1) for b in range(k)}


@pytest.mark.parametrize("n", [1, 2, 3, 64, 100, 257])
def test_the_shuffle_is_a_permutation(n: int) -> None:
    assert sorted(shuffled(v, n, 5) for v in range(n)) == list(range(n))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("k", [2, 5, 16])
def test_all_spaces_grow_the_same(space: ExecutionSpace, name: str, k: int) -> None:
    graph = GRAPHS[name]
    if graph.num_vertices < 2:
        pytest.skip("nothing to bisect")
    levels = levels_below(graph, SMALL, 7)
    limit = limit_of(graph, k)
    here = grown_in(space, levels, k, limit)
    assert np.array_equal(here, grown_in(reference(), levels, k, limit))


@pytest.mark.parametrize("graph", [
    generators.delaunay(1200), random_graph(150, 8000, 2, weighted=True),
], ids=["long", "dense"])
def test_blocks_grow_what_warps_grow(space: ExecutionSpace, graph: Graph) -> None:
    levels = levels_below(graph, SMALL, 7)
    limit = limit_of(graph, 6)
    here = grown_in(space, levels, 6, limit)
    assert np.array_equal(here, grown_in(reference(), levels, 6, limit))


@pytest.mark.parametrize(("graph", "lanes"), [
    (generators.delaunay(60), 8),
    (random_graph(9, 25, 2), 36),
    (random_graph(50, 200, 3, weighted=True, vertex_weighted=True), 3),
    (random_graph(60, 40, 3), 3),
    (raw_graph(30, [(0, 1)] * 3 + [(i, 0) for i in range(1, 30)]).graph(), 3),
], ids=["mesh", "wide", "weighted", "sparse", "parallel"])
def test_the_width_of_a_team_decides_nothing(graph: Graph, lanes: int) -> None:
    levels = levels_below(graph, SMALL, 7)
    # the input may have parallel arcs, whose lanes change a key together; coarser graphs have none
    assert [level.graph.is_simple for level in levels] == [False, *[True] * (len(levels) - 1)]
    limit = limit_of(graph, 5)
    wide = grown_in(LanesSpace(lanes), levels, 5, limit)
    assert np.array_equal(wide, grown_in(reference(), levels, 5, limit))


@pytest.mark.parametrize("k", [2, 3, 8, 31, 64])
def test_blocks_keep_their_limit(k: int) -> None:
    graph = generators.delaunay(1500)
    for part in parts_of(graph, k):
        assert np.bincount(part, minlength=k).max() <= limit_of(graph, k)


def test_candidates_come_best_first_and_differ() -> None:
    graph = generators.delaunay(800)
    parts = parts_of(graph, 8, options=GrowingOptions(candidates=6))
    cuts = [oracles.cut(graph, part) for part in parts]
    assert cuts == sorted(cuts)
    assert len(set(cuts)) > 1
    assert not np.array_equal(parts, parts_of(graph, 8, seed=2))


def test_one_huge_vertex_has_a_block_of_its_own() -> None:
    weights = np.ones(400, np.int64)
    weights[17] = 10_000
    graph = random_graph(400, 1600, 1)
    graph = Graph(graph.offsets, graph.targets, None, weights, graph.space)
    part = parts_of(graph, 4, limit=10_000)[0]
    blocks = np.bincount(part, weights, minlength=4)
    assert blocks.max() <= 10_000 + 40
    assert (blocks > 0).all()


@pytest.mark.parametrize("edges", [0, 30, 150])
def test_graphs_of_many_components(edges: int) -> None:
    graph = random_graph(300, edges, 5)
    for part in parts_of(graph, 7):
        assert np.bincount(part, minlength=7).max() <= limit_of(graph, 7)


@pytest.mark.parametrize("k", [4, 8, 16, 20])
def test_growth_alone_leaves_both_sides_vertices_for_their_blocks(k: int) -> None:
    """Without a pass that could mend it; each bisection is off by half a vertex at most."""
    bare = GrowingOptions(candidates=1, trials=1, refined_trials=1, passes=0, finest_passes=0)
    part = parts_of(generators.grid_2d(5, 8), k, options=bare)[0]
    sizes = np.bincount(part, minlength=k)
    assert sizes.min() >= max(1, 40 // k - 1)
    assert sizes.max() <= -(-40 // k) + 1


def test_a_second_pass_over_a_bisection_cuts_less() -> None:
    once, twice = (sum(
        oracles.cut(graph, parts_of(graph, 2, options=GrowingOptions(
            candidates=1, finest_passes=passes, min_vertices=200))[0])
        for graph in (random_graph(120, 400, seed) for seed in range(6))) for passes in (1, 2))
    assert twice < once


def test_clusters_that_starts_grow_on_weigh_no_more_than_wanted() -> None:
    """1.5 times the mean of what a level may at most come to; a star would become one vertex."""
    star = raw_graph(400, [(0, v) for v in range(1, 400)]).graph()
    levels = levels_below(star, SMALL, 1)
    for fine, coarse in pairwise(levels):
        most = 1.5 * 400 / max(fine.graph.num_vertices / SMALL.shrink, SMALL.min_vertices)
        assert oracles.host(coarse.graph.vertex_weights).max() <= max(1, int(most))
    assert len(levels) > 1


@pytest.mark.parametrize("k", [20, 39, 40])
def test_no_block_is_empty_though_there_are_hardly_more_vertices(k: int) -> None:
    graph = generators.grid_2d(5, 8)
    for part in parts_of(graph, k, options=SMALL):
        assert (np.bincount(part, minlength=k) > 0).all()


def test_shares_of_blocks() -> None:
    graph = generators.grid_2d(40)
    goals = np.array([1, 2, 5, 8])
    limits = (goals * 100 * 1.05).astype(np.int64)
    part = grown_partitions([graph], [], goals, limits, 0, GrowingOptions(), 1)
    assert (np.bincount(oracles.host(part), minlength=4) <= limits).all()


@given(graphs(max_vertices=14, large_weights=True), st.integers(2, 6), st.integers(0, 2**63 - 1))
def test_any_small_graph(graph: Graph, k: int, seed: int) -> None:
    if graph.num_vertices >= k:
        limit = limit_of(graph, k)
        part = grown_partitions([graph], [], np.ones(k), np.full(k, limit), seed, SMALL, 1)
        assert ((part >= 0) & (part < k)).all()
        assert len(np.unique(part)) == k


def test_drawn_graphs_are_cut_where_they_should_be() -> None:
    drawn = drawn_graphs()
    for name, cut in (("two_triangles", 1), ("path", 1), ("ring", 2)):
        graph = drawn[name]
        limit = -(-graph.num_vertices // 2)
        part = grown_partitions([graph], [], np.ones(2), np.full(2, limit), 0, SMALL, 1)
        assert oracles.cut(graph, part) == cut, name


@pytest.mark.parametrize(("make", "k"), [
    (lambda: generators.delaunay(2000), 2), (lambda: generators.delaunay(2000), 16),
    (lambda: generators.grid_2d(45), 8), (lambda: generators.grid_3d(12), 8),
    (lambda: generators.rmat(11, 8), 8),
], ids=["delaunay-2", "delaunay-16", "grid", "cube", "rmat"])
def test_cuts_are_no_worse_than_those_of_metis(make, k: int) -> None:
    graph = make()
    ours = [oracles.cut(graph, parts_of(graph, k, seed=s, limit=limit_of(graph, k, 0.03))[0])
            for s in range(3)]
    matrix = graph.to_scipy()
    theirs = [oracles.cut(graph, metis_partition(matrix, None, k, 0.03, s)) for s in range(3)]
    assert np.mean(ours) <= 1.05 * np.mean(theirs)


@pytest.mark.parametrize("make", [
    lambda: generators.delaunay(1000), lambda: generators.grid_2d(30),
    lambda: generators.random_geometric(1000),
], ids=["delaunay", "grid", "rgg"])
def test_weights_that_differ_much(make) -> None:
    """Where all attempts take the lightest vertices first, they end alike and above METIS."""
    matrix = sparse.triu(make().to_scipy()).tocoo()
    weights = np.random.default_rng(7).random(matrix.nnz) ** 8
    uneven = sparse.coo_array((np.ceil(1000 * weights).astype(np.int64), (matrix.row, matrix.col)),
                              matrix.shape)
    uneven = (uneven + uneven.T).tocsr()
    graph = portpart.as_graph(uneven)
    ours = [oracles.cut(graph, parts_of(graph, 2, seed=s, limit=limit_of(graph, 2, 0.03))[0])
            for s in range(5)]
    theirs = [oracles.cut(graph, metis_partition(uneven, None, 2, 0.03, s)) for s in range(5)]
    assert np.mean(ours) <= 0.85 * np.mean(theirs)


def test_whole_partitions_with_grown_starts(space: ExecutionSpace) -> None:
    config = JetConfig(initial=InitialOptions("grown", growing=SMALL))
    parts = []
    for where in (reference(), space):
        graph = random_graph(2000, 9000, 8, weighted=True, vertex_weighted=True).to(where)
        problem = Problem(graph, balance_of(graph, 6), 2, Trace(where, graph, None))
        parts.append(oracles.host(partition_multilevel(problem, jet(problem, config))))
    assert np.array_equal(*parts)


def test_graphs_that_do_not_shrink_are_left_to_metis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "MAX_GROWN", 100)
    metis, grown = (portpart.partition(generators.delaunay(900), 4, preset=JetConfig(
        initial=InitialOptions(start))) for start in ("metis", "grown"))
    assert np.array_equal(metis.part, grown.part)


@pytest.mark.parametrize("k", [2, 40, 130])
def test_nobody_asks_metis_by_default(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "metis_parts", None)
    assert portpart.partition(generators.delaunay(2000), k).feasible


@pytest.mark.parametrize("refined", [0, 1, 3])
def test_any_number_of_attempts_may_be_refined(refined: int) -> None:
    graph = generators.delaunay(500)
    options = GrowingOptions(trials=3, refined_trials=refined)
    for part in parts_of(graph, 5, options=options):
        assert np.bincount(part, minlength=5).max() <= limit_of(graph, 5)


@pytest.mark.parametrize(("n", "moves"), [(127, 3), (300, 10), (600, 3), (600, 25)])
def test_passes_end_after_as_many_moves_as_they_may(n: int, moves: int) -> None:
    """Of the first bisection no more vertices than that change sides, or than one in 32."""
    graph, k = random_graph(n, 4 * n, 3), MANY_BLOCKS + 8
    one = GrowingOptions(candidates=1, trials=1, refined_trials=1, finest_passes=1)

    def first_side(**given: int) -> np.ndarray:
        part = grown_partitions([graph], [], np.ones(k), np.full(k, limit_of(graph, k)), 3,
                                replace(one, **given))
        return oracles.host(part) >= k // 2

    grown, most = first_side(finest_passes=0), max(moves, n // 32)
    changed = np.count_nonzero(first_side(max_moves_for_many=moves) != grown)
    assert 0 < changed <= most
    assert np.count_nonzero(first_side() != grown) > most


def test_few_blocks_are_refined_by_as_many_moves_as_pay() -> None:
    graph = random_graph(600, 2400, 3)
    few = GrowingOptions(max_moves_for_many=1)
    assert np.array_equal(parts_of(graph, MANY_BLOCKS, options=few), parts_of(graph, MANY_BLOCKS))
    assert not np.array_equal(parts_of(graph, 40, options=few), parts_of(graph, 40))


def test_threads_do_not_matter() -> None:
    graph = generators.rmat(11, 8)
    one = graph.to(backends.space("cpu", threads=1))
    two = graph.to(backends.space("cpu", threads=2))
    for _ in range(3):
        assert np.array_equal(parts_of(one, 12), parts_of(two, 12))


def test_three_threads_grow_the_same(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\n"
        "from portpart import generators\n"
        "from tests.algorithms.initial.test_growing import parts_of\n"
        "from tests.helpers.threads import use_threads_at_once\n"
        "use_threads_at_once()\n"
        "np.save(sys.argv[1], parts_of(generators.rmat(11, 8), 12))\n"
    )
    result = tmp_path / "parts.npy"
    environment = {**os.environ, "NUMBA_NUM_THREADS": "3", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code, str(result)], cwd=ROOT, env=environment,
                   check=True, timeout=300)
    assert np.array_equal(np.load(result), parts_of(generators.rmat(11, 8), 12))


@pytest.mark.parametrize("wrong", [
    {"candidates": 0}, {"trials": 0}, {"refined_trials": -1}, {"min_vertices": 1},
    {"split_vertices": 1}, {"passes": -1}, {"stall_limit": -1},
    {"max_moves_for_many": 0},
])
def test_options_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        GrowingOptions(**wrong)


@pytest.mark.parametrize("wrong", [{"refined": 0}, {"shrink": 1.0}])
def test_start_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        GrowingOptions(**wrong)
