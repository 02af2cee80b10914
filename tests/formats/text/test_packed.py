"""Compression, archives, byte order marks, and files in formats that are not read."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError
from portpart.formats.text import packed
from tests import oracles
from tests.helpers.graphs import drawn_graphs

MATRIX = b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"


def tar_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


ARCHIVES = {"g.tar": tar_of, "g.tar.gz": lambda files: gzip.compress(tar_of(files)),
            "g.tgz": lambda files: gzip.compress(tar_of(files)), "g.zip": zip_of}


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_matrix_of_an_archive_is_read(name: str, tmp_path: Path) -> None:
    for others in ({}, {"LF10/LF10_B.mtx": b"x", "LF10/LF10_coord.mtx": b"y"}):
        files = {**others, "LF10/readme": b"hello", "LF10/LF10.mtx": MATRIX}
        (tmp_path / name).write_bytes(ARCHIVES[name](files))
        assert graph_io.read(tmp_path / name).num_edges == 2


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_without_one_main_graph_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(ARCHIVES[name]({"a.mtx": MATRIX, "b.graph": b"1 0\n\n"}))
    with pytest.raises(GraphFormatError, match=r"holds 2 files that may be .*\(a.mtx, b.graph\)"):
        graph_io.read(tmp_path / name)
    (tmp_path / name).write_bytes(ARCHIVES[name]({"a.pdf": b"%PDF"}))
    with pytest.raises(GraphFormatError, match="no file of this archive is named as a graph"):
        graph_io.read(tmp_path / name)


def test_a_message_names_archive_and_file(tmp_path: Path) -> None:
    (tmp_path / "g.tar").write_bytes(tar_of({"a/a.graph": b"3 2\n2\n1 4\n2\n"}))
    with pytest.raises(GraphFormatError, match=r"g.tar/a/a.graph:3: neighbour 4"):
        graph_io.read(tmp_path / "g.tar")


def test_zstd_round_trip_frames_and_cut_files(tmp_path: Path) -> None:
    pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    path = tmp_path / "g.graph.zst"
    graph_io.write(drawn_graphs()["weighted"], path)
    assert path.read_bytes().startswith(packed.ZSTD_FRAME)
    oracles.assert_same_graph(graph_io.read(path), drawn_graphs()["weighted"])
    whole = path.read_bytes()
    graph_io.write_partition([0, 1], tmp_path / "p.zst")
    path.write_bytes((tmp_path / "p.zst").read_bytes() * 3)
    assert graph_io.read_partition(path).tolist() == [0, 1] * 3
    for length in range(5, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(GraphFormatError, match="damaged zst data"):
            graph_io.read(path)


def test_zstd_without_a_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.zst").write_bytes(packed.ZSTD_FRAME + b"1234")
    for name in packed.ZSTD_MODULES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"Python 3.14 or the package backports-zstd: pip in"):
        graph_io.read(tmp_path / "g.zst")
    with pytest.raises(InputError, match="package backports-zstd"):
        graph_io.write_partition([0], tmp_path / "p.zst")
    assert not (tmp_path / "p.zst").exists()


@pytest.mark.parametrize("text", ["2 1\n2\n1\n", "# x\n1 2\n", MATRIX.decode(), "p tw 2 1\n1 2\n"])
def test_a_byte_order_mark_is_left_out(text: str, tmp_path: Path) -> None:
    (tmp_path / "g.data").write_text(text, encoding="utf-8-sig")
    assert graph_io.read(tmp_path / "g.data").num_edges == text.count("\n3 2") + 1
    (tmp_path / "part").write_text("0\n1\n", encoding="utf-8-sig")
    assert graph_io.read_partition(tmp_path / "part").tolist() == [0, 1]
    (tmp_path / "g.data").write_text(text, encoding="utf-16")
    with pytest.raises(GraphFormatError, match="is UTF-16 text; save it as UTF-8"):
        graph_io.read(tmp_path / "g.data")


FOREIGN = {
    "g.hgr": (b"2 3\n1 2\n2 3\n", r"hypergraph \(hMETIS\)"),
    "g.gml": (b"graph [\n node [ id 0 ] ]\n", "GML file: read it with networkx"),
    "g.graphml": (b"<?xml version='1.0'?>\n<graphml/>\n", r"XML file \(GraphML or GEXF\)"),
    "g.json": (b'{"nodes": []}', "JSON file"),
    "g.dot": (b"digraph G {\n a -> b\n}\n", "DOT file"),
    "g.net": (b"*Vertices 2\n", "Pajek file"),
    "g.mtx": (b"<!DOCTYPE html><html>", "web page, as failed downloads leave"),
    "g.graph": (b"\x89HDF\r\n\x1a\n", "HDF5 file"),
    "g.csv": (b"PAR1\x15\x04", "Parquet file: read it with pandas"),
    "g.el": (b"\x80\x04\x95", "Python pickle"),
    "g.mat": (b"MATLAB 5.0 MAT-file", "MATLAB file: scipy.io.loadmat"),
    "g.bin": (b"\x01\x02\x00\x00\x03\x00", "binary, in no format that is read"),
    "g.7z": (b"7z\xbc\xaf\x27\x1c", "7-Zip archive: unpack it first"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_formats_are_named(name: str, tmp_path: Path) -> None:
    data, message = FOREIGN[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(GraphFormatError, match=f"{name}: is .*{message}"):
        graph_io.read(tmp_path / name)


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown format to write 'nonsense'; known are metis"):
        graph_io.write([(0, 1)], tmp_path / "g.graph", format="nonsense")
    with pytest.raises(InputError, match="unknown format 'nonsense'; known are metis"):
        graph_io.read(tmp_path / "g.graph", format="nonsense")


def test_what_is_packed_is_recognised_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = SimpleNamespace(buffer=io.BytesIO(ARCHIVES["g.tar.gz"]({"a/a.mtx": MATRIX})))
    monkeypatch.setattr("sys.stdin", stream)
    assert graph_io.read("-").num_edges == 2


def test_reading_imports_no_package_that_it_does_not_need() -> None:
    code = "import sys, portpart.io; assert not {'backports.zstd', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
