"""Places in ascending values, by bisection."""

from __future__ import annotations

from portpart.backends import language as kl


@kl.device
def lower_bound(values, first, last, value):
    """The first place in values[first:last], ascending, that holds no less than the value."""
    low = kl.int64(first)
    high = kl.int64(last)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
