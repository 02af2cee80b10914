"""The hash that decides between equals, in integers of any size."""

from __future__ import annotations


def mixed(value: int) -> int:
    """Murmur3's finaliser, modulo 2**64."""
    x = value % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ (x >> 33)) * factor % 2**64
    return x ^ (x >> 33)


def hash_of_pair(u: int, v: int, seed: int) -> int:
    """Of an unordered pair of ids, as a signed number of 64 bits."""
    found = mixed((max(u, v) << 32 | min(u, v)) ^ mixed(seed))
    return found - 2**64 if found >= 2**63 else found
