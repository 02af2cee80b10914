"""Blocks of vertices that callers pass: arrays, results, sessions, and mappings of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.arrays import Blocks, first_true, host_array, host_integers
from portpart.graphs.names import in_order
from portpart.options import MANY_BLOCKS, number_of_blocks

if TYPE_CHECKING:
    from collections.abc import Hashable



def held_blocks(holder: Blocks | None, names: Sequence[Hashable] | None = None) -> Any:
    """Return the blocks that a result or a session holds; other values unchanged.

    Blocks of a session are those of the existing vertices, in the order of their ids, as in
    ``session.graph()``.  Blocks of a result whose labels differ from `names` are returned by name.
    """
    if hasattr(holder, "__array__"):  # names of a Series may be "part"
        return holder
    part = getattr(holder, "part", None)
    if part is None:
        return holder
    ids, labels = getattr(holder, "ids", None), getattr(holder, "labels", None)
    if ids is not None:  # a session has a block, and perhaps a name, for each id given out
        part = host_array(part)[ids]
        labels = None if labels is None else [labels[number] for number in ids.tolist()]
    if labels is None or names is None or labels is names:
        return part
    known = list(labels)
    if known == list(names):
        return part
    blocks = zip(known, host_array(part).tolist())
    return {name: block for name, block in blocks if name is not None}


def held_number(holder: Blocks | None, k: int | None) -> int | None:
    """Return `k`, or if it is None the number of blocks of a result or a session."""
    if k is not None or hasattr(holder, "__array__"):
        return k
    found: int | None = getattr(holder, "k", None)
    return found


def blocks_of(part: Blocks | None, n: int, k: int | None = None,
              names: Sequence[Hashable] | None = None,
              items: str = "vertices") -> tuple[np.ndarray, int]:
    """Return the checked blocks of `n` vertices, int64 on the host, and the number of blocks.

    Parameters
    ----------
    part : array_like of int, shape (n,), or dict, PartitionResult or Session
    n : int
    k : int, optional
        Default: k of the result, or the largest block plus one.
    names : sequence, optional
        The names of the vertices.
    items : str
        The word for the vertices in messages.

    Raises
    ------
    InputError
        If `part` has the wrong length or type, or names a block outside 0 ... k - 1.
    """
    k = held_number(part, k)
    k = None if k is None else number_of_blocks(k, n, items)
    blocks = _checked(in_order(held_blocks(part, names), names, "part"), n, k, items)
    return blocks, int(blocks.max(initial=-1)) + 1 if k is None else k


def blocks_of_elements(part: Blocks, num_elements: int, num_nodes: int,
                       k: int | None = None) -> tuple[np.ndarray, int]:
    """Return the block of each element of a mesh, as in :func:`blocks_of`."""
    if part is None:
        raise InputError(f"part is None; the blocks of {num_elements} elements are needed")
    held = held_blocks(part)
    count = len(held) if hasattr(held, "__len__") else num_elements
    if count != num_elements:
        hint = ("; mesh.element_part makes blocks of elements of those of nodes"
                if count == num_nodes else "")
        raise InputError(f"the part has {count} blocks for a mesh of {num_elements} elements and "
                         f"{num_nodes} nodes; a block for each element is needed{hint}")
    return blocks_of(held, num_elements, held_number(part, k))


def _checked(part: Blocks, n: int, k: int | None, items: str) -> np.ndarray:
    """Return `part` as a host array of integers, after a check of its length and range."""
    if part is None:
        raise InputError(f"part is None; the blocks of {n} {items} are needed")
    array = host_integers(part)
    if array.ndim != 1 or len(array) != n:
        raise InputError(
            f"part has shape {tuple(array.shape)} for a graph of {n} {items}; shape ({n},) is "
            "needed"
        )
    if array.dtype.kind not in "iub" and n:
        raise InputError(f"part is of type {array.dtype}; block numbers must be integers")
    place = first_true(array < 0 if k is None else (array < 0) | (array >= k))
    if place is not None:
        allowed = "must be >= 0" if k is None else f"must lie in 0 ... {k - 1}"
        raise InputError(f"part[{place}] is {array[place]}; block numbers {allowed}")
    if k is None and int(array.max(initial=0)) >= max(n, MANY_BLOCKS):
        place = int(array.argmax())
        raise InputError(f"part[{place}] is {array[place]} for a graph of {n} {items}; pass k "
                         "if there are this many blocks")
    return array.astype(np.int64, copy=False)
