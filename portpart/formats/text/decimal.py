"""Decimal words as integers, for kernels: ``-12``, ``7.000``, ``1.25e2``."""

from __future__ import annotations

from portpart.backends import language as kl

NOT_AN_INTEGER = -(2**62)
"""Result for a word that is not an integer in value or is too large."""

APPENDABLE = 2**62 // 10
"""Up to this value one more digit can be appended within 62 bits."""

PLUS, MINUS, POINT, ZERO, NINE = ord("+"), ord("-"), ord("."), ord("0"), ord("9")
UPPER_E, LOWER_E = ord("E"), ord("e")


@kl.device
def after_sign(text, start, stop):
    """Return the position after a sign at start, if any."""
    if start < stop:
        letter = kl.int64(text[start])
        if letter == PLUS or letter == MINUS:
            return kl.int64(start + 1)
    return kl.int64(start)


@kl.device
def scaled(mantissa, scale):
    """Return the value mantissa * 10**scale if that is an integer of at most 62 bits."""
    value = kl.int64(mantissa)
    power = kl.int64(scale)
    if value == 0:
        return value
    while power < 0 and value % 10 == 0:
        value = value // 10
        power += 1
    while power > 0 and value <= APPENDABLE:
        value = value * 10
        power -= 1
    if power != 0:
        return kl.int64(NOT_AN_INTEGER)
    return value


@kl.device
def exponent_value(text, start, stop):
    """Return the value of ``e+12``; NOT_AN_INTEGER for another word, or more than three digits."""
    at = after_sign(text, start + 1, stop)
    letter = kl.int64(text[start])
    if (letter != LOWER_E and letter != UPPER_E) or at >= stop or stop - at > 3:
        return kl.int64(NOT_AN_INTEGER)
    value = kl.int64(0)
    for place in range(at, stop):
        digit = kl.int64(text[place]) - ZERO
        if digit < 0 or digit > 9:
            return kl.int64(NOT_AN_INTEGER)
        value = value * 10 + digit
    if kl.int64(text[start + 1]) == MINUS:
        value = -value
    return value


@kl.device
def decimal_value(text, start, stop):
    """Return the value of a decimal number with sign, point and exponent, if it is an integer."""
    at = after_sign(text, start, stop)
    mantissa = kl.int64(0)
    scale = kl.int64(0)
    digits = kl.int64(0)
    after_point = False
    while at < stop:
        letter = kl.int64(text[at])
        if letter == POINT and not after_point:
            after_point = True
        elif letter < ZERO or letter > NINE:
            break
        else:
            digits += 1
            if mantissa <= APPENDABLE:
                mantissa = mantissa * 10 + (letter - ZERO)
                if after_point:
                    scale -= 1
            elif letter != ZERO:
                return kl.int64(NOT_AN_INTEGER)
            elif not after_point:
                scale += 1
        at += 1
    if digits == 0:
        return kl.int64(NOT_AN_INTEGER)
    if at < stop:
        exponent = exponent_value(text, at, stop)
        if exponent == NOT_AN_INTEGER:
            return kl.int64(NOT_AN_INTEGER)
        scale += exponent
    value = scaled(mantissa, scale)
    if kl.int64(text[start]) == MINUS and value != NOT_AN_INTEGER:
        value = -value
    return value


@kl.device
def integer_value(text, start, stop):
    """Return the value of the word text[start:stop]; plain digits are fast, others use
    decimal_value.
    """
    value = kl.int64(0)
    for at in range(start, stop):
        digit = kl.int64(text[at]) - ZERO
        if digit < 0 or digit > 9 or value > APPENDABLE:
            return decimal_value(text, start, stop)
        value = value * 10 + digit
    return value
