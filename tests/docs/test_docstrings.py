"""Examples in docstrings of what people use come to what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import portpart
from portpart.compat import dgl, networkx, pyg, pymetis
from portpart.generators import shares

ROOT = Path(__file__).resolve().parents[2]
PLACES = (portpart, *(importlib.import_module(f"portpart.{name}")
                      for name in ("generators", "io", "metrics", "plot")))
CALLS = (dgl, networkx, pyg, pymetis, shares)

def modules() -> list[str]:
    """Where public names are defined, and every module of the places."""
    values = (getattr(place, name, None) for place in (*PLACES, *CALLS)
              for name in place.__all__)
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
    if name == "portpart.compat.pyg":
        pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")
    module = importlib.import_module(name)
    if "import MPI" in inspect.getsource(module):  # MPI stays out of this process
        pytest.importorskip("mpi4py", reason="mpi4py is not installed")
        run = f"import doctest, {name}; assert doctest.testmod({name}).failed == 0"
        done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert done.returncode == 0, done.stdout + done.stderr
        return
    result = doctest.testmod(module)
    assert result.failed == 0


def _value(name: str) -> Any:
    place, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(place), attribute)


def public() -> list[str]:
    """What people use, but what is another package's, or a constant."""
    return sorted({f"{place.__name__}.{name}" for place in (*PLACES, *CALLS)
                   for name in place.__all__
                   if callable(value := getattr(place, name)) and
                   value.__module__.startswith("portpart")})


@pytest.mark.parametrize("name", public())
def test_every_public_name_has_an_example_that_tells_what_comes_out(name: str) -> None:
    text = inspect.getdoc(_value(name)) or ""
    assert "\nExamples\n--------\n" in text
    assert any(example.want for example in doctest.DocTestParser().get_examples(text))


def test_there_are_public_names() -> None:
    assert len(public()) > 80


def functions() -> list[str]:
    return [name for name in public() if inspect.isfunction(_value(name))]


@pytest.mark.parametrize("name", functions())
def test_every_parameter_and_what_is_returned_is_documented(name: str) -> None:
    signature = inspect.signature(_value(name))
    listed = _section(name, "Parameters")
    for parameter in signature.parameters.values():
        written = parameter.name.lstrip("_")
        row = rf"^(.*, )?\*{{0,2}}{written}(,.*)?( :.*)?$"
        assert not written or re.search(row, listed, re.M), written
    if signature.return_annotation not in (None, "None", "NoReturn"):
        assert _section(name, "Returns") or _section(name, "Yields")


def _section(name: str, title: str) -> str:
    """The text of a section of a docstring, "" if there is none."""
    text = inspect.getdoc(_value(name)) or ""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n---|\Z)", text, re.M | re.S)
    return found[1] if found else ""
