"""The largest numbers that graphs may hold."""

from __future__ import annotations

MAX_INT32_ARCS = 2**31 - 1
"""Offsets are int32 up to this number of arcs and int64 above it."""

MAX_INT32 = 2**31 - 1

MAX_TOTAL_WEIGHT = 2**62
"""Largest total of weights: twice a total still fits the 64-bit sums of every algorithm."""
