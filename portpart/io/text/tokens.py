"""Text to integers: lines of numbers, read in two compiled, parallel passes over the bytes.

A work item owns a range of bytes and reads the lines that begin in it.  The first pass counts the
lines and numbers of each item; the second, knowing how many came before, writes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart import backends
from portpart.backends.language import atomic_min, device, int64, kernel
from portpart.io.text.decimal import NOT_AN_INTEGER, integer_value

BYTES_PER_ITEM = 1 << 16

ANY_WIDTH = 0

NEWLINE, SPACE, COMMA, SEMICOLON = ord("\n"), ord(" "), ord(","), ord(";")
TAB, RETURN = ord("\t"), ord("\r")

LEFT_OUT = -1
"""Slot of a column that is not read."""


@dataclass(frozen=True)
class LineSyntax:
    """Which lines of a file hold numbers.

    Parameters
    ----------
    comments : bytes
        First bytes of lines to be left out, at most three.
    keep_blank : bool
        A blank line is a line without numbers (METIS: an isolated vertex), not nothing.
    words : bytes
        Letters of which one may begin a line and is left out, at most two (DIMACS: ``a 1 2 7``).
    """

    comments: bytes
    keep_blank: bool = False
    words: bytes = b""


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


@dataclass(frozen=True)
class Table:
    """Columns of a text whose lines hold the same number of words.

    Attributes
    ----------
    columns : ndarray of int64, shape (columns, lines)
        The columns that were asked for, in that order; empty if there is an odd line.
    odd_byte : int or None
        Begin of the first line that has more or fewer words.
    bad_byte : int or None
        Position of the first word of these columns that is no integer in value.
    """

    columns: np.ndarray
    odd_byte: int | None
    bad_byte: int | None


def read_lines(data: bytes, syntax: LineSyntax, begin: int = 0) -> Lines:
    """Numbers of the lines of `data` from byte `begin` on, which must begin a line.

    Numbers stand between blanks, tabs, commas or semicolons.  O(len(data)) time; memory 8 bytes
    per number and per line.
    """
    passes = _Passes(data, syntax, begin)
    num_lines, num_values = passes.count()
    values, starts = passes.space.empty(num_values, np.int64), passes.space.empty(
        num_lines + 1, np.int64)
    starts[num_lines] = num_values
    passes.run(True, values, starts, num_lines)
    return Lines(values, starts, passes.first_bad)


def read_table(data: bytes, syntax: LineSyntax, begin: int, width: int,
               columns: tuple[int, ...], located: tuple[int, ...] = ()) -> Table:
    """Some columns of the lines from byte `begin` on, which must hold `width` words each.

    Words of other columns are not looked at.  Of those in `located` the positions are told, where
    the words begin, instead of their values.  Memory 8 bytes per line and column.
    """
    passes = _Passes(data, syntax, begin, width, columns, located)
    num_lines, _ = passes.count()
    if passes.first_odd is not None:
        return Table(np.empty((len(columns), 0), np.int64), passes.first_odd, None)
    values = passes.space.empty(len(columns) * num_lines, np.int64)
    passes.run(True, values, passes.nothing, num_lines)
    return Table(values.reshape(len(columns), num_lines), None, passes.first_bad)


def count_numbers(data: bytes, syntax: LineSyntax) -> tuple[int, int]:
    """How many lines and words `data` has."""
    return _Passes(data, syntax, 0).count()


def has_width(data: bytes, syntax: LineSyntax, width: int) -> bool:
    """Whether every line holds `width` words."""
    passes = _Passes(data, syntax, 0, width)
    passes.count()
    return passes.first_odd is None


class _Passes:
    """The two passes over a text."""

    def __init__(self, data: bytes, syntax: LineSyntax, begin: int, width: int = ANY_WIDTH,
                 columns: tuple[int, ...] = (), located: tuple[int, ...] = ()) -> None:
        self.space = space = backends.space("cpu")
        self.size = len(data)
        self.items = -(-(self.size - begin) // BYTES_PER_ITEM)
        slots = np.full(max(1, width), LEFT_OUT, np.int64)
        slots[list(columns)] = np.arange(len(columns))
        is_located = np.zeros(max(1, width), bool)
        is_located[list(located)] = True
        self._text = (np.frombuffer(data, np.uint8), begin, self.size,
                      _padded(syntax.comments, 3), _padded(syntax.words, 2), syntax.keep_blank)
        self._shape = (width, slots, is_located)
        self._bases = (space.zeros(self.items + 1, np.int64), space.zeros(self.items + 1, np.int64))
        self._firsts = space.full(2, self.size, np.int64)
        self.nothing = space.empty(1, np.int64)

    def count(self) -> tuple[int, int]:
        """Numbers of lines and words."""
        self.run(False, self.nothing, self.nothing, 0)
        lines, numbers = map(_scan_in_place, self._bases)
        return lines, numbers

    def run(self, fill: bool, values: np.ndarray, starts: np.ndarray, num_lines: int) -> None:
        """One pass."""
        self.space.parallel_for(self.items, read_chunk, *self._text, *self._shape, *self._bases,
                                fill, num_lines, values, starts, self._firsts, team=256)

    @property
    def first_bad(self) -> int | None:
        """Position of the first word that is no integer, after the second pass."""
        return self._place(0)

    @property
    def first_odd(self) -> int | None:
        """Begin of the first line of another width, after the first pass."""
        return self._place(1)

    def _place(self, which: int) -> int | None:
        place = int(self._firsts[which])
        return None if place == self.size else place


def _padded(letters: bytes, count: int) -> np.ndarray:
    """Letters for a kernel; a newline stands for none."""
    padded = np.full(count, NEWLINE, np.uint8)
    padded[: len(letters)] = np.frombuffer(letters, np.uint8)
    return padded


def _scan_in_place(counts: np.ndarray) -> int:
    """Turn counts into the sums of the counts before each; returns the total."""
    counts[1:] = np.cumsum(counts[:-1])
    counts[0] = 0
    return int(counts[-1])


@device
def is_gap(letter):
    """Blank, tab, carriage return, comma or semicolon; no control character is."""
    blank = letter == SPACE or (letter >= TAB and letter <= RETURN and letter != NEWLINE)
    return blank or letter == COMMA or letter == SEMICOLON


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
def first_number(text, start, size, comments, words):
    """Position of the first number of the line at start, or its end; -1 for a comment."""
    at = gap_end(text, start, size)
    if at < size and text[at] != NEWLINE:
        letter = text[at]
        if letter == comments[0] or letter == comments[1] or letter == comments[2]:
            return int64(-1)
        if letter == words[0] or letter == words[1]:
            end = word_end(text, at, size)
            if end == at + 1:
                return gap_end(text, end, size)
    return at


@device
def number_at(text, start, stop, first_bad):
    """The integer text[start:stop]; first_bad[0] gets the smallest start where there is none."""
    value = integer_value(text, start, stop)
    if value == NOT_AN_INTEGER:
        atomic_min(first_bad, 0, start)
    return value


@kernel
def read_chunk(item, text, begin, size, comments, words, keep_blank, width, slots, located,
               line_base, number_base, fill, num_lines, values, starts, first_bad):
    """Count (fill false) or write the lines and numbers of the lines that begin in this item.

    Counting leaves the counts in line_base and number_base, and in first_bad[1] the begin of the
    first line that has not width words; filling starts from there.
    """
    at = begin + item * BYTES_PER_ITEM
    stop = min(at + BYTES_PER_ITEM, size)
    if item > 0:
        at = line_end(text, at - 1, size) + 1
    line = line_base[item]
    number = number_base[item]
    while at < stop:
        here = first_number(text, at, size, comments, words)
        if here < 0:
            here = line_end(text, at, size)
        elif keep_blank or (here < size and text[here] != NEWLINE):
            if fill and width == ANY_WIDTH:
                starts[line] = number
            column = int64(0)
            while here < size and text[here] != NEWLINE:
                end = word_end(text, here, size)
                if fill and width == ANY_WIDTH:
                    values[number] = number_at(text, here, end, first_bad)
                elif fill and slots[column] != LEFT_OUT:
                    place = slots[column] * num_lines + line
                    if located[column]:
                        values[place] = here
                    else:
                        values[place] = number_at(text, here, end, first_bad)
                number += 1
                column += 1
                here = gap_end(text, end, size)
            if width != ANY_WIDTH and column != width:
                atomic_min(first_bad, 1, at)
            line += 1
        at = here + 1
    if not fill:
        line_base[item] = line
        number_base[item] = number
