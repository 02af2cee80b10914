"""Gate-level Verilog: each element of the syntax, and messages that point at the line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError
from portpart.formats.netlist.netlist import Netlist
from portpart.formats.netlist.verilog import parse_netlist
from portpart.formats.text.files import Source
from tests.helpers import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)
from tests.helpers.each import looped


def netlist_of(text: str, top: str | None = None) -> Netlist:
    return parse_netlist(Source("n.v", text.encode()), top)


def pins(netlist: Netlist) -> dict[str, list[str]]:
    """Nets of each gate; those that the gate drives have a ``*``."""
    found = {}
    for g, name in enumerate(netlist.gate_names):
        own = range(netlist.gate_offsets[g], netlist.gate_offsets[g + 1])
        found[name] = [netlist.net_names[netlist.gate_nets[p]] + "*" * int(netlist.gate_drives[p])
                       for p in own]
    return found


def in_module(body: str, header: str = "(a, z); input a; output z; wire n1, n2; wire [3:0] v;"
              ) -> dict[str, list[str]]:
    return pins(netlist_of(f"module m {header}\n{body}\nendmodule"))


# name: statements, pins of the gates
BODIES: dict[str, tuple[str, dict[str, list[str]]]] = {
    "named": ("INV u (.A(a), .ZN(z));", {"u": ["a", "z*"]}),
    "blanks": ("INV\nu\t( . A ( a ) ,\n .ZN( z ) ) ;", {"u": ["a", "z*"]}),
    "several instances": ("INV u (.A(a), .ZN(n1)), w (.A(n1), .ZN(z));",
                          {"u": ["a", "n1*"], "w": ["n1", "z*"]}),
    "positional": ("CELL u (z, a, , n1);", {"u": ["z", "a", "n1"]}),
    "no connection": ("CELL u (); CELL w (.A());", {"u": [], "w": []}),
    "open pin": ("FA u (.A(a), .CO(), .S(z));", {"u": ["a", "z*"]}),
    "half adder": ("HA u (.A(a), .CO(n1), .S(z));", {"u": ["a", "n1*", "z*"]}),
    "select and set": ("MUX2 u (.A(a), .S(n1), .Z(z)); DFFS w (.D(a), .SN(n1), .QN(z));",
                       {"u": ["a", "n1", "z*"], "w": ["a", "n1", "z*"]}),
    "bits": ("AND u (.A(v[3]), .B(v[0]), .Z( v [ 1 ] ));", {"u": ["v[3]", "v[0]", "v[1]*"]}),
    "parts": ("RAM u (.D(v[2:1]), .Q(v));", {"u": ["v[2]", "v[1]", *(f"v[{i}]*" for i in
                                                                     (3, 2, 1, 0))]}),
    "concatenation": ("RAM u (.D({a, v[1:0], {2{n1}}}));",
                      {"u": ["a", "v[1]", "v[0]", "n1", "n1"]}),
    "nested braces": ("RAM u (.D({2{{a}, {1{z, n1}}}}));", {"u": ["a", "z", "n1"] * 2}),
    "constants": ("NAND u (.A(1'b0), .B(4'hF), .C(0), .D(8 'sd 1_0), .E('bx), .Z(z));",
                  {"u": ["z*"]}),
    "escaped": ("INV \\u/x[1] (.A(\\a ), .ZN(\\n.b[2] ));", {"u/x[1]": ["a", "n.b[2]*"]}),
    "escaped keyword": ("INV \\wire (.A(\\assign ), .\\ZN (z) );", {"wire": ["assign", "z*"]}),
    "escaped vector": ("wire [1:0] \\b.c ; INV u (.A(\\b.c [0]), .ZN(\\b.c[0] ));",
                       {"u": ["\\b.c [0]", "\\b.c[0]*"]}),
    "escaped ordinary vector": ("INV u (.A(\\v [2]), .Z(v[2]));", {"u": ["v[2]", "v[2]*"]}),
    "implicit net": ("INV u (.A(fresh), .ZN(z));", {"u": ["fresh", "z*"]}),
    "ascending range": ("wire [0:2] r; RAM u (.D(r), .E(r[1:2]));",
                        {"u": ["r[0]", "r[1]", "r[2]", "r[1]", "r[2]"]}),
    "alias": ("assign n1 = n2, z = n1; INV u (.A(n2), .ZN(n1));", {"u": ["z", "z*"]}),
    "alias of parts": ("wire [1:0] w; assign {w[0], n1} = v[3:2]; RAM u (.D(v), .E(w), .F(n1));",
                       {"u": ["v[3]", "n1", "v[1]", "v[0]", "w[1]", "v[3]", "n1"]}),
    "alias of a constant": ("assign n1 = 1'b1; assign v = 0; NAND u (.A(n1), .B(v[2]), .Z(z));",
                            {"u": ["z*"]}),
    "declared with a value": ("wire w = n1; INV u (.A(w), .ZN(z));", {"u": ["n1", "z*"]}),
    "supplies": ("supply0 gnd; supply1 vdd; NAND u (.A(gnd), .B(vdd), .Z(z));", {"u": ["z*"]}),
    "primitives": ("nand (z, a, n1), g (n2, a); buf b (n1, n2, a); not #2 (n1, a);",
                   {"nand@0": ["z*", "a", "n1"], "g": ["n2*", "a"], "b": ["n1*", "n2*", "a"],
                    "not@3": ["n1*", "a"]}),
    "parameters": ("LUT #(.INIT(16'hFF), .S(\"a);b\"), .T((1+2))) u (.I(a), .O(z)); "
                   "LUT #(.X(y)) w (.I(z)); BUF #0.5 d (.I(a)); defparam u.X = 3;",
                   {"u": ["a", "z*"], "w": ["z"], "d": ["a"]}),
    "comments": ("INV /* not ; me */ u ( // nor me );\n .A(a) /**/, .ZN(z));", {"u": ["a", "z*"]}),
    "attributes": ('(* keep, src = "a.v:1 *) \\" ;" *) INV (* x *) u (.A(a), .ZN(z));',
                   {"u": ["a", "z*"]}),
    "specify": ("specify (a => z) = (1, 2); (a *> z) = 3; endspecify INV u (.A(a));", {"u": ["a"]}),
    "two pins on a net": ("NAND u (.A(a), .B(a), .ZN(z));", {"u": ["a", "a", "z*"]}),
}


@looped("name", BODIES)
def test_statement(name: str) -> None:
    body, expected = BODIES[name]
    assert in_module(body) == expected


@pytest.mark.parametrize("header", [
    "(a, b, z); input [1:0] a; inout b; output z; wire b; wire [1:0] a;",
    "(input [1:0] a, inout b, output z);",
    "(input wire [1:0] a, inout wire b, output wire signed z);",
    "#(parameter N = 3) (input [1:0] a, inout b, output z);",
])
def test_ports_in_either_style(header: str) -> None:
    netlist = netlist_of(f"module m {header} AND u (.A(a[0]), .B(b), .Z(z)); endmodule")
    assert netlist.port_names == ["a[1]", "a[0]", "b", "z"]
    assert netlist.port_directions == ["input", "input", "inout", "output"]
    assert [netlist.net_names[net] for net in netlist.port_nets] == netlist.port_names
    assert pins(netlist) == {"u": ["a[0]", "b", "z*"]}


def test_directions_are_inherited_in_a_header() -> None:
    netlist = netlist_of("module m (input [1:0] a, b, output y, z); endmodule")
    assert netlist.port_names == ["a[1]", "a[0]", "b[1]", "b[0]", "y", "z"]
    assert netlist.port_directions == ["input"] * 4 + ["output"] * 2


def test_a_module_without_ports_or_gates() -> None:
    netlist = netlist_of("module m; endmodule // end\n")
    assert (netlist.num_gates, netlist.num_nets, netlist.num_ports) == (0, 0, 0)
    assert netlist.graph().num_vertices == netlist.graph("clique", ports=True).num_vertices == 0


def test_a_port_tied_to_a_constant_has_no_net() -> None:
    netlist = netlist_of("module m (output a, b); assign a = 1'b0; INV u (.Y(b)); endmodule")
    assert netlist.port_nets.tolist() == [-1, 0]
    assert netlist.net_names == ["b"]
    assert netlist.graph(ports=True).num_edges == 1


HIERARCHY = """
module pair (input [1:0] i, output o, input unused);
  wire mid;
  NAND2 g1 (.A(i[1]), .B(i[0]), .ZN(mid));
  leaf l (mid, o);
endmodule
module top (input a, b, output y);
  wire n;
  pair p (.i({a, 1'b1}), .o(n));
  INV g (.A(n), .ZN(k));
  pair \\q[0] (.i({k, b}), .o(y), .unused(a));
  box x (.IN(y), .STRANGE(b));
  assign_only s (n, through);
  INV t (.A(through));
endmodule
module leaf (x, y); input x; output y;
  BUF u (.A(x), .Z(y));
endmodule
module box (input IN, output STRANGE); endmodule
module assign_only (input x, output y); assign y = x; endmodule
"""


def test_modules_are_flattened() -> None:
    netlist = netlist_of(HIERARCHY)
    assert netlist.name == "top"
    assert pins(netlist) == {
        "g": ["n", "k*"],
        "x": ["y", "b*"],
        "t": ["n"],
        "p/g1": ["a", "p/mid*"],
        "q[0]/g1": ["k", "b", "q[0]/mid*"],
        "p/l/u": ["p/mid", "n*"],
        "q[0]/l/u": ["q[0]/mid", "y*"],
    }
    assert [netlist.cell_names[cell] for cell in netlist.gate_cells[:3]] == ["INV", "box", "INV"]
    assert "p/unused" in netlist.net_names


def test_an_escaped_name_is_not_that_of_an_inner_gate() -> None:
    netlist = netlist_of("module t; c u (); X \\u/w (); endmodule module c; X w (); endmodule")
    assert netlist.gate_names == ["\\u/w", "u/w"]


def test_a_module_can_be_named() -> None:
    assert pins(netlist_of(HIERARCHY, "leaf")) == {"u": ["x", "y*"]}
    with pytest.raises(InputError, match=r"n\.v has no module 'none'; it has 'pair', 'top', 'le"):
        netlist_of(HIERARCHY, "none")


def test_library_cells_stay_gates_and_tell_directions() -> None:
    netlist = netlist_of("""
        `timescale 1ns/1ps
        `celldefine
        module ODD (ODD_OUT, D);
          output ODD_OUT; input D; reg notifier;
          always @(D) begin notifier = 1; end
          not (ODD_OUT, D);
          specify (D => ODD_OUT) = 1; endspecify
        endmodule
        `endcelldefine
        primitive udp (q, d); output q; input d; table 0 : 1; endtable endprimitive
        module m (input a, output z);
          ODD u (.D(a), .ODD_OUT(z)), w (z, a);
        endmodule""")
    assert pins(netlist) == {"u": ["a", "z*"], "w": ["z*", "a"]}


# name: text, pieces of the message
BAD: dict[str, tuple[str, list[str]]] = {
    "empty": ("", ["n.v:1:", "no module"]),
    "not verilog": ("\n3 4\n", ["n.v:2:", "expected 'module', found '3'"]),
    "no end": ("module m;\nINV u (.A(a));\n", ["n.v:3:", "'m' is not ended by 'endmodule'"]),
    "no semicolon": ("module m;\nINV u (.A(a))\nINV w (.A(a));", ["n.v:3:", "expected ';'", "INV"]),
    "no name": ("module m;\nINV (.A(a));", ["n.v:2:", "name of the instance of 'INV', found '('"]),
    "array": ("module m;\nINV u [3:0] (.A(a));", ["n.v:2:", "array of instances"]),
    "same instance": ("module m;\nINV u ();\nINV u ();", ["n.v:3:", "second instance 'u'"]),
    "same pin": ("module m;\nINV u (.A(a), .B(b),\n.A(c));", ["n.v:2:", "'A' is connected twice"]),
    "same pin again": ("module m;\nINV u (.A(1'b0),\n.A(c));", ["n.v:3:", "'A' is connected"]),
    "mixed": ("module m;\nINV u (.A(a), b);", ["n.v:2:", "expected '.', found 'b'"]),
    "always": ("module m;\nwire a;\nalways @(a) b = c;", ["n.v:3:", "'always' begins no"]),
    "reg": ("module m;\nreg a;", ["n.v:2:", "'reg'"]),
    "expression": ("module m;\nassign a = b &\n c;", ["n.v:2:", "'&' computes", "synthesise"]),
    "inversion": ("module m;\nassign a = ~b;", ["n.v:2:", "expected a net", "'~'"]),
    "width": ("module m;\nwire [3:0] v;\nassign v = a;", ["n.v:3:", "4 bits are assigned 1"]),
    "no vector": ("module m;\nINV u (.A(v[1]));", ["n.v:2:", "'v' is not declared as a vector"]),
    "outside": ("module m;\nwire [3:0] v;\nINV u (.A(v[4]));", ["n.v:3:", "v[4] is outside of"]),
    "outside part": ("module m;\nwire [3:1] v;\nINV u (.A(v[2:0]));", ["n.v:3:", "v[0] is out"]),
    "against": ("module m;\nwire [3:0] v;\nINV u (.A(v[0:1]));", ["n.v:3:", "runs against [3:0]"]),
    "range": ("module m;\nwire [N-1:0] v;", ["n.v:2:", "expected an index", "'N'"]),
    "long": ("module m;\nwire [99999999:0] v;", ["n.v:2:", "'v' has more than"]),
    "too wide": ("module m;\nX u (.A({999999999{a, b}}));", ["n.v:2:", "more than"]),
    "no bits": ("module m;\nX u (.A(0'b0));", ["n.v:2:", "constant of 0 bits"]),
    "redeclared": ("module m (a);\ninput a;\nwire [3:0] a;", ["n.v:3:", "'a' was", "range"]),
    "no port": ("module m (a);\ninput a;\ninput b;", ["n.v:3:", "'b' is not in the header"]),
    "no direction": ("\nmodule m (a);\nendmodule", ["n.v:2:", "port 'a'", "never declared input"]),
    "port twice": ("module m (a,\na);", ["n.v:2:", "'a' is repeated"]),
    "module twice": ("module m; endmodule\nmodule m; endmodule", ["n.v:2:", "second module 'm'"]),
    "comment": ("module m;\n/* open", ["n.v:2:", "comment is not closed"]),
    "attribute": ("module m;\n(* open", ["n.v:2:", "no '*)' follows"]),
    "include": ("module m;\n`include \"x.v\"\n", ["n.v:2:", "`include", "preprocessor"]),
    "parameters": ("module m;\nX #(3 u (.A(a));\nendmodule", ["n.v:2:", "parenthesis"]),
    "several tops": ("module a; endmodule\nmodule b; endmodule", ["n.v:2:", "'a' and 'b'", "-top"]),
    "no top": ("module a;\nb u ();\nendmodule module b;\na u ();\nendmodule",
               ["n.v:1:", "instantiated by another", "name the top"]),
    "recursion": ("module t; a u (); endmodule\nmodule a;\nb u ();\nendmodule module b;\na u ();\n"
                  "endmodule", ["n.v:5:", "'a' contains itself"]),
    "child's port": ("module t;\nc u (.q(a)); endmodule module c (input i); X x (.A(i)); endmodule",
                     ["n.v:2:", "module 'c' has no port 'q'"]),
    "child's ports": ("module t;\nc u (a, b); endmodule module c (input i); X x (.A(i)); endmodule",
                      ["n.v:2:", "module 'c' has no 2 ports"]),
    "child's width": ("module t;\nc u (.i(a)); endmodule module c (input [1:0] i); X x (.A(i)); "
                      "endmodule", ["n.v:2:", "'i' of module 'c' has 2 bits and is given 1"]),
    "collision": ("module t;\nc \\u/1 (); X \\u/1/w (); endmodule module c; X w (); endmodule",
                  ["n.v:1:", "two gates are called '\\\\u/1/w'"]),
    "doubling": ("module m0; X a (), b (); endmodule\n" + "".join(
        f"module m{i}; m{i - 1} a (), b (); endmodule\n" for i in range(1, 64)),
        ["n.v:64:", "18446744073709551616 gates"]),
    "deep": ("module m;\nX u (.A(" + "{" * 100_000, ["n.v:2:", "nested too deeply"]),
}


@looped("name", BAD)
def test_message_names_file_and_line(name: str) -> None:
    text, pieces = BAD[name]
    with pytest.raises(GraphFormatError) as caught:
        netlist_of(text)
    for piece in pieces:
        assert piece in str(caught.value), str(caught.value)


WORDS = [
    "module", "m", "endmodule", "(", ")", "(.A(a))", "(.A(v[1]), .Z(b))", ";", ",", ".", "input",
    "output", "wire", "[", "]", "[1:0]", ":", "2", "3'b0", "{", "}", "assign", "=", "\\x[1] ", "#",
    "(*", "*)", "a", "v", "INV u", "nand", "supply0", "specify", "`celldefine", "primitive", '"s"',
]


@given(st.lists(st.sampled_from(WORDS), max_size=25), st.booleans())
def test_any_words_are_read_or_refused_with_a_line(words: list[str], inside: bool) -> None:
    text = " \n".join(["module m (v); input [1:0] v;", *words, "endmodule"] if inside else words)
    try:
        netlist = netlist_of(text)
    except GraphFormatError as problem:
        line = int(str(problem).split(":")[1])
        assert 1 <= line <= text.count("\n") + 1
    else:
        assert netlist.num_pins == sum(map(len, pins(netlist).values()))


SMALL = """// made
module m (input a, output z);
INV u (.A(a), .Y(n));
INV w (.A(n), .Y(z));
endmodule"""


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("name", ["n.v", "n.v.gz", "n.vg.xz"])
def test_files_packed_or_not(pack: Any, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(pack(SMALL.encode()))
    graph = graph_io.read(tmp_path / name)
    assert (graph.num_vertices, graph.num_edges) == (2, 1)
    assert graph_io.read_netlist(tmp_path / name).gate_names == ["u", "w"]
    assert graph_io.read_named(tmp_path / name).names.tolist() == ["u", "w"]


@pytest.mark.parametrize("begin", ["", "\n  ", "/* c */", "`timescale 1ns/1ns\n", "(* top *) "])
def test_standard_input_is_recognised(begin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (begin + SMALL.partition("\n")[2]).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    assert graph_io.read("-").num_edges == 1


def test_options_are_those_of_the_format(tmp_path: Path) -> None:
    path = tmp_path / "n.v"
    path.write_text(SMALL)
    assert graph_io.read(path, model="clique", max_fanout=1, top="m").weights.tolist() == [840] * 2
    assert graph_io.read(path, max_fanout=0).num_edges == 0
    with pytest.raises(InputError, match="weights does not apply to verilog"):
        graph_io.read(path, weights=True)
    with pytest.raises(InputError, match=r"no format to write is known for .*one of \.graph"):
        graph_io.write(graph_io.read(path), path)
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    with pytest.raises(InputError, match="top does not apply to metis"):
        graph_io.read(tmp_path / "g.graph", top="m")
    with pytest.raises(InputError, match="metis files do not name their vertices"):
        graph_io.read_named(tmp_path / "g.graph")


def test_bytes_beyond_ascii_in_names_survive(tmp_path: Path) -> None:
    path = tmp_path / "n.v"
    path.write_bytes(b"module m;\nINV \\gr\xfc\xdf (.A(a)), \\n\xc3\xa9 (.A(a));\nendmodule")
    names = graph_io.read_named(path).names
    graph_io.write_named_partition(names, [1, 0], tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == b"gr\xfc\xdf 1\nn\xc3\xa9 0\n"
    assert graph_io.read_named_partition(tmp_path / "part", names).tolist() == [1, 0]
