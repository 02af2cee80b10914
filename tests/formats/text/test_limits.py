"""Small files cannot fill the memory: sizes are checked before anything is made of them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from portpart import io as graph_io
from portpart.errors import GraphFormatError, InputError, OutOfMemory
from portpart.formats.text import files, packed
from tests.helpers.graphs import random_graph

BANNER = "%%MatrixMarket matrix coordinate pattern symmetric\n"

BOMBS = {
    "g.mtx": BANNER + "300000000 300000000 1\n2 1\n",
    "g.gr": "p sp 300000000 1\na 1 2 3\n",
    "h.gr": "1 300000002\n",
    "g.txt": "# portpart: vertices 200000000\n0 1\n",
    "g.graph": "2000000000 0\n",
}


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", BOMBS)
def test_more_vertices_than_text_are_refused(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / name, BOMBS[name])
    graph_io.read(written(tmp_path / "small.gr", "p sp 3 1\n1 2\n"))
    tracemalloc.start()
    try:
        with pytest.raises(GraphFormatError, match=rf"{name}:\d: \d+ vertices in \d+ bytes; if that"
                                                   r" .* max_vertices=\d+ \(--max-vertices\)"):
            graph_io.read(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="counts memory as Unix does")
def test_a_bomb_takes_no_memory_on_the_command_line(tmp_path: Path) -> None:
    path = written(tmp_path / "g.mtx", BOMBS["g.mtx"])
    code = ("import resource, sys, portpart.cli as cli; "
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
            f"code = cli.main(['info', {str(path)!r}]); "
            "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
            "print(code, (after - before) // 1024)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    code, mebibytes = map(int, done.stdout.split())
    assert code == 2
    assert mebibytes < 200  # the library itself
    assert "300000000 vertices in" in done.stderr


def test_many_isolated_vertices_are_read_up_to_the_limit(tmp_path: Path) -> None:
    n = files.UNCHECKED_VERTICES
    path = written(tmp_path / "g.gr", f"p tw {n} 1\n1 2\n")
    assert graph_io.read(path).num_vertices == n
    path = written(tmp_path / "g.gr", f"p tw {n + 1} 1\n1 2\n")
    with pytest.raises(GraphFormatError, match=f"max_vertices={n + 1}"):
        graph_io.read(path)
    assert graph_io.read(path, max_vertices=n + 1).num_vertices == n + 1
    path = written(tmp_path / "g.gr", f"p tw {n + 1} 1\nc {' ' * (n // 16)}\n1 2\n")
    assert graph_io.read(path).num_vertices == n + 1


@pytest.mark.parametrize("suffix", ["graph", "mtx", "txt", "gr", "npz"])
def test_a_limit_that_is_asked_for_is_kept(suffix: str, tmp_path: Path) -> None:
    graph_io.write(random_graph(50, 100, 1), tmp_path / f"g.{suffix}")
    assert graph_io.read(tmp_path / f"g.{suffix}", max_vertices=50).num_vertices == 50
    with pytest.raises(GraphFormatError, match="50 vertices"):
        graph_io.read(tmp_path / f"g.{suffix}", max_vertices=49)


@pytest.mark.parametrize("limit", [-1, 2.5, "9"])
def test_limits_that_are_no_numbers_are_refused(limit: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="max_vertices is"):
        graph_io.read(written(tmp_path / "g.txt", "0 1\n"), max_vertices=limit)


ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


def zstd(data: bytes) -> bytes:
    compressed: bytes = pytest.importorskip(ZSTD).compress(data)
    return compressed


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_unpacking_stops_early(
    pack: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "UNCHECKED_BYTES", 1 << 16)
    monkeypatch.setattr(packed, "LARGEST_RATIO", 100)
    monkeypatch.setattr(packed, "CHUNK", 1 << 16)
    data = pack(b"\n" * (1 << 22))
    (tmp_path / "g.graph.x").write_bytes(data)
    graph_io.read_partition(written(tmp_path / "p", "0\n"))
    tracemalloc.start()
    try:
        with pytest.raises(GraphFormatError, match="over 100 times its size; if that is right"):
            graph_io.read(tmp_path / "g.graph.x")
        limit = max(1 << 16, 100 * len(data))
        assert tracemalloc.get_traced_memory()[1] < limit + len(data) + (10 << 20)
    finally:
        tracemalloc.stop()
    with pytest.raises(GraphFormatError, match="n m"):
        graph_io.read(tmp_path / "g.graph.x", max_vertices=1 << 22)


def test_what_packs_well_is_read_below_the_floor(tmp_path: Path) -> None:
    text = b"1 0\n\n" + b"\n" * (1 << 22)
    assert len(text) > packed.LARGEST_RATIO * len(bz2.compress(text))
    (tmp_path / "g.graph.bz2").write_bytes(bz2.compress(text))
    assert graph_io.read(tmp_path / "g.graph.bz2").num_vertices == 1


def test_partitions_pack_as_well_as_they_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "UNCHECKED_BYTES", 1 << 16)
    n = 1 << 20
    (tmp_path / "part.xz").write_bytes(lzma.compress(b"0\n" * n))
    assert not graph_io.read_partition(tmp_path / "part.xz", n).any()
    with pytest.raises(GraphFormatError, match="over 1000 times its size"):
        graph_io.read_partition(tmp_path / "part.xz")


def npz_of(name: str, header: dict[str, Any], size: int) -> bytes:
    """An archive of an array whose header may lie, filled with zeros."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", stream.getvalue() + bytes(size))
    return buffer.getvalue()


def test_arrays_that_promise_more_than_there_is_are_refused(tmp_path: Path) -> None:
    header = {"descr": "<i8", "fortran_order": False, "shape": (10**12,)}
    (tmp_path / "g.npz").write_bytes(npz_of("offsets", header, 800))
    with pytest.raises(GraphFormatError, match=r"promises an array of shape \(1000000000000,\)"):
        graph_io.read(tmp_path / "g.npz")
    size = packed.UNCHECKED_BYTES + 1024
    header["shape"] = (size // 8,)
    (tmp_path / "g.npz").write_bytes(npz_of("offsets", header, size))
    with pytest.raises(GraphFormatError, match=r"offsets.npy unpacks to \d+ bytes, over 1000"):
        graph_io.read(tmp_path / "g.npz")


def test_a_sparse_matrix_of_a_huge_shape_is_refused(tmp_path: Path) -> None:
    for kind in ("coo", "dia"):
        np.savez(tmp_path / "g.npz", format=kind, shape=(10**9, 10**9), data=[1], row=[0], col=[1],
                 offsets=[0])
        with pytest.raises(GraphFormatError, match="1000000000 vertices in"):
            graph_io.read(tmp_path / "g.npz")


def test_memory_that_is_not_there_is_told_by_the_librarys_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr("portpart.formats.edge_list.parse", fail)
    with pytest.raises(OutOfMemory, match="its graph does not fit into memory"):
        graph_io.read(written(tmp_path / "g.txt", "0 1\n"))
