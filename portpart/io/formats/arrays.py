"""Arrays in NumPy's own format, from bytes that may be damaged or lie about their size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib import format as npy

from portpart.errors import GraphFormatError
from portpart.io.text.packed import CHUNK

ARRAY_BEGINS = b"\x93NUMPY"


def read_array(name: str, stream: Any, size: int) -> np.ndarray:
    """The array in a stream of `size` bytes.

    Raises
    ------
    GraphFormatError
        If there is none, it holds Python objects, or its header promises more than `size`.
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
    except Exception as problem:  # whatever unpacks the stream
        raise _damaged(name, problem) from problem
    return array


def header_of(name: str, stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of the array that follows in a stream.

    Raises
    ------
    GraphFormatError
        If the stream does not begin with the header of an array.
    """
    try:
        return _header(stream)
    except MemoryError:
        raise
    except Exception as problem:  # NumPy reads a header with Python's parser, which raises anything
        raise _damaged(name, problem) from problem


def _damaged(name: str, problem: Exception) -> GraphFormatError:
    return GraphFormatError(f"{name}: damaged, or not an array of NumPy: {_first_line(problem)}")


def _filled(array: np.ndarray, stream: Any) -> bool:
    """Read an array's bytes in pieces, so that they are in memory once; whether all were there."""
    room = array.reshape(-1).view(np.uint8)
    while len(room):
        piece = stream.read(min(CHUNK, len(room)))
        if not piece:
            return False
        room[: len(piece)] = np.frombuffer(piece, np.uint8)
        room = room[len(piece) :]
    return True


def _header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of the array that follows."""
    version = npy.read_magic(stream)
    if version == (1, 0):
        return npy.read_array_header_1_0(stream)
    if version == (2, 0):
        return npy.read_array_header_2_0(stream)
    raise ValueError(f"version {version} of the format")


def _first_line(problem: BaseException) -> str:
    """What an exception says, in one line."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__
