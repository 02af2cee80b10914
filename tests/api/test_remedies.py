"""What messages advise: each remedy that one names does what it is named for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse as sp

import portpart
from portpart.cli import main
from tests import oracles
from tests.oracles import nets as net_oracles

ROOT = Path(__file__).resolve().parents[2]
GRID = portpart.generators.grid_2d(4, 4)
NETS = portpart.as_hypergraph([[0, 1, 2], [2, 3]])

MESHES = {
    "m.vtu": '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="0.1">\n</VTKFile>\n',
    "headless.vtu": '<VTKFile type="UnstructuredGrid">\n</VTKFile>\n',
    "noted.vtu": '<?xml version="1.0"?>\n<!-- by a\nprogram -->\n<VTKFile>\n</VTKFile>\n',
    "m.xdmf": '<?xml version="1.0"?>\n<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" []>\n<Xdmf Version="3.0">\n',
    "m.inp": "*HEADING\nan Abaqus mesh\n*NODE\n1, 0., 0.\n",
    "noted.inp": "** written by a program\n** twice\n*Node, nset=all\n1, 0., 0.\n",
    "m.vtk": "# vtk DataFile Version 3.0\n",
    "m.msh": "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n",
}


def message_of(call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(portpart.PortpartError) as caught:
        call(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("name", MESHES)
def test_meshes_of_other_programs_go_through_meshio(name: str, tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text(MESHES[name])
    for call in (portpart.as_mesh, portpart.as_graph, portpart.io.read_hypergraph):
        assert "portpart.io.read_mesh reads it by meshio, if its name has the suffix" in message_of(
            call, tmp_path / "m.txt")


@pytest.mark.parametrize("text", ['<?xml version="1.0"?>\n<graphml>\n', "<gexf version='1.2'>\n"])
def test_graphs_of_xml_still_go_through_networkx(text: str, tmp_path: Path) -> None:
    (tmp_path / "g.xml").write_text(text)
    assert "with networkx" in message_of(portpart.as_graph, tmp_path / "g.xml")


def test_a_graph_becomes_the_hypergraph_that_the_message_names() -> None:
    assert "portpart.as_hypergraph(graph.to_scipy(), diagonal=True)" in message_of(
        portpart.as_hypergraph, GRID)
    nets = portpart.as_hypergraph(GRID.to_scipy(), diagonal=True)
    part = np.arange(16) // 4
    volume = sum(oracles.communication_volumes(GRID, part, 4))
    assert net_oracles.values(nets, part)["km1"] == volume


def test_neighbours_of_nets_in_a_networkx_graph_are_nets() -> None:
    graph = networkx.Graph([("n", "a"), ("n", "b"), ("m", "b"), ("m", "c")])
    assert "[list(graph[net]) for net in nets]" in message_of(portpart.as_hypergraph, graph)
    made = portpart.as_hypergraph([list(graph[net]) for net in ("n", "m")])
    assert (made.names, made.net_pins.tolist()) == (["a", "b", "c"], [0, 1, 1, 2])


def test_neighbours_of_nets_in_an_igraph_graph_are_nets() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 3), (1, 3), (1, 4), (2, 4)])
    assert "[graph.neighbors(net) for net in nets]" in message_of(portpart.as_hypergraph, graph)
    made = portpart.as_hypergraph([graph.neighbors(net) for net in (3, 4)])
    assert made.net_pins.tolist() == [0, 1, 1, 2]


def test_rows_of_several_lengths_are_nets_or_neighbours() -> None:
    message = message_of(portpart.partition, [[0, 1, 2], [2, 3]], 2)
    assert message.startswith("rows of 2 to 3 entries are not a list of edges")
    assert "portpart.as_hypergraph(rows)" in message
    assert "inhomogeneous" not in message


def test_a_rectangular_matrix_is_a_hypergraph(tmp_path: Path) -> None:
    matrix = sp.csr_array(np.array([[1, 1, 0, 1], [0, 1, 1, 0]]))
    assert "portpart.as_hypergraph(matrix)" in message_of(portpart.partition, matrix, 2)
    file = tmp_path / "rect.mtx"
    file.write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 3\n1 1\n1 2\n2 3\n")
    assert 'model="row-net"' in message_of(portpart.partition, file, 2)
    made = portpart.as_hypergraph(file, model="row-net")
    assert (made.num_vertices, made.num_nets) == (3, 2)


@pytest.mark.parametrize("arguments", [["--format", "slurm"], ["--format", "hmetis"]])
def test_a_format_that_cannot_be_mapped_is_told_with_those_of_graphs(
        arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    portpart.io.write(GRID, tmp_path / "g.graph")
    command = ["map", str(tmp_path / "g.graph"), "-H", "2:2", "-D", "1:10"]
    assert main([*command, *arguments]) == 2
    told = capsys.readouterr().err
    assert f"'{arguments[1]}' is no format of graphs; known are metis, matrix-market" in told
    assert "patoh" not in told
    assert main(["map", "n.hgr", *command[2:]]) == 2
    assert "n.hgr is a hypergraph; only graphs can be mapped" in capsys.readouterr().err


@pytest.mark.parametrize("command", [
    ["partition", "{}", "-k", "2"], ["info", "{}"]])
def test_an_unknown_format_is_told_with_those_of_graphs(
        command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    portpart.io.write(GRID, tmp_path / "g.graph")
    named = [word.format(tmp_path / "g.graph") for word in command]
    assert main([*named, "--format", "slurm"]) == 2
    told = capsys.readouterr().err
    assert "unknown format 'slurm'; graphs have metis, matrix-market, edge-list" in told


@pytest.mark.parametrize("weights", [(w for w in [1, 2]), iter([1, 2]), {1, 2}])
def test_weights_that_are_no_sequence_are_named(weights: Any) -> None:
    for name in ("vertex_weights", "net_weights"):
        message = message_of(portpart.as_hypergraph, [[0, 1]], **{name: weights})
        assert message.startswith(name)
        assert "a list is needed" in message
        assert "pin" not in message


def test_the_objective_that_pymetis_calls_vol_is_named() -> None:
    pymetis = pytest.importorskip("portpart.compat.pymetis")
    options = pymetis.Options(objtype=pymetis.ObjType.VOL)
    message = message_of(pymetis.part_graph, 2, adjacency=[[1], [0]], options=options)
    assert 'portpart.partition(graph, nparts, objective="volume")' in message
    assert portpart.partition(GRID, 2, objective="volume").volume is not None


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("arguments", [
    ["info", "{}"], ["partition", "{}", "-k", "2", "-o", "-", "-q"], ["info", "{}", "--json"]])
def test_a_full_disk_names_what_was_written(arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "g.graph"
    portpart.io.write(GRID, file)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "portpart", *(word.format(file) for word in arguments)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "portpart: error: standard output cannot be written: No space left on device")


def test_a_session_says_whose_weights_pass_its_limit() -> None:
    session = portpart.Session(GRID, 2)
    batch = session.batch()
    batch.insert_edges([0], [15], weights=[2**61])
    message = message_of(session.apply, batch)
    assert "edges, counted at both ends," in message
    assert "above the limit of 2**62" in message


def test_a_graph_of_no_vertices_has_an_empty_picture() -> None:
    figure = pytest.importorskip("matplotlib.figure")
    empty = portpart.from_edges([], num_vertices=0)
    drawn = portpart.plot.graph(empty, ax=figure.Figure().add_subplot())
    assert drawn.get_title() == "0 vertices"
    portpart.plot.quotient(empty, [], ax=figure.Figure().add_subplot())
    assert "k= says" in message_of(portpart.plot.report, empty, [])
