"""What is drawn or decided by ids is by global ids: the rows of a rank come out as in the whole.

A graph whose vertices are stored in another order, with their ids beside them, has to be refined
and clustered as before.  So has a component of a graph that is taken out of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.multilevel.refiners import pieces_for
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests.helpers.refining import balance_of, copied

SEED = 11


def weighted(graph: Graph) -> Graph:
    """The graph with drawn weights, equal for both arcs of an edge."""
    rng = np.random.default_rng(3)
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    return portpart.as_graph(graph, edge_weights=1 + (sources * graph.targets + sources
                                                      + graph.targets) % 7,
                             vertex_weights=rng.integers(0, 6, graph.num_vertices))


GRAPHS: dict[str, Callable[[], Graph]] = {
    "grid": functools.cache(lambda: generators.grid_2d(40, 50)),
    "rmat": functools.cache(lambda: generators.rmat(11, 6)),
    "weighted": functools.cache(lambda: weighted(generators.delaunay(2500))),
}


def stored_as(graph: Graph, order: np.ndarray, space: ExecutionSpace, with_ids: bool) -> Graph:
    """The graph with vertex ``order[i]`` in place i, whose id goes with it if that is wanted."""
    matrix = graph.to_scipy()[order][:, order]
    weights = graph.vertex_weights
    moved = portpart.as_graph(matrix, vertex_weights=None if weights is None else weights[order])
    if graph.weights is None:
        moved = replace(moved, weights=None)
    ids = space.asarray(order.astype(np.int32)) if with_ids else None
    return replace(moved.to(space), global_ids=ids)


def refined(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int) -> np.ndarray:
    # strong rebalancing goes by the order of vertices, which ranks keep
    options = RefinementOptions(weak_limit=10**6, iteration_limit=25)
    refiner = Refiner(space, graph, balance_of(graph, k, "0.05"), options, SEED, objective=CUT,
                      pieces=pieces_for(CUT))
    refiner.start(graph, space.asarray(part.astype(np.int32)))
    refiner.refine(graph, 0.25)
    return copied(refiner.best)


def starts(n: int, k: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(k)
    return {"balanced": rng.permutation(n) % k,
            "overloaded": np.minimum(k, rng.geometric(0.4, n)) - 1}


@pytest.mark.parametrize("start", ["balanced", "overloaded"])
@pytest.mark.parametrize("k", [2, 12])
@pytest.mark.parametrize("name", GRAPHS)
def test_refinement_goes_by_global_ids(space: ExecutionSpace, name: str, k: int,
                                       start: str) -> None:
    graph = GRAPHS[name]()
    n = graph.num_vertices
    part, order = starts(n, k)[start], np.random.default_rng(1).permutation(n)
    expected = refined(space, graph.to(space), part, k)[order]
    assert (expected != part[order]).any()
    found = refined(space, stored_as(graph, order, space, True), part[order], k)
    assert np.array_equal(found, expected)
    plain = refined(space, stored_as(graph, order, space, False), part[order], k)
    assert not np.array_equal(plain, expected)


def leaders(space: ExecutionSpace, graph: Graph, options: ClusteringOptions,
            max_weight: int) -> np.ndarray:
    """For each vertex the smallest place in its cluster."""
    found = cluster(space, graph, max_weight, SEED, options)
    numbers = copied(found.cluster)
    first = np.full(numbers.max() + 1, len(numbers))
    np.minimum.at(first, numbers, np.arange(len(numbers)))
    return first[numbers]


def as_sets(clusters: np.ndarray, ids: np.ndarray) -> set[frozenset[int]]:
    order = np.argsort(clusters, kind="stable")
    bounds = np.flatnonzero(np.diff(clusters[order])) + 1
    return {frozenset(each.tolist()) for each in np.split(ids[order], bounds)}


@pytest.mark.parametrize("max_weight", [4, 40])
@pytest.mark.parametrize("name", GRAPHS)
def test_clustering_goes_by_global_ids(space: ExecutionSpace, name: str, max_weight: int) -> None:
    graph = GRAPHS[name]()
    options = ClusteringOptions(max_left=1.0)  # groups of what is left are led by the first one
    n = graph.num_vertices
    order = np.random.default_rng(2).permutation(n)
    expected = as_sets(leaders(space, graph.to(space), options, max_weight), np.arange(n))
    found = as_sets(leaders(space, stored_as(graph, order, space, True), options, max_weight),
                    order)
    assert found == expected
    plain = as_sets(leaders(space, stored_as(graph, order, space, False), options, max_weight),
                    order)
    assert plain != expected


@pytest.mark.parametrize("name", GRAPHS)
def test_a_component_is_clustered_as_in_the_whole_graph(space: ExecutionSpace, name: str) -> None:
    """Leaves of a hub, which are dealt into groups by their ids, are a component of their own."""
    graph = GRAPHS[name]()
    star = portpart.from_edges([(0, i) for i in range(1, 700)])
    first = graph.num_vertices
    sources = np.concatenate([np.repeat(np.arange(first), np.diff(graph.offsets)),
                              first + np.repeat(np.arange(700), np.diff(star.offsets))])
    heads = np.concatenate([graph.targets, first + star.targets])
    keep = sources < heads
    whole = portpart.from_edges(np.stack([sources[keep], heads[keep]], 1),
                                num_vertices=first + 700)
    options: Any = ClusteringOptions(max_left=0.0)
    ids = np.arange(first, first + 700)
    alone = replace(star.to(space), global_ids=space.asarray(ids.astype(np.int64)))
    found = as_sets(leaders(space, alone, options, 30), ids)
    everything = as_sets(leaders(space, whole.to(space), options, 30), np.arange(first + 700))
    assert found == {each for each in everything if min(each) >= first}
    without = as_sets(leaders(space, star.to(space), options, 30), ids)
    assert without != found
