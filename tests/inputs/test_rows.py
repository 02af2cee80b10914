"""Rows of numbers: edges, neighbours and dense matrices are never taken for one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import portpart
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.inputs.convert import as_graph
from tests import oracles

RING = [[(i - 1) % 8, (i + 1) % 8] for i in range(8)]
CUBIC = [[u ^ 1, u ^ 2, u ^ 4] for u in range(8)]
DENSE = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def edges_of(graph: Graph) -> set[tuple[int, int, int]]:
    """Each edge once."""
    return {(u, v, w) for u, v, w in oracles.arcs(graph) if u < v}


@pytest.mark.parametrize("convert", [list, np.array, lambda rows: np.array(rows, float),
                                     lambda rows: [tuple(row) for row in rows]],
                         ids=["lists", "array", "floats", "tuples"])
@pytest.mark.parametrize(("rows", "cut"), [(RING, 2), (CUBIC, 4)], ids=["ring", "cube"])
def test_regular_lists_of_neighbours_are_not_taken_for_edges(
    convert: Any, rows: list[list[int]], cut: int
) -> None:
    with pytest.raises(InputError, match=r"list of edges or as the neighbours of each vertex: use "
                                         r"portpart\.from_edges\(rows\) or .*from_adjacency"):
        portpart.partition(convert(rows), 2)
    assert portpart.partition(portpart.from_adjacency(convert(rows)), 2, imbalance=0).cut == cut
    edges = [row[:2] for row in rows]
    assert portpart.from_edges(edges).num_edges == len({tuple(sorted(edge)) for edge in edges})


@pytest.mark.parametrize("dense", [DENSE, [[0, 5], [5, 0]], [[2, 1, 0], [1, 2, 1], [0, 1, 2]]])
def test_small_dense_matrices_are_not_taken_for_edges(dense: list[list[int]]) -> None:
    for rows in (dense, np.array(dense), np.array(dense, float)):
        with pytest.raises(InputError, match=r"a square matrix: use .*scipy\.sparse\.csr_array"):
            as_graph(rows)


def test_small_traffic_matrices_are_not_taken_for_edges() -> None:
    with pytest.raises(InputError, match="a square matrix"):
        as_graph(np.array([[0, 3], [5, 0]]), symmetrize="sum")
    assert as_graph([(0, 3), (5, 0)], symmetrize="sum").num_vertices == 6


@pytest.mark.parametrize("rows", [
    [[0, 1], [1, 2]], [[0, 1], [1, 2], [2, 0]], [[1, 2], [0, 2], [0, 1]], [[0, 1], [1, 0]],
    [[0, 0]], [[0, 1, 5], [1, 2, 6], [2, 0, 7]], [(0, 1), (1, 2), (2, 3), (3, 0)],
    [[i, (i + 1) % 9] for i in range(9)], [[0, 1], [0, 1]], [[0, 1]], np.array([[0, 1], [1, 2]])])
def test_edge_lists_with_one_reading_pass(rows: Any) -> None:
    graph = as_graph(rows)
    oracles.assert_same_graph(graph, portpart.from_edges(rows))
    assert edges_of(graph) == {(min(row[:2]), max(row[:2]), (*row, 1)[2])
                               for row in np.asarray(rows).tolist() if row[0] != row[1]}


@given(st.integers(2, 7).flatmap(lambda n: st.lists(
    st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=12)))
def test_what_passes_has_no_other_reading(pairs: list[tuple[int, int]]) -> None:
    rows = np.array(pairs)
    listed = sorted((u, v) for u, row in enumerate(pairs) for v in row)
    mutual = listed == sorted((v, u) for u, v in listed)
    as_lists = {(u, v, 1) for u, v in listed if u < v}
    try:
        found = edges_of(as_graph(rows))
    except InputError:
        assert mutual or len(rows) == 2
        return
    assert found == {(min(pair), max(pair), 1) for pair in pairs if pair[0] != pair[1]}
    if mutual:
        assert found == as_lists


def test_large_lists_of_neighbours_are_noticed() -> None:
    n = 50_000
    rows = np.stack([np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)], axis=1)
    with pytest.raises(InputError, match="from_adjacency"):
        as_graph(rows)
    rows[7, 0], rows[9, 0] = rows[9, 0], rows[7, 0]
    assert as_graph(rows).num_vertices == n


def test_weights_tell_edges_from_neighbours() -> None:
    assert as_graph(RING, edge_weights=range(1, 9)).total_arc_weight == 2 * 36
    assert as_graph(RING, vertex_weights=[1] * 9).num_vertices == 9


def test_neighbours_in_every_container() -> None:
    expected = as_graph(([0, 2, 3, 4], [1, 2, 0, 0]))
    rows = [[1, 2], [0], [0]]
    for given_rows in (rows, tuple(map(tuple, rows)), dict(enumerate(rows)),
                       {2: [0], 0: [1, 2], 1: [0]}, [np.array(row) for row in rows],
                       [{1, 2}, {0}, {0}]):
        graph = portpart.from_adjacency(given_rows)
        oracles.assert_same_graph(graph, expected)
        assert graph.names is None
    assert portpart.from_adjacency([[], []]).num_vertices == 2
    assert portpart.from_adjacency([]).num_vertices == 0
    weighted = portpart.from_adjacency([{1: 4}, {0: 4}], vertex_weights=[3, 4])
    assert (weighted.total_arc_weight, weighted.total_vertex_weight) == (8, 7)


def test_keys_of_a_mapping_name_the_vertices() -> None:
    graph = portpart.from_adjacency({"x": ["z"], "y": [], "z": ["x"]})
    assert (graph.names, oracles.arcs(graph)) == (["x", "y", "z"], ((0, 2, 1), (2, 0, 1)))
    named = portpart.from_adjacency({"x": {"y": 3}, "y": {"x": 3}})
    assert named.total_arc_weight == 6
    with pytest.raises(InputError, match="'q', a neighbour of 'x', is not a key"):
        portpart.from_adjacency({"x": ["q"]})


@pytest.mark.parametrize(("rows", "message"), [
    ([[1], []], r"no reverse arc \(1, 0\)"),
    ([[1], [0, 5]], "5, a neighbour of vertex 1"),
    ([1, 2], "sequences is needed"),
    (7, "sequences is needed"),
    ([{1: 2}, [0]], "some vertices have a mapping"),
    ({0: [[1]], 5: [[0]]}, "unhashable type"),
    ([["b"], ["a"]], "they must be integers"),
])
def test_bad_neighbours_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.from_adjacency(rows)


def test_names_in_rows_are_told_the_way() -> None:
    with pytest.raises(InputError, match=r"names of vertices go through networkx\.Graph"):
        as_graph([("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match="edges as a list or array"):
        as_graph(((0, 1), (1, 2), (2, 3), (3, 0)))


def test_number_of_vertices_can_be_said() -> None:
    assert portpart.from_edges([(0, 1)], num_vertices=5).num_vertices == 5
    for bad in (1, -1, 2.5, 2**40):
        with pytest.raises(InputError, match=r"num_vertices|vertices are"):
            portpart.from_edges([(0, 1)], num_vertices=bad)  # type: ignore[arg-type]


def test_matrices_of_every_size_are_told_how_to_pass() -> None:
    for dense in (np.zeros((5, 5)), [[], []], np.zeros((4, 4), int).tolist()):
        with pytest.raises(InputError, match="is not a graph"):
            as_graph(dense)
    assert as_graph(sp.csr_array(np.array(DENSE))).num_edges == 3


@pytest.mark.parametrize("rows", [
    np.array([[0, 1, 2], [1, 2, 0]]), [[0, 1, 2], [1, 2, 0]], np.array([[0.0, 1, 2], [1, 2, 5]]),
    [[0, 1, 1], [1, 2, 1]]])
def test_two_rows_of_three_are_refused_as_they_may_be_an_edge_index(rows: Any) -> None:
    with pytest.raises(portpart.InputError, match=r"edge_index: use .*from_edges\(rows\) or"):
        portpart.as_graph(rows)
    with pytest.raises(portpart.InputError, match="edge_index"):
        portpart.as_graph(rows, vertex_weights=np.ones(3, int))
    as_rows = portpart.from_edges(rows)
    assert (as_rows.num_edges, as_rows.num_vertices) == (2, 3)
    assert portpart.from_edges(np.transpose(rows)).num_edges == 3 - (rows[0][2] == rows[1][2])


@pytest.mark.parametrize("rows", [
    [(0, 1, 2), (1, 2, 0)], np.array([[0, 1, 2.5], [1, 2, 0.5]]),
    np.array([[0, 1, -2], [1, 2, 5]])])
def test_rows_that_are_no_edge_index_are_edges_with_weights(rows: Any) -> None:
    mode = "abs" if not isinstance(rows, list) else "keep"
    assert portpart.as_graph(rows, weights=mode).num_edges == 2
