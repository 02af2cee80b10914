"""Text to integers and back, against Python's own int, float and str."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, strategies as st

from portpart.formats.text import tokens
from portpart.formats.text.decimal import NOT_AN_INTEGER
from portpart.formats.text.tokens import LineSyntax, read_lines, read_table, rendered_rows
from tests.helpers import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)
from tests.helpers.each import looped

integers = st.integers(1 - 2**62, 2**62)


def rows_of(lines: tokens.Lines) -> list[list[int]]:
    return [lines.values[a:b].tolist() for a, b in zip(lines.starts, lines.starts[1:])]


@given(st.lists(st.lists(integers, max_size=4), max_size=6), st.sampled_from(" \t,;"),
       st.sampled_from(["\n", "\r\n", " \n"]), st.booleans())
def test_written_rows_are_read(
    rows: list[list[int]], gap: str, newline: str, last_newline: bool
) -> None:
    text = newline.join(gap.join(map(str, row)) for row in rows)
    if last_newline or (rows and not rows[-1]):
        text += newline
    lines = read_lines(text.encode(), LineSyntax(b"%", keep_blank=True))
    assert rows_of(lines) == rows or (not any(rows) and len(rows) <= 1)
    assert lines.bad_byte is None


def test_comments_and_blanks_among_numbers() -> None:
    text = b"% one\n1 22 333\n\n 4444 5 \n%two\n666666\n7 8"
    expected = [[1, 22, 333], [], [4444, 5], [666666], [7, 8]]
    pieces = bytearray()
    for repeat in range(40):
        pieces += text + b"\n" * (1 + (repeat == 39))
    lines = read_lines(bytes(pieces), LineSyntax(b"%", keep_blank=True))
    assert rows_of(lines) == expected * 40 + [[]]


def test_lines_longer_than_a_piece_and_many_pieces() -> None:
    values = np.random.default_rng(1).integers(0, 10**9, 60_000)
    starts = np.array([0, 3, 3, 50_000, 50_001, 60_000])
    text = bytes(rendered_rows(values, starts))
    assert len(text) > 5 * tokens.chunks.BYTES_PER_ITEM
    lines = read_lines(text, LineSyntax(b"#", keep_blank=True))
    assert (lines.values == values).all()
    assert (lines.starts == starts).all()


def test_blank_lines_count_only_where_they_mean_something() -> None:
    text = b"\n1\n \n# no\n2\n"
    assert rows_of(read_lines(text, LineSyntax(b"#"))) == [[1], [2]]
    assert rows_of(read_lines(text, LineSyntax(b"#", keep_blank=True))) == [[], [1], [], [2]]


def test_columns_that_are_not_asked_for_are_not_read() -> None:
    table = read_table(b"x y z\n1 x 2\n\n3 4.5 5\n", LineSyntax(b"#"), 6, 3, (2, 0))
    assert table.columns.tolist() == [[2, 5], [1, 3]]
    assert table.bad_byte is None
    assert read_table(b"1 x\n2 3\n", LineSyntax(b"#"), 0, 2, (0, 1)).bad_byte == 2


@pytest.mark.parametrize(("text", "odd"), [
    (b"1 2\n3\n4 5\n", 4), (b"1 2\n\n3 4\n5 6 7\n8", 9), (b"# 1\n1 2 3\n", 4), (b"1,2\n3,4", None),
])
def test_the_first_line_of_another_width_is_found(text: bytes, odd: int | None) -> None:
    table = read_table(text, LineSyntax(b"#"), 0, 2, (0, 1))
    assert table.odd_byte == odd
    assert table.columns.shape[1] == (0 if odd is not None else 2)


def test_the_first_odd_line_of_many_pieces_is_found() -> None:
    lines = [b"%d %d" % (i, i) for i in range(60_000)]
    for odd in (59_999, 30_000, 7):
        lines[odd] += b" 1"
        text = b"\n".join(lines)
        assert len(text) > 3 * tokens.chunks.BYTES_PER_ITEM
        place = read_table(text, LineSyntax(b"#"), 0, 2, (0, 1)).odd_byte
        assert place == sum(len(line) + 1 for line in lines[:odd])


def test_one_known_letter_before_numbers_is_left_out() -> None:
    lines = read_lines(b"c x\na 1 2\ne 3 4\n5 6\n", LineSyntax(b"c", words=b"ae"))
    assert rows_of(lines) == [[1, 2], [3, 4], [5, 6]]
    for text in (b"x 1 2\n", b"ab 1 2\n"):
        assert read_lines(text, LineSyntax(b"c", words=b"ae")).bad_byte == 0


def test_zero_bytes_are_no_blanks() -> None:
    assert read_lines(b"1 2\n\0\0\0", LineSyntax(b"#")).bad_byte == 4
    for letter in {*range(32)} - set(b"\t\n\v\f\r"):
        assert read_lines(b"1 2\n3%c4\n" % letter, LineSyntax(b"#")).bad_byte == 4


def test_reading_begins_in_the_middle() -> None:
    assert rows_of(read_lines(b"x y\n1 2\n", LineSyntax(b"#"), begin=4)) == [[1, 2]]


def test_no_text_has_no_lines() -> None:
    assert rows_of(read_lines(b"", LineSyntax(b"#", keep_blank=True))) == []


@given(st.integers(-(10**17), 10**17), st.integers(0, 6), st.sampled_from("eE"))
def test_integers_in_other_clothes_are_exact(value: int, zeros: int, letter: str) -> None:
    words = [f"{value}.{'0' * zeros}", f"{value}{letter}0", f"{value * 10**0}.0{letter}+00",
             f"{value}0{letter}-1", f"+{abs(value)}"]
    lines = read_lines(" ".join(words).encode(), LineSyntax(b"#"))
    assert lines.values.tolist() == [value] * 4 + [abs(value)]


@pytest.mark.parametrize("value", [2**62, 2**62 - 1, 43 * 10**17])
def test_the_largest_weights_are_read_in_any_clothes(value: int) -> None:
    words = [f"{value}", f"{value}.0", f"{value // 100}.{value % 100:02}e2"]
    assert read_lines(" ".join(words).encode(), LineSyntax(b"#")).values.tolist() == [value] * 3


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-10**6,
                   max_value=10**6))
def test_decimals_are_integers_or_refused(value: Decimal) -> None:
    word = f"{value:e}"
    lines = read_lines(word.encode(), LineSyntax(b"#"))
    if value == int(value):
        assert lines.values.tolist() == [int(value)]
    else:
        assert lines.bad_byte == 0


@looped("word", [
    "x", "-", "+", ".", "1x", "1.5", "0.1e0", "1e", "1e+", "1e1234", "1e19", "--1", "1.2.3",
    "nan", "inf", "5000000000000000000", "99999999999999999999999", "1e-1", "0x10", "1_000",
])
def test_words_that_are_no_integers_are_found(word: str) -> None:
    lines = read_lines(f"12 {word} 7".encode(), LineSyntax(b"#"))
    assert lines.bad_byte == 3
    assert lines.values.tolist() == [12, NOT_AN_INTEGER, 7]


@given(st.lists(st.lists(integers, max_size=4), max_size=6), st.sampled_from(["", "a"]))
def test_rendered_rows_equal_pythons(rows: list[list[int]], word: str) -> None:
    starts = np.cumsum([0, *map(len, rows)])
    values = np.array([value for row in rows for value in row], np.int64)
    expected = "".join(" ".join([*([word] if word else []), *map(str, row)]) + "\n"
                       for row in rows)
    assert bytes(rendered_rows(values, starts, word)) == expected.encode()
