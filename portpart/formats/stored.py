"""Arrays at known places of files, read in parts: ParHIP files, .npz and .npy files."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from portpart import backends
from portpart.errors import GraphFormatError
from portpart.formats import parhip
from portpart.formats.arrays import header_of
from portpart.formats.npz import BARE_NAMES, OWN_NAMES
from portpart.formats.text import undamaged
from portpart.graphs import integral

MAX_HEADER = 1 << 16
"""Number of bytes that are searched for the header of an array, whatever its stated length."""

LOCAL_HEADER = 30
"""Bytes of the header before a member of an archive, without its name and additional fields."""


@dataclass(frozen=True)
class StoredArray(parhip.Section):
    """Consecutive numbers in a file.

    Attributes
    ----------
    name : str
        Name of the numbers in messages.
    file : file opened for reading bytes
    """

    name: str
    file: BinaryIO

    def part(self, first: int, last: int) -> np.ndarray:
        """Return the numbers from `first` to `last`, without the latter.

        Raises
        ------
        GraphFormatError
            If the file has become shorter.
        """
        self.file.seek(self.begin + first * self.dtype.itemsize)
        values = np.fromfile(self.file, self.dtype, last - first)
        if len(values) < last - first:
            raise GraphFormatError(f"{self.name}: ends after {first + len(values)} of {self.count} "
                                   "numbers")
        return values.astype(self.dtype.newbyteorder("="), copy=False)


@dataclass(frozen=True)
class StoredRows:
    """The arrays of a graph in files.

    Attributes
    ----------
    offsets, targets : StoredArray
    weights, vertex_weights : StoredArray or None
    as_offsets : callable
        ``as_offsets(values, first)`` returns the offsets from number `first` on, as int64.
    """

    offsets: StoredArray
    targets: StoredArray
    weights: StoredArray | None
    vertex_weights: StoredArray | None
    as_offsets: Callable[[np.ndarray, int], np.ndarray]


def rows_of_parhip(name: str, file: BinaryIO, size: int) -> StoredRows:
    """Return the arrays of a ParHIP file."""
    layout = parhip.layout_of(name, file.read(parhip.HEADER_BYTES), size)
    positions, targets, vertex_weights, weights = (
        None if section is None else StoredArray(**vars(section), name=name, file=file)
        for section in (layout.positions, layout.targets, layout.vertex_weights, layout.weights))
    assert positions is not None
    assert targets is not None
    return StoredRows(positions, targets, weights, vertex_weights, layout.offsets_of)


def rows_of_npz(name: str, file: BinaryIO, size: int) -> StoredRows:
    """Return the arrays of an archive whose members are not compressed."""
    arrays = {}
    with undamaged(name):
        with zipfile.ZipFile(file) as archive:
            members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        for key in dict.fromkeys((*OWN_NAMES, *BARE_NAMES)):
            entry = members.get(key)
            if entry is None:
                continue
            where = f"{name}: {entry.filename}"
            if entry.compress_type != zipfile.ZIP_STORED:
                raise GraphFormatError(f"{where}: is compressed, and ranges are read of archives "
                                       "that are not: numpy.savez or portpart convert write such")
            arrays[key] = _stored(where, file, _begin_of(file, entry), entry.file_size, size)
    return _rows_of_arrays(name, arrays)


def rows_of_folder(name: str, files: Mapping[str, BinaryIO]) -> StoredRows:
    """Return the arrays of a folder of open .npy files, by name."""
    arrays = {}
    for key, file in files.items():
        size = os.fstat(file.fileno()).st_size
        arrays[key] = _stored(os.path.join(name, f"{key}.npy"), file, 0, size, size)
    return _rows_of_arrays(name, arrays)


def _begin_of(file: BinaryIO, entry: zipfile.ZipInfo) -> int:
    """Return the first byte of a member of an archive."""
    file.seek(entry.header_offset)
    header = file.read(LOCAL_HEADER)
    if len(header) < LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise ValueError(f"{entry.filename} is not where the directory says")
    lengths = [int.from_bytes(header[at : at + 2], "little") for at in (26, 28)]
    return entry.header_offset + LOCAL_HEADER + sum(lengths)


def _stored(name: str, file: BinaryIO, begin: int, length: int, size: int) -> StoredArray:
    """Return the array in NumPy's format in `length` bytes of a file of `size` bytes."""
    file.seek(begin)
    read = file.read(min(length, MAX_HEADER))
    rest = io.BytesIO(read)
    shape, _, dtype = header_of(name, rest)
    data = begin + len(read) - len(rest.read())
    if dtype.kind not in "iu" or len(shape) != 1:
        raise GraphFormatError(f"{name}: holds an array of {dtype} of shape {shape}; integers of "
                               "one dimension are needed")
    if shape[0] < 0 or data + shape[0] * dtype.itemsize > min(begin + length, size):
        raise GraphFormatError(f"{name}: promises an array of shape {shape} in {length} bytes")
    return StoredArray(data, shape[0], dtype, name, file)


def _rows_of_arrays(name: str, arrays: Mapping[str, StoredArray]) -> StoredRows:
    """Return the rows of arrays that have the names of a graph's arrays."""
    for names in (OWN_NAMES, BARE_NAMES):
        if names[0] in arrays and names[1] in arrays:
            offsets, targets = arrays[names[0]], arrays[names[1]]
            weights, vertex_weights = (arrays.get(key) for key in names[2:])
            break
    else:
        raise GraphFormatError(f"{name}: holds {', '.join(sorted(arrays)) or 'nothing'} of a "
                               "graph; expected offsets and targets, or indptr and indices")
    if offsets.count == 0:
        raise GraphFormatError(f"{offsets.name}: is empty; n + 1 offsets are needed")
    for array, count in ((weights, targets.count), (vertex_weights, offsets.count - 1)):
        if array is not None and array.count != count:
            raise GraphFormatError(f"{array.name}: holds {array.count} weights; {count} are needed")
    return StoredRows(offsets, targets, weights, vertex_weights, _as_numbers)


def _as_numbers(values: np.ndarray, first: int) -> np.ndarray:
    """Return offsets as int64."""
    space = backends.space("cpu")
    return space.to_host(integral(space, values, "offsets")).astype(np.int64, copy=False)
