"""A format of one's own takes a module and an entry of the table of formats."""

from __future__ import annotations

from pathlib import Path

import pytest

import portpart
from portpart.inputs.known import FORMATS, Format


@pytest.fixture(autouse=True)
def own_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the format "ends" for the time of a test."""
    monkeypatch.setitem(FORMATS, "ends", Format("tests.formats.own_format", (".ends",), ()))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    graph = portpart.generators.delaunay(200)
    portpart.io.write(graph, tmp_path / "mesh.ends")
    again = portpart.io.read(tmp_path / "mesh.ends", format="ends")
    assert again.offsets.tolist() == graph.offsets.tolist()
    assert again.targets.tolist() == graph.targets.tolist()


@pytest.mark.parametrize("text", ["3\n0 1\n2\n", "3\n0 x\n"])
def test_damaged_files_are_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "damaged.ends").write_text(text)
    with pytest.raises(portpart.GraphFormatError, match=r"damaged\.ends:1: expected"):
        portpart.io.read(tmp_path / "damaged.ends", format="ends")
