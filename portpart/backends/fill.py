"""Arrays whose elements are all the same."""

from __future__ import annotations

from portpart.backends import language as kl


@kl.kernel
def fill(i, array, value):
    """array[i] = value."""
    array[i] = value
