"""Small damages to text and bytes: what transfers, editors and strangers do to files."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

NASTY = [b"0", b"-1", b"-0", b"1", b"2", b"2147483647", b"2147483648", b"4294967296",
         b"4611686018427387904", b"4611686018427387905", b"9223372036854775807",
         b"9223372036854775808", b"18446744073709551616", b"1" + b"0" * 20, b"1e9", b"1e400",
         b"1e99999999", b"1e-99999999", b"nan", b"inf", b"-inf", b"0.5", b"1.0", b"7.", b".5",
         b"+3", b"0x10", b"1_000", b"9" * 5000, b"0" * 5000 + b"1", b"1e-5", b"--1", b"1/3", b"3%",
         "٣".encode(), b"300000000", b"2000000000", b"'a'", b'"1"', b""]
GAPS = [b" ", b"\t", b",", b";", b", ", b"  ", b":", b"=", b"|", b"\x0b", b"\xc2\xa0", b""]
ENDS = [b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b" \n", b"\x1a"]
HEADS = [b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"#", b"%", b"c ", b"\x1f\x8b", b"PK\x03\x04",
         b"BZh9", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"%%MatrixMarket ", b"module ", b"<html>",
         b"{", b"p "]
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
LONGEST = 1 << 16

Mutation = Callable[[Random, bytes, list[bytes]], bytes]


def mutated(random: Random, seeds: list[bytes], mutations: list[Mutation]) -> bytes:
    """One of `seeds` after a few mutations."""
    data = random.choice(seeds)
    for _ in range(1 + min(int(random.expovariate(1.2)), 8)):
        data = random.choice(mutations)(random, data, seeds)[:LONGEST]
    return data


def flip_bits(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 8)) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def set_byte(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes([random.choice((0, 10, 32, 45, 255, random.randrange(256)))]) + (
        data[at + random.randrange(2):])


def truncate(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    return data[:random.randrange(len(data) + 1)]


def drop_span(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    begin, end = _span(random, data)
    return data[:begin] + data[end:]


def repeat_span(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    begin, end = _span(random, data)
    return data[:end] + data[begin:end] * random.choice((1, 1, 2, 50)) + data[end:]


def splice(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    other = random.choice(seeds)
    return data[:random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1):]


def head(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    return random.choice(HEADS) + data


def replace_number(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    found = list(NUMBER.finditer(data))
    if not found:
        return data + random.choice(NASTY)
    # the first numbers are those of headers
    match = random.choice(found[:4] if random.random() < 0.4 else found)
    near = b"%d" % (int(match[0][:9].split(b".")[0].split(b"e")[0].split(b"E")[0] or b"0") +
                    random.choice((-1, 1, 2)))
    return data[:match.start()] + random.choice([*NASTY, *[near] * 8]) + data[match.end():]


def change_column(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Insert or delete a word on one line or on all."""
    lines = data.split(b"\n")
    chosen = range(len(lines)) if random.random() < 0.3 else [random.randrange(len(lines))]
    word, place, insert = random.choice(NASTY), random.randrange(4), random.random() < 0.5
    for number in chosen:
        words = lines[number].split()
        if insert:
            words.insert(place, word)
        else:
            del words[place : place + 1]
        lines[number] = b" ".join(words)
    return b"\n".join(lines)


def change_gaps(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    old, new = random.choice(GAPS[:4]), random.choice(GAPS)
    return data.replace(old, new, random.choice((1, 2, -1)))


def change_ends(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    return data.replace(b"\n", random.choice(ENDS), random.choice((1, -1)))


def change_lines(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    """Drop, repeat or exchange lines."""
    lines = data.split(b"\n")
    here, there = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(4)
    if kind == 0:
        del lines[here]
    elif kind == 1:
        lines[there:there] = [lines[here]] * random.choice((1, 1, 3, 200))
    elif kind == 2:
        lines[here], lines[there] = lines[there], lines[here]
    else:
        lines.insert(there, random.choice(random.choice(seeds).split(b"\n")))
    return b"\n".join(lines)


def change_case(random: Random, data: bytes, seeds: list[bytes]) -> bytes:
    begin, end = _span(random, data)
    return data[:begin] + data[begin:end].swapcase() + data[end:]


def _span(random: Random, data: bytes) -> tuple[int, int]:
    begin = random.randrange(len(data) + 1)
    return begin, min(len(data), begin + random.choice((1, 2, 5, 20, 100)))


OF_BYTES: list[Mutation] = [flip_bits, flip_bits, set_byte, truncate, drop_span, repeat_span,
                            splice, head]
OF_TEXT: list[Mutation] = [*OF_BYTES, *[replace_number] * 5, *[change_column] * 3, change_gaps,
                           change_ends, *[change_lines] * 3, change_case]
