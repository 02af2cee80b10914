"""Constrained coarsening: subsets, rounds and runs are those of the text, on every space."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart.algorithms.coarsening.groups import linked_groups
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests import oracles
from tests.algorithms.coarsening.test_components import SEED, selections
from tests.algorithms.coarsening.test_net_grouping import runs_of
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.metis_calls import watching_metis
from tests.helpers.spaces import GRAPHS, NO_LIMIT, number_of, reference


def grouped(space: ExecutionSpace, graph: Graph, limit: int = NO_LIMIT, size: int = 6,
            factor: int | None = None, label: Any = None, ties: str = "hash") -> np.ndarray:
    here = None if label is None else space.asarray(label, np.int32)
    clusters = linked_groups(graph.to(space), limit, SEED, size, factor, here, ties)
    found = oracles.host(clusters.cluster).copy()
    assert np.array_equal(np.unique(found), np.arange(number_of(clusters)))
    return found


def expected(graph: Graph, limit: int = NO_LIMIT, size: int = 6, factor: int | None = None,
             label: Any = None, ties: str = "hash") -> np.ndarray:
    """What is selected by a loop; then subsets of the smallest ids, mirrored for `runs_of`."""
    n = graph.num_vertices
    factor = graph.max_degree + 1 if factor is None else factor
    links = selections(graph, limit, factor, label, ties)
    return runs_of(n, links, size, leads=lambda v: n - 1 - v)


@functools.cache
def expected_by_name(name: str, limit: int, ties: str) -> np.ndarray:
    """The same for all spaces."""
    return expected(GRAPHS[name], limit, ties=ties)


@looped(("limit", "ties"), [(12, "hash"), (NO_LIMIT, "hash"), (NO_LIMIT, "first")])
@looped("name", GRAPHS)
def test_groups_are_runs_of_linked_vertices_by_rounds(space: ExecutionSpace, name: str, limit: int,
                                                      ties: str) -> None:
    found = grouped(space, GRAPHS[name], limit, ties=ties)
    assert np.array_equal(found, expected_by_name(name, limit, ties))


@given(graph=graphs(14), limit=st.integers(0, 30), size=st.integers(2, 5),
       factor=st.sampled_from([None, 1, 3]), parts=st.integers(1, 3))
@settings(max_examples=80)
def test_random_graphs(graph: Graph, limit: int, size: int, factor: int | None,
                       parts: int) -> None:
    """With labels, which are kept apart; no group has more vertices than it may."""
    label = np.arange(graph.num_vertices) % parts
    found = grouped(reference(), graph, limit, size, factor, label)
    assert np.array_equal(found, expected(graph, limit, size, factor, label))
    assert np.bincount(found, minlength=1).max() <= size
    assert np.unique(np.stack([found, label]), axis=1).shape[1] == len(set(found.tolist()))


@pytest.mark.parametrize("lanes", [3, 8])
def test_neither_width_nor_order_decides(lanes: int) -> None:
    graph = random_graph(40, 90, 3, weighted=True)
    assert np.array_equal(grouped(LanesSpace(lanes, seed=lanes), graph), expected(graph))


def test_the_figure_of_the_text(space: ExecutionSpace) -> None:
    """Figure 3.3: a subset of five falls into pairs of those that joined in the same round or so.

    Along a path with heavier and heavier edges towards vertex 0 the round is the distance from it.
    """
    path = raw_graph(5, [(v, v + 1) for v in range(4)], [9, 8, 7, 6]).graph()
    assert grouped(space, path, size=2).tolist() == [0, 0, 1, 1, 2]


def test_as_published_coarsening_ends_below_35_vertices_a_block() -> None:
    with watching_metis() as asked:
        result = portpart.partition(delaunay(30_000), 8, algorithm="igkway", preset="paper")
    sizes = [level["vertices"] for level in result.stats["levels"]]
    assert [each[:3] for each in asked] == [(8, sizes[-1], False)]
    assert sizes[-1] <= 35 * 8 < sizes[-2]
    assert result.feasible
    assert result.stats["repaired"] == 0


@pytest.mark.parametrize("k", [26, 27])
def test_as_published_35_vertices_a_block_are_few_enough_and_36_are_not(k: int) -> None:
    """A level of 928 vertices is the coarsest for 27 blocks, and one too many for 26."""
    result = portpart.partition(delaunay(4000), k, algorithm="igkway", preset="paper")
    sizes = [level["vertices"] for level in result.stats["levels"]]
    assert 928 in sizes
    assert 35 * 26 < 928 <= 35 * 27
    assert sizes[-1] <= 35 * k < sizes[-2]


def test_groups_that_are_broken_up_keep_levels_few_and_vertices_alike() -> None:
    """Linked groups without a bound collapse a grid where the first neighbour is selected."""
    published = portpart.list_algorithms()["gkway"].preset("paper")
    first = changed(published, {"grouping.ties": "first"})
    broken = changed(first, {"grouping.group_size": 6, "grouping.broken_up": True})
    grid = grid_2d(100)
    assert portpart.partition(grid, 8, preset=broken).cut < 0.8 * portpart.partition(
        grid, 8, preset=first).cut
