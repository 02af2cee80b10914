"""Seeded hashes of integers, the same on every space."""

from __future__ import annotations

from portpart.backends.language import device, float64, int64, uint64


@device
def mixed(value):
    """Murmur3's 64-bit finaliser: a bijection, as a signed number."""
    x = uint64(value)
    x = (x ^ (x >> uint64(33))) * uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> uint64(33))) * uint64(0xC4CEB9FE1A85EC53)
    return int64(x ^ (x >> uint64(33)))


@device
def wrapped_sum(a, b):
    """Sum modulo 2**64, as a signed number; a plain signed sum must not overflow."""
    return int64(uint64(a) + uint64(b))


@device
def hash_of(value, seed):
    """Hash of `value` under `seed`; different values never collide."""
    return mixed(int64(value) ^ mixed(seed))


@device
def pair_hash(u, v, seed):
    """Hash of the unordered pair of int32 ids {u, v}; different pairs never collide."""
    low = min(int64(u), int64(v))
    high = max(int64(u), int64(v))
    return hash_of((high << 32) | low, seed)


@device
def is_drawn(hashed, chance):
    """Whether a hash is among the share `chance` of all hashes."""
    return float64(hashed & 0x7FFFFFFF) < chance * 2147483648.0
