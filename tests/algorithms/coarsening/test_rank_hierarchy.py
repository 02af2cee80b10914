"""Hierarchies of graphs that belong to several ranks are those of one device, level by level."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart import backends, generators
from portpart.algorithms.coarsening.cluster_rules import cluster_rule
from portpart.algorithms.coarsening.hierarchy import coarsen
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.ranks.hierarchy import (
    CPU_FOLD,
    GPU_FOLD,
    SHARED_GPU_FOLD,
    Fold,
    coarsen_ranks,
    fold_for,
)
from portpart.backends.communication import Communicator, Local, One
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from tests.helpers.graphs import drawn_graphs, graphs, random_graph, raw_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_rows import DEVICES, SIZES, cut_graphs, space_of, with_sizes
from tests.oracles import host

GRAPHS = {
    **drawn_graphs(),
    "grid": generators.grid_2d(30, 30),
    "cube": generators.grid_3d(9),
    "mesh": generators.delaunay(1500),
    "geometric": generators.random_geometric(900),
    "road": generators.road_network(800),
    "skewed": generators.rmat(10),
    "very skewed": random_graph(600, 2000, 4, skewed=True),
    "weighted": random_graph(500, 1500, 1, weighted=True, vertex_weighted=True),
    "vertex weights": random_graph(500, 1500, 3, vertex_weighted=True),
    "sparse": random_graph(700, 400, 2),
    "dense": random_graph(80, 2500, 5),
    "hub": raw_graph(500, [*((0, v) for v in range(1, 500)),
                           *((v, v + 1) for v in range(1, 300))]).graph(),
    "stars": raw_graph(400, [(v // 20 * 20, v) for v in range(400) if v % 20]).graph(),
}


NO_LIMIT = 2**62


def rows(graph: Graph) -> list[list[int]]:
    """The arcs of a graph and their weights in ascending order, and the weights of its vertices."""
    tails = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    weights = np.ones_like(tails) if graph.weights is None else graph.weights
    order = np.lexsort((weights, graph.targets, tails))
    masses = graph.vertex_weights
    return [*(each[order].tolist() for each in (tails, graph.targets, weights)),
            [1] * graph.num_vertices if masses is None else masses.tolist()]


def labels_of(whole: Graph, *kinds: int) -> list[np.ndarray]:
    """Labels by ranges of vertices; many of them are hard to coarsen.

    Of two numbers of labels the later one divides the earlier one: its labels are coarser.
    """
    n = whole.num_vertices
    return [(np.arange(n) * each // max(1, n) - 2).astype(np.int32) for each in kinds]


def check(whole: Graph, first: list[int], seed: int, stop_at: int = 20, fold: int = 0,
          there: ExecutionSpace | None = None, labels: list[np.ndarray] | None = None,
          **when: Any) -> None:
    """All ranks have the levels of one device; graphs of `fold` vertices or fewer are folded."""
    space, options = backends.space("cpu", threads=1), ClusteringOptions()
    there = there or space
    limit = max(1, whole.total_vertex_weight // 10)
    when: dict[str, Any] = {"stop_at": stop_at, "max_kept": 0.95, "seed": seed, **when}
    given: dict[str, Any] = {"labels": labels} if labels else {}
    levels = coarsen(space, whole, cluster_rule(whole, stop_at, limit, options), **when, **given)

    def main(comm):
        begin, end = first[comm.rank : comm.rank + 2]
        graph = distributed(comm, rows_of(whole, begin, end, there))
        own = {"labels": [there.asarray(each[begin:end]) for each in labels]} if labels else {}
        made = coarsen_ranks(graph, stop_at, limit, options, Fold(fold, NO_LIMIT), **when, **own)
        assert len(made) == len(levels)
        for here, wanted in zip(made, levels):
            is_folded = isinstance(here.graph, Graph)
            assert is_folded == (wanted.graph.num_vertices <= fold)
            ids = slice(None) if is_folded else host(here.graph.local.global_ids)
            if labels and here is not made[0]:
                found = host(here.label).tolist()
                assert found == wanted.label[ids][: len(found)].tolist()
            if wanted.cluster is None:
                assert here.cluster is None
            else:
                assert host(here.cluster).tolist() == wanted.cluster[ids].tolist()
            found = here.graph if is_folded else here.graph.gather()
            assert rows(found.to(space)) == rows(wanted.graph)
            assert here.graph.whole.max_degree == wanted.graph.max_degree
            assert here.graph.whole.total_arc_weight == wanted.graph.total_arc_weight
        return len(made)

    assert min(Local(len(first) - 1).run(main)) == len(levels)


@pytest.mark.parametrize(("name", "size"), with_sizes(GRAPHS))
def test_levels_are_those_of_one_device(name, size):
    whole = GRAPHS[name]
    check(whole, borders(whole.num_vertices, size, size), size)


@pytest.mark.parametrize("fold", [0, 300])
@pytest.mark.parametrize("name", ["mesh", "skewed", "weighted", "sparse", "hub", "stars"])
def test_where_labels_stall_coarsening_the_next_ones_count(name, fold):
    whole = GRAPHS[name]
    many, several, one = (whole.num_vertices, 5), (150, 30, 3), (7,)
    for size, kinds in ((1, several), (3, many), (3, one), (5, several)):
        check(whole, borders(whole.num_vertices, size, size), size, fold=fold,
              labels=labels_of(whole, *kinds), skip_above=0.6)


@pytest.mark.parametrize("name", DEVICES)
def test_levels_do_not_depend_on_the_device(name):
    there, on_gpu = space_of(name), name.startswith("cuda")
    for size in SIZES if on_gpu else (1, 4):
        for graph in ("mesh", "skewed", "weighted", "hub") if on_gpu else ("skewed", "weighted"):
            whole = GRAPHS[graph]
            check(whole, borders(whole.num_vertices, size, 1), size, there=there)
            check(whole, borders(whole.num_vertices, size, 1), size, there=there, fold=200,
                  labels=labels_of(whole, 150, 5))


@pytest.mark.parametrize("fold", [100, 400, NO_LIMIT])
@pytest.mark.parametrize("name", ["cube", "geometric", "skewed", "weighted"])
def test_levels_do_not_depend_on_where_they_are_folded(name, fold):
    whole = GRAPHS[name]
    for size in (1, 3):
        check(whole, borders(whole.num_vertices, size, size), size, fold=fold)
        check(whole, borders(whole.num_vertices, size, size), 1, skip_above=0.3, fold=fold)


@pytest.mark.parametrize("size", SIZES[1:])
def test_graphs_that_are_no_levels_are_passed_over(size):
    whole = GRAPHS["geometric"]
    check(whole, borders(whole.num_vertices, size, 2), 1, skip_above=0.3)
    check(whole, borders(whole.num_vertices, size, 2), 1, drop_below=0.9, stop_at=50)
    check(whole, borders(whole.num_vertices, size, 2), 1, stop_dense_at=5)


@pytest.mark.parametrize("kinds", [(3,), (90, 3)])
def test_labels_are_gathered_where_the_finest_graph_is_folded(kinds):
    whole = GRAPHS["weighted"]
    for size in (2, 5):
        check(whole, borders(whole.num_vertices, size, 1), 1, fold=NO_LIMIT,
              labels=labels_of(whole, *kinds))


@settings(max_examples=80)
@given(cut_graphs(graphs(25, loops=False)), st.integers(0, 2**40), st.sampled_from([0, 0, 9]),
       st.sampled_from([(), (3,), (9, 3)]))
def test_levels_of_any_graph(drawn, seed, fold, kinds):
    check(*drawn, seed, stop_at=3, fold=fold, labels=labels_of(drawn[0], *kinds))


class Place(NamedTuple):
    """What tells spaces of ranks apart."""

    kind: str
    number: int


@pytest.mark.parametrize(("numbers", "expected"), [
    ((0, 0, 0), SHARED_GPU_FOLD), ((0, 1, 2), GPU_FOLD), ((0, 0, 1), GPU_FOLD)])
def test_ranks_gather_large_levels_only_if_they_share_a_gpu(numbers: tuple[int, ...],
                                                           expected: Fold) -> None:
    """A single rank does not take turns, and CPUs have one fold."""
    def fold(kind: str, comm: Communicator) -> Fold:
        graph: Any = SimpleNamespace(comm=comm, space=Place(kind, numbers[comm.rank]))
        return fold_for(graph)

    assert Local(3).run(lambda comm: fold("cuda", comm)) == [expected] * 3
    assert Local(3).run(lambda comm: fold("cpu", comm)) == [CPU_FOLD] * 3
    assert fold("cuda", One()) == GPU_FOLD
