"""Tests that look at many files, each as one test: pytest takes longer for a test than they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def for_each(items: Iterable[T]) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Have a test look at all items, and say of each that fails what is wrong with it."""
    def decorate(test: Callable[[T], None]) -> Callable[[], None]:
        def looks_at_all() -> None:
            wrong = [*filter(None, (_fault(test, item) for item in items))]
            assert not wrong, "\n".join(wrong)

        looks_at_all.__name__, looks_at_all.__doc__ = test.__name__, test.__doc__
        return looks_at_all

    return decorate


def _fault(test: Callable[[T], None], item: T) -> str:
    try:
        test(item)
    except AssertionError as error:
        return f"{item}: {error}"
    return ""
