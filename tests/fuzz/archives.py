"""Damages to .npz files that know their structure: arrays, headers, members, packing."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from collections.abc import Callable
from random import Random

import numpy as np

Arrays = dict[str, np.ndarray]

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8", "f2", "f4", "f8", "c16",
          "?", "S3", "U2", "M8[s]", "V4"]
VALUES = [0, 1, -1, 5, 2**31 - 1, 2**31, -(2**31), 2**62, 2**62 + 1, 2**63 - 1, -(2**63)]
NAMES = ["offsets", "targets", "weights", "vertex_weights", "indptr", "indices", "data", "shape",
         "format", "row", "col", "_is_array", "x", "../x", "a/b", ""]
PACKINGS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
HEADERS = [f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({n},), }}"
           for n in (0, 3, 2**31, 2**62, 10**30)] + [
    "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (), }",
    "{'descr': '|V99999999', 'fortran_order': False, 'shape': (9,), }",
    "{'descr': '<q', 'shape': 3}", "{'descr': 3, 'fortran_order': 1, 'shape': (1,), }",
    "{", "[" * 300, "()" * 9, "", "1+1", "\0" * 9]


def damaged_archive(random: Random, seeds: list[Arrays]) -> bytes:
    """An archive of one of `seeds`, with damages to its arrays, their headers and the packing."""
    arrays = dict(random.choice(seeds))
    for _ in range(random.randrange(3)):
        random.choice(DAMAGES)(random, arrays, seeds)
    members = {f"{name}.npy": _npy(array) for name, array in arrays.items()}
    if members and random.random() < 0.3:
        name = random.choice(list(members))
        members[name] = other_header(random, members[name])
    return _zipped(random, members)


def archive_of(arrays: Arrays) -> bytes:
    """An archive of these arrays as they are."""
    return _zipped(Random(0), {f"{name}.npy": _npy(array) for name, array in arrays.items()})


def change_value(random: Random, arrays: Arrays, seeds: list[Arrays]) -> None:
    name, array = _any(random, arrays)
    if array.size and array.dtype.kind in "iuf":
        flat = array.astype(object).ravel()
        flat[random.randrange(flat.size)] = random.choice(VALUES)
        arrays[name] = _settled(flat.reshape(array.shape))


def change_type(random: Random, arrays: Arrays, seeds: list[Arrays]) -> None:
    name, array = _any(random, arrays)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            arrays[name] = array.astype(random.choice(DTYPES))
        except (TypeError, ValueError, ArithmeticError, RuntimeError):
            arrays[name] = np.zeros(array.shape, random.choice(DTYPES))


def change_shape(random: Random, arrays: Arrays, seeds: list[Arrays]) -> None:
    name, array = _any(random, arrays)
    changes: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda a: a[:-1] if a.ndim else a, lambda a: np.append(a, a), lambda a: a.reshape(1, -1),
        lambda a: a.reshape(-1, 1), lambda a: a.ravel()[:1].reshape(()) if a.size else a,
        lambda a: a.ravel()[:0], lambda a: np.append(a.ravel(), a.ravel()[:1]),
        lambda a: a.ravel()[::-1], lambda a: np.zeros((0, 3), a.dtype)]
    arrays[name] = random.choice(changes)(array)


def drop_array(random: Random, arrays: Arrays, seeds: list[Arrays]) -> None:
    if arrays:
        del arrays[_any(random, arrays)[0]]


def rename_array(random: Random, arrays: Arrays, seeds: list[Arrays]) -> None:
    name, array = _any(random, arrays)
    if random.random() < 0.5:
        arrays.pop(name, None)
    arrays[random.choice(NAMES)] = array


def borrow_array(random: Random, arrays: Arrays, seeds: list[Arrays]) -> None:
    arrays.update([_any(random, random.choice(seeds))])


def odd_array(random: Random, arrays: Arrays, seeds: list[Arrays]) -> None:
    name, _ = _any(random, arrays)
    odd = [np.array(None), np.array([1.5, np.nan, np.inf]), np.array(["a", "b"]), np.array(b"csr"),
           np.array("dok"), np.array([[1, 2], [3]], object), np.array([10**30], object),
           np.ma.masked_array([1, 2], [0, 1]), np.array([0, 10**9]), np.array([-5, -5])]
    arrays[name] = odd[random.randrange(len(odd))]


DAMAGES = [change_value, change_value, change_type, change_shape, drop_array, rename_array,
           borrow_array, odd_array]


def _any(random: Random, arrays: Arrays) -> tuple[str, np.ndarray]:
    name = random.choice(list(arrays)) if arrays else "offsets"
    return name, arrays.get(name, np.zeros(0, int))


def _settled(values: np.ndarray) -> np.ndarray:
    """Integers of 64 bits if they fit."""
    try:
        return values.astype(np.int64)
    except (OverflowError, TypeError, ValueError):
        return values


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=True)
    return buffer.getvalue()


def other_header(random: Random, member: bytes) -> bytes:
    header = random.choice(HEADERS).encode()
    begin = 10 + struct.unpack("<H", member[8:10])[0]
    version = random.choice([b"\x01\x00"] * 5 + [b"\x02\x00", b"\x09\x00"])
    length = random.choice([len(header)] * 4 + [0, 65535])
    return b"\x93NUMPY" + version + struct.pack("<H", length) + header + member[begin:]


def _zipped(random: Random, members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    packing = random.choice(PACKINGS[:1] * 5 + PACKINGS)
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member, packing)
    return buffer.getvalue()
