"""Text to integers: lines of numbers, read in two compiled, parallel passes over the bytes.

A work item owns a range of bytes and reads the lines that begin in it.  The first pass counts the
lines and numbers of each item; the second, knowing how many came before, writes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart import backends
from portpart.backends.language import atomic_min, device, int64, kernel
from portpart.io.decimal import NOT_AN_INTEGER, integer_value

BYTES_PER_ITEM = 1 << 16

ALL_COLUMNS = 2**62

NEWLINE, SPACE, COMMA, SEMICOLON, UPPER_A = ord("\n"), ord(" "), ord(","), ord(";"), ord("A")


@dataclass(frozen=True)
class LineSyntax:
    """Which lines of a file hold numbers.

    Parameters
    ----------
    comments : bytes
        First bytes of lines to be left out, at most three.
    keep_blank : bool
        A blank line is a line without numbers (METIS: an isolated vertex), not nothing.
    columns : int
        Numbers read per line; the rest of the line is left out unread.
    word_first : bool
        A line may begin with a word, which is left out (DIMACS: ``a 1 2 7``).
    """

    comments: bytes
    keep_blank: bool = False
    columns: int = ALL_COLUMNS
    word_first: bool = False


@dataclass(frozen=True)
class Lines:
    """The numbers of a text.

    Attributes
    ----------
    values : ndarray of int64
        All numbers in order.
    starts : ndarray of int64, shape (number of lines + 1,)
        Line i holds ``values[starts[i]:starts[i + 1]]``.
    bad_byte : int or None
        Position of the first word that is no integer in value.
    """

    values: np.ndarray
    starts: np.ndarray
    bad_byte: int | None


def read_lines(data: bytes, syntax: LineSyntax, begin: int = 0) -> Lines:
    """Numbers of the lines of `data` from byte `begin` on, which must begin a line.

    Numbers stand between blanks, tabs, commas or semicolons.  O(len(data)) time; memory 8 bytes
    per number and per line.
    """
    space = backends.space("cpu")
    size = len(data)
    items = -(-(size - begin) // BYTES_PER_ITEM)
    comments = np.full(3, NEWLINE, np.uint8)
    comments[: len(syntax.comments)] = np.frombuffer(syntax.comments, np.uint8)
    text = np.frombuffer(data, np.uint8)
    source = (text, begin, size, comments, syntax.keep_blank, syntax.columns, syntax.word_first)
    line_base, number_base = space.zeros(items + 1, np.int64), space.zeros(items + 1, np.int64)
    first_bad = space.full(1, size, np.int64)
    nothing = space.empty(1, np.int64)

    def pass_over(fill: bool, values: np.ndarray, starts: np.ndarray) -> None:
        space.parallel_for(items, read_chunk, *source, line_base, number_base, fill, values,
                           starts, first_bad, team=256)

    pass_over(False, nothing, nothing)
    num_lines, num_values = _scan_in_place(line_base), _scan_in_place(number_base)
    values, starts = space.empty(num_values, np.int64), space.empty(num_lines + 1, np.int64)
    starts[num_lines] = num_values
    pass_over(True, values, starts)
    bad = int(first_bad[0])
    return Lines(values, starts, None if bad == size else bad)


def _scan_in_place(counts: np.ndarray) -> int:
    """Turn counts into the sums of the counts before each; returns the total."""
    counts[1:] = np.cumsum(counts[:-1])
    counts[0] = 0
    return int(counts[-1])


@device
def is_gap(letter):
    """Blank, tab, carriage return, comma or semicolon."""
    return (letter <= SPACE and letter != NEWLINE) or letter == COMMA or letter == SEMICOLON


@device
def gap_end(text, start, size):
    """First position from start on that is no gap."""
    at = int64(start)
    while at < size and is_gap(int64(text[at])):
        at += 1
    return at


@device
def word_end(text, start, size):
    """First position from start on that is a gap or a newline."""
    at = int64(start)
    while at < size:
        letter = int64(text[at])
        if letter == NEWLINE or is_gap(letter):
            break
        at += 1
    return at


@device
def line_end(text, start, size):
    """Position of the first newline from start on, or size."""
    at = int64(start)
    while at < size and text[at] != NEWLINE:
        at += 1
    return at


@device
def first_number(text, start, size, comments, word_first):
    """Position of the first number of the line at start, or its end; -1 for a comment."""
    at = gap_end(text, start, size)
    if at < size and text[at] != NEWLINE:
        letter = text[at]
        if letter == comments[0] or letter == comments[1] or letter == comments[2]:
            return int64(-1)
        if word_first and letter >= UPPER_A:
            return gap_end(text, word_end(text, at, size), size)
    return at


@kernel
def read_chunk(item, text, begin, size, comments, keep_blank, columns, word_first, line_base,
               number_base, fill, values, starts, first_bad):
    """Count (fill false) or write the lines and numbers of the lines that begin in this item.

    Counting leaves the counts in line_base and number_base; filling starts from there.
    """
    at = begin + item * BYTES_PER_ITEM
    stop = min(at + BYTES_PER_ITEM, size)
    if item > 0:
        at = line_end(text, at - 1, size) + 1
    line = line_base[item]
    number = number_base[item]
    while at < stop:
        here = first_number(text, at, size, comments, word_first)
        if here < 0:
            here = line_end(text, at, size)
        elif keep_blank or (here < size and text[here] != NEWLINE):
            if fill:
                starts[line] = number
            line += 1
            column = int64(0)
            while here < size and text[here] != NEWLINE:
                end = word_end(text, here, size)
                if column < columns:
                    if fill:
                        values[number] = integer_value(text, here, end)
                        if values[number] == NOT_AN_INTEGER:
                            atomic_min(first_bad, 0, here)
                    number += 1
                    column += 1
                here = gap_end(text, end, size)
        at = here + 1
    if not fill:
        line_base[item] = line
        number_base[item] = number
