"""Exact numbers out of texts, decimals, fractions and floats, however they are written."""

from __future__ import annotations

import numbers
import operator
import re
from fractions import Fraction
from typing import Any

import numpy as np

from portpart.errors import InputError

MAX_BLOCKS = 2**31 - 1

MANY_BLOCKS = 2**24
"""More than these, and more than a graph has vertices, are taken for a mistake."""

MAX_DIGITS = 1000
MAX_EXPONENT = 400
"""What a number may have at most: ``1e99999999`` is ten characters, and 40 MB as an integer."""

MAX_BITS = MAX_DIGITS * 10 // 3
"""A digit takes 3.33 bits."""

FEW_CHARACTERS = 60
"""Of a bad value that an error message shows."""

TOO_LONG = f"it has more than {MAX_DIGITS} digits"

EXPONENT = re.compile(r"e[+-]?(\d+(?:_\d+)*)$")


def exact_fraction(value: Any) -> Fraction:
    """The number that was written: 0.03 is 3/100, not the nearest binary number.

    Takes ``"1/3"``, ``"3%"``, ``" 0.03 "``, integers, floats, `Fraction`, `Decimal` and scalars of
    NumPy.  O(digits) time for any input.

    Raises
    ------
    ValueError
        Saying what `value` is instead of a finite number, as the end of a sentence.
    """
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        return _short_enough(Fraction(int(value.numerator), int(value.denominator)))
    text = str(value).strip().lower()
    percent = text.endswith("%")
    text = text.removesuffix("%").rstrip()
    if sum(letter.isdigit() for letter in text) > MAX_DIGITS:
        raise ValueError(TOO_LONG)
    exponent = EXPONENT.search(text)
    if exponent and int(exponent[1]) > MAX_EXPONENT:
        raise ValueError(f"its exponent is beyond {MAX_EXPONENT}")
    try:
        return Fraction(text) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        raise ValueError("it must be a finite number") from None


def whole_number(name: str, value: Any) -> int:
    """An integer, however it is written; `name` is what an error calls it."""
    try:
        number = exact_fraction(value)
    except ValueError as problem:
        raise InputError(f"{name} is {shown(value)}; {problem}") from problem
    if number.denominator != 1:
        raise InputError(f"{name} is {shown(value)}; it must be an integer")
    return int(number)


def number_of_blocks(k: Any, num_vertices: int | None = None) -> int:
    """A number of blocks, from 1 to `MAX_BLOCKS`; of a graph's, not thousands of times as many."""
    blocks = whole_number("k", k)
    if not 1 <= blocks <= MAX_BLOCKS:
        raise InputError(f"k is {shown(k)}; it must be at least 1 and at most {MAX_BLOCKS}")
    if num_vertices is not None and blocks > max(num_vertices, MANY_BLOCKS):
        raise InputError(f"k is {blocks} for a graph of {num_vertices} vertices; at most "
                         f"{max(num_vertices, MANY_BLOCKS)} blocks")
    return blocks


def shown(value: Any) -> str:
    """`value` for an error message, whatever it is: its repr, cut off where that is long."""
    endless = f"{type(value).__name__} of thousands of digits"
    try:
        is_endless = isinstance(value, int) and value.bit_length() > MAX_BITS
        text = endless if is_endless else repr(value)
    except ValueError:  # Python writes no integers of thousands of digits, whatever holds them
        text = endless
    text = " ".join(text.split())
    return text if len(text) <= FEW_CHARACTERS else f"{text[: FEW_CHARACTERS - 3]}..."


def _short_enough(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ValueError(TOO_LONG)
    return value


def checked_integer(name: str, value: Any, low: int, high: int) -> int:
    """An option as an integer from `low` to `high`; 3.0 is one."""
    try:
        whole = isinstance(value, (float, np.floating)) and value.is_integer()
        number = int(value) if whole else operator.index(value)
    except TypeError:
        raise InputError(f"{name} is {shown(value)}; it must be an integer") from None
    if not low <= number <= high:
        raise InputError(f"{name} is {shown(number)}; it must be between {low} and {high}")
    return number
