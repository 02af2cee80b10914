"""Meshes of other programs are read by meshio; what is written is what the vtk package reads."""

from __future__ import annotations

import builtins
import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError
from portpart.inputs.known import FORMATS
from portpart.inputs.reading import AMBIGUOUS, TETGEN
from tests.oracles import meshes as oracles

meshio = pytest.importorskip("meshio", reason="meshio reads and writes these files")

VTK_TYPES = {"vertex": 1, "line": 3, "triangle": 5, "quad": 9, "tetra": 10, "hexahedron": 12,
             "wedge": 13, "pyramid": 14, "triangle6": 22, "quad8": 23, "tetra10": 24,
             "hexahedron20": 25}
WEDGE = [0, 2, 1, 3, 5, 4]
"""VTK's order of the corners of a wedge, whose triangles are turned."""


def read_by_vtk(path: Path) -> tuple[list[tuple[int, list[int]]], np.ndarray, dict[str, Any]]:
    """Kinds and nodes of the cells, the points, and the data of cells and points by name."""
    vtk = pytest.importorskip("vtk", reason="judges files of VTK")
    numpy_of = pytest.importorskip("vtk.util.numpy_support").vtk_to_numpy
    kind = "PUnstructuredGrid" if path.suffix == ".pvtu" else "UnstructuredGrid"
    reader = getattr(vtk, f"vtkXML{kind}Reader")()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    assert reader.GetErrorCode() == 0
    count = grid.GetNumberOfCells()
    cells = []
    if count:
        offsets = numpy_of(grid.GetCells().GetOffsetsArray())
        nodes = numpy_of(grid.GetCells().GetConnectivityArray()).tolist()
        cells = [(grid.GetCellType(cell), nodes[offsets[cell] : offsets[cell + 1]])
                 for cell in range(count)]
    points = (numpy_of(grid.GetPoints().GetData()).copy() if grid.GetNumberOfPoints()
              else np.empty((0, 3)))
    data = {}
    for where, held in (("cell", grid.GetCellData()), ("point", grid.GetPointData())):
        for at in range(held.GetNumberOfArrays()):
            data[f"{where} {held.GetArrayName(at)}"] = numpy_of(held.GetArray(at)).copy()
    return cells, points, data


def as_vtk(kinds: list[str], rows: list[list[int]]) -> list[tuple[int, list[int]]]:
    return [(VTK_TYPES[kind], [row[at] for at in WEDGE] if kind == "wedge" else list(row))
            for kind, row in zip(kinds, rows, strict=True)]


def drawn(seed: int) -> tuple[np.ndarray, oracles.Blocks]:
    """A mesh of one of several sorts, and of some the boundary cells or nodes in the middle."""
    draw = np.random.default_rng(seed)
    nx, ny, nz = draw.integers(1, 4, 3).tolist()
    sort = seed % 5
    if sort == 0:
        return oracles.mixed_plane(seed, nx + 1, ny + 1)
    if sort == 1:
        return oracles.quadratic(*oracles.mixed_plane(seed, nx, ny))
    if sort == 2:
        points = draw.random((5 + 4 * nx, 3))
        simplices = oracles.delaunay(seed, len(points), 3)
        return oracles.quadratic(points, [("tetra", simplices)]) if nx == 1 else (
            points, [("triangle", simplices[:, :3]), ("tetra", simplices)])
    points, blocks = oracles.mixed_space(seed, nx, ny, nz)
    faces = np.concatenate([table[:, [0, 1]] for _, table in blocks])
    return points, [("line", faces), *blocks] if sort == 3 else blocks


@pytest.mark.parametrize("seed", range(100))
def test_vtk_reads_the_cells_and_ghosts_that_are_in_memory(seed: int, tmp_path: Path) -> None:
    points, blocks = drawn(seed)
    mesh = portpart.as_mesh(blocks, points=points)
    draw = np.random.default_rng(seed)
    k = int(draw.integers(1, 6))
    part = draw.integers(0, k, mesh.num_elements)
    portpart.io.write_mesh(mesh, tmp_path / "m.vtu", part, k=k)
    cells, at, data = read_by_vtk(tmp_path / "m.vtu")
    assert cells == as_vtk(oracles.kinds_of(blocks), oracles.elements_of(blocks))
    assert (at[:, : points.shape[1]] == points).all()
    assert data["cell block"].tolist() == np.concatenate(mesh.cell_data(part)).tolist()

    pieces = mesh.submeshes(part, int(draw.integers(0, 3)), k=k)
    written = portpart.io.write_submeshes(pieces, tmp_path / "p.pvtu")
    assert written == [str(tmp_path / f"p_{block}.vtu") for block in range(k)]
    together = read_by_vtk(tmp_path / "p.pvtu")
    begin = first = 0
    for name, piece in zip(written, pieces, strict=True):
        kinds = oracles.kinds_of([each[:2] for each in piece.mesh.cells or ()])
        rows = [piece.mesh.nodes[a:b].tolist()
                for a, b in zip(piece.mesh.offsets, piece.mesh.offsets[1:])]
        lower = [row for at, mine in piece.lower_cells.items()
                 for row in blocks[at][1][mine].tolist()]
        where = {node: local for local, node in enumerate(piece.nodes.tolist())}
        rows += [[where[node] for node in row] for row in lower]
        own, at, data = read_by_vtk(Path(name))
        assert own == as_vtk(kinds, rows)
        end, last = begin + len(own), first + len(at)
        assert together[0][begin:end] == [(kind, [first + node for node in row])
                                          for kind, row in own]
        assert (together[1][first:last] == at).all()
        assert (at[:, : points.shape[1]] == points[piece.nodes]).all()
        elements, nodes = piece.ghost_types
        assert elements.tolist() == [0] * piece.num_own + [1] * len(piece.owners)
        for which, values, of_lower in (
                ("cell vtkGhostType", elements, 0), ("cell GlobalElementId", piece.elements, -1),
                ("cell block", part[piece.elements], piece.block),
                ("point vtkGhostType", nodes, 0), ("point GlobalNodeId", piece.nodes, 0)):
            of_cells = which.startswith("cell")
            wanted = values.tolist() + [of_lower] * (len(lower) if of_cells else 0)
            if wanted:
                assert data[which].tolist() == wanted
            assert together[2][which][slice(begin, end) if of_cells
                                      else slice(first, last)].tolist() == wanted
        begin, first = end, last
    assert (begin, first) == (len(together[0]), len(together[1]))


@pytest.fixture
def wing(tmp_path: Path) -> str:
    """A file of Gmsh's: tetrahedra in two blocks, and triangles of their boundary."""
    points = np.random.default_rng(3).random((150, 3))
    cells = oracles.delaunay(3, 150, 3)
    tags = [np.full(len(each), at, np.int32)
            for at, each in enumerate((cells[:40], cells[:60], cells[60:]))]
    mesh = meshio.Mesh(points, [("triangle", cells[:40, 1:]), ("tetra", cells[:60]),
                                ("tetra", cells[60:])],
                       point_data={"T": points[:, 0]},
                       cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags})
    mesh.write(tmp_path / "wing.msh", file_format="gmsh22")
    return str(tmp_path / "wing.msh")


def test_a_file_of_another_program_is_a_mesh_and_a_graph(wing: str) -> None:
    mesh = portpart.io.read_mesh(wing)
    same = portpart.as_mesh(wing), portpart.as_mesh(meshio.read(wing))
    assert [each.nodes.tolist() for each in same] == [mesh.nodes.tolist()] * 2
    assert mesh.points is not None
    graph = portpart.io.read(wing)
    assert graph.targets.tolist() == mesh.dual_graph("face").targets.tolist()
    assert portpart.io.read(wing, common_nodes=1).num_edges == mesh.dual_graph(1).num_edges
    assert portpart.io.read(wing, "meshio", mesh="nodal").num_vertices == mesh.num_nodes
    assert portpart.partition(wing, 3).part.tolist() == portpart.partition(graph, 3).part.tolist()


def test_the_command_line_writes_all_cells_with_their_blocks(
    wing: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "wing.vtu"
    assert main(["mesh", wing, "-k", "4", "-o", str(output), "--json"]) == 0
    facts = json.loads(capfd.readouterr().out)
    mesh, result = portpart.io.read_mesh(wing), portpart.partition(wing, 4)
    assert (facts["cut"], facts["num_vertices"]) == (result.cut, mesh.num_elements)
    data = read_by_vtk(output)[2]
    assert data["cell block"].tolist() == np.concatenate(mesh.cell_data(result)).tolist()
    read, again = meshio.read(wing), meshio.read(output)
    assert data["point T"].tolist() == read.point_data["T"].tolist()
    assert [np.concatenate(each.cell_data["gmsh:physical"]).tolist() for each in (read, again)] == [
        data["cell gmsh:physical"].tolist()] * 2
    assert [len(each) for each in again.cell_data["block"]] == [len(each) for each in again.cells]


def test_the_command_line_writes_a_file_for_each_block(
    wing: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "o.pvtu"
    assert main(["mesh", wing, "-k", "3", "-o", str(output), "--ghosts", "2",
                 "--common-nodes", "3", "-q"]) == 0
    assert str(output) in capfd.readouterr().out
    mesh = portpart.io.read_mesh(wing)
    pieces = mesh.submeshes(portpart.partition(mesh.dual_graph(3), 3), 2)
    assert len(read_by_vtk(output)[0]) == 40 + sum(len(piece.elements) for piece in pieces)


def test_a_report_draws_the_elements_of_a_file_with_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    points, blocks = oracles.mixed_plane(1, 4, 4)
    mesh = portpart.as_mesh(blocks, points=points)
    part = np.arange(mesh.num_elements) * 2 // mesh.num_elements
    portpart.io.write_mesh(mesh, "m.vtu")
    portpart.io.write_partition(part, "m.part")
    assert main(["report", "m.vtu", "m.part", "--imbalance", "1"]) == 0
    assert f"{mesh.num_elements} elements in 2 blocks" in Path("report.html").read_text()


@pytest.mark.parametrize(("arguments", "words"), [
    (["-o", "o.msh"], "ends in .vtu or .pvtu"), (["-o", "o.vtu", "--ghosts", "1"], "is for .pvtu"),
    (["-o", "o.vtu", "--common-nodes", "9" * 5000], "neither a number of at least 1 nor 'face'"),
    (["-o", "missing/o.vtu"], "there is no folder"), ([], "Missing option"),
])
def test_the_command_line_refuses_what_it_cannot_write(
    wing: str, arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["mesh", wing, "-k", "2", *arguments]) == 2
    assert words in capfd.readouterr().err


def test_a_mesh_without_points_is_refused_before_the_work(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portpart.api.partition", None)
    (tmp_path / "a.mesh").write_text("1\n1 2 3\n")
    for output in ("o.vtu", "o.pvtu"):
        assert main(["mesh", str(tmp_path / "a.mesh"), "-k", "2", "-o",
                     str(tmp_path / output)]) == 2
        assert f"{tmp_path / 'a.mesh'}: the mesh has no points, which .vtu files have: " in (
            capfd.readouterr().err)


SQUARE = {"quad": [[0, 1, 2, 3]]}
CORNERS = [[0, 0], [1, 0], [1, 1], [0, 1]]
FACES = [[0, 1, 2], [0, 1, 3], [1, 2, 3], [2, 0, 3]]


@pytest.mark.parametrize(("mesh", "options", "words"), [
    (SQUARE, {}, "m.vtu: the mesh has no points"),
    (portpart.as_mesh([[0, 1, 2, 3]], points=CORNERS), {}, "m.vtu: the mesh has no kinds of"),
    (portpart.as_mesh({"tetra20": [list(range(20))]}, points=np.zeros((20, 3))), {},
     "meshio writes no .vtu file of this mesh.*whose cells are tetra20; its other formats may"),
    (portpart.as_mesh({"polyhedron4": [FACES]}, points=CORNERS), {}, "faces of polyhedra"),
    (portpart.as_mesh(SQUARE, points=CORNERS), {"part": [0, 1]}, "has 2 blocks for a mesh of 1"),
])
def test_what_no_file_of_vtk_can_hold_is_refused(
    mesh: Any, options: Any, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words):
        portpart.io.write_mesh(mesh, tmp_path / "m.vtu", **options)
    assert not list(tmp_path.iterdir())


def test_other_suffixes_and_blocks_in_metis_files_are_refused(tmp_path: Path) -> None:
    mesh = portpart.as_mesh(SQUARE, points=CORNERS)
    for call, words in (
            (lambda: portpart.io.write_mesh(mesh, tmp_path / "m.pvtu"), "write_submeshes writes"),
            (lambda: portpart.io.write_mesh(mesh, tmp_path / "m.mesh", [0]), "hold no blocks"),
            (lambda: portpart.io.write_submeshes(mesh.submeshes([0]), tmp_path / "m.vtu"),
             "names their files, and ends in .pvtu"),
            (lambda: portpart.io.write_submeshes([mesh], tmp_path / "m.pvtu"), "are no sub-meshes"),
            (lambda: portpart.io.read("-", "meshio"), "not standard input")):
        with pytest.raises(InputError, match=words):
            call()
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = portpart.as_mesh(SQUARE, points=CORNERS)
    portpart.io.write_mesh(mesh, tmp_path / "m.vtu", [0])
    old = (tmp_path / "m.vtu").read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        portpart.io.write_mesh(mesh, tmp_path / "m.vtu", [3], k=9)
    assert [path.name for path in tmp_path.iterdir()] == ["m.vtu"]
    assert (tmp_path / "m.vtu").read_bytes() == old


def test_files_of_blocks_are_replaced_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = portpart.as_mesh({"line": [[0, 1], [1, 2]]}, points=[[0], [1], [2]])
    portpart.io.write_submeshes(mesh.submeshes([0, 1]), tmp_path / "m.pvtu")
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(old) == {"m.pvtu", "m_0.vtu", "m_1.vtu"}
    pieces = mesh.submeshes([1, 0])
    object.__setattr__(pieces[1], "mesh", portpart.as_mesh([[0, 1], [1, 2]]))
    with pytest.raises(InputError, match=r"m\.pvtu: the mesh has no points"):
        portpart.io.write_submeshes(pieces, tmp_path / "m.pvtu")
    monkeypatch.setattr("portpart.formats.text.files.TEMPORARY", "missing/")
    with pytest.raises(InputError, match=r"m\.pvtu cannot be written: No such file"):
        portpart.io.write_submeshes(mesh.submeshes([1, 0]), tmp_path / "m.pvtu")
    monkeypatch.undo()
    with pytest.raises(InputError, match="two of the pieces are of block 1"):
        portpart.io.write_submeshes([*mesh.submeshes([1, 0]), pieces[1]], tmp_path / "m.pvtu")
    (tmp_path / "m_2.vtu").mkdir()
    with pytest.raises(InputError, match=r"m_2\.vtu cannot be written: a folder has this name"):
        portpart.io.write_submeshes(mesh.submeshes([1, 0], k=3), tmp_path / "m.pvtu")
    assert all((tmp_path / name).read_bytes() == old[name] for name in old)


def test_a_file_that_is_read_is_not_replaced_by_that_of_a_block(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mesh = portpart.as_mesh({"line": [[0, 1], [1, 2]]}, points=[[0], [1], [2]])
    portpart.io.write_mesh(mesh, tmp_path / "m_1.vtu")
    assert main(["mesh", str(tmp_path / "m_1.vtu"), "-k", "2", "-o", str(tmp_path / "m.pvtu")]) == 2
    assert "would be replaced by the file of a block" in capfd.readouterr().err


def test_a_file_that_names_others_is_told(tmp_path: Path) -> None:
    mesh = portpart.as_mesh({"line": [[0, 1], [1, 2]]}, points=[[0], [1], [2]])
    portpart.io.write_submeshes(mesh.submeshes([0, 1]), tmp_path / "m.pvtu")
    with pytest.raises(GraphFormatError, match="a VTK file that names others: read these"):
        portpart.io.read_mesh(tmp_path / "m.pvtu")
    assert portpart.io.read_mesh(tmp_path / "m_1.vtu").num_elements == 2


def test_all_polyhedra_are_partitioned_and_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    points, blocks = oracles.mixed_space(0, 2, 2, 1)
    cells = [(f"polyhedron{table.shape[1]}",
              [[row[[int(corner) for corner in face]] for face in oracles.FACES[kind]]
               for row in table]) for kind, table in blocks]
    meshio.Mesh(points, cells).write(tmp_path / "p.vtu")
    graph = portpart.io.read(tmp_path / "p.vtu")
    assert main(["mesh", str(tmp_path / "p.vtu"), "-k", "2", "-o", str(tmp_path / "o.vtu")]) == 0
    part = np.concatenate(meshio.read(tmp_path / "o.vtu").cell_data["block"])
    assert (len(part), set(part.tolist())) == (graph.num_vertices, {0, 1})
    assert main(["mesh", str(tmp_path / "p.vtu"), "-k", "2", "-o", str(tmp_path / "o.pvtu")]) == 2
    assert "a .vtu file of all cells with their blocks is written" in capfd.readouterr().err


def test_packed_files_of_vtk_are_the_same(tmp_path: Path) -> None:
    mesh = portpart.as_mesh(SQUARE, points=CORNERS)
    for name in ("m.vtu", "m.vtu.gz"):
        portpart.io.write_mesh(mesh, tmp_path / name, [0])
    assert gzip.decompress((tmp_path / "m.vtu.gz").read_bytes()) == (
        tmp_path / "m.vtu").read_bytes()
    with pytest.raises(GraphFormatError, match="unpack it first"):
        portpart.io.read_mesh(tmp_path / "m.vtu.gz")


BAD = {"a.msh": "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", "a.vtk": "# vtk DataFile Version 3.0\n",
       "a.vtu": '<VTKFile type="UnstructuredGrid">\n</VTKFile>\n', "a.xdmf": "<Xdmf",
       "a.inp": "*X\n", "a.ply": "", "a.su2": "NDIME= 3\n",
       "a.mesh": "MeshVersionFormatted 1\nTriangles\n9\n1 2"}


@pytest.mark.parametrize("name", BAD)
def test_what_meshio_cannot_read_is_an_error_of_the_file(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(BAD[name])
    with pytest.raises(GraphFormatError) as caught:
        portpart.io.read_mesh(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert capfd.readouterr() == ("", "")


def test_a_medit_mesh_is_read_under_the_suffix_of_metis(tmp_path: Path) -> None:
    meshio.Mesh(np.array(CORNERS, float), SQUARE).write(tmp_path / "a.mesh", file_format="medit")
    assert portpart.io.read_mesh(tmp_path / "a.mesh").nodes.tolist() == [0, 1, 2, 3]


def test_suffixes_are_those_of_meshio() -> None:
    known, ours = set(meshio.extension_to_filetypes), set(FORMATS["meshio"].suffixes)
    assert ours <= known
    assert not [name for name, entry in FORMATS.items() if name != "meshio"
                and ours & set(entry.suffixes)]
    packed_or_drawn = {".vol.gz", ".post.gz", ".dato.gz", ".svg"}
    assert known - ours - {".mesh"} - packed_or_drawn == {*TETGEN, *AMBIGUOUS}


def test_ambiguous_suffixes_go_by_the_content(tmp_path: Path) -> None:
    mesh = meshio.Mesh(np.array(CORNERS, float), SQUARE)
    mesh.write(tmp_path / "a.dat", file_format="tecplot")
    (tmp_path / "b.dat").write_text("% a mesh\n1\n1 2 3 4\n")
    (tmp_path / "b.other").write_text("1\n1 2 3 4\n")
    found = [portpart.io.read_mesh(tmp_path / name) for name in ("a.dat", "b.dat", "b.other")]
    assert [each.nodes.tolist() for each in found] == [[0, 1, 2, 3]] * 3
    assert [each.points is None for each in found] == [False, True, True]


def test_a_missing_meshio_is_named_with_its_extra(
    wing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "meshio":
            raise ImportError("No module named 'meshio'")
        return whole(name, *rest)

    monkeypatch.delitem(sys.modules, "meshio")
    monkeypatch.setattr(builtins, "__import__", without)
    for call in (portpart.io.read_mesh, portpart.io.read, portpart.as_mesh):
        with pytest.raises(InputError, match=r"need meshio: pip install 'portpart\[mesh\]'"):
            call(wing)
    (tmp_path / "a.other").write_text("1\n1 2 3 4\n")
    assert portpart.io.read_mesh(tmp_path / "a.other").num_elements == 1
