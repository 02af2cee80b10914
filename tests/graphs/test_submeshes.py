"""Sub-meshes have what sets say: elements, ghosts, nodes, owners, and who shares what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart.errors import InputError
from tests.oracles import meshes as oracles

MESHES: dict[str, Any] = {
    "plane": oracles.mixed_plane(1, 9, 8),
    "space": oracles.mixed_space(2, 4, 4, 3),
    "quadratic": oracles.quadratic(*oracles.mixed_plane(3, 6, 6)),
    "lists": (None, oracles.random_elements(4, 80, 70, 6)),
}


def divided(name: str, k: int, ghosts: int) -> tuple[portpart.Mesh, Any, list[int], Any]:
    points, elements = MESHES[name]
    mesh = portpart.as_mesh(elements, points=points)
    part = np.random.default_rng(k).integers(0, k, mesh.num_elements)
    if name != "lists":
        part = np.sort(part)
        elements = oracles.elements_of(elements)
    return mesh, elements, part.tolist(), mesh.submeshes(part, ghosts, k=k)


@pytest.mark.parametrize("ghosts", [0, 1, 2])
@pytest.mark.parametrize("name", MESHES)
def test_blocks_have_their_elements_and_those_that_are_near(name: str, ghosts: int) -> None:
    mesh, elements, part, pieces = divided(name, 5, ghosts)
    nodes_owner = mesh.node_part(part, 5)
    for block, piece in enumerate(pieces):
        own = [element for element, of in enumerate(part) if of == block]
        near = oracles.near_elements(elements, part, block, ghosts)
        assert piece.elements.tolist() == own + sorted(near, key=lambda each: (part[each], each))
        assert (piece.block, piece.num_own) == (block, len(own))
        assert piece.owners.tolist() == [part[each] for each in piece.elements[len(own) :]]
        held = {node for element in piece.elements.tolist() for node in elements[element]}
        first = sorted(node for node in held if nodes_owner[node] == block)
        assert piece.nodes.tolist() == first + sorted(held - {*first},
                                                      key=lambda each: (nodes_owner[each], each))
        assert piece.num_own_nodes == len(first)
        assert piece.node_owners.tolist() == nodes_owner[piece.nodes[len(first) :]].tolist()
        local = piece.mesh
        assert [piece.nodes[local.nodes[begin:end]].tolist()
                for begin, end in zip(local.offsets, local.offsets[1:])] == [
                    list(elements[element]) for element in piece.elements.tolist()]


@pytest.mark.parametrize("name", MESHES)
def test_nodes_of_own_elements_of_two_blocks_are_shared(name: str) -> None:
    _, elements, part, pieces = divided(name, 6, 1)
    own_nodes = [{node for element, of in enumerate(part) if of == block
                  for node in elements[element]} for block in range(6)]
    for block, piece in enumerate(pieces):
        common = {other: sorted(own_nodes[block] & own_nodes[other]) for other in range(6)
                  if other != block and own_nodes[block] & own_nodes[other]}
        assert {other: piece.nodes[local].tolist()
                for other, local in piece.shared.items()} == common
        assert list(piece.shared) == sorted(common)
        assert piece.neighbours == sorted(common)


@pytest.mark.parametrize("name", MESHES)
def test_owners_send_what_others_have_of_them(name: str) -> None:
    pieces = divided(name, 4, 2)[3]
    for numbers, send, recv in (("elements", "send", "recv"), ("nodes", "node_send", "node_recv")):
        for piece in pieces:
            for other, places in getattr(piece, recv).items():
                sent = getattr(pieces[other], send)[piece.block]
                assert getattr(piece, numbers)[places].tolist() == getattr(
                    pieces[other], numbers)[sent].tolist()
        assert sum(len(sent) for piece in pieces for sent in getattr(piece, send).values()) == sum(
            len(getattr(piece, numbers)) - getattr(piece, own) for piece in pieces
            for own in ["num_own" if numbers == "elements" else "num_own_nodes"])


def test_own_nodes_are_each_node_once() -> None:
    mesh, _, _, pieces = divided("space", 7, 1)
    own = np.concatenate([piece.nodes[: piece.num_own_nodes] for piece in pieces])
    assert sorted(own.tolist()) == list(range(mesh.num_nodes))


def test_points_kinds_and_weights_go_along() -> None:
    points, blocks = MESHES["space"]
    whole = portpart.as_mesh(blocks, points=points,
                             element_weights=np.arange(sum(len(table) for _, table in blocks)))
    kinds = oracles.kinds_of(blocks)
    for piece in whole.submeshes(portpart.partition(whole.dual_graph(), 4)):
        local = piece.mesh
        assert local.points is not None
        assert local.element_weights is not None
        assert (local.points == points[piece.nodes]).all()
        assert local.element_weights.tolist() == piece.elements.tolist()
        cells = local.cells or ()
        assert oracles.kinds_of([each[:2] for each in cells]) == [
            kinds[element] for element in piece.elements]
        assert np.concatenate([each.nodes.ravel() for each in cells]).tolist() == (
            local.nodes.tolist())
        assert local.dual_graph().num_vertices == len(piece.elements)


def test_cells_of_a_lower_dimension_are_in_one_block_each() -> None:
    points, blocks = MESHES["space"]
    draw = np.random.default_rng(0)
    faces = np.array([row[:3] for row in oracles.elements_of(blocks)])
    ends = draw.permutation(faces)[:40, :2]
    cells = [("line", ends), blocks[0], ("triangle", faces), *blocks[1:], ("vertex", ends[:, :1])]
    mesh = portpart.as_mesh(cells, points=points)
    part = draw.integers(0, 4, mesh.num_elements)
    pieces = mesh.submeshes(part, k=5)
    for piece, block in zip(pieces, range(5), strict=True):
        assert list(piece.lower_cells) == [0, 2, 5]
        last = [each for each in piece.mesh.cells or () if each.first is None]
        for at, local in zip([0, 2, 5], last, strict=True):
            kind, table = cells[at]
            mine = piece.lower_cells[at]
            assert mine.tolist() == np.flatnonzero(mesh.cell_data(part)[at] == block).tolist()
            assert (local.kind, piece.nodes[local.nodes].tolist()) == (kind, table[mine].tolist())
        for at in range(len(piece.mesh.cells or ()) - 3, len(piece.mesh.cells or ())):
            assert (piece.mesh.elements_at(at) < max(1, piece.num_own)).all()
    assert all(sorted(np.concatenate([piece.lower_cells[at] for piece in pieces]).tolist())
               == list(range(len(cells[at][1]))) for at in (0, 2, 5))
    assert portpart.as_mesh(pieces[0].mesh).num_elements == len(pieces[0].elements)


def test_blocks_may_be_empty_and_a_mesh_too() -> None:
    points, blocks = MESHES["plane"]
    mesh = portpart.as_mesh(blocks, points=points)
    first, empty, last = mesh.submeshes([0] * (mesh.num_elements - 1) + [2])
    assert (empty.mesh.num_elements, empty.mesh.num_nodes, empty.mesh.cells) == (0, 0, ())
    assert empty.neighbours == []
    assert (first.neighbours, last.neighbours) == ([2], [0])
    nothing = portpart.as_mesh(np.empty((0, 3), int))
    assert nothing.submeshes([]) == []
    assert [len(piece.elements) for piece in nothing.submeshes([], k=2)] == [0, 0]


def test_a_mesh_of_one_block_is_itself() -> None:
    points, blocks = MESHES["plane"]
    mesh = portpart.as_mesh(blocks, points=points)
    piece, = mesh.submeshes(np.zeros(mesh.num_elements, int), ghosts=3)
    assert piece.mesh.nodes.tolist() == mesh.nodes.tolist()
    assert (piece.shared, piece.send, piece.node_recv) == ({}, {}, {})
    assert "own elements" in piece._repr_html_()


@pytest.mark.parametrize("ghosts", [-1, 1.5, "1", None])
def test_layers_of_ghosts_are_counted(ghosts: Any) -> None:
    with pytest.raises(InputError, match="ghosts is"):
        portpart.as_mesh([[0, 1]]).submeshes([0], ghosts)
