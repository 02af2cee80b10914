"""What `symmetrize` makes of the two directions of an edge, on every space, beside A + A^T."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import portpart
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.csr import undirected_rows
from portpart.inputs.convert import as_graph
from tests import oracles

BYTES = sp.csr_array(np.array([[9, 3, 0], [5, 0, 2], [0, 0, 0]]))


def random_traffic(seed: int, n: int = 40) -> sp.csr_array:
    """A directed matrix with loops, stored in a random order of entries, some repeated."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, 300))
    return sp.csr_array(sp.coo_array((rng.integers(1, 50, 300), ends), shape=(n, n)))


def without_diagonal(matrix: Any) -> np.ndarray:
    """The dense matrix less its diagonal."""
    dense = matrix.toarray()
    np.fill_diagonal(dense, 0)
    return dense


@pytest.mark.parametrize("seed", range(3))
def test_sum_is_the_matrix_plus_its_transpose(seed: int) -> None:
    matrix = random_traffic(seed)
    expected = without_diagonal(matrix + matrix.T)
    assert (as_graph(matrix, symmetrize="sum").to_scipy().toarray() == expected).all()
    ends = matrix.tocoo()
    rows = np.stack([ends.row, ends.col, ends.data], axis=1)
    listed = as_graph(rows, symmetrize="sum", vertex_weights=np.ones(matrix.shape[0], int))
    assert (listed.to_scipy().toarray() == expected).all()
    directed = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    assert (as_graph(directed, symmetrize="sum").to_scipy().toarray() == expected).all()


@pytest.mark.parametrize("seed", range(3))
def test_max_is_the_larger_of_the_two_directions(seed: int) -> None:
    matrix = random_traffic(seed)
    expected = without_diagonal(matrix.maximum(matrix.T))
    assert (as_graph(matrix, symmetrize="max").to_scipy().toarray() == expected).all()


def test_rows_are_the_same_on_every_space(space: ExecutionSpace) -> None:
    ends = random_traffic(5).tocoo()
    sources, targets, weights = (space.asarray(a) for a in (ends.row, ends.col, ends.data))
    for how, join in (("sum", np.add), ("max", np.maximum)):
        offsets, heads, sums = undirected_rows(space, 40, sources, targets, weights, how)
        assert sums is not None
        made = sp.csr_array(tuple(space.to_host(a) for a in (sums, heads, offsets)), shape=(40, 40))
        dense = ends.toarray()
        expected = join(dense, dense.T)
        np.fill_diagonal(expected, 0)
        assert (made.toarray() == expected).all()
    with pytest.raises(InputError, match="symmetrize"):
        undirected_rows(space, 40, sources, targets, weights, "agree")


def test_graphs_are_the_same_on_every_space(space: ExecutionSpace) -> None:
    matrix = random_traffic(6)
    for symmetrize, weights in (("sum", None), ("max", "round"), ("sum", "abs"), (True, "ignore")):
        here = as_graph(matrix * 0.5 if weights else matrix, symmetrize=symmetrize,
                        weights=weights, space=space)
        there = as_graph(matrix * 0.5 if weights else matrix, symmetrize=symmetrize,
                         weights=weights)
        assert (here.to_scipy() != there.to_scipy()).nnz == 0
        assert here.weight_scale == there.weight_scale
    with pytest.raises(InputError, match=r"\(0, 1\) has weight 3 "):
        as_graph(BYTES, symmetrize=True, space=space)


@pytest.mark.parametrize("obj", [
    BYTES, [(0, 1, 3), (1, 0, 5), (1, 2, 2)], nx.DiGraph([(0, 1, {"weight": 3}),
                                                          (1, 0, {"weight": 5})])],
    ids=["matrix", "edges", "networkx"])
def test_directions_that_disagree_are_refused_naming_both_words(obj: Any) -> None:
    with pytest.raises(InputError, match=r"\(0, 1\) has weight 3 .*\(1, 0\) has weight 5.*"
                                         r'symmetrize="sum".*symmetrize="max"') as caught:
        as_graph(obj, symmetrize=True)
    assert caught.value.edge == (0, 1)
    assert as_graph(obj, symmetrize="sum").weights[0] == 8  # type: ignore[index]


def test_edges_in_one_direction_and_agreeing_pairs_need_no_word() -> None:
    matrix = sp.csr_array(np.array([[0, 3, 0], [3, 0, 2], [0, 0, 0]]))
    graph = as_graph(matrix, symmetrize=True)
    assert sorted(oracles.arcs(graph)) == [(0, 1, 3), (1, 0, 3), (1, 2, 2), (2, 1, 2)]


def test_unweighted_pairs_count_once_and_twice_in_a_sum() -> None:
    arcs = ([0, 1, 3, 3], [1, 0, 2])
    assert as_graph(arcs, symmetrize=True).weights is None
    assert as_graph(arcs, symmetrize="max").weights is None
    doubled = as_graph(arcs, symmetrize="sum")
    assert sorted(oracles.arcs(doubled)) == [(0, 1, 2), (1, 0, 2), (1, 2, 1), (2, 1, 1)]
    symmetric = ([0, 1, 2], [1, 0])
    assert list(oracles.arcs(as_graph(symmetric, symmetrize="sum"))) == [(0, 1, 2), (1, 0, 2)]


def test_what_has_no_directions_is_never_doubled() -> None:
    source = nx.Graph([(0, 1, {"weight": 3})])
    graph = as_graph(source, symmetrize="sum")
    assert graph.total_arc_weight == 6
    assert as_graph(graph, symmetrize="sum").total_arc_weight == 6


def test_traffic_of_both_directions_is_what_a_mapping_costs() -> None:
    traffic = random_traffic(7, n=8)
    found = portpart.map_processes(traffic, "2:4", "1:10", symmetrize="sum")
    apart = np.where(found.part[:, None] // 2 == found.part // 2, 1, 10)
    np.fill_diagonal(apart, 0)
    assert found.cost == (traffic.toarray() * np.where(
        found.part[:, None] == found.part, 0, apart)).sum()


def test_words_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    for bad in ("add", 1, None):
        with pytest.raises(InputError, match=r"symmetrize is .*'sum' or 'max'"):
            as_graph(tmp_path / "missing.graph", symmetrize=bad)  # type: ignore[arg-type]


def test_totals_of_both_directions_stay_within_the_limit() -> None:
    with pytest.raises(InputError, match=r"arc weights add up to .*2\*\*62"):
        as_graph([(0, 1, 2**61 + 1)])
    with pytest.raises(InputError, match=r"2\*\*62"):
        as_graph(sp.csr_array(np.array([[0, 2**60], [2**60 + 1, 0]])), symmetrize="sum")
    assert as_graph([(0, 1, 2**61)]).total_arc_weight == 2**62
