"""AIGER: text and binary say the same, and what they say is the netlist."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError
from portpart.formats.netlist.aiger import parse_netlist
from portpart.formats.netlist.netlist import Netlist
from portpart.formats.text.files import Source
from tests.helpers.data_folder import DATA, require

TOGGLE = b"aag 7 2 1 2 4\n2\n4\n6 8 0\n6\n15\n8 4 10\n10 13 14\n12 2 6\n14 3 7\n" \
         b"i0 enable\ni1 reset\nl0 state\no1 both\nc\ni1 no symbol\n"
"""The toggle of the format's description, with one more AND."""


def netlist(data: bytes) -> Netlist:
    return parse_netlist(Source("x.aig", data))


def told(made: Netlist) -> tuple[object, ...]:
    """Return everything a netlist says."""
    rows = [(name, made.cell_names[cell], made.gate_nets[a:b].tolist(),
             made.gate_drives[a:b].tolist()) for name, cell, a, b in zip(
                 made.gate_names, made.gate_cells, made.gate_offsets[:-1], made.gate_offsets[1:])]
    return (rows, made.net_names, made.port_names, made.port_directions, made.port_nets.tolist())


def test_latches_and_ands_are_gates() -> None:
    made = netlist(TOGGLE)
    assert made.net_names == ["enable", "reset", "state", "a4", "a5", "a6", "a7"]
    assert made.gate_names == ["state", "a4", "a5", "a6", "a7"]
    nets = {name: [made.net_names[net] for net in made.gate_nets[a:b]] for name, a, b in zip(
        made.gate_names, made.gate_offsets[:-1], made.gate_offsets[1:])}
    assert nets == {"state": ["state", "a4"], "a4": ["a4", "reset", "a5"],
                    "a5": ["a5", "a6", "a7"], "a6": ["a6", "enable", "state"],
                    "a7": ["a7", "enable", "state"]}
    assert made.gate_drives.tolist() == [True, False] + 4 * [True, False, False]
    assert made.port_names == ["enable", "reset", "o0", "both"]
    assert made.port_directions == ["input", "input", "output", "output"]
    assert [made.net_names[net] for net in made.port_nets] == ["enable", "reset", "state", "a7"]


def varint(number: int) -> bytes:
    """Seven bits a byte, the low ones first."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def both_ways(seed: int) -> tuple[bytes, bytes]:
    """Return the same random circuit as text and binary, in version 1.9 with every section."""
    random = Random(seed)
    inputs, latches, ands = random.randrange(1, 300), random.randrange(4), random.randrange(300)
    total = inputs + latches + ands
    some = [random.randrange(2 * total + 2) for _ in range(12)]
    nexts = [random.randrange(2 * total + 2) for _ in range(latches)]
    outputs, justice = some[:6], [2, 1]
    rows = []
    for lhs in range(2 * (inputs + latches + 1), 2 * total + 1, 2):
        left = random.randrange(lhs)
        rows.append((lhs, left, random.randrange(left + 1)))
    numbers = f"{total} {inputs} {latches} 3 {ands} 2 1 2 1\n".encode()
    tail = [*outputs, *justice, *some[6:9], some[9]]
    middle = "".join(f"{number}\n" for number in tail).encode()
    text = b"aag " + numbers + b"".join(b"%d\n" % (2 * i) for i in range(1, inputs + 1))
    text += b"".join(b"%d %d\n" % (2 * (inputs + 1 + i), each) for i, each in enumerate(nexts))
    text += middle + b"".join(b"%d %d %d\n" % row for row in rows)
    binary = b"aig " + numbers + b"".join(b"%d\n" % each for each in nexts) + middle
    binary += b"".join(varint(lhs - left) + varint(left - right) for lhs, left, right in rows)
    symbols = b"i0 first\no2 last\nc\nmade here"
    return text + symbols, binary + symbols


@pytest.mark.parametrize("seed", range(12))
def test_binary_says_what_text_says(seed: int) -> None:
    text, binary = both_ways(seed)
    made = netlist(binary)
    assert told(made) == told(netlist(text))
    assert (made.port_names[0], made.port_names.count("last")) == ("first", 1)
    assert made.port_directions.count("output") == 3 + 2 + 1 + 3 + 1


def test_nothing_but_constants() -> None:
    made = netlist(b"aag 0 0 0 2 0\n0\n1\n")
    assert (made.num_gates, made.num_nets, made.port_nets.tolist()) == (0, 0, [-1, -1])
    assert netlist(b"aig 0 0 0 0 0\n").num_ports == 0


@pytest.mark.parametrize(("data", "message"), [
    (b"aag 1 1 0 0\n", "x.aig:1: an AIGER file begins"),
    (b"aag 1 1 0 0 -1\n", "x.aig:1: an AIGER file begins"),
    (b"aag 1 1 1 0 0\n", "x.aig:1: 2 inputs, latches and ANDs for 1 variables"),
    (b"aig 99999999 99999999 0 0 0\n", "99999999 vertices in 28 bytes"),
    (b"aag 1 1 0 0 0\n", "x.aig:2: expected the literal of an input"),
    (b"aag 1 1 0 0 0\nx\n", "x.aig:2: expected the literal of an input"),
    (b"aag 2 1 1 0 0\n2\n4\n", "x.aig:3: expected a latch"),
    (b"aag 2 1 0 0 1\n2\n4 2\n", "x.aig:3: expected an AND"),
    (b"aag 1 1 0 1 0\n2\n4\n", "the literal 4 is not among 0 ... 3"),
    (b"aag 2 1 0 1 0\n2\n4\n", "the literal 4 is not defined"),
    (b"aag 2 2 0 0 0\n2\n2\n", "the literal 2 is defined twice"),
    (b"aag 2 1 0 0 0\n3\n", "the literal 3 cannot be an input"),
    (b"aag 2 1 0 0 0\n0\n", "the literal 0 cannot be an input"),
    (b"aig 2 1 0 0 1\n\x02", "x.aig:2: the file holds no 1 ANDs"),
    (b"aig 2 1 0 0 1\n\x82\x82\x82\x82\x82\x01\x01", "x.aig:2: the file holds no 1 ANDs"),
    (b"aig 2 1 0 0 1\n\x05\x01", "the literal -1 is not among"),
    (b"aag 1 1 0 0 0 0 0 1 0\n2\n9999\n", "9999 lines in 29 bytes"),
])
def test_errors_say_where_or_what(data: bytes, message: str) -> None:
    with pytest.raises(GraphFormatError, match=message):
        netlist(data)


def test_all_readers_take_it(tmp_path: Path) -> None:
    for name in ("x.aag", "circuit", "x.graph"):
        (tmp_path / name).write_bytes(TOGGLE)
        assert graph_io.read_netlist(tmp_path / name).num_gates == 5
        assert graph_io.read(tmp_path / name).num_vertices == 5
        assert graph_io.read_hypergraph(tmp_path / name, ports=True).num_vertices == 9
    with pytest.raises(InputError, match="top does not apply to aiger files"):
        graph_io.read_netlist(tmp_path / "x.aag", top="m")
    with pytest.raises(InputError, match="unknown format of netlists 'edif'"):
        graph_io.read_netlist(tmp_path / "x.aag", format="edif")


def test_a_real_circuit_has_the_sizes_of_the_catalogue() -> None:
    """The graph listed there has a vertex for each input and AND, an edge for each operand."""
    made = graph_io.read_netlist(require(DATA / "netlists" / "epfl_multiplier.aig"))
    inputs = made.port_directions.count("input")
    assert inputs + made.num_gates == 27_190
    assert made.num_pins - made.num_gates == 54_124
