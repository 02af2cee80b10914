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

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import device, int32, int64, kernel
from portpart.backends.program import Program, Slot
from portpart.primitives.scan import TILE as SCAN_TILE
from portpart.primitives.scan import record_scan, tiles_of

DIGIT_BITS = 4
DIGITS = 1 << DIGIT_BITS

TILE = 64
"""Keys that one item counts and moves: some for each digit, so that counters are not too many."""

KEYS, BITS, TILES, COUNTERS, COUNTER_TILES, SHIFT, SORTING = range(7)
"""Words of the array ``sorting``: the number of keys and the bits they have, which the program sets
before it sorts; the rest is the sort's own."""

NUM_WORDS = 7


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


def sort_arrays(space: ExecutionSpace, max_size: int) -> dict[str, Array]:
    """Work arrays for sorting up to `max_size` keys: 2 bytes each."""
    counters = DIGITS * max_tiles(max_size)
    return {
        "digit_counts": space.empty(counters, np.int32),
        "digit_places": space.empty(counters + 1, np.int32),
        "digit_sums": space.empty(tiles_of(counters), np.int64),
        "sorting": space.zeros(NUM_WORDS, np.int64),
    }


def max_tiles(max_size: int) -> int:
    """Tiles of so many keys."""
    return max(1, -(-max_size // TILE))


def declare_sort(program: Program) -> None:
    """Slots of `program` for the :func:`sort_arrays`."""
    for name, dtype in (("digit_counts", np.int32), ("digit_places", np.int32),
                        ("digit_sums", np.int64), ("sorting", np.int64)):
        program.array(name, dtype)


def record_sort(program: Program, slots: SortSlots) -> None:
    """Record how keys are sorted; equal ones keep their order.

    When this part of the program starts, ``sorting[KEYS]`` is the number of keys and
    ``sorting[BITS]`` at least the bits of the largest one; both stay as they are.
    """
    slot = program.slots
    sorting, places = slot["sorting"], slot["digit_places"]
    there_and_back: tuple[tuple[int, tuple[Any, ...]], ...] = (
        (0, (slots.keys, slots.items, slots.other_keys, slots.other_items)),
        (1, (slots.other_keys, slots.other_items, slots.keys, slots.items)),
    )
    program.launch(1, begin_sort)
    with program.while_loop(sorting[SORTING]):
        for turn, (keys, items, next_keys, next_items) in there_and_back:
            program.parallel_for(sorting[TILES], count_digits, keys, slot["digit_counts"], sorting,
                                 turn)
            record_scan(program, slot["digit_counts"], places, slot["digit_sums"],
                        sorting[COUNTERS], sorting[COUNTER_TILES])
            program.parallel_for(sorting[TILES], move_words, keys, items, next_keys, next_items,
                                 places, sorting, turn)
        program.launch(1, take_next_digits)


@device
def digit_at(key, turn, sorting):
    """The digit of a key that is sorted by in this turn."""
    return (int64(key) >> (sorting[SHIFT] + turn * DIGIT_BITS)) & (DIGITS - 1)


@kernel
def begin_sort(_, sorting):
    """Find how many tiles there are, and whether there is anything to sort."""
    tiles = max(int64(1), (sorting[KEYS] + TILE - 1) // TILE)
    sorting[TILES] = tiles
    sorting[COUNTERS] = tiles * DIGITS
    sorting[COUNTER_TILES] = (tiles * DIGITS + SCAN_TILE - 1) // SCAN_TILE
    sorting[SHIFT] = 0
    sorting[SORTING] = int64(sorting[BITS] > 0 and sorting[KEYS] > 1)


@kernel
def take_next_digits(_, sorting):
    """Two digits are done."""
    sorting[SHIFT] += 2 * DIGIT_BITS
    sorting[SORTING] = int64(sorting[SHIFT] < sorting[BITS])


@kernel
def count_digits(tile, keys, digit_counts, sorting, turn):
    """digit_counts[d * tiles + tile] = keys of the tile with the digit d."""
    tiles = sorting[TILES]
    for digit in range(DIGITS):
        digit_counts[digit * tiles + tile] = int32(0)
    for i in range(tile * TILE, min((tile + 1) * TILE, sorting[KEYS])):
        digit_counts[digit_at(keys[i], turn, sorting) * tiles + tile] += 1


@kernel
def move_words(tile, keys, items, next_keys, next_items, digit_places, sorting, turn):
    """Move the keys and items of the tile to the places of their digits, which are used up."""
    tiles = sorting[TILES]
    for i in range(tile * TILE, min((tile + 1) * TILE, sorting[KEYS])):
        slot = digit_at(keys[i], turn, sorting) * tiles + tile
        place = digit_places[slot]
        digit_places[slot] = place + 1
        next_keys[place] = keys[i]
        next_items[place] = items[i]
