"""Control characters of files never reach a terminal, and long words are shown by their begin."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import portpart
from portpart import errors
from portpart.cli import main

TITLE = "re\033]0;title\007al"
LONG = "w" * 3000
GRAPH = "3 2\n2\n1 3\n2\n"
RED = "a\033[31m.graph"

FILES = {
    "a banner": ("a.mtx", f"%%MatrixMarket matrix coordinate {TITLE} general\n1 1 0\n"),
    "a dense banner": ("a.mtx", f"%%MatrixMarket matrix {TITLE} real general\n1 1 0\n"),
    "a word": ("a.graph", "2 1\n2 \033[31mx\n1\n"),
    "a command": ("a.blif", ".model m\n.\033[31m\n"),
    "a title": ("a.csv", "src,\033[31m,kg,when\n1,2,3,4\n"),
    "a module": ("a.v", "module \\\033[31m (b); endmodule\n"),
    "its name": (RED, "2 1\n2 x\n1\n"),
}

WORDS = {
    "a table's driver": ("a.blif", f".model m\n.names a {LONG}\n1 1\n.names b {LONG}\n1 1\n"),
    "a command": ("a.blif", f".model m\n.{LONG}\n"),
    "a model": ("a.blif", f".model {LONG}\n.end\n.model {LONG}\n.end\n"),
    "a port": ("a.v", f"module m ({LONG}); endmodule\n"),
    "an instance": ("a.v", f"module m (a); input a; BUF {LONG} (.A(a), .Z(b)); BUF {LONG} "
                           "(.A(a), .Z(c)); endmodule\n"),
    "a module": ("a.v", f"module {LONG} (); endmodule\nmodule {LONG} (); endmodule\n"),
    "titles": ("a.csv", f"src,{LONG},kg,when\n1,2,3,4\n"),
    "two words": ("a.csv", f"{LONG},b\nc,d\n"),
    "a weight": ("a.csv", f"source,target,weight\na,b,{LONG}\n"),
}


def is_clean(text: str) -> bool:
    return all(letter == "\n" or letter.isprintable() for letter in text)


@pytest.mark.parametrize("name", FILES)
def test_messages_escape_what_files_hold(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    (tmp_path / file).write_text(text)
    with pytest.raises(portpart.PortpartError) as caught:
        portpart.io.read(tmp_path / file)
    assert is_clean(str(caught.value))
    assert "\\x1b" in str(caught.value)


@pytest.mark.parametrize("name", WORDS)
def test_messages_shorten_long_words(name: str, tmp_path: Path) -> None:
    file, text = WORDS[name]
    (tmp_path / file).write_text(text)
    with pytest.raises(portpart.PortpartError) as caught:
        portpart.io.read(tmp_path / file)
    message = str(caught.value).replace(str(tmp_path), "")
    assert len(message) < 400
    assert "wwww" in message


def test_columns_of_a_frame_are_listed_by_the_first_ones() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({f"column{i}": [0] for i in range(77)} | {LONG: [0]})
    for options in ({}, {"edge_weights": "missing"}):
        given = frame.rename(columns={"column0": "source", "column1": "target"}) if options else (
            frame)
        with pytest.raises(portpart.InputError) as caught:
            portpart.as_graph(given, **options)
        assert "'column7' and 70 more" in str(caught.value)
        assert "column8" not in str(caught.value)


def test_attributes_of_a_network_are_listed_by_the_first_ones() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge(0, 1, **{f"a{i:02}": 1 for i in range(50)})
    with pytest.raises(portpart.InputError, match="'a07' and 42 more"):
        portpart.as_graph(graph, edge_weights="missing")


@pytest.mark.parametrize("command", [["partition", "-k", "2"], ["convert"]])
def test_commands_show_names_of_files_escaped(
        command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path(RED).write_text(GRAPH)
    output = [] if command[0] != "convert" else ["\033]0;x\007/b.graph"]
    assert main([command[0], RED, *command[1:], *output]) == (2 if output else 0)
    told = capsys.readouterr()
    assert is_clean(told.out)
    assert is_clean(told.err)
    assert "\\x1b" in told.out + told.err


def test_warnings_of_commands_are_escaped(
        tmp_path: Path, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(*_: object, **__: object) -> None:
        warnings.warn(f"of {RED}", stacklevel=1)
        raise portpart.InputError("read no further")

    monkeypatch.setattr("portpart.io.read", reading)
    main(["info", str(tmp_path / "g.graph")])
    assert "warning: of a\\x1b[31m.graph" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "shown"), [
    ("plain", "plain"), ("two\nlines", "two\nlines"), ("a\rb", "a\\rb"), ("é\u202eb", "é\\u202eb"),
    ("\udcff", "\\udcff"), ("", "")])
def test_printable_text_has_no_control_characters(text: str, shown: str) -> None:
    assert errors.printable(text) == shown
    assert str(portpart.InputError(text)) == shown
