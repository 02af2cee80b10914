"""Words as floating-point numbers, and amounts with a decimal point as integers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from portpart.formats.text.files import Source

# Words as floating-point numbers, rounded as in Python; read only on request -------------------


BLOCK = 1 << 16
"""Number of words that are read at once, so that little memory is needed."""

LONGEST = 32
"""Maximum characters of words that are read together."""

FRACTION = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

TO_SCALE = "files hold integers alone: scale and round weights before they are written"

ENDS = np.zeros(256, bool)
ENDS[: ord(" ") + 1] = True
ENDS[[ord(","), ord(";")]] = True

LETTERS = np.zeros(256, bool)
LETTERS[np.frombuffer(b"+-.0123456789eE", np.uint8)] = True


def fractions_at(source: Source, starts: np.ndarray) -> np.ndarray:
    """Return the numbers that begin at the bytes `starts`, as float64.

    Raises
    ------
    GraphFormatError
        With the first word that is not a number; ``nan`` and ``inf`` are not.
    """
    values = np.empty(len(starts))
    for begin in range(0, len(starts), BLOCK):
        some = starts[begin : begin + BLOCK]
        values[begin : begin + BLOCK] = _block(source, some)
    return values


def refuse_number(source: Source, position: int, remedy: str) -> NoReturn:
    """Raise an error for a word that is not an integer, with advice for numbers if known."""
    word = source.word_at(position)
    hint = f"; {remedy}" if remedy and FRACTION.fullmatch(word.encode()) else ""
    source.refuse(source.line_at(position), f"{word!r} is not an integer (or above 2**62){hint}")


def _block(source: Source, starts: np.ndarray) -> np.ndarray:
    text = np.frombuffer(source.data, np.uint8)
    places = starts[:, None] + np.arange(LONGEST + 1)
    letters = text[np.minimum(places, len(text) - 1)]
    ended = ENDS[letters] | (places >= len(text))
    ended = np.logical_or.accumulate(ended, axis=1)
    letters[ended] = 0
    if not (LETTERS[letters] | ended).all() or not ended[:, LONGEST].all():
        return np.array([_one(source, start) for start in starts.tolist()])
    try:
        return np.ascontiguousarray(letters[:, :LONGEST]).view(f"S{LONGEST}")[:, 0].astype(float)
    except ValueError:  # characters of numbers, but not a number, as 1e or 1.2.3
        return np.array([_one(source, start) for start in starts.tolist()])


def _one(source: Source, start: int) -> float:
    """Return the number that begins at one byte; raise if it is not a number."""
    found = FRACTION.match(source.data, start)
    if found and (found.end() == len(source.data) or ENDS[source.data[found.end()]]):
        return float(found[0])
    source.refuse(source.line_at(start), f"{source.word_at(start)!r} is not a number")


# Amounts with a decimal point, such as widths of 3.5, which become integers together -----------
#
# All amounts of a file are multiplied by the smallest power of ten that makes each an integer. This
# is exact, and changes only the unit of weights, not the shares of blocks.


AMOUNT = r"([0-9]{1,18}(?:\.[0-9]{0,18})?)"
"""The pattern of an amount in a file."""


class Amount(NamedTuple):
    """The number ``digits / 10**places``."""

    digits: int
    places: int


def amount(text: str) -> Amount:
    """Return the amount of a word that matches `AMOUNT`."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return Amount(int(whole + fraction), len(fraction))


def product(one: Amount, other: Amount) -> Amount:
    """Return the product with as few places as possible."""
    digits, places = one.digits * other.digits, one.places + other.places
    while places and digits % 10 == 0:
        digits, places = digits // 10, places - 1
    return Amount(digits, places)


def made_whole(amounts: Sequence[Amount]) -> tuple[list[int], int]:
    """Return amounts multiplied by the smallest power of ten that makes all integers, and that
    power.
    """
    most = max((each.places for each in amounts), default=0)
    return [each.digits * 10 ** (most - each.places) for each in amounts], 10**most
