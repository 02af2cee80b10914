"""A stable radix sort inside programs: keys and items, least significant digit first.

How many keys there are and how many bits they have is read from memory, so that nothing returns to
the host.  A team counts the digits of a tile, a scan turns the counts of all tiles into places, and
the team moves its tile row by row: a lane's word comes after the words of the same digit in the
lanes before it.  Digits are sorted in pairs, there and back, so that the result lies where the keys
were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    device,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_atomic_add,
    team_size,
    team_sync,
)
from portpart.backends.program import Program, Slot
from portpart.primitives.scan import TILE as SCAN_TILE
from portpart.primitives.scan import record_scan, tiles_of

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS

TILE = 512
"""Keys that one team counts and moves: two for each digit, so that counters are not too many."""

TEAM = 32

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


def sort_arrays(space: ExecutionSpace, most: int) -> dict[str, Array]:
    """Work arrays for sorting up to `most` keys: 5 bytes each."""
    counters = DIGITS * most_tiles(most)
    return {
        "digit_counts": space.empty(counters, np.int32),
        "digit_places": space.empty(counters + 1, np.int32),
        "digit_sums": space.empty(tiles_of(counters), np.int64),
        "sorting": space.zeros(NUM_WORDS, np.int64),
    }


def most_tiles(most: int) -> int:
    """Tiles of so many keys."""
    return max(1, -(-most // TILE))


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
                                 turn, team=TEAM)
            record_scan(program, slot["digit_counts"], places, slot["digit_sums"],
                        sorting[COUNTERS], sorting[COUNTER_TILES])
            program.parallel_for(sorting[TILES], move_words, keys, items, next_keys, next_items,
                                 places, sorting, turn, team=TEAM)
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
    own = team_array(int32, DIGITS)
    for digit in range(lane(), DIGITS, team_size()):
        own[digit] = 0
    team_sync()
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, sorting[KEYS]), team_size()):
        team_atomic_add(own, digit_at(keys[i], turn, sorting), 1)
    team_sync()
    for digit in range(lane(), DIGITS, team_size()):
        digit_counts[digit * sorting[TILES] + tile] = own[digit]


@kernel
def move_words(tile, keys, items, next_keys, next_items, digit_places, sorting, turn):
    """Move the keys and items of the tile to the places of their digits, in order."""
    place = team_array(int32, DIGITS)
    row = team_array(int32, TEAM)
    for digit in range(lane(), DIGITS, team_size()):
        place[digit] = digit_places[digit * sorting[TILES] + tile]
    end = min((tile + 1) * TILE, sorting[KEYS])
    base = tile * TILE
    while base < end:
        i = base + lane()
        digit = int64(0)
        row[lane()] = -1
        if i < end:
            digit = digit_at(keys[i], turn, sorting)
            row[lane()] = int32(digit)
        team_sync()
        if i < end:
            target = int64(place[digit])
            for other in range(lane()):
                if row[other] == digit:
                    target += 1
            next_keys[target] = keys[i]
            next_items[target] = items[i]
        team_sync()
        if i < end:
            team_atomic_add(place, digit, 1)
        base += team_size()
        team_sync()
