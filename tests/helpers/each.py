"""Many cases as one test: pytest takes longer for a test than a file or a small case does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from itertools import product
from typing import Any, TypeVar

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


def looped(names: str | tuple[str, ...], cases: Collection[Any]) -> Callable[[Any], Any]:
    """Like ``pytest.mark.parametrize``, but all cases are one test, of milliseconds a case.

    The first case that fails ends it, and is named.
    """
    own = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        def goes_through_all(**fixtures: Any) -> None:
            for case in cases:
                given = dict(zip(own, case if len(own) > 1 else [case], strict=True))
                try:
                    test(**fixtures, **given)
                except Exception as error:
                    raise AssertionError(f"{given}: {error}") from error

        vars(goes_through_all).update(vars(test), __signature__=signature.replace(parameters=[
            each for name, each in signature.parameters.items() if name not in own]))
        goes_through_all.__name__, goes_through_all.__doc__ = test.__name__, test.__doc__
        goes_through_all.__module__ = test.__module__
        assert cases
        assert {*own} <= {*signature.parameters}
        return goes_through_all

    return decorate


def every_other(*axes: Collection[Any], first: int = 0) -> list[tuple[Any, ...]]:
    """Half of all combinations; of three axes and more, any value still meets each of any other.

    With ``first=1`` it is the other half.
    """
    return [tuple(value for _, value in each) for each in product(*map(enumerate, axes))
            if sum(place for place, _ in each) % 2 == first]
