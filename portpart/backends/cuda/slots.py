"""Exchange of parts of an array in slots of fixed sizes: the host does not need to know lengths.

Each rank packs its part for each other rank after the number of its elements. Messages have the
maximum length of a part, so that this is faster for arrays of moderate length only.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends.communication import CommunicationError, too_little_space, wrong_parts
from portpart.backends.cuda.cpp_words import COPYING
from portpart.backends.language.team_arrays import BLOCK
from portpart.backends.programs import Array, Parcel, transfer_of

if TYPE_CHECKING:
    from cupy import ndarray

LARGEST = 1 << 24
"""Maximum bytes that a rank sends in slots in one step; with more it is faster to exchange lengths
before.

Two H100s with NVLink, a cube of 1.23 billion arcs, refinement: 0.41 to 0.43 s, 0.46 s without
slots, 0.44 to 0.56 s with 2 MiB.
"""

MAX_BLOCKS = 64

HEAD = 8
"""Bytes before a part: the number of its elements."""

LINE = 16
"""Each part begins at a multiple of this many bytes."""

PROBLEM = 3
"""Words that report errors, before the numbers of elements for all ranks."""

SPACE = 2
"""Error: more elements arrive than there is space for. Otherwise (1) parts are too long."""

SOURCE = COPYING + """
extern "C" __global__ void pack_parts(int64 send, const int64* counts, int64 length, int64 size,
                                      int64 width, const int64* slots, int64* problem)
{
    int64 sum = 0;
    bool wrong = false;
    for (int64 rank = 0; rank < size; ++rank) {
        wrong = wrong || counts[rank] < 0;
        sum += counts[rank];
    }
    wrong = wrong || sum > length;
    if (wrong && thread() == 0) {
        problem[0] = 1;
        problem[2] = length;
        for (int64 rank = 0; rank < size; ++rank) problem[3 + rank] = counts[rank];
    }
    int64 begin = 0;
    for (int64 rank = 0; rank < size; ++rank) {
        const int64 slot = slots[2 * rank], capacity = slots[2 * rank + 1];
        if (thread() == 0) *at<int64>(slot) = wrong ? -1 : counts[rank];
        if (!wrong && counts[rank] <= capacity)
            copy_elements(slot + 8, send + width * begin, counts[rank], width);
        begin += counts[rank];
    }
}

extern "C" __global__ void unpack_parts(int64 recv, int64* counts, int64 length, int64 size,
                                        int64 width, const int64* slots, int64* problem)
{
    int64 sum = 0;
    bool wrong = false;
    for (int64 rank = 0; rank < size; ++rank) {
        const int64 count = *at<int64>(slots[2 * rank]);
        wrong = wrong || count < 0;
        sum += count;
    }
    if (!wrong && sum > length && thread() == 0 && problem[0] == 0) {
        problem[0] = 2;
        problem[1] = sum;
        problem[2] = length;
    }
    wrong = wrong || sum > length;
    int64 begin = 0;
    for (int64 rank = 0; rank < size; ++rank) {
        const int64 count = wrong ? 0 : *at<int64>(slots[2 * rank]);
        if (thread() == 0) counts[rank] = count;
        copy_elements(recv + width * begin, slots[2 * rank] + 8, count, width);
        begin += count;
    }
}
"""


def limits_between(lengths: np.ndarray) -> np.ndarray:
    """Return the maximum number of elements from one rank (row) to another.

    Parameters
    ----------
    lengths : numpy.ndarray of int64, shape (ranks, 2)
        Lengths of the arrays that each rank sends from, and receives into.
    """
    return np.minimum(lengths[:, :1], lengths[None, :, 1])


def max_bytes(limits: np.ndarray, width: int) -> int:
    """Return the maximum number of bytes that a rank sends."""
    return int((limits * width + LINE).sum(axis=1).max())


class SlotKernels:
    """The kernels that pack and unpack parts, and what they have found to be wrong.

    Parameters
    ----------
    cupy : module
    size : int
        Number of ranks.
    """

    def __init__(self, cupy: ModuleType, size: int) -> None:
        module = cupy.RawModule(code=SOURCE)
        self.pack, self.unpack = map(module.get_function, ("pack_parts", "unpack_parts"))
        self.cupy = cupy
        self.problem = cupy.zeros(PROBLEM + size, np.int64)

    def require_right(self, problem: np.ndarray) -> None:
        """Raise CommunicationError if there was an error."""
        kind, arriving, length = map(int, problem[:PROBLEM])
        if kind:
            transfer_of(self.problem).write(self.problem, np.zeros(len(problem), np.int64))
            raise CommunicationError(too_little_space(arriving, length) if kind == SPACE
                                     else wrong_parts(problem[PROBLEM:], length))


class Slots:
    """Slots for the parts of a parcel.

    Parameters
    ----------
    kernels : SlotKernels
    parcel : Parcel
    limits : numpy.ndarray of int64, shape (ranks, ranks)
        The result of `limits_between`.
    rank : int
    """

    def __init__(self, kernels: SlotKernels, parcel: Parcel, limits: np.ndarray, rank: int) -> None:
        width, size = parcel.send.itemsize, len(limits)
        self._kernels, self._parcel = kernels, parcel
        self._memory: list[Array] = []
        going, coming = (self._places(each, width) for each in (limits[rank], limits[:, rank]))
        coming[rank] = going[rank]  # the part of a rank for itself stays in place
        self._pack = self._arguments(parcel.send, parcel.send_counts, size, width, going)
        self._unpack = self._arguments(parcel.recv, parcel.recv_counts, size, width, coming)
        self.messages = [(int(going[other, 0]), _bytes(limits[rank, other], width),
                          int(coming[other, 0]), _bytes(limits[other, rank], width), other)
                         for other in others(rank, size)]
        longest = int(max(limits[rank].max(), limits[:, rank].max()))
        self._blocks = max(1, min(MAX_BLOCKS, -(-longest // BLOCK)))

    def _places(self, limits: np.ndarray, width: int) -> np.ndarray:
        """Return the places of parts with these limits."""
        ends = np.cumsum([-(-_bytes(each, width) // LINE) * LINE for each in limits])
        memory = self._kernels.cupy.empty(int(ends[-1]), np.uint8)
        self._memory.append(memory)
        first = memory.data.ptr + np.concatenate([[0], ends[:-1]])
        return np.column_stack([first, limits]).astype(np.int64)

    def _arguments(self, array: ndarray, counts: ndarray, size: int, width: int,
                   places: np.ndarray) -> tuple[np.generic, ...]:
        table = self._kernels.cupy.empty(places.size, np.int64)
        transfer_of(table).write(table, places.reshape(-1))
        self._memory.append(table)
        return (np.int64(array.data.ptr), np.uint64(counts.data.ptr), np.int64(len(array)),
                np.int64(size), np.int64(width), np.uint64(table.data.ptr),
                np.uint64(self._kernels.problem.data.ptr))

    def pack(self) -> None:
        """Copy each part to its slot."""
        self._kernels.pack((self._blocks,), (BLOCK,), self._pack)

    def unpack(self) -> None:
        """Concatenate the parts that have arrived, and set their lengths."""
        self._kernels.unpack((self._blocks,), (BLOCK,), self._unpack)


def _bytes(count: int, width: int) -> int:
    return HEAD + int(count) * width


def others(rank: int, size: int) -> Iterator[int]:
    """Yield the other ranks, for each rank in another order, so that no rank receives from all at
    the same time.
    """
    return ((rank + step) % size for step in range(1, size))
