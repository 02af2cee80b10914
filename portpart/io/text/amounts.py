"""Amounts with a decimal point, such as widths of 3.5, which become whole numbers together.

All amounts of a file are multiplied by the smallest power of ten that makes each of them whole.
That is exact, and changes no share of blocks, only the unit of weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

AMOUNT = r"([0-9]{1,18}(?:\.[0-9]{0,18})?)"
"""The pattern of an amount in a file."""


class Amount(NamedTuple):
    """The number ``digits / 10**places``."""

    digits: int
    places: int


def amount(text: str) -> Amount:
    """Return the amount that a word, as `AMOUNT` has it, stands for."""
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
    """Return amounts multiplied by the smallest power of ten that makes all whole, and that."""
    most = max((each.places for each in amounts), default=0)
    return [each.digits * 10 ** (most - each.places) for each in amounts], 10**most
