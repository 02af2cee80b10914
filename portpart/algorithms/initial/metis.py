"""Initial partitions by METIS, and trivial ones."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.programs import Array
from portpart.graphs import EitherGraph
from portpart.primitives import iota

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Silence of C code: METIS prints to standard output if a side of a bisection remains empty -----


_one_at_a_time = threading.RLock()

if hasattr(os, "register_at_fork"):  # a child must not inherit the lock held by another thread
    os.register_at_fork(before=_one_at_a_time.acquire, after_in_parent=_one_at_a_time.release,
                        after_in_child=_one_at_a_time.release)


@contextmanager
def silenced_c_stdout() -> Iterator[None]:
    """Discard the ``printf`` output of C code inside the block.

    The C library's variable `stdout` is replaced, and no file descriptor changes: output of
    Python's threads and of other processes is not affected. On libraries without such a variable,
    as on Windows, the function does nothing.
    """
    place = _stdout_of_c()
    if place is None:
        yield
        return
    with _one_at_a_time:
        before = place.value
        try:
            place.value = _nowhere() or before
            yield
        finally:
            place.value = before


@cache
def _stdout_of_c() -> Any:
    if sys.platform == "win32":
        return None
    library = ctypes.CDLL(None)
    if sys.platform == "darwin":
        return ctypes.c_void_p.in_dll(library, "__stdoutp")
    # Libraries other than GNU's have no stdout that can be replaced.
    known = hasattr(library, "gnu_get_libc_version")
    return ctypes.c_void_p.in_dll(library, "stdout") if known else None


@cache
def _nowhere() -> int | None:
    """Return a stream that discards output; it stays open."""
    opened = ctypes.CDLL(None).fopen
    opened.restype = ctypes.c_void_p
    stream: int | None = opened(os.fsencode(os.devnull), b"w")
    return stream


# The initial partition: METIS on the coarsest graph, by bisections or by its k-way method ------
#
# On graphs of a few vertices per block the cut of recursive bisection is up to 40 % lower, in a
# third of the time (measured: Delaunay graphs of 32 vertices per block).


MAX_METIS_SUM = 2**30
"""METIS adds weights in 32 bits; sums are scaled below this."""

MAX_METIS_IMBALANCE = 1000
"""METIS uses thousandths in 32 bits; a larger imbalance is no limit anyway."""


def metis_partition(matrix: csr_array, vertex_weights: np.ndarray | None, num_blocks: int,
                    imbalance: float, seed: int, shares: np.ndarray | None = None,
                    recursive: bool = True) -> np.ndarray:
    """Partition a small graph on the host by METIS.

    The vertices are shuffled by the seed and the rows sorted first, so that the result depends on
    the graph and the seed only; METIS's own seed has almost no effect. Arcs of weight zero count
    as one, because METIS may hang on them. Weights whose sums would overflow METIS's 32 bits are
    scaled down.

    Parameters
    ----------
    shares : numpy.ndarray of float64, shape (k,), optional
        Share of each block in the weight; the sum is 1.
    recursive : bool
        Whether to bisect recursively; else by the k-way method.

    Returns
    -------
    numpy.ndarray of int32, shape (n,)
        May exceed limits: refinement repairs this.
    """
    import pymetis

    n = matrix.shape[0]
    order = np.random.default_rng(seed).permutation(n)
    shuffled = matrix[order][:, order]
    shuffled.sort_indices()
    adjacency = pymetis.CSRAdjacency(shuffled.indptr, shuffled.indices)
    # the imbalance of one bisection, so that all make `imbalance`; the k-way method divides once
    depth = math.log2(num_blocks) if recursive else 1
    of_one = (1 + min(imbalance, MAX_METIS_IMBALANCE)) ** (1 / depth) - 1
    options = pymetis.Options(seed=seed % 2**31, ufactor=max(1, round(1000 * of_one)))
    with silenced_c_stdout():
        _, shuffled_part = pymetis.part_graph(
            num_blocks, adjacency, eweights=scaled(np.maximum(shuffled.data, 1)),
            vweights=None if vertex_weights is None else scaled(vertex_weights[order]),
            tpwgts=None if shares is None else shares.tolist(), recursive=recursive,
            options=options,
        )
    part = np.empty(n, np.int32)
    part[order] = shuffled_part
    return part


def scaled(weights: np.ndarray) -> np.ndarray:
    """Return weights as int32 with a sum that METIS can hold; positive weights stay positive."""
    total = int(weights.sum(dtype=np.int64))
    if total <= MAX_METIS_SUM:
        return weights.astype(np.int32)
    shrunk = weights // (total // MAX_METIS_SUM + 1)
    return np.maximum(shrunk, weights > 0).astype(np.int32)


# Partitions that need no algorithm: one block, or at least as many blocks as vertices ----------


def trivial_partition(graph: EitherGraph, num_blocks: int) -> Array | None:
    """Return the partition of `graph` if it is obvious, else None."""
    if num_blocks == 1 or graph.num_vertices == 0:
        return graph.space.zeros(graph.num_vertices, np.int32)
    if num_blocks >= graph.num_vertices:
        return iota(graph.space, graph.num_vertices)
    return None
