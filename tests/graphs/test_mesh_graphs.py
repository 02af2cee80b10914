"""Dual and nodal graphs are those of METIS, of sets and of products of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import portpart
from portpart.errors import InputError
from tests.helpers.each import looped
from tests.oracles import meshes as oracles


def own_rows(graph: portpart.Graph) -> list[list[int]]:
    targets = graph.targets.tolist()
    return [targets[graph.offsets[v] : graph.offsets[v + 1]] for v in range(graph.num_vertices)]


MESHES: dict[str, Any] = {
    "triangles": oracles.delaunay(1, 300, 2),
    "tetrahedra": oracles.delaunay(2, 120, 3),
    "hexahedra": oracles.bricks(4, 3, 3),
    "mixed": oracles.random_elements(3, 150, 60, 9),
    "sparse": oracles.random_elements(4, 40, 400, 5),
    "lines": [[i, i + 1] for i in range(30)],
}


@looped("common", [1, 2, 3, 5])
@looped("name", MESHES)
def test_dual_graph_is_that_of_metis(name: str, common: int) -> None:
    elements = MESHES[name]
    mesh = portpart.as_mesh(elements)
    expected = oracles.metis_rows(elements, mesh.num_nodes, common)
    # a single node makes METIS a loop
    expected = [[v for v in row if v != e] for e, row in enumerate(expected)]
    assert own_rows(mesh.dual_graph(common)) == expected


@pytest.mark.parametrize("name", MESHES)
def test_nodal_graph_is_that_of_metis(name: str) -> None:
    mesh = portpart.as_mesh(MESHES[name])
    assert own_rows(mesh.nodal_graph()) == oracles.metis_rows(MESHES[name], mesh.num_nodes, None)


@looped("seed", range(20))
def test_graphs_and_weights_are_those_of_sets(seed: int) -> None:
    elements = oracles.random_elements(seed, 30, 12 + seed, 6)
    mesh = portpart.as_mesh(elements)
    for common in (1, 2, 4):
        expected = oracles.dual_edges(elements, common)
        assert oracles.edges_of(mesh.dual_graph(common, weights=True)) == expected
        assert list(oracles.edges_of(mesh.dual_graph(common))) == sorted(expected)
    nodal = oracles.edges_of(mesh.nodal_graph(weights=True))
    assert nodal == oracles.nodal_edges(elements)


def test_graphs_are_products_of_the_incidence_matrix() -> None:
    tetrahedra = oracles.delaunay(5, 2000, 3)
    mesh = portpart.as_mesh(tetrahedra)
    ones = np.ones(tetrahedra.size, np.int32)
    offsets = np.arange(len(tetrahedra) + 1) * 4
    incidence = scipy.sparse.csr_array((ones, tetrahedra.ravel(), offsets))
    for graph, product in ((mesh.dual_graph(weights=True), incidence @ incidence.T),
                           (mesh.nodal_graph(weights=True), incidence.T @ incidence)):
        product.setdiag(0)
        product.eliminate_zeros()
        assert (graph.to_scipy() != product).nnz == 0


def test_faces_of_a_brick_are_the_edges_of_a_grid() -> None:
    dual = portpart.as_mesh(oracles.bricks(7, 5, 3)).dual_graph(common_nodes=4)
    assert dual.num_edges == 6 * 5 * 3 + 7 * 4 * 3 + 7 * 5 * 2
    assert dual.max_degree == 6


def test_short_elements_need_all_but_one_of_their_nodes() -> None:
    triangle_beside_quadrilateral_and_line = [[0, 1, 2, 3], [2, 3, 4], [4, 5], [5, 6, 0, 1]]
    mesh = portpart.as_mesh(triangle_beside_quadrilateral_and_line)
    edges = oracles.edges_of(mesh.dual_graph(common_nodes=3, weights=True))
    assert edges == {(0, 1): 2, (1, 2): 1, (2, 3): 1}


def test_element_weights_are_those_of_the_vertices_of_the_dual_graph() -> None:
    mesh = portpart.as_mesh([[0, 1], [1, 2]], element_weights=[3, 5])
    assert mesh.dual_graph().vertex_weights.tolist() == [3, 5]
    assert mesh.nodal_graph().vertex_weights is None
    assert portpart.as_mesh([[0, 1]], element_weights=[1]).dual_graph().vertex_weights is None


def test_nodes_of_no_element_are_vertices_without_edges() -> None:
    mesh = portpart.as_mesh([[1, 3]], num_nodes=6)
    assert np.diff(mesh.nodal_graph().offsets).tolist() == [0, 1, 0, 1, 0, 0]
    assert mesh.dual_graph().num_vertices == 1


def test_a_mesh_may_be_empty() -> None:
    mesh = portpart.as_mesh(np.empty((0, 3), np.int32))
    assert (mesh.num_elements, mesh.num_nodes) == (0, 0)
    assert mesh.dual_graph().num_vertices == mesh.nodal_graph().num_vertices == 0
    assert portpart.as_mesh([], num_nodes=2).nodal_graph().num_vertices == 2


@pytest.mark.parametrize("common", [0, -1, 1.5, "2", "faces"])
def test_common_nodes_must_be_a_positive_integer_or_a_face(common: Any) -> None:
    with pytest.raises(InputError, match=r"common_nodes is.* at least 1, or 'face'"):
        portpart.as_mesh([[0, 1]]).dual_graph(common)


def test_graphs_beyond_any_memory_are_refused_before_the_work() -> None:
    hub = np.zeros((70_000, 2), np.int32)
    hub[:, 1] = np.arange(1, 70_001)
    with pytest.raises(InputError, match=r"node 0 has 70000 elements.*4899930000 arcs"):
        portpart.as_mesh(hub).dual_graph()
    with pytest.raises(InputError, match="element 0 has 70000 nodes"):
        portpart.as_mesh([np.arange(70_000)]).nodal_graph()


def test_the_same_mesh_gives_the_same_graph_on_any_number_of_threads() -> None:
    # rows are ascending, so no order of the work can show
    mesh = portpart.as_mesh(oracles.delaunay(6, 3000, 2))
    rows = mesh.dual_graph(2)
    assert all((np.diff(row) > 0).all() for row in map(np.array, own_rows(rows)))
