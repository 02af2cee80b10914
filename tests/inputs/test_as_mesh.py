"""`as_mesh` takes elements as people have them, and says which element is at fault."""

from __future__ import annotations

import copy
import pickle
from array import array
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.errors import InputError
from tests.helpers.each import looped

TRIANGLES = [[0, 1, 2], [2, 1, 3], [3, 4, 5]]
READ_ONLY = np.array(TRIANGLES)
READ_ONLY.setflags(write=False)


@dataclass
class Block:
    """As `meshio.CellBlock`."""

    type: str
    data: Any
    dim: int = field(default=2)


def rows(mesh: portpart.Mesh) -> list[list[int]]:
    nodes = mesh.nodes.tolist()
    return [nodes[mesh.offsets[e] : mesh.offsets[e + 1]] for e in range(mesh.num_elements)]


@pytest.mark.parametrize(
    "elements",
    [
        TRIANGLES,
        [tuple(element) for element in TRIANGLES],
        [np.array(element, np.uint8) for element in TRIANGLES],
        np.array(TRIANGLES),
        np.array(TRIANGLES, np.uint16),
        np.array(TRIANGLES, ">i8"),
        np.asfortranarray(TRIANGLES),
        np.array(TRIANGLES, np.int32).repeat(2, axis=1)[:, ::2],
        READ_ONLY,
        ([0, 3, 6, 9], [0, 1, 2, 2, 1, 3, 3, 4, 5]),
        (np.array([0, 3, 6, 9]), array("q", [0, 1, 2, 2, 1, 3, 3, 4, 5])),
        {"triangle": np.array(TRIANGLES)},
        {"triangle": TRIANGLES[:1], "triangle again": TRIANGLES[1:]},
        [("triangle", np.array(TRIANGLES))],
        [Block("triangle", np.array(TRIANGLES[:2])), Block("triangle", np.array(TRIANGLES[2:]))],
        (element for element in TRIANGLES),
    ],
    ids=lambda elements: type(elements).__name__,
)
def test_every_form_gives_the_same_mesh(elements: Any) -> None:
    mesh = portpart.as_mesh(elements)
    assert rows(mesh) == TRIANGLES
    assert mesh.num_nodes == 6
    assert (mesh.offsets.dtype, mesh.nodes.dtype) == (np.int64, np.int32)


def test_a_mesh_is_a_mesh() -> None:
    mesh = portpart.as_mesh(TRIANGLES, num_nodes=9, element_weights=[1, 2, 3])
    again = portpart.as_mesh(mesh)
    assert rows(again) == TRIANGLES
    assert again.num_nodes == 9
    assert again.element_weights is not None
    assert again.element_weights.tolist() == [1, 2, 3]


def test_arrays_are_copied() -> None:
    elements, weights = np.array(TRIANGLES, np.int32), np.array([1, 2, 3])
    mesh = portpart.as_mesh(elements, element_weights=weights)
    elements[:], weights[:] = 7, 7
    assert rows(mesh) == TRIANGLES
    assert mesh.element_weights is not None
    assert mesh.element_weights.tolist() == [1, 2, 3]


@pytest.mark.parametrize("through", [lambda mesh: mesh, copy.deepcopy,
                                     lambda mesh: pickle.loads(pickle.dumps(mesh))])
def test_nobody_changes_a_mesh_or_its_graphs(through: Any) -> None:
    mesh = through(portpart.as_mesh(TRIANGLES, element_weights=[1, 2, 3]))
    graphs = [mesh.dual_graph(weights=True), mesh.nodal_graph()]
    held = [mesh.offsets, mesh.nodes, mesh.element_weights, mesh.by_node.members,
            *(array for graph in graphs for array in graph.arrays.values() if array is not None)]
    assert rows(mesh) == TRIANGLES
    for array_held in held:
        with pytest.raises(ValueError, match="read-only"):
            array_held[0] = 7


def test_blocks_of_the_largest_dimension_of_an_object_with_cells_are_taken() -> None:
    cells = [Block("line", np.array([[0, 1]]), 1), Block("triangle", np.array(TRIANGLES), 2),
             Block("quad", np.array([[0, 1, 4, 5]]), 2)]  # fmt: skip
    mesh = portpart.as_mesh(SimpleNamespace(cells=cells, points=np.zeros((8, 2))))
    assert rows(mesh) == [*TRIANGLES, [0, 1, 4, 5]]
    assert mesh.num_nodes == 8


TETRAHEDRA = [[0, 1, 2, 3], [1, 2, 3, 4]]
BOUNDARY = {"line": [[0, 1]], "triangle": [[0, 1, 2], [1, 2, 4]], "tetra": TETRAHEDRA}


@pytest.mark.parametrize("form", [
    lambda cells: cells, lambda cells: list(cells.items()),
    lambda cells: [Block(kind, np.array(data), {"line": 1, "triangle": 2, "tetra": 3}[kind])
                   for kind, data in cells.items()],
    lambda cells: [SimpleNamespace(type=kind, data=np.array(data))
                   for kind, data in cells.items()],
    lambda cells: SimpleNamespace(cells=cells, points=np.zeros((5, 3))),
    lambda cells: SimpleNamespace(cells=list(cells.items()), points=np.zeros((5, 3)))])
def test_every_form_of_blocks_leaves_the_boundary_out(form: Any) -> None:
    for order in (list(BOUNDARY), list(BOUNDARY)[::-1]):
        mesh = portpart.as_mesh(form({kind: np.array(BOUNDARY[kind]) for kind in order}))
        assert rows(mesh) == TETRAHEDRA


def test_meshio_and_its_cells_are_the_same_mesh() -> None:
    meshio = pytest.importorskip("meshio")
    mesh = meshio.Mesh(np.zeros((5, 3)), [(kind, np.array(data))
                                          for kind, data in BOUNDARY.items()])
    for form in (mesh, mesh.cells, mesh.cells_dict):
        assert rows(portpart.as_mesh(form)) == TETRAHEDRA


def test_dimensions_are_those_of_meshio() -> None:
    kinds = pytest.importorskip("meshio._mesh").topological_dimension
    nodes = np.arange(1331)
    for kind, dimension in kinds.items():
        for other, given in (("vertex", 0), ("line", 1), ("triangle", 2), ("tetra", 3)):
            cells = {f"{other} ": nodes[None], kind: nodes[None]}
            assert len(rows(portpart.as_mesh(cells))) == 1 + (given == dimension), kind


def test_corners_are_no_more_than_meshio_has_nodes() -> None:
    counts = pytest.importorskip("meshio._common").num_nodes_per_cell
    for kind, count in counts.items():
        assert portpart.as_mesh({kind: np.arange(count)[None]}).num_nodes == count


def test_mixed_elements_keep_their_lengths() -> None:
    elements = [[5, 1], [2], [0, 1, 2, 3, 4]]
    assert rows(portpart.as_mesh(elements)) == elements


@looped(
    ("elements", "options", "words"),
    [
        ([[0, 1], [2, -1]], {}, "element 1 has node -1; nodes must lie in"),
        ([[0, 1], [2, 3]], {"num_nodes": 3}, "element 1 has node 3.*0 ... 2; nodes count from 0"),
        ([[0, 1], [2, 9]], {"num_nodes": 3}, r"element 1 has node 9; nodes must lie in 0 ... 2$"),
        ([[0, 2**31]], {}, "element 0 has node 2147483648"),
        ([[0, 2**70]], {}, f"element 0 has node {2**70}"),
        ([[0, 1], [3, 2, 3], [4, 4]], {}, "element 1 has node 3 more than once"),
        ([[0, 1], []], {}, "element 1 has no nodes"),
        (np.empty((3, 0), int), {}, "element 0 has no nodes"),
        ([[0, 1], [1, 2.5]], {}, "element 1 has node 2.5; nodes must be integers"),
        ([[0, 1], [1, "2"]], {}, "element 1 has node '2'"),
        ([[0, 1], [1, None]], {}, "element 1 has node None"),
        ([[0, 1], 5], {}, "element 1 is 5; a sequence of nodes is needed"),
        ([[0, 1], "12"], {}, "element 1 is '12'"),
        (np.array([[0.0, 1.0]]), {}, "of type float64; nodes must be integers"),
        (np.array([0, 1, 2]), {}, r"shape \(3,\); \(elements, nodes per element\) is needed"),
        (np.array([0, 1, 2], object), {}, "nodes per element"),
        (([0, 2, 1], [0, 1]), {}, r"offsets\[2\] = 1 is smaller"),
        (([0, 2], [0, 1, 2]), {}, r"offsets\[1\] is 2 but there are 3 nodes"),
        (([1, 2], [0, 1]), {}, r"offsets\[0\] is 1"),
        (([0, 1], [0], [1]), {}, "a tuple of 3"),
        ([()], {}, "element 0 has no nodes"),
        ([[0, 1], {1: 2}], {}, "element 1 is {1: 2}; a sequence of nodes is needed"),
        ({"quad": [[0, 1, 2, 3]], "triangle": [0, 1]}, {}, "block 'triangle' has shape"),
        ("missing.mesh", {}, "missing.mesh cannot be read"),
        (5, {}, "elements are a int; accepted are"),
        (None, {}, "elements are a NoneType"),
        ([[0, 1]], {"num_nodes": -1}, "num_nodes is -1"),
        ([[0, 1]], {"num_nodes": 2.0}, "num_nodes is 2.0"),
        ([[0, 1]], {"element_weights": [1, 2]}, "element_weights hold 2 values for 1 elements"),
        ([[0], [1]], {"element_weights": [1, -2]}, "element 1 has weight -2"),
        ([[0], [1]], {"element_weights": [1, 0.5]}, r"element_weights\[1\] is 0.5"),
    ],
)
def test_bad_elements_are_refused_by_number(
    elements: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        portpart.as_mesh(elements, **options)
    assert len(str(caught.value)) < 400
