"""Kinds of cells: common faces, boundaries, points, and blocks of all cells."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.errors import InputError
from tests.oracles import meshes as oracles

TETRAHEDRA = oracles.delaunay(2, 200, 3)
CONFORMING: dict[str, oracles.Blocks] = {
    "tetrahedra": [("tetra", TETRAHEDRA)],
    "hexahedra": [("hexahedron", oracles.mixed_space(0, 3, 4, 2)[1][1][1])],
    "plane": oracles.mixed_plane(1, 7, 6)[1],
    "space": oracles.mixed_space(2, 4, 4, 3)[1],
    "quadratic tetrahedra": oracles.quadratic(np.zeros((200, 3)), [("tetra", TETRAHEDRA)])[1],
    "quadratic plane": oracles.quadratic(*oracles.mixed_plane(3, 6, 6))[1],
    "quadratic space": oracles.quadratic(*oracles.mixed_space(4, 4, 3, 3))[1],
}


@pytest.mark.parametrize("name", CONFORMING)
def test_elements_with_a_common_face_are_adjacent(name: str) -> None:
    mesh = portpart.as_mesh(CONFORMING[name])
    graph = mesh.dual_graph()
    assert set(oracles.edges_of(graph)) == oracles.face_edges(CONFORMING[name])
    assert mesh.dual_graph("face").targets.tolist() == graph.targets.tolist()


def test_weights_of_common_faces_are_their_corners() -> None:
    prism, block = [0, 1, 2, 3, 4, 5], [1, 6, 7, 2, 4, 8, 9, 5]
    mesh = portpart.as_mesh({"wedge": [prism], "hexahedron": [block]})
    assert oracles.edges_of(mesh.dual_graph(weights=True)) == {(0, 1): 4}


def test_elements_without_kinds_share_one_node_by_default() -> None:
    mesh = portpart.as_mesh(TETRAHEDRA)
    assert mesh.dual_graph().targets.tolist() == mesh.dual_graph(1).targets.tolist()
    with pytest.raises(InputError, match=r"common_nodes is 'face'.*as_mesh\(\{'tetra': elements"):
        mesh.dual_graph("face")


def with_boundary() -> tuple[portpart.Mesh, list[tuple[str, Any]]]:
    faces = [row[:3] for row in TETRAHEDRA[5:9].tolist()]
    cells = [("vertex", np.array([[7]])), ("triangle", np.array(faces)), ("tetra", TETRAHEDRA[:4]),
             ("line", TETRAHEDRA[:2, 1:3]), ("tetra", TETRAHEDRA[4:])]
    points = np.random.default_rng(0).random((200, 3))
    return portpart.as_mesh(cells, points=points), cells


def test_a_mesh_keeps_its_points_and_all_blocks_of_cells() -> None:
    mesh, cells = with_boundary()
    for kept in (mesh, portpart.as_mesh(mesh), pickle.loads(pickle.dumps(mesh))):
        assert kept.points is not None
        assert kept.points.shape == (200, 3)
        assert [(each.kind, each.nodes.tolist(), each.first) for each in kept.cells or ()] == [
            (kind, table.tolist(), first)
            for (kind, table), first in zip(cells, [None, None, 0, None, 4], strict=True)]
        with pytest.raises(ValueError, match="read-only"):
            kept.points[0] = 1


def test_every_block_of_cells_has_an_array_of_blocks() -> None:
    mesh, cells = with_boundary()
    part = np.arange(mesh.num_elements) % 7
    data = mesh.cell_data(part)
    assert [array.dtype for array in data] == [np.dtype(np.int32)] * 5
    assert np.concatenate([data[2], data[4]]).tolist() == part.tolist()
    for at in (0, 1, 3):
        for cell, block in zip(cells[at][1].tolist(), data[at].tolist(), strict=True):
            on = [element for element, row in enumerate(TETRAHEDRA.tolist())
                  if set(cell) <= set(row)]
            assert block == part[on[0]]
    result = portpart.partition(mesh.dual_graph(), 3)
    assert mesh.cell_data(result)[2].tolist() == result.part[:4].tolist()


def test_a_point_on_no_element_is_in_no_block() -> None:
    mesh = portpart.as_mesh({"vertex": [[3]], "triangle": [[0, 1, 2]]})
    assert [data.tolist() for data in mesh.cell_data([0])] == [[-1], [0]]
    with pytest.raises(InputError, match="block is 2; it must be between 0 and 1"):
        mesh.elements_at(2)


BEAM = {"line": [[0, 1], [5, 6]], "triangle": [[0, 1, 2]]}


@pytest.mark.parametrize(("elements", "options", "words"), [
    (BEAM, {}, r"cell 1 of block 0 \(line\) has the nodes.*mixed dimensions; pass only the"),
    ({"line": [[0, 9]], "triangle": [[0, 1, 2]]}, {"points": np.zeros((4, 2))},
     r"cell 0 of block 0 \(line\) has the nodes \[0, 9\]; nodes must lie in 0 ... 3"),
    ({"line": [[0, 2**40]], "triangle": [[0, 1, 2]]}, {}, "nodes must lie in 0 ... 2147483645"),
    ({"line": [[2**32, 1]], "triangle": [[0, 1, 2]]}, {"points": np.zeros((3, 2))}, "in 0 ... 2"),
    ({"line": [[0, -1]], "triangle": [[0, 1, 2]]}, {}, r"\[0, -1\]; nodes must lie in 0 ... 2"),
    ([("triangle", [[0, 1, 2]]), ("blob", [[0, 1, 2]])], {},
     "block 1: 'blob' is no kind of cells: names are those of meshio"),
    ({"tetra": [[0, 1, 2]]}, {}, "block 'tetra' has 3 nodes per cell; a tetra has at least 4"),
    ({"polyhedron4": [[0, 1, 2, 3]]}, {}, "block 'polyhedron4' holds no polyhedra: each is a list"),
    ({"polyhedron": [[[0, 1, 2]], [[0, 1], [2, 3]]]}, {}, "block 'polyhedron' "),
    ({"quad": [[0, 1, 2, 3]]}, {"points": [[0, 0], [1, 0]]}, "element 0 has node 2; nodes must"),
    ([[0, 1]], {"points": [0, 1]}, r"points are of shape \(2,\)"),
    ([[0, 1]], {"points": np.zeros((2, 4))}, r"points are of shape \(2, 4\)"),
    ([[0, 1]], {"points": [["a"], ["b"]]}, "points"),
    ([[0, 1]], {"points": np.zeros((2, 2)), "num_nodes": 3}, "2 points, and num_nodes is 3"),
])
def test_meshes_that_do_not_fit_are_refused(elements: Any, options: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        portpart.as_mesh(elements, **options)
    assert len(str(caught.value)) < 400


def test_the_remedy_of_mixed_dimensions_is_one() -> None:
    only = {"triangle": BEAM["triangle"]}
    assert portpart.as_mesh(only).num_elements == 1


@pytest.mark.parametrize(("part", "words"), [
    ([0, 1], "has 2 blocks for a mesh of 3 elements and 5 nodes; a block for each element"),
    ([0, 0, 1, 1, 1], "mesh.element_part makes blocks of elements"),
    (None, "part is None; the blocks of 3 elements are needed"),
    ([0, -1, 0], r"part\[1\] is -1"), ([0, 0.5, 1], "block numbers must be integers"),
])
def test_parts_that_do_not_fit_are_refused(part: Any, words: str) -> None:
    mesh = portpart.as_mesh({"triangle": [[0, 1, 2], [1, 2, 3], [2, 3, 4]]})
    for call in (mesh.cell_data, mesh.submeshes):
        with pytest.raises(InputError, match=words):
            call(part)


def test_blocks_of_the_wrong_side_tell_the_way() -> None:
    mesh = portpart.as_mesh([[0, 1, 2], [1, 2, 3]])
    with pytest.raises(InputError, match=r"for 2 elements; mesh.element_part makes these"):
        mesh.node_part([0, 0, 1, 1])
    with pytest.raises(InputError, match=r"for 4 nodes; mesh.node_part makes these"):
        mesh.element_part([0, 1])
    with pytest.raises(InputError, match="has no kinds of cells"):
        mesh.cell_data([0, 1])
