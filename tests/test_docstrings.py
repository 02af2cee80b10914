"""Examples in docstrings of what people use come to what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import portpart
from portpart.compat import pymetis

PLACES = (portpart, *(importlib.import_module(f"portpart.{name}")
                      for name in ("generators", "io", "metrics", "plot")))

WITHOUT = {"portpart.Graph", "portpart.Hypergraph", "portpart.space"}


def modules() -> list[str]:
    """Where public names are defined, and every module of the places."""
    values = (getattr(place, name, None) for place in (*PLACES, pymetis) for name in place.__all__)
    found = {module.__name__ for value in values
             if (module := inspect.getmodule(value)) is not None
             and module.__name__.startswith("portpart")}
    found |= {f"{place.__name__}.{each.name}" for place in PLACES[1:]
              for each in pkgutil.iter_modules(place.__path__)}
    return sorted(found)


@pytest.mark.parametrize("name", modules())
def test_examples_tell_what_they_print(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    if name.startswith("portpart.plot"):
        pytest.importorskip("matplotlib", reason="pictures need Matplotlib")
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def public() -> list[str]:
    """What people use, but what is another package's, or a constant."""
    return sorted({f"{place.__name__}.{name}" for place in (*PLACES, pymetis)
                   for name in place.__all__
                   if callable(value := getattr(place, name)) and
                   value.__module__.startswith("portpart")} - WITHOUT)


@pytest.mark.parametrize("name", public())
def test_every_public_name_has_an_example_that_tells_what_comes_out(name: str) -> None:
    place, _, attribute = name.rpartition(".")
    text = inspect.getdoc(getattr(importlib.import_module(place), attribute)) or ""
    assert "\nExamples\n--------\n" in text
    assert any(example.want for example in doctest.DocTestParser().get_examples(text))


def test_there_are_public_names() -> None:
    assert len(public()) > 80
