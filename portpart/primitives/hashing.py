"""Seeded hashes of integers, equal on every space, and the candidate with the best score."""

from __future__ import annotations

from portpart.backends import language as kl


@kl.device
def mixed(value):
    """Return Murmur3's 64-bit finaliser of a number, a bijection, as a signed number."""
    x = kl.uint64(value)
    x = (x ^ (x >> kl.uint64(33))) * kl.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> kl.uint64(33))) * kl.uint64(0xC4CEB9FE1A85EC53)
    return kl.int64(x ^ (x >> kl.uint64(33)))


@kl.device
def wrapped_sum(a, b):
    """Return the sum modulo 2**64 as a signed number; a plain signed sum must not overflow."""
    return kl.int64(kl.uint64(a) + kl.uint64(b))


@kl.device
def hash_of(value, seed):
    """Return the hash of `value` under `seed`; different values never collide."""
    return mixed(kl.int64(value) ^ mixed(seed))


@kl.device
def pair_hash(u, v, seed):
    """Return the hash of the unordered pair of int32 ids {u, v}; different pairs never collide."""
    low = min(kl.int64(u), kl.int64(v))
    high = max(kl.int64(u), kl.int64(v))
    return hash_of((high << 32) | low, seed)


@kl.device
def is_drawn(hashed, chance):
    """Whether a hash is in the share `chance` of all hashes."""
    return kl.float64(hashed & 0x7FFFFFFF) < chance * 2147483648.0


# The best candidate of a team ------------------------------------------------------------------


LOWEST = -(2**63)
HIGHEST = 2**63 - 1
NO_VERTEX = -1


@kl.device
def team_winner(is_top, hashed, candidate):
    """Return the candidate (int32, or -1 for none) with the largest hash of the lanes at the top.

    All lanes of a team call it. All get the winner, or -1 if no lane has a candidate.
    """
    directed_tie_hash = kl.int64(LOWEST)
    if is_top:
        directed_tie_hash = hashed
    top_hash = kl.team_max(directed_tie_hash)
    own = kl.int32(NO_VERTEX)
    if is_top and hashed == top_hash:
        own = candidate
    return kl.team_max(own)


# Hash rows: small open-addressed tables, one per vertex or cluster, side by side in one array
#
# A row is the range begin ... end-1 of an array of int32 keys; the value of a key has the same slot
# in another array. A row must have space for every key that is inserted.  Which slot a key gets may
# depend on the order of the threads; that it has exactly one does not.


EMPTY = -1
"""A slot that is not used; a search ends here."""


SLOTS = {4: {1: 8, 8: 64, 32: 256, 256: 2048}, 8: {1: 8, 8: 64, 32: 192, 256: 1024}}
"""Slots of a row in the scratch memory of a team, by the bytes of a sum and the width of the team.
A row of a narrow and one of the widest team fit the shared memory of a CUDA block together.
"""


@kl.device
def first_slot(key, begin, end):
    """Return the slot where the search for `key` in the row begin ... end-1 starts."""
    hashed = (kl.int64(key) * 2654435769) & 0xFFFFFFFF
    return begin + ((hashed * (end - begin)) >> 32)


@kl.device
def seen_at(keys, slot, key):
    """Return the key at a slot of a row. A team of several lanes stores `key` first if the slot is
    empty.
    """
    return keys[slot] if kl.team_size() == 1 else kl.team_atomic_cas(keys, slot, kl.int32(EMPTY),
                                                                     key)


@kl.device
def claim_slot_in_team(keys, begin, end, key):
    """Return the slot of `key` in a row that only this team uses; claim one for a new key."""
    slot = first_slot(key, begin, end)
    found = seen_at(keys, slot, key)
    while (found != EMPTY) & (found != key):
        slot += 1
        if slot == end:
            slot = begin
        found = seen_at(keys, slot, key)
    if kl.team_size() == 1:
        keys[slot] = key
    return slot
