"""Exchange of parts of an array in places of fixed sizes: the host need not know lengths.

Each rank packs its part for each other rank behind the number of its elements.  What is sent is as
long as a part can be, so it pays for arrays of moderate length.
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
"""Bytes at most that a rank sends so in one step: with more it pays to ask for lengths before.

Two H100s with NVLink, a cube of 1.23 billion arcs, refinement: 0.41 to 0.43 s, 0.46 s without, 0.44
to 0.56 s with 2 MiB.
"""

MAX_BLOCKS = 64

HEAD = 8
"""Bytes in front of a part: the number of its elements."""

LINE = 16
"""Each part begins at a multiple of this many bytes."""

PROBLEM = 3
"""Words for what is wrong, in front of the numbers of elements for all ranks."""

SPACE = 2
"""What may be wrong: more arrives than there is space for.  Else (1) parts are too long."""

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
        const int64 slot = slots[2 * rank], room = slots[2 * rank + 1];
        if (thread() == 0) *at<int64>(slot) = wrong ? -1 : counts[rank];
        if (!wrong && counts[rank] <= room)
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


def room_between(lengths: np.ndarray) -> np.ndarray:
    """How many elements go from one rank (row) to another at most.

    Parameters
    ----------
    lengths : numpy.ndarray of int64, shape (ranks, 2)
        Of the arrays that each rank sends from, and gets into.
    """
    return np.minimum(lengths[:, :1], lengths[None, :, 1])


def most_bytes(room: np.ndarray, width: int) -> int:
    """Bytes that a rank sends at most."""
    return int((room * width + LINE).sum(axis=1).max())


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
        """Raise CommunicationError if something was wrong."""
        kind, arriving, length = map(int, problem[:PROBLEM])
        if kind:
            transfer_of(self.problem).write(self.problem, np.zeros(len(problem), np.int64))
            raise CommunicationError(too_little_space(arriving, length) if kind == SPACE
                                     else wrong_parts(problem[PROBLEM:], length))


class Slots:
    """Places for the parts of a parcel.

    Parameters
    ----------
    kernels : SlotKernels
    parcel : Parcel
    room : numpy.ndarray of int64, shape (ranks, ranks)
        As `room_between` gives it.
    rank : int
    """

    def __init__(self, kernels: SlotKernels, parcel: Parcel, room: np.ndarray, rank: int) -> None:
        width, size = parcel.send.itemsize, len(room)
        self._kernels, self._parcel = kernels, parcel
        self._memory: list[Array] = []
        going, coming = (self._places(each, width) for each in (room[rank], room[:, rank]))
        coming[rank] = going[rank]  # what a rank has for itself stays where it is
        self._pack = self._arguments(parcel.send, parcel.send_counts, size, width, going)
        self._unpack = self._arguments(parcel.recv, parcel.recv_counts, size, width, coming)
        self.messages = [(int(going[other, 0]), _bytes(room[rank, other], width),
                          int(coming[other, 0]), _bytes(room[other, rank], width), other)
                         for other in others(rank, size)]
        longest = int(max(room[rank].max(), room[:, rank].max()))
        self._blocks = max(1, min(MAX_BLOCKS, -(-longest // BLOCK)))

    def _places(self, room: np.ndarray, width: int) -> np.ndarray:
        """Where the parts for each amount of space begin."""
        ends = np.cumsum([-(-_bytes(each, width) // LINE) * LINE for each in room])
        memory = self._kernels.cupy.empty(int(ends[-1]), np.uint8)
        self._memory.append(memory)
        first = memory.data.ptr + np.concatenate([[0], ends[:-1]])
        return np.column_stack([first, room]).astype(np.int64)

    def _arguments(self, array: ndarray, counts: ndarray, size: int, width: int,
                   places: np.ndarray) -> tuple[np.generic, ...]:
        table = self._kernels.cupy.empty(places.size, np.int64)
        transfer_of(table).write(table, places.reshape(-1))
        self._memory.append(table)
        return (np.int64(array.data.ptr), np.uint64(counts.data.ptr), np.int64(len(array)),
                np.int64(size), np.int64(width), np.uint64(table.data.ptr),
                np.uint64(self._kernels.problem.data.ptr))

    def pack(self) -> None:
        """Put each part in its place."""
        self._kernels.pack((self._blocks,), (BLOCK,), self._pack)

    def unpack(self) -> None:
        """Put the parts that have arrived one behind the other, and set their numbers."""
        self._kernels.unpack((self._blocks,), (BLOCK,), self._unpack)


def _bytes(count: int, width: int) -> int:
    return HEAD + int(count) * width


def others(rank: int, size: int) -> Iterator[int]:
    """The other ranks; no rank is the first that all others send to."""
    return ((rank + step) % size for step in range(1, size))
