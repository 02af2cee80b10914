"""BLIF: gates, latches, instances and their names; several models become one netlist."""

from __future__ import annotations

from pathlib import Path

import pytest

from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError
from portpart.formats.netlist.blif import parse_netlist
from portpart.formats.netlist.netlist import Netlist
from portpart.formats.text.files import Source
from tests.helpers.data_folder import DATA, hypergraph_path, require

SMALL = """# made by hand
.model small
.inputs a \\
  b
.outputs q z
.names a b n1  # an AND
11 1
.names n1 q z
1- 1
-1 1
.latch n1 q re clk 0
.names one
1
.names a one n2
-1 1
.end
"""

TWO = """.model top
.inputs a b
.outputs z
.subckt half x=a y=m
.subckt half x=b y=n
.cname second
.gate nand2 A=m B=n O=z
.end
.model half
.inputs x
.outputs y
.names x w
0 1
.latch w y
.end
"""


def netlist(text: str, top: str | None = None) -> Netlist:
    return parse_netlist(Source("x.blif", text.encode()), top)


def pins(made: Netlist) -> dict[str, list[str]]:
    """Return the nets of each gate, the driven ones marked."""
    return {name: [made.net_names[net] + "!" * bool(drives) for net, drives in zip(
        made.gate_nets[a:b].tolist(), made.gate_drives[a:b])] for name, a, b in zip(
            made.gate_names, made.gate_offsets[:-1], made.gate_offsets[1:])}


def test_tables_and_latches_are_gates_named_by_what_they_drive() -> None:
    made = netlist(SMALL)
    assert pins(made) == {"n1": ["a", "b", "n1!"], "z": ["n1", "q", "z!"],
                          "q": ["n1", "q!", "clk"], "n2": ["a", "n2!"]}
    assert (made.name, made.cell_names) == ("small", [".names", ".latch"])
    ports = list(zip(made.port_names, made.port_directions))
    assert ports == [("a", "input"), ("b", "input"), ("q", "output"), ("z", "output")]
    assert [made.net_names[net] for net in made.port_nets] == ["a", "b", "q", "z"]


def test_models_of_the_file_are_flattened() -> None:
    made = netlist(TWO)
    assert pins(made) == {"nand2_3": ["m", "n", "z!"], "half_1/w": ["a", "half_1/w!"],
                          "half_1/y": ["half_1/w", "m!"], "second/w": ["b", "second/w!"],
                          "second/y": ["second/w", "n!"]}
    assert pins(netlist(TWO, "half")) == {"w": ["x", "w!"], "y": ["w", "y!"]}


def test_black_boxes_are_gates_and_their_outputs_are_known() -> None:
    text = (".inputs a\n.outputs z\n.subckt ram addr=a data=z open=\n.end\n.model ram\n"
            ".inputs addr open\n.outputs data\n.blackbox\n.end\n")
    made = netlist(text)
    assert (made.name, pins(made)) == ("main", {"ram_1": ["a", "z!"]})


def test_nets_made_one_and_dont_cares() -> None:
    text = ".model m\n.conn a b\n.names b z\n1 1\n.exdc\n.names a q\n1 1\n.end\n"
    assert pins(netlist(text)) == {"z": ["a", "z!"]}


def test_an_input_that_is_an_output_is_one_port() -> None:
    made = netlist(".model m\n.inputs a\n.outputs a z\n.names a z\n1 1\n")
    assert (made.port_names, made.port_directions) == (["a", "z"], ["inout", "output"])


@pytest.mark.parametrize(("text", "message"), [
    ("", "x.blif:1: the file holds no module"),
    (".model m\n.model m\n", "x.blif:2: a second model 'm'"),
    (".model m\n.names\n", "x.blif:2: expected '.names"),
    (".model m\n.names a \\\n b\n11\n1 1 0 1\n", "x.blif:5: '1' is neither"),
    (".model m\nwire a\n", "x.blif:2: 'wire' is neither a command"),
    (".model m\n.inputs a\n1 1\n", "x.blif:3: '1' is neither a command nor a row"),
    (".model m\n.start_kiss\n", "x.blif:2: '.start_kiss' is not understood"),
    (".model m\n.names a z\n.latch b z\n", "x.blif:3: a second table or latch drives 'z'"),
    (".model m\n.latch b\n", "x.blif:2: expected '.latch"),
    (".model m\n.gate\n", "x.blif:2: expected '.gate model"),
    (".model m\n.gate inv a\n", "x.blif:2: expected port=net, found 'a'"),
    (".model m\n.subckt m a=b\n", "x.blif:2: module 'm' contains itself"),
    (".model m\n.subckt n a=b\n.model n\n.names x y\n", "x.blif:2: module 'n' has no port 'a'"),
])
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(GraphFormatError, match=message):
        netlist(text)


def test_a_model_that_is_not_there() -> None:
    with pytest.raises(InputError, match="has no module 'n'; it has 'm'"):
        netlist(".model m\n.names a b\n", "n")


def test_all_readers_take_it(tmp_path: Path) -> None:
    path = tmp_path / "x.blif"
    path.write_text(SMALL)
    assert graph_io.read_netlist(path).num_gates == 4
    assert graph_io.read_named(path).names.tolist() == ["n1", "z", "q", "n2"]
    made = graph_io.read_hypergraph(path, ports=True)
    assert made.names == ["n1", "z", "q", "n2", "a", "b", "q_", "z_"]
    (tmp_path / "netlist").write_text(SMALL)
    assert graph_io.read(tmp_path / "netlist").num_vertices == 4


def test_a_real_netlist_is_the_hypergraph_that_others_made_of_it() -> None:
    path = require(DATA / "netlists" / "itc99_b17_C.blif.xz")
    made = graph_io.read_hypergraph(path, ports=True)
    other = graph_io.read_hypergraph(hypergraph_path("itc99_b17"))
    assert (made.num_vertices, made.num_nets) == (other.num_vertices, other.num_nets)
    sizes = [sorted((each.net_offsets[1:] - each.net_offsets[:-1]).tolist())
             for each in (made, other)]
    assert sizes[0] == sizes[1]


def test_the_suffix_tells_where_the_first_line_does_not(tmp_path: Path) -> None:
    path = tmp_path / "plain.blif"
    path.write_text(".outputs z\n.inputs a\n.names a n\n0 1\n.names n z\n0 1\n")
    netlist = graph_io.read_netlist(path)
    assert netlist.gate_names == graph_io.read_hypergraph(path).names == ["n", "z"]
