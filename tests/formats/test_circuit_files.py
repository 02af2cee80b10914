"""Hypergraphs in PaToH, ISPD98 and Bookshelf files, written here by hand or by plain loops."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import io as graph_io
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError
from portpart.graphs.hypergraph import Hypergraph

PATOH = "% the manual's kind\n1 4 3 7 3\n5 1 2\n7 2 3 4\n0 1 4\n2 3\n4 1\n"
NET = "0\n6\n2\n5\n2\na0 s 1\na2 l\np1 l I\na1 s O\na0 l B\np2 l\n"
ARE = "a0 4\na2 7\n\na1 1\np1 0\np2 0\n"
NETS = """UCLA nets 1.0
# Created by hand
NumNets : 2
NumPins : 5

NetDegree : 3 n0
  a I : -0.5 1
  b O
  pad B : 0 0
NetDegree: 2
\tb I
\tc O
"""
NODES = ("UCLA nodes 1.0\n\nNumNodes : 4\nNumTerminals : 1\n"
         "c 2 3\n  a 1 1\nb 4 10 # tall\npad 0 7.00 terminal\n")


def nets_of(hypergraph: Hypergraph) -> list[list[int]]:
    return [hypergraph.net_pins[a:b].tolist() for a, b in pairwise(hypergraph.net_offsets)]


def read(text: str, folder: Path, name: str, **options: Any) -> Hypergraph:
    (folder / name).write_text(text)
    return graph_io.read_hypergraph(folder / name, **options)


def weights_of(hypergraph: Hypergraph) -> list[int] | None:
    weights = hypergraph.vertex_weights
    return None if weights is None else weights.tolist()


def test_patoh(tmp_path: Path) -> None:
    made = read(PATOH, tmp_path, "x.u")
    assert nets_of(made) == [[0, 1], [1, 2, 3], [0, 3]]
    assert made.net_weights is not None
    assert made.net_weights.tolist() == [5, 7, 0]
    assert weights_of(made) == [2, 3, 4, 1]
    other = read("0 4 3 7\n0 1\n1 2 3\n0 3\n", tmp_path, "x", format="patoh")
    assert (nets_of(other), other.net_weights, weights_of(other)) == (nets_of(made), None, None)


def test_ispd98(tmp_path: Path) -> None:
    (tmp_path / "x.are").write_text(ARE)
    made = read(NET, tmp_path, "x.netD", areas=tmp_path / "x.are")
    assert nets_of(made) == [[0, 2, 3], [0, 1, 4]]
    assert made.names == ["a0", "a1", "a2", "p1", "p2"]
    assert weights_of(made) == [4, 1, 7, 0, 0]
    assert weights_of(read(NET, tmp_path, "x.net")) is None


def test_bookshelf(tmp_path: Path) -> None:
    (tmp_path / "x.nodes").write_text(NODES)
    made = read(NETS, tmp_path, "x.nets", areas=str(tmp_path / "x.nodes"))
    assert nets_of(made) == [[1, 2, 3], [0, 2]]
    assert made.names == ["c", "a", "b", "pad"]
    assert weights_of(made) == [6, 1, 40, 0]
    alone = read(NETS, tmp_path, "circuit")  # the content tells
    assert (nets_of(alone), alone.names) == ([[0, 1, 2], [1, 3]], ["a", "b", "pad", "c"])


WTS = "UCLA wts 1.0\n# of both\n\npad 3\n  n0  12\na 5.0\n"
AUX = "# all of it\nRowBasedPlacement : x.nodes x.nets x.wts x.pl x.scl\n"


@pytest.fixture
def circuit(tmp_path: Path) -> Path:
    """A folder of the files that an .aux file names, but for those that are not read."""
    for name, text in (("x.nodes", NODES), ("x.nets", NETS), ("x.wts", WTS), ("x.aux", AUX)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_bookshelf_by_its_list_of_files(circuit: Path) -> None:
    made = graph_io.read_hypergraph(circuit / "x.aux")
    assert nets_of(made) == [[1, 2, 3], [0, 2]]
    assert made.names == ["c", "a", "b", "pad"]
    assert weights_of(made) == [6, 5, 40, 3]
    assert made.net_weights is not None
    assert made.net_weights.tolist() == [12, 1]
    (circuit / "list").write_text("PartProb : x.wts x.nets 2way.blk\n")  # the content tells
    other = graph_io.read_hypergraph(circuit / "list")
    assert other.names == ["a", "b", "pad", "c"]
    assert weights_of(other) == [5, 1, 3, 1]
    assert other.net_weights is not None
    assert other.net_weights.tolist() == [12, 1]


def test_bookshelf_weights_of_nets_or_nodes_alone(circuit: Path) -> None:
    (circuit / "x.aux").write_text("RowBasedPlacement : x.nets x.wts")
    (circuit / "x.wts").write_text("UCLA wts 1.0\nn0 7\n")
    made = graph_io.read_hypergraph(circuit / "x.aux")
    assert weights_of(made) is None
    assert made.net_weights is not None
    assert made.net_weights.tolist() == [7, 1]
    (circuit / "x.wts").write_text("UCLA wts 1.0\nc 7\n")
    made = graph_io.read_hypergraph(circuit / "x.aux")
    assert (weights_of(made), made.net_weights) == ([1, 1, 1, 7], None)


def test_bookshelf_nodes_without_sizes_weigh_one(circuit: Path) -> None:
    (circuit / "x.nodes").write_text("UCLA nodes 1.0\nNumNodes : 4\npad\na\nb terminal\nc 2 2\n")
    made = read(NETS, circuit, "x.nets", areas=circuit / "x.nodes")
    assert (made.names, weights_of(made)) == (["pad", "a", "b", "c"], [1, 1, 1, 4])
    (circuit / "y.nodes").write_text(NODES)
    made = graph_io.read_hypergraph(circuit / "x.aux", areas=circuit / "y.nodes")
    assert weights_of(made) == [6, 5, 40, 3]


def test_commands_take_the_list_of_files(circuit: Path, capsys: pytest.CaptureFixture) -> None:
    assert portpart.partition(circuit / "x.aux", 2, imbalance=1).km1 == 1  # c alone
    assert main(["info", str(circuit / "x.aux")]) == 0
    assert "net weights     1 to 12\nvertex weights  3 to 40\n" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("x.aux", "RowBased", "\\relax{", "x.aux:2: expected a line as 'RowBasedPlacement : x.nodes"),
    ("x.aux", AUX, "", "x.aux:1: expected a line as"),
    ("x.aux", "x.scl\n", "x.scl\nx.route\n", "x.aux:3: a second line; an .aux file has one"),
    ("x.aux", "x.nets ", "", "x.aux:2: names no .nets file"),
    ("x.aux", "x.pl", "y.nets", "x.aux:2: two .nets files, x.nets and y.nets"),
    ("x.aux", "x.wts", "y.wts", "y.wts cannot be read: No such file"),
    ("x.wts", "UCLA wts", "UCLA nets", "x.wts:1: a Bookshelf file of wts begins with 'UCLA wts"),
    ("x.wts", "pad 3", "pad 3.5", "x.wts:4: expected a node or a net and its weight in a whole"),
    ("x.wts", "pad 3", "pad -3", "x.wts:4: expected a node or a net"),
    ("x.wts", "n0  12", "n0 1 2", "x.wts:5: expected a node or a net"),
    ("x.wts", "n0  12", "n1 12", "x.wts:5: 'n1' is no node and no net"),
    ("x.wts", "a 5.0", "pad 4", "x.wts:6: a second weight of 'pad', after line 4"),
    ("x.nets", "NetDegree: 2", "NetDegree: 2 n0", "x.wts:5: 'n0' is the name of more than one"),
    ("x.nets", " n0\n", " a\n", "x.wts:5: 'n0' is no node and no net"),
    ("x.nets", "NetDegree: 2", "NetDegree: 2 a", "x.wts:6: 'a' is the name of more than one"),
])
def test_errors_in_bookshelf_lists_and_weights(circuit: Path, name: str, old: str, new: str,
                                               message: str) -> None:
    (circuit / name).write_text(changed((circuit / name).read_text(), old, new))
    with pytest.raises(GraphFormatError) as told:
        graph_io.read_hypergraph(circuit / "x.aux")
    assert message in str(told.value)


def patoh_text(nets: list[list[int]], net_weights: list[int], masses: list[int]) -> str:
    lines = [f"0 {len(masses)} {len(nets)} {sum(map(len, nets))} 3"]
    lines += [" ".join(map(str, [weight, *net])) for weight, net in zip(net_weights, nets)]
    return "\n".join([*lines, " ".join(map(str, masses))]) + "\n"


def ispd98_text(nets: list[list[int]], cells: int, pads: int) -> str:
    names = [f"a{i}" for i in range(cells)] + [f"p{i + 1}" for i in range(pads)]
    pins = [f"{names[pin]} {'l' if place else 's'} B" for net in nets
            for place, pin in enumerate(net)]
    head = [0, len(pins), len(nets), cells + pads, cells - 1]
    return "\n".join([*map(str, head), *pins]) + "\n"


def bookshelf_text(nets: list[list[int]]) -> str:
    lines = ["UCLA nets 1.0", f"NumNets : {len(nets)}", f"NumPins : {sum(map(len, nets))}"]
    for number, net in enumerate(nets):
        lines += [f"NetDegree : {len(net)} n{number}", *(f"  o{pin} I : 0 0" for pin in net)]
    return "\n".join(lines) + "\n"


NET_LISTS = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=5), max_size=5)


@settings(max_examples=40, deadline=None)
@given(NET_LISTS, st.integers(1, 7))
def test_what_a_plain_writer_writes_is_read(tmp_path_factory: Any, nets: list[list[int]],
                                            cells: int) -> None:
    folder = tmp_path_factory.mktemp("x")
    expected, masses = [sorted(set(net)) for net in nets], list(range(7))
    text = patoh_text(nets, [2**40 * i for i in range(len(nets))], masses)
    (folder / "x.are").write_text(
        "".join(f"{f'a{i}' if i < cells else f'p{i - cells + 1}'} {i}\n" for i in range(7)))
    (folder / "x.nodes").write_text(
        f"UCLA nodes 1.0\nNumNodes : 7\n{''.join(f'o{i} {i} 1{chr(10)}' for i in range(7))}")
    for made in (read(text, folder, "x.u"),
                 read(ispd98_text(nets, cells, 7 - cells), folder, "x.net",
                      areas=folder / "x.are"),
                 read(bookshelf_text(nets), folder, "x.nets", areas=folder / "x.nodes")):
        assert (nets_of(made), weights_of(made)) == (expected, masses)
        graph_io.write_hypergraph(made, folder / "x.hgr")
        again = graph_io.read_hypergraph(folder / "x.hgr")
        assert (nets_of(again), weights_of(again)) == (expected, masses)


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("1 4 3 7 3", "1 4 3", "x.u:2: a PaToH file begins with 'base cells nets pins"),
    ("1 4 3 7 3", "2 4 3 7 3", "x.u:2:1: the first cell has number 2; 0 and 1 are known"),
    ("1 4 3 7 3", "1 4 3 7 4", "x.u:2:9: the scheme of weights is 4"),
    ("1 4 3 7 3", "1 4 3 7 3 2", "x.u:2:11: cells have 2 weights each"),
    ("1 4 3 7 3", "1 4 3 8 3", "x.u:2:7: 8 pins promised, the lines of the nets hold 7"),
    ("1 4 3 7 3", "1 9999999 3 7 3", "x.u:2: 9999999 vertices in"),
    ("7 2 3 4", "7 2 5 4", "x.u:4:5: pin 5 of net 2 is not a vertex; vertices are 1 ... 4"),
    ("7 2 3 4", "7 0 3 4", "x.u:4:3: pin 0 of net 2"),
    ("0 1 4", "-1 1 4", "x.u:5:1: net 3 has weight -1"),
    ("0 1 4", "0.5 1 4", "'0.5' is not an integer (or above 2**62); hMETIS and PaToH files hold"),
    ("4 1\n", "4\n", "x.u:8: the file ends after the weights of 3 of 4 cells"),
    ("4 1\n", "4 1\n\n9\n", "x.u:9: numbers after the weights of 4 cells"),
    ("4 1\n", "4 -1\n", "x.u:7:3: cell 4 has weight -1; weights must be >= 0"),
    (PATOH, "0 2 3 3\n0 1\n1\n", "x.u:4: the file ends after 2 of 3 nets"),
    (PATOH, "0 2 1 2\n0 1\n1\n", "x.u:3: numbers after the last of 1 nets"),
])
def test_errors_in_patoh_files(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError) as told:
        read(changed(PATOH, old, new), tmp_path, "x.u")
    assert message in str(told.value)


@pytest.mark.parametrize(("text", "expected"), [
    ("\n0 3 3 3\n\n0 1\n2\n", [[], [0, 1], [2]]), ("0 3 2 2 1\n0 1\n\n4 5 6\n", [[0, 1], []]),
    ("0 3 1 2\n\n0 1\n\n", [[0, 1]])])
def test_blank_lines_are_nets_where_nets_would_be_missing(text: str, expected: list[list[int]],
                                                          tmp_path: Path) -> None:
    assert nets_of(read(text, tmp_path, "x.u")) == expected


@pytest.mark.parametrize(("old", "new", "message"), [
    (NET, "", "x.net:1: an ISPD98 netlist begins with a line '0'"),
    (NET, "*Vertices 3\n", "x.net:1: an ISPD98 netlist begins with five lines of a number each"),
    ("0\n6", "1\n6", "x.net:1: an ISPD98 netlist begins with a line '0'"),
    ("5\n2\n", "5 2\n", "x.net:4: an ISPD98 netlist begins with five lines"),
    ("5\n2\n", "5\n5\n", "x.net:5: the pad offset is 5, the number of the last cell, but there"),
    ("5\n2\n", "99999999\n2\n", "x.net:5: 99999999 vertices in"),
    ("0\n6", "0\n7", "x.net:2: 7 pins promised, 6 found"),
    ("6\n2\n", "6\n3\n", "x.net:3: 3 nets promised, 2 found"),
    ("a0 s 1", "a0 l", "x.net:6: the first pin continues a net"),
    ("a2 l", "a3 l", "x.net:7: 'a3' is not a module; cells are a0 ... a2, pads p1 ... p2"),
    ("a2 l", "p3 l", "x.net:7: 'p3' is not a module"),
    ("a2 l", "p0 l", "x.net:7: 'p0' is not a module"),
    ("a2 l", "a02 l", "x.net:7: 'a02' is not a module"),
    ("a2 l", "a2", "x.net:7: expected a module, 's' (starts a net) or 'l'"),
    ("p1 l I", "p1 l X", "x.net:8: expected a module"),
])
def test_errors_in_ispd98_files(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError) as told:
        read(changed(NET, old, new), tmp_path, "x.net")
    assert message in str(told.value)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("a2 7", "a2 7.5", "x.are:2: expected a module and its area, a whole number"),
    ("a2 7", "a4 7", "x.are:2: 'a4' is not a module"),
    ("a1 1", "a2 1", "x.are:4: a second area of a2"),
    ("p1 0\n", "", "x.are:6: the file ends without an area of p1; every module needs one"),
    ("a2 7", "a2 4611686018427387905", "x.are:2: expected a module and its area"),
])
def test_errors_in_areas(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.are").write_text(changed(ARE, old, new))
    with pytest.raises(GraphFormatError) as told:
        read(NET, tmp_path, "x.net", areas=tmp_path / "x.are")
    assert message in str(told.value)


@pytest.mark.parametrize(("old", "new", "message"), [
    (NETS, "", "x.nets:1: a Bookshelf file of nets begins with 'UCLA nets 1.0'"),
    ("UCLA nets", "UCLA wts", "x.nets:1: a Bookshelf file of nets begins"),
    ("NumNets : 2", "NumNets : 3", "x.nets:3: NumNets is 3, but there are 2"),
    ("NumPins : 5", "NumPins : 4", "x.nets:4: NumPins is 4, but there are 5"),
    ("NumPins : 5\n", "", "x.nets:1: NumPins is missing: 'NumPins : 5' is expected"),
    ("  b O\n", "", "x.nets:9: expected a node and its direction, I, O or B; net 1 lacks 1"),
    ("\tc O\n", "", "x.nets:12: the file ends 1 pins before the end of net 2"),
    ("\tc O\n", "\tc O\n\td I\n", "x.nets:13: expected 'NetDegree : ' and the number of pins"),
    ("  b O", "  b", "x.nets:8: expected a node and its direction"),
    ("c O", "e O", "x.nets:12: 'e' is not a node of"),
])
def test_errors_in_bookshelf_nets(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.nodes").write_text(NODES)
    with pytest.raises(GraphFormatError) as told:
        read(changed(NETS, old, new), tmp_path, "x.nets", areas=tmp_path / "x.nodes")
    assert message in str(told.value)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("UCLA nodes 1.0\n", "", "x.nodes:2: a Bookshelf file of nodes begins with 'UCLA nodes 1.0'"),
    ("NumNodes : 4", "NumNodes : 5", "x.nodes:3: NumNodes is 5, but there are 4"),
    ("c 2 3", "c 2,5 3", "x.nodes:5: expected a node, its width and height in decimal numbers"),
    ("c 2 3", "c 2", "x.nodes:5: expected a node, its width and height"),
    ("c 2 3", "c 2 3 rectilinear", "x.nodes:5: expected a node, its width"),
    ("c 2 3", "a 2 3", "x.nodes:6: a second node 'a'"),
    ("c 2 3", "c 9999999999 9999999999", "x.nodes:5: node 'c' has an area above 2**62"),
    ("c 2 3", "c 9999999999.5 9999999.5", "area above 2**62, times 100 to make all areas whole; "),
])
def test_errors_in_bookshelf_nodes(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.nodes").write_text(changed(NODES, old, new))
    with pytest.raises(GraphFormatError) as told:
        read(NETS, tmp_path, "x.nets", areas=tmp_path / "x.nodes")
    assert message in str(told.value)


def test_areas_that_are_too_much_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.are").write_text("".join(f"{name} {10**18 - 1}\n" for name in
                                            ("a0", "a1", "a2", "p1", "p2")))
    with pytest.raises(GraphFormatError, match=r"x.net: the vertex weights add up to"):
        read(NET, tmp_path, "x.net", areas=tmp_path / "x.are")
    with pytest.raises(InputError, match=r"nowhere.are cannot be read"):
        read(NET, tmp_path, "x.net", areas=tmp_path / "nowhere.are")
    with pytest.raises(InputError, match="areas does not apply to patoh files"):
        read(PATOH, tmp_path, "x.u", areas=tmp_path / "x.are")


@pytest.mark.parametrize(("name", "text", "message"), [
    ("x.u", PATOH, "a hypergraph \\(PaToH\\) by its name: portpart.io.read_hypergraph reads it"),
    ("x.net", NET, "a Pajek file or a hypergraph \\(ISPD98\\)"),
    ("x", NETS, "a hypergraph \\(Bookshelf\\): portpart.io.read_hypergraph"),
    ("x", NODES, "Bookshelf file without nets: .* takes the .nodes file as areas="),
    ("x.aux", "RowBasedPlacement : x.nodes x.nets\n", "a hypergraph \\(Bookshelf\\)"),
    ("x.aux", "\\relax\n", "a hypergraph \\(Bookshelf\\) by its name"),
])
def test_graphs_are_not_read_from_them(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        graph_io.read(tmp_path / name)


def test_nodes_are_no_hypergraph(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match=r"takes the .nodes file as areas="):
        read(NODES, tmp_path, "x.nodes")


def test_the_commands_take_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.nodes").write_text(NODES)
    (tmp_path / "x.nets").write_text(NETS)
    (tmp_path / "x.part").write_text("c 1\na 0\nb 0\npad 0\n")
    assert main(["info", "x.nets", "--areas", "x.nodes"]) == 0
    assert "vertices        4\nnets            2\npins            5\n" in capsys.readouterr().out
    assert main(["evaluate", "x.nets", "x.part", "--areas", "x.nodes", "--names", "--json",
                 "--imbalance", "1"]) == 0
    assert '"block_weights": [41, 6]' in capsys.readouterr().out
    assert main(["convert", "x.nets", "x.hgr", "--areas", "x.nodes"]) == 0
    assert nets_of(graph_io.read_hypergraph("x.hgr")) == [[1, 2, 3], [0, 2]]
    assert portpart.partition("x.nets", 2, imbalance=1).km1 == 1
    (tmp_path / "x.graph").write_text("2 1\n2\n1\n")
    assert main(["info", "x.graph", "--areas", "x.nodes"]) == 2
    assert "areas does not apply to metis files" in capsys.readouterr().err
