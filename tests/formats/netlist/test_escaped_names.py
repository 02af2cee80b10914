"""Escaped names of Verilog: what marks them is not part of them (IEEE Std 1364-2005, 3.7.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

import portpart
from portpart.errors import GraphFormatError, InputError

REGISTERS = """module m (input \\clk.x , output z);
  wire [1:0] v;
  DFF \\reg[10] (.D(n1), .CK(\\clk.x ), .Q(v[0]));
  DFF \\reg[11] (.D(v[0]), .CK(\\clk.x ), .Q(\\n/1 ));
  BUF \\u.b/c (.A(\\n/1 ), .Z(z));
  \\INV.X1 plain (.A(z), .Z(n1));
endmodule
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "m.v").write_text(REGISTERS)
    return tmp_path / "m.v"


def test_neither_backslash_nor_blank_is_part_of_a_name(file: Path) -> None:
    netlist = portpart.io.read_netlist(file)
    assert netlist.gate_names == ["reg[10]", "reg[11]", "u.b/c", "plain"]
    assert sorted(netlist.net_names) == ["clk.x", "n/1", "n1", "v[0]", "v[1]", "z"]
    assert netlist.port_names == ["clk.x", "z"]
    assert netlist.cell_names == ["DFF", "BUF", "INV.X1"]


def test_a_register_is_fixed_by_its_name(file: Path) -> None:
    nets = portpart.io.read_hypergraph(file)
    result = portpart.partition(nets, 2, fixed={"reg[10]": 0, "plain": 1})
    where = dict(zip(result.labels, result.part.tolist()))
    assert (where["reg[10]"], where["plain"]) == (0, 1)
    with pytest.raises(InputError, match=r"names 'reg\[12\]', which is not a vertex; did you mean "
                                         r"'reg\[1[01]\]' or 'reg\[1[01]\]'\?"):
        portpart.partition(nets, 2, fixed={"reg[12]": 0})
    with pytest.raises(InputError, match=r"did you mean 'reg\[10\]'"):
        portpart.partition(nets, 2, fixed={"\\reg[10]": 0})


def test_where_two_would_have_a_name_the_escaped_one_keeps_its_backslash(tmp_path: Path) -> None:
    """Bit 1 of a vector, and a net that only looks like it; a gate inside, and one that does."""
    (tmp_path / "m.v").write_text(
        "module m; wire [1:0] a; wire \\a[1] ; sub u (); X \\u/g (.A(a[1]), .B(\\a[1] ));"
        "endmodule module sub; X g (); X \\h.1 (); endmodule")
    netlist = portpart.io.read_netlist(tmp_path / "m.v")
    assert netlist.gate_names == ["\\u/g", "u/g", "u/h.1"]
    assert netlist.net_names == ["a[1]", "a[0]", "\\a[1]"]


def test_traces_name_pins_with_and_without_backslash(file: Path, tmp_path: Path) -> None:
    """Tools write either."""
    ends = []
    for name in ("reg[10]", "\\reg[10]"):
        (tmp_path / "m.ops").write_text(f"disconnect_pin {name}:Q\nconnect_pin {name}:Q n/1\n")
        edits = portpart.io.read_edits(tmp_path / "m.ops", portpart.io.read_netlist(file))
        session = portpart.Session(edits.graph(), 2)
        batch = session.batch()
        edits.play(edits.rounds(1)[0], batch)
        session.apply(batch)
        ends.append(session.graph().net_pins.tolist())
    assert ends[0] == ends[1] != edits.graph().net_pins.tolist()


def test_a_top_module_is_named_without_backslash(tmp_path: Path) -> None:
    (tmp_path / "m.v").write_text("module \\a.b (); X g (); endmodule module c; X h (); endmodule")
    for name in ("a.b", "\\a.b"):
        netlist = portpart.io.read_netlist(tmp_path / "m.v", top=name)
        assert (netlist.name, netlist.gate_names) == ("a.b", ["g"])


def test_partition_files_suggest_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "m.part").write_text("reg[10] 0\nreg[1l] 1\n")
    with pytest.raises(GraphFormatError, match=r"m.part:2: 'reg\[1l\]' does not name a vertex; "
                                               r"did you mean 'reg\[11\]'"):
        portpart.io.read_named_partition(tmp_path / "m.part", ["reg[10]", "reg[11]"])
