"""Blocks of elements from blocks of nodes, and the reverse, as METIS chooses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymetis
import pytest

import portpart
from portpart.errors import InputError
from tests.oracles import meshes as oracles

MESHES = {
    "triangles": oracles.delaunay(1, 700, 2).tolist(),
    "tetrahedra": oracles.delaunay(2, 400, 3).tolist(),
    "hexahedra": oracles.bricks(9, 8, 7).tolist(),
}


@pytest.mark.parametrize("target", [None, [1, 2, 3, 4, 5]])
@pytest.mark.parametrize("name", MESHES)
def test_blocks_of_elements_are_those_of_metis(name: str, target: Any) -> None:
    _, elements, nodes = pymetis.part_mesh(5, MESHES[name], None, target, pymetis.GType.NODAL)
    mesh = portpart.as_mesh(MESHES[name])
    assert mesh.element_part(nodes, 5, target).tolist() == elements.tolist()


@pytest.mark.parametrize("target", [None, [1, 2, 3, 4, 5]])
@pytest.mark.parametrize("name", MESHES)
def test_blocks_of_nodes_are_those_of_metis(name: str, target: Any) -> None:
    _, elements, nodes = pymetis.part_mesh(5, MESHES[name], None, target, pymetis.GType.DUAL, 2)
    mesh = portpart.as_mesh(MESHES[name])
    assert mesh.node_part(elements, 5, target).tolist() == nodes.tolist()


def test_nodes_of_no_element_are_in_no_block() -> None:
    mesh = portpart.as_mesh([[0, 2]], num_nodes=4)
    assert mesh.node_part([0]).tolist() == [0, -1, 0, -1]


def test_every_node_goes_to_a_block_of_one_of_its_elements() -> None:
    mesh = portpart.as_mesh(oracles.random_elements(1, 200, 90, 6))
    part = np.random.default_rng(2).integers(0, 7, mesh.num_elements)
    nodes = mesh.node_part(part, 7)
    for node in range(mesh.num_nodes):
        near = mesh.by_node.members[mesh.by_node.offsets[node] : mesh.by_node.offsets[node + 1]]
        assert nodes[node] in part[near] if len(near) else nodes[node] == -1


@pytest.mark.parametrize(
    ("part", "options", "words"),
    [
        ([0, 1], {}, "element_part holds 2 blocks for 3"),
        ([0, 1, -1], {}, r"element_part\[2\] is -1"),
        ([0, 1, 2], {"k": 2}, r"element_part\[2\] is 2; with k = 2 blocks are 0 ... 1"),
        ([0, 1, 0.5], {}, "must be integers"),
        ([0, 1, 0], {"k": 0}, "k is 0"),
        ([0, 1, 0], {"k": 1.5}, "k is 1.5"),
        ([0, 1, 0], {"target": [1, -1]}, "target must hold 2 shares"),
        ([0, 1, 0], {"target": [0, 0]}, "target must hold 2 shares"),
        ([0, 1, 0], {"target": ["a", 1]}, "target must hold"),
        ([0, 1, 0], {"k": 2, "target": [1, 1, 1]}, "target must hold 2 shares"),
    ],
)
def test_bad_blocks_are_refused(part: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        portpart.as_mesh([[0, 1], [1, 2], [2, 3]]).node_part(part, **options)
