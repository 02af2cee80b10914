"""Text to integers and back, in compiled, parallel passes over the bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart import backends
from portpart.backends import language as kl
from portpart.formats.text import chunks

# Text to integers: lines of numbers, read in two compiled, parallel passes over the bytes ------
#
# A work item owns a range of bytes and reads the lines that begin in it. The first pass counts the
# lines and numbers of each item; the second one writes them after those of earlier items.


@dataclass(frozen=True)
class LineSyntax:
    """Form of the lines of a file with numbers.

    Parameters
    ----------
    comments : bytes
        First bytes of lines to skip, at most three.
    keep_blank : bool
        Whether a blank line counts as a line without numbers (METIS: an isolated vertex).
    words : bytes
        Letters that may begin a line and are skipped, at most two (DIMACS: ``a 1 2 7``).
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
        Position of the first word that is not an integer in value.
    """

    values: np.ndarray
    starts: np.ndarray
    bad_byte: int | None


@dataclass(frozen=True)
class WordTable:
    """Columns of a text whose lines hold the same number of words.

    Attributes
    ----------
    columns : ndarray of int64, shape (columns, lines)
        The requested columns, in that order; empty if a line has another width.
    odd_byte : int or None
        Beginning of the first line that has more or fewer words.
    bad_byte : int or None
        Position of the first word of these columns that is not an integer in value.
    """

    columns: np.ndarray
    odd_byte: int | None
    bad_byte: int | None


def read_lines(data: bytes, syntax: LineSyntax, begin: int = 0) -> Lines:
    """Return the numbers of the lines of `data` from byte `begin` on, which must begin a line.

    Blanks, tabs, commas or semicolons separate numbers.  O(len(data)) time; memory 8 bytes per
    number and per line.
    """
    passes = _Passes(data, syntax, begin)
    num_lines, num_values = passes.count()
    values, starts = passes.space.empty(num_values, np.int64), passes.space.empty(
        num_lines + 1, np.int64)
    starts[num_lines] = num_values
    passes.run(True, values, starts, num_lines)
    return Lines(values, starts, passes.first_bad)


def read_table(data: bytes, syntax: LineSyntax, begin: int, width: int,
               columns: tuple[int, ...], located: tuple[int, ...] = ()) -> WordTable:
    """Return some columns of the lines from byte `begin` on, which must have `width` words each.

    Words of other columns are not examined. Columns in `located` have the positions where words
    begin, instead of their values. Memory 8 bytes per line and column.
    """
    passes = _Passes(data, syntax, begin, width, columns, located)
    num_lines, _ = passes.count()
    if passes.first_odd is not None:
        return WordTable(np.empty((len(columns), 0), np.int64), passes.first_odd, None)
    values = passes.space.empty(len(columns) * num_lines, np.int64)
    passes.run(True, values, passes.nothing, num_lines)
    return WordTable(values.reshape(len(columns), num_lines), None, passes.first_bad)


def count_numbers(data: bytes, syntax: LineSyntax) -> tuple[int, int]:
    """Return the numbers of lines and words of `data`."""
    return _Passes(data, syntax, 0).count()


def has_width(data: bytes, syntax: LineSyntax, width: int) -> bool:
    """Whether every line has `width` words."""
    passes = _Passes(data, syntax, 0, width)
    passes.count()
    return passes.first_odd is None


class _Passes:
    """The two passes over a text."""

    def __init__(self, data: bytes, syntax: LineSyntax, begin: int, width: int = chunks.ANY_WIDTH,
                 columns: tuple[int, ...] = (), located: tuple[int, ...] = ()) -> None:
        self.space = space = backends.space("cpu")
        self.size = len(data)
        self.items = -(-(self.size - begin) // chunks.BYTES_PER_ITEM)
        slots = np.full(max(1, width), chunks.LEFT_OUT, np.int64)
        slots[list(columns)] = np.arange(len(columns))
        is_located = np.zeros(max(1, width), bool)
        is_located[list(located)] = True
        self._text = chunks.Text(np.frombuffer(data, np.uint8), begin, self.size,
                          _padded(syntax.comments, 3), _padded(syntax.words, 2), syntax.keep_blank)
        self._columns = chunks.ColumnSlots(width, slots, is_located)
        self._lines, self._numbers = (np.zeros(self.items + 1, np.int64) for _ in range(2))
        self._counts = chunks.ChunkCounts(self._lines, self._numbers,
                                          space.full(2, self.size, np.int64))
        self.nothing = space.empty(1, np.int64)

    def count(self) -> tuple[int, int]:
        """Return the numbers of lines and words."""
        self.run(False, self.nothing, self.nothing, 0)
        return _scan_in_place(self._lines), _scan_in_place(self._numbers)

    def run(self, fill: bool, values: np.ndarray, starts: np.ndarray, num_lines: int) -> None:
        """Do one pass."""
        self.space.parallel_for(self.items, chunks.read_chunk, self._text, self._columns,
                                self._counts, fill, chunks.Output(values, starts, num_lines),
                                team=256)

    @property
    def first_bad(self) -> int | None:
        """Return the position of the first word that is not an integer, after the second pass."""
        return self._place(0)

    @property
    def first_odd(self) -> int | None:
        """Return the beginning of the first line of another width, after the first pass."""
        return self._place(1)

    def _place(self, which: int) -> int | None:
        place = int(self._counts.firsts[which])
        return None if place == self.size else place


def _padded(letters: bytes, count: int) -> np.ndarray:
    """Return letters for a kernel, padded with newlines."""
    padded = np.full(count, chunks.NEWLINE, np.uint8)
    padded[: len(letters)] = np.frombuffer(letters, np.uint8)
    return padded


def _scan_in_place(counts: np.ndarray) -> int:
    """Replace counts by the sums of the counts before each; return the total."""
    counts[1:] = np.cumsum(counts[:-1])
    counts[0] = 0
    return int(counts[-1])


# Integers to text: rows of decimal numbers, measured and then written in parallel --------------


SPACE, LINE_END, MINUS, ZERO = ord(" "), ord("\n"), ord("-"), ord("0")


def rendered_rows(values: np.ndarray, starts: np.ndarray, word: str = "") -> np.ndarray:
    """Return the bytes of one line per row: the numbers ``values[starts[i]:starts[i + 1]]``.

    Parameters
    ----------
    values : ndarray of int64
    starts : ndarray of int64, shape (rows + 1,)
    word : str
        A letter that begins each line, or nothing.
    """
    space = backends.space("cpu")
    rows = len(starts) - 1
    letter = ord(word) if word else 0
    ends = np.zeros(rows + 1, np.int64)
    space.parallel_for(rows, measure_row, values, starts, letter, ends)
    np.cumsum(ends, out=ends)
    text = space.empty(int(ends[-1]), np.uint8)
    space.parallel_for(rows, write_row, values, starts, letter, ends, text)
    return text


@kl.device
def width_of(value):
    """Return the number of characters of a number."""
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
    text[ends[row + 1] - 1] = LINE_END
