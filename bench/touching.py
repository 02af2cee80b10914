"""What a traced kernel calls for every element it accesses: it marks the element's sector."""

from __future__ import annotations

from portpart.backends.language import device, int8, int64

SECTOR_BITS = 5
SECTOR = 1 << SECTOR_BITS
"""Bytes that memory moves at least; those of NVIDIA GPUs."""

READ, WRITTEN = 1, 2

LISTED, READS, WRITES, COUNTS = range(4)
"""Words of `counts`: sectors on the list, sectors read, sectors written; how many words."""

UNTRACED = -1
"""Place of an array that is not in traced memory."""


def place_of(offset: int, itemsize: int) -> int:
    """Place of an array `offset` bytes behind the beginning of traced memory."""
    assert offset % SECTOR == 0
    return (offset >> SECTOR_BITS) << 2 | itemsize.bit_length() - 1


@device
def touched(place, index, how, marks, listed, counts):
    """`index`, after the sector of that element of the array at `place` has been marked."""
    if place >= 0:
        sector = (place >> 2) + ((int64(index) << (place & 3)) >> SECTOR_BITS)
        before = int64(marks[sector])
        new = how & ~before
        if new != 0:
            if before == 0:
                listed[counts[LISTED]] = sector
                counts[LISTED] += 1
            marks[sector] = int8(before | how)
            counts[READS] += new & READ
            counts[WRITES] += (new & WRITTEN) >> 1
    return int64(index)
