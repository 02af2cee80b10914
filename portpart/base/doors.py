"""Doors of folders: the names that a folder offers to others, imported on first use.

The door of a folder is its ``__init__.pyi``, which lists the file of each name (SPEC 1 of
Scientific Python).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import lazy_loader

from portpart.base.interrupts import late_signals


def door(name: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    name, file : str
        Its ``__name__`` and ``__file__``.
    """
    load, names, offered = lazy_loader.attach_stub(name, file)

    def load_whole(attribute: str) -> Any:
        if attribute not in offered:
            raise AttributeError(f"No {name} attribute {attribute}")
        with late_signals():  # NumPy cannot be imported again after Ctrl-C
            found = load(attribute)
        setattr(sys.modules[name], attribute, found)
        return found

    return load_whole, names, offered
