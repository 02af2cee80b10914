"""Arrays of ``.npy`` and ``.npz`` files, which may be damaged, and names of vertices as arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib import format as npy

from portpart.errors import GraphFormatError
from portpart.formats.text import CHUNK, are_integers

# Arrays in NumPy's own format, from bytes that may be damaged or have a wrong size -------------


ARRAY_BEGINS = b"\x93NUMPY"

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
"""Readers of the header of each version of the format."""


def read_array(name: str, stream: Any, size: int) -> np.ndarray:
    """Return the array in a stream of `size` bytes.

    Raises
    ------
    GraphFormatError
        If it has no array, holds Python objects, or needs more than `size` bytes by its header.
    """
    shape, fortran, dtype = header_of(name, stream)
    try:
        if dtype.hasobject or dtype.kind not in "biufcSU":
            raise GraphFormatError(f"{name}: holds an array of {dtype}; numbers are needed")
        count = math.prod(shape)
        if min(shape, default=0) < 0 or count * dtype.itemsize > size:
            raise GraphFormatError(f"{name}: promises an array of shape {shape} in {size} bytes")
        array = np.empty(shape, dtype, order="F" if fortran else "C")
        if not _filled(array.T if fortran else array, stream):
            raise GraphFormatError(f"{name}: ends in the middle of an array")
    except (GraphFormatError, MemoryError):
        raise
    except Exception as problem:  # any error of the unpacked stream
        raise _damaged(name, problem) from problem
    return array


def header_of(name: str, stream: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return shape, order and type of the array that follows in a stream.

    Raises
    ------
    GraphFormatError
        If the stream does not begin with the header of an array.
    """
    try:
        version = npy.read_magic(stream)
        if version not in HEADERS:
            raise ValueError(f"version {version} of the format")
        return HEADERS[version](stream)
    except MemoryError:
        raise
    except Exception as problem:  # NumPy reads a header with Python's parser, which raises anything
        raise _damaged(name, problem) from problem


def _damaged(name: str, problem: Exception) -> GraphFormatError:
    return GraphFormatError(f"{name}: damaged, or not an array of NumPy: {_first_line(problem)}")


def _filled(array: np.ndarray, stream: Any) -> bool:
    """Read an array's bytes in pieces, so that they are in memory once; return if complete."""
    rest = array.reshape(-1).view(np.uint8)
    while len(rest):
        piece = stream.read(min(CHUNK, len(rest)))
        if not piece:
            return False
        rest[: len(piece)] = np.frombuffer(piece, np.uint8)
        rest = rest[len(piece) :]
    return True


def _first_line(problem: BaseException) -> str:
    """Return the message of an exception, in one line."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__


# Names of vertices as plain arrays of an archive: integers, or the bytes of all words


NAMES, ENDS = "vertex_names", "vertex_name_ends"
"""Integers are stored as `NAMES`; for words, `NAMES` has their bytes in UTF-8 and `ENDS` where each
ends.
"""


def packed_names(names: Sequence[Hashable] | None) -> dict[str, np.ndarray]:
    """Return the arrays of some names; names that are not integers are stored as their text."""
    if names is None:
        return {}
    if are_integers(names):
        return {NAMES: np.array(names, np.int64)}
    words = [str(name).encode("utf-8", "surrogatepass") for name in names]
    return {NAMES: np.frombuffer(b"".join(words), np.uint8),
            ENDS: np.cumsum([len(word) for word in words], dtype=np.int64)}


def names_of(arrays: Mapping[str, np.ndarray], n: int, where: str) -> list[Hashable] | None:
    """Return the names of `n` vertices in the arrays of an archive called `where`, if it has any.

    Raises
    ------
    GraphFormatError
        If the arrays are not in the form of `packed_names`.
    """
    if NAMES not in arrays:
        return None
    names, ends = arrays[NAMES], arrays.get(ENDS)
    if ends is None:
        if names.dtype.kind not in "iu" or names.shape != (n,):
            raise GraphFormatError(f"{where}: {NAMES} has shape {names.shape} and type "
                                   f"{names.dtype}; integers of shape ({n},) are needed, or bytes "
                                   f"with {ENDS}")
        return list(names.tolist())
    if names.dtype != np.uint8 or names.ndim != 1 or ends.dtype.kind != "i" or ends.shape != (n,):
        raise GraphFormatError(f"{where}: {NAMES} are of type {names.dtype} and {ENDS} has shape "
                               f"{ends.shape} and type {ends.dtype}; bytes, and integers of shape "
                               f"({n},), are needed")
    begins = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    if (np.diff(begins) < 0).any() or int(begins[-1]) != len(names):
        raise GraphFormatError(f"{where}: {ENDS} do not divide {len(names)} bytes into names")
    data = names.tobytes()
    try:
        return [data[begin:end].decode("utf-8", "surrogatepass")
                for begin, end in pairwise(begins.tolist())]
    except UnicodeDecodeError as problem:
        raise GraphFormatError(f"{where}: {NAMES} are not UTF-8: {problem}") from problem
