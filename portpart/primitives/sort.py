"""Stable radix sort of integer keys, least significant digit first.

A key and its position are packed into one 64-bit word, so that a pass moves one stream; keys that
span more than 32 bits are sorted by their low half, then by their high half.  In a pass every work
item owns one tile of the words: it counts their digits, one item converts the counts of all tiles
into places, and every item moves its words in order. The number of digits depends on the span of
the keys.
"""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.primitives.basic import converted, gather
from portpart.primitives.reduce import INT64_MIN, max_of, min_of

SMALL = 4096
"""Maximum number of keys that one work item sorts in a single launch."""

TILE = 8192
"""Minimum number of words of a tile."""

MAX_TILES = 64

DIGIT_BITS = 10
"""Maximum number of bits of a digit: 8, 9 and 10 cost the same per pass, 11 twice as much
(measured).
"""

HALF = 32
"""Number of low bits of a word that hold the position; the key is above them."""


def sort_keys(space: ExecutionSpace, keys: Array) -> tuple[Array, Array]:
    """Return a sorted copy of integer `keys` and the stable permutation that sorts them (int32)."""
    found = space.library_sort(keys)
    if found is None:
        return radix_sort_keys(space, keys)
    order = converted(space, found, np.int32)
    return gather(space, keys, order), order


def radix_sort_keys(space: ExecutionSpace, keys: Array) -> tuple[Array, Array]:
    """Return a sorted copy of `keys` and the stable permutation that sorts them (int32)."""
    n = len(keys)
    if keys.dtype.kind not in "iub":
        raise InputError(f"only integers are sorted here, not {keys.dtype}")
    if n >= 2**31:
        raise InputError(f"at most 2^31 - 1 keys can be sorted, not {n}")
    if keys.dtype == np.uint64:
        return _sort_unsigned(space, keys)
    if keys.dtype == np.bool_:
        ordered, order = radix_sort_keys(space, keys.view(np.uint8))
        return ordered.view(np.bool_), order
    if n <= SMALL:
        return _sort_small(space, keys)
    low = min_of(space, keys)
    bits = (max_of(space, keys) - low).bit_length()
    words = _sorted_words(space, keys, None, low, 0, min(bits, HALF))
    order = space.empty(n, np.int32)
    if bits > HALF:
        space.parallel_for(n, unpack_order, words, order)
        words = _sorted_words(space, keys, order, low, HALF, bits - HALF)
        space.parallel_for(n, unpack_order, words, order)
        return gather(space, keys, order), order
    ordered = space.empty(n, keys.dtype)
    space.parallel_for(n, unpack, words, low, ordered, order)
    return ordered, order


def _sort_unsigned(space: ExecutionSpace, keys: Array) -> tuple[Array, Array]:
    """Sort uint64 keys as int64 numbers of the same order."""
    signed = space.empty(len(keys), np.int64)
    space.parallel_for(len(keys), flip_sign_bit, keys, signed)
    _, order = radix_sort_keys(space, signed)
    return gather(space, keys, order), order


def _sort_small(space: ExecutionSpace, keys: Array) -> tuple[Array, Array]:
    n = len(keys)
    ordered = space.empty(n, keys.dtype)
    order = space.empty(n, np.int32)
    scratch = space.empty(2 * n, np.int32)
    counts = space.empty(256, np.int64)
    space.parallel_for(1, sort_small, keys, n, scratch, counts, ordered, order)
    return ordered, order


def _sorted_words(space: ExecutionSpace, keys: Array, order: Array | None, low: int, shift: int,
                  bits: int) -> Array:
    """Return words of `keys` (in the order of `order`), sorted by `bits` bits of key - low from bit
    `shift`.
    """
    words, spare = (space.empty(len(keys), np.uint64) for _ in range(2))
    space.parallel_for(len(keys), pack, keys, order, low, shift, words)
    return sort_by_bits(space, words, spare, HALF, bits)


def sort_by_bits(space: ExecutionSpace, words: Array, spare: Array, first: int, bits: int) -> Array:
    """Sort words by `bits` bits from bit `first` on; stable.

    Parameters
    ----------
    space : ExecutionSpace
    words, spare : array of uint64, shape (n,)
        Overwritten.
    first, bits : int

    Returns
    -------
    array of uint64, shape (n,)
        `words` or `spare`.
    """
    n = len(words)
    passes = -(-bits // DIGIT_BITS)
    tiles = max(1, min(MAX_TILES, -(-n // TILE)))
    done = first
    for left in range(passes, 0, -1):
        digit = -(-(first + bits - done) // left)
        counts = space.empty(tiles << digit, np.int64)
        space.parallel_for(tiles, count_digits, words, n, tiles, done, digit, counts, team=256)
        space.parallel_for(1, place_digits, counts, tiles, digit, team=256)
        space.parallel_for(tiles, move_words, words, n, tiles, done, digit, counts, spare, team=256)
        words, spare = spare, words
        done += digit
    return words


@kl.device
def digit_of(word, shift, digit):
    """Return the digit of `digit` bits that begins at bit `shift`."""
    return kl.int64((word >> kl.uint64(shift)) & kl.uint64((1 << digit) - 1))


@kl.kernel
def flip_sign_bit(i, keys, signed):
    """signed[i] = keys[i] - 2^63."""
    signed[i] = kl.int64(keys[i]) ^ kl.int64(INT64_MIN)


@kl.kernel
def pack(i, keys, order, low, shift, words):
    """Set word i from the i-th key in order: 32 bits of key - low from `shift` on, above its
    position.
    """
    position = kl.value_or(order, i, i)
    rest = (kl.uint64(kl.int64(keys[position])) - kl.uint64(low)) >> kl.uint64(shift)
    words[i] = (rest << kl.uint64(HALF)) | kl.uint64(position)


@kl.kernel
def unpack_order(i, words, order):
    """order[i] = position in the word."""
    order[i] = kl.int32(kl.int64(words[i] & kl.uint64(0xFFFFFFFF)))


@kl.kernel
def unpack(i, words, low, ordered, order):
    """Set key and position from the word; the key is at most 32 bits above `low`."""
    word = words[i]
    ordered[i] = kl.int64(word >> kl.uint64(HALF)) + low
    order[i] = kl.int32(kl.int64(word & kl.uint64(0xFFFFFFFF)))


# One lane processes a tile: a word must not overtake another word of the same digit.


@kl.kernel
def count_digits(tile, words, size, tiles, shift, digit, counts):
    """counts[tile * radix + d] = occurrences of the digit d in the tile."""
    if kl.lane() == 0:
        first = tile << digit
        for slot in range(first, first + (1 << digit)):
            counts[slot] = 0
        share = (size + tiles - 1) // tiles
        for i in range(tile * share, min((tile + 1) * share, size)):
            counts[first + digit_of(words[i], shift, digit)] += 1


@kl.kernel
def place_digits(_, counts, tiles, digit):
    """Replace counts by places: smaller digits first, then earlier tiles."""
    if kl.lane() == 0:
        place = kl.int64(0)
        radix = 1 << digit
        for first in range(radix):
            for slot in range(first, tiles * radix, radix):
                count = counts[slot]
                counts[slot] = place
                place += count


@kl.kernel
def move_words(tile, words, size, tiles, shift, digit, places, result):
    """Move the words of the tile to the places of their digits, which advance."""
    if kl.lane() == 0:
        first = tile << digit
        share = (size + tiles - 1) // tiles
        for i in range(tile * share, min((tile + 1) * share, size)):
            word = words[i]
            slot = first + digit_of(word, shift, digit)
            place = places[slot]
            places[slot] = place + 1
            result[place] = word


@kl.device
def smallest(keys, size):
    """Return the smallest key."""
    low = kl.int64(keys[0])
    for i in range(1, size):
        low = min(low, kl.int64(keys[i]))
    return low


@kl.device
def span_of(keys, size, low):
    """Return the largest key minus the smallest one."""
    span = kl.uint64(0)
    for i in range(size):
        span = max(span, kl.uint64(kl.int64(keys[i])) - kl.uint64(low))
    return span


@kl.device
def byte_of(key, low, shift):
    """Return the byte of key - low that begins at bit `shift`."""
    return kl.int64(((kl.uint64(kl.int64(key))
                      - kl.uint64(low)) >> kl.uint64(shift)) & kl.uint64(255))


@kl.device
def move_by_byte(keys, low, shift, scratch, source, target, size, counts):
    """Do one pass: move the positions at scratch[source ...] to scratch[target ...]."""
    for byte in range(256):
        counts[byte] = 0
    for i in range(size):
        counts[byte_of(keys[i], low, shift)] += 1
    place = target
    for byte in range(256):
        count = counts[byte]
        counts[byte] = place
        place += count
    for i in range(source, source + size):
        byte = byte_of(keys[kl.int64(scratch[i])], low, shift)
        place = counts[byte]
        counts[byte] = place + 1
        scratch[place] = scratch[i]


@kl.kernel
def sort_small(_, keys, size, scratch, counts, ordered, order):
    """Sort few keys on one lane; `scratch` has space for 2 * size positions, `counts` for 256
    numbers.
    """
    if kl.lane() == 0 and size > 0:
        low = smallest(keys, size)
        span = span_of(keys, size, low)
        for i in range(size):
            scratch[i] = kl.int32(i)
        source = kl.int64(0)
        shift = kl.int64(0)
        while shift < 64 and (span >> kl.uint64(shift)) != 0:
            move_by_byte(keys, low, shift, scratch, source, size - source, size, counts)
            source = size - source
            shift += 8
        for i in range(size):
            position = scratch[source + i]
            order[i] = position
            ordered[i] = keys[kl.int64(position)]
