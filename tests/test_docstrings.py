"""Examples in docstrings of what people use come to what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import portpart

PLACES = (portpart, *(importlib.import_module(f"portpart.{name}")
                      for name in ("generators", "io", "metrics", "plot")))


def modules() -> list[str]:
    """Where public names are defined, and every module of the places."""
    found = {module.__name__ for place in PLACES for name in getattr(place, "__all__", dir(place))
             if (module := inspect.getmodule(getattr(place, name, None))) is not None
             and module.__name__.startswith("portpart")}
    found |= {f"{place.__name__}.{each.name}" for place in PLACES[1:]
              for each in pkgutil.iter_modules(place.__path__)}
    return sorted(found)


@pytest.mark.parametrize("name", modules())
def test_examples_tell_what_they_print(name: str) -> None:
    if name.startswith("portpart.plot"):
        pytest.importorskip("matplotlib", reason="pictures need Matplotlib")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in modules() for test in finder.find(importlib.import_module(name))
             if test.examples]
    assert len(found) > 20
