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

# Silence of C code: METIS prints to standard output where a side of a bisection stays empty ----


_one_at_a_time = threading.RLock()

if hasattr(os, "register_at_fork"):  # a fork must not find it held by a thread that it has not
    os.register_at_fork(before=_one_at_a_time.acquire, after_in_parent=_one_at_a_time.release,
                        after_in_child=_one_at_a_time.release)


@contextmanager
def silenced_c_stdout() -> Iterator[None]:
    """Discard what C code prints by ``printf`` inside the block.

    The C library's variable `stdout` points elsewhere for that time, and no file descriptor
    changes: what Python's threads and other processes write arrives as ever.  Where the library
    has no such variable, as on Windows, nothing is done.
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
    # Other libraries than GNU's keep it where it cannot be changed.
    known = hasattr(library, "gnu_get_libc_version")
    return ctypes.c_void_p.in_dll(library, "stdout") if known else None


@cache
def _nowhere() -> int | None:
    """A stream that is written nowhere; stays open."""
    opened = ctypes.CDLL(None).fopen
    opened.restype = ctypes.c_void_p
    stream: int | None = opened(os.fsencode(os.devnull), b"w")
    return stream


# The initial partition: METIS on the coarsest graph, by bisections or by its k-way method ------
#
# On graphs of a few vertices per block the cut of recursive bisection is up to 40 % lower, in a
# third
# of the time (measured: Delaunay graphs of 32 vertices per block).


MAX_METIS_SUM = 2**30
"""METIS adds weights in 32 bits; totals are scaled below this."""

MAX_METIS_IMBALANCE = 1000
"""METIS takes thousandths in 32 bits; more than this is no limit anyway."""


def metis_partition(matrix: csr_array, vertex_weights: np.ndarray | None, num_blocks: int,
                    imbalance: float, seed: int, shares: np.ndarray | None = None,
                    recursive: bool = True) -> np.ndarray:
    """Partition a small graph on the host by METIS.

    The vertices are shuffled by the seed and the rows sorted before METIS sees them: the result
    depends on the graph and the seed only, and METIS's own seed alone barely changes it.
    Arcs of weight zero count one, for METIS may hang on them.  Weights whose sums would overflow
    METIS's 32 bits are scaled down.

    Parameters
    ----------
    shares : numpy.ndarray of float64, shape (k,), optional
        Share of the weight that each block is to get, in sum 1.
    recursive : bool
        By recursive bisection, else by the k-way method.

    Returns
    -------
    numpy.ndarray of int32, shape (n,)
        May violate the balance: refinement repairs it.
    """
    import pymetis

    n = matrix.shape[0]
    order = np.random.default_rng(seed).permutation(n)
    shuffled = matrix[order][:, order]
    shuffled.sort_indices()
    adjacency = pymetis.CSRAdjacency(shuffled.indptr, shuffled.indices)
    ufactor = _ufactor(min(imbalance, MAX_METIS_IMBALANCE), num_blocks if recursive else 2)
    options = pymetis.Options(seed=seed % 2**31, ufactor=ufactor)
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


def _ufactor(imbalance: float, num_blocks: int) -> int:
    """Imbalance of one bisection, in thousandths, such that all of them make `imbalance`.

    The k-way method divides once, as one bisection does.
    """
    depth = math.log2(num_blocks)
    return max(1, round(1000 * ((1 + imbalance) ** (1 / depth) - 1)))


def scaled(weights: np.ndarray) -> np.ndarray:
    """Weights as int32 with a sum that METIS can hold; what was positive stays positive."""
    total = int(weights.sum(dtype=np.int64))
    if total <= MAX_METIS_SUM:
        return weights.astype(np.int32)
    shrunk = weights // (total // MAX_METIS_SUM + 1)
    return np.maximum(shrunk, weights > 0).astype(np.int32)


# Partitions that need no algorithm: one block, or at least as many blocks as vertices ----------


def trivial_partition(graph: EitherGraph, num_blocks: int) -> Array | None:
    """The partition of `graph` if it is obvious, else None."""
    if num_blocks == 1 or graph.num_vertices == 0:
        return graph.space.zeros(graph.num_vertices, np.int32)
    if num_blocks >= graph.num_vertices:
        return iota(graph.space, graph.num_vertices)
    return None
