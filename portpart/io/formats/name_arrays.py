"""Names of vertices as plain arrays of an archive: integers, or the bytes of all words in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError
from portpart.io.text.named_edges import are_integers

NAMES, ENDS = "vertex_names", "vertex_name_ends"
"""Integers alone are `NAMES`; of words these are the bytes in UTF-8, and `ENDS` where each ends."""


def packed_names(names: Sequence[Any] | None) -> dict[str, np.ndarray]:
    """The arrays of some names; names that are not integers are kept as their text."""
    if names is None:
        return {}
    if are_integers(names):
        return {NAMES: np.array(names, np.int64)}
    words = [str(name).encode("utf-8", "surrogatepass") for name in names]
    return {NAMES: np.frombuffer(b"".join(words), np.uint8),
            ENDS: np.cumsum([len(word) for word in words], dtype=np.int64)}


def names_of(arrays: Mapping[str, np.ndarray], n: int, where: str) -> list[Any] | None:
    """The names of `n` vertices in the arrays of an archive that is called `where`, if it has any.

    Raises
    ------
    GraphFormatError
        If the arrays are not as `packed_names` makes them.
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
