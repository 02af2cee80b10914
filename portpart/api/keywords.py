"""Keywords of other partitioners, and misspelt ones: which of a function's own is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, NoReturn

from portpart.api.call_options import OTHERS


def keywords_of(function: Callable[..., Any]) -> frozenset[str]:
    """The names of the parameters of a function of Python."""
    code = function.__code__
    return frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def refuse_keyword(function: Callable[..., Any], given: Iterable[str]) -> NoReturn:
    """Raise for the first of some keywords that a function has not, naming the one it has."""
    known = keywords_of(function)
    wrong = next(name for name in given if name not in known)
    meant = [name for name in [OTHERS.get(wrong)] if name in known] or get_close_matches(
        wrong, sorted(known - {"self"}), 1)
    hint = f"; did you mean {meant[0]}=?" if meant else ""
    raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {wrong!r}{hint}")
