"""Compression and archives: gzip, xz, bzip2, zstd, and the only graph file of a tar or zip file.

Packing is recognised by the first bytes, not by the name. Unpacking stops early if a small file
would fill the memory.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from portpart.errors import GraphFormatError, InputError

UNCHECKED_BYTES = 1 << 26
"""Bytes of text that any packed file may contain."""

LARGEST_RATIO = 1000
"""Larger text may be at most this many times as long as the packed file."""

BYTES_PER_VERTEX = 64
"""Bytes of text allowed for each vertex that a caller allows."""

CHUNK = 1 << 22

ZSTD_FRAME = b"\x28\xb5\x2f\xfd"

ZIP_MEMBER, ZIP_EMPTY = b"PK\x03\x04", b"PK\x05\x06"

TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257

FIRST_BYTES = TAR_MAGIC_AT + len(TAR_MAGIC)
"""Number of first bytes of a file that show whether it is packed."""

DAMAGE = (
    OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
    tarfile.TarError, NotImplementedError, RuntimeError)
"""Exceptions of the standard library for damaged or unusual data."""

ZSTD_MODULES = ("compression.zstd", "backports.zstd")
"""Modules of zstd: in Python 3.14, and in a package for older versions."""


def _damage() -> tuple[type[Exception], ...]:
    """Return `DAMAGE`, and the error of zstd if it has been imported."""
    loaded = (sys.modules.get(name) for name in ZSTD_MODULES)
    return DAMAGE + tuple(module.ZstdError for module in loaded if module is not None)


@contextmanager
def undamaged(name: str, what: str = "no .npz archive of plain arrays") -> Iterator[None]:
    """Context in which damage becomes a `GraphFormatError` that says `what` a file is."""
    try:
        yield
    except InputError:
        raise
    except _damage() as problem:
        raise GraphFormatError(f"{name}: {what}: {problem}") from problem


def _open_zstd(file: Any, mode: str) -> Any:
    for name in ZSTD_MODULES:
        with suppress(ImportError):
            return importlib.import_module(name).open(file, mode)
    raise InputError("files packed with zstd need Python 3.14 or the package backports-zstd: "
                     "pip install 'portpart[zstd]'")


COMPRESSIONS: dict[str, tuple[bytes, Callable[..., Any]]] = {
    ".gz": (b"\x1f\x8b", gzip.open),
    ".xz": (b"\xfd7zXZ\x00", lzma.open),
    ".bz2": (b"BZh", bz2.open),
    ".zst": (ZSTD_FRAME, _open_zstd),
}
"""First bytes and opener of each compression, by file suffix."""


def bare_name(name: str) -> str:
    """Return a file name without the suffix of its compression."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in COMPRESSIONS else name


def is_packed(begin: bytes) -> bool:
    """Whether a file with these first bytes is compressed, or an archive of tar."""
    magics = tuple(magic for magic, _ in COMPRESSIONS.values())
    return begin.startswith(magics) or begin[TAR_MAGIC_AT:].startswith(TAR_MAGIC)


def unpacked(name: str, data: bytes, max_vertices: int | None,
             suffixes: tuple[str, ...]) -> tuple[str, bytes]:
    """Return name and text of the contents of `data`: itself, or the graph file packed in it.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    data : bytes
    max_vertices : int or None
        Maximum that the caller allows; None: the ratio of unpacked to packed size is limited.
    suffixes : tuple of str
        Endings of the names of files in an archive that may be graphs.
    """
    limit = max(UNCHECKED_BYTES, LARGEST_RATIO * len(data), BYTES_PER_VERTEX * (max_vertices or 0))
    for suffix, (magic, opened) in COMPRESSIONS.items():
        if data.startswith(magic):
            with undamaged(name, f"damaged {suffix[1:]} data"):
                with opened(io.BytesIO(data), "rb") as stream:
                    data = _read_up_to(limit, stream, name)
            break
    if data[TAR_MAGIC_AT : TAR_MAGIC_AT + len(TAR_MAGIC)] == TAR_MAGIC:
        return _member(name, data, limit, suffixes, _tar_files)
    if data.startswith((ZIP_MEMBER, ZIP_EMPTY)) and not _is_npz(data):
        return _member(name, data, limit, suffixes, _zip_files)
    return name, data


def _read_up_to(limit: int, stream: Any, name: str) -> bytes:
    """Return all bytes of a stream; raise an error above `limit`."""
    chunks, size = [], 0
    while chunk := stream.read(CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise GraphFormatError(
                f"{name}: unpacks to more than {limit >> 20} MiB, over {LARGEST_RATIO} times its "
                "size; if that is right, pass max_vertices= (--max-vertices)")
    return b"".join(chunks)


Opener = Callable[[], Any]
"""Opens a member of an archive for reading."""


def _member(name: str, data: bytes, limit: int, suffixes: tuple[str, ...],
            files_of: Callable[[bytes], Iterator[tuple[str, Opener]]]) -> tuple[str, bytes]:
    """Return name and bytes of the graph file in an archive."""
    with undamaged(name, "damaged archive"):
        files = dict(files_of(data))
        chosen = _main_file(name, [file for file in files if file.lower().endswith(suffixes)])
        with files[chosen]() as stream:
            return f"{name}/{chosen}", _read_up_to(limit, stream, name)


def _tar_files(data: bytes) -> Iterator[tuple[str, Opener]]:
    archive = tarfile.open(fileobj=io.BytesIO(data), mode="r:")
    for entry in archive:
        if entry.isfile():
            yield entry.name, partial(archive.extractfile, entry)


def _zip_files(data: bytes) -> Iterator[tuple[str, Opener]]:
    archive = zipfile.ZipFile(io.BytesIO(data))
    for entry in archive.infolist():
        if not entry.is_dir():
            yield entry.filename, partial(archive.open, entry)


def _is_npz(data: bytes) -> bool:
    """Whether a zip file is taken for NumPy's: it has arrays, no files, or cannot be read."""
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except _damage():
        return True
    return not names or any(name.endswith(".npy") for name in names)


def _main_file(name: str, candidates: list[str]) -> str:
    """Return the only graph among the files of an archive.

    SuiteSparse packs the matrix ``A`` as ``A/A.mtx`` with ``A/A_b.mtx``, ``A/A_coord.mtx`` and
    others next to it.
    """
    main = [file for file in candidates if _stem(file) == os.path.basename(os.path.dirname(file))]
    for choice in (candidates, main):
        if len(choice) == 1:
            return choice[0]
    if not candidates:
        raise GraphFormatError(f"{name}: no file of this archive is named as a graph "
                               "(.mtx, .graph, .txt ...); unpack it")
    shown = ", ".join(candidates[:4]) + (" ..." if len(candidates) > 4 else "")
    raise GraphFormatError(f"{name}: holds {len(candidates)} files that may be the graph "
                           f"({shown}); unpack it and name one")


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]
