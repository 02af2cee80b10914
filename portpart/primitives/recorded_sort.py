"""A stable radix sort inside programs: keys and items, least significant digit first.

The number of keys and their bits are read from memory, so that nothing returns to the host. A team
counts the digits of a few keys, a scan converts the counts of all teams into places, and each team
moves its keys in order. It uses no scratch memory of a team, which the kernels of one program
share. Digits are sorted in pairs, to other arrays and back, so that the result is where the keys
were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import AnySlot, Array, ExecutionSpace, Program
from portpart.primitives.scan import SCAN_TILE, record_scan, tiles_of
from portpart.primitives.sort import HALF, SMALL, sort_by_bits

DIGIT_BITS = 4
DIGITS = 1 << DIGIT_BITS

TILE = 64
"""Number of keys that one team counts and moves, at most 127."""

TEAM = 32
"""Lanes of a team. One lane alone would wait for 64 loads in a row."""


class SortWords(kl.Words):
    """The number of keys and their bits, which the program sets before a sort; the other words are
    private.
    """

    keys: int
    bits: int
    tiles: int
    counters: Any
    counter_tiles: Any
    shift: int
    running: int


class SortArrays(kl.Record):
    """Work arrays of a sort, 2 bytes for each key."""

    words: SortWords
    digit_counts: Array = kl.work(np.int32, lambda max_keys: counters_of(max_keys))
    digit_places: Array = kl.work(np.int32, lambda max_keys: counters_of(max_keys) + 1)
    digit_sums: Array = kl.work(np.int64, lambda max_keys: tiles_of(counters_of(max_keys)))


def sort_arrays(space: ExecutionSpace, max_keys: int) -> SortArrays:
    """Return work arrays for sorting up to `max_keys` keys."""
    words = SortWords(space.zeros(len(SortWords.indices), np.int64))
    return SortArrays.allocate(space, max_keys, words=words)


def counters_of(max_keys: int) -> int:
    """Return the number of counters for `max_keys` keys: one for each digit and tile."""
    return DIGITS * max(1, -(-max_keys // TILE))


@dataclass(frozen=True)
class SortSlots:
    """Slots of a program that sorts.

    Attributes
    ----------
    keys : Slot
        int64, not negative; sorted in place.
    items : Slot
        int32; moved along with the keys.
    other_keys, other_items : Slot
        Scratch arrays of the same lengths.
    """

    keys: AnySlot
    items: AnySlot
    other_keys: AnySlot
    other_items: AnySlot


def record_sort(program: Program, work_arrays: SortArrays, slots: SortSlots) -> None:
    """Record a sort of keys, in which equal keys keep their order.

    When this part of the program starts, ``words.keys`` must be the number of keys and
    ``words.bits`` at least the bits of the largest key; neither changes.
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
                                 turn, team=TEAM)
            record_scan(program, work_arrays.digit_counts, places, work_arrays.digit_sums,
                        words.counters, words.counter_tiles)
            program.parallel_for(words.tiles, move_words, keys, items, next_keys, next_items,
                                 places, words, turn, team=TEAM)
        program.parallel_for(1, take_next_digits, words)


@kl.device
def bits_of(value):
    """Return the number of bits of a number that is not negative."""
    bits = kl.int64(0)
    while bits < 63 and (value >> bits) != 0:
        bits += 1
    return bits


@kl.device
def set_largest(largest, words: SortWords):
    """Set the number of bits of the next keys to be sorted, from the largest possible key."""
    words.bits = bits_of(largest)


@kl.device
def set_keys(number, largest, words: SortWords):
    """Set the number of the next keys to sort, and their bits from the largest possible key."""
    words.keys = number
    set_largest(largest, words)


@kl.device
def digit_at(key, turn, words: SortWords):
    """Return the digit of a key in this turn of sorting."""
    return (kl.int64(key) >> (words.shift + turn * DIGIT_BITS)) & (DIGITS - 1)


@kl.kernel
def begin_sort(_, words: SortWords):
    """Compute the number of tiles, and whether there is anything to sort."""
    tiles = max(kl.int64(1), (words.keys + TILE - 1) // TILE)
    words.tiles = tiles
    words.counters = tiles * DIGITS
    words.counter_tiles = (tiles * DIGITS + SCAN_TILE - 1) // SCAN_TILE
    words.shift = 0
    words.running = kl.int64(words.bits > 0 and words.keys > 1)


@kl.kernel
def take_next_digits(_, words: SortWords):
    """Advance by two digits, which are done."""
    words.shift += 2 * DIGIT_BITS
    words.running = kl.int64(words.shift < words.bits)


# A lane counts in registers, a byte for each digit, so that its loads do not wait for each other:
# digits 0 ... 7 in one word, 8 ... 15 in another.


@kl.device
def with_digit(counted, half, digit):
    """Return a word of eight digits after one more has been counted, if it is of this half."""
    return counted + (kl.int64(digit >> 3 == half) << ((digit & 7) << 3))


@kl.device
def number_of(digit, low, high):
    """Return the byte of a digit in two words."""
    counted = low if digit < 8 else high
    return (counted >> ((digit & 7) << 3)) & 255


@kl.device
def first_of_lane(tile, lane):
    """Return the first key of a lane, or of the next tile; lanes have consecutive keys."""
    return tile * TILE + lane * TILE // kl.team_size()


@kl.kernel
def count_digits(tile, keys, digit_counts, words: SortWords, turn):
    """digit_counts[d * tiles + tile] = keys of the tile with the digit d."""
    low = kl.int64(0)
    high = kl.int64(0)
    end = min(first_of_lane(tile, kl.lane() + 1), words.keys)
    for i in range(first_of_lane(tile, kl.lane()), end):
        digit = digit_at(keys[i], turn, words)
        low = with_digit(low, 0, digit)
        high = with_digit(high, 1, digit)
    low = kl.team_sum(low)
    high = kl.team_sum(high)
    for digit in range(kl.lane(), DIGITS, kl.team_size()):
        digit_counts[digit * words.tiles + tile] = kl.int32(number_of(digit, low, high))


@kl.kernel
def move_words(tile, keys, items, next_keys, next_items, digit_places, words: SortWords, turn):
    """Move the keys and items of the tile to the places of their digits, in order."""
    low = kl.int64(0)
    high = kl.int64(0)
    end = min(first_of_lane(tile, kl.lane() + 1), words.keys)
    if kl.team_size() > 1:  # digits of the lanes before this one
        for i in range(first_of_lane(tile, kl.lane()), end):
            digit = digit_at(keys[i], turn, words)
            low = with_digit(low, 0, digit)
            high = with_digit(high, 1, digit)
        low = kl.team_scan(low) - low
        high = kl.team_scan(high) - high
    for i in range(first_of_lane(tile, kl.lane()), end):
        digit = digit_at(keys[i], turn, words)
        place = digit_places[digit * words.tiles + tile] + number_of(digit, low, high)
        next_keys[place] = keys[i]
        next_items[place] = items[i]
        low = with_digit(low, 0, digit)
        high = with_digit(high, 1, digit)


# Sorting pairs of numbers, one 64-bit key each: row above column; or several -------------------
#
# A library's sort does not use the rows, and is ten times as slow on a CPU.


LONG = 4096
"""Minimum length of a row that several work items sort."""


def sort_rows(space: ExecutionSpace, begin: Array, end: Array, keys: Array) -> None:
    """Sort pairs whose rows are in order; the columns of a row may be in any order.

    Parameters
    ----------
    space : ExecutionSpace
    begin, end : array of int, shape (m,)
        Where rows begin and end in `keys`.
    keys : array of int64
        Sorted in place.
    """
    if space.library_sort_in_place(keys):
        return
    long_rows = space.zeros(1, np.int64)
    space.parallel_for(len(begin), sort_row, begin, end, keys, long_rows)
    if space.to_host(long_rows)[0] > 0:
        begins, ends = space.to_host(begin), space.to_host(end)
        for row in np.flatnonzero(ends - begins >= LONG):
            keys[int(begins[row]) : int(ends[row])].sort()


def sorted_pairs(space: ExecutionSpace, keys: Array, num_rows: int, num_columns: int | None,
                 spare: Array | None = None) -> Array:
    """Sort pairs by row and column.

    Parameters
    ----------
    space : ExecutionSpace
    keys : array of int64, shape (p,)
        Overwritten.
    num_rows, num_columns : int
        None if the columns of equal rows ascend already.
    spare : array of int64, shape (p,), optional
        Overwritten.

    Returns
    -------
    array of int64, shape (p,)
        `keys`, or `spare`.
    """
    fields = [(first, (limit - 1).bit_length())
              for first, limit in ((0, num_columns), (HALF, num_rows)) if limit is not None]
    return sorted_words(space, keys, fields, spare)


def sorted_words(space: ExecutionSpace, keys: Array, fields: Sequence[tuple[int, int]],
                 spare: Array | None = None) -> Array:
    """Sort numbers that consist of several fields.

    Parameters
    ----------
    space : ExecutionSpace
    keys : array of int64, shape (p,)
        Not negative. Overwritten.
    fields : sequence of (int, int)
        The first bit of each field and its number of bits, low fields first; without fields that
        ascend already where all higher fields are equal.
    spare : array of int64, shape (p,), optional
        Overwritten.

    Returns
    -------
    array of int64, shape (p,)
        `keys`, or `spare`.
    """
    if len(keys) <= SMALL:
        keys.sort()
    elif not space.library_sort_in_place(keys):
        spare = space.empty(len(keys), np.int64) if spare is None else spare
        words, others = keys.view(np.uint64), spare.view(np.uint64)
        for first, bits in fields:
            ordered = sort_by_bits(space, words, others, first, bits)
            words, others = ordered, others if ordered is words else words
        keys = words.view(np.int64)
    return keys


@kl.device
def sort_with_gap(keys, begin, end, gap):
    """Sort every subsequence of keys that are `gap` places apart, by insertion."""
    for place in range(begin + gap, end):
        key = kl.int64(keys[place])
        hole = kl.int64(place)
        while hole - gap >= begin and keys[hole - gap] > key:
            keys[hole] = keys[hole - gap]
            hole -= gap
        keys[hole] = key


@kl.kernel
def sort_row(row, begin, end, keys, long_rows):
    """Sort a row that is not long (D. L. Shell, CACM 2 (1959) 30-32), or count a long row."""
    first = kl.int64(begin[row])
    last = kl.int64(end[row])
    if last - first >= LONG:
        kl.atomic_add(long_rows, 0, 1)
    else:
        gap = kl.int64(1)
        while gap < (last - first) // 3:
            gap = 3 * gap + 1
        while gap > 0:
            sort_with_gap(keys, first, last, gap)
            gap //= 3
