"""Traces of edits of netlists, against a netlist of plain dictionaries; messages; real traces."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import io as graph_io
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.errors import GraphFormatError, InputError
from portpart.formats.netlist.edits import NetlistEdits
from portpart.formats.netlist.verilog import parse_netlist
from portpart.formats.text.files import Source
from tests.helpers import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)
from tests.helpers.data_folder import DATA, require

VERILOG = """module m (a, b, \\c[0] , z);
input a, b, \\c[0] ; output z; wire n1, n2;
NAND u1 (.A(a), .B(n2), .ZN(n1));
NAND u2 (.A(n1), .B(n1), .ZN(n2));
BUF \\x.y  (.A(n2), .Z(z));
FA u4 (.A(a), .B(b), .CO(n3), .S(n4));
DFF u5 (.D(n4), .CK(\\c[0] ), .Q(n3));
BOX u6 (.P(n1));
endmodule
"""
CELLS = {"NAND": ("A", "B", "ZN"), "BUF": ("A", "Z"), "FA": ("A", "B", "CO", "S")}
OUTPUTS = {"ZN", "Z", "CO", "S", "Q"}
MODELS = ("hypergraph", "star")


class Model:
    """A netlist of names: the net of each pin."""

    def __init__(self) -> None:
        netlist = parse_netlist(Source("m.v", VERILOG.encode()))
        self.order = [*netlist.gate_names, *netlist.port_names]
        self.alive = list(self.order)
        self.free: dict[str, list[str]] = {"gate": [], "net": []}
        self.cell_of: dict[str, str] = {}
        self.nets = list(netlist.net_names)
        self.pins: dict[tuple[str, str], str] = {}
        for g, name in enumerate(netlist.gate_names):
            self.cell_of[name] = netlist.cell_names[netlist.gate_cells[g]]
            for p in range(netlist.gate_offsets[g], netlist.gate_offsets[g + 1]):
                label = netlist.label_names[netlist.gate_labels[p]]
                self.pins[name, label] = netlist.net_names[netlist.gate_nets[p]]
        self.ports = dict(zip(netlist.port_names, netlist.port_directions))
        for port, net in zip(netlist.port_names, netlist.port_nets):
            self.pins[port, ""] = netlist.net_names[net]

    def drives(self, name: str, label: str) -> bool:
        return self.ports[name] == "input" if name in self.ports else label in OUTPUTS

    def on(self, net: str) -> list[str]:
        """Vertices on a net, those that drive it first, else in the order of their birth."""
        drive = {name: False for (name, _), on in self.pins.items() if on == net}
        for (name, label), on in self.pins.items():
            drive[name] = drive.get(name, False) or (on == net and self.drives(name, label))
        return sorted((name for (name, _), on in self.pins.items() if on == net),
                      key=lambda name: (not drive[name], self.order.index(name)))

    def rows(self) -> list[list[int]]:
        """Pins of each net as places among the living."""
        return [sorted({self.alive.index(name) for name in self.on(net)}) for net in self.nets]

    def stars(self) -> Counter[tuple[int, ...]]:
        found: Counter[tuple[int, ...]] = Counter()
        for net in self.nets:
            on = list(dict.fromkeys(self.on(net)))
            found.update(tuple(sorted(map(self.alive.index, (on[0], other)))) for other in on[1:])
        return found

    def step(self, random: Random, number: int) -> str:
        """Draw a command and carry it out."""
        gates = [name for name in self.alive if name not in self.ports]
        command = random.choice(["insert_gate", "insert_net", *["connect_pin"] * 6,
                                 *["disconnect_pin"] * 3, "remove_gate", "remove_net"])
        if command == "insert_gate":
            name, cell = self.new_name(random, "gate", f"g{number}"), random.choice(sorted(CELLS))
            self.alive.append(name)
            self.order.append(name)
            self.cell_of[name] = cell
            return f"insert_gate {name} {cell}"
        if command == "insert_net":
            self.nets.append(self.new_name(random, "net", f"w{number}"))
            return f"insert_net {self.nets[-1]}"
        if command == "connect_pin" and self.nets:
            return self.connect(random)
        if command == "disconnect_pin" and self.pins:
            name, label = random.choice(sorted(self.pins))
            del self.pins[name, label]
            return f"disconnect_pin {name}:{label}".rstrip(":")
        if command == "remove_gate" and gates:
            name = random.choice(gates)
            self.alive.remove(name)
            self.order.remove(name)
            self.free["gate"].append(name)
            self.pins = {pin: net for pin, net in self.pins.items() if pin[0] != name}
            return f"remove_gate {name}"
        if command == "remove_net" and self.nets:
            net = random.choice(self.nets)
            self.nets.remove(net)
            self.free["net"].append(net)
            self.pins = {pin: on for pin, on in self.pins.items() if on != net}
            return f"remove_net {net}"
        return "# nothing"

    def new_name(self, random: Random, kind: str, name: str) -> str:
        """A name, or one of a gate or a net that is gone."""
        free = self.free[kind]
        return free.pop(random.randrange(len(free))) if free and random.random() < 0.5 else name

    def connect(self, random: Random) -> str:
        name, net = random.choice(self.alive), random.choice(self.nets)
        label = ""
        if name not in self.ports:
            label = random.choice(CELLS.get(self.cell_of[name], ("A", "Q")))
        self.pins[name, label] = net
        return f"connect_pin {name}:{label} {net}".replace(": ", " ")


def edits_of(text: str, folder: Path, **options: Any) -> NetlistEdits:
    (folder / "m.v").write_text(VERILOG)
    (folder / "m.ops").write_text(text)
    return graph_io.read_edits(folder / "m.ops", graph_io.read_netlist(folder / "m.v"), **options)


def editable(edits: NetlistEdits, named: bool = True) -> Any:
    graph: Any = edits.graph()
    if not named:
        graph = replace(graph, names=None, **({"net_names": None} if edits.model != "star" else {}))
    return (EditableGraph if edits.model == "star" else EditableHypergraph)(graph)


def play(edits: NetlistEdits, edited: Any, lines: range) -> None:
    batch = edited.batch()
    edits.play(lines, batch)
    edited.apply(batch)


def found(edited: Any) -> Any:
    """Rows of a hypergraph, or the edges of a graph and their weights."""
    if isinstance(edited, EditableHypergraph):
        nets = edited.hypergraph()
        rows = np.split(nets.net_pins, nets.net_offsets[1:-1])  # one even if there is no net
        return [row.tolist() for row in rows[: nets.num_nets]]
    matrix = edited.graph().to_scipy().tocoo()
    return {(int(u), int(v)): int(w)
            for u, v, w in zip(matrix.row, matrix.col, matrix.data) if u < v}


@pytest.mark.parametrize("named", [True, False], ids=["names", "no names"])
@pytest.mark.parametrize("model", MODELS)
@given(seed=st.integers(0, 2**32), rounds=st.integers(1, 4))
@settings(max_examples=60)
def test_rounds_give_what_the_netlist_is_by_then(
    model: str, named: bool, seed: int, rounds: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Pins, ports and nets that come and go, gates with two pins on a net, drivers that change.

    Names of gates and nets that are gone are taken by others, in the same round, too.
    """
    random, plain = Random(seed), Model()
    pieces, expected = [], []
    for number in range(rounds):
        pieces.append([plain.step(random, 100 * number + i) for i in range(random.randrange(12))])
        expected.append((dict(plain.stars()) if model == "star" else plain.rows(),
                         list(plain.alive), list(plain.nets)))
    text = "\nreport_slack x\nread_spef y\n\n".join(map("\n".join, pieces))
    edits = edits_of(text, tmp_path_factory.mktemp("trace"), model=model)
    edited = editable(edits, named)
    lengths = [sum(line[0] != "#" for line in piece) for piece in pieces]
    natural = edits.rounds("natural")
    assert [len(lines) for lines in natural] == [length for length in lengths if length]
    for lines, (wanted, gates, nets) in zip(
            natural, [state for state, length in zip(expected, lengths) if length]):
        play(edits, edited, lines)
        assert found(edited) == wanted
        for kind, names in zip(edited.tables, (gates, nets)):
            assert kind.existing_names() == (names if named else None)
    assert [edits.vertex_names[i] for i in np.argsort(edits.vertex_ids)
            if edits.vertex_ids[i] in edited.ids] == plain.alive


@pytest.mark.parametrize("model", MODELS)
def test_batches_take_the_names_of_a_trace(model: str, tmp_path: Path) -> None:
    """Between rounds a session edits gates and ports by name; its parts and files have them."""
    edits = edits_of("insert_gate g BUF\nconnect_pin g:A n1\nremove_gate g\ninsert_gate g FA\n"
                     "insert_net u1\nconnect_pin g:A u1\nconnect_pin u2:A u1\nread_spef\n"
                     "remove_gate g\ninsert_gate g NAND\nconnect_pin g:A u1\n",
                     tmp_path, model=model)
    session = portpart.Session(edits.graph(), 2, imbalance=1)
    assert session.labels == edits.vertex_names[:10] == session.graph().names
    first, second = edits.rounds("natural")
    batch = session.batch()
    edits.play(first, batch)
    session.apply(batch)
    assert session.ids_of("g").tolist() == [11]
    batch = session.batch()
    batch.set_vertex_weights(["g", "c[0]"], [7, 2])
    session.apply(batch)
    assert session.graph().vertex_weights.tolist()[-4:] == [1, 2, 1, 7]
    batch = session.batch()
    edits.play(second, batch)
    session.apply(batch)
    assert session.ids_of(["g", "z"]).tolist() == [12, 9]
    session.save(tmp_path / "session.npz")
    assert portpart.Session.load(tmp_path / "session.npz").labels == session.labels
    if model == "hypergraph":
        assert session.net_labels == session.graph().net_names
        assert session.net_labels[-1] == "u1"


def test_a_port_with_the_name_of_a_gate_gets_another(tmp_path: Path) -> None:
    """Gates of BLIF are called by the nets that they drive, output ports among them."""
    (tmp_path / "m.blif").write_text(
        ".model m\n.inputs a z_\n.outputs z\n.names a z_ z\n11 1\n.end")
    (tmp_path / "m.ops").write_text("insert_gate a BUF\n")
    edits = graph_io.read_edits(tmp_path / "m.ops", graph_io.read_netlist(tmp_path / "m.blif"))
    assert edits.vertex_names == ["z", "a", "z_", "z", "a"]
    edited = editable(edits)
    play(edits, edited, edits.rounds(1)[0])
    assert edited.vertices.labels() == ["z", "a_", "z_", "z__", "a"]


def test_rounds_of_equal_length_count_structural_lines(tmp_path: Path) -> None:
    """Lines that weigh gates belong to the round of the line before them."""
    lines = [f"insert_net w{i}\nrepower_gate u1 BUF" for i in range(10)]
    edits = edits_of("repower_gate u2 BUF\n" + "\n".join(lines), tmp_path)
    assert edits.rounds(4) == [range(5), range(5, 11), range(11, 15), range(15, 21)]
    assert (len(edits.rounds(30)), sum(map(len, edits.rounds(30)))) == (30, 21)
    assert edits.rounds(1) == edits.rounds("natural") == [range(21)]
    for wrong in (0, "half", 2.5):
        with pytest.raises(InputError, match="rounds"):
            edits.rounds(wrong)


def test_rounds_are_played_in_order(tmp_path: Path) -> None:
    edits = edits_of("insert_net w1\ninsert_net w2", tmp_path)
    edited, rounds = editable(edits), edits.rounds(2)
    with pytest.raises(InputError, match="begins with edit 1; edit 0 is the next one"):
        edits.play(rounds[1], edited.batch())


def test_ids_are_those_that_the_batch_gives(tmp_path: Path) -> None:
    """Others may have inserted gates and nets in between."""
    edits = edits_of("insert_gate g BUF\ninsert_net w\nconnect_pin g:A w", tmp_path)
    edited = editable(edits)
    batch = edited.batch()
    batch.insert_vertices(count=5)
    batch.insert_nets([0, 0], [])
    edited.apply(batch)
    batch = edited.batch()
    edits.play(edits.rounds(1)[0], batch)
    edited.apply(batch)
    number = edits.vertex_names.index("g")
    assert edits.vertex_ids[number] == number + 5
    assert found(edited)[-2:] == [[], [number + 5]]


def test_gates_weigh_their_cells(tmp_path: Path) -> None:
    areas = {"NAND": 4, "BUF": 3, "FA": 9, "DFF": 20, "BOX": 0}
    text = "insert_gate g FA\nrepower_gate u1 BUF\nrepower_gate g DFF"
    for model in MODELS:
        edits = edits_of(text, tmp_path, areas=areas, model=model)
        edited = editable(edits)
        before = edited.vertices.weights_of_all().tolist()
        assert before == [4, 4, 3, 9, 20, 0, 0, 0, 0, 0]
        batch = edited.batch()
        edits.play(edits.rounds(1)[0], batch)
        edited.apply(batch)
        assert edited.vertices.weights_of_all().tolist() == [3, *before[1:], 20]
    with pytest.raises(InputError, match="areas has no cell 'FA'"):
        edits_of(text, tmp_path, areas={"NAND": 1, "BUF": 1})


@pytest.mark.parametrize(("line", "problem"), [
    ("move_gate u1", "'move_gate' is no edit; known are insert_gate"),
    ("insert_gate u9", "insert_gate has 1 names; it takes GATE CELL"),
    ("insert_gate u1 BUF", "there is a gate 'u1' already; remove it first"),
    ("insert_gate x.y BUF", "there is a gate 'x.y' already"),
    ("insert_net n1", "there is a net 'n1' already"),
    ("remove_gate a", "there is no gate 'a'; does the trace belong to this netlist?"),
    ("remove_net n9", "there is no net 'n9'"),
    ("connect_pin u1 n1", "there is no port 'u1', and a pin is GATE:PORT"),
    ("connect_pin u1:A n9", "there is no net 'n9'"),
    ("connect_pin u9:A n1", "there is no gate 'u9'"),
    ("disconnect_pin u1:C", "pin 'u1:C' is on no net"),
    ("disconnect_pin a\ndisconnect_pin a", "pin 'a' is on no net"),
])
def test_messages_name_file_and_line(line: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError) as caught:
        edits_of(f"# a trace\ninsert_net w1\n\n{line}\n", tmp_path)
    assert f"m.ops:{4 + line.count(chr(10))}: {problem}" in str(caught.value)


def test_pins_of_buses_are_refused_where_a_trace_touches_them(tmp_path: Path) -> None:
    (tmp_path / "v.v").write_text("module m (input [1:0] d); RAM u (.D(d)); BUF w (.A(d[0]));"
                                  "endmodule")
    netlist = graph_io.read_netlist(tmp_path / "v.v")
    for name, wanted in (("w:A", ""), ("d[1]", ""), ("u:D", "'u' has a port of several bits")):
        (tmp_path / "v.ops").write_text(f"disconnect_pin {name}")
        if wanted:
            with pytest.raises(GraphFormatError, match=wanted):
                graph_io.read_edits(tmp_path / "v.ops", netlist)
        else:
            graph_io.read_edits(tmp_path / "v.ops", netlist)
    with pytest.raises(InputError, match="unknown model 'clique'; known are hypergraph, star"):
        graph_io.read_edits(tmp_path / "v.ops", netlist, model="clique")


def test_touched_are_the_ends_of_pins_and_who_comes_or_goes(tmp_path: Path) -> None:
    lines = ["insert_net w", "connect_pin u1:A w", "repower_gate u2 BUF", "remove_net n3",
             "insert_gate g BUF", "disconnect_pin z"]
    edits = edits_of("\n".join(lines), tmp_path)
    names = [[edits.vertex_names[v] for v in edits.touched(range(i, i + 1))] for i in range(6)]
    assert names == [[], ["u1"], [], ["u4", "u5"], ["g"], ["z"]]


@pytest.mark.parametrize(("text", "pins"), [
    ("aag 4 2 1 1 1\n2\n4\n6 8\n8\n8 2 6\n", ["a4:A", "a4:B", "a4:Y", "l0:D", "l0:Y"]),
    (".model m\n.inputs p q\n.outputs r\n.gate nand A=p B=q O=r\n.end\n",
     ["nand_1:A", "nand_1:B", "nand_1:O"]),
], ids=["AIGER", "BLIF"])
def test_pins_of_other_netlists_have_names(text: str, pins: list[str], tmp_path: Path) -> None:
    """Without them nothing is left but the ports."""
    (tmp_path / "n").write_text(text)
    netlist = graph_io.read_netlist(tmp_path / "n")
    (tmp_path / "n.ops").write_text("\n".join(f"disconnect_pin {pin}" for pin in pins))
    edits = graph_io.read_edits(tmp_path / "n.ops", netlist)
    edited = editable(edits)
    batch = edited.batch()
    edits.play(edits.rounds(1)[0], batch)
    edited.apply(batch)
    assert {pin for row in found(edited) for pin in row} == set(
        range(netlist.num_gates, netlist.num_gates + netlist.num_ports))


@pytest.mark.parametrize("model", MODELS)
def test_a_real_trace_ends_with_known_sizes(model: str) -> None:
    """c7552 of TAU 2015: the counts are those of its lines."""
    netlist = graph_io.read_netlist(require(DATA / "netlists" / "c7552.v.xz"))
    edits = graph_io.read_edits(require(DATA / "traces" / "c7552.ops.xz"), netlist, model=model)
    assert len(edits.rounds("natural")) == 7
    edited = editable(edits)
    for lines in edits.rounds(100):
        batch = edited.batch()
        edits.play(lines, batch)
        edited.apply(batch)
    assert len(edited.ids) == 1147 + 313 + 1470 - 505
    if isinstance(edited, EditableHypergraph):
        assert edited.nets.num_alive == 1353 + 1470 - 505
        assert edited.num_pairs == 3489 + 313 + 5071 - 3141
    else:
        total = edited.graph().total_arc_weight // 2
        assert total == 3489 + 313 + 5071 - 3141 - (1353 + 1470 - 505)
