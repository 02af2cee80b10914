"""Whatever a file holds, reading it ends with a graph or with a typed error of one line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from portpart import io as graph_io
from portpart.errors import GraphFormatError, PortpartError
from portpart.formats import parhip
from tests.helpers.graphs import random_graph

GRAPH = random_graph(12, 20, 1, weighted=True)
BANNER = b"%%MatrixMarket matrix coordinate "


def bytes_of(save: Callable[[Any], None]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


WHOLE = {
    "own.npz": bytes_of(lambda file: np.savez_compressed(
        file, offsets=GRAPH.offsets, targets=GRAPH.targets, weights=GRAPH.weights)),
    "stored.npz": bytes_of(lambda file: np.savez(file, indptr=GRAPH.offsets,
                                                 indices=GRAPH.targets)),
    **{f"scipy_{kind}.npz": bytes_of(lambda file, kind=kind: sp.save_npz(
        file, GRAPH.to_scipy().asformat(kind))) for kind in ("csr", "csc", "coo", "bsr", "dia")},
    "g.parhip": b"".join(bytes(part) for part in parhip.chunks(GRAPH)),
    "table.npy": bytes_of(lambda file: np.save(file, GRAPH.to_scipy().toarray())),
    "g.graph.gz": gzip.compress(b"3 2\n2\n1 3\n2\n" * 3),
    "g.graph.xz": lzma.compress(b"3 2\n2\n1 3\n2\n"),
    "g.graph.bz2": bz2.compress(b"3 2\n2\n1 3\n2\n"),
}


def outcome(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    message = "read"
    try:
        graph_io.read(path)
    except PortpartError as problem:
        message = str(problem)
    assert "\n" not in message
    return message


def damaged(data: bytes) -> Iterator[bytes]:
    rng = np.random.default_rng(len(data))
    for place in range(0, len(data), 1 + len(data) // 100):
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(8))
        yield bytes(changed)
    for length in range(0, len(data), 1 + len(data) // 30):
        yield data[:length]


@pytest.mark.parametrize("name", WHOLE)
def test_flipped_bits_and_cut_files_give_typed_errors(name: str, tmp_path: Path) -> None:
    if name.startswith("scipy") or "npz" in name or "parhip" in name:
        assert outcome(tmp_path / name, WHOLE[name]) == "read"
    outcomes = [outcome(tmp_path / name, data) for data in damaged(WHOLE[name])]
    assert sum(each != "read" for each in outcomes) > len(outcomes) / 4


def with_method(data: bytes, method: int, version: int) -> bytes:
    """A zip file whose first member needs another method and version, here and in the directory."""
    changed = bytearray(data)
    for start, place in ((b"PK\x03\x04", 4), (b"PK\x01\x02", 6)):
        at = changed.find(start)
        changed[at + place] = version
        changed[at + place + 4] = method
    return bytes(changed)


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty npz": ("g.npz", b"", "g.npz: no .npz archive"),
    "npz of text": ("g.npz", b"1 2\n2 3\n", "g.npz: no .npz archive of plain arrays: File is not"),
    "zip version": ("g.npz", with_method(WHOLE["own.npz"], 8, 118), "no .npz .*version 11.8"),
    "zip method": ("g.npz", with_method(WHOLE["own.npz"], 175, 20), "no .npz .*compression"),
    "scipy without data": ("g.npz", bytes_of(lambda file: np.savez(
        file, indptr=[0, 0], indices=[0], format=b"csr", shape=(1, 1))), "no matrix .*'data'"),
    **{f"scipy shape {shape}": ("g.npz", bytes_of(lambda file, shape=shape: np.savez(
        file, format=b"csr", shape=shape, indptr=[0, 0], indices=[0], data=[1])),
        "no matrix saved .* its shape is") for shape in ((np.nan, 1.0), (1j, 2), (1,), 3)},
    "scipy offsets": ("g.npz", bytes_of(lambda file: np.savez(
        file, format=b"dia", shape=(2, 2), offsets=np.array([1j]), data=[[1, 2]])),
        "no matrix saved .* offsets is of type complex128"),
    "scipy format": ("g.npz", bytes_of(lambda file: np.savez(
        file, format=b"lil", shape=(1, 1))), "of format 'lil'; known are csr"),
    "scipy index": ("g.npz", bytes_of(lambda file: np.savez(
        file, format=b"csc", shape=(2, 2), indptr=[0, 1, 2], indices=[1, 99], data=[1, 1])),
        "no matrix saved by"),
    "pickled": ("g.npz", bytes_of(lambda file: np.savez(
        file, offsets=np.array([None, {}], object), targets=[0])), "numbers are needed$"),
    "latin-1 banner": ("g.mtx", BANNER + b"patt\xe9rn symmetric\n2 2 1\n2 1\n",
                       "g.mtx:1: unknown kind 'patt"),
    "long banner": ("g.mtx", b"%%MatrixMarket matrix " + b"x" * 9999 + b" real general\n",
                    r"g.mtx:1: the matrix is dense .x{40}."),
    "digits mtx": ("g.mtx", BANNER + b"pattern symmetric\n2 2 " + b"1" * 5000 + b"\n2 1\n",
                   "g.mtx:2: expected 'rows"),
    "digits gr": ("g.gr", b"p sp 2 " + b"1" * 5000 + b"\n1 2\n", "g.gr:1: expected 'p <word>"),
    "digits txt": ("g.txt", b"# portpart: vertices " + b"1" * 5000 + b"\n1 2\n",
                   "g.txt:1: a number of 5000 digits is not a number of vertices"),
    "digits graph": ("g.graph", b"2 " + b"1" * 5000 + b"\n2\n1\n", "g.graph:1: '1+' is not an int"),
    "not text": ("g.txt", b"1 2\n\xff\xfe\x80 3\n", "g.txt:2: '.*' is not an integer"),
    "holes": ("g.txt", b"1 2\n" * 2000 + bytes(400), "g.txt:2001: 1 words"),
    "archive": ("g.tar", b"x" * 257 + b"ustar" + b"y" * 500, "damaged archive"),
}


@pytest.mark.parametrize("name", BAD)
def test_the_message_says_what_is_wrong(name: str, tmp_path: Path) -> None:
    file, data, message = BAD[name]
    (tmp_path / file).write_bytes(data)
    with pytest.raises(GraphFormatError, match=message) as caught:
        graph_io.read(tmp_path / file)
    for advice in ("pickle", "load it unsafely", "max_header_size"):
        assert advice not in str(caught.value)


def test_members_without_a_meaning_are_not_unpacked(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", offsets=[0, 1, 2], targets=[1, 0], points=[object()])
    with zipfile.ZipFile(tmp_path / "g.npz", "a") as archive:
        archive.writestr("readme.txt", "not an array")
    assert graph_io.read(tmp_path / "g.npz").num_edges == 1
