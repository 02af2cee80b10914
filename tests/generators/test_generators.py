"""Generated graphs are what their definitions say, number by number."""

from __future__ import annotations

import hashlib

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist, squareform

from portpart import generators
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from tests import oracles


def digest(graph: Graph) -> str:
    """Of the offsets and of the rows in ascending order."""
    text = hashlib.sha256()
    for array in (graph.offsets, graph.targets):
        text.update(array.astype("<i8").tobytes())
    return text.hexdigest()[:16]


def edges(graph: Graph) -> set[tuple[int, int]]:
    return {(u, v) for u, v, _ in oracles.arcs(graph) if u < v}


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 1), (4, 6), (0, 3)])
def test_grid_2d_equals_networkx(shape: tuple[int, int]) -> None:
    graph = generators.grid_2d(*shape)
    expected = nx.convert_node_labels_to_integers(nx.grid_2d_graph(*shape), ordering="sorted")
    assert edges(graph) == {tuple(sorted(edge)) for edge in expected.edges}
    assert graph.num_vertices == shape[0] * shape[1]
    oracles.assert_valid_graph(graph)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 4, 5), (1, 6, 2)])
def test_grid_3d_equals_networkx(shape: tuple[int, int, int]) -> None:
    graph = generators.grid_3d(*shape)
    expected = nx.convert_node_labels_to_integers(nx.grid_graph(shape[::-1]), ordering="sorted")
    assert edges(graph) == {tuple(sorted(edge)) for edge in expected.edges}
    oracles.assert_valid_graph(graph)


def test_grids_are_square_by_default() -> None:
    assert generators.grid_2d(30).num_edges == 2 * 30 * 29
    assert generators.grid_3d(10).num_edges == 3 * 10 * 10 * 9


@pytest.mark.parametrize(("dimensions", "reach"), [(2, 0.55), (3, 0.61)])
def test_random_geometric_equals_all_distances(dimensions: int, reach: float) -> None:
    n = 400
    points = np.random.default_rng(2).random((n, dimensions))
    close = squareform(pdist(points)) < reach * (np.log(n) / n) ** (1 / dimensions)
    expected = {(u, v) for u, v in zip(*np.nonzero(close)) if u < v}
    assert edges(generators.random_geometric(n, dimensions=dimensions)) == expected


def test_random_geometric_with_a_radius() -> None:
    assert generators.random_geometric(50, radius=2).num_edges == 50 * 49 // 2


def test_delaunay_is_a_triangulation_with_all_nearest_neighbours() -> None:
    points = np.random.default_rng(1).random((60, 2))
    graph = generators.delaunay(60)
    assert edges(graph) == edges(generators.triangulation(points))
    assert graph.num_edges == 3 * 60 - 3 - len(ConvexHull(points).vertices)
    nearest = np.argmin(squareform(pdist(points)) + 9 * np.eye(60), axis=1)
    assert {tuple(sorted((v, int(u)))) for v, u in enumerate(nearest)} <= edges(graph)
    assert nx.check_planarity(nx.Graph(edges(graph)))[0]


def test_rmat_equals_its_definition() -> None:
    scale, n = 6, 64
    random = np.random.default_rng(3)
    row, column = np.zeros(16 * n, int), np.zeros(16 * n, int)
    for _ in range(scale):
        quadrant = np.searchsorted(np.cumsum([0.57, 0.19, 0.19]), random.random(16 * n), "right")
        row, column = 2 * row + quadrant // 2, 2 * column + quadrant % 2
    matrix = sp.coo_array((np.ones(16 * n), (row, column)), shape=(n, n)).tocsr()
    expected = {(min(u, v), max(u, v)) for u, v in zip(*matrix.nonzero()) if u != v}
    assert edges(generators.rmat(scale)) == expected


# Sizes and digests of the graphs on which peers were measured; they must never change.
PUBLISHED = {
    "rmat12": (lambda: generators.rmat(12), 48_529, "4bb8fe1d2bdf3427"),
    "rmat16": (lambda: generators.rmat(16), 909_728, "1359e8e27981fc39"),
    "delaunay13": (lambda: generators.delaunay(1 << 13), 24_549, "20cb5eee6e0bf155"),
    "rgg13": (lambda: generators.random_geometric(1 << 13), 34_655, "e24fd4af3e5fc7d2"),
    "grid300": (lambda: generators.grid_2d(300), 179_400, "1de4115be824d3ef"),
    "road12": (lambda: generators.road_network(1 << 12), 4_331, "2fa202063125d294"),
    "cube20": (lambda: generators.grid_3d(20), 22_800, "17f77bc49d75d5de"),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_graphs_never_change(name: str) -> None:
    make, num_edges, expected = PUBLISHED[name]
    graph = make()
    assert (graph.num_edges, digest(graph)) == (num_edges, expected)


def test_metis_finds_the_published_cut_on_rmat() -> None:
    """Seed 1, k = 64: what the project measured on its own RMAT 2^12 (METIS 5.1 and 5.2)."""
    pymetis = pytest.importorskip("pymetis")
    graph = generators.rmat(12)
    options = pymetis.Options(seed=1, ufactor=30)
    adjacency = pymetis.CSRAdjacency(graph.offsets, graph.targets)
    cut, _ = pymetis.part_graph(64, adjacency, options=options)
    assert cut == 43317


@pytest.mark.parametrize("make", [generators.delaunay, generators.random_geometric])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_few_points(make: object, n: int) -> None:
    graph = make(n)  # type: ignore[operator]
    assert graph.num_vertices == n
    oracles.assert_valid_graph(graph)


def test_seeds_matter() -> None:
    assert digest(generators.rmat(8, seed=1)) != digest(generators.rmat(8, seed=2))
    assert digest(generators.delaunay(99, seed=5)) == digest(generators.delaunay(99, seed=5))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 13, 50, 1000, 20_000])
def test_road_network_is_connected_and_planar(n: int) -> None:
    graph = generators.road_network(n)
    assert graph.num_vertices == n
    oracles.assert_valid_graph(graph)
    assert connected_components(graph.to_scipy())[0] == min(n, 1)
    assert nx.check_planarity(nx.Graph(edges(graph)))[0]
    assert digest(graph) == digest(generators.road_network(n))


def test_road_network_is_long_chains_with_near_numbers() -> None:
    graph = generators.road_network(100_000)
    degrees = np.diff(graph.offsets)
    assert 1.05 < graph.num_edges / 100_000 < 1.08
    assert (degrees == 2).mean() > 0.85
    assert degrees.max() == 4
    sources = np.repeat(np.arange(100_000), degrees)
    assert np.median(abs(sources - graph.targets)) == 1
    assert digest(graph) != digest(generators.road_network(100_000, seed=5))


@pytest.mark.parametrize("n", [32, 100, 5000])
def test_airfoil_mesh_is_a_planar_mesh_around_a_hole(n: int) -> None:
    mesh = generators.airfoil_mesh(n)
    assert mesh.points.shape == (n, 2)
    assert mesh.graph.num_vertices == n
    oracles.assert_valid_graph(mesh.graph)
    assert connected_components(mesh.graph.to_scipy())[0] == 1
    assert nx.check_planarity(nx.Graph(edges(mesh.graph)))[0]
    assert digest(mesh.graph) == digest(generators.airfoil_mesh(n).graph)


def test_airfoil_mesh_is_fine_at_the_body_and_leaves_it_out() -> None:
    mesh = generators.airfoil_mesh(5000)
    offsets, targets = mesh.graph.offsets, mesh.graph.targets
    sources = np.repeat(np.arange(5000), np.diff(offsets))
    ends = mesh.points[sources], mesh.points[targets]
    length = np.linalg.norm(ends[0] - ends[1], axis=1)
    middle = (ends[0] + ends[1]) / 2
    far = np.linalg.norm(middle, axis=1) > 6
    near = np.linalg.norm(middle, axis=1) < 2.2
    assert length[far].mean() > 3 * length[near].mean()
    inside_body = (abs(middle - [-0.9, 0.15]) < [0.6, 0.05]).all(axis=1)
    assert not inside_body.any()


def test_impossible_arguments_are_refused() -> None:
    for call in (lambda: generators.rmat(31), lambda: generators.rmat(4, a=0.9, b=0.2),
                 lambda: generators.delaunay(-1), lambda: generators.airfoil_mesh(5),
                 lambda: generators.road_network(-1),
                 lambda: generators.grid_2d(-1, 2),
                 lambda: generators.random_geometric(10, radius=-1.0),
                 lambda: generators.random_geometric(10, dimensions=4),
                 lambda: generators.triangulation(np.zeros((3, 3))),
                 lambda: generators.triangulation([[0, 0], [1, 1], [2, 2]]),
                 lambda: generators.triangulation(np.full((4, 2), np.nan))):
        with pytest.raises(InputError):
            call()
