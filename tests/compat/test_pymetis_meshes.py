"""`part_mesh` of `portpart.compat.pymetis` answers calls written for PyMETIS."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pymetis
import pytest

import portpart
from portpart.compat import pymetis as ours
from portpart.errors import InputError
from tests import oracles
from tests.oracles import meshes


def squares_of(rows: int, columns: int) -> list[list[int]]:
    return [[row * (columns + 1) + column + step for step in (0, 1, columns + 2, columns + 1)]
            for row in range(rows) for column in range(columns)]


SQUARES = squares_of(14, 20)
BOTH = pytest.mark.parametrize("gtype", [ours.GType.NODAL, ours.GType.DUAL], ids=["nodal", "dual"])


def graph_of(elements: Any, gtype: int, common: int = 1) -> portpart.Graph:
    mesh = portpart.as_mesh(elements)
    return mesh.dual_graph(common) if gtype == ours.GType.DUAL else mesh.nodal_graph()


@BOTH
@pytest.mark.parametrize("k", [2, 5, 12])
def test_blocks_are_balanced_and_their_cut_is_told(gtype: int, k: int) -> None:
    cut, elements, nodes = ours.part_mesh(k, SQUARES, gtype=gtype)
    part = elements if gtype == ours.GType.DUAL else nodes
    graph = graph_of(SQUARES, gtype)
    assert cut == oracles.cut(graph, part)
    assert oracles.is_balanced(oracles.block_weights(graph, part, k), "3.1%")
    for blocks, size in ((elements, len(SQUARES)), (nodes, 15 * 21)):
        assert np.bincount(blocks, minlength=k) == pytest.approx(np.full(k, size / k), rel=0.4)


@BOTH
def test_the_result_has_the_form_of_pymetis(gtype: int) -> None:
    result, there = (module.part_mesh(3, SQUARES, gtype=gtype) for module in (ours, pymetis))
    assert isinstance(result, pymetis.MeshPartition)
    for blocks, others in ((result.element_part, there.element_part),
                           (result.vertex_part, there.vertex_part)):
        assert isinstance(blocks, array)
        assert (blocks.typecode, len(blocks)) == (others.typecode, len(others))
    assert ours.part_mesh(1, SQUARES) == pymetis.part_mesh(1, SQUARES)
    assert ours.part_mesh(1, []) == pymetis.part_mesh(1, [])


@BOTH
@pytest.mark.parametrize("seed", range(6))
def test_shares_are_kept_on_both_sides(gtype: int, seed: int) -> None:
    """On 1,200 elements: of `SQUARES`, the smallest block has 28, and PyMETIS's five fewer."""
    shares = np.array([1, 2, 3, 4])
    squares = squares_of(30, 40)
    _, elements, nodes = ours.part_mesh(4, squares, pymetis.Options(seed=seed), shares.tolist(),
                                        gtype)
    assert (len(elements), len(nodes)) == (30 * 40, 31 * 41)
    for blocks in (elements, nodes):
        assert np.bincount(blocks) / len(blocks) == pytest.approx(shares / 10, rel=0.1)


def test_common_nodes_make_the_dual_graph() -> None:
    cut, elements, _ = ours.part_mesh(2, SQUARES, gtype=ours.GType.DUAL, ncommon=2)
    assert cut == 14
    assert oracles.cut(graph_of(SQUARES, ours.GType.DUAL, 2), elements) == 14


@pytest.mark.parametrize(
    "elements",
    [
        tuple(map(tuple, SQUARES)),
        np.array(SQUARES),
        [np.array(element) for element in SQUARES],
        {"quad": np.array(SQUARES)},
        portpart.as_mesh(SQUARES),
    ],
    ids=["tuples", "array", "arrays", "blocks", "mesh"],
)
def test_elements_may_be_held_by_anything(elements: Any) -> None:
    assert ours.part_mesh(4, elements) == ours.part_mesh(4, SQUARES)


@BOTH
def test_cuts_are_not_worse_than_those_of_metis(gtype: int) -> None:
    elements = meshes.delaunay(1, 3000, 2).tolist()
    graph = graph_of(elements, gtype)
    _, *parts = pymetis.part_mesh(16, elements, gtype=gtype)
    there = oracles.cut(graph, parts[gtype == ours.GType.NODAL])
    assert ours.part_mesh(16, elements, gtype=gtype).edge_cuts <= 1.1 * there


def test_options_are_used() -> None:
    options = ours.Options(seed=3, ncuts=2, ufactor=100, contig=1, niter=20)
    cut, _, nodes = ours.part_mesh(4, SQUARES, options)
    graph = graph_of(SQUARES, ours.GType.NODAL)
    assert cut == oracles.cut(graph, nodes)
    assert oracles.components_per_block(graph, nodes, 4) == [1] * 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, SQUARES), "n_parts is 0"),
        (("2", SQUARES), "n_parts is '2'"),
        ((4, SQUARES, None, [1.0]), "length of tpwgts mismatches `n_part`"),
        ((2, SQUARES, None, [-1.0, 2.0]), "values of tpwgts should be non-negative"),
        ((2, SQUARES, ours.Options(numbering=1)), "METIS numbering option must be set to 0"),
        ((2, SQUARES, ours.Options(objtype=1)), "objtype=VOL"),
        ((2, SQUARES, None, None, 5), "gtype is 5; it must be GType.NODAL or GType.DUAL"),
        ((2, SQUARES, None, None, ours.GType.DUAL, 0), "common_nodes is 0"),
        ((2, [[0, 1], [1, -2]]), "element 1 has node -2"),
        ((2, [[0, 1], [1, 1]]), "element 1 has node 1 more than once"),
        ((2, [[1, 2], [2, 3]]), "node 0 is in no element; part_mesh takes nodes numbered from 0"),
        ((2, [[0, 1], [1, 3]]), "node 2 is in no element"),
        ((2, [[0, 1], []]), "element 1 has no nodes"),
        ((2, [[0], [1], [2], [3]], ours.Options(contig=1)), r"block 0 has 2 components"),
    ],
)
def test_bad_input_is_refused_in_the_words_of_pymetis_where_it_has_any(
    arguments: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        ours.part_mesh(*arguments)
