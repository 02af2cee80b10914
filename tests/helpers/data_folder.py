"""Where the real graphs are: $PORTPART_DATA or ../shared/data beside the repository."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

DATA = Path(os.environ.get("PORTPART_DATA", Path(__file__).parents[3] / "shared" / "data"))

GRAPH_ROW = re.compile(
    r"\| (?P<name>[^|]+) \| [^|]+ \| (?P<n>[\d,]+) \| (?P<m>[\d,]+) \| (?P<weights>\w+)[^|]* \|"
    r" [\d,]+ \| [\d,]+ \|")


class Entry(NamedTuple):
    """One graph of the catalogue."""

    name: str
    num_vertices: int
    num_edges: int
    weighted: bool


def require(path: Path) -> Path:
    """`path`, or skip the test if it is not there."""
    if not path.exists():
        pytest.skip(f"{path} is missing; set PORTPART_DATA to the folder of real graphs")
    return path


def catalogue() -> list[Entry]:
    """Graphs of the catalogue; empty if there is none."""
    path = DATA / "CATALOG.md"
    text = path.read_text().partition("\n## graphs")[2] if path.exists() else ""
    rows = (GRAPH_ROW.match(line) for line in text.partition("\n## ")[0].splitlines())
    return [
        Entry(row["name"], _number(row["n"]), _number(row["m"]), row["weights"] == "edge")
        for row in rows if row
    ]


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def graph_path(name: str) -> Path:
    """File of a graph of the catalogue."""
    plain = DATA / "graphs" / f"{name}.graph"
    return plain if plain.exists() else require(plain.with_name(f"{name}.graph.xz"))


HYPERGRAPH_ROW = re.compile(
    r"\| (?P<name>[^|]+) \| [^|]+ \| (?P<n>[\d,]+) \| (?P<m>[\d,]+) \| (?P<pins>[\d,]+) \|"
    r" (?P<weights>\w+) \| (?P<largest>[\d,]+) \|")


class HypergraphEntry(NamedTuple):
    """One hypergraph of the catalogue."""

    name: str
    num_vertices: int
    num_nets: int
    num_pins: int
    weighted: bool
    max_net_size: int


def hypergraphs() -> list[HypergraphEntry]:
    """Hypergraphs of the catalogue; empty if there is none."""
    path = DATA / "CATALOG.md"
    text = path.read_text().partition("\n## hypergraphs")[2] if path.exists() else ""
    rows = (HYPERGRAPH_ROW.match(line) for line in text.partition("\n## ")[0].splitlines())
    return [HypergraphEntry(row["name"], *map(_number, row.group("n", "m", "pins")),
                            row["weights"] == "vertex", _number(row["largest"]))
            for row in rows if row]


def hypergraph_path(name: str) -> Path:
    """File of a hypergraph of the catalogue."""
    plain = DATA / "hypergraphs" / f"{name}.hgr"
    return plain if plain.exists() else require(plain.with_name(f"{name}.hgr.xz"))
