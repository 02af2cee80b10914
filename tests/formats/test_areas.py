"""Areas of cells and nodes as weights: whole, or with a decimal point."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError

VERILOG = """module m (input a, output z);
  INV u1 (.A(a), .ZN(n1)); NAND2 u2 (.A(n1), .B(a), .ZN(n2)); INV u3 (.A(n2), .ZN(z));
endmodule
"""
BLIF = (".model m\n.inputs a\n.outputs z\n.gate INV A=a O=n1\n.gate NAND2 A=n1 B=a O=n2\n"
        ".gate INV A=n2 O=z\n.end\n")
AREAS = "# library\nINV 0.532  # smallest\n\nNAND2 1.8\nSPARE 2.50\n"
WEIGHTS = [532, 1800, 532]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"m.v": VERILOG, "m.blif": BLIF, "areas": AREAS}.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", ["m.v", "m.blif"])
def test_gates_weigh_the_area_of_their_cell(name: str, folder: Path) -> None:
    """In units of the smallest decimal place of the file, exactly."""
    read = portpart.io.read(name, areas="areas")
    assert read.vertex_weights.tolist() == WEIGHTS
    assert WEIGHTS == [int(Decimal(area) * 1000) for area in ("0.532", "1.8", "0.532")]
    assert portpart.io.read_named(name, areas="areas").graph.vertex_weights.tolist() == WEIGHTS
    nets = portpart.io.read_hypergraph(name, areas="areas", ports=True)
    assert nets.vertex_weights.tolist() == [*WEIGHTS, 0, 0]
    netlist = portpart.io.read_netlist(name)
    assert netlist.areas_of_gates({"INV": 2, "NAND2": 5}).tolist() == [2, 5, 2]
    assert netlist.graph(areas={"INV": 2, "NAND2": 5}, ports=True).vertex_weights.tolist() == [
        2, 5, 2, 0, 0]


@pytest.mark.parametrize("model", ["star", "hypergraph"])
def test_every_command_that_reads_a_netlist_takes_areas(
        model: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    areas = ["--model", model, "--areas", "areas"]
    assert main(["info", "m.v", "--json", *areas]) == 0
    assert json.loads(capsys.readouterr().out)["vertex_weights"] == {
        "min": 532, "max": 1800, "total": sum(WEIGHTS)}
    loose = [*areas, "--imbalance", "60%"]
    assert main(["partition", "m.v", "-k", "2", "-o", "m.part", "--json", *loose]) == 0
    told = json.loads(capsys.readouterr().out)
    part = np.array(Path("m.part").read_text().split(), int)
    assert told["block_weights"] == np.bincount(part, WEIGHTS).astype(int).tolist()
    assert main(["repartition", "m.v", "m.part", "-k", "2", "--json", *loose]) == 0
    assert json.loads(capsys.readouterr().out)["block_weights"] == told["block_weights"]
    assert main(["evaluate", "m.v", "m.part", "--json", *loose]) == 0
    assert json.loads(capsys.readouterr().out)["block_weights"] == told["block_weights"]
    out = "out.hgr" if model == "hypergraph" else "out.graph"
    assert main(["convert", "m.v", out, *areas]) == 0
    read = portpart.io.read_hypergraph if model == "hypergraph" else portpart.io.read
    assert read(out).vertex_weights.tolist() == WEIGHTS


def test_a_replay_weighs_gates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A larger cell makes its block heavier; without areas it is one gate like any other."""
    Path("m.ops").write_text("repower_gate u1 SPARE\n")
    replay = ["replay", "m.v", "m.ops", "-k", "2", "--rounds", "1", "--imbalance", "2", "--json"]
    imbalances = []
    for areas in ([], ["--areas", "areas"]):
        assert main([*replay, *areas]) == 0
        imbalances.append(json.loads(capsys.readouterr().out)["imbalance"])
    assert imbalances[0] != imbalances[1]
    edits = portpart.io.read_edits("m.ops", portpart.io.read_netlist("m.v"), areas="areas")
    assert edits.graph().vertex_weights.tolist() == [*WEIGHTS, 0, 0]


@pytest.mark.parametrize(("text", "message"), [
    ("INV\n", "areas:1: expected a cell and its area, such as 'NAND2 0.798'"),
    ("INV 1\nNAND2 x\n", "areas:2: expected"), ("INV -1\n", "areas:1: expected"),
    ("INV 1e3\n", "areas:1: expected"), ("INV 1\nNAND2 2\nINV 3\n", "areas:3: a second area of "),
    ("INV 9999999999.999999999\nNAND2 1\n", "areas:1: the area of .INV., times 1000000000, "),
])
def test_files_of_areas_that_are_wrong(text: str, message: str, folder: Path) -> None:
    Path("areas").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        portpart.io.read("m.v", areas="areas")


def test_a_cell_without_an_area_is_named_with_the_nearest(folder: Path) -> None:
    Path("areas").write_text("INV 1\nNAND3 2\n")
    with pytest.raises(InputError, match="areas has no cell 'NAND2'; did you mean 'NAND3'"):
        portpart.io.read_hypergraph("m.v", areas="areas")
    with pytest.raises(InputError, match="areas does not apply to metis-mesh files"):
        portpart.io.read("m.v", "metis-mesh", areas="areas")


NODES = "UCLA nodes 1.0\nNumNodes : 4\nNumTerminals : 1\na 3.5 12\nb 1.25 0.4\nc 2 3\nd terminal\n"
NETS = "UCLA nets 1.0\nNumNets : 1\nNumPins : 4\nNetDegree : 4 n1\na I\nb O\nc B\nd I\n"


def test_sizes_of_nodes_may_have_decimals(folder: Path) -> None:
    """42, 0.5, 6 and 1: ten times that are the smallest whole numbers by a power of ten."""
    Path("x.nets").write_text(NETS)
    Path("x.nodes").write_text(NODES)
    made = portpart.io.read_hypergraph("x.nets", areas="x.nodes")
    assert made.vertex_weights.tolist() == [420, 5, 60, 10]
    assert made.net_names == ["n1"]
    Path("x.wts").write_text("UCLA wts 1.0\nc 7\nn1 3\n")
    Path("x.aux").write_text("PartProb : x.nets x.nodes x.wts\n")
    made = portpart.io.read_hypergraph("x.aux")
    assert made.vertex_weights.tolist() == [420, 5, 70, 10]
    assert made.net_weights.tolist() == [3]
    Path("x.wts").write_text(f"UCLA wts 1.0\nc {10**18 - 1}\n")
    with pytest.raises(GraphFormatError, match="times 10 as the areas of nodes, is above"):
        portpart.io.read_hypergraph("x.aux")


def test_whole_sizes_are_as_they_are(folder: Path) -> None:
    Path("x.nets").write_text(NETS)
    Path("x.nodes").write_text(NODES.replace("3.5 12", "3.0 12").replace("1.25 0.4", "2.5 0.4"))
    made = portpart.io.read_hypergraph("x.nets", areas="x.nodes")
    assert made.vertex_weights.tolist() == [36, 1, 6, 1]
