"""A stable radix sort inside programs: keys and items, least significant digit first.

How many keys there are and how many bits they have is read from memory, so that nothing returns to
the host.  A work item counts the digits of a few keys, a scan turns the counts of all items into
places, and each item moves its keys in order.  It takes no scratch memory of a team, which the
kernels of one program share.  Digits are sorted in pairs, there and back, so that the result lies
where the keys were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Words
from portpart.backends.program import Program, Slot
from portpart.backends.work import WorkRecord
from portpart.primitives.scan import TILE as SCAN_TILE
from portpart.primitives.scan import record_scan, tiles_of

DIGIT_BITS = 4
DIGITS = 1 << DIGIT_BITS

TILE = 64
"""Keys that one item counts and moves: some for each digit, so that counters are not too many."""

class SortWords(Words):
    """The number of keys and the bits they have, which the program sets before it sorts.

    The rest is the sort's own.
    """

    keys: Any
    bits: Any
    tiles: Any
    counters: Any
    counter_tiles: Any
    shift: Any
    running: Any


class SortArrays(WorkRecord):
    """Work arrays for sorting some keys, 2 bytes each."""

    words: SortWords
    digit_counts: Array = work(np.int32, lambda max_keys: counters_of(max_keys))
    digit_places: Array = work(np.int32, lambda max_keys: counters_of(max_keys) + 1)
    digit_sums: Array = work(np.int64, lambda max_keys: tiles_of(counters_of(max_keys)))


def sort_arrays(space: ExecutionSpace, max_keys: int) -> SortArrays:
    """Work arrays for sorting up to `max_keys` keys."""
    words = SortWords(space.zeros(len(SortWords.indices), np.int64))
    return SortArrays.allocate(space, max_keys, words=words)


def counters_of(max_keys: int) -> int:
    """Counters for this many keys: one for each digit and tile."""
    return DIGITS * max(1, -(-max_keys // TILE))


@dataclass(frozen=True)
class SortSlots:
    """Slots of a program that sorts.

    Attributes
    ----------
    keys : Slot
        int64, not negative; sorted.
    items : Slot
        int32; moved along with the keys.
    other_keys, other_items : Slot
        Scratch arrays as long as those.
    """

    keys: Slot
    items: Slot
    other_keys: Slot
    other_items: Slot


def record_sort(program: Program, work_arrays: SortArrays, slots: SortSlots) -> None:
    """Record how keys are sorted; equal ones keep their order.

    When this part of the program starts, ``words.keys`` is the number of keys and ``words.bits`` at
    least the bits of the largest one; both stay as they are.
    """
    words, places = work_arrays.words, work_arrays.digit_places
    there_and_back: tuple[tuple[int, tuple[Any, ...]], ...] = (
        (0, (slots.keys, slots.items, slots.other_keys, slots.other_items)),
        (1, (slots.other_keys, slots.other_items, slots.keys, slots.items)),
    )
    program.parallel_for(1, begin_sort, words)
    with program.while_loop(words.running):
        for turn, (keys, items, next_keys, next_items) in there_and_back:
            program.parallel_for(words.tiles, count_digits, keys, work_arrays.digit_counts, words,
                                 turn)
            record_scan(program, work_arrays.digit_counts, places, work_arrays.digit_sums,
                        words.counters, words.counter_tiles)
            program.parallel_for(words.tiles, move_words, keys, items, next_keys, next_items,
                                 places, words, turn)
        program.parallel_for(1, take_next_digits, words)


@kl.device
def bits_of(value):
    """Bits of a number that is not negative."""
    bits = kl.int64(0)
    while bits < 63 and (value >> bits) != 0:
        bits += 1
    return bits


@kl.device
def set_largest(largest, words: SortWords):
    """Set the bits that the next keys to be sorted have, by the largest that may occur."""
    words.bits = bits_of(largest)
    return largest


@kl.device
def sort_keys(number, largest, words: SortWords):
    """Set how many keys are sorted next, and their bits by the largest that may occur."""
    words.keys = number
    return set_largest(largest, words)


@kl.device
def digit_at(key, turn, words: SortWords):
    """The digit of a key that is sorted by in this turn."""
    return (kl.int64(key) >> (words.shift + turn * DIGIT_BITS)) & (DIGITS - 1)


@kl.kernel
def begin_sort(_, words: SortWords):
    """Find how many tiles there are, and whether there is anything to sort."""
    tiles = max(kl.int64(1), (words.keys + TILE - 1) // TILE)
    words.tiles = tiles
    words.counters = tiles * DIGITS
    words.counter_tiles = (tiles * DIGITS + SCAN_TILE - 1) // SCAN_TILE
    words.shift = 0
    words.running = kl.int64(words.bits > 0 and words.keys > 1)


@kl.kernel
def take_next_digits(_, words: SortWords):
    """Two digits are done."""
    words.shift += 2 * DIGIT_BITS
    words.running = kl.int64(words.shift < words.bits)


@kl.kernel
def count_digits(tile, keys, digit_counts, words: SortWords, turn):
    """digit_counts[d * tiles + tile] = keys of the tile with the digit d."""
    tiles = words.tiles
    for digit in range(DIGITS):
        digit_counts[digit * tiles + tile] = kl.int32(0)
    for i in range(tile * TILE, min((tile + 1) * TILE, words.keys)):
        digit_counts[digit_at(keys[i], turn, words) * tiles + tile] += 1


@kl.kernel
def move_words(tile, keys, items, next_keys, next_items, digit_places, words: SortWords, turn):
    """Move the keys and items of the tile to the places of their digits, which are used up."""
    tiles = words.tiles
    for i in range(tile * TILE, min((tile + 1) * TILE, words.keys)):
        slot = digit_at(keys[i], turn, words) * tiles + tile
        place = digit_places[slot]
        digit_places[slot] = place + 1
        next_keys[place] = keys[i]
        next_items[place] = items[i]
