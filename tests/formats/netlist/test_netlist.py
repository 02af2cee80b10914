"""Netlists as graphs and hypergraphs, against plain loops; real files; blocks written per gate."""

from __future__ import annotations

import itertools
import json
import lzma
import re
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import portpart
from portpart import io as graph_io
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError
from portpart.formats.netlist.netlist import Netlist
from portpart.formats.netlist.verilog import parse_netlist
from portpart.formats.text.files import Source
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)
from tests.helpers.data_folder import DATA, require

GATES = ("NAND3", "DFF", "HA")
INPUTS = ("A1", "A2", "D", "CK")
OUTPUTS = ("ZN", "Q", "CO")
NETS = ["a", "b", "n1", "n_2", "\\n[1] ", "v[0]", "v[1]", "v[2]", "1'b0"]
HEADER = "module drawn (a, z);\n input a;\n output z;\n wire b, n1, n_2; wire [2:0] v;\n"


@dataclass(frozen=True)
class Drawn:
    """A drawn gate: its cell and the net of each of its ports."""

    cell: str
    pins: dict[str, str]


drawn_gates = st.lists(st.builds(
    Drawn, st.sampled_from(GATES),
    st.dictionaries(st.sampled_from(INPUTS + OUTPUTS), st.sampled_from([*NETS, "z"]), max_size=6),
), max_size=12)


def verilog_of(gates: list[Drawn], gap: str) -> str:
    text = HEADER
    for i, gate in enumerate(gates):
        pins = f",{gap}".join(f".{port}{gap}({net}{gap})" for port, net in gate.pins.items())
        text += f"{gate.cell}{gap} g{i}{gap} ({gap}{pins}{gap});{gap}\n"
    return text + "endmodule\n"


def named_pins(netlist: Netlist) -> dict[str, Counter]:
    found: dict[str, Counter] = {name: Counter() for name in netlist.gate_names}
    for net in range(netlist.num_nets):
        for p in range(netlist.net_offsets[net], netlist.net_offsets[net + 1]):
            gate = netlist.gate_names[netlist.net_gates[p]]
            found[gate][netlist.net_names[net], bool(netlist.net_drives[p])] += 1
    return found


@given(drawn_gates, st.sampled_from([" ", "\n\t", " // ;)\n", "/* ( */"]))
def test_what_is_written_is_read(gates: list[Drawn], gap: str) -> None:
    netlist = parse_netlist(Source("drawn.v", verilog_of(gates, gap).encode()))
    expected = {
        f"g{i}": Counter((net.strip().removeprefix("\\"), port in OUTPUTS)
                         for port, net in gate.pins.items() if net != "1'b0")
        for i, gate in enumerate(gates)}
    assert named_pins(netlist) == expected
    assert [netlist.cell_names[c] for c in netlist.gate_cells] == [gate.cell for gate in gates]


def net_vertices(netlist: Netlist, ports: bool) -> list[tuple[list[int], list[int]]]:
    """Vertices of each net and those that drive it, by plain loops."""
    nets = []
    for net in range(netlist.num_nets):
        pins = range(netlist.net_offsets[net], netlist.net_offsets[net + 1])
        vertices = {int(netlist.net_gates[p]) for p in pins}
        driving = {int(netlist.net_gates[p]) for p in pins if netlist.net_drives[p]}
        for i, place in enumerate(netlist.port_nets):
            if ports and place == net:
                vertices.add(netlist.num_gates + i)
                if netlist.port_directions[i] == "input":
                    driving.add(netlist.num_gates + i)
        nets.append((sorted(vertices), sorted(driving)))
    return nets


def edges_by_loops(netlist: Netlist, model: str, ports: bool, max_fanout: int | None) -> Counter:
    edges: Counter = Counter()
    inputs = {net for net, direction in zip(netlist.port_nets, netlist.port_directions)
              if direction == "input"}
    for net, (vertices, driving) in enumerate(net_vertices(netlist, ports)):
        if max_fanout is not None and len(vertices) > max_fanout + 1:
            continue
        if model == "clique":
            for u, v in itertools.combinations(vertices, 2):
                edges[u, v] += max(1, round(840 / (len(vertices) - 1)))
        elif driving or (vertices and (ports or net not in inputs)):
            centre = (driving or vertices)[0]
            for v in vertices:
                if v != centre:
                    edges[min(centre, v), max(centre, v)] += 1
    return edges


def edges_of(graph: Graph) -> Counter:
    oracles.assert_valid_graph(graph)
    return Counter({(u, v): w for u, v, w in oracles.arcs(graph) if u < v})


@given(drawn_gates, st.sampled_from(["star", "clique"]), st.booleans(),
       st.none() | st.integers(0, 5))
def test_graph_is_that_of_plain_loops(
    gates: list[Drawn], model: str, ports: bool, max_fanout: int | None
) -> None:
    netlist = parse_netlist(Source("drawn.v", verilog_of(gates, " ").encode()))
    graph = netlist.graph(model, ports=ports, max_fanout=max_fanout)
    assert edges_of(graph) == edges_by_loops(netlist, model, ports, max_fanout)
    assert graph.num_vertices == len(gates) + 2 * ports
    assert graph.total_vertex_weight == len(gates)
    offsets, pins = netlist.hypergraph(ports=ports, max_fanout=max_fanout)
    for net, (vertices, _) in enumerate(net_vertices(netlist, ports)):
        kept = vertices if max_fanout is None or len(vertices) <= max_fanout + 1 else []
        assert pins[offsets[net] : offsets[net + 1]].tolist() == kept


def test_unusable_models_are_refused() -> None:
    gates = "".join(f"INV g{i} (.A(rst));" for i in range(30_000))
    netlist = parse_netlist(Source("n.v", f"module m (input rst); {gates} endmodule".encode()))
    with pytest.raises(InputError, match=r"net 'rst' joins 30000 vertices: set max_fanout"):
        netlist.graph("clique")
    assert netlist.graph("clique", max_fanout=100).num_edges == 0
    with pytest.raises(InputError, match="unknown model 'tree'; known are star, clique"):
        netlist.graph("tree")
    with pytest.raises(InputError, match="max_fanout is -1"):
        netlist.graph(max_fanout=-1)
    assert repr(netlist) == "<Netlist m: 30,000 gates, 1 nets, 30,000 pins, 1 ports>"


# name: gates, nets, pins with ports, largest net: the last three with ports as vertices
REAL = {"tv80.v": (5285, 5317, 16652, 24), "ac97_ctrl.v.xz": (14341, 14435, 39161, 221)}


@pytest.mark.parametrize("name", REAL)
def test_real_netlist_has_the_counts_of_a_plain_search(name: str) -> None:
    """Counts, kinds and every net's pins, by regular expressions over the lines."""
    path = require(DATA / "netlists" / name)
    data = lzma.decompress(path.read_bytes()) if name.endswith(".xz") else path.read_bytes()
    text = data.decode()
    netlist = graph_io.read_netlist(path)
    lines = re.findall(r"^(\w+) (\w+) \( (\..*) \);$", text, re.MULTILINE)
    assert netlist.gate_names == [gate for _, gate, _ in lines]
    assert Counter(netlist.cell_names[cell] for cell in netlist.gate_cells) == Counter(
        cell for cell, _, _ in lines)
    assert netlist.num_pins == len(re.findall(r"\.\w+\(", text))
    ports = re.findall(r"^(input|output) (\w+);$", text, re.MULTILINE)
    assert Counter(netlist.port_directions) == Counter(direction for direction, _ in ports)
    assert set(netlist.net_names) == set(re.findall(r"^\w+ (\w+);$", text, re.MULTILINE))
    on_net = defaultdict(list)
    for _, gate, pins in lines:
        for net in re.findall(r"\((\w+)\)", pins):
            on_net[net].append(gate)
    bounds = itertools.pairwise(netlist.net_offsets)
    assert on_net == {
        net: [netlist.gate_names[gate] for gate in netlist.net_gates[begin:end]]
        for net, (begin, end) in zip(netlist.net_names, bounds) if end > begin}


@pytest.mark.parametrize("name", REAL)
def test_real_netlist_has_the_sizes_of_the_catalogue(name: str) -> None:
    gates, nets, pins, largest = REAL[name]
    netlist = graph_io.read_netlist(require(DATA / "netlists" / name))
    offsets, vertices = netlist.hypergraph(ports=True)
    assert (netlist.num_gates, len(offsets) - 1, len(vertices)) == (gates, nets, pins)
    assert np.diff(offsets).max() == largest


@pytest.mark.parametrize("name", REAL)
def test_every_net_of_a_real_netlist_has_one_driver(name: str) -> None:
    """The conventions about ports' names tell the driver of every net, and only one."""
    netlist = graph_io.read_netlist(require(DATA / "netlists" / name))
    drivers = np.bincount(netlist.gate_nets[netlist.gate_drives], minlength=netlist.num_nets)
    inputs = np.array(netlist.port_directions) == "input"
    drivers += np.bincount(netlist.port_nets[inputs], minlength=netlist.num_nets)
    assert (drivers == 1).all()


@pytest.mark.parametrize("model", ["star", "clique"])
def test_real_graph_is_that_of_plain_loops(model: str) -> None:
    netlist = graph_io.read_netlist(require(DATA / "netlists" / "tv80.v"))
    graph = netlist.graph(model, max_fanout=20)
    assert edges_of(graph) == edges_by_loops(netlist, model, ports=False, max_fanout=20)


names_and_blocks = st.dictionaries(
    st.from_regex(r"(\\\S+|[A-Za-z_][\w$]*)( \[[0-9]+\])?", fullmatch=True), st.integers(0, 99))


@given(names_and_blocks, st.randoms())
def test_named_partition_round_trip(blocks: dict[str, int], random: Random) -> None:
    names = list(blocks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part"
        graph_io.write_named_partition(names, list(blocks.values()), path)
        random.shuffle(names)
        part = graph_io.read_named_partition(path, names)
    assert dict(zip(names, part.tolist())) == blocks


@pytest.mark.parametrize(("text", "message"), [
    ("a 0\nc 1\n", "p:2: 'c' does not name a vertex"),
    ("a 0\n\nb\n", "p:3: '' does not name a vertex; expected a name and its block"),
    ("a 0\nb 1\na 0\n", "p:3: a second block for 'a'"),
    ("a 0\nb -1\n", "p:2: '-1' is not a block number"),
    ("a 0\nb x\n", "p:2: 'x' is not a block number"),
    ("a 99999999999\n", "p:1: '99999999999' is not a block number"),
    ("b 1\n", "p: no block for 'a'"),
])
def test_bad_named_partitions(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        graph_io.read_named_partition(tmp_path / "p", ["a", "b"])


def test_missing_names_may_be_free(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("b -1\nc 3\n")
    part = graph_io.read_named_partition(tmp_path / "p", ["a", "b", "c"], free=True)
    assert part.tolist() == [-1, -1, 3]
    with pytest.raises(InputError, match="2 names for 1 blocks"):
        graph_io.write_named_partition(["a", "b"], [0], tmp_path / "p")


CHAIN = "module chain (input n0, output n8);\n" + "".join(
    f"BUF g{i} (.A(n{i}), .Z(n{i + 1}));\n" for i in range(8)) + "endmodule\n"


@pytest.fixture
def chain(tmp_path: Path) -> str:
    path = tmp_path / "chain.v"
    path.write_text(CHAIN)
    return str(path)


def test_a_path_is_a_graph(chain: str) -> None:
    assert portpart.as_graph(chain).num_edges == 7
    assert portpart.partition(chain, 2).cut == 1


def test_commands_write_and_read_blocks_by_name(
    chain: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    part, fixed = str(tmp_path / "part"), tmp_path / "fixed"
    fixed.write_text("g7 0\n")
    assert main(["partition", chain, "-k", "2", "-o", part, "--names", "-q",
                 "--fixed", str(fixed)]) == 0
    lines = [line.split() for line in Path(part).read_text().splitlines()]
    assert [name for name, _ in lines] == [f"g{i}" for i in range(8)]
    assert [block for _, block in lines] == ["1"] * 4 + ["0"] * 4
    capsys.readouterr()
    assert main(["evaluate", chain, part, "--names", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cut"] == 1
    assert main(["partition", chain, "-k", "2", "-q", "--names", "--initial", part,
                 "-o", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "g0 1"


def test_names_need_a_format_that_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    edges, metis, part = tmp_path / "g.txt", tmp_path / "g.graph", tmp_path / "part"
    edges.write_text("70 5\n5 9\n9 70\n")
    assert main(["partition", str(edges), "-k", "3", "-q", "--names", "-o", str(part)]) == 0
    assert [line.split()[0] for line in part.read_text().splitlines()] == ["5", "9", "70"]
    metis.write_text("2 1\n2\n1\n")
    assert main(["partition", str(metis), "-k", "2", "--names"]) == 2
    assert "metis files do not name their vertices" in capsys.readouterr().err


def test_info_counts_a_netlist(chain: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["info", chain]) == 0
    assert "8 gates of 1 types, 9 nets of up to 2 gates, 16 pins, 2 ports" in (
        capsys.readouterr().out)
    assert main(["info", chain, "--json", "--max-fanout", "0"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["num_edges"], facts["netlist"]["module"]) == (0, "chain")
    assert facts["netlist"]["largest_net"] == 2


def test_a_netlist_converts_to_other_formats(chain: str, tmp_path: Path) -> None:
    target = tmp_path / "chain.graph"
    assert main(["convert", chain, str(target), "--model", "clique", "--top", "chain"]) == 0
    assert graph_io.read(target).weights.tolist() == [840] * 14


def test_a_file_name_is_no_netlist(chain: str) -> None:
    with pytest.raises(InputError, match=r"netlist is .*; portpart.io.read_netlist reads one"):
        graph_io.read_edits("trace.ops", chain)


@pytest.mark.parametrize("limit", ["3", 1.5])
def test_a_limit_of_nets_that_is_no_integer_is_refused(limit: Any, chain: str) -> None:
    for read in (graph_io.read, graph_io.read_hypergraph):
        with pytest.raises(InputError, match=r"max_fanout is .*; it must be an integer"):
            read(chain, max_fanout=limit)
