"""Chunks of a text, in which a work item counts numbers of lines, or reads them."""

from __future__ import annotations

from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.formats.text.decimal import NOT_AN_INTEGER, integer_value

BYTES_PER_ITEM = 1 << 16

ANY_WIDTH = 0

NEWLINE, SPACE, COMMA, SEMICOLON = ord("\n"), ord(" "), ord(","), ord(";")
TAB, RETURN = ord("\t"), ord("\r")

LEFT_OUT = -1
"""Slot of a column that is not read."""


class Text(kl.Record):
    """A text, and the form of its lines with numbers.

    Attributes
    ----------
    letters : array of uint8
    begin, size : int
        Lines from byte `begin` on are read, to the end.
    comments, words : array of uint8, shapes (3,) and (2,)
        Lines that begin with one of `comments` are skipped; one of `words` at the beginning of a
        line is skipped. The arrays are padded with newlines.
    keep_blank : bool
    """

    letters: Array
    begin: int
    size: int
    comments: Array
    words: Array
    keep_blank: bool


class ColumnSlots(kl.Record):
    """Columns to read.

    Attributes
    ----------
    width : int
        Number of words of a line, or `ANY_WIDTH`, for which all are read.
    slots : array of int64, shape (width,)
        The place of each column among the columns that are read, or `LEFT_OUT`.
    located : array of bool, shape (width,)
        Whether the positions of words are read, not their values.
    """

    width: int
    slots: Array
    located: Array


class ChunkCounts(kl.Record):
    """Results of a pass.

    Attributes
    ----------
    lines, numbers : array of int64, shape (items + 1,)
        Counts of each item; in the second pass, of all items before it.
    firsts : array of int64
        Position of the first word that is not an integer, and of the first line of another width.
    """

    lines: Array
    numbers: Array
    firsts: Array


class Output(kl.Record):
    """Arrays for numbers.

    Attributes
    ----------
    values : array of int64
        Line by line, or column by column.
    starts : array of int64
        First number of each line, if lines may have any width.
    num_lines : int
    """

    values: Array
    starts: Array
    num_lines: int


@kl.device
def is_gap(letter):
    """Whether a letter separates words: a blank, comma, semicolon, or a control character from tab
    to carriage return except newline.
    """
    blank = letter == SPACE or (letter >= TAB and letter <= RETURN and letter != NEWLINE)
    return blank or letter == COMMA or letter == SEMICOLON


@kl.device
def gap_end(text, start, size):
    """Return the first position from start on that is not a gap."""
    at = kl.int64(start)
    while at < size and is_gap(kl.int64(text[at])):
        at += 1
    return at


@kl.device
def word_end(text, start, size):
    """Return the first position from start on that is a gap or a newline."""
    at = kl.int64(start)
    while at < size:
        letter = kl.int64(text[at])
        if letter == NEWLINE or is_gap(letter):
            break
        at += 1
    return at


@kl.device
def line_end(text, start, size):
    """Return the position of the first newline from start on, or size."""
    at = kl.int64(start)
    while at < size and text[at] != NEWLINE:
        at += 1
    return at


@kl.device
def is_comment(letter, comments):
    """Whether a line that begins with this letter is a comment."""
    return letter == comments[0] or letter == comments[1] or letter == comments[2]


@kl.device
def first_number(start, text: Text):
    """Return the position of the first number of the line at start, or its end; -1: comment."""
    at = gap_end(text.letters, start, text.size)
    if at < text.size and text.letters[at] != NEWLINE:
        letter = text.letters[at]
        if is_comment(letter, text.comments):
            return kl.int64(-1)
        if letter == text.words[0] or letter == text.words[1]:
            end = word_end(text.letters, at, text.size)
            if end == at + 1:
                return gap_end(text.letters, end, text.size)
    return at


@kl.device
def number_at(text, start, stop, first_bad):
    """Return the integer text[start:stop]; if it is not one, set first_bad[0] to the smallest such
    start.
    """
    value = integer_value(text, start, stop)
    if value == NOT_AN_INTEGER:
        kl.atomic_min(first_bad, 0, start)
    return value


@kl.kernel
def read_chunk(item, text: Text, columns: ColumnSlots, counts: ChunkCounts, fill, output: Output):
    """Count (fill false) or write the lines and numbers of the lines that begin in this item.

    Counting stores the numbers of both in `counts`, and the position of the first line whose number
    of words is not that of columns; filling uses the counts.
    """
    size = text.size
    at = text.begin + item * BYTES_PER_ITEM
    stop = min(at + BYTES_PER_ITEM, size)
    if item > 0:
        at = line_end(text.letters, at - 1, size) + 1
    line = counts.lines[item]
    number = counts.numbers[item]
    while at < stop:
        here = first_number(at, text)
        if here < 0:
            here = line_end(text.letters, at, size)
        elif text.keep_blank or (here < size and text.letters[here] != NEWLINE):
            if fill and columns.width == ANY_WIDTH:
                output.starts[line] = number
            column = kl.int64(0)
            while here < size and text.letters[here] != NEWLINE:
                end = word_end(text.letters, here, size)
                if fill and columns.width == ANY_WIDTH:
                    output.values[number] = number_at(text.letters, here, end, counts.firsts)
                elif fill and columns.slots[column] != LEFT_OUT:
                    place = columns.slots[column] * output.num_lines + line
                    if columns.located[column]:
                        output.values[place] = here
                    else:
                        output.values[place] = number_at(text.letters, here, end, counts.firsts)
                number += 1
                column += 1
                here = gap_end(text.letters, end, size)
            if columns.width != ANY_WIDTH and column != columns.width:
                kl.atomic_min(counts.firsts, 1, at)
            line += 1
        at = here + 1
    if not fill:
        counts.lines[item] = line
        counts.numbers[item] = number
