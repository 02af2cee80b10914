"""Integers to text: rows of decimal numbers, sized and then written in parallel."""

from __future__ import annotations

import numpy as np

from portpart import backends
from portpart.backends import language as kl

SPACE, NEWLINE, MINUS, ZERO = ord(" "), ord("\n"), ord("-"), ord("0")


def rendered_rows(values: np.ndarray, starts: np.ndarray, word: str = "") -> np.ndarray:
    """Bytes of one line per row: the numbers ``values[starts[i]:starts[i + 1]]``.

    Parameters
    ----------
    values : ndarray of int64
    starts : ndarray of int64, shape (rows + 1,)
    word : str
        One letter to begin each line with, or nothing.
    """
    space = backends.space("cpu")
    rows = len(starts) - 1
    letter = ord(word) if word else 0
    ends = space.zeros(rows + 1, np.int64)
    space.parallel_for(rows, measure_row, values, starts, letter, ends)
    np.cumsum(ends, out=ends)
    text = space.empty(int(ends[-1]), np.uint8)
    space.parallel_for(rows, write_row, values, starts, letter, ends, text)
    return text


@kl.device
def width_of(value):
    """Characters of a number."""
    width = kl.int64(1)
    rest = kl.int64(value)
    if rest < 0:
        width += 1
        rest = -rest
    while rest >= 10:
        rest = rest // 10
        width += 1
    return width


@kl.kernel
def measure_row(row, values, starts, letter, ends):
    """ends[row + 1] = length of the row's line: each number and the letter have one byte after."""
    length = kl.int64(0)
    if letter != 0:
        length = 2
    for i in range(starts[row], starts[row + 1]):
        length += width_of(values[i]) + 1
    ends[row + 1] = max(length, 1)


@kl.kernel
def write_row(row, values, starts, letter, ends, text):
    """Write the row's line; the blank after its last number becomes the newline."""
    at = kl.int64(ends[row])
    if letter != 0:
        text[at] = letter
        text[at + 1] = SPACE
        at += 2
    for i in range(starts[row], starts[row + 1]):
        width = width_of(values[i])
        if values[i] < 0:
            text[at] = MINUS
        rest = abs(kl.int64(values[i]))
        place = at + width - 1
        text[place] = ZERO + rest % 10
        while rest >= 10:
            rest = rest // 10
            place -= 1
            text[place] = ZERO + rest % 10
        at += width + 1
        text[at - 1] = SPACE
    text[ends[row + 1] - 1] = NEWLINE
