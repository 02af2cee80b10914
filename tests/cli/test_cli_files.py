"""Files that commands read and write: tables, standard input, and outputs that cannot be."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.cli.machines import read_points, read_table
from portpart.errors import GraphFormatError

GRID = portpart.generators.grid_2d(4, 4)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a graph, a partition of it and a netlist."""
    monkeypatch.chdir(tmp_path)
    portpart.io.write(GRID, "g.graph")
    portpart.io.write_partition(np.arange(16) // 8, "g.part")
    Path("matrix").write_text("0 1\n1 0\n")
    Path("n.v").write_text("module m (a); input a; BUF g (.A(a), .Z(b)); endmodule\n")
    return tmp_path


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line of a command that refuses its arguments."""
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("text", [
    "1 2\n3 4.5\n", "1,2\n3,4.5\n", "# two\n\n 1\t2 # first\r\n3 45e-1", "1, 2\n3, 4.5"])
def test_a_table_is_read(text: str) -> None:
    Path("t").write_text(text)
    assert read_table("t").tolist() == read_points("t").tolist() == [[1, 2], [3, 4.5]]


@pytest.mark.parametrize(("text", "message"), [
    ("", "^t: holds no numbers"),
    ("# nothing\n\n", "^t: holds no numbers"),
    ("1 2\n\n3\n", "^t:3: 1 numbers; the lines before have 2 each$"),
    ("1 2\n3 x\n", "^t:2: 'x' is not a number$"),
    ("1,2\n3,\n", "^t:2: '' is not a number$"),
])
def test_what_is_no_table_is_refused_with_its_line(text: str, message: str) -> None:
    Path("t").write_text(text)
    for read in (read_table, read_points):
        with pytest.raises(GraphFormatError, match=message):
            read("t")


def test_points_are_read_as_an_array_of_numpy() -> None:
    points = np.arange(6.0).reshape(3, 2)
    np.save("p.npy", points)
    assert np.array_equal(read_points("p.npy"), points)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"hello", b"\x93NUMPY"])
def test_damaged_points_are_refused(data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.npy").write_bytes(data)
    line = refusal(capsys, "report", "g.graph", "g.part", "--points", "p.npy")
    assert line.startswith("portpart: error: p.npy: damaged, or not an array of NumPy")


def test_a_missing_matrix_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    line = refusal(capsys, "map", "g.graph", "--matrix", "none")
    assert line == "portpart: error: none cannot be read: No such file or directory"


@pytest.mark.parametrize(("arguments", "names"), [
    (["partition", "-", "-k", "2", "--fixed", "-"], "GRAPH and --fixed"),
    (["repartition", "-", "-", "-k", "2"], "GRAPH and OLD"),
    (["replay", "-", "-", "-k", "2"], "NETLIST and TRACE"),
    (["evaluate", "-", "-"], "GRAPH and PART"),
    (["map", "-", "--matrix", "-"], "GRAPH and --matrix"),
    (["partition", "-", "-k", "2", "--fixed", "-", "--initial", "-"],
     "GRAPH, --fixed and --initial"),
    (["partition", "-", "-k", "2", "--target", "@-"], "GRAPH and --target"),
    (["map", "g.graph", "--target", "@-", "--matrix", "-"], "--matrix and --target"),
    (["report", "g.graph", "-", "--target", "@-"], "PART and --target"),
    (["info", "-", "--format", "ispd98", "--areas", "-"], "GRAPH and --areas"),
])
def test_standard_input_is_read_once(
    arguments: list[str], names: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = io.BytesIO(b"1 1")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=given))
    assert f"only one of {names} can be standard input" in refusal(capsys, *arguments)
    assert given.tell() == 0


COMMANDS = [
    ["partition", "g.graph", "-k", "2", "-o"],
    ["repartition", "g.graph", "g.part", "-k", "2", "-o"],
    ["map", "g.graph", "--matrix", "matrix", "-o"],
    ["map", "g.graph", "--matrix", "matrix", "--rankfile"],
    ["report", "g.graph", "g.part", "-o"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_read_is_not_replaced(
    command: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path("g.graph").read_bytes()
    Path("link").symlink_to("g.graph")
    for name in ("g.graph", str(here / "g.graph"), "link"):
        assert f"{name} is read by this call" in refusal(capsys, *command, name)
    assert Path("g.graph").read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_folder_that_is_missing_is_told_before_the_work(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("portpart.cli.files.read_graph_and_names", None)
    monkeypatch.setattr("portpart.cli.files.read_graph", None)
    assert "nowhere/x cannot be written: there is no folder" in refusal(
        capsys, *command, "nowhere/x")
    assert "empty name" in refusal(capsys, *command, "")
    assert "a zero byte in its name" in refusal(capsys, *command, "a\0b")


@pytest.mark.parametrize("command", [["evaluate"], ["report", "-o", "page.html"]])
def test_a_block_that_is_none_is_told_with_the_file(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [*command, "g.graph", "g.part"]
    message = "g.part: vertex 9 is in block 1; block numbers must lie in 0 ... 0"
    assert message in refusal(capsys, *given, "-k", "1")
    assert message in refusal(capsys, *given, "-H", "1", "-D", "1")
    Path("e.txt").write_text("a b\nb c\n")
    Path("e.part").write_text("a 0\nb 2\nc 1\n")
    assert "e.part: 'b' is in block 2" in refusal(
        capsys, *command, "e.txt", "e.part", "--names", "-k", "2")


def test_hypergraphs_have_no_communication_cost(capsys: pytest.CaptureFixture[str]) -> None:
    Path("h.hgr").write_text("1 16\n1 2 3\n")
    line = refusal(capsys, "evaluate", "h.hgr", "g.part", "-H", "2", "-D", "1")
    assert "-H, -D, --machine and --matrix are for graphs" in line


def test_old_blocks_may_be_replaced() -> None:
    assert main(["repartition", "g.graph", "g.part", "-k", "2", "-q", "-o", "g.part"]) == 0
    assert portpart.io.read_partition("g.part", 16).max() == 1


@pytest.mark.parametrize(("arguments", "message"), [
    (["--areas", "none"], "none cannot be read"),
    (["--ports"], "--ports is for hypergraphs"),
    (["--columns", "1,2"], "--columns does not apply to netlists"),
    (["--weights", "round"], "--weights does not apply to netlists"),
])
def test_info_refuses_what_does_not_apply_to_netlists(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(capsys, "info", "n.v", *arguments)


@pytest.mark.parametrize(("arguments", "message"), [
    (["compile", "--device", "gpu"], "--device is 'gpu'; it must be cpu, cuda or cuda:1"),
    (["replay", "n.v", "n.v", "-k", "2", "--rounds", "9" * 5000], "it has more than 1000 digits"),
    (["replay", "n.v", "n.v", "-k", "2", "--rounds", "2147483648"], "neither a number of rounds"),
    (["repartition", "g.graph", "g.part", "-k", "2", "--max-migration", "9" * 5000],
     "it has more than 1000 digits"),
    (["partition", "g.graph", "-k", "2", "--fixed", ""], "'' cannot be read"),
    (["partition", "g.graph", "-k", "2", "--initial", ""], "'' cannot be read"),
    (["map", "g.graph", "-H", "2", "-D", "1", "--rankfile", "r", "--hosts", ""],
     "'' cannot be read"),
    (["map", "g.graph", "-H", "2", "-D", "1", "--rankfile", "r", "--nodelist", ""],
     "the node list '' holds no names"),
    (["generate"], "Missing command. (see portpart generate --help)"),
    (["partition", "g.graph", "-k", "2", "--imbalance", "1e309"], "'1e309' is beyond 1.8e308"),
    (["generate", "grid", "99999999999", "99999999999", "-o", "x.graph"],
     "a grid of 99999999999 x 99999999999 has more than 2147483646 vertices"),
])
def test_other_arguments_that_cannot_be(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(capsys, *arguments)


def test_capital_letters_pack_too() -> None:
    assert main(["convert", "g.graph", "G.GRAPH.GZ"]) == 0
    assert Path("G.GRAPH.GZ").read_bytes().startswith(b"\x1f\x8b")
    assert portpart.io.read("G.GRAPH.GZ").num_edges == GRID.num_edges
