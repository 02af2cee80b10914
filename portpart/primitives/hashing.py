"""Seeded hashes of integers, the same on every space."""

from __future__ import annotations

from portpart.backends import language as kl


@kl.device
def mixed(value):
    """Murmur3's 64-bit finaliser: a bijection, as a signed number."""
    x = kl.uint64(value)
    x = (x ^ (x >> kl.uint64(33))) * kl.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> kl.uint64(33))) * kl.uint64(0xC4CEB9FE1A85EC53)
    return kl.int64(x ^ (x >> kl.uint64(33)))


@kl.device
def wrapped_sum(a, b):
    """Sum modulo 2**64, as a signed number; a plain signed sum must not overflow."""
    return kl.int64(kl.uint64(a) + kl.uint64(b))


@kl.device
def hash_of(value, seed):
    """Hash of `value` under `seed`; different values never collide."""
    return mixed(kl.int64(value) ^ mixed(seed))


@kl.device
def pair_hash(u, v, seed):
    """Hash of the unordered pair of int32 ids {u, v}; different pairs never collide."""
    low = min(kl.int64(u), kl.int64(v))
    high = max(kl.int64(u), kl.int64(v))
    return hash_of((high << 32) | low, seed)


@kl.device
def is_drawn(hashed, chance):
    """Whether a hash is among the share `chance` of all hashes."""
    return kl.float64(hashed & 0x7FFFFFFF) < chance * 2147483648.0
