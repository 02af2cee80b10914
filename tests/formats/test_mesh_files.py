"""METIS mesh files are read as METIS reads them; what deviates is refused by its line."""

from __future__ import annotations

import gzip
import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError
from tests.helpers.data_folder import DATA, require
from tests.oracles import meshes as oracles

TRIANGLES = "% two triangles and a line\n3\n1 2 3\n  2 4,3 \n% between\n4 5\n"


def written(folder: Path, text: str, name: str = "a.mesh") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_elements_are_read(tmp_path: Path) -> None:
    mesh = portpart.io.read_mesh(written(tmp_path, TRIANGLES))
    assert mesh.nodes.tolist() == [0, 1, 2, 1, 3, 2, 3, 4]
    assert mesh.offsets.tolist() == [0, 3, 6, 8]
    assert (mesh.num_nodes, mesh.element_weights) == (5, None)
    assert portpart.as_mesh(tmp_path / "a.mesh").nodes.tolist() == mesh.nodes.tolist()


def test_weights_of_elements_are_read(tmp_path: Path) -> None:
    mesh = portpart.io.read_mesh(written(tmp_path, "2 1\n7 1 2 3\n0 3 4\n"))
    assert mesh.nodes.tolist() == [0, 1, 2, 2, 3]
    assert mesh.element_weights is not None
    assert mesh.element_weights.tolist() == [7, 0]


@pytest.mark.parametrize("weights", [None, [3, 1, 4]])
@pytest.mark.parametrize("name", ["a.mesh", "a.mesh.gz", "a.mesh.xz"])
def test_what_is_written_is_read(tmp_path: Path, name: str, weights: Any) -> None:
    mesh = portpart.as_mesh([[0, 1, 2], [2, 1], [4, 3, 0, 1]], element_weights=weights)
    portpart.io.write_mesh(mesh, tmp_path / name)
    again = portpart.io.read_mesh(tmp_path / name)
    assert again.nodes.tolist() == mesh.nodes.tolist()
    assert again.offsets.tolist() == mesh.offsets.tolist()
    assert (again.element_weights is None) == (weights is None)
    assert weights is None or again.element_weights.tolist() == weights


@pytest.mark.parametrize(
    ("options", "edges"),
    [
        ({}, [(0, 1), (1, 2)]),
        ({"mesh": "dual", "common_nodes": 2}, [(0, 1), (1, 2)]),
        ({"mesh": "nodal"}, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)]),
    ],
)
def test_a_mesh_file_is_read_as_a_graph(
    tmp_path: Path, options: dict[str, Any], edges: list[tuple[int, int]]
) -> None:
    graph = portpart.io.read(written(tmp_path, TRIANGLES), **options)
    assert sorted(oracles.edges_of(graph)) == edges


def test_the_mesh_of_metis_has_the_graphs_of_metis() -> None:
    path = require(DATA / "graphs" / "original" / "metis.mesh")
    elements = [[int(word) - 1 for word in line.split()]
                for line in path.read_text().splitlines()[1:]]
    mesh = portpart.io.read_mesh(path)
    assert (mesh.num_elements, mesh.nodes.tolist()) == (7434, list(chain(*elements)))
    for graph, common in ((mesh.dual_graph(), 1), (mesh.dual_graph(2), 2),
                          (mesh.nodal_graph(), None)):
        rows = oracles.metis_rows(elements, mesh.num_nodes, common)
        assert graph.targets.tolist() == list(chain(*rows))
        assert np.diff(graph.offsets).tolist() == [len(row) for row in rows]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "a METIS mesh begins with"),
        ("\n2\n1 2\n2 3\n", 1, "a METIS mesh begins with"),
        ("2 1 1\n1 2\n2 3\n", 1, "a METIS mesh begins with"),
        ("-2\n1 2\n2 3\n", 1, "a METIS mesh begins with"),
        ("% c\n2 3\n1 2\n2 3\n", 2, "3 weights per element"),
        ("2\n1 2\n", 3, "the file ends after 1 of 2 elements"),
        ("1\n1 2\n% c\n\n2 3\n", 5, "numbers after the line of the last of 1 elements"),
        ("2\n1 2\n0 3\n", 3, "node 0; nodes count from 1"),
        ("2\n% c\n1 2\n2 -3\n", 4, "node -3"),
        ("2\n1 2\n\n", 3, "has no nodes"),
        ("2 1\n1 2\n\n", 3, "no numbers for element 2"),
        ("2 1\n1 2\n5\n", 3, "has no nodes"),
        ("2 1\n1 2\n-5 1\n", 3, "has weight -5"),
        ("2\n1 2 3\n4 5 4\n", 3, "has node 3 more than once"),
        ("2\n1 2 3\n4 x\n", 3, "'x' is not an integer"),
        ("2\n1 2 3\n4 2.5\n", 3, "'2.5' is not an integer .* scale and round"),
    ],
)
def test_a_deviation_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(GraphFormatError, match=words) as caught:
        portpart.io.read_mesh(written(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'a.mesh'}:{line}: ")


def test_node_numbers_out_of_proportion_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "1\n1 4194305\n")
    with pytest.raises(GraphFormatError, match="4194305 vertices in 12 bytes; if that is right"):
        portpart.io.read(path)
    assert portpart.io.read_mesh(path, max_vertices=2**23).num_nodes == 4194305
    assert portpart.io.read(path, max_vertices=2**23).num_vertices == 1
    with pytest.raises(GraphFormatError, match=r"a.mesh:2: element 0 has node 2147483647"):
        portpart.io.read_mesh(written(tmp_path, "1\n1 2147483648\n"), max_vertices=2**40)


def test_other_kinds_of_meshes_are_told(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="is a Medit mesh"):
        portpart.io.read(written(tmp_path, "\nMeshVersionFormatted 1\nDimension 3\n"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mesh": "both"}, "mesh is 'both'"),
        ({"mesh": "nodal", "common_nodes": 2}, "applies to dual graphs only"),
        ({"common_nodes": 0}, "common_nodes is 0"),
        ({"symmetrize": True}, "symmetrize does not apply to metis-mesh files"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        portpart.io.read(written(tmp_path, TRIANGLES), **options)


@pytest.mark.parametrize("name", ["a.graph", "a.hgr.gz", "a.mtx"])
def test_no_mesh_is_written_by_the_name_of_another_format(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.mesh, or as VTK files, \.vtu; meshio writes"):
        portpart.io.write_mesh([[0, 1, 2]], tmp_path / name)
    assert not (tmp_path / name).exists()


def test_the_command_line_partitions_a_mesh(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name, part = str(tmp_path / "a.mesh"), tmp_path / "part"
    triangles = oracles.delaunay(1, 200, 2)
    portpart.io.write_mesh(triangles, name)
    assert main(["partition", name, "-k", "4", "--mesh", "nodal", "--json", "-o", str(part)]) == 0
    assert json.loads(capfd.readouterr().out)["num_vertices"] == 200
    assert len(part.read_text().split()) == 200
    assert main(["info", name, "--common-nodes", "2", "--json"]) == 0
    facts = json.loads(capfd.readouterr().out)
    assert (facts["num_vertices"], facts["num_edges"]) == (
        len(triangles), len(oracles.dual_edges(triangles, 2)))


def test_packed_meshes_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.mesh.gz").write_bytes(gzip.compress(TRIANGLES.encode()))
    assert portpart.io.read(tmp_path / "a.mesh.gz").num_vertices == 3


@pytest.mark.parametrize("name", ["m.msh", "m.vtk", "m.inp", "m.graph", "m.vtk.gz", "m.hgr",
                                  "m.MSH"])
def test_a_mesh_is_written_under_no_foreign_suffix(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"end in \.mesh, or .*meshio writes other formats"):
        portpart.io.write_mesh([[0, 1, 2]], tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["m.mesh", "m.MESH", "m.mesh.gz", "mesh"])
def test_a_mesh_is_written_under_its_own(name: str, tmp_path: Path) -> None:
    portpart.io.write_mesh([[0, 1, 2]], tmp_path / name)
    assert portpart.io.read_mesh(tmp_path / name).num_elements == 1
