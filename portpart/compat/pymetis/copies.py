"""The warnings of PyMETIS about arguments that METIS cannot use where they are."""

from __future__ import annotations

import warnings
from typing import Any

from pymetis import zero_copy_dtype

INTEGER_CODES = "ilq"
"""Types of C that METIS's integers may have, as the buffer protocol calls them."""


def warn_of_copies(**arguments: Any) -> None:
    """Warn of each argument, None excepted, that PyMETIS would copy."""
    for name, values in arguments.items():
        reason = None if values is None else _reason(values)
        if reason is not None:
            warnings.warn(f"For {name}: {reason}", BytesWarning, stacklevel=3)


def _reason(values: Any) -> str | None:
    """Why METIS cannot use `values` without a copy."""
    try:
        buffer = memoryview(values)
    except (TypeError, ValueError) as problem:
        return f"GetBuffer failed: {problem}"
    if not buffer.c_contiguous:
        return "GetBuffer failed: the array is not contiguous"
    if buffer.itemsize != zero_copy_dtype().itemsize:
        return "unexpected itemsize"
    if buffer.format not in tuple(INTEGER_CODES):
        return f"unexpected dtype, needed one of {INTEGER_CODES!r}, got {buffer.format!r}"
    return None
