"""Rows that are drawn by range are those of one graph, whatever the ranges and the device."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial import cKDTree

from portpart import generators
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.generators import shares
from portpart.generators.large_graphs import LargeGraph
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.glued import Arrays, assert_same_arrays, borders_of, glued, graph_of
from tests.oracles.hashing import mixed

CELL = 2**28

GRAPHS: dict[str, Callable[[], LargeGraph]] = {
    "grid 2d": lambda: shares.grid_2d(7, 9),
    "grid 3d": lambda: shares.grid_3d(3, 4, 5),
    "points": lambda: shares.jittered_rgg(5, 3),
    "few points": lambda: shares.jittered_rgg(6, 2, 7, radius=0.4),
    "mesh": lambda: shares.jittered_mesh(8, 6),
    "rmat": lambda: shares.rmat(7, 6),
    "permuted grid": lambda: shares.permuted(shares.grid_2d(7, 9), 5),
    "permuted points": lambda: shares.permuted(shares.jittered_rgg(5, 3)),
    "permuted rmat": lambda: shares.permuted(shares.rmat(6, 4)),
    "weighted mesh": lambda: shares.weighted(shares.jittered_mesh(8, 6), 9, 100),
    "weighted permuted": lambda: shares.permuted(shares.weighted(shares.rmat(6, 4), 2**31 - 1, 5)),
}


def hashed(value: int, seed: int) -> int:
    return mixed(value ^ mixed(seed))


def in_pieces(graph: LargeGraph, borders: list[int],
              device: ExecutionSpace | str = "cpu") -> Arrays:
    return glued([graph.rows(first, last, device) for first, last in pairwise(borders)])


def whole(graph: LargeGraph) -> Arrays:
    return in_pieces(graph, [0, graph.num_vertices])


def edges(graph: Graph) -> set[tuple[int, int]]:
    return {(u, v) for u, v, _ in oracles.arcs(graph) if u < v}


@pytest.mark.parametrize("name", GRAPHS)
def test_rows_are_equal_for_every_way_to_cut_the_vertices(name: str) -> None:
    graph = GRAPHS[name]()
    expected = whole(graph)
    for borders in borders_of(graph.num_vertices):
        assert_same_arrays(in_pieces(graph, borders), expected)
    oracles.assert_valid_graph(graph_of(expected))


@pytest.mark.parametrize("name", GRAPHS)
def test_rows_are_equal_on_every_space(name: str, space: ExecutionSpace) -> None:
    graph = GRAPHS[name]()
    n = graph.num_vertices
    assert_same_arrays(in_pieces(graph, [0, n // 3, n], space), whole(graph))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 4), st.data())
def test_grids_are_those_that_are_made_as_a_whole(x: int, y: int, z: int,
                                                  data: st.DataObject) -> None:
    n = x * y * z
    inner = data.draw(st.lists(st.integers(0, n), max_size=4))
    offsets, targets, *_ = in_pieces(shares.grid_3d(x, y, z), [0, *sorted(inner), n])
    expected = generators.grid_3d(x, y, z)
    np.testing.assert_array_equal(offsets, expected.offsets)
    np.testing.assert_array_equal(targets, expected.targets)


def test_plane_grids_are_those_that_are_made_as_a_whole() -> None:
    offsets, targets, *_ = whole(shares.grid_2d(30))
    expected = generators.grid_2d(30)
    np.testing.assert_array_equal(offsets, expected.offsets)
    np.testing.assert_array_equal(targets, expected.targets)


@pytest.mark.parametrize(("cells", "per_cell", "radius"), [(12, 4, 1.0), (9, 1, 1.0), (7, 5, 0.5),
                                                           (1, 6, 1.0), (3, 0, 1.0)])
def test_geometric_graphs_join_all_points_that_are_close(cells: int, per_cell: int,
                                                         radius: float) -> None:
    n = cells * cells * per_cell
    cell = np.arange(n) // max(1, per_cell)
    corner = np.stack([cell % cells, cell // cells], axis=1) * CELL
    jitter = [[hashed(2 * v + axis, 1) % CELL for axis in (0, 1)] for v in range(n)]
    points = (corner + np.array(jitter).reshape(n, 2)).astype(float)
    graph = graph_of(whole(shares.jittered_rgg(cells, per_cell, 1, radius)))
    close = cKDTree(points).query_pairs(radius * CELL) if n else set()
    assert edges(graph) == close


def test_geometric_graphs_have_the_degree_that_is_promised() -> None:
    """A vertex away from the border has pi r^2 c others around it, itself not counted."""
    graph = shares.jittered_rgg(200, 4)
    assert graph.rows(0, graph.num_vertices).num_arcs / graph.num_vertices == pytest.approx(
        4 * np.pi - 1, rel=0.05)


def test_meshes_are_planar_triangulations_with_the_diagonals_of_their_hashes() -> None:
    rows, columns = 9, 11
    graph = graph_of(whole(shares.jittered_mesh(rows, columns, 3)))
    found = edges(graph)
    expected = edges(generators.grid_2d(rows, columns))
    for row in range(rows - 1):
        for column in range(columns - 1):
            v = row * columns + column
            falls = hashed(v, 3) & 1
            expected.add((v, v + columns + 1) if falls else (v + 1, v + columns))
    assert found == expected
    assert len(found) == 3 * rows * columns - 2 * (rows + columns) + 1
    assert nx.check_planarity(nx.Graph(found))[0]
    inner = np.diff(graph.offsets).reshape(rows, columns)[1:-1, 1:-1]
    assert inner.min() >= 4
    assert inner.max() <= 8


def test_rmat_equals_its_definition() -> None:
    scale, factor, seed = 5, 4, 9
    expected = set()
    for edge in range(factor << scale):
        row = column = 0
        for bit in range(scale):
            draw = hashed(64 * edge + bit, seed) % 2**31 / 2**31
            quadrant = int(np.searchsorted(np.cumsum([0.57, 0.19, 0.19]), draw, "right"))
            row, column = 2 * row + quadrant // 2, 2 * column + quadrant % 2
        expected |= {(min(row, column), max(row, column))} - {(row, row)}
    offsets, targets, *_ = whole(shares.rmat(scale, factor, seed))
    assert edges(graph_of((offsets, targets, None, None))) == expected
    assert all((np.diff(targets[begin:end]) > 0).all() for begin, end in pairwise(offsets))


def test_rmat_is_skewed_as_the_one_that_is_made_as_a_whole() -> None:
    offsets, targets, *_ = whole(shares.rmat(12))
    expected = generators.rmat(12)
    assert len(targets) == pytest.approx(expected.num_arcs, rel=0.02)
    assert np.diff(offsets).max() == pytest.approx(expected.max_degree, rel=0.2)


def test_arcs_that_ranks_draw_and_ship_make_the_same_rows() -> None:
    graph = shares.weighted(shares.permuted(shares.rmat(8, 7)), 50)
    parts = np.concatenate([graph.arcs(begin, end) for begin, end in
                            pairwise([0, 100, 100, 1000, graph.num_edges])])
    pieces = []
    for first, last in pairwise([0, 10, 10, 200, 256]):
        owned = parts[(parts >> 32 >= first) & (parts >> 32 < last)]
        pieces.append(graph.rows_of_arcs(first, last, np.flip(owned).copy()))
    assert_same_arrays(glued(pieces), whole(graph))


def feistel(v: int, n: int, seed: int) -> int:
    """Place of a vertex: four rounds on halves, until the result is a vertex."""
    half = ((n - 1).bit_length() + 1) // 2
    while half:
        left, right = v >> half, v % 2**half
        for step in range(4):
            left, right = right, left ^ hashed(4 * right + step, seed) % 2**half
        v = left << half | right
        if v < n:
            break
    return v


@pytest.mark.parametrize("name", ["grid 2d", "points", "rmat", "weighted mesh"])
@pytest.mark.parametrize("seed", [0, 1, 2**62])
def test_permuted_graphs_are_the_same_with_other_ids(name: str, seed: int) -> None:
    graph = GRAPHS[name]()
    n = graph.num_vertices
    place = [feistel(v, n, seed) for v in range(n)]
    assert sorted(place) == list(range(n))
    assert place != sorted(place)
    base, moved = (graph_of(whole(each)) for each in (graph, shares.permuted(graph, seed)))
    assert set(oracles.arcs(moved)) == {(place[u], place[v], w) for u, v, w in oracles.arcs(base)}
    weights, moved_weights = map(oracles.vertex_weights, (base, moved))
    assert weights == [moved_weights[place[v]] for v in range(n)]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 17])
def test_small_graphs_are_permuted(n: int) -> None:
    """Cycle walking ends for every number of vertices."""
    graph = graph_of(whole(shares.permuted(shares.grid_2d(1, n))))
    assert graph.num_vertices == n
    assert nx.is_isomorphic(nx.Graph(edges(graph)), nx.path_graph(n) if n > 1 else nx.Graph())


def test_weights_lie_between_1_and_the_largest() -> None:
    graph = shares.weighted(shares.grid_2d(40), 3, 4, seed=6)
    _, _, weights, vertex_weights = whole(graph)
    assert weights is not None
    assert vertex_weights is not None
    assert set(weights.tolist()) == {1, 2, 3}
    assert set(vertex_weights.tolist()) == {1, 2, 3, 4}
    assert (weights.dtype, vertex_weights.dtype) == (np.int32, np.int64)
    assert shares.weighted(graph, 1, 1).rows(0, 9).weights is None


BEYOND_32_BITS = {
    "grid": lambda: shares.grid_3d(1300),
    "points": lambda: shares.jittered_rgg(2**16, 3),
    "mesh": lambda: shares.jittered_mesh(2**16, 2**15 + 1),
    "permuted": lambda: shares.permuted(shares.jittered_mesh(2**20)),
}


@pytest.mark.parametrize("name", BEYOND_32_BITS)
def test_graphs_of_more_than_2_31_vertices_are_symmetric(name: str, space: ExecutionSpace) -> None:
    graph = shares.weighted(BEYOND_32_BITS[name](), 1000)
    first = graph.num_vertices - 12_345
    rows = graph.rows(first, first + 2, space)
    assert oracles.host(rows.targets).dtype == np.int64
    offsets, targets, weights = map(oracles.host, (rows.offsets, rows.targets, rows.weights))
    assert targets.max() > 2**31
    for v in (0, 1):
        for arc in range(offsets[v], offsets[v + 1]):
            other = graph.rows(int(targets[arc]), int(targets[arc]) + 1, space)
            back = dict(zip(oracles.host(other.targets).tolist(),
                            oracles.host(other.weights).tolist()))
            assert back[first + v] == weights[arc]


def test_targets_have_32_bits_as_long_as_ids_fit() -> None:
    """2^31 - 1 vertices have int32 ids, one more needs int64."""
    assert shares.grid_2d(1, 2**31 - 1).rows(5, 6).targets.dtype == np.int32
    assert shares.grid_2d(1, 2**31).rows(5, 6).targets.dtype == np.int64


@pytest.mark.parametrize("name", GRAPHS)
def test_descriptions_are_values(name: str) -> None:
    """They are equal if their numbers are, and can be sent to other processes."""
    graph = GRAPHS[name]()
    assert graph == GRAPHS[name]()
    assert hash(graph) == hash(GRAPHS[name]())
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graph != shares.weighted(graph, 77)


def test_impossible_arguments_are_refused() -> None:
    graph = shares.rmat(4)
    for call in (lambda: shares.grid_2d(-1, 2), lambda: shares.grid_3d(2**31),
                 lambda: shares.grid_2d(2.5),  # type: ignore[arg-type]
                 lambda: shares.jittered_rgg(3, -1), lambda: shares.jittered_rgg(3, radius=1.5),
                 lambda: shares.jittered_rgg(3, radius=float("nan")),
                 lambda: shares.jittered_mesh(3, seed=-1), lambda: shares.rmat(32),
                 lambda: shares.rmat(4, a=0.9, b=0.2), lambda: shares.rmat(4, a=float("nan")),
                 lambda: shares.permuted(shares.permuted(graph)),
                 lambda: shares.weighted(graph, 0), lambda: shares.weighted(graph, 2, 2**31),
                 lambda: graph.rows(3, 2), lambda: graph.rows(-1, 2), lambda: graph.rows(0, 17),
                 lambda: graph.arcs(0, graph.num_edges + 1), lambda: graph.arcs(2, 1)):
        with pytest.raises(InputError):
            call()
