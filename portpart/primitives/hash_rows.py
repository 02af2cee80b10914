"""Hash rows: small open-addressed tables, one per vertex or cluster, side by side in one array.

A row is the range begin ... end-1 of an array of int32 keys; what belongs to a key stands at its
slot in another array.  A row must have room for every key sent to it.  Which slot a key gets may
depend on the order of the threads; that it has exactly one does not.
"""

from __future__ import annotations

from portpart.backends.language import (
    atomic_cas,
    atomic_load,
    device,
    int32,
    int64,
    team_atomic_cas,
)

EMPTY = -1
"""A slot that was never used: a search ends here."""

FREED = -2
"""A slot that was freed: a search goes on behind it, a new key may take it."""

ABSENT = -1


@device
def home_slot(key, begin, end):
    """Where the search for `key` in the row begin ... end-1 starts."""
    hashed = (int64(key) * 2654435769) & 0xFFFFFFFF
    return begin + ((hashed * (end - begin)) >> 32)


@device
def find_slot(keys, begin, end, key):
    """Slot of `key` in the row, or -1."""
    slot = home_slot(key, begin, end)
    result = int64(ABSENT)
    for _ in range(end - begin):
        found = atomic_load(keys, slot)
        if found == key:
            result = slot
            break
        if found == EMPTY:
            break
        slot += 1
        if slot == end:
            slot = begin
    return result


@device
def place_for(keys, begin, end, key):
    """First slot on the way of `key` that is free or, by now, holds the key."""
    slot = home_slot(key, begin, end)
    found = atomic_load(keys, slot)
    while found != EMPTY and found != FREED and found != key:
        slot += 1
        if slot == end:
            slot = begin
        found = atomic_load(keys, slot)
    return slot


@device
def claim_slot(keys, begin, end, key):
    """Slot of `key` in the row, claimed if new, while any threads claim slots of the row.

    No slot is freed meanwhile, and threads that look for one key try the same free slots in the
    same order, looking out for the key in each: so a key never gets two slots.
    """
    slot = find_slot(keys, begin, end, key)
    while slot < 0:
        place = place_for(keys, begin, end, key)
        found = atomic_load(keys, place)
        if found == EMPTY or found == FREED:
            found = atomic_cas(keys, place, found, key)
            if found == EMPTY or found == FREED:
                found = key
        if found == key:
            slot = place
    return slot


@device
def claim_slot_in_team(keys, begin, end, key):
    """Slot of `key` in a row without freed slots that only this team touches, claimed if new.

    Returns the slot for a key that was there and -1 - slot for a new one.
    """
    slot = home_slot(key, begin, end)
    found = team_atomic_cas(keys, slot, int32(EMPTY), key)
    while found != EMPTY and found != key:
        slot += 1
        if slot == end:
            slot = begin
        found = team_atomic_cas(keys, slot, int32(EMPTY), key)
    result = slot
    if found == EMPTY:
        result = -1 - slot
    return result
