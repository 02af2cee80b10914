"""Edge lists with names of vertices, quotes, titles and more columns than an edge has."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import portpart
from portpart import io as graph_io
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError
from tests import oracles
from tests.helpers import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)

Named = dict[frozenset[Any], int]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def edges_of(path: Path, **options: Any) -> Named:
    """Edges by the names of their ends, with their weights."""
    graph, names = graph_io.read_named(path, **options)
    assert list(graph.names) == names.tolist()
    return {frozenset((names[u], names[v])): w for u, v, w in oracles.arcs(graph)}


ABC = {frozenset("ab"): 1, frozenset("bc"): 1}
WEIGHED = {frozenset("ab"): 2, frozenset("bc"): 5}

GOOD: dict[str, tuple[str, Named]] = {
    "commas": ("a,b\nb,c\n", ABC),
    "blanks": ("a b\nb  c\n", ABC),
    "tabs and comments": ("# x\na\tb\n% y\n\nb\tc\n", ABC),
    "semicolons, CRLF": ("a;b\r\nb;c\r\n", ABC),
    "weights": ("a,b,2\nb,c,5\n", WEIGHED),
    "weights in other clothes": ("a b 2.0\nb c 5e0\n", WEIGHED),
    "titles": ("source,target,weight\na,b,2\nb,c,5\n", WEIGHED),
    "titles in another order": ("weight,from,to\n2,a,b\n5,b,c\n", WEIGHED),
    "titles of fewer columns": ("things\n1,2,2\n2,30,5\n", {frozenset((1, 2)): 2,
                                                            frozenset((2, 30)): 5}),
    "titles above weights": ("person,friend,calls\na,b,2\nb,c,5\n", WEIGHED),
    "titles in capitals": ("Src;Dst\na;b\nb;c\n", ABC),
    "quotes": ('"a","b",2\n"b","c","5"\n', WEIGHED),
    "quotes and blanks": ('"a" "b"\n"b" "c"\n', ABC),
    "a comma in a name": ('"a, b",c\nc,d e\n', {frozenset(("a, b", "c")): 1,
                                              frozenset(("c", "d e")): 1}),
    "quotes in a name": ('"a ""x""",c\nc,d\n', {frozenset(('a "x"', "c")): 1, frozenset("cd"): 1}),
    "letters of the world": ("Köln,東京\n東京,Łódź\n", {frozenset(("Köln", "東京")): 1,
                                                   frozenset(("東京", "Łódź")): 1}),
    "numbers among names": ("n1 7\n7 n2\n", {frozenset(("n1", "7")): 1, frozenset(("7", "n2")): 1}),
    "quoted numbers": ('"1","2"\n"2","30"\n', {frozenset((1, 2)): 1, frozenset((2, 30)): 1}),
    "quoted titles": ('"x","y"\n"1","2"\n"2","30"\n', {frozenset((1, 2)): 1,
                                                      frozenset((2, 30)): 1}),
    "numbers by titles": ("w,target,source\n5,1,2\n6,2,3\n", {frozenset((1, 2)): 5,
                                                             frozenset((2, 3)): 6}),
    "titles of several words": ("from node,to node\n1,2\n2,30\n", {frozenset((1, 2)): 1,
                                                                 frozenset((2, 30)): 1}),
    "twice": ("a,b,2\na,b,3\nc,c,9\nb,c,1\n", {frozenset("ab"): 5, frozenset("bc"): 1}),
}


@pytest.mark.parametrize("name", GOOD)
def test_named_edges(name: str, tmp_path: Path) -> None:
    text, expected = GOOD[name]
    assert edges_of(written(tmp_path / "g.csv", text)) == expected
    packed = written(tmp_path / "g.csv", "\ufeff" + text)
    assert edges_of(packed) == expected


BAD: dict[str, tuple[str, str]] = {
    "doubtful first line": ("a,b\nc,d\n", r"g.csv:1: 'a, b' may be titles or an edge: pass header"),
    "one line": ("alice,bob\n", r"g.csv:1: .*--header, --no-header"),
    "odd row": ("a,b\nb,c\nc\n", "g.csv:3: 1 columns, where the first line has 2"),
    "empty name": ("a,b\nb,\n", "g.csv:2: an end of an edge is missing"),
    "weight": ("a,b,2\nb,c,x\n", "g.csv:2: weight 'x' is not a number"),
    "fraction": ("a,b,2\nb,c,0.5\n", r'g.csv:2: weight 0.5 is not an integer.*weights="round"'),
    "negative": ("a,b,2\nb,c,-1\n", r'g.csv:2: weight -1; .*weights="abs"'),
    "directions": ("a,b,2\nb,a,3\n", r'g.csv:1: edge \(a, b\) has weight 2 .*symmetrize="sum"'),
    "columns": ("source,target,kind,weight\na,b,x,2\n",
                r"g.csv:1: 4 columns \('source', 'target', 'kind', 'weight'\).*--columns"),
    "numeric columns": ("source,target,kind,weight\n1,2,3,4\n",
                        r"g.csv:2: 4 columns \('source', 'target', 'kind', 'weight'\).*--columns"),
    "times": ("source,target,time\n1,2,1190000000\n", "g.csv:2: column 'time' is not recognised"),
    "a name below numbers": ("1,2\n2,y\n", "g.csv:2: 'y' is not an integer"),
    "titles only": ("source,target\n", "g.csv"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told_with_its_line(name: str, tmp_path: Path) -> None:
    text, message = BAD[name]
    with pytest.raises(GraphFormatError, match=message):
        graph_io.read(written(tmp_path / "g.csv", text))


def test_header_says_what_the_first_line_is(tmp_path: Path) -> None:
    path = written(tmp_path / "g.csv", "a,b\nc,d\n")
    assert edges_of(path, header=False) == {frozenset("ab"): 1, frozenset("cd"): 1}
    assert edges_of(path, header=True) == {frozenset("cd"): 1}
    written(path, "1,2\n2,3\n")
    assert edges_of(path, header=True) == {frozenset((2, 3)): 1}


@pytest.mark.parametrize("columns", ["2,4", "b,w", ["b", "w"], [2, "4"], "b, w"])
def test_columns_are_chosen(columns: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "g.csv", "a,b,kg,w\nx,1,7,2\ny,2,8,3\n")
    assert edges_of(path, columns=columns) == {frozenset((1, 2)): 1, frozenset((2, 3)): 1}
    three = [*(columns.split(",") if isinstance(columns, str) else columns), "kg"]
    assert edges_of(path, columns=three) == {frozenset((1, 2)): 7, frozenset((2, 3)): 8}


@pytest.mark.parametrize(("columns", "message"), [
    ("1", "two ends and perhaps a weight"), ("1,2,3,4", "two ends"),
    ("1,1", "names a column twice"),
    ("1,9", "'9' is not a column; columns are 1 ... 4"), ("x,y", "'x' is not a column"),
])
def test_columns_that_are_not_there_are_refused(
    columns: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        graph_io.read(written(tmp_path / "g.csv", "1,2,3,4\n5,6,7,8\n"), columns=columns)


def test_text_is_numbered_as_it_occurs_and_integers_ascending(tmp_path: Path) -> None:
    path = written(tmp_path / "g.csv", "z,b\nb,a\n")
    assert graph_io.read_named(path).names.tolist() == ["z", "b", "a"]
    assert graph_io.read(path).names == ["z", "b", "a"]
    with pytest.raises(InputError, match="these are text"):
        graph_io.read(path, relabel=False)
    assert graph_io.read_edge_list(written(path, "9 5\n5 7\n")).names.tolist() == [5, 7, 9]
    assert graph_io.read(path).names.tolist() == [5, 7, 9]
    assert graph_io.read(path, relabel=False).names is None


def test_fractions_are_scaled(tmp_path: Path) -> None:
    path = written(tmp_path / "g.csv", "a,b,0.5\nb,c,-0.25\n")
    assert edges_of(path, weights="abs", weight_scale=4) == {frozenset("ab"): 2, frozenset("bc"): 1}
    assert edges_of(path, weights="ignore") == ABC


TITLES = ("source", "target", "weight")

names_of_vertices = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Z")), min_size=1, max_size=6,
).filter(lambda name: name[0] not in "#%\ufeff" and name.lower() not in TITLES)


@given(st.lists(st.tuples(names_of_vertices, names_of_vertices, st.integers(0, 99)), min_size=1),
       st.sampled_from(",;\t"))
def test_what_python_writes_as_csv_is_read(
    rows: list[tuple[str, str, int]], delimiter: str
) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(TITLES)
    writer.writerows(rows)
    expected: Named = {}
    for u, v, weight in rows:
        if u != v:
            expected[frozenset((u, v))] = expected.get(frozenset((u, v)), 0) + weight
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g.csv"
        path.write_bytes(buffer.getvalue().encode())
        found = edges_of(path, symmetrize="sum")
    if all(name.lstrip("+-").isdecimal() for row in rows for name in row[:2]):
        return  # integers, whose zeros in front are no part of the name
    assert found == expected


def test_results_have_the_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "g.csv", "a,b\nb,c\nc,a\nx,y\ny,z\nz,x\na,x\n")
    result = portpart.partition(path, 2)
    assert sorted(sorted(block) for block in result.blocks()) == [["a", "b", "c"], ["x", "y", "z"]]
    part = tmp_path / "part"
    assert main(["partition", str(path), "-k", "2", "-q", "--names", "-o", str(part)]) == 0
    block = dict(line.split() for line in part.read_text().splitlines())
    assert block["a"] == block["b"] == block["c"] != block["x"]
    assert main(["evaluate", str(path), str(part), "--names"]) == 0
    wide = written(tmp_path / "wide.csv", "source,target,kind\na,b,x\nb,c,y\n")
    capsys.readouterr()
    assert main(["info", "--columns", "source,target", str(wide)]) == 0
    assert main(["info", "--no-header", str(written(wide, "a,b\nc,d\n"))]) == 0
    assert "4" in capsys.readouterr().out


def test_columns_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="columns is 5; two ends"):
        graph_io.read(written(tmp_path / "g.csv", "a,b\nb,c\n"), columns=5)


def test_titles_of_a_table_are_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, part = written(tmp_path / "t.csv", ",a,b,c\na,0,2,0\nb,2,0,1\nc,0,1,0\n"), tmp_path / "p"
    graph, names = graph_io.read_named(table)
    assert names.tolist() == graph.names == ["a", "b", "c"]
    assert main(["partition", str(table), "-k", "2", "-q", "--names", "-o", str(part)]) == 0
    assert [line.split()[0] for line in part.read_text().splitlines()] == ["a", "b", "c"]
    assert main(["evaluate", str(table), str(part), "--names"]) == 0
    written(table, "0,2,0\n2,0,1\n0,1,0\n")
    with pytest.raises(InputError, match="dense files without titles do not name"):
        graph_io.read_named(table, "dense")


def test_integers_of_a_file_are_names_too(tmp_path: Path) -> None:
    path = written(tmp_path / "g.txt", "".join(f"{10 * i} {10 * i + 10}\n" for i in range(1, 9)))
    result = portpart.partition(path, 2, fixed={10: 1, 90: 0})
    block = dict(zip(result.labels, result.part.tolist()))
    assert (block[10], block[90]) == (1, 0)
    assert sorted(name for members in result.blocks() for name in members) == sorted(block)
    with pytest.raises(InputError, match="7"):
        portpart.partition(path, 2, fixed={7: 0})


def test_plain_numbers_are_read_by_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portpart.formats.text.read_named_rows", None)
    path = written(tmp_path / "g.csv", "id_1,id_2,w\n" + "".join(
        f"{i},{i + 1},{i % 7}\n" for i in range(1000)))
    assert np.array_equal(graph_io.read(path).names, np.arange(1001))
