"""Names that are like one that is unknown, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from portpart.options import shown

MAX_COMPARED = 2000
"""Names that are compared letter by letter, which takes about 10 microseconds each."""

SAME_LETTERS = 3
MAX_SUGGESTED = 3


def did_you_mean(unknown: Any, names: Iterable[Any]) -> str:
    """Return ``; did you mean 'a' or 'b'?`` for the names nearest to an unknown one, else nothing.

    Names are compared that begin or end with the same letters; if none does, the first ones are.
    """
    if not isinstance(unknown, str):
        return ""
    known = [name for name in names if isinstance(name, str)]
    begin, end = unknown[:SAME_LETTERS], unknown[-SAME_LETTERS:]
    alike = [name for name in known if name.startswith(begin) or name.endswith(end)] or known
    near = get_close_matches(unknown, _distinct(alike[:MAX_COMPARED]), MAX_SUGGESTED)
    return f"; did you mean {' or '.join(map(shown, near))}?" if near else ""


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))
